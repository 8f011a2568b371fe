/* SPDX-License-Identifier: MIT */
#include "inspect/identify/identity.h"

#include "common/field.h"
#include "common/shapes.h"
#include "inspect/identify/formula.h"
#include "inspect/models/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double identity_inverse_base(const identity *found) {
  const plain_number inverse = plainest(1.0 / found->how.formula.base, 1e-9);
  return found->how.formula.base < 1.0 && inverse.digits <= FORMULA_USUAL ? inverse.value : 0.0;
}

/* Returns the number of rows before the position of row 0 comes again, if all rows are repeated with that period; else
   0. */
static int64_t period_of(const identity *found) {
  int64_t period = 1;
  if (!found->positions) return 0;
  while (period < found->judged && !(fabs(found->positions[period] - found->positions[0]) <= 0.0)) period++;
  for (int64_t r = period; r < found->judged; r++)
    if (!(fabs(found->positions[r] - found->positions[r - period]) <= 0.0)) return 0;
  return period < found->judged ? period : 0;
}

identity_order identity_order_of(const identity *found, int64_t *period) {
  *period = period_of(found);
  if (*period > 1) return IDENTITY_REPEATED;
  if (found->positions || found->how.step > 0) return IDENTITY_ORDERED;
  return found->how.start.first <= 0.0 ? IDENTITY_NEGATED : IDENTITY_REVERSED;
}

/* Whether rows descend in steps that no table of a model has, as the timesteps of a sampler do. */
static bool is_of_timesteps(const identity *found) {
  const double scale = found->how.formula.scale, factor = 1.0 / scale;
  const bool is_factor = scale < 1.0 && fabs(log2(factor) - rint(log2(factor))) <= 1e-6; /* of a linear scaling */
  return !number_is_one(scale) && !is_factor;
}

bool identity_is_table(const identity *found) {
  int64_t period;
  const identity_order order = identity_order_of(found, &period);
  return found->verdict == IDENTIFY_TABLE &&
         (order == IDENTITY_ORDERED || (order == IDENTITY_REVERSED && is_of_timesteps(found))) && !found->not_finite &&
         !(identity_inverse_base(found) > 0.0);
}

/* Returns the largest error but for outliers. */
static double identity_max_of_most(const identity *found) {
  return identify_has_outliers(&found->matches[0]) ? found->matches[0].within : found->max_abs;
}

bool identity_is_truncated(const identity *found) {
  const bool is_short = found->held == POSENC_F16 || found->held == POSENC_BF16;
  return is_short && found->beyond * 100 <= found->elements &&
         identity_max_of_most(found) > 1.5 * found->max_if_exact && number_is_one(found->how.amplitude);
}

posenc_dtype identity_arithmetic(const identity *found) {
  const double far = fabs(found->worst_position) * found->how.formula.scale + 1.0;
  const double doubles = ldexp(far * fabs(found->how.amplitude), -48);
  return identity_max_of_most(found) <= found->max_if_exact + doubles ? POSENC_F64 : POSENC_F32;
}

const char *identity_odd(const identity *found) {
  const columns *at = &found->how.columns;
  if (at->part == COLUMNS_BOTH && at->dim % 2) return "ceil";
  return found->dim % 2 && at->dim != found->dim ? "pad" : NULL;
}

double identity_shift(const identity *found, const formula *f) {
  const columns *at = &found->how.columns;
  return f->shift - (at->part == COLUMNS_BOTH && at->dim % 2 ? 0.5 : 0.0);
}

/* ---- JSON of the formula ------------------------------------------------------------------------- */

static const char *const part_names[] = {"both", "cos", "sin"};

static json_t *told_scaling_json(const identity *found) {
  const formula *f = &found->how.formula;
  const plain_number factor = plainest(1.0 / f->scale, f->scale_error);
  if (f->stretch > 0.0)
    return json_pack("{s:s, s:f, s:f}", "kind", "dynamic", "stretch", f->stretch, "base", f->of_base);
  if (f->scaling.kind == POSENC_SCALING_NONE) {
    const bool linear = f->scale < 1.0 && factor.digits <= 3;
    return linear ? json_pack("{s:s, s:f}", "kind", "linear", "factor", factor.value) : json_null();
  }
  json_t *made = scaling_json(&found->scaling, 2 * found->how.columns.pairs);
  json_object_set_new(made, "attention_factor", json_real(found->how.amplitude));
  if (!found->factors) {
    json_object_set_new(made, "original_range",
                        json_pack("[I, I]", (json_int_t)found->original_least, (json_int_t)found->original_most));
    return made;
  }
  json_t *errors = json_array();
  for (int64_t i = 0; i < found->how.columns.pairs; i++)
    json_array_append_new(errors, field_real(found->factors[i] * found->factor_errors[i]));
  json_object_set_new(made, "factor_errors", errors);
  return made;
}

static json_t *formula_json(const identity *found) {
  const formula *f = &found->how.formula, *also = &found->also;
  const columns *at = &found->how.columns;
  const char *odd = identity_odd(found);
  json_t *of_also = found->also_known
                        ? json_pack("{s:f, s:f, s:s}", "base", also->base, "shift", identity_shift(found, also),
                                    "scaling", scaling_forms[also->scaling.kind].name)
                        : json_null();
  return json_pack("{s:s, s:s, s:I, s:o, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:b}", "layout", columns_layout_name(at),
                   "part", part_names[at->part], "dim", (json_int_t)(odd ? found->dim : 2 * at->pairs), "odd",
                   odd ? json_string(odd) : json_null(), "base", f->base, "base_error", f->base * f->base_error,
                   "shift", identity_shift(found, f), "scale", f->scale, "scale_error", f->scale * f->scale_error,
                   "scaling", told_scaling_json(found), "also", of_also, "any_base", at->pairs == 1);
}

/* ---- JSON of rows and columns -------------------------------------------------------------------- */

static json_t *list_json(const identity *found) {
  enum { SHOWN = 8 };
  if (!found->positions) return json_null();
  json_t *first = json_array();
  for (int64_t r = 0; r < found->judged && json_array_size(first) < SHOWN; r++)
    if (!isnan(found->positions[r])) json_array_append_new(first, json_real(found->positions[r]));
  return json_pack("{s:I, s:I, s:o}", "count", (json_int_t)found->listed, "runs", (json_int_t)found->runs, "first",
                   first);
}

static json_t *damage_json(const identity *found) {
  static const char *const names[] = {"constant", "moved", "foreign"};
  json_t *all = json_array();
  for (size_t n = 0; n < found->damage_count; n++) {
    const identify_damage *d = &found->damage[n];
    json_t *one = json_pack("{s:I, s:s}", "column", (json_int_t)d->column, "kind", names[d->sin]);
    if (d->sin == IDENTIFY_CONSTANT) json_object_set_new(one, "value", field_real(d->value));
    if (d->sin == IDENTIFY_MOVED) json_object_set_new(one, "like", json_integer(d->like));
    json_array_append_new(all, one);
  }
  return all;
}

static json_t *rows_json(const identity *found) {
  const making *how = &found->how;
  const start *at = &how->start;
  json_t *offset = how->positions     ? json_null()
                   : start_is_one(at) ? json_integer((json_int_t)at->least)
                                      : field_real(at->first);
  return json_pack("{s:o, s:[I, I], s:I, s:i, s:o, s:f, s:f, s:f, s:f, s:o, s:I, s:o}", "offset", offset,
                   "offset_range", (json_int_t)at->least, (json_int_t)at->most, "other_offsets",
                   (json_int_t)found->starts, "step", how->step, "positions", list_json(found), "amplitude",
                   how->amplitude, "amplitude_error", how->amplitude_error, "added", how->offset, "added_error",
                   fabs(how->offset) > 0.0 ? how->offset_error : 0.0, "padding",
                   found->paddings ? json_integer((json_int_t)found->padding) : json_null(), "padding_rows",
                   (json_int_t)found->paddings, "damage", damage_json(found));
}

/* ---- JSON of errors and makers ------------------------------------------------------------------- */

static const char *full_name(const maker *match) {
  return match->kernel ? match->kernel->name : "exact";
}

json_t *makers_json(const maker *ranked, size_t count) {
  json_t *all = json_array();
  for (size_t n = 0; n < count; n++) {
    const maker *match = &ranked[n];
    json_array_append_new(all, json_pack("{s:s, s:I, s:I, s:o, s:o}", "name", full_name(match), "elements",
                                         (json_int_t)match->compared, "equal", (json_int_t)match->equal, "rms",
                                         field_real(sqrt(maker_distance(match))), "max", field_real(match->most)));
  }
  return all;
}

static json_t *outliers_json(const identity *found) {
  const maker *first = &found->matches[0];
  if (!identify_has_outliers(first)) return json_null();
  return json_pack("{s:I, s:I, s:I, s:f}", "elements", (json_int_t)first->outliers, "row",
                   (json_int_t)first->outlier_row, "column", (json_int_t)first->outlier_column, "above",
                   makers_outlier * found->how.amplitude);
}

json_t *closest_json(const maker *ranked, size_t count) {
  json_t *all = json_array();
  for (size_t n = 0; n < count && ranked[n].closest; n++)
    json_array_append_new(all, json_string(full_name(&ranked[n])));
  return all;
}

json_t *identity_agreement_json(const identity *found) {
  const bool agrees = found->agreement == AGREES;
  if (found->agreement == NOT_COMPARED) return json_null();
  if (!agrees) return json_pack("{s:b, s:s?}", "agrees", 0, "cause", *found->agreed ? found->agreed : NULL);
  return json_pack("{s:b, s:s, s:s?, s:o*}", "agrees", 1, "name", found->agreed, "errors",
                   *found->errors ? found->errors : NULL, "within", found->within ? field_real(found->max_abs) : NULL);
}

/* Returns the problem that makes the table, as far as a problem can describe it. */
static posenc_problem problem_of(const identity *found) {
  const making *how = &found->how;
  const char *odd = identity_odd(found);
  posenc_problem problem = posenc_table(0, odd ? found->dim : 2 * how->columns.pairs);
  problem.base = how->formula.base;
  problem.shift = identity_shift(found, &how->formula);
  problem.scale = how->formula.scale;
  if (how->formula.scaling.kind != POSENC_SCALING_NONE) problem.scaling = found->scaling;
  problem.layout = how->columns.layout;
  problem.padding = found->padding;
  if (odd) problem.odd = strcmp(odd, "pad") == 0 ? POSENC_ODD_PAD : POSENC_ODD_CEIL;
  return problem;
}

/* Returns the part of a model's config.json that makes the table, or {"refusal": REASON}. */
static json_t *config_json(const identity *found) {
  const posenc_problem problem = problem_of(found);
  const bool is_scaled = problem.scaling.kind != POSENC_SCALING_NONE;
  fault why = {""};
  json_t *fragment = NULL;
  if (!is_scaled && !number_is_one(found->how.amplitude))
    fault_say(&why, "its amplitude is %.9g, without a scaling", found->how.amplitude);
  else if (identity_odd(found))
    fault_say(&why, "the number of columns is odd");
  else
    fragment = model_fragment(&problem, &why);
  return fragment ? fragment : json_pack("{s:s}", "refusal", why.text);
}

/* Returns the options by which `posenc check` compares the table with the formula, or JSON's null if there are none.
   `halved`: the file has two tables. check takes the first one as cosines, and both as duplicated without --layout. */
static json_t *options_json(const identity *found, bool halved) {
  const making *how = &found->how;
  const formula *f = &how->formula;
  const bool scaled = f->scaling.kind != POSENC_SCALING_NONE;
  if (halved && how->columns.part != COLUMNS_COS) return json_null();
  if ((!scaled && !number_is_one(how->amplitude)) || fabs(how->offset) > 0.0 || how->positions || how->step < 0 ||
      !start_is_one(&how->start) || found->paddings > 1 || found->damage_count)
    return json_null();
  posenc_problem problem = problem_of(found);
  problem.first = how->start.least;
  char *all = problem_options(&problem);
  if (!all) return NULL;
  const char *behind = strstr(all, "--dim "); /* rows and columns come from the file */
  behind = behind ? strstr(behind, " --") : NULL;
  const bool untold = how->columns.part != COLUMNS_BOTH && how->columns.layout == POSENC_INTERLEAVED;
  json_t *text = json_sprintf("%s%s%s%s", behind ? behind + 1 : "",
                              how->columns.part == COLUMNS_BOTH ? ""
                              : behind                          ? " --part "
                                                                : "--part ",
                              how->columns.part == COLUMNS_BOTH ? "" : part_names[how->columns.part],
                              untold ? " --layout interleaved" : "");
  free(all);
  return text;
}

static json_t *errors_json(const identity *found, bool halved) {
  return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:{s:f, s:I}, s:b, s:o, s:o, s:o, s:o}", "closest",
                   closest_json(found->matches, found->match_count), "makers",
                   makers_json(found->matches, found->match_count), "judged_rows", (json_int_t)found->judged,
                   "elements", (json_int_t)found->elements, "unexplained", (json_int_t)found->unexplained, "not_finite",
                   (json_int_t)found->not_finite, "max_abs", field_real(found->max_abs), "max_abs_if_exact",
                   field_real(found->max_if_exact), "worst", "position", found->worst_position, "column",
                   (json_int_t)found->worst_column, "proved", found->proved, "outliers", outliers_json(found), "check",
                   options_json(found, halved), "config", config_json(found), "agreement",
                   identity_agreement_json(found));
}

/* ---- the record ----------------------------------------------------------------------------------- */

/* Adds the members of `part` and takes it over. Returns false if `part` is null, or if memory runs out. */
static bool add(json_t *record, json_t *part) {
  const bool added = part && json_object_update_missing(record, part) == 0;
  json_decref(part);
  return added;
}

json_t *identity_json(const identity *found, const identify_request *request) {
  static const char *const verdicts[] = {"table", "bent", "too-few-rows", "not-sinusoidal"};
  const char *tensor = table_tensor(request->table);
  char *sentence = identity_sentence(found);
  if (!sentence) return NULL;
  json_t *record =
      json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:o, s:I, s:I, s:s, s:s}", "schema", "posenc-identify-2", "file",
                field_name(request->name, ""), "tensor", tensor ? field_name(tensor, "") : json_null(), "format",
                table_format(request->table), "verdict", verdicts[found->verdict], "sentence", sentence, "reason",
                *found->reason ? json_string(found->reason) : json_null(), "rows", (json_int_t)found->rows, "columns",
                (json_int_t)found->dim, "stored", dtype_name(found->stored), "held", dtype_name(found->held));
  free(sentence);
  if (record && found->verdict != IDENTIFY_TABLE)
    json_object_set_new(record, "agreement", identity_agreement_json(found));
  if (!record || found->verdict == IDENTIFY_FEW || found->verdict == IDENTIFY_NO_TABLE) return record;
  const bool added = found->verdict == IDENTIFY_TABLE
                         ? add(record, formula_json(found)) && add(record, rows_json(found)) &&
                               add(record, errors_json(found, table_stored(request->table)->halved))
                         : add(record, json_pack("{s:s}", "layout", columns_layout_name(&found->how.columns)));
  if (added) return record;
  json_decref(record);
  return NULL;
}

/* ---- the sentence ---------------------------------------------------------------------------------------- */

/* Makes the result's sentence. */

/* Returns the name of a maker without its prefix, as "hf-rope". */
static const char *maker_name(const maker *match) {
  if (!match->kernel) return "exact";
  const char *slash = strrchr(match->kernel->name, '/');
  return slash ? slash + 1 : match->kernel->name;
}

static bool is_equal(const maker *match) {
  return match->compared > 0 && match->equal == match->compared;
}

/* Whether it is that recipe, except for the effects of another libm or compiler. */
static bool is_near(const maker *match) {
  return match->compared > 0 && (double)match->equal >= 0.95 * (double)match->compared;
}

static void print_number(FILE *out, double x, double error) {
  fputs(number_within(x, error).text, out);
}

void makers_print(const maker *ranked, size_t count, const char *how, FILE *out) {
  if (count == 0 || !is_near(&ranked[0])) {
    fprintf(out, "%sby code that is not known", how);
    return;
  }
  if (!is_equal(&ranked[0])) fputs("closest to ", out);
  fputs(maker_name(&ranked[0]), out);
  for (size_t n = 1; n < count && ranked[n].closest; n++)
    fprintf(out, "%s%s", n == 1 ? " or, which writes the same, " : ", ", maker_name(&ranked[n]));
}

/* Returns how the values are computed, as far as their errors show it: those of f16 and bf16 do not, nor those that an
   array leaves to the table that was applied to it. */
static const char *computed(const identity *found) {
  const bool in_f64 = identity_arithmetic(found) == POSENC_F64;
  if (found->error > 0.0 && identity_max_of_most(found) <= found->max_if_exact + found->error) return "computed ";
  if (found->held == POSENC_F64) return in_f64 ? "computed in f64 " : "computed in f64 from angles in f32 ";
  if (found->held != POSENC_F32) return "computed ";
  return in_f64 ? "computed in f64 " : "computed in f32 ";
}

/* ---- the formula ---------------------------------------------------------------------------------- */

static void print_attention(const identity *found, FILE *out) {
  const posenc_scaling *s = &found->scaling;
  if (s->attention > 0.0 && number_is_one(s->attention)) {
    if (s->kind == POSENC_SCALING_YARN) fputs(", attention 1", out);
    return;
  }
  fputs(", attention ", out);
  print_number(out, found->how.amplitude,
               s->attention > 0.0 ? found->how.amplitude_error / found->how.amplitude : 5e-6);
  if (s->attention > 0.0) return;
  if (s->kind == POSENC_SCALING_LONGROPE && !(s->factor > 1.0)) return;
  if (s->kind == POSENC_SCALING_YARN)
    fprintf(out, " (0.1 ln %s + 1)", number_of(s->factor).text);
  else
    fprintf(out, " (sqrt(1 + ln %s / ln %" PRId64 "))", number_of(s->factor).text, s->original);
}

static void print_scaling(const identity *found, FILE *out) {
  const formula *f = &found->how.formula;
  const posenc_scaling *s = &found->scaling;
  const int64_t pairs = found->how.columns.pairs;
  const double *errors = found->factor_errors;
  fprintf(out, ", %s scaling", scaling_forms[s->kind].name);
  if (s->kind == POSENC_SCALING_LONGROPE) {
    /* Factors are given within four errors, because roundings of slow waves repeat with the rows and are not
       independent. */
    const double sure = 4.0, told = 0.5;
    int64_t last = pairs - 1;
    while (last > 1 && !(sure * errors[last] < told)) last--;
    fprintf(out, " by factors %s, %s .. %s", number_within(s->factors[0], sure * errors[0]).text,
            number_within(s->factors[pairs > 1], sure * errors[pairs > 1]).text,
            number_within(s->factors[last], sure * errors[last]).text);
    if (last < pairs - 1) fprintf(out, " (the last %" PRId64 " cannot be told)", pairs - 1 - last);
  } else {
    fprintf(out, " by %s from %" PRId64, number_of(f->scaling.factor).text, f->scaling.original);
    if (found->original_least < found->original_most)
      fprintf(out, " (or others of %" PRId64 "..%" PRId64 ", which the table does not tell apart)",
              found->original_least, found->original_most);
    const scaling_ranges fit = scalings_ranges(s, s, f->base, pairs);
    if (found->original_least >= found->original_most && !scalings_is_length(s->original))
      fputs(scalings_fit(fit.original).text, out);
    fprintf(out, ", low %s, high %s", number_of(s->low).text, number_of(s->high).text);
    if (s->high != scaling_forms[s->kind].defaults.high) fputs(scalings_fit(fit.high).text, out);
    if (s->kind == POSENC_SCALING_YARN && !s->truncate) fputs(", not truncated", out);
  }
  if (s->kind != POSENC_SCALING_LLAMA3) print_attention(found, out);
}

/* Prints the mistake that makes the base of a usual one, in most cases of 10000: base = 10000^power. */
static void print_cause(const identity *found, FILE *out) {
  const formula *f = &found->how.formula;
  const double inverse = identity_inverse_base(found);
  if (inverse > 0.0) fprintf(out, " (as %s has with the exponent 2i/dim instead of -2i/dim)", number_of(inverse).text);
  const double dim = (double)found->how.columns.dim, usual = log(10000.0), power = log(f->base) / usual,
               error = fmax(1e-9, f->base_error / f->base / usual), whole = dim / power;
  if (f->scaling.kind != POSENC_SCALING_NONE || f->stretch > 0.0 || fabs(identity_shift(found, f)) > 0.0) return;
  if (fabs(power - 2.0) <= 4.0 * error) fputs(" (as 10000 has with 2j/dim of the column j = 2i as the exponent)", out);
  if (!(power > 0.0 && rint(whole) > dim) || error * whole / power > 0.1) return;
  if (fabs(whole - 2.0 * rint(whole / 2.0)) > 4.0 * error * whole / power) return;
  fprintf(out, " (as 10000 has in the first %.0f of %.0f columns%s)", dim, rint(whole),
          fabs(power - 0.5) <= 4.0 * error ? ", or with the exponent i/dim instead of 2i/dim" : "");
}

/* Prints a scale that is pi times or divided by a plain number. */
static void print_turns(const formula *f, FILE *out) {
  enum { DIGITS = 3 };
  const double pi = 3.14159265358979323846, room = 1e-15;
  const plain_number times = plainest(f->scale / pi, room), over = plainest(pi / f->scale, room);
  if (times.digits <= DIGITS)
    fprintf(out, " (%s pi)", number_of(times.value).text);
  else if (over.digits <= DIGITS)
    fprintf(out, " (pi / %s)", number_of(over.value).text);
}

static void print_formula(const identity *found, FILE *out) {
  const formula *f = &found->how.formula;
  const double shift = identity_shift(found, f);
  fputs(found->how.columns.pairs > 1 ? ", base " : ", any base", out);
  if (found->how.columns.pairs > 1) {
    print_number(out, f->base, f->base_error);
    print_cause(found, out);
  }
  if (f->stretch > 0.0)
    fprintf(out,
            " (NTK-aware, %s stretched by %s: dynamic scaling, where factor × length / original - (factor - 1) = %s)",
            number_of(f->of_base).text, number_of(f->stretch).text, number_of(f->stretch).text);
  if (fabs(shift) > 0.0) fprintf(out, ", shift %s", number_of(shift).text);
  if (f->scaling.kind != POSENC_SCALING_NONE) print_scaling(found, out);
  if (!number_is_one(f->scale)) {
    fputs(", scale ", out);
    print_number(out, f->scale, f->scale_error);
    print_turns(f, out);
    const plain_number factor = plainest(1.0 / f->scale, f->scale_error);
    if (f->scale < 1.0 && factor.digits <= 3) fprintf(out, " (linear scaling by %s)", number_of(factor.value).text);
  }
}

/* ---- rows and columns ----------------------------------------------------------------------------- */

static void print_columns(const identity *found, FILE *out) {
  const columns *at = &found->how.columns;
  fprintf(out, ", %s%s", columns_layout_name(at),
          at->part == COLUMNS_BOTH  ? ""
          : at->part == COLUMNS_COS ? " (cos)"
                                    : " (sin)");
  const char *odd = identity_odd(found);
  if (odd) fprintf(out, ", odd %s", odd);
}

static void print_list(const identity *found, FILE *out) {
  enum { SHOWN = 4 };
  /* The phase of the fastest wave has an error of at most two units of the dtype. */
  const double error = ldexp(2.0, -format_of(found->held)->precision) / found->how.formula.scale;
  fprintf(out, ", a list of %" PRId64 " positions", found->listed);
  for (int64_t r = 0, shown = 0; r < found->judged && shown < SHOWN; r++) {
    const double position = found->positions[r];
    if (isnan(position)) continue;
    fprintf(out, "%s %s", shown++ ? "," : "", number_within(position, error / fmax(fabs(position), error)).text);
  }
  fprintf(out, "%s in %" PRId64 " run%s of successive ones", found->listed > SHOWN ? " .." : "", found->runs,
          found->runs == 1 ? "" : "s");
  if (found->how.columns.part == COLUMNS_COS) fputs(" (cosines do not tell their signs)", out);
}

static void print_positions(const identity *found, FILE *out) {
  const start *at = &found->how.start;
  const int64_t last = found->rows - 1;
  int64_t period;
  const identity_order order = identity_order_of(found, &period);
  if (order == IDENTITY_REPEATED) {
    fprintf(out, ", positions from %s on that come again after %" PRId64 " rows",
            number_of_position(found->positions[0]).text, period);
  } else if (order == IDENTITY_NEGATED && start_is_one(at)) {
    fprintf(out, ", positions %" PRId64 "..%" PRId64 " with negated sines", -at->least, last - at->least);
  } else if (found->positions) {
    print_list(found, out);
  } else if (start_is_one(at)) {
    fprintf(out, ", positions %" PRId64 "..%" PRId64, at->least, at->least + found->how.step * last);
    if (found->starts)
      fprintf(out, " (or from %" PRId64 " other first ones on, which these rows do not tell apart)", found->starts);
  } else if (start_is_whole(at)) {
    fprintf(out, ", positions from one of %" PRId64 "..%" PRId64 " on", at->least, at->most);
  } else {
    fputs(", positions from ", out);
    print_number(out, at->first, at->error / fmax(fabs(at->first), 1e-300));
    fputs(" on", out);
  }
  if (order == IDENTITY_REVERSED || (order == IDENTITY_NEGATED && !start_is_one(at)))
    fputs(" (rows are reversed)", out);
  if (found->paddings == 1)
    fprintf(out, ", padding row at %" PRId64, found->padding);
  else if (found->paddings > 1)
    fprintf(out, ", %" PRId64 " rows of zeros from %" PRId64 " on", found->paddings, found->padding);
}

static void print_damage(const identity *found, FILE *out) {
  enum { SHOWN = 8 };
  for (size_t n = 0; n < found->damage_count && n < SHOWN; n++) {
    const identify_damage *d = &found->damage[n];
    fprintf(out, "%s column %" PRId64, n ? "," : "; but", d->column);
    if (d->sin == IDENTIFY_CONSTANT)
      fprintf(out, " is %s in all rows", number_within(d->value, ldexp(1.0, -format_of(found->held)->precision)).text);
    else if (d->sin == IDENTIFY_MOVED)
      fprintf(out, " has what belongs to column %" PRId64, d->like);
    else
      fputs(" is no part of it", out);
  }
  if (found->damage_count > SHOWN) fprintf(out, " and %zu more columns are damaged", found->damage_count - SHOWN);
}

/* ---- errors --------------------------------------------------------------------------------------- */

static void print_history(const identity *found, FILE *out) {
  const bool rounded_once =
      found->matches[0].kernel == NULL && identity_max_of_most(found) <= 4.0 * found->max_if_exact;
  const making *how = &found->how;
  if (!number_is_one(how->amplitude) && how->formula.scaling.kind == POSENC_SCALING_NONE) {
    fputs(", times ", out);
    print_number(out, how->amplitude, how->amplitude_error / how->amplitude);
  }
  if (fabs(how->offset) > 0.0) {
    fputs(", plus ", out);
    print_number(out, how->offset, how->offset_error / fabs(how->offset));
  }
  if (identity_is_truncated(found) && !is_equal(&found->matches[0])) {
    fprintf(out, ", truncated to %s", dtype_name(found->held));
  } else if (!is_near(&found->matches[0])) {
    if (found->held != POSENC_F64 && found->held != POSENC_F32)
      fprintf(out, ", %s %s", found->held == found->stored ? "stored as" : "rounded to", dtype_name(found->held));
  } else if (found->held == POSENC_F32 && !rounded_once && identity_arithmetic(found) == POSENC_F64) {
    fputs(", computed in f64 then rounded to f32", out);
  } else if (found->held == POSENC_F64 || found->held == POSENC_F32 || rounded_once)
    fprintf(out, ", %s %s", rounded_once ? "rounded to" : "computed in", dtype_name(found->held));
  else
    fprintf(out, ", computed in f32 then %s %s", found->held == found->stored ? "stored as" : "rounded to",
            dtype_name(found->held));
  if (found->held != found->stored) fprintf(out, ", stored as %s", dtype_name(found->stored));
}

static void print_errors(const identity *found, FILE *out) {
  const maker *first = &found->matches[0];
  const int64_t others = first->compared - first->equal;
  const bool outliers = identify_has_outliers(first);
  const double within = outliers ? first->within : first->most;
  if (others == (outliers ? first->outliers : 0))
    fputs(", bit for bit", out);
  else if (others * 1000 < first->compared)
    fprintf(out, ", all but %" PRId64 " of %" PRId64 " elements equal and these within %.2g", others, first->compared,
            within);
  else
    fprintf(out, ", %.3g %% of elements equal%s%s and the rest within %.2g",
            100.0 * (double)first->equal / (double)first->compared, is_near(first) ? "" : " to those of ",
            is_near(first) ? "" : maker_name(first), within);
  if (outliers)
    fprintf(out, ", except %" PRId64 " %s off by more than %.2g, the first at row %" PRId64 ", column %" PRId64,
            first->outliers, first->outliers == 1 ? "element that is" : "elements that are",
            makers_outlier * found->how.amplitude, first->outlier_row, first->outlier_column);
  print_damage(found, out);
  if (found->not_finite)
    fprintf(out, "; but %" PRId64 " %s NaN or infinite, the first at row %" PRId64 ", column %" PRId64,
            found->not_finite, found->not_finite == 1 ? "element is" : "elements are", found->not_finite_row,
            found->not_finite_column);
  if (found->judged < found->rows) fprintf(out, "; of its first %" PRId64 " rows", found->judged);
  fprintf(out, "; max %.2g from exact; would be %.2g if computed exactly", found->max_abs, found->max_if_exact);
}

char *identity_sentence(const identity *found) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out) return NULL;
  if (found->verdict == IDENTIFY_FEW) {
    fputs(found->reason, out);
  } else if (found->verdict == IDENTIFY_NO_TABLE) {
    fprintf(out, "not a sinusoidal table: %s", found->reason);
  } else if (found->verdict == IDENTIFY_BENT) {
    fprintf(out, "sines and cosines, %s, but %s", columns_layout_name(&found->how.columns), found->reason);
  } else {
    makers_print(found->matches, found->match_count, computed(found), out);
    print_formula(found, out);
    print_columns(found, out);
    print_positions(found, out);
    print_history(found, out);
    print_errors(found, out);
  }
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}
