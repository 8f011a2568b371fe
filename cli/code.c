/* SPDX-License-Identifier: MIT */
#include "cli/code.h"

#include "cli/catalogue.h"
#include "common/contract.h"
#include "common/grid.h"
#include "common/number.h"
#include "common/scaling.h"

#include <inttypes.h>

static const char *layout_constant(posenc_layout layout) {
  static const char *const names[] = {"POSENC_INTERLEAVED", "POSENC_INTERLEAVED_CS", "POSENC_SPLIT", "POSENC_SPLIT_CS",
                                      "POSENC_DUPLICATED"};
  return names[layout];
}

static const char *dtype_constant(posenc_dtype dtype) {
  static const char *const names[] = {"POSENC_F32", "POSENC_F64", "POSENC_F16", "POSENC_BF16"};
  return names[dtype];
}

static void print_scaling(FILE *out, const posenc_problem *p) {
  static const char *const kinds[SCALINGS] = {"NONE", "LINEAR", "DYNAMIC", "YARN", "LLAMA3", "LONGROPE"};
  const posenc_scaling *s = &p->scaling;
  if (s->kind == POSENC_SCALING_NONE && s->attention == 0.0) return;
  fprintf(out, "  problem.scaling.kind = POSENC_SCALING_%s;\n", kinds[s->kind]);
  for (int key = 0; key < SCALING_KEYS; key++) {
    const void *member = (const char *)s + scaling_keys[key].offset;
    if (!(scaling_forms[s->kind].keys >> key & 1u)) continue;
    if (scaling_keys[key].type == SCALING_LIST) {
      fputs("  static const double factors[] = {", out);
      for (int64_t i = 0; i < p->dim / 2; i++) fprintf(out, "%s%s", i ? ", " : "", number_of(s->factors[i]).text);
      fputs("};\n", out);
    }
    fprintf(out, "  problem.scaling.%s = ", scaling_keys[key].name);
    switch (scaling_keys[key].type) {
    case SCALING_REAL:
      fputs(number_of(*(const double *)member).text, out);
      break;
    case SCALING_WHOLE:
      fprintf(out, "INT64_C(%" PRId64 ")", *(const int64_t *)member);
      break;
    case SCALING_FLAG:
      fputs(*(const bool *)member ? "true" : "false", out);
      break;
    case SCALING_LIST:
      fputs("factors", out);
      break;
    }
    fputs(";\n", out);
  }
}

/* Prints an array of the positions of an axis, unless they are its coordinates. */
static void print_positions(FILE *out, const posenc_axis *axis, int number) {
  double first, step;
  if (!axis->positions) return;
  if (grid_steps(axis, &first, &step)) {
    fprintf(out,
            "  static double positions_%d[%" PRId64 "];\n"
            "  for (int n = 0; n < %" PRId64 "; n++) positions_%d[n] = %s + %s * (double)n;\n",
            number, axis->size, axis->size, number, number_of_position(first).text, number_of_position(step).text);
  } else if (axis->size > SHAPE_POSITIONS) {
    fprintf(out, "  extern const double positions_%d[%" PRId64 "]; // of each row\n", number, axis->size);
  } else {
    fprintf(out, "  static const double positions_%d[] = {", number);
    for (int64_t n = 0; n < axis->size; n++)
      fprintf(out, "%s%s", n ? ", " : "", number_of_position(axis->positions[n]).text);
    fputs("};\n", out);
  }
}

static void print_axes(FILE *out, const posenc_problem *p) {
  static const char *const orders[] = {"CHUNKED", "CYCLIC"}, *const frequencies[] = {"RESTARTED", "CONTINUED", "DEALT"};
  const posenc_axes *axes = p->axes;
  if (!axes) return;
  for (int a = 0; a < axes->count; a++) print_positions(out, &axes->axis[a], a);
  fprintf(out, "  posenc_axes axes = {.size = sizeof axes, .count = %d};\n", axes->count);
  for (int a = 0; a < axes->count; a++) {
    const posenc_axis *axis = &axes->axis[a];
    fprintf(out,
            "  axes.axis[%d] = (posenc_axis){.pairs = %" PRId64 ", .size = %" PRId64 ", .stride = %" PRId64
            ", .divisor = %s",
            a, axis->pairs, axis->size, axis->stride, number_of_position(axis->divisor).text);
    if (axis->positions) fprintf(out, ", .positions = positions_%d", a);
    fputs("};\n", out);
  }
  if (axes->order) fprintf(out, "  axes.order = POSENC_AXES_%s;\n", orders[axes->order]);
  if (axes->frequencies) fprintf(out, "  axes.frequencies = POSENC_AXES_%s;\n", frequencies[axes->frequencies]);
  if (axes->grouped) fputs("  axes.grouped = true;\n", out);
  fputs("  problem.axes = &axes;\n", out);
}

static void print_problem(FILE *out, const posenc_problem *p) {
  if (p->op == POSENC_ROPE)
    fprintf(out, "  posenc_problem problem = posenc_rope(%" PRId64 ", %" PRId64 ", %" PRId64 ");\n", p->rows, p->heads,
            p->dim);
  else
    fprintf(out, "  posenc_problem problem = posenc_%s(%" PRId64 ", %" PRId64 ");\n",
            p->op == POSENC_ADD          ? "add"
            : p->op == POSENC_ROPE_CACHE ? "rope_tables"
                                         : "table",
            p->rows, p->dim);
  const posenc_problem usual = posenc_table(p->rows, p->dim);
  if (p->first != usual.first) fprintf(out, "  problem.first = INT64_C(%" PRId64 ");\n", p->first);
  if (p->base != usual.base) fprintf(out, "  problem.base = %.17g;\n", p->base);
  if (p->shift != usual.shift) fprintf(out, "  problem.shift = %.17g;\n", p->shift);
  if (p->scale != usual.scale) fprintf(out, "  problem.scale = %.17g;\n", p->scale);
  print_scaling(out, p);
  print_axes(out, p);
  if (p->padding != usual.padding) fprintf(out, "  problem.padding = INT64_C(%" PRId64 ");\n", p->padding);
  if (p->layout != layout_default(p->op)) fprintf(out, "  problem.layout = %s;\n", layout_constant(p->layout));
  if (p->dtype != usual.dtype) fprintf(out, "  problem.dtype = %s;\n", dtype_constant(p->dtype));
  if (p->inverse) fprintf(out, "  problem.inverse = true;\n");
}

/* Prints the lines that select a kernel that the library would not choose by itself. A plugin's kernel is in the list
   that POSENC_PLUGIN makes; a kernel of the library may be absent or refuse the problem on another machine. */
static void print_kernel(FILE *out, const posenc_kernel *kernel) {
  const plugin_place place = catalogue_place(kernel);
  if (place.path)
    fprintf(out,
            "  // %s is a kernel of %s, which has to be linked with the program\n"
            "  extern const posenc_kernel *const posenc_plugin_kernels[];\n"
            "  options.kernel = posenc_plugin_kernels[%zu];\n",
            kernel->name, place.path, place.number);
  else
    fprintf(out,
            "  const posenc_kernel *fastest = posenc_kernel_find(\"%s\");\n"
            "  if (fastest && !posenc_kernel_refusal(fastest, &problem, &options))\n"
            "    options.kernel = fastest; // else, as on another CPU, the library chooses\n",
            kernel->name);
}

static void print_options(FILE *out, const options *given, const posenc_kernel *kernel) {
  posenc_options how = posenc_default_options();
  fputs("  posenc_options options = posenc_default_options();\n", out);
  if (given->max_ulp > 0.0) fprintf(out, "  options.max_ulp = %s;\n", number_of(how.max_ulp = given->max_ulp).text);
  if (given->max_abs > 0.0) fprintf(out, "  options.max_abs = %s;\n", number_of(how.max_abs = given->max_abs).text);
  if (kernel->threaded) fprintf(out, "  options.threads = %d;\n", how.threads = given->threads);
  if (kernel_by_default(&given->problem, &how) != kernel) print_kernel(out, kernel);
}

void code_print(FILE *out, const options *given, const posenc_kernel *kernel) {
  const posenc_problem *problem = &given->problem;
  fputs("\n", out);
  print_problem(out, problem);
  print_options(out, given, kernel);
  fputs("  posenc_plan *plan;\n"
        "  if (posenc_plan_create(&plan, &problem, &options) != POSENC_OK) return 1;\n",
        out);
  const bool is_part = given->rows > 0 && given->rows < problem->rows;
  const int64_t rows = is_part ? given->rows : problem->rows;
  const char *const first = is_part ? "row" : "0";
  if (is_part) fputs("  const int64_t row = 0; // where the rows of a call begin\n", out);
  if (problem->op == POSENC_TABLE)
    fprintf(out, "  posenc_execute(plan, %s, %" PRId64 ", table);\n", first, rows);
  else if (problem->op == POSENC_ROPE_CACHE)
    fprintf(out, "  posenc_rope_cache(plan, %s, %" PRId64 ", cosines, sines);\n", first, rows);
  else
    fprintf(out,
            "  posenc_slice slice = posenc_rows(%s, %" PRId64 ");\n"
            "  posenc_apply(plan, &slice, x, x);\n",
            first, rows);
  fputs("  posenc_plan_destroy(plan);\n", out);
}
