/* SPDX-License-Identifier: MIT */
/* GGUF files, the models of llama.cpp: their metadata and tensors about positions. Source of the format: ggml's
   docs/gguf.md. */
#ifndef POSENC_FILES_GGUF_H
#define POSENC_FILES_GGUF_H

#include "inspect/files/stored.h"

#include <jansson.h>

/* Whether a file begins like a GGUF file. */
bool gguf_is(const unsigned char *bytes, size_t size);

/*
 * Returns a new object with the metadata "general.architecture" and those whose names contain ".rope." or
 * ".attention.", or end with ".context_length" or ".embedding_length": numbers, booleans and strings; and with the
 * tensors of rope's factors (rope_freqs.weight, rope_factors_long.weight, rope_factors_short.weight; f32), as arrays of
 * numbers. Reads versions 2 and 3, least significant byte first. Returns null, and sets `why`, if the bytes are not
 * such a file.
 */
json_t *gguf_read(const unsigned char *bytes, size_t size, fault *why);

/* Finds a tensor of F32, F16, BF16 or F64 in such a file, as safetensors_find does. Its axes are read in the order of
   NumPy, the last of which GGUF lists first. */
bool gguf_find(const unsigned char *bytes, size_t size, const char *wanted, table_half half, stored *found, char **name,
               fault *why);

#endif
