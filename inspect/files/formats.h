/* SPDX-License-Identifier: MIT */
/* The formats of files: .npy, safetensors, GGUF, and lists of numbers in text. */
#ifndef POSENC_INSPECT_FILES_FORMATS_H
#define POSENC_INSPECT_FILES_FORMATS_H

#include "inspect/files/stored.h"

#include <jansson.h>
#include <stdio.h>

/* ---- .npy ------------------------------------------------------------------------------------------------ */

/* The alignment in the file of the data after a header that posenc writes, and the length of the longest header. */
enum { NPY_ALIGNMENT = 64, NPY_HEADER_MAX = 1024 };

/* Writes the header, of format version 1.0, for an array of at most STORED_AXES axes. Returns its length, a multiple of
   NPY_ALIGNMENT. */
size_t npy_header(posenc_dtype dtype, const int64_t *axes, size_t axis_count, char header[NPY_HEADER_MAX]);

/* Whether a file begins like a .npy file. */
bool npy_is(const unsigned char *bytes, size_t size);

/* Finds the table in the bytes of a .npy file, of format version 1.0, 2.0 or 3.0. half: which table of an array is
   meant; see stored_fit. Returns false and sets `why` on failure. */
bool npy_find(const unsigned char *bytes, size_t size, table_half half, stored *found, fault *why);

/* Reads the numbers of a .npy file with one axis (others may be of length 1) of integers, f2, f4 or f8, as a new array.
   Returns false if a number is not equal to any double. */
bool npy_numbers(const unsigned char *bytes, size_t size, double **values, int64_t *count, fault *why);

/* ---- safetensors ----------------------------------------------------------------------------------------- */

/* safetensors files: named tensors after a header in JSON. */

/* The name of a table that posenc writes (the tables of a rope cache are "cos" and "sin"), and that of its list of
   positions, f64, which precedes the table. */
#define SAFETENSORS_NAME "pe"
#define SAFETENSORS_POSITIONS "positions"

/* The longest header that is read, and that should be written. The format allows 100 MB, whose JSON would need twenty
   times as much memory. This is enough for a hundred thousand tensors. */
enum { SAFETENSORS_HEADER_MAX = 16 << 20 };

/* Returns a new string, to be freed: the header of a file with the whole table, or with both tables of a rope cache.
   Its metadata are the problem and the kernel's name. *length is a multiple of 64 bytes. Null if the
   table is too large. */
char *safetensors_header(const posenc_problem *problem, const char *kernel, size_t *length);

/* Returns the header of a file with one tensor, which has an encoding of that name instead of a table of sines. */
char *safetensors_header_of(posenc_dtype dtype, const int64_t *axes, size_t axis_count, const char *encoding,
                            size_t *length);

/* Writes a number of SAFETENSORS_POSITIONS. */
bool safetensors_write_double(double value, FILE *stream);

/* Whether the file may be a safetensors file. */
bool safetensors_is(const unsigned char *bytes, size_t size);

/* Finds a tensor in the bytes of a file. wanted: its name, or null for the only tensor that can be a table (with
   TABLE_ARRAY, that is an array of numbers). *name: its name, a new string to be freed; null on failure. */
bool safetensors_find(const unsigned char *bytes, size_t size, const char *wanted, table_half half, stored *found,
                      char **name, fault *why);

/* safetensors_find for tensors described as in a header of this format, of which `room` bytes are in the file:
   found->begin is that of data_offsets. A tensor of another dtype may have any name for it. */
bool tensors_choose(const json_t *root, const char *wanted, table_half half, uint64_t room, stored *found, char **name,
                    fault *why);

/* Whether the metadata have the key, and its value, a new string; null if it is no text. */
bool safetensors_metadata(const unsigned char *bytes, size_t size, const char *key, char **value);

/* Reads the positions of a file that posenc wrote and safetensors_find has accepted, as a new array; null if there is
   no tensor of positions. Returns false if the tensor is not a list of f64. */
bool safetensors_positions(const unsigned char *bytes, size_t size, double **positions, int64_t *count, fault *why);

/* ---- GGUF ------------------------------------------------------------------------------------------------ */

/* GGUF files, the models of llama.cpp: their metadata and tensors about positions. Source of the format: ggml's
   docs/gguf.md. */

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
   NumPy, the last of which GGUF lists first. held: the bytes that are there, with the whole header; `size` are in the
   file. */
bool gguf_find(const unsigned char *bytes, size_t size, size_t held, const char *wanted, table_half half, stored *found,
               char **name, fault *why);

/* ---- lists of numbers ------------------------------------------------------------------------------------ */

/* Lists of numbers, such as positions: on a command line, in a text file, or in a .npy file. */

/* Parses the numbers of a text as a new array of `count` numbers. The characters of `between` separate them: white
   space any number of times, others once between two numbers. Returns false and sets `why` if a word is not a
   number. */
bool numbers_parse(const char *text, size_t size, const char *between, double **values, int64_t *count, fault *why);

/* Reads the numbers of a file: .npy (integers, f2, f4 or f8, one axis), or text with white space and commas between
   them. The result is as for numbers_parse. */
bool numbers_read(const char *path, double **values, int64_t *count, fault *why);

#endif
