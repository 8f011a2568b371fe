/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "common/progress.h"
#include "files/difference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_TENSOR = OPTION_OWN };
enum { STATUS_DIFFERENT = 1 };

static const char help[] = "Usage: posenc diff A B [OPTION]...\n"
                           "Tell where and how much two tables in files differ: their first and their largest\n"
                           "difference, how many elements, and whether the columns of one are those of the other\n"
                           "in another order, as those of interleaved and split tables are. Nothing is printed if\n"
                           "they are the same to the last bit.\n"
                           "\n"
                           "Options:\n"
                           "  --tensor NAME     which tensor of a safetensors file (the only one that can be a\n"
                           "                    table); given twice, that of A, then that of B\n" HELP_HELP "\n"
                           "A and B are NumPy's .npy or safetensors files; elements of different dtypes are\n"
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

static const struct option long_options[] = {
    {"tensor", required_argument, NULL, OPTION_TENSOR},
    HELP_OPTIONS,
};

static void show(double done, double total) {
  progress_show("diff", "elements of both", done, total, "elements");
}

/* So many digits tell any two numbers of the dtype apart. */
static int digits_of(posenc_dtype dtype) {
  return dtype == POSENC_F64 ? 17 : dtype == POSENC_F32 ? 9 : 5;
}

static void print_place(const char *name, const difference_at *at, int digits_a, int digits_b) {
  printf("%-15s row %" PRId64 ", column %" PRId64 ": %.*g and %.*g, %.3g apart\n", name, at->row, at->column, digits_a,
         at->a, digits_b, at->b, at->size);
}

/* Column numbers of a for the first columns of b. */
static void print_columns(const int64_t *columns, int64_t dim) {
  enum { SHOWN = 16 };
  printf("%-15s B has the columns of A in another order:", "columns");
  for (int64_t c = 0; c < dim && c < SHOWN; c++) printf(" %" PRId64, columns[c]);
  puts(dim > SHOWN ? " ..." : "");
}

static void print_layouts(const difference *d, int64_t dim) {
  if (d->from && d->columns)
    printf("%-15s B is A with its columns from %s to %s\n", "columns", d->from, d->to);
  else if (d->from)
    printf("%-15s from %s to %s, those of A are within %.3g of those of B in the first rows\n", "columns", d->from,
           d->to, d->least);
  else if (d->columns)
    print_columns(d->columns, dim);
}

static void print_table(const char *name, const char *path, const stored *at) {
  printf("%s: %" PRId64 "x%" PRId64 " %s, ", name, at->rows, at->dim, dtype_name(at->dtype));
  print_quoted(stdout, path);
  putchar('\n');
}

static void print_difference(const difference *d, const stored *a, const stored *b) {
  const int digits_a = digits_of(a->dtype), digits_b = digits_of(b->dtype);
  const int64_t elements = d->rows * a->dim;
  if (a->rows != b->rows)
    printf("%-15s %" PRId64 " and %" PRId64 "; compared are %" PRId64 "\n", "rows", a->rows, b->rows, d->rows);
  if (a->dtype != b->dtype) printf("%-15s %s and %s\n", "dtypes", dtype_name(a->dtype), dtype_name(b->dtype));
  printf("%-15s %" PRId64 " of %" PRId64, "other values", d->values, elements);
  if (d->bits >= 0) printf("; other bits: %" PRId64, d->bits);
  putchar('\n');
  if (d->values || d->bits > 0) {
    print_place("first", &d->first, digits_a, digits_b);
    print_place("largest", &d->largest, digits_a, digits_b);
  }
  print_layouts(d, a->dim);
}

static table_file *open_or_die(const char *path, const char *tensor) {
  fault why;
  table_file *table = table_open(path, tensor, &why);
  if (!table) die("%s: %s", *path ? path : "''", why.text);
  return table;
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  const char *tensors[2] = {NULL, NULL};
  int named = 0;
  for (int code; (code = options_next(&given, &command_diff, argc, argv)) != -1;) {
    if (named == 2) die_value("--tensor", optarg, "a third one");
    tensors[named++] = optarg;
  }
  if (argc - optind < 2) die("two FILEs are needed");
  if (argc - optind > 2) die("extra operand '%s'", argv[optind + 2]);
  char **files = argv + optind;
  table_file *a = open_or_die(files[0], tensors[0]), *b = open_or_die(files[1], named == 2 ? tensors[1] : tensors[0]);
  if (named && !table_tensor(a) && !table_tensor(b)) die("--tensor %s: neither file has names", tensors[0]);

  const stored *of_a = table_stored(a), *of_b = table_stored(b);
  bool different = true;
  if (of_a->dim != of_b->dim) {
    print_table("A", files[0], of_a);
    print_table("B", files[1], of_b);
    printf("%-15s %" PRId64 " and %" PRId64 "\n", "columns", of_a->dim, of_b->dim);
  } else {
    difference found;
    const char *failure = difference_find(a, b, show, &found);
    progress_clear();
    if (failure) die("%s and %s: %s", files[0], files[1], failure);
    different = found.values || found.bits != 0 || of_a->rows != of_b->rows;
    if (different) {
      print_table("A", files[0], of_a);
      print_table("B", files[1], of_b);
      print_difference(&found, of_a, of_b);
    }
    difference_free(&found);
  }
  table_close(a);
  table_close(b);
  return different ? STATUS_DIFFERENT : EXIT_SUCCESS;
}

const command command_diff = {
    .name = "diff",
    .summary = "tell where two tables in files differ",
    .help = help,
    .short_options = "hV",
    .long_options = long_options,
    .operands = true,
    .run = run,
};
