/* SPDX-License-Identifier: MIT */
/* What reads files and texts of users. Each function calls one on these bytes, and ends the process if it
   misbehaves. */
#ifndef POSENC_TESTS_FUZZ_READERS_H
#define POSENC_TESTS_FUZZ_READERS_H

#include <stddef.h>
#include <stdint.h>

typedef void fuzz_reader(const uint8_t *bytes, size_t size);

/* files.c: arrays and tables (.npy, safetensors), lists of numbers, models (JSON, GGUF). */
fuzz_reader read_tables, read_numbers, read_models;
/* texts.c: wisdom, hard-to-round cases, records and baselines, what Python tells of its arrays. */
fuzz_reader read_wisdom, read_cases, read_records, read_memory;
/* options.c: the values of options, as they are read from a file's metadata. */
fuzz_reader read_options;

#endif
