/* SPDX-License-Identifier: MIT */
/* GGUF files, the models of llama.cpp: what they say of positions. Source of the format: ggml's docs/gguf.md. */
#ifndef POSENC_FILES_GGUF_H
#define POSENC_FILES_GGUF_H

#include "files/stored.h"

#include <jansson.h>

/* Does a file begin like one? */
bool gguf_is(const unsigned char *bytes, size_t size);

/*
 * A new object with the metadata "general.architecture" and those whose names have ".rope.", ".attention.", or end with
 * ".context_length" or ".embedding_length": numbers, booleans and strings; further the tensors of rope's factors
 * (rope_freqs.weight, rope_factors_long.weight, rope_factors_short.weight; f32), as arrays of numbers. Versions 2 and
 * 3, the least significant byte first. Null, and `why`, if the bytes are no such file.
 */
json_t *gguf_read(const unsigned char *bytes, size_t size, fault *why);

#endif
