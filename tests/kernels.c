/* SPDX-License-Identifier: MIT */
/* Tests every kernel, and every competitor on each instruction set, against the reference, on edge cases of
   problems; and reproducible kernels against each other, bit for bit. It takes more than a minute: each kernel is
   held to its contract on 208 tables, in a process of its own. */
#include "impls/peers/peers.h"
#include "tests/asked.h"
#include "tests/library.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

static posenc_problem make(int64_t rows, int64_t dim, int64_t first, double base, double shift, posenc_layout layout,
                           posenc_dtype dtype) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.first = first;
  problem.base = base;
  problem.shift = shift;
  problem.layout = layout;
  problem.dtype = dtype;
  return problem;
}

/* Lists dims around the widths of vectors and tiles, rows around blocks, and positions around anchors, negative and
   large; few are large, as recurrence begins at position 0. Of all of them, test_same_bits compares the vector kernels
   with their portable ones. */
static size_t corners(shape *shapes, size_t most) {
  static const int64_t dims[] = {2, 4, 14, 16, 18, 30, 32, 34, 62, 64, 66, 130, 258};
  static const int64_t firsts[] = {0, 1, 15, 16, 17, 31, 65549, -40, INT64_C(1) << 33};
  static const double bases[] = {10000.0, 500000.0, 1e6, 1e7, 1.0, 2.5};
  size_t count = 0;
  for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
    for (int layout = POSENC_INTERLEAVED; layout <= POSENC_SPLIT_CS; layout++)
      for (int dtype = POSENC_F32; dtype <= POSENC_BF16 && count < most; dtype++) {
        const size_t mixed = count;
        posenc_problem problem =
            make(1 + (int64_t)(mixed * 7 % 70), dims[d], firsts[mixed % (sizeof firsts / sizeof *firsts)],
                 bases[mixed % (sizeof bases / sizeof *bases)], dims[d] > 2 ? (double)(mixed % 3) / 2.0 : 0.0,
                 (posenc_layout)layout, (posenc_dtype)dtype);
        if (mixed % 5 == 0) problem.padding = problem.first + problem.rows / 2;
        shapes[count++] = shape_of(&problem);
      }
  return count;
}

/* Lists such shapes for add and rope. They are fewer, because nearly all kernels share the code for add and rope. */
static size_t applied_corners(shape *shapes) {
  static const int64_t dims[] = {2, 6, 14, 34, 66, 130};
  static const int64_t firsts[] = {0, 17, 65549, -40, INT64_C(1) << 33};
  size_t count = 0;
  for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
    for (int op = POSENC_ADD; op <= POSENC_ROPE; op++)
      for (int dtype = POSENC_F32; dtype <= POSENC_BF16; dtype += POSENC_BF16) {
        posenc_problem problem =
            make(1 + (int64_t)(count * 7 % 70), dims[d], firsts[count % (sizeof firsts / sizeof *firsts)], 10000.0, 0.0,
                 POSENC_INTERLEAVED, (posenc_dtype)dtype);
        problem.op = (posenc_op)op;
        problem.layout = (posenc_layout)(op == POSENC_ADD ? count % 4 : count / 4 % 2 * POSENC_SPLIT);
        problem.heads = op == POSENC_ROPE ? 1 + (int64_t)(count % 3) : 1;
        problem.inverse = op == POSENC_ROPE && count % 5 < 2;
        if (op == POSENC_ADD && d % 2) problem.padding = problem.first + problem.rows / 2;
        shapes[count++] = shape_of(&problem);
      }
  return count;
}

/* Tables that are divided among threads, and tables of more than 16 MiB, which have streaming stores: of rows, and of
   halves of rows, that preserve the alignment of vectors and that do not. */
enum { LARGE = 4 + 3 * 2 * 3 };
static size_t large(shape *shapes) {
  static const int64_t dims[] = {72, 128, 130};
  size_t count = 0;
  for (int dtype = POSENC_F32; dtype <= POSENC_BF16; dtype++) {
    const posenc_problem dealt = make(4000, 130, 5, 10000.0, 0.0, POSENC_INTERLEAVED, (posenc_dtype)dtype);
    shapes[count++] = shape_of(&dealt);
    for (size_t d = 0; d < sizeof dims / sizeof *dims && dtype != POSENC_F64; d++)
      for (int layout = POSENC_INTERLEAVED; layout <= POSENC_SPLIT; layout += POSENC_SPLIT) {
        posenc_problem streamed = make(0, dims[d], 5, 10000.0, 0.0, (posenc_layout)layout, (posenc_dtype)dtype);
        streamed.rows = (INT64_C(1) << 24) / (dims[d] * (int64_t)posenc_dtype_bytes(streamed.dtype)) + 1;
        shapes[count++] = shape_of(&streamed);
      }
  }
  return count;
}

/* Sets a quarter of the shapes, or those that are not left out. A quarter has each dim with each dtype and layout, but
   not with both. Returns their number. */
static size_t some_of(const shape *shapes, size_t count, bool is_quarter, shape *some) {
  size_t taken = 0;
  for (size_t n = 0; n < count; n++) {
    const size_t place = n + n / 4 + n / 16;
    if (is_quarter ? place % 4 == 0 : !is_left_out(place)) some[taken++] = shapes[n];
  }
  return taken;
}

static void test_contracts(const posenc_kernel *const *kernels, size_t kernel_count, unsigned isa, const shape *shapes,
                           size_t count) {
  const run_request how = {.isa = isa,
                           .threads = 2,
                           .silence = 30 * VERIFY_DEFAULT_SILENCE, /* recurrence in an emulator */
                           .exam = {.seed = 7, .budget = INT64_MAX, .brief = true}};
  const record_accuracy *record = verified(how, kernels, kernel_count, shapes, count);
  RECORD_EACH(one, record, records) {
    const char *broken = "";
    if (record_is_text(one->refusal)) {
      printf("# %s %s: %s\n", one->kernel, one->shape.name, one->refusal);
      continue;
    }
    bool fine = record_is_text(one->mode) && strcmp(one->mode, "exhaustive") == 0; /* no mode: it did not survive */
    RECORD_EACH(check, one, checks) {
      if (check->ok) continue;
      fine = false;
      broken = check->property;
      printf("# %s\n", check->note);
    }
    ok(fine, "%s %s %s", one->kernel, one->shape.name, broken);
  }
  posenc_options options = posenc_default_options();
  options.isa = isa;
  for (size_t k = 0; k < kernel_count; k++) {
    const char *name = kernels[k]->name, *why = posenc_kernel_refusal(kernels[k], NULL, &options);
    int held = 0;
    RECORD_EACH(one, record, records) held += strcmp(one->kernel, name) == 0 && !record_is_text(one->refusal);
    if (why)
      skip(name, why);
    else
      ok(held > (is_emulated() ? 3 : 10), "%s was held to its contract on %d tables", name, held);
  }
  record_free(record);
}

static bool digest(const posenc_kernel *kernel, const posenc_problem *problem, int threads, posenc_stores stores,
                   uint64_t *digest_out) {
  size_t bytes;
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  options.threads = threads;
  options.stores = stores;
  posenc_plan *plan;
  if (posenc_table_bytes(problem, &bytes) != POSENC_OK || posenc_plan_create(&plan, problem, &options) != POSENC_OK)
    return false;
  unsigned char *table =
      aligned_alloc(64, (bytes / 64 + 1) * 64); /* aligned, or large tables would not have streaming stores */
  if (!table) abort();
  posenc_execute(plan, 0, problem->rows, table);
  uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a, of words, as the bytes of large tables take too long */
  for (size_t i = 0, some; i < bytes; i += some) {
    uint64_t word = 0;
    some = bytes - i < sizeof word ? bytes - i : sizeof word;
    memcpy(&word, table + i, some);
    hash = (hash ^ word) * UINT64_C(1099511628211);
  }
  *digest_out = hash;
  free(table);
  posenc_plan_destroy(plan);
  return true;
}

/* Tests the kernels whose contract says "same bits on every ISA and thread count", with regular and streaming stores,
   which differ for vectors that are aligned and for those that are not. */
static void test_same_bits(const shape *shapes, size_t count) {
  static const int threads[] = {1, 2, 3, 7};
  size_t kernel_count;
  const posenc_kernel *const *kernels = posenc_kernels(&kernel_count);
  for (size_t k = 0; k < kernel_count; k++) {
    if (!kernels[k]->reproducible || kernels[k]->isa == POSENC_ISA_GENERIC) continue;
    const posenc_kernel *portable = portable_of(kernels[k]);
    if (!portable) {
      ok(false, "%s: there is no portable kernel of the same promise", kernels[k]->name);
      continue;
    }
    const char *why = posenc_kernel_refusal(kernels[k], NULL, NULL);
    if (why) {
      skip(kernels[k]->name, why);
      continue;
    }
    size_t compared = 0, different = 0;
    const size_t counts = kernels[k]->threaded ? sizeof threads / sizeof *threads : 1;
    for (size_t i = 0; i < count; i++) {
      const posenc_problem *problem = &shapes[i].problem;
      uint64_t want, got;
      if (!digest(portable, problem, 1, POSENC_STORES_AUTO, &want)) continue;
      for (size_t t = 0; t < counts; t++)
        for (int stores = POSENC_STORES_AUTO; stores <= (t ? POSENC_STORES_AUTO : POSENC_STORES_STREAMING); stores++) {
          if (!digest(kernels[k], problem, threads[t], (posenc_stores)stores, &got)) continue;
          compared++;
          if (want == got) continue;
          different++;
          printf("# %s %s with %d threads, %s stores, differs from %s\n", kernels[k]->name, shapes[i].name, threads[t],
                 stores_name((posenc_stores)stores), portable->name);
        }
    }
    ok(compared > 0 && different == 0, "%s has the bits of %s on %zu tables", kernels[k]->name, portable->name,
       compared);
  }
}

/* Tests that a competitor's rows have the same bits with either kind of store. */
static void test_peers_stores(const shape *shapes, size_t count) {
  size_t kernel_count;
  const posenc_kernel *const *kernels = peers_kernels(&kernel_count);
  for (size_t k = 0; k < kernel_count; k++) {
    size_t compared = 0, different = 0;
    for (size_t i = 0; i < count; i++) {
      uint64_t want, got;
      if (!digest(kernels[k], &shapes[i].problem, 1, POSENC_STORES_REGULAR, &want) ||
          !digest(kernels[k], &shapes[i].problem, 1, POSENC_STORES_STREAMING, &got))
        continue;
      compared++;
      different += want != got;
    }
    if (posenc_kernel_refusal(kernels[k], NULL, NULL))
      skip(kernels[k]->name, "it does not run here");
    else
      ok(compared > 0 && different == 0, "%s: the same bits by either stores on %zu tables", kernels[k]->name,
         compared);
  }
}

int main(void) {
  static shape shapes[256], held[256], applied[32];
  const size_t count = corners(shapes, sizeof shapes / sizeof *shapes - LARGE),
               held_count = some_of(shapes, count, false, held),
               applied_count = some_of(applied, applied_corners(applied), false, applied);
  unsetenv("POSENC_ISA");
  size_t kernel_count;
  const posenc_kernel *const *kernels = posenc_kernels(&kernel_count);
  test_contracts(kernels, kernel_count, 0, held, held_count);
  /* Competitors take a quarter on each instruction set, as the same lines are compiled for each. */
  static shape quarter[sizeof shapes / sizeof *shapes];
  const size_t quarter_count = some_of(shapes, count, true, quarter);
  kernels = peers_kernels(&kernel_count);
  for (unsigned isa = POSENC_ISA_GENERIC; isa <= POSENC_ISA_AVX512; isa <<= 1) {
    printf("# competitors, with %s alone\n", posenc_isa_name(isa));
    test_contracts(kernels, kernel_count, isa, quarter, quarter_count);
  }
  printf("# add and rope\n");
  test_contracts(kernels, kernel_count, 0, applied, applied_count);
  kernels = posenc_kernels(&kernel_count);
  test_contracts(kernels, kernel_count, 0, applied, applied_count);
  test_peers_stores(shapes, count);
  test_same_bits(shapes, count + large(shapes + count));
  return tap_done();
}
