/* SPDX-License-Identifier: MIT */
/*
 * Makes the certificates of the correctly rounded kernels (impls/cr/cr.h): computes each table of families.def
 * in each dtype, with the rounding test and without it, and lists the elements that differ. Every element of 2^20 rows
 * is compared. Arguments: the files to write, certificates.def and misrounded.def.
 */
#include "impls/cr/cr.h"
#include "impls/cr/families.h"
#include "lib/api/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 18, MOST = 1 << 16, LINE = 10 };

static void quit(const char *message) {
  fprintf(stderr, "certify: %s\n", message);
  exit(EXIT_FAILURE);
}

/* Entries of certificates. put_in_order sorts them and removes duplicates. */
typedef struct listing {
  uint32_t entries[MOST];
  size_t count;
} listing;

static int by_value(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void put_in_order(listing *all) {
  size_t kept = 0;
  qsort(all->entries, all->count, sizeof *all->entries, by_value);
  for (size_t n = 0; n < all->count; n++)
    if (kept == 0 || all->entries[kept - 1] != all->entries[n]) all->entries[kept++] = all->entries[n];
  all->count = kept;
}

/* Adds the entry of a misrounded element. In the split layout, column `pair` is a sine and column dim/2 + `pair` is a
   cosine. */
static void add(listing *all, const posenc_problem *problem, int64_t position, int64_t column) {
  const int64_t pairs = problem->dim / 2, cosine = column >= pairs, pair = column - (cosine ? pairs : 0);
  if (all->count == MOST) quit("too many elements are misrounded");
  all->entries[all->count++] = certificate_entry(position, pair, cosine);
}

static void compare(listing *all, const posenc_problem *problem, int64_t row, int64_t rows, const char *tested,
                    const char *untested) {
  const size_t bytes = posenc_dtype_bytes(problem->dtype), row_bytes = (size_t)problem->dim * bytes;
  for (int64_t r = 0; r < rows; r++, tested += row_bytes, untested += row_bytes) {
    if (memcmp(tested, untested, row_bytes) == 0) continue;
    for (int64_t column = 0; column < problem->dim; column++)
      if (memcmp(tested + (size_t)column * bytes, untested + (size_t)column * bytes, bytes) != 0)
        add(all, problem, row + r, column);
  }
}

/* Adds the elements of the table that the kernel misrounds without the rounding test. Returns the digest of the
   constants. */
static uint64_t find_misrounded(const posenc_kernel *kernel, const posenc_problem *problem, char *memory,
                                listing *all) {
  static const uint32_t none[1];
  const posenc_options options = posenc_default_options();
  const int64_t row_bytes = problem->dim * (int64_t)posenc_dtype_bytes(problem->dtype), most = CHUNK_BYTES / row_bytes;
  void *constants = NULL;
  if (posenc_kernel_refusal(kernel, problem, &options) || kernel->prepare(problem, &options, &constants) != POSENC_OK)
    quit("a table cannot be made");
  cr_constants *cr = constants;
  for (int64_t row = 0, rows; row < problem->rows; row += rows) {
    rows = problem->rows - row < most ? problem->rows - row : most;
    cr->certificate = (certificate){NULL, 0};
    kernel->execute(cr, problem, row, rows, memory);
    cr->certificate = (certificate){none, 0};
    kernel->execute(cr, problem, row, rows, memory + CHUNK_BYTES);
    compare(all, problem, row, rows, memory, memory + CHUNK_BYTES);
  }
  const uint64_t digest = cr_digest(cr, problem);
  kernel->release(cr);
  return digest;
}

static FILE *begin(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) quit("a file cannot be written");
  /* reuse takes a whole tag for this file's. */
  fprintf(file, "/* %s-License-Identifier: MIT */\n/* Made by `make certificates`, from families.def. */\n", "SPDX");
  return file;
}

int main(int argc, char **argv) {
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F16, POSENC_BF16};
  static listing all;
  const bool is_wide = posenc_isa_detect() & POSENC_ISA_AVX512;
  const posenc_kernel *kernel = posenc_kernel_find(is_wide ? "cr-avx512" : "cr-avx2");
  char *memory = posenc_alloc(2 * CHUNK_BYTES);
  if (argc != 3) quit("give it two files to write");
  if (!memory) quit("out of memory");
  FILE *rows = begin(argv[1]), *numbers = begin(argv[2]);
  for (int n = 0; n < FAMILIES; n++) {
    uint64_t digest = 0;
    all.count = 0;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
      posenc_problem problem = family_problem(n, CERTIFIED_POSITIONS);
      problem.layout = POSENC_SPLIT;
      problem.dtype = dtypes[i];
      const size_t before = all.count;
      digest = find_misrounded(kernel, &problem, memory, &all);
      fprintf(stderr, "base %g, dim %" PRId64 ": %zu\n", problem.base, problem.dim, all.count - before);
    }
    put_in_order(&all);
    fprintf(rows, "CERTIFICATE(0x%016" PRIx64 ", %zu)\n", digest, all.count);
    for (size_t i = 0; i < all.count; i++)
      fprintf(numbers, "0x%08" PRIx32 ",%c", all.entries[i], i % LINE == LINE - 1 || i + 1 == all.count ? '\n' : ' ');
  }
  posenc_free(memory);
  if (fclose(rows) != 0 || fclose(numbers) != 0) quit("a file cannot be written");
  return EXIT_SUCCESS;
}
