/* SPDX-License-Identifier: MIT */
/* Checks kernels against their contracts, and makes the accuracy record. */
#ifndef POSENC_VERIFY_VERIFY_H
#define POSENC_VERIFY_VERIFY_H

#include "common/run.h"
#include "common/work.h"
#include "posenc.h"
#include "records/record.h"

/* Defaults of the command line. The budget is 2^26 pairs. With it, every published table, up to 131072×1024, is
   compared completely for correctly rounding kernels, and all but the two largest for others. */
#define VERIFY_DEFAULT_SEED 1
#define VERIFY_DEFAULT_BUDGET 67108864
/* A kernel that hangs has its verdict within half a minute; the longest silence of the library's kernels is below a
   second. */
#define VERIFY_DEFAULT_SILENCE 20
#define VERIFY_DEFAULT_SEARCH 1000

/*
 * Returns the accuracy record (BEGIN(accuracy) of records/fields.def, doc/records.md), for record_free.
 *
 * Kernels that were not asked which shapes they take are asked first (run_ask). Each kernel is examined in a process of
 * its own, one shape at a time; and so is each of the other encodings. If the process ends early, the record has one
 * failed check: memory if the kernel touched memory outside its rows, else survival.
 *
 * Checks of other encodings: accuracy, memory, extension, index, in-place, threads, special (NaN and infinities),
 * refusal (a wrong call is refused, and nothing is written), and for dropout mask (the words of the paper),
 * known-answers (those that Random123 publishes) and statistics.
 *
 * Returns null, with errno EAGAIN, if a process could not be created, which is not the fault of a kernel. No other
 * thread may be running, and no OpenMP region may have run in this process (fork).
 */
const record_accuracy *verify_run(run_request *request);

/* Returns the reason why such a problem is not verified although kernels may compute it, or null. The problems that it
   is computed from are verified. */
const char *verify_refusal(const posenc_problem *problem);

/* ---- joining --------------------------------------------------------------------------------------------------- */

/*
 * Returns the result of a whole exam, joined from those of its ranges in their order, for record_free. If no check
 * fails, it is bit for bit the result of one exam of the whole table. Returns null if they do not fit together.
 */
const record_result *verify_join(const record_result *const *parts, size_t count);

/* ---- hard-to-round cases --------------------------------------------------------------------------------------- */

/* The elements of a file (reference/worst.h), which are then the only ones that a kernel is checked on. */
typedef struct hard_cases hard_cases;
struct subject;
struct arena;

/* Reads the file and confirms it by MPFR. Returns null and the fault in `why`, such as "line 12: …". No thread may be
   running (isolate.h). */
hard_cases *cases_load(const char *path, char *why, size_t size);
void cases_free(hard_cases *c);

/* Returns the table of the cases, named "base10000-d128.wc" or "base10000-d128-f16.wc". */
const shape *cases_shape(const hard_cases *c);

size_t cases_count(const hard_cases *c);

/* Computes the row of every case with the subject's plan, which must be of that table, and compares the case with MPFR.
   The arena must have room for a row. */
void cases_try(const hard_cases *c, struct subject *s, struct arena *a);

/* ---- bounds for the contracts of kernels, from errors that were measured (verify --propose-bound) -------------- */

/* Returns the bound to measure a kernel with: half an ulp, beyond which errors are measured (rests above). Its
   domain is that of the contract, if it has one, as far as the search goes. */
posenc_bound propose_measuring(const posenc_kernel *kernel);

/* Whether the problem is one to measure: a table of successive positions. Factors of the positions or of the values
   would change the numbers of the bound, and contracts are for bases of 1 or more. */
bool propose_takes(const posenc_problem *problem);

/* Sets the kernel's bound to the one for all results that the record, made with rests and that seed, has of it. Returns
   the proposal of the record; with `why` and without a change if there is no bound to propose. */
record_proposal propose_bound(const record_accuracy *record, posenc_kernel *kernel, uint64_t seed, record_memory *in);

/* ---- the encodings other than the table, against their contracts ----------------------------------------------- */

/* The functions that compute the encodings. */
typedef struct encoders {
  posenc_status (*integer)(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out);
  posenc_status (*binary)(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out);
  posenc_status (*learned)(const posenc_learned_table *table, const posenc_slice *positions, posenc_dtype dtype,
                           const void *x, void *out);
  posenc_status (*alibi_bias)(const posenc_alibi *bias, void *out);
  posenc_status (*apply_dropout)(const posenc_plan *plan, const posenc_slice *slice, const posenc_dropout *dropout,
                                 const void *x, void *out);
  posenc_status (*dropout_mask)(const posenc_dropout *dropout, const posenc_slice *positions, int64_t dim,
                                unsigned char *keep);
} encoders;

/* The library's functions. */
extern const encoders encoders_library;

#endif
