/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "lib/api/kernel.h"
#include "lib/api/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT_BITS = 8 };

/* Returns the smallest unit of which the position is a whole number; 0 stands for the unit 1. */
static int unit_of(double position) {
  if (position == 0.0) return 0;
  int exponent;
  const uint64_t mantissa = (uint64_t)ldexp(fabs(frexp(position, &exponent)), 53);
  const int least = exponent - 53 + __builtin_ctzll(mantissa);
  return least < 0 ? (-least + UNIT_BITS - 1) / UNIT_BITS : 0;
}

static int64_t number_of(double position, int unit) {
  return (int64_t)ldexp(position, UNIT_BITS * unit);
}

/* Returns the index of the unit among those found so far, or their count if it is new. */
static int place_of(const rows_units *units, int unit) {
  int place = 0;
  while (place < units->count && units->of[place].unit != unit) place++;
  return place;
}

static void find_units(const posenc_problem *table, rows_units *units) {
  units->count = 0;
  if (!table->positions) units->of[units->count++] = (rows_unit){0, 0, 0, 0};
  for (int64_t row = 0; table->positions && row < table->rows; row++) {
    const double position = table->positions[row];
    const int unit = unit_of(position), place = place_of(units, unit);
    const int64_t number = number_of(position, unit), size = number < 0 ? -number : number;
    rows_unit *of = &units->of[place];
    if (place == units->count) {
      units->count++;
      *of = (rows_unit){unit, size, number, number};
    }
    if (of->least == 0 || (size > 0 && size < of->least)) of->least = size;
    if (number < of->lowest) of->lowest = number;
    if (number > of->highest) of->highest = number;
  }
}

void rows_find_tables(const posenc_problem *table, rows_tables *tables) {
  tables->count = table->axes ? table->axes->count : 1;
  for (int a = 0; a < tables->count; a++) {
    rows_table *own = &tables->of[a];
    own->table = table->axes ? axes_table(table, a) : *table;
    find_units(&own->table, &own->units);
  }
}

posenc_problem rows_plain(const posenc_problem *table, const rows_unit *unit, const posenc_kernel *kernel) {
  posenc_problem plain = *table;
  if (table->dim % 2 && table->odd == POSENC_ODD_PAD) plain.dim--;
  if (table->dim % 2 && table->odd == POSENC_ODD_CEIL) {
    plain.dim++;
    plain.shift += 0.5;
  }
  plain.odd = POSENC_ODD_REFUSED;
  if (table->positions) {
    plain.positions = NULL;
    plain.first = unit->unit ? unit->least : 0;
    plain.rows = unit->unit ? 1 : 2;
    plain.scale = ldexp(plain.scale, -UNIT_BITS * unit->unit);
  }
  plain.dtype = kernel_dtype(kernel, table);
  if (!kernel->attends && problem_attends(table)) plain.scaling.attention = 1.0;
  return plain;
}

/* ---- plan -------------------------------------------------------------------------------------- */

static const rows_loops *loops_for(const posenc_options *options) {
  const unsigned isa = isa_usable(options);
  const rows_loops *widest = &rows_loops_generic;
#define TIER(bit, name)                                                                                                \
  if (isa & (bit)) widest = &rows_loops_##name;
  BUILT_TIERS(TIER)
#undef TIER
  return widest;
}

static posenc_status prepare_parts(row_source *made, const rows_units *units, const posenc_options *options) {
  for (; made->parts < units->count; made->parts++) {
    rows_part *part = &made->part[made->parts];
    part->problem = rows_plain(&made->table, &units->of[made->parts], made->kernel);
    const posenc_kernel *kernel = made->kernel;
    const posenc_status status =
        kernel->prepare ? kernel->prepare(&part->problem, options, &part->constants) : POSENC_OK;
    if (status != POSENC_OK) return status;
  }
  return POSENC_OK;
}

static posenc_status number_rows(row_source *made, const rows_units *units) {
  const posenc_problem *table = &made->table;
  const size_t rows = table->rows ? (size_t)table->rows : 1;
  made->number = (int64_t *)calloc(rows, sizeof *made->number);
  made->part_of = (uint8_t *)calloc(rows, sizeof *made->part_of);
  if (!made->number || !made->part_of) return POSENC_OUT_OF_MEMORY;
  for (int64_t row = 0; row < table->rows; row++) {
    const int unit = unit_of(table->positions[row]);
    made->number[row] = number_of(table->positions[row], unit);
    made->part_of[row] = (uint8_t)place_of(units, unit);
  }
  return POSENC_OK;
}

posenc_status rows_prepare_plain(row_source *made, const posenc_problem *table, const rows_units *units,
                                 const posenc_kernel *kernel, const posenc_options *options) {
  const bool is_multiplied = problem_attends(table) && !kernel->attends;
  *made = (row_source){.table = *table,
                       .kernel = kernel,
                       .is_converted = is_multiplied || kernel_dtype(kernel, table) != table->dtype,
                       .factor = is_multiplied ? posenc_attention(table) : 1.0,
                       .loops = loops_for(options)};
  made->part = (rows_part *)calloc(units->count ? (size_t)units->count : 1, sizeof *made->part);
  posenc_status status = made->part ? prepare_parts(made, units, options) : POSENC_OUT_OF_MEMORY;
  if (status == POSENC_OK && table->positions) status = number_rows(made, units);
  if (status != POSENC_OK) rows_release(made);
  return status;
}

posenc_status rows_prepare(row_source *made, const posenc_problem *table, const rows_tables *tables,
                           const posenc_kernel *kernel, const posenc_options *options) {
  if (!table->axes) return rows_prepare_plain(made, table, &tables->of[0].units, kernel, options);
  *made = (row_source){.table = *table, .kernel = kernel, .loops = loops_for(options)};
  const posenc_status status = axes_prepare(made, tables, options);
  if (status != POSENC_OK) rows_release(made);
  return status;
}

void rows_release(row_source *made) {
  for (int i = 0; i < made->parts; i++)
    if (made->kernel->release) made->kernel->release(made->part[i].constants);
  free(made->part);
  free(made->number);
  free(made->part_of);
  axes_release(made->axes);
}

/* ---- rows -------------------------------------------------------------------------------------- */

static bool is_reshaped(const row_source *from) {
  return from->table.dim % 2 || from->is_converted;
}

bool rows_are_plain(const row_source *from) {
  return !from->axes && !from->number && !is_reshaped(from) && !problem_attends(&from->table);
}

/* Writes rows of a list, in runs of successive numbers of a plain problem. */
static void make_listed(const row_source *from, int64_t row, int64_t rows, void *out) {
  const int64_t *number = from->number + row;
  const uint8_t *part_of = from->part_of + row;
  for (int64_t r = 0, run; r < rows; r += run) {
    const rows_part *part = from->part + part_of[r];
    for (run = 1; r + run < rows && part_of[r + run] == part_of[r] && number[r + run] == number[r] + run;) run++;
    from->kernel->execute(part->constants, &part->problem, number[r] - part->problem.first, run,
                          (char *)out + (size_t)r * kernel_row_bytes(&part->problem));
  }
}

void rows_zero_padding(const posenc_problem *table, int64_t row, int64_t rows, void *out, size_t row_bytes) {
  const int64_t padding = table->padding, first = table->first + row;
  if (padding != POSENC_NO_PADDING && padding >= first && padding < first + rows)
    memset((char *)out + (size_t)(padding - first) * row_bytes, 0, row_bytes);
}

static void zero_padding(const row_source *from, int64_t row, int64_t rows, void *out) {
  const posenc_problem *table = &from->table;
  const size_t bytes = kernel_row_bytes(table);
  if (table->padding == POSENC_NO_PADDING) return;
  if (!from->number) {
    rows_zero_padding(table, row, rows, out, bytes);
    return;
  }
  for (int64_t r = 0; r < rows; r++) {
    const double position = table->positions[row + r];
    if (unit_of(position) == 0 && (int64_t)position == table->padding)
      memset((char *)out + (size_t)r * bytes, 0, bytes);
  }
}

/* Converts `count` elements from the plain problem's dtype to the table's, times the factor. */
static void convert(const row_source *from, const char *plain, int64_t count, char *out) {
  const posenc_dtype dtype = from->table.dtype;
  if (!from->is_converted) {
    memcpy(out, plain, (size_t)count * posenc_dtype_bytes(dtype));
    return;
  }
  from->loops->scale(from->part->problem.dtype, dtype, count, from->factor, plain, out);
}

/* Writes a row of the table from a row of the plain problem. */
static void reshape(const row_source *from, const char *plain, char *out) {
  const posenc_problem *table = &from->table, *inner = &from->part->problem;
  const int64_t bytes = (int64_t)posenc_dtype_bytes(table->dtype),
                inner_bytes = (int64_t)posenc_dtype_bytes(inner->dtype);
  if (inner->dim <= table->dim) {
    convert(from, plain, inner->dim, out);
    memset(out + inner->dim * bytes, 0, (size_t)((table->dim - inner->dim) * bytes));
    return;
  }
  const posenc_columns columns = posenc_layout_columns(inner->layout, inner->dim);
  const int64_t last_cosine = columns.cos + (inner->dim / 2 - 1) * columns.step;
  convert(from, plain, last_cosine, out);
  convert(from, plain + (last_cosine + 1) * inner_bytes, table->dim - last_cosine, out + last_cosine * bytes);
}

/* The largest size of the plain rows that are made at a time: on the stack if a block of rows fits, otherwise in
   allocated memory. */
enum { STACK_BYTES = 1 << 15, MOST_BYTES = 1 << 18 };

/* Reshapes rows that it makes from the plain problems. Not inlined: otherwise every caller would reserve the buffer and
   touch a new page of the stack. */
static __attribute__((noinline)) posenc_status make_reshaped(const row_source *from, int64_t row, int64_t rows,
                                                             void *out) {
  const size_t plain_bytes = kernel_row_bytes(&from->part->problem), bytes = kernel_row_bytes(&from->table);
  const bool is_narrow = KERNEL_BLOCK * plain_bytes <= STACK_BYTES;
  const int64_t fitting = rows_fitting(plain_bytes, is_narrow ? STACK_BYTES : MOST_BYTES, rows);
  _Alignas(64) char stack[STACK_BYTES];
  char *plain = stack;
  if ((size_t)fitting * plain_bytes > sizeof stack) plain = (char *)posenc_alloc((size_t)fitting * plain_bytes);
  if (!plain) return POSENC_OUT_OF_MEMORY;
  row_source inner = *from;
  inner.table = from->part->problem;
  inner.table.padding = POSENC_NO_PADDING;
  inner.is_converted = false;
  for (int64_t done = 0, some; done < rows; done += some) {
    some = rows - done < fitting ? rows - done : fitting;
    rows_make(&inner, row + done, some, plain);
    for (int64_t r = 0; r < some; r++)
      reshape(from, plain + (size_t)r * plain_bytes, (char *)out + (size_t)(done + r) * bytes);
  }
  if (plain != stack) posenc_free(plain);
  return POSENC_OK;
}

posenc_status rows_make(const row_source *from, int64_t row, int64_t rows, void *out) {
  posenc_status status = POSENC_OK;
  if (from->axes)
    status = axes_make(from, row, rows, out);
  else if (is_reshaped(from))
    status = make_reshaped(from, row, rows, out);
  else if (from->number)
    make_listed(from, row, rows, out);
  else
    from->kernel->execute(from->part->constants, &from->part->problem, row, rows, out);
  if (status == POSENC_OK) zero_padding(from, row, rows, out);
  return status;
}
