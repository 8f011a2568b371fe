/* SPDX-License-Identifier: MIT */
/* Contracts of kernels as text, and their names in records. */
#ifndef POSENC_COMMON_CONTRACT_H
#define POSENC_COMMON_CONTRACT_H

#include "posenc.h"

#include <stdbool.h>

/* Returns the length of the kernel's name at the beginning of `text`, the rest of a benchmark's name such as
   "recipe/xlm/min_time:0.01". The name ends before the first slash that is followed by an option of Google Benchmark.
   Returns 0 if there is no name. */
size_t kernel_name_length(const char *text);

/* Returns where the kernel begins in a benchmark's name, "<mode>/<shape>/<kernel>…"; null if it has none. */
const char *kernel_of_benchmark(const char *name);

/* Whether a benchmark's name has this kernel. */
bool is_benchmark_of(const char *name, const char *kernel);

/* The context of a timing record has this key, followed by the kernel's name, for each kernel that was left out because
   it crashed, hung or the like. The value says how. */
#define KERNEL_FAILED "kernel_failed."

/* Returns the kernel that such a key names; null for another key. */
const char *kernel_of_failure(const char *key);

/* Returns the name of the tier that the kernel needs, or "any" if it needs only that of the kernel it runs. */
const char *kernel_isa(const posenc_kernel *kernel);

/* The reason why the errors of a table are not attributed to stages. */
#define STAGES_UNTOLD "it exposes no stages of this table"

/* Returns the width of a column of names, widened if it has no room for another name. */
int width_with(int width, const char *name);

/* Returns the kernel that the library chooses for a problem, which has static storage; null if there is none. A plan is
   made for it, so kernels may be called. */
const posenc_kernel *kernel_by_default(const posenc_problem *problem, const posenc_options *options);

/* Whether the contract has no bound, with which a kernel that is not measured yet begins: nothing is stated or
   measured, so nothing can be held against it. */
bool bound_is_none(const posenc_bound *bound);

/* Why the errors of such a kernel are not judged. */
#define CONTRACT_WITHOUT_BOUND "not judged: the contract has no bound, which posenc verify --propose-bound measures"

/* Formats the largest error, as "0.5 ulp + 2^-46" or "exact", in at most `size` bytes with a null byte. Returns the
   length. */
size_t format_error(const posenc_bound *bound, char *text, size_t size);

/* Formats the bound, as "0.5 ulp + 2^-46, |p| <= 2^53" "none derived; twice the measured error is ..." or
   "none", in at most `size` bytes with a null byte. */
void format_bound(const posenc_bound *bound, char *text, size_t size);

#endif
