/* SPDX-License-Identifier: MIT */
/* Tests whether memory is recognized as new, because large tables have no streaming stores there; and add and rope
   with streaming stores. */
#define _GNU_SOURCE
#include "config.h"

#include "lib/api/store.h"
#include "lib/apply/apply.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 24 };

static void test_malloc(const char *name, void *(*get)(size_t bytes), void (*drop)(void *memory)) {
  char *memory = get(BYTES);
  if (!memory) abort();
  ok(store_is_new(memory, BYTES), "%s: large memory is new", name);
  memset(memory, 1, BYTES / 3);
  ok(!store_is_new(memory, BYTES), "%s: not if a third of it was written", name);
  ok(store_is_new(memory + BYTES / 2, BYTES / 2), "%s: its other half is", name);
  memset(memory, 1, BYTES);
  ok(!store_is_new(memory, BYTES), "%s: nor if all of it was", name);

  drop(memory);
}

/* ---- add and rope ---- */

static void test_choice(void) {
  const posenc_slice few = {.rows = 1023, .batch = 1}, many = {.rows = 1024, .batch = 1},
                     both = {.rows = 512, .batch = 2};
  posenc_problem rope = posenc_rope(1024, 16, 128);
  char *x = mmap(NULL, 2 * (size_t)BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *out = x + BYTES;
  if (x == MAP_FAILED) abort();
  memset(out, 1, BYTES);
  ok(apply_streams(POSENC_STORES_AUTO, &rope, &many, x, out), "8 MiB of f32 are streamed");
  ok(apply_streams(POSENC_STORES_AUTO, &rope, &both, x, out), "those of two sequences, too");
  ok(!apply_streams(POSENC_STORES_AUTO, &rope, &few, x, out), "less is not");
  ok(!apply_streams(POSENC_STORES_AUTO, &rope, &many, out, out), "nor is it in place");
  ok(!apply_streams(POSENC_STORES_REGULAR, &rope, &many, x, out), "nor where regular stores are asked for");
#ifdef __linux__
  ok(!apply_streams(POSENC_STORES_AUTO, &rope, &many, out, x), "nor to new memory");
#endif
  rope.heads = 1;
  rope.dim = 2048;
  ok(!apply_streams(POSENC_STORES_AUTO, &rope, &many, x, out), "nor heads that are larger than a part");
  rope.op = POSENC_ADD;
  ok(apply_streams(POSENC_STORES_AUTO, &rope, &many, x, out), "but such rows are added so");
  munmap(x, 2 * (size_t)BYTES);
}

enum { LINE = 64, MARK = 0x55 };

/* Two sequences that are apart. */
static posenc_slice two_of(const posenc_problem *problem) {
  posenc_slice slice = posenc_rows(0, problem->rows);
  slice.batch = 2;
  slice.stride = problem->rows * problem->heads * problem->dim + 32;
  return slice;
}

/* Applies the problem to them, into memory filled with marks. */
static bool apply_into(const posenc_kernel *kernel, const posenc_problem *problem, posenc_stores stores, const char *x,
                       char *out, size_t bytes) {
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  options.stores = stores;
  const posenc_slice slice = two_of(problem);
  memset(out, MARK, bytes);
  posenc_plan *plan = NULL;
  const bool made =
      posenc_plan_create(&plan, problem, &options) == POSENC_OK && posenc_apply(plan, &slice, x, out) == POSENC_OK;
  posenc_plan_destroy(plan);
  return made;
}

/* Tests results at cache lines, or an element after it. */
static void test_streamed(const char *name, posenc_problem problem, posenc_layout layout, posenc_dtype dtype) {
  problem.layout = layout;
  problem.dtype = dtype;
  const posenc_kernel *kernel = name ? posenc_kernel_find(name) : NULL;
  const size_t element = posenc_dtype_bytes(dtype), gap = 32 * element,
               result = 2 * (size_t)(problem.rows * problem.heads * problem.dim) * element + gap,
               room = result + 2 * LINE;
  char *x = posenc_alloc(result), *want = posenc_alloc(room), *got = posenc_alloc(room);
  if (!x || !want || !got) abort();
  for (size_t i = 0; i < result / 2; i++) ((uint16_t *)(void *)x)[i] = (uint16_t)(0x3c00 + i * 37 % 1021);
  memset(got, MARK, room); /* it is new no longer */
  for (size_t off = 0; off <= element; off += element) {
    if (posenc_kernel_refusal(kernel, &problem, NULL) && kernel) {
      skip(name, posenc_kernel_refusal(kernel, &problem, NULL));
      continue;
    }
    const posenc_slice slice = two_of(&problem);
    ok(apply_streams(POSENC_STORES_AUTO, &problem, &slice, x, got + off), "so large a result is streamed");
    const bool made = apply_into(kernel, &problem, POSENC_STORES_REGULAR, x, want + off, room - LINE) &&
                      apply_into(kernel, &problem, POSENC_STORES_AUTO, x, got + off, room - LINE);
    ok(made && memcmp(want + off, got + off, room - LINE) == 0,
       "%s, %s %d, dim %d, %d heads, dtype %d, off by %zu: streamed, the same bits", name ? name : "the default",
       problem.op == POSENC_ADD ? "add" : "rope", (int)layout, (int)problem.dim, (int)problem.heads, (int)dtype, off);
  }
  posenc_free(x);
  posenc_free(want);
  posenc_free(got);
}

static void test_all_streamed(void) {
  static const char *const names[] = {NULL, "cached", "cr-portable", "cr-threads"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    test_streamed(names[n], posenc_rope(4000, 3, 128), POSENC_SPLIT, POSENC_F32);
    test_streamed(names[n], posenc_rope(1000, 11, 114), POSENC_INTERLEAVED, POSENC_F32);
    test_streamed(names[n], posenc_rope(1500, 9, 80), POSENC_SPLIT, POSENC_BF16);
    test_streamed(names[n], posenc_rope(9000, 1, 132), POSENC_INTERLEAVED, POSENC_BF16);
    test_streamed(names[n], posenc_add(9000, 128), POSENC_INTERLEAVED, POSENC_F32);
    test_streamed(names[n], posenc_add(9000, 136), POSENC_INTERLEAVED_CS, POSENC_F32);
    test_streamed(names[n], posenc_add(1100, 1040), POSENC_SPLIT, POSENC_F32);
    test_streamed(names[n], posenc_add(9000, 130), POSENC_INTERLEAVED, POSENC_BF16);
  }
}

int main(void) {
#ifdef __linux__
  test_malloc("malloc", malloc, free);
  test_malloc("posenc_alloc", posenc_alloc, posenc_free);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *few = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (few == MAP_FAILED) abort();
  ok(store_is_new(few, 8 * page), "8 pages are new");
  ok(!store_is_new(few + 1, 8 * page - 1), "of less nothing is said");
  munmap(few, 8 * page);
  ok(!store_is_new(few, 8 * page), "memory that there is not");
#else
  ok(!store_is_new(main, 1 << 24), "it is not told here");
#endif
  test_choice();
  test_all_streamed();
  return tap_done();
}
