/* SPDX-License-Identifier: MIT */
/*
 * A plugin for make timing-power: kernels of the library, slower by known shares. SLOWED_BY="P Q ..." gives, for each
 * kernel in order, the percentage of its rows that each call writes a second time. The additional work is of the same
 * kind as the rest, so that waiting for a core, or a slower clock, affects both alike. Without SLOWED_BY, all rows are
 * written once. A share is exact if rows times percentage is a multiple of 3200 and the first position is a multiple of
 * 32 plus 16, because kernels that work in blocks then repeat whole blocks; and if the first position is large, because
 * sines of small angles take less time.
 */
#include <posenc.h>

#include <stdlib.h>

/* The kernel that is slowed, its constants, and the percentage of rows that are written twice. */
typedef struct slowed {
  const posenc_kernel *kernel;
  void *constants;
  long percent;
} slowed;

/* Returns the percentage at that place in SLOWED_BY, or 0 if there is none. */
static long percent_of(int place) {
  const char *text = getenv("SLOWED_BY");
  char *end = (char *)(uintptr_t)text;
  long percent = 0;
  for (int i = 0; text && i <= place; i++, text = end) percent = strtol(text, &end, 10);
  return percent;
}

static posenc_status prepare(const char *name, int place, const posenc_problem *problem, const posenc_options *options,
                             void **constants) {
  slowed *made = calloc(1, sizeof *made);
  if (!made) return POSENC_OUT_OF_MEMORY;
  made->kernel = posenc_kernel_find(name);
  made->percent = percent_of(place);
  const posenc_status status =
      made->kernel->prepare ? made->kernel->prepare(problem, options, &made->constants) : POSENC_OK;
  if (status == POSENC_OK)
    *constants = made;
  else
    free(made);
  return status;
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const slowed *made = constants;
  made->kernel->execute(made->constants, problem, row, rows, out);
  made->kernel->execute(made->constants, problem, row, rows * made->percent / 100, out);
}

static void release(void *constants) {
  slowed *made = constants;
  if (made->kernel->release) made->kernel->release(made->constants);
  free(made);
}

/* Defines the kernel slowed-NAME, at that place in SLOWED_BY, which computes what NAME computes. */
#define SLOWED(place, id, of)                                                                                          \
  static posenc_status prepare_##id(const posenc_problem *problem, const posenc_options *options, void **constants) {  \
    return prepare(of, place, problem, options, constants);                                                            \
  }                                                                                                                    \
  static const posenc_kernel id = {                                                                                    \
      .abi = POSENC_KERNEL_ABI,                                                                                        \
      .isa = POSENC_ISA_GENERIC,                                                                                       \
      .name = "slowed-" of,                                                                                            \
      .summary = "as " of ", and some rows twice",                                                                     \
      .algorithm = "As " of ".",                                                                                       \
      .provenance = "tools/slowed.c",                                                                                  \
      .basis = "that of " of " is not repeated here",                                                                  \
      .bound = {.ulp = 1.0, .abs = 1.0, .max_position = 1 << 20},                                                      \
      .prepare = prepare_##id,                                                                                         \
      .execute = execute,                                                                                              \
      .release = release,                                                                                              \
  };
SLOWED(0, naive, "naive")
SLOWED(1, div_term, "div-term")
SLOWED(2, naive_f64, "naive-f64")
SLOWED(3, rotation, "rotation-portable")
SLOWED(4, rounded, "cr-portable")

POSENC_PLUGIN(&naive, &div_term, &naive_f64, &rotation, &rounded);
