/* SPDX-License-Identifier: MIT */
#include "cli/files.h"
#include "cli/options.h"
#include "common/terminal.h"
#include "inspect/files/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_DIFFERENT = 1 };

static const char usage[] = "Usage: posenc diff A B [OPTION]...\n"
                            "Print where and by how much two tables or arrays in files differ: the first\n"
                            "and the largest difference, also in ulp, how many elements differ, and whether\n"
                            "the columns of one are those of the other in another order, as those of\n"
                            "interleaved and split tables are. Nothing is printed if all bits are equal.\n";
static const char notes[] = "A and B are NumPy's .npy or safetensors files, of any number of axes; those of\n"
                            "length 1 may be left out in one of them, and the first may be longer. Elements\n"
                            "of different dtypes are compared by value; an ulp is that of the dtype with\n"
                            "fewer bits, at the larger of the two. Files may be larger than memory.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 if they are the same\n"
                            "  1                 if they differ\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc diff table.npy other.npy\n"
                            "  $ posenc diff table.npy model.safetensors --tensor pos_encoder.pe\n";

static void show(double done, double total) {
  progress_show("diff", "elements of both", done, total, "elements");
}

/* Returns the number of digits that distinguishes any two numbers of the dtype. */
static int digits_of(posenc_dtype dtype) {
  if (dtype == POSENC_F64) return 17;
  return dtype == POSENC_F32 ? 9 : 5;
}

/* Prints "row 5, column 3", or of more axes "at (0, 5, 3)". */
static void print_index(FILE *out, const stored *of, const difference_at *at) {
  int64_t index[STORED_AXES] = {0};
  if (of->axis_count == 2) {
    fprintf(out, "row %" PRId64 ", column %" PRId64, at->row, at->column);
    return;
  }
  int64_t row = at->row;
  index[of->axis_count - 1] = at->column;
  for (size_t axis = of->axis_count - 1; axis-- > 0; row /= of->axes[axis]) index[axis] = row % of->axes[axis];
  for (size_t axis = 0; axis < of->axis_count; axis++) fprintf(out, "%s%" PRId64, axis ? ", " : "at (", index[axis]);
  fputc(')', out);
}

static void print_place(FILE *out, const char *name, const stored *of, const difference_at *at, int digits_a,
                        int digits_b) {
  fprintf(out, "%-15s ", name);
  print_index(out, of, at);
  fprintf(out, ": %.*g and %.*g, %.3g apart, %.3g ulp\n", digits_a, at->a, digits_b, at->b, at->size, at->ulp);
}

/* Prints which columns of a are the first columns of b. */
static void print_columns(FILE *out, const int64_t *columns, int64_t dim) {
  enum { SHOWN = 16 };
  fprintf(out, "%-15s B has the columns of A in another order:", "columns");
  for (int64_t c = 0; c < dim && c < SHOWN; c++) fprintf(out, " %" PRId64, columns[c]);
  fputs(dim > SHOWN ? " ...\n" : "\n", out);
}

static void print_layouts(FILE *out, const difference *d, int64_t dim) {
  if (d->from && d->columns)
    fprintf(out, "%-15s B is A with its columns from %s to %s\n", "columns", d->from, d->to);
  else if (d->from)
    fprintf(out, "%-15s from %s to %s, those of A are within %.3g of those of B in the first rows\n", "columns",
            d->from, d->to, d->least);
  else if (d->columns)
    print_columns(out, d->columns, dim);
}

static void print_table(FILE *out, const char *name, const char *path, const stored *at) {
  fprintf(out, "%s: ", name);
  for (size_t axis = 0; axis < at->axis_count; axis++) fprintf(out, "%s%" PRId64, axis ? "x" : "", at->axes[axis]);
  fprintf(out, " %s, ", dtype_name(at->dtype));
  print_quoted(out, path);
  fputc('\n', out);
}

/* Returns the axes of an array that are longer than 1, and the last. */
static size_t longer_axes(const stored *at, int64_t longer[STORED_AXES]) {
  size_t count = 0;
  for (size_t axis = 0; axis < at->axis_count; axis++)
    if (at->axes[axis] > 1 || axis + 1 == at->axis_count) longer[count++] = at->axes[axis];
  return count;
}

/* Whether the arrays have the same axes, but for those of length 1 and the length of the first. */
static bool are_comparable(const stored *a, const stored *b) {
  int64_t of_a[STORED_AXES], of_b[STORED_AXES];
  size_t count_a = longer_axes(a, of_a), count_b = longer_axes(b, of_b);
  const size_t first_a = count_a > 1, first_b = count_b > 1;
  if (a->axis_count == 2 && b->axis_count == 2) return a->dim == b->dim;
  return count_a - first_a == count_b - first_b &&
         memcmp(of_a + first_a, of_b + first_b, (count_a - first_a) * sizeof *of_a) == 0;
}

static void print_difference(FILE *out, const difference *d, const stored *a, const stored *b) {
  const int digits_a = digits_of(a->dtype), digits_b = digits_of(b->dtype);
  const int64_t elements = d->rows * a->dim;
  if (a->rows != b->rows)
    fprintf(out, "%-15s %" PRId64 " and %" PRId64 "; compared are %" PRId64 "\n", "rows", a->rows, b->rows, d->rows);
  if (a->dtype != b->dtype) fprintf(out, "%-15s %s and %s\n", "dtypes", dtype_name(a->dtype), dtype_name(b->dtype));
  fprintf(out, "%-15s %" PRId64 " of %" PRId64, "other values", d->values, elements);
  if (d->bits >= 0) fprintf(out, "; other bits: %" PRId64, d->bits);
  fputc('\n', out);
  if (d->values || d->bits > 0) {
    print_place(out, "first", a, &d->first, digits_a, digits_b);
    print_place(out, "largest", a, &d->largest, digits_a, digits_b);
    if (d->most_ulp.ulp > d->largest.ulp) print_place(out, "largest in ulp", a, &d->most_ulp, digits_a, digits_b);
  }
  print_layouts(out, d, a->dim);
}

/* Prints the difference, if there is any. Returns whether there is one. */
static bool compare_elements(FILE *out, char **files, table_file *a, table_file *b) {
  const stored *of_a = table_stored(a), *of_b = table_stored(b);
  difference found;
  const char *failure = difference_find(a, b, show, &found);
  progress_clear();
  if (failure) die("%s and %s: %s", files[0], files[1], failure);
  const bool different = found.values || found.bits != 0 || of_a->rows != of_b->rows;
  if (different) {
    print_table(out, "A", files[0], of_a);
    print_table(out, "B", files[1], of_b);
    print_difference(out, &found, of_a, of_b);
  }
  difference_free(&found);
  return different;
}

static int run(options *given) {
  const texts *tensors = &given->tensors;
  if (tensors->count > 2) die_value("--tensor", tensors->items[2], "a third one");
  char **files = given->operands;
  const char *first = tensors->count > 0 ? tensors->items[0] : NULL;
  table_file *a = open_table(NULL, files[0], first, TABLE_ARRAY),
             *b = open_table(NULL, files[1], tensors->count == 2 ? tensors->items[1] : first, TABLE_ARRAY);
  if (first && !table_tensor(a) && !table_tensor(b)) die("--tensor %s: neither file has names", first);
  const stored *of_a = table_stored(a), *of_b = table_stored(b);
  output *result = open_output("--output", given->output);
  FILE *out = output_stream(result);
  bool different = true;
  if (are_comparable(of_a, of_b)) {
    different = compare_elements(out, files, a, b);
  } else {
    print_table(out, "A", files[0], of_a);
    print_table(out, "B", files[1], of_b);
    if (of_a->dim == of_b->dim)
      fputs("axes            not those of one another\n", out);
    else
      fprintf(out, "%-15s %" PRId64 " and %" PRId64 "\n", "columns", of_a->dim, of_b->dim);
  }
  table_close(a);
  table_close(b);
  close_output("--output", given->output, result);
  return different ? STATUS_DIFFERENT : EXIT_SUCCESS;
}

const command command_diff = {
    .bit = DIFF,
    .name = "diff",
    .summary = "print where two tables or arrays in files differ",
    .usage = usage,
    .notes = notes,
    .operands_least = 2,
    .operands_most = 2,
    .operand_missing = "two FILEs are needed",
    .run = run,
};
