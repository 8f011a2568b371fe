/* SPDX-License-Identifier: MIT */
/* Says what a table was found to be: in a record, and in a sentence. */
#include "inspect/identify/identity.h"

#include "common/memory.h"
#include "common/shapes.h"
#include "inspect/identify/formula.h"
#include "inspect/models/model.h"
#include "records/make.h"

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
  if (at->part == TABLE_BOTH && at->dim % 2) return "ceil";
  return found->dim % 2 && at->dim != found->dim ? "pad" : NULL;
}

double identity_shift(const identity *found, const formula *f) {
  const columns *at = &found->how.columns;
  return f->shift - (at->part == TABLE_BOTH && at->dim % 2 ? 0.5 : 0.0);
}

/* ---- the record: the formula ---------------------------------------------------------------------- */

const char *const identity_parts[] = {[TABLE_BOTH] = "both", [TABLE_COS] = "cos", [TABLE_SIN] = "sin"};

/* Returns the first and the last of a range. */
static const record_number *range_of(int64_t least, int64_t most, record_memory *in) {
  record_number *range = record_allocate(in, 2, sizeof *range);
  range[0].whole = least;
  range[1].whole = most;
  return range;
}

/* Adds the errors of factors, and else the lengths that explain the scaling. */
static void record_precision(const identity *found, record_scaling *made, record_memory *in) {
  if (!found->factors) {
    made->original_range = range_of(found->original_least, found->original_most, in);
    made->original_range_count = 2;
    return;
  }
  const size_t pairs = (size_t)found->how.columns.pairs;
  double *errors = record_allocate(in, pairs, sizeof *errors);
  for (size_t i = 0; i < pairs; i++) errors[i] = found->factors[i] * found->factor_errors[i];
  made->factor_errors = errors;
  made->factor_errors_count = pairs;
}

/* Returns a list of its own. */
static const double *numbers_of(const double *list, size_t count, record_memory *in) {
  double *made = record_allocate(in, count, sizeof *made);
  memcpy(made, list, count * sizeof *made);
  return made;
}

static record_scaling told_scaling(const identity *found, record_memory *in) {
  const formula *f = &found->how.formula;
  const plain_number factor = plainest(1.0 / f->scale, f->scale_error);
  if (f->stretch > 0.0)
    return (record_scaling){.there = true, .kind = "dynamic", .stretch = f->stretch, .base = f->of_base};
  if (f->scaling.kind == POSENC_SCALING_NONE)
    return (record_scaling){
        .there = f->scale < 1.0 && factor.digits <= 3, .kind = "linear", .factor = factor.value, .has_factor = true};
  record_scaling made = scaling_record(&found->scaling, 2 * found->how.columns.pairs);
  if (made.factors) made.factors = numbers_of(made.factors, made.factors_count, in);
  made.attention_factor = found->how.amplitude;
  record_precision(found, &made, in);
  return made;
}

static void record_formula(const identity *found, record_identified *made, record_memory *in) {
  const formula *f = &found->how.formula, *also = &found->also;
  const columns *at = &found->how.columns;
  const char *odd = identity_odd(found);
  made->part = identity_parts[at->part];
  made->dim = odd ? found->dim : 2 * at->pairs;
  made->odd = odd;
  made->has_odd = true;
  made->base = f->base;
  made->base_error = f->base * f->base_error;
  made->has_base = made->has_base_error = true;
  made->shift = identity_shift(found, f);
  made->has_shift = true;
  made->scale = f->scale;
  made->scale_error = f->scale * f->scale_error;
  made->has_scale = made->has_scale_error = true;
  made->scaling = told_scaling(found, in);
  made->has_scaling = true;
  if (found->also_known)
    made->also = (record_found_formula){.there = true,
                                        .base = also->base,
                                        .shift = identity_shift(found, also),
                                        .scaling = scaling_forms[also->scaling.kind].name};
  made->has_also = true;
  made->any_base = at->pairs == 1;
  made->has_any_base = true;
}

/* ---- the record: rows and columns ----------------------------------------------------------------- */

static record_found_positions told_positions(const identity *found, record_memory *in) {
  enum { SHOWN = 8 };
  if (!found->positions) return (record_found_positions){.there = false};
  double *first = record_allocate(in, SHOWN, sizeof *first);
  size_t count = 0;
  for (int64_t r = 0; r < found->judged && count < SHOWN; r++)
    if (!isnan(found->positions[r])) first[count++] = found->positions[r];
  return (record_found_positions){
      .there = true, .count = found->listed, .runs = found->runs, .first = first, .first_count = count};
}

static void record_damaged(const identity *found, record_identified *made, record_memory *in) {
  static const char *const names[] = {"constant", "moved", "foreign"};
  record_damage *all = record_allocate(in, found->damage_count, sizeof *all);
  for (size_t n = 0; n < found->damage_count; n++) {
    const identify_damage *d = &found->damage[n];
    all[n] = (record_damage){.there = true,
                             .column = d->column,
                             .kind = names[d->sin],
                             .value = d->value,
                             .has_value = d->sin == IDENTIFY_CONSTANT,
                             .like = d->like,
                             .has_like = d->sin == IDENTIFY_MOVED};
    if (d->sin != IDENTIFY_CONSTANT) all[n].value = NAN;
    if (d->sin != IDENTIFY_MOVED) all[n].like = 0;
  }
  made->damage = all;
  made->damage_count = found->damage_count;
}

/* Returns the first position, NaN of a list. */
static record_number told_offset(const making *how) {
  const start *at = &how->start;
  if (how->positions) return (record_number){0, NAN};
  return start_is_one(at) ? (record_number){at->least, 0.0} : (record_number){0, at->first};
}

static void record_rows(const identity *found, record_identified *made, record_memory *in) {
  const making *how = &found->how;
  made->offset = told_offset(how);
  made->has_offset = true;
  made->offset_range = range_of(how->start.least, how->start.most, in);
  made->offset_range_count = 2;
  made->other_offsets = found->starts;
  made->has_other_offsets = true;
  made->step = how->step;
  made->has_step = true;
  made->positions = told_positions(found, in);
  made->has_positions = true;
  made->amplitude = how->amplitude;
  made->amplitude_error = how->amplitude_error;
  made->has_amplitude = made->has_amplitude_error = true;
  made->added = how->offset;
  made->added_error = fabs(how->offset) > 0.0 ? how->offset_error : 0.0;
  made->has_added = made->has_added_error = true;
  made->padding = found->paddings ? found->padding : RECORD_NONE;
  made->padding_rows = found->paddings;
  made->has_padding = made->has_padding_rows = true;
  record_damaged(found, made, in);
}

/* ---- the record: errors and makers ---------------------------------------------------------------- */

static const char *full_name(const maker *match) {
  return match->kernel ? match->kernel->name : "exact";
}

void makers_record(const maker *ranked, size_t count, record_identified *made, record_memory *in) {
  record_found_maker *all = record_allocate(in, count, sizeof *all);
  const char **closest = record_allocate(in, count, sizeof *closest);
  for (size_t n = 0; n < count; n++) {
    const maker *match = &ranked[n];
    all[n] = (record_found_maker){.there = true,
                                  .name = record_format(in, "%s", full_name(match)),
                                  .elements = match->compared,
                                  .equal = match->equal,
                                  .rms = sqrt(maker_distance(match)),
                                  .max = match->most};
    if (match->closest && made->closest_count == n) closest[made->closest_count++] = all[n].name;
  }
  made->makers = all;
  made->makers_count = count;
  made->closest = closest;
}

static record_found_outliers told_outliers(const identity *found) {
  const maker *first = &found->matches[0];
  return (record_found_outliers){.there = identify_has_outliers(first),
                                 .elements = first->outliers,
                                 .row = first->outlier_row,
                                 .column = first->outlier_column,
                                 .above = makers_outlier * found->how.amplitude};
}

record_agreement agreement_record(const identity *found, record_memory *in) {
  record_agreement made = {.there = found->agreement != NOT_COMPARED, .agrees = found->agreement == AGREES};
  const char *agreed = record_format(in, "%s", found->agreed), *errors = record_format(in, "%s", found->errors);
  if (!made.agrees) {
    made.cause = *agreed ? agreed : NULL;
    made.has_cause = true;
    return made;
  }
  made.name = agreed;
  made.errors = *errors ? errors : NULL;
  made.within = found->within ? found->max_abs : NAN;
  made.has_name = made.has_errors = true;
  made.has_within = found->within;
  return made;
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

const char *identity_amplitude_refusal(double amplitude, record_memory *in) {
  return record_format(in, "its amplitude is %.9g, without a scaling", amplitude);
}

record_facts config_record(const posenc_problem *problem, const char *refusal, record_memory *in) {
  fault why = {""};
  json_t *fragment = refusal ? NULL : model_fragment(problem, &why);
  if (fragment) return record_keep_facts(fragment, in);
  record_fact *none = record_allocate(in, 1, sizeof *none);
  *none = (record_fact){"refusal", record_format(in, "%s", refusal ? refusal : why.text), true};
  return (record_facts){true, none, 1};
}

/* Returns the part of a model's config.json that makes the table. */
static record_facts told_config(const identity *found, record_memory *in) {
  const posenc_problem problem = problem_of(found);
  const bool is_scaled = problem.scaling.kind != POSENC_SCALING_NONE;
  const char *refusal = identity_odd(found) ? "the number of columns is odd" : NULL;
  if (!is_scaled && !number_is_one(found->how.amplitude))
    refusal = identity_amplitude_refusal(found->how.amplitude, in);
  return config_record(&problem, refusal, in);
}

/* Returns the options by which `posenc check` compares the table with the formula, or null if there are none. `halved`:
   the file has two tables. check takes the first one as cosines, and both as duplicated without --layout. */
static const char *told_options(const identity *found, bool halved, record_memory *in) {
  const making *how = &found->how;
  const formula *f = &how->formula;
  const bool scaled = f->scaling.kind != POSENC_SCALING_NONE;
  if (halved && how->columns.part != TABLE_COS) return NULL;
  if ((!scaled && !number_is_one(how->amplitude)) || fabs(how->offset) > 0.0 || how->positions || how->step < 0 ||
      !start_is_one(&how->start) || found->paddings > 1 || found->damage_count)
    return NULL;
  posenc_problem problem = problem_of(found);
  problem.first = how->start.least;
  char *all = allocated(problem_options(&problem));
  const char *behind = strstr(all, "--dim "); /* rows and columns come from the file */
  behind = behind ? strstr(behind, " --") : NULL;
  const char *const told = behind ? behind + 1 : "", *const part = columns_options(&how->columns),
                    *const text = record_format(in, "%s%s", told, part + (!*told && *part));
  free(all);
  return text;
}

static void record_errors(const identity *found, bool halved, record_identified *made, record_memory *in) {
  makers_record(found->matches, found->match_count, made, in);
  made->judged_rows = found->judged;
  made->elements = found->elements;
  made->unexplained = found->unexplained;
  made->not_finite = found->not_finite;
  made->has_judged_rows = made->has_elements = made->has_unexplained = made->has_not_finite = true;
  made->max_abs = found->max_abs;
  made->max_abs_if_exact = found->max_if_exact;
  made->has_max_abs = made->has_max_abs_if_exact = true;
  made->worst = (record_found_worst){.there = true, .position = found->worst_position, .column = found->worst_column};
  made->proved = found->proved;
  made->has_proved = true;
  made->outliers = told_outliers(found);
  made->has_outliers = true;
  made->check = told_options(found, halved, in);
  made->has_check = true;
  made->config = told_config(found, in);
}

/* ---- the record ----------------------------------------------------------------------------------- */

record_identified file_record(const identify_request *request, record_memory *in) {
  const stored *at = table_stored(request->table);
  const char *tensor = table_tensor(request->table);
  return (record_identified){.there = true,
                             .schema = "posenc-identify-2",
                             .file = record_name(in, request->name, ""),
                             .tensor = tensor ? record_name(in, tensor, "") : NULL,
                             .has_tensor = true,
                             .format = table_format(request->table),
                             .has_reason = true,
                             .rows = at->rows,
                             .has_rows = true,
                             .columns = at->dim,
                             .has_columns = true,
                             .stored = dtype_name(at->dtype),
                             .has_agreement = true};
}

record_identified identity_record(const identity *found, const identify_request *request, record_memory *in) {
  static const char *const verdicts[] = {"table", "bent", "too-few-rows", "not-sinusoidal"};
  record_identified made = file_record(request, in);
  char *sentence = identity_sentence(found);
  made.verdict = verdicts[found->verdict];
  made.sentence = record_format(in, "%s", sentence);
  made.reason = *found->reason ? record_format(in, "%s", found->reason) : NULL;
  made.rows = found->rows;
  made.columns = found->dim;
  made.stored = dtype_name(found->stored);
  made.held = dtype_name(found->held);
  made.agreement = agreement_record(found, in);
  free(sentence);
  if (found->verdict == IDENTIFY_BENT || found->verdict == IDENTIFY_TABLE)
    made.layout = columns_layout_name(&found->how.columns);
  if (found->verdict != IDENTIFY_TABLE) return made;
  record_formula(found, &made, in);
  record_rows(found, &made, in);
  record_errors(found, table_stored(request->table)->halved, &made, in);
  return made;
}

/* ---- the sentence ---------------------------------------------------------------------------------------- */

/* Makes the result's sentence. */

/* Returns the name of a maker without its prefix, as "hf-rope". */
static const char *maker_name(const maker *match) {
  if (!match->kernel) return "exact";
  const char *slash = strrchr(match->kernel->name, '/');
  return slash ? slash + 1 : match->kernel->name;
}

static void print_number(FILE *out, double x, double error) {
  fputs(number_within(x, error).text, out);
}

void makers_print(const maker *ranked, size_t count, const char *how, FILE *out) {
  if (count == 0 || !maker_is_near(&ranked[0])) {
    fprintf(out, "%sby code that is not known", how);
    return;
  }
  if (!maker_is_equal(&ranked[0])) fputs("closest to ", out);
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
  const double room = 1e-15;
  const plain_number times = plainest(f->scale / half_turn, room), over = plainest(half_turn / f->scale, room);
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
  static const char *const parts[] = {"", [TABLE_COS] = " (cos)", [TABLE_SIN] = " (sin)"};
  fprintf(out, ", %s%s", columns_layout_name(at), parts[at->part]);
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
  if (found->how.columns.part == TABLE_COS) fputs(" (cosines do not tell their signs)", out);
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
  if (identity_is_truncated(found) && !maker_is_equal(&found->matches[0])) {
    fprintf(out, ", truncated to %s", dtype_name(found->held));
  } else if (!maker_is_near(&found->matches[0])) {
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
            100.0 * (double)first->equal / (double)first->compared, maker_is_near(first) ? "" : " to those of ",
            maker_is_near(first) ? "" : maker_name(first), within);
  if (outliers)
    fprintf(out, ", except %" PRId64 " %s off by more than %.2g, the first at row %" PRId64 ", column %" PRId64,
            first->outliers, first->outliers == 1 ? "element that is" : "elements that are",
            makers_outlier * found->how.amplitude, first->outlier_row, first->outlier_column);
  print_damage(found, out);
  char broken[100];
  tell_wrong_elements(found->not_finite, "NaN or infinite", found->not_finite_row, found->not_finite_column, broken,
                      sizeof broken);
  if (found->not_finite) fprintf(out, "; but %s", broken);
  if (found->judged < found->rows) fprintf(out, "; of its first %" PRId64 " rows", found->judged);
  fprintf(out, "; max %.2g from exact; would be %.2g if computed exactly", found->max_abs, found->max_if_exact);
}

char *identity_sentence(const identity *found) {
  char *text = NULL;
  size_t length;
  FILE *out = allocated(open_memstream(&text, &length));
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
  if (fclose(out) != 0) memory_end();
  return text;
}
