/* SPDX-License-Identifier: MIT */
#include "inspect/identify/identity.h"

#include "common/field.h"
#include "common/shapes.h"
#include "inspect/models/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

double identity_max_of_most(const identity *found) {
  return identify_has_outliers(&found->matches[0]) ? found->matches[0].within : found->max_abs;
}

bool identity_is_truncated(const identity *found) {
  const bool is_short = found->held == POSENC_F16 || found->held == POSENC_BF16;
  return is_short && found->beyond * 100 <= found->elements &&
         identity_max_of_most(found) > 1.5 * found->max_if_exact && number_is_one(found->how.amplitude);
}

double identity_inverse_base(const identity *found) {
  const plain_number inverse = plainest(1.0 / found->how.formula.base, 1e-9);
  return found->how.formula.base < 1.0 && inverse.digits <= FORMULA_USUAL ? inverse.value : 0.0;
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
