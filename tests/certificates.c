/* SPDX-License-Identifier: MIT */
/*
 * Tests the certificates of impls/cr: a table made without the rounding test and corrected by its list is the table
 * made with the test. All elements of narrow tables are compared; of wide tables, and by an emulated processor, a part,
 * another one each day, or all with POSENC_TEST_SLOW=1. Each listed element is compared with both references, on every
 * instruction set of this machine.
 */
#include "impls/cr/cr.h"
#include "impls/cr/families.h"
#include "lib/api/kernel.h"
#include "reference/fast.h"
#include "reference/oracle.h"
#include "tests/tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NARROW = 64, PART = 4096, TABLE_BYTES = 3 << 20 };

static const uint32_t nothing[1];
static const certificate none = {NULL, 0}, empty = {nothing, 0};
static char *tested, *certified; /* of TABLE_BYTES and an offset */

static cr_constants *prepare(const posenc_problem *problem) {
  void *constants = NULL;
  if (cr_prepare(problem, NULL, &constants) != POSENC_OK) exit(99);
  return constants;
}

static void make(const posenc_kernel *kernel, cr_constants *cr, certificate proof, const posenc_problem *problem,
                 int64_t row, int64_t rows, void *out) {
  const certificate own = cr->certificate;
  cr->certificate = proof;
  kernel->execute(cr, problem, row, rows, out);
  cr->certificate = own;
}

/* Counts the elements of rows [row, row + rows) that differ from those made with the test. Tables begin at a cache
   line, or 4, 8 … columns after one: then a kernel's vectors may cover the end of one row and the start of the next. */
static int64_t differences(const posenc_kernel *kernel, cr_constants *cr, const posenc_problem *problem, int64_t row,
                           int64_t rows) {
  const size_t element = posenc_dtype_bytes(problem->dtype);
  const int64_t row_bytes = problem->dim * (int64_t)element, most = TABLE_BYTES / row_bytes;
  int64_t found = 0, tables = 0;
  for (int64_t some, end = row + rows; row < end; row += some, tables++) {
    char *a = tested + 4 * element * (size_t)(tables % 4), *b = certified + 4 * element * (size_t)(tables % 4);
    some = end - row < most ? end - row : most;
    make(kernel, cr, none, problem, row, some, a);
    make(kernel, cr, cr->certificate, problem, row, some, b);
    if (memcmp(a, b, (size_t)(some * row_bytes)) == 0) continue;
    for (int64_t at = 0; at < some * problem->dim; at++)
      found += memcmp(a + (size_t)at * element, b + (size_t)at * element, element) != 0;
  }
  return found;
}

static void test_part(const posenc_kernel *kernel, int n, int64_t day) {
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F16, POSENC_BF16};
  const char *slow = getenv("POSENC_TEST_SLOW");
  const bool all = slow && strcmp(slow, "1") == 0;
  int64_t differ = 0, rows = 0;
  const int64_t first = (day * FAMILIES + n) * 7919 % (CERTIFIED_POSITIONS / PART) * PART;
  for (int i = 0; i < 3; i++) {
    posenc_problem problem = family_problem(n, CERTIFIED_POSITIONS);
    problem.dtype = dtypes[i];
    const bool whole = all || (problem.dtype == POSENC_F32 && problem.dim <= NARROW && !is_emulated());
    cr_constants *cr = prepare(&problem);
    if (!cr->certificate.misrounded) differ++;
    rows += whole ? CERTIFIED_POSITIONS : PART;
    differ += differences(kernel, cr, &problem, whole ? 0 : first, whole ? CERTIFIED_POSITIONS : PART);
    cr_release(cr);
  }
  ok(differ == 0, "%s, base %g, dim %" PRId64 ", shift %g: %" PRId64 " rows, %" PRId64 " of them from %" PRId64 " on",
     kernel->name, families[n].base, families[n].dim, families[n].shift, rows, (int64_t)PART, first);
}

/* Tests the listed elements. Without the list, the reference finds exactly these misrounded, in three rows with each;
   with it none, and MPFR agrees. */
static void test_list(const posenc_kernel *kernel, int n) {
  const posenc_problem problem = family_problem(n, CERTIFIED_POSITIONS);
  const posenc_columns columns = posenc_layout_columns(problem.layout, problem.dim);
  cr_constants *cr = prepare(&problem);
  const certificate proof = cr->certificate;
  fast_oracle *fast = fast_create(&problem, POSENC_ISA_ALL);
  oracle *slow = oracle_create(&problem);
  float *out = (float *)(void *)certified;
  int64_t left = 0, unlisted = 0, wrong = 0, unsorted = 0;
  if (!fast || !slow) exit(99);
  for (int64_t at = 0; at < proof.count; at++) {
    const uint32_t entry = proof.misrounded[at];
    const int64_t position = certificate_position(entry), index = certificate_index(entry);
    const int64_t wanted = position - at % 3, last = CERTIFIED_POSITIONS - 3, row = wanted < last ? wanted : last;
    const exact_pair pair = oracle_pair(slow, position, index);
    accuracy with = {0}, without = {0};
    for (int64_t near = 0; near < proof.count; near++) {
      const int64_t other = certificate_position(proof.misrounded[near]);
      without.misrounded -= other >= row && other < row + 3;
    }
    make(kernel, cr, empty, &problem, row, 3, out);
    fast_check(fast, row, 3, out, NULL, &without);
    make(kernel, cr, proof, &problem, row, 3, out);
    fast_check(fast, row, 3, out, NULL, &with);
    const bool is_cosine = certificate_cosine(entry);
    const double got =
        out[(position - row) * problem.dim + (is_cosine ? columns.cos : columns.sin) + columns.step * index];
    left += with.misrounded;
    unlisted += without.misrounded != 0;
    wrong += got != (is_cosine ? pair.cosine : pair.sine).rounded;
    unsorted += index >= problem.dim / 2 || (at && proof.misrounded[at - 1] >= entry);
  }
  ok(left == 0 && unlisted == 0 && wrong == 0 && unsorted == 0,
     "%s, base %g, dim %" PRId64 ", shift %g: %" PRId64 " elements are listed: %" PRId64
     " stay misrounded, around %" PRId64 " are others, MPFR differs in %" PRId64 ", %" PRId64 " are out of order",
     kernel->name, problem.base, problem.dim, problem.shift, proof.count, left, unlisted, wrong, unsorted);
  fast_destroy(fast);
  oracle_destroy(slow);
  cr_release(cr);
}

/* ---- cases without a certificate ------------------------------------------------------------------- */

/* Replaces the certificate by an empty list, so that a row made without the test stays wrong. */
static void test_tested(const posenc_kernel *kernel, const posenc_problem *problem, int64_t row, int64_t rows,
                        const char *what) {
  cr_constants *cr = prepare(problem);
  accuracy found = {0};
  fast_oracle *fast = fast_create(problem, POSENC_ISA_ALL);
  char *out = posenc_alloc((size_t)(rows * problem->dim) * sizeof(float));
  if (!fast || !out) exit(99);
  make(kernel, cr, empty, problem, row, rows, out);
  fast_check(fast, row, rows, out, NULL, &found);
  ok(found.misrounded == 0, "%s, %s: %" PRId64 " rows from %" PRId64 " on, %" PRId64 " elements misrounded",
     kernel->name, what, rows, row, found.misrounded);
  posenc_free(out);
  fast_destroy(fast);
  cr_release(cr);
}

/* Tests the first and the last listed row of a narrow table, with rows on this side of 0 and beyond 2^20. */
static void test_ends(const posenc_kernel *kernel) {
  posenc_problem problem = posenc_table(CERTIFIED_POSITIONS, 256);
  cr_constants *cr = prepare(&problem);
  const certificate proof = cr->certificate;
  if (!ok(proof.count > 1, "dim 256 has a certificate, and its table misrounded elements")) exit(1);
  const int64_t first = certificate_position(proof.misrounded[0]),
                last = certificate_position(proof.misrounded[proof.count - 1]);
  cr_release(cr);
  test_tested(kernel, &problem, -1, first + 3, "negative positions");
  test_tested(kernel, &problem, last - 1, CERTIFIED_POSITIONS + 1 - (last - 1), "positions beyond 2^20");
  problem.first = -5; /* positions count, not rows */
  test_tested(kernel, &problem, 4, first + 3, "a table that begins at -5");
  /* A row that is computed alone is its own anchor. This row's cosine is misrounded then, but not as part of its
     table. */
  problem = posenc_table(CERTIFIED_POSITIONS, 2048);
  test_tested(kernel, &problem, 206132, 1, "a row alone");
}

/* Tests a kernel without fused multiply-add: its bits differ, so no certificate applies. */
static void test_portable(void) {
  const posenc_problem problem = posenc_table(CERTIFIED_POSITIONS, 256);
  test_tested(posenc_kernel_find("cr-portable"), &problem, 0, 1 << 17, "not fused");
}

/* ---- constants with a certificate ------------------------------------------------------------------ */

static void test_digest(void) {
  const posenc_problem problem = posenc_table(1, 64);
  cr_constants *cr = prepare(&problem);
  double *const steps = cr->angles->step_sin, *const cosines = cr->angles->step_cos;
  void *const arrays[] = {cr->angles->turn_high, cr->angles->turn_low, steps,        cosines,
                          cr->twice_cosine,      cr->block_sin,        cr->block_cos};
  const uint64_t digest = cr_digest(cr, &problem);
  int blind = 0;
  for (int n = 0; n < 7; n++)
    for (int64_t i = 0; i < problem.dim / 2; i++)
      for (int bit = 0; bit < 64; bit++) {
        const int64_t step = arrays[n] == cr->twice_cosine ? 2 : 1; /* there are two copies */
        uint64_t *word = (uint64_t *)arrays[n] + step * i;
        *word ^= UINT64_C(1) << bit;
        blind += cr_digest(cr, &problem) == digest || certificate_find(cr_digest(cr, &problem)).misrounded;
        *word ^= UINT64_C(1) << bit;
      }
  ok(blind == 0, "every bit of the constants counts: %d do not", blind);
  ok(certificate_find(digest).misrounded, "and the constants as they are have a certificate");
  cr_release(cr);
}

static void test_others(void) {
  posenc_problem others[] = {posenc_table(8, 64), posenc_table(8, 64), posenc_table(8, 64), posenc_table(8, 66),
                             posenc_table(8, 8192)};
  others[0].base = nextafter(1e4, 2e4);
  others[1].shift = 0.5;
  others[2].scale = 1.0 - 0x1p-53;
  for (size_t n = 0; n < sizeof others / sizeof *others; n++) {
    cr_constants *cr = prepare(&others[n]);
    ok(!cr->certificate.misrounded, "base %.17g, shift %g, scale %.17g, dim %" PRId64 " has none", others[n].base,
       others[n].shift, others[n].scale, others[n].dim);
    cr_release(cr);
  }
}

int main(void) {
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  const int64_t day = (int64_t)time(NULL) / 86400;
  tested = posenc_alloc(TABLE_BYTES + 64);
  certified = posenc_alloc(TABLE_BYTES + 64);
  if (!tested || !certified) return 99;
  for (size_t k = 0; k < count; k++) {
    const posenc_kernel *kernel = kernels[k];
    const char *why = posenc_kernel_refusal(kernel, NULL, NULL);
    /* cr-portable has no fused operations, so it has no use for a certificate (test_portable). */
    if (strncmp(kernel->name, "cr-", 3) != 0 || !(kernel->isa & ~POSENC_ISA_GENERIC)) continue;
    if (why) {
      skip(kernel->name, why);
      continue;
    }
    for (int n = 0; n < FAMILIES; n++) {
      test_part(kernel, n, day);
      test_list(kernel, n);
    }
    test_ends(kernel);
  }
  test_portable();
  test_digest();
  test_others();
  posenc_free(tested);
  posenc_free(certified);
  return tap_done();
}
