/* SPDX-License-Identifier: MIT */
/* Contracts of kernels and encodings as text and as JSON. */
#ifndef POSENC_COMMON_CONTRACT_H
#define POSENC_COMMON_CONTRACT_H

#include "posenc.h"

#include <jansson.h>

/*
 * {"name", "summary", "algorithm", "provenance", "isa", "basis", "reproducible", "threaded", "keeps_rows",
 *  "bound": {"ulp", "abs", "growth", "max_position", "derived"}, "refusal": null or why it does not run here}
 * isa: allowed tiers; 0: POSENC_ISA, or all. Null when memory runs out.
 */
json_t *kernel_json(const posenc_kernel *kernel, unsigned isa);

/*
 * {"name", "summary", "formula", "call", "provenance", "basis", "reproducible",
 *  "bound": as of a kernel, or null where it is the kernel's}
 */
json_t *encoding_json(const posenc_encoding *encoding);

/* `text` is the rest of a benchmark's name, "recipe/xlm/min_time:0.01": the length of the kernel's name at its
   beginning, which ends before the first slash with an option of Google Benchmark's behind it; 0 if there is none. */
size_t kernel_name_length(const char *text);

/* The tier that the kernel needs, or "any" if it needs only that of the kernel that it runs. */
const char *kernel_isa(const posenc_kernel *kernel);

/* The reason why the errors of a kernel without `stages` cannot be split into parts. */
#define STAGES_UNTOLD "it does not expose its stages"

/* Formats the largest error, "0.5 ulp + 2^-46" or "exact"; at most `size` bytes, terminated. Its length. */
size_t format_error(const posenc_bound *bound, char *text, size_t size);

/* Formats the bound: "0.5 ulp + 2^-46, |p| <= 2^53", or "none claimed; twice the measured error is ...", likewise. */
void format_bound(const posenc_bound *bound, char *text, size_t size);

#endif
