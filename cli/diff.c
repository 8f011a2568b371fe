/* SPDX-License-Identifier: MIT */
#include "cli/files.h"
#include "cli/options.h"
#include "common/progress.h"
#include "inspect/files/difference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_DIFFERENT = 1 };

static const char usage[] = "Usage: posenc diff A B [OPTION]...\n"
                            "Print where and by how much two tables in files differ: the first and the\n"
                            "largest difference, how many elements differ, and whether the columns of one\n"
                            "are those of the other in another order, as those of interleaved and split\n"
                            "tables are. Nothing is printed if all bits are equal.\n";
static const char notes[] = "A and B are NumPy's .npy or safetensors files; elements of different dtypes are\n"
                            "compared by value. Files may be larger than memory.\n"
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
  return dtype == POSENC_F64 ? 17 : dtype == POSENC_F32 ? 9 : 5;
}

static void print_place(FILE *out, const char *name, const difference_at *at, int digits_a, int digits_b) {
  fprintf(out, "%-15s row %" PRId64 ", column %" PRId64 ": %.*g and %.*g, %.3g apart\n", name, at->row, at->column,
          digits_a, at->a, digits_b, at->b, at->size);
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
  fprintf(out, "%s: %" PRId64 "x%" PRId64 " %s, ", name, at->rows, at->dim, dtype_name(at->dtype));
  print_quoted(out, path);
  fputc('\n', out);
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
    print_place(out, "first", &d->first, digits_a, digits_b);
    print_place(out, "largest", &d->largest, digits_a, digits_b);
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
  table_file *a = open_table(NULL, files[0], first, TABLE_WHOLE),
             *b = open_table(NULL, files[1], tensors->count == 2 ? tensors->items[1] : first, TABLE_WHOLE);
  if (first && !table_tensor(a) && !table_tensor(b)) die("--tensor %s: neither file has names", first);
  const int64_t columns_a = table_stored(a)->dim, columns_b = table_stored(b)->dim;
  output *result = open_output("--output", given->output);
  FILE *out = output_stream(result);
  bool different = true;
  if (columns_a == columns_b) {
    different = compare_elements(out, files, a, b);
  } else {
    print_table(out, "A", files[0], table_stored(a));
    print_table(out, "B", files[1], table_stored(b));
    fprintf(out, "%-15s %" PRId64 " and %" PRId64 "\n", "columns", columns_a, columns_b);
  }
  table_close(a);
  table_close(b);
  close_output("--output", given->output, result);
  return different ? STATUS_DIFFERENT : EXIT_SUCCESS;
}

const command command_diff = {
    .bit = DIFF,
    .name = "diff",
    .summary = "print where two tables in files differ",
    .usage = usage,
    .notes = notes,
    .operands_least = 2,
    .operands_most = 2,
    .operand_missing = "two FILEs are needed",
    .run = run,
};
