/* SPDX-License-Identifier: MIT */
/* Plans: a problem bound to a kernel. */
#include "config.h"

#include "lib/api/kernel.h"
#include "lib/api/rows.h"
#include "lib/api/store.h"
#include "lib/apply/apply.h"
#include "posenc.h"

#include <stdlib.h>
#include <string.h>

struct posenc_plan {
  posenc_problem problem;      /* its lists are the plan's own copies */
  double *positions, *factors; /* the copied lists */
  posenc_axes *axes;           /* a copy too */
  row_source rows;             /* of posenc_table_of(problem) */
  const apply_loops *loops;
  posenc_stores stores; /* the choice of the options */
};

static int64_t farthest_position(const posenc_problem *problem) {
  if (problem->positions) {
    double farthest = 0.0;
    for (int64_t row = 0; row < problem->rows; row++) farthest = fmax(farthest, fabs(problem->positions[row]));
    return (int64_t)ceil(farthest);
  }
  const int64_t first = problem->first, last = first + (problem->rows ? problem->rows - 1 : 0);
  if (first == INT64_MIN) return INT64_MAX;
  return -first > last ? -first : last;
}

static bool is_table_accurate(const posenc_kernel *kernel, const posenc_problem *table, int64_t farthest,
                              const posenc_options *options) {
  const posenc_bound own = posenc_kernel_bound(kernel, table), *bound = &own;
  if (!bound->derived || table->base < 1.0 || farthest > bound->max_position) return false;
  double binade;
  const double multiplied = kernel_error_at(bound, table, posenc_attention(table), farthest, &binade),
               error = kernel->attends ? binade * posenc_bound_at(bound, table->dtype, farthest) : multiplied;
  const double default_max_abs = binade * (table->dtype == POSENC_F64 ? 0x1p-44 : kernel_ulp_below_one(table->dtype));
  const double beside_max_ulp = options->max_ulp > 0.0 ? INFINITY : default_max_abs,
               max_abs = options->max_abs > 0.0 ? options->max_abs : beside_max_ulp;
  /* The terms of the bound other than `ulp` cannot be expressed in ulp: the ulp is arbitrarily small near a zero of
     sine. */
  const double beside_ulp =
      bound->abs + bound->growth * (double)farthest + (problem_attends(table) && !kernel->attends);
  const bool within_ulp = bound->ulp <= options->max_ulp && beside_ulp == 0.0;
  return error <= max_abs && (options->max_ulp == 0.0 || within_ulp);
}

static bool is_accurate(const posenc_kernel *kernel, const rows_tables *tables, const int64_t *farthest,
                        const posenc_options *options) {
  bool is = true;
  for (int n = 0; n < tables->count && is; n++)
    is = is_table_accurate(kernel, &tables->of[n].table, farthest[n], options);
  return is;
}

/* Returns the fastest kernel that is accurate enough: by the wisdom if it has times of any, otherwise by estimated
   cost; the first one if several are equally fast. */
static const posenc_kernel *find_fastest(const posenc_problem *problem, const rows_tables *tables,
                                         const posenc_options *options) {
  int64_t farthest[POSENC_AXES];
  for (int n = 0; n < tables->count; n++) farthest[n] = farthest_position(&tables->of[n].table);
  const posenc_kernel *best = NULL, *known = NULL;
  double least = INFINITY, least_known = INFINITY;
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  for (size_t i = 0; i < count; i++) {
    if (!is_accurate(kernels[i], tables, farthest, options) || kernel_refusal(kernels[i], tables, options)) continue;
    const double cost = kernel_cost(kernels[i], problem, options),
                 measured = wisdom_seconds(options->wisdom, problem, options->threads, kernels[i]->name);
    if (cost < least) {
      best = kernels[i];
      least = cost;
    }
    if (measured < least_known) {
      known = kernels[i];
      least_known = measured;
    }
  }
  return known ? known : best;
}

/* Chooses a kernel. Without a given tolerance, correctly rounding kernels are preferred. */
static const posenc_kernel *choose(const posenc_problem *problem, const rows_tables *tables,
                                   const posenc_options *options) {
  posenc_options exact = *options;
  exact.max_ulp = 0.5;
  const posenc_kernel *found = NULL;
  if (options->max_abs == 0.0 && options->max_ulp == 0.0) found = find_fastest(problem, tables, &exact);
  return found ? found : find_fastest(problem, tables, options);
}

static posenc_status check(const posenc_problem *problem, const posenc_options *options) {
  size_t bytes;
  unsigned isa;
  if (!problem || problem->size != sizeof *problem || options->threads < 0 || !(options->max_abs >= 0.0) ||
      !(options->max_ulp >= 0.0) || (options->isa & ~POSENC_ISA_ALL) ||
      (unsigned)options->stores > POSENC_STORES_STREAMING)
    return POSENC_BAD_ARGUMENT;
  if (posenc_table_bytes(problem, &bytes) == POSENC_TOO_LARGE) return POSENC_TOO_LARGE;
  if (posenc_problem_refusal(problem)) return POSENC_BAD_PROBLEM;
  return isa_allowed(options, &isa);
}

/* Copies a list of `count` numbers and makes *list point to the copy. A null list stays null. Returns false if memory
   runs out. */
static bool copy_list(const double **list, double **copy, int64_t count) {
  if (!*list) return true;
  const size_t bytes = (size_t)count * sizeof **list;
  *copy = (double *)malloc(bytes ? bytes : 1);
  if (*copy) memcpy(*copy, *list, bytes);
  *list = *copy;
  return *copy != NULL;
}

static posenc_status fill_plan(posenc_plan *made, const rows_tables *tables, const posenc_kernel *kernel,
                               const posenc_options *options) {
  posenc_problem *problem = &made->problem;
  if (problem->scaling.kind != POSENC_SCALING_LONGROPE) problem->scaling.factors = NULL;
  if (!copy_list(&problem->positions, &made->positions, problem->rows) ||
      !copy_list(&problem->scaling.factors, &made->factors, problem->dim / 2))
    return POSENC_OUT_OF_MEMORY;
  if (problem->axes) {
    problem->axes = made->axes = axes_copy(problem->axes);
    if (!made->axes) return POSENC_OUT_OF_MEMORY;
  }
  /* STREAMING is asked of the result. Rows of add, rope and rope caches are no result, and should stay in a cache. */
  posenc_options how = *options;
  if (problem->op != POSENC_TABLE && how.stores == POSENC_STORES_STREAMING) how.stores = POSENC_STORES_AUTO;
  const posenc_problem table = posenc_table_of(problem);
  made->loops = apply_loops_for(options);
  made->stores = options->stores;
  return rows_prepare(&made->rows, &table, tables, kernel, &how);
}

/* Frees the plan but not its rows. */
static void free_plan(posenc_plan *plan) {
  free(plan->positions);
  free(plan->factors);
  free(plan->axes);
  free(plan);
}

posenc_status posenc_plan_create(posenc_plan **plan, const posenc_problem *problem, const posenc_options *given) {
  if (!plan) return POSENC_BAD_ARGUMENT;
  *plan = NULL;
  if (given && given->size != sizeof *given) return POSENC_BAD_ARGUMENT;
  const posenc_options options = given ? *given : posenc_default_options();
  posenc_status status = check(problem, &options);
  if (status != POSENC_OK) return status;

  const posenc_problem table = posenc_table_of(problem);
  rows_tables tables;
  rows_find_tables(&table, &tables);
  if (options.kernel && kernel_refusal(options.kernel, &tables, &options)) return POSENC_CANNOT_RUN;
  const posenc_kernel *kernel = options.kernel ? options.kernel : choose(problem, &tables, &options);
  if (!kernel) return POSENC_NO_KERNEL;

  posenc_plan *made = (posenc_plan *)calloc(1, sizeof *made);
  if (!made) return POSENC_OUT_OF_MEMORY;
  made->problem = *problem;
  status = fill_plan(made, &tables, kernel, &options);
  if (status == POSENC_OK)
    *plan = made;
  else
    free_plan(made);
  return status;
}

static bool has_rows(const posenc_plan *plan, int64_t row, int64_t rows) {
  return row >= 0 && rows >= 0 && row <= plan->problem.rows && rows <= plan->problem.rows - row;
}

posenc_status posenc_execute(const posenc_plan *plan, int64_t row, int64_t rows, void *out) {
  if (!plan || plan->problem.op != POSENC_TABLE || !has_rows(plan, row, rows) || (rows && !out))
    return POSENC_BAD_ARGUMENT;
  if (rows == 0) return POSENC_OK;
  return rows_make(&plan->rows, row, rows, out);
}

/* One of the two tables of a rope cache that a call writes. The table that it is made from has the values of each group
   of columns twice, cosines first. The columns are one group; of grouped axes, those of each axis are. */
typedef struct cache_table {
  const posenc_plan *plan;
  char *out; /* null if it is not wanted */
  bool streamed, is_sines;
  size_t row_bytes, from_bytes; /* sizes of a row, and of a row that it is made from */
} cache_table;

static cache_table cache_table_at(const posenc_plan *plan, int64_t rows, void *out, bool is_sines) {
  const posenc_problem *problem = &plan->problem;
  const size_t bytes = kernel_row_bytes(problem), row_bytes = problem->layout == POSENC_SPLIT ? bytes / 2 : bytes;
  const bool streamed = out && store_streams_rows(plan->stores, row_bytes, rows, problem->dtype, out);
  return (cache_table){plan, (char *)out, streamed, is_sines, row_bytes, bytes};
}

/* Stores one row, from a row of cosines and sines. */
static void store_cache_row(const cache_table *to, const char *from, char *out) {
  const posenc_problem *problem = &to->plan->problem;
  const posenc_axes *axes = problem->axes && problem->axes->grouped ? problem->axes : NULL;
  for (int a = 0; a < (axes ? axes->count : 1); a++) {
    const size_t bytes = axes ? (size_t)axes->axis[a].pairs * posenc_dtype_bytes(problem->dtype) : to->from_bytes / 2;
    to->plan->rows.loops->spread(problem->layout, problem->dtype, bytes, from + (to->is_sines ? bytes : 0), out);
    from += 2 * bytes;
    out += problem->layout == POSENC_SPLIT ? bytes : 2 * bytes;
  }
}

/* Stores rows of one table of the cache, from rows with both. Streamed rows are made in `part` first, `some` rows at a
   time. */
static void store_cache(const cache_table *to, int64_t row, int64_t rows, const char *from, int64_t some, char *part) {
  if (!to->out) return;
  char *out = to->out + (size_t)row * to->row_bytes;
  for (int64_t done = 0, next; done < rows; done += next) {
    next = rows - done < some ? rows - done : some;
    char *const made = to->streamed ? part : out;
    for (int64_t r = 0; r < next; r++, from += to->from_bytes)
      store_cache_row(to, from, made + (size_t)r * to->row_bytes);
    if (to->streamed) to->plan->rows.loops->stream((size_t)next * to->row_bytes, part, out);
    out += (size_t)next * to->row_bytes;
  }
}

posenc_status posenc_rope_cache(const posenc_plan *plan, int64_t row, int64_t rows, void *cosines, void *sines) {
  enum { MOST_BYTES = 1 << 18, PART_BYTES = 1 << 12 };
  if (!plan || plan->problem.op != POSENC_ROPE_CACHE || !has_rows(plan, row, rows)) return POSENC_BAD_ARGUMENT;
  if (rows == 0 || (!cosines && !sines)) return POSENC_OK;
  const cache_table cosine = cache_table_at(plan, rows, cosines, false), sine = cache_table_at(plan, rows, sines, true);
  const size_t row_bytes = cosine.from_bytes;
  const int64_t fitting = rows_fitting(row_bytes, MOST_BYTES, rows), some = rows_fitting(row_bytes, PART_BYTES, rows);
  char *made = (char *)posenc_alloc((size_t)(fitting + some) * row_bytes);
  if (!made) return POSENC_OUT_OF_MEMORY;
  char *part = made + (size_t)fitting * row_bytes;
  posenc_status status = POSENC_OK;
  for (int64_t done = 0; done < rows && status == POSENC_OK; done += fitting) {
    const int64_t next = rows - done < fitting ? rows - done : fitting;
    status = rows_make(&plan->rows, row + done, next, made);
    if (status != POSENC_OK) break;
    store_cache(&cosine, done, next, made, some, part);
    store_cache(&sine, done, next, made, some, part);
  }
  if (cosine.streamed || sine.streamed) store_fence();
  posenc_free(made);
  return status;
}

posenc_status plan_apply(const posenc_plan *plan, const posenc_slice *given, posenc_stores stores, const void *x,
                         void *out) {
  posenc_slice slice;
  if (!plan || (plan->problem.op != POSENC_ADD && plan->problem.op != POSENC_ROPE) ||
      !slice_resolve(&slice, given, apply_width(&plan->problem), plan->problem.dtype) ||
      !(slice.index ? slice_within(&slice, plan->problem.rows) : has_rows(plan, slice.row, slice.rows)))
    return POSENC_BAD_ARGUMENT;
  if (slice.rows == 0 || slice.batch == 0) return POSENC_OK;
  if (!x || !out) return POSENC_BAD_ARGUMENT;
  const row_source *rows = &plan->rows;
  const bool is_plain = rows_are_plain(rows);
  const apply_source source = {.kernel = rows->kernel,
                               .constants = is_plain ? rows->part->constants : NULL,
                               .loops = plan->loops,
                               .rows = is_plain ? NULL : rows,
                               .stores = stores};
  return apply(&source, &plan->problem, &slice, x, out);
}

posenc_status posenc_apply(const posenc_plan *plan, const posenc_slice *slice, const void *x, void *out) {
  return plan_apply(plan, slice, plan ? plan->stores : POSENC_STORES_AUTO, x, out);
}

bool posenc_plan_stages(const posenc_plan *plan, int64_t row, int64_t rows, posenc_stages *stages) {
  const row_source *from = plan ? &plan->rows : NULL;
  if (!plan || !from->kernel->stages || !rows_are_plain(from) || !has_rows(plan, row, rows) || (rows && !stages))
    return false;
  if (rows == 0) return true;
  if (!from->kernel->stages(from->part->constants, &from->part->problem, row, rows, stages)) return false;
  rows_zero_padding(&from->table, row, rows, stages, (size_t)(plan->problem.dim / 2) * sizeof *stages);
  return true;
}

void posenc_plan_destroy(posenc_plan *plan) {
  if (!plan) return;
  rows_release(&plan->rows);
  free_plan(plan);
}

const posenc_problem *posenc_plan_problem(const posenc_plan *plan) {
  return plan ? &plan->problem : NULL;
}

const posenc_kernel *posenc_plan_kernel(const posenc_plan *plan) {
  return plan ? plan->rows.kernel : NULL;
}

/* ---- statuses -------------------------------------------------------------------------------------------- */

const char *posenc_status_message(posenc_status status) {
  switch (status) {
  case POSENC_OK:
    return "success";
  case POSENC_BAD_ARGUMENT:
    return "an argument is null, of unknown size or out of the table's range";
  case POSENC_BAD_PROBLEM:
    return "no such table exists";
  case POSENC_TOO_LARGE:
    return "the table is too large: its bytes or positions overflow";
  case POSENC_BAD_ISA:
    return "the environment variable POSENC_ISA names no set of instruction set tiers";
  case POSENC_CANNOT_RUN:
    return "the kernel cannot do this problem here";
  case POSENC_NO_KERNEL:
    return "no kernel does this problem within the asked accuracy on this CPU";
  case POSENC_OUT_OF_MEMORY:
    return "out of memory";
  case POSENC_BAD_FILE:
    return "the file cannot be read, or is not what it should be";
  }
  return "unknown status";
}

const char *posenc_version(void) {
  return PACKAGE_VERSION;
}
