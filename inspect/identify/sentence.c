/* SPDX-License-Identifier: MIT */
/* Makes the result's sentence. */
#include "inspect/identify/identity.h"

#include "common/shapes.h"
#include "inspect/identify/formula.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
