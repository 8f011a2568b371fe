/* SPDX-License-Identifier: MIT */
/* The list of kernels, and the conditions under which each can run. */
#include "lib/api/kernel.h"
#include "lib/api/rows.h"

#include <string.h>

#define KERNEL(symbol, file, f32, f64, bits16) extern const posenc_kernel posenc_kernel_##symbol;
#include "impls/kernels.def"
#undef KERNEL

static const posenc_kernel *const kernels[] = {
#define KERNEL(symbol, file, f32, f64, bits16) &posenc_kernel_##symbol,
#include "impls/kernels.def"
#undef KERNEL
};

/* Time per element, by kernel and dtype. */
static const double picoseconds[][4] = {
#define KERNEL(symbol, file, f32, f64, bits16)                                                                         \
  {[POSENC_F32] = f32, [POSENC_F64] = f64, [POSENC_F16] = bits16, [POSENC_BF16] = bits16},
#include "impls/kernels.def"
#undef KERNEL
};

/* The time until a team's helpers are at work, if they are spinning because calls follow each other. Where they sleep,
   small work is done without them (team.c). */
static const double team_picoseconds = 2e6;

enum { KERNEL_COUNT = sizeof kernels / sizeof *kernels };

const posenc_kernel *const *posenc_kernels(size_t *count) {
  if (count) *count = KERNEL_COUNT;
  return kernels;
}

const posenc_kernel *posenc_kernel_find(const char *name) {
  for (size_t i = 0; name && i < KERNEL_COUNT; i++)
    if (strcmp(kernels[i]->name, name) == 0) return kernels[i];
  return NULL;
}

static const char *isa_refusal(const posenc_kernel *kernel, const posenc_options *options) {
  unsigned allowed;
  if (isa_allowed(options, &allowed) != POSENC_OK) return posenc_status_message(POSENC_BAD_ISA);
  const unsigned detected = kernel->isa & posenc_isa_detect();
  if (!detected) return "this CPU or system lacks the instruction set it needs";
  if (!(detected & allowed)) return "the instruction set it needs is masked out";
  return NULL;
}

/* Whether a scaling makes frequencies larger. The term `growth` of a bound is for frequencies that are at most 1 in
   units of the scale. */
static bool has_larger_frequencies(const posenc_problem *plain) {
  const posenc_scaling *how = &plain->scaling;
  for (int64_t i = 0; how->kind == POSENC_SCALING_LONGROPE && i < plain->dim / 2; i++)
    if (how->factors[i] < 1.0) return true;
  return false;
}

/* Returns the reason why the kernel cannot make this plain table, or null. */
static const char *plain_refusal(const posenc_kernel *kernel, const posenc_problem *plain,
                                 const posenc_options *options) {
  if (!kernel->scales && !kernel_is_plain(plain))
    return "it follows no scale, no scaling and no fractions of positions";
  if (kernel->f32_only && plain->dtype != POSENC_F32) return "it writes f32 only";
  if (kernel->bound.growth > 0.0 && has_larger_frequencies(plain))
    return "its error grows with the frequency, and factors of longrope below 1 make that larger";
  const char *why = kernel->can_do ? kernel->can_do(plain) : NULL;
  if (!why && !kernel->isa && !kernel_best_serial(plain, options, &kernel->bound))
    why = "there is no serial kernel for it to run";
  return why;
}

/* Returns the reason why the kernel cannot make a plain table that this valid table is made from, or null. */
static const char *table_refusal(const posenc_kernel *kernel, const rows_table *own, const posenc_options *options) {
  const posenc_problem *table = &own->table;
  const rows_units *units = &own->units;
  if (table->positions && kernel->keeps_rows) return "it keeps rows by number, and has none for a list of positions";
  const char *why = NULL;
  for (int i = 0; i < units->count && !why; i++) {
    const rows_unit *unit = &units->of[i];
    posenc_problem plain = rows_plain(table, unit, kernel);
    why = plain_refusal(kernel, &plain, options);
    /* The ends of the list are checked too, one at a time: a range from one to the other might overflow. */
    for (int end = 0; table->positions && end < 2 && !why; end++) {
      plain.first = end ? unit->highest : unit->lowest;
      plain.rows = 1;
      if (plain.first != 0) why = plain_refusal(kernel, &plain, options);
    }
  }
  return why;
}

static const char *tables_refusal(const posenc_kernel *kernel, const rows_tables *tables,
                                  const posenc_options *options) {
  const char *why = NULL;
  for (int n = 0; n < tables->count && !why; n++) why = table_refusal(kernel, &tables->of[n], options);
  return why;
}

/* Returns the reason why the kernel cannot run here, for any problem; null if it can. */
static const char *own_refusal(const posenc_kernel *kernel, const posenc_options *options) {
  if (kernel->abi != POSENC_KERNEL_ABI) return "it was built for another version of the kernel interface";
  if (kernel->absent) return kernel->absent;
  if (!kernel->execute) return "it computes no rows: its execute is null";
  return kernel->isa ? isa_refusal(kernel, options) : NULL;
}

const char *kernel_refusal(const posenc_kernel *kernel, const rows_tables *tables, const posenc_options *options) {
  const char *why = own_refusal(kernel, options);
  return why ? why : tables_refusal(kernel, tables, options);
}

const char *posenc_kernel_refusal(const posenc_kernel *kernel, const posenc_problem *problem,
                                  const posenc_options *options) {
  if (!kernel) return "there is no kernel";
  if (options && options->size != sizeof *options) return "the options are of unknown size";
  const char *why = own_refusal(kernel, options);
  if (!why && problem) why = posenc_problem_refusal(problem);
  if (why) return why;
  if (problem) {
    const posenc_problem table = posenc_table_of(problem);
    rows_tables tables;
    rows_find_tables(&table, &tables);
    return tables_refusal(kernel, &tables, options);
  }
  if (!kernel->isa && !kernel_best_serial(NULL, options, &kernel->bound))
    return "there is no serial kernel for it to run";
  return NULL;
}

/* Whether the bounds are equal. Kernels with the same derived bound are a family and give the same bits. */
static bool promises(const posenc_bound *promise, const posenc_bound *own) {
  return own->derived && own->ulp == promise->ulp && own->abs == promise->abs && own->growth == promise->growth &&
         own->max_position == promise->max_position;
}

const posenc_kernel *kernel_best_serial(const posenc_problem *problem, const posenc_options *options,
                                        const posenc_bound *promise) {
  for (size_t i = 0; i < KERNEL_COUNT; i++)
    if (kernels[i]->isa && !kernels[i]->threaded && kernels[i]->reproducible && promises(promise, &kernels[i]->bound) &&
        !posenc_kernel_refusal(kernels[i], problem, options))
      return kernels[i];
  return NULL;
}

/* Time per element of x for add and rope, in addition to making the table; rows that are made first take longer
   (doc/notebook.md). */
static double applied_picoseconds(const posenc_kernel *kernel, const posenc_problem *problem) {
  static const double by_rows = 150, without = 10;
  /* With large bases, many sines are tiny and many cosines near 1. Recomputing uncertain elements then takes longer
     than making rows: 540 ps per element at a base of 1e7. */
  static const double far = 0x1p20;
  if (problem->op == POSENC_TABLE) return 0;
  const bool has_rows = problem->op != POSENC_ADD || !kernel->apply || problem->padding != POSENC_NO_PADDING;
  return has_rows || problem->base > far ? by_rows : without;
}

static double serial_cost(const posenc_kernel *kernel, const posenc_problem *problem) {
  const double elements = (double)problem->rows * (double)problem->dim;
  const posenc_dtype dtype = problem->op == POSENC_TABLE ? problem->dtype : POSENC_F32;
  for (size_t i = 0; i < KERNEL_COUNT; i++)
    if (kernels[i] == kernel && picoseconds[i][dtype] > 0)
      return elements * (picoseconds[i][dtype] + (double)problem->heads * applied_picoseconds(kernel, problem));
  return INFINITY;
}

/* Whether a threaded kernel gets all rows in one call and can divide them. For rope caches, lists of positions, axes
   and other tables that are made from plain tables, it is asked for a few rows at a time, on one thread. */
static bool is_divided(const posenc_kernel *kernel, const posenc_problem *problem) {
  return problem->op != POSENC_ROPE_CACHE && (kernel->attends || !problem_attends(problem)) && problem->dim % 2 == 0 &&
         !problem->positions && !problem->axes;
}

double kernel_cost(const posenc_kernel *kernel, const posenc_problem *problem, const posenc_options *options) {
  if (!kernel->threaded) return serial_cost(kernel, problem);
  const posenc_problem table = posenc_table_of(problem);
  const posenc_kernel *serial = kernel_best_serial(&table, options, &kernel->bound);
  const int threads = options->threads ? options->threads : team_processors();
  return team_picoseconds + serial_cost(serial, problem) / (is_divided(kernel, problem) ? threads : 1);
}
