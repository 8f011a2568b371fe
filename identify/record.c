/* SPDX-License-Identifier: MIT */
/* What was found, in words and as JSON. */
#include "identify/identify.h"

#include "common/field.h"
#include "common/shapes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const part_names[] = {"both", "cos", "sin"};

/* "hf-rope" */
static const char *maker_name(const identify_match *match) {
  if (!match->kernel) return "exact";
  const char *slash = strrchr(match->kernel->name, '/');
  return slash ? slash + 1 : match->kernel->name;
}

static bool is_equal(const identify_match *match) {
  return match->compared > 0 && match->equal == match->compared;
}

/* Is it that recipe, but for what another libm or compiler makes of it? */
static bool is_near(const identify_match *match) {
  return match->compared > 0 && (double)match->equal >= 0.95 * (double)match->compared;
}

/* Few enough to be damage. */
static bool has_outliers(const identify_match *match) {
  return match->outliers > 0 && match->outliers * 1000 <= match->compared;
}

static bool is_one(double x) {
  return x >= 1.0 && x <= 1.0;
}

static bool has_position(const formula *f) {
  return f->first_least == f->first_most;
}

/* So many digits that the same number is read back. */
static void print_number(FILE *out, double x) {
  char text[32];
  if (fabs(x) < 1e15 && fabs(x - rint(x)) <= 0.0) {
    fprintf(out, "%.0f", x);
    return;
  }
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, x);
    const double back = strtod(text, NULL);
    if (back >= x && back <= x) break;
  }
  fputs(text, out);
}

/* ---- one sentence --------------------------------------------------------------------------------- */

static void print_makers(const identity *found, FILE *out) {
  const identify_match *first = &found->matches[0];
  if (!is_near(first))
    fprintf(out, "computed in %s; nearest: ", found->held == POSENC_F64 ? "f64" : "f32");
  else if (!is_equal(first))
    fputs("closest to ", out);
  fputs(maker_name(first), out);
  for (size_t n = 1; n < found->match_count && found->matches[n].closest; n++)
    fprintf(out, "%s%s", n == 1 ? " or, which writes the same, " : ", ", maker_name(&found->matches[n]));
}

static void print_formula(const identity *found, FILE *out) {
  const formula *f = &found->how.formula;
  fputs(found->how.columns.pairs > 1 ? ", base " : ", any base", out);
  if (found->how.columns.pairs > 1) print_number(out, f->base);
  if (f->stretch > 0.0) {
    fputs(" (NTK-aware, ", out);
    print_number(out, f->of_base);
    fputs(" stretched by ", out);
    print_number(out, f->stretch);
    fputs(")", out);
  }
  if (f->shift > 0.0) {
    fputs(", shift ", out);
    print_number(out, f->shift);
  }
  if (f->scaling.kind != POSENC_SCALING_NONE) {
    fprintf(out, ", %s scaling by ", f->scaling.kind == POSENC_SCALING_LLAMA3 ? "llama3" : "yarn");
    print_number(out, f->scaling.factor);
    fprintf(out, " from %" PRId64, f->scaling.original);
  }
  if (!is_one(f->scale)) {
    fputs(", scale ", out);
    print_number(out, f->scale);
  }
}

static void print_positions(const identity *found, FILE *out) {
  const formula *f = &found->how.formula;
  if (has_position(f)) {
    fprintf(out, ", positions %" PRId64 "..%" PRId64, f->first_least, f->first_least + found->rows - 1);
  } else if (f->first_least < f->first_most) {
    fprintf(out, ", positions from one of %" PRId64 "..%" PRId64 " on", f->first_least, f->first_most);
  } else {
    fputs(", positions from ", out);
    fprintf(out, "%.9g on", f->first);
  }
  if (found->paddings == 1)
    fprintf(out, ", padding row at %" PRId64, found->padding);
  else if (found->paddings > 1)
    fprintf(out, ", %" PRId64 " rows of zeros from %" PRId64 " on", found->paddings, found->padding);
}

static void print_history(const identity *found, FILE *out) {
  const bool rounded_once = found->matches[0].kernel == NULL && found->max_abs <= 4.0 * found->max_if_exact;
  if (!is_one(found->how.amplitude)) fprintf(out, ", times %.9g", found->how.amplitude);
  if (!is_near(&found->matches[0])) {
    if (found->held != POSENC_F64 && found->held != POSENC_F32)
      fprintf(out, ", %s %s", found->held == found->stored ? "stored as" : "rounded to", dtype_name(found->held));
  } else if (found->held == POSENC_F64 || found->held == POSENC_F32 || rounded_once)
    fprintf(out, ", %s %s", rounded_once ? "rounded to" : "computed in", dtype_name(found->held));
  else
    fprintf(out, ", computed in f32 then %s %s", found->held == found->stored ? "stored as" : "rounded to",
            dtype_name(found->held));
  if (found->held != found->stored) fprintf(out, ", stored as %s", dtype_name(found->stored));
}

static void print_errors(const identity *found, FILE *out) {
  const identify_match *first = &found->matches[0];
  const int64_t others = first->compared - first->equal;
  const double within = has_outliers(first) ? first->within : first->most;
  if (others == 0)
    fputs(", bit for bit", out);
  else if (others * 1000 < first->compared)
    fprintf(out, ", all but %" PRId64 " of %" PRId64 " elements equal and these within %.2g", others, first->compared,
            within);
  else
    fprintf(out, ", %.3g %% of elements equal and the rest within %.2g",
            100.0 * (double)first->equal / (double)first->compared, within);
  if (has_outliers(first))
    fprintf(out, "; but %" PRId64 " %s off by more than %.2g, the first at row %" PRId64 ", column %" PRId64,
            first->outliers, first->outliers == 1 ? "element is" : "elements are",
            makers_outlier * found->how.amplitude, first->outlier_row, first->outlier_column);
  if (found->not_finite) fprintf(out, "; %" PRId64 " elements are not finite", found->not_finite);
  fprintf(out, "; max %.2g from exact; would be %.2g if computed exactly", found->max_abs, found->max_if_exact);
}

char *identity_sentence(const identity *found) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out) return NULL;
  const columns *at = &found->how.columns;
  if (found->verdict == IDENTIFY_FEW) {
    fputs(found->reason, out);
  } else if (found->verdict == IDENTIFY_NO_TABLE) {
    fprintf(out, "not a sinusoidal table: %s", found->reason);
  } else if (found->verdict == IDENTIFY_BENT) {
    fprintf(out, "sines and cosines, %s, but %s", columns_layout_name(at), found->reason);
  } else {
    print_makers(found, out);
    print_formula(found, out);
    fprintf(out, ", %s%s", columns_layout_name(at),
            at->part == COLUMNS_BOTH  ? ""
            : at->part == COLUMNS_COS ? " (cos)"
                                      : " (sin)");
    print_positions(found, out);
    print_history(found, out);
    print_errors(found, out);
  }
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

/* ---- the record ----------------------------------------------------------------------------------- */

/* A path, or a name out of a file, may be anything; JSON is UTF-8, terminals obey control characters. */
static json_t *name_json(const char *name) {
  char plain[200];
  size_t used = 0;
  for (; *name && used + 1 < sizeof plain; name++)
    plain[used++] = (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name;
  plain[used] = '\0';
  json_t *text = json_string(plain);
  if (text) return text;
  for (size_t i = 0; i < used; i++) plain[i] = (unsigned char)plain[i] < 0x80 ? plain[i] : '?';
  return json_string(plain);
}

static json_t *scaling_json(const formula *f) {
  const posenc_scaling *s = &f->scaling;
  if (f->stretch > 0.0) return json_pack("{s:s, s:f, s:f}", "kind", "ntk", "factor", f->stretch, "base", f->of_base);
  if (s->kind == POSENC_SCALING_NONE) return json_null();
  return json_pack("{s:s, s:f, s:I, s:f, s:f}", "kind", s->kind == POSENC_SCALING_LLAMA3 ? "llama3" : "yarn", "factor",
                   s->factor, "original", (json_int_t)s->original, "low", s->low, "high", s->high);
}

static json_t *makers_json(const identity *found) {
  json_t *all = json_array();
  for (size_t n = 0; n < found->match_count; n++) {
    const identify_match *match = &found->matches[n];
    json_array_append_new(all,
                          json_pack("{s:s, s:I, s:I, s:o, s:o}", "name", match->kernel ? match->kernel->name : "exact",
                                    "elements", (json_int_t)match->compared, "equal", (json_int_t)match->equal, "rms",
                                    field_real(match->rms), "max", field_real(match->most)));
  }
  return all;
}

static json_t *outliers_json(const identity *found) {
  const identify_match *first = &found->matches[0];
  if (!has_outliers(first)) return json_null();
  return json_pack("{s:I, s:I, s:I, s:f}", "elements", (json_int_t)first->outliers, "row",
                   (json_int_t)first->outlier_row, "column", (json_int_t)first->outlier_column, "above",
                   makers_outlier * found->how.amplitude);
}

static json_t *closest_json(const identity *found) {
  json_t *all = json_array();
  for (size_t n = 0; n < found->match_count && found->matches[n].closest; n++)
    json_array_append_new(all, json_string(found->matches[n].kernel ? found->matches[n].kernel->name : "exact"));
  return all;
}

/* What `posenc check` is to be told of it; null where it cannot be. */
static json_t *options_json(const identity *found) {
  const making *how = &found->how;
  if (!is_one(how->amplitude) || how->formula.scaling.kind != POSENC_SCALING_NONE || !has_position(&how->formula) ||
      found->paddings > 1 || how->columns.dim != found->dim)
    return json_null();
  posenc_problem problem = posenc_table(0, found->dim);
  problem.base = how->formula.base;
  problem.shift = how->formula.shift;
  problem.scale = how->formula.scale;
  problem.first = how->formula.first_least;
  problem.layout = how->columns.layout;
  problem.padding = found->padding;
  char *all = problem_options(&problem);
  if (!all) return NULL;
  const char *behind = strstr(all, "--dim "); /* rows and columns are the file's */
  behind = behind ? strstr(behind, " --") : NULL;
  json_t *text = json_sprintf("%s%s%s", behind ? behind + 1 : "",
                              how->columns.part == COLUMNS_BOTH ? ""
                              : behind                          ? " --part "
                                                                : "--part ",
                              how->columns.part == COLUMNS_BOTH ? "" : part_names[how->columns.part]);
  free(all);
  return text;
}

static json_t *table_json(const identity *found) {
  const formula *f = &found->how.formula;
  const columns *at = &found->how.columns;
  return json_pack(
      "{s:s, s:s, s:I, s:f, s:f, s:f, s:o, s:o, s:[I, I], s:f, s:o, s:I, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:{s:I, "
      "s:I}, s:b, s:b, s:o, s:o}",
      "layout", columns_layout_name(at), "part", part_names[at->part], "dim", (json_int_t)(2 * at->pairs), "base",
      f->base, "shift", f->shift, "scale", f->scale, "scaling", scaling_json(f), "offset",
      has_position(f) ? json_integer((json_int_t)f->first_least) : field_real(f->first), "offset_range",
      (json_int_t)f->first_least, (json_int_t)f->first_most, "amplitude", found->how.amplitude, "padding",
      found->paddings ? json_integer((json_int_t)found->padding) : json_null(), "padding_rows",
      (json_int_t)found->paddings, "also",
      found->also_known ? json_pack("{s:f, s:f}", "base", found->also.base, "shift", found->also.shift) : json_null(),
      "closest", closest_json(found), "makers", makers_json(found), "elements", (json_int_t)found->elements,
      "not_finite", (json_int_t)found->not_finite, "max_abs", field_real(found->max_abs), "max_abs_if_exact",
      field_real(found->max_if_exact), "worst", "position", (json_int_t)found->worst_position, "column",
      (json_int_t)found->worst_column, "proved", found->proved, "any_base", at->pairs == 1, "outliers",
      outliers_json(found), "check", options_json(found));
}

json_t *identity_json(const identity *found, const identify_request *request) {
  static const char *const verdicts[] = {"table", "bent", "too-few-rows", "not-sinusoidal"};
  const char *tensor = table_tensor(request->table);
  char *sentence = identity_sentence(found);
  if (!sentence) return NULL;
  json_t *record =
      json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:o, s:I, s:I, s:s, s:s}", "schema", "posenc-identify-1", "file",
                name_json(request->name), "tensor", tensor ? name_json(tensor) : json_null(), "format",
                table_format(request->table), "verdict", verdicts[found->verdict], "sentence", sentence, "reason",
                *found->reason ? json_string(found->reason) : json_null(), "rows", (json_int_t)found->rows, "columns",
                (json_int_t)found->dim, "stored", dtype_name(found->stored), "held", dtype_name(found->held));
  free(sentence);
  if (record && found->verdict == IDENTIFY_TABLE) {
    json_t *of_table = table_json(found);
    if (!of_table || json_object_update_missing(record, of_table) != 0) {
      json_decref(record);
      record = NULL;
    }
    json_decref(of_table);
  } else if (record && found->verdict == IDENTIFY_BENT) {
    json_object_set_new(record, "layout", json_string(columns_layout_name(&found->how.columns)));
  }
  return record;
}
