/* SPDX-License-Identifier: MIT */
/* Known mistakes of programs that read a config. Sources: the threads of issue trackers, and the versions of
   transformers' and vLLM's rope code. */
#include "common/memory.h"
#include "common/shapes.h"
#include "inspect/models/model.h"
#include "reference/format.h"
#include "reference/scaling.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void suspects_add(suspect_list *list, const posenc_problem *problem, const char *words, ...) {
  va_list arguments;
  if (list->count == SUSPECTS_MAX) return;
  suspect *one = &list->items[list->count++];
  one->problem = *problem;
  one->angles = NULL;
  va_start(arguments, words);
  vsnprintf(one->text, sizeof one->text, words, arguments);
  va_end(arguments);
}

const char *position_mistake(size_t n, long double right, long double *wrong) {
  static const struct {
    const char *words;
    double step;
    const format *type;
    bool is_whole;
  } all[] = {{"positions are 1 more", 1.0, NULL, false},
             {"positions are 1 less", -1.0, NULL, false},
             {"positions are rounded to bf16", 0.0, &format_bf16, false},
             {"positions are rounded to f16", 0.0, &format_f16, false},
             {"positions are truncated to whole numbers", 0.0, NULL, true},
             {"positions are rounded to f32", 0.0, &format_f32, false},
             {"positions are integers of 32 bits", 0.0, NULL, false}};
  const bool is_f16 = n < sizeof all / sizeof *all && all[n].type == &format_f16;
  if (n >= sizeof all / sizeof *all) return NULL;
  *wrong = right + all[n].step;
  if (all[n].type && !(is_f16 && fabsl(right) >= 65504.0L)) *wrong = format_nearest(all[n].type, (double)right);
  if (all[n].is_whole) *wrong = truncl(right);
  if (!all[n].type && !all[n].is_whole && all[n].step == 0.0 && fabsl(right) < 0x1p63L)
    *wrong = (int32_t)(uint32_t)(uint64_t)(int64_t)right;
  return all[n].words;
}

const char *pairs_mistake(posenc_layout right) {
  return right == POSENC_SPLIT ? "pairs are neighbours, not halves" : "pairs are halves, not neighbours";
}

const char *written_mistake(posenc_layout rotated) {
  return rotated == POSENC_SPLIT ? "halves are turned, and written as neighbours"
                                 : "neighbours are turned, and written as halves";
}

const char *direction_mistake(bool inverse) {
  return inverse ? "pairs are turned forward" : "pairs are turned back";
}

void tell_wrong_rows(int64_t count, const char *what, int64_t first, char *text, size_t size) {
  snprintf(text, size, "%" PRId64 " %s %s, the first is row %" PRId64, count, count == 1 ? "row is" : "rows are", what,
           first);
}

void tell_moved_rows(int64_t count, int64_t first, double there, double right, char *text, size_t size) {
  char several[100];
  snprintf(several, sizeof several, "%" PRId64 " rows are at other positions, the first, row %" PRId64 ",", count,
           first);
  if (count == 1) snprintf(several, sizeof several, "row %" PRId64 " is", first);
  snprintf(text, size, "%s at position %.15g, not at %.15g", several, there, right);
}

void tell_wrong_elements(int64_t count, const char *what, int64_t row, int64_t column, char *text, size_t size) {
  snprintf(text, size, "%" PRId64 " %s %s, the first at row %" PRId64 ", column %" PRId64, count,
           count == 1 ? "element is" : "elements are", what, row, column);
}

/* ---- axes ------------------------------------------------------------------------------------------ */

/* Gives an axis the positions of another one. */
static void take_positions(posenc_axes *axes, int axis, const posenc_axis *other) {
  const int64_t pairs = axes->axis[axis].pairs;
  axes->axis[axis] = *other;
  axes->axis[axis].pairs = pairs;
}

__attribute__((format(printf, 4, 5))) static posenc_axes *add_axes(const posenc_axes *right, axes_mistake *list,
                                                                   size_t *count, const char *words, ...) {
  axes_mistake *one = &list[(*count)++];
  va_list arguments;
  *one = (axes_mistake){.axes = *right};
  va_start(arguments, words);
  vsnprintf(one->words, sizeof one->words, words, arguments);
  va_end(arguments);
  return &one->axes;
}

const char *axes_layout_mistake(bool grouped) {
  return grouped ? "the layout is that of all columns" : "the layout is that of each axis";
}

size_t axes_mistakes(const posenc_axes *right, axes_mistake list[AXES_MISTAKES_MAX]) {
  static const char *const orders[] = {"axes are chunked", "axes are cyclic"},
                           *const frequencies[] = {"frequencies are restarted on each axis",
                                                   "frequencies are continued",
                                                   "frequencies are dealt to the axes in turn"};
  size_t count = 0;
  for (int a = 0; a < right->count; a++) {
    const char letter = grid_letter(right, a);
    posenc_axes *other = add_axes(right, list, &count, "all columns have the positions of axis %c", letter);
    for (int b = 0; b < right->count; b++) take_positions(other, b, &right->axis[a]);
    for (int b = 0; b < a; b++) {
      other = add_axes(right, list, &count, "axes %c and %c are exchanged", grid_letter(right, b), letter);
      take_positions(other, a, &right->axis[b]);
      take_positions(other, b, &right->axis[a]);
    }
  }
  /* Of two axes, one that has the positions of the other is all of them. */
  for (int a = 0; a < right->count && right->count > 2; a++)
    for (int b = 0; b < right->count; b++)
      if (a != b)
        take_positions(add_axes(right, list, &count, "axis %c has the positions of axis %c", grid_letter(right, a),
                                grid_letter(right, b)),
                       a, &right->axis[b]);
  for (int n = 0; n < 3; n++) {
    const posenc_axis_frequencies of = (posenc_axis_frequencies)n;
    const posenc_axis_order order = (posenc_axis_order)n;
    if (of != right->frequencies) add_axes(right, list, &count, "%s", frequencies[n])->frequencies = of;
    if (n < 2 && order != right->order) add_axes(right, list, &count, "%s", orders[n])->order = order;
  }
  add_axes(right, list, &count, "%s", axes_layout_mistake(right->grouped))->grouped = !right->grouped;
  add_axes(right, list, &count, "rows are the positions, on one axis");
  list[count - 1].is_one = true;
  return count;
}

/* Writes what the n-th mistake makes of a position on an axis: a known one of positions; or of one axis, another
   step. */
static const char *axis_mistake(size_t n, double right, bool is_one, double *wrong) {
  static const struct {
    const char *words;
    double factor;
  } steps[] = {{"positions are multiplied by 2", 2.0},
               {"positions are divided by 2", 0.5},
               {"positions are multiplied by 4", 4.0},
               {"positions are divided by 4", 0.25},
               {"positions are multiplied by 14", 14.0},
               {"positions are divided by 14", 1.0 / 14.0},
               {"positions are all 0", 0.0}};
  size_t known = 0;
  long double other = 0.0L;
  const char *words = position_mistake(n, right, &other);
  *wrong = (double)other;
  if (words) return words;
  while (position_mistake(known, 0.0L, &other)) known++;
  if (!is_one || n - known >= sizeof steps / sizeof *steps) return NULL;
  *wrong = right * steps[n - known].factor;
  return steps[n - known].words;
}

/* Replaces the positions of an axis, by a step of them, or by a mistake after their division. Returns whether others
   are made. */
static bool take_mistake(const posenc_axis *axis, size_t n, bool is_one, posenc_axis *wrong) {
  double *list = memory_take((size_t)axis->size, sizeof *list), step;
  bool is_other = false;
  axis_mistake(n, 0.0, is_one, &step);
  for (int64_t k = 0; k < axis->size; k++) {
    const double right = axis->positions ? axis->positions[k] : (double)k, divided = right / axis->divisor;
    axis_mistake(n, divided, is_one, &list[k]);
    if (step != 0.0)
      list[k] = right + step;
    else
      list[k] = list[k] == divided ? right : list[k] * axis->divisor;
    is_other = is_other || fabs(list[k] - right) > 0.0;
  }
  wrong->positions = list;
  return is_other;
}

axes_mistaken axes_mistaken_from(const posenc_axes *right, int axis) {
  return (axes_mistaken){.right = right, .axis = axis, .axes = *right};
}

bool axes_next_mistaken(axes_mistaken *m) {
  enum { SIZE_MOST = 1 << 20 };
  const posenc_axes *right = m->right;
  for (; m->axis < right->count; m->axis++, m->next = 0) {
    const bool is_one = m->axis >= 0;
    double unused;
    for (const char *words; (words = axis_mistake(m->next, 0.0, is_one, &unused)); m->next++) {
      bool is_other = false;
      axes_free_mistaken(m);
      for (int a = 0; a < right->count; a++)
        if ((!is_one || a == m->axis) && right->axis[a].size <= SIZE_MOST)
          is_other |= take_mistake(&right->axis[a], m->next, is_one, &m->axes.axis[a]);
      if (!is_other) continue;
      const int ahead = is_one ? snprintf(m->words, sizeof m->words, "axis %c: ", grid_letter(right, m->axis)) : 0;
      snprintf(m->words + ahead, sizeof m->words - (size_t)ahead, "%s", words);
      m->next++;
      return true;
    }
  }
  return false;
}

void axes_free_mistaken(axes_mistaken *m) {
  for (int a = 0; a < m->right->count; a++)
    if (m->axes.axis[a].positions != m->right->axis[a].positions) free((void *)m->axes.axis[a].positions);
  m->axes = *m->right;
}

/* ---- formulas -------------------------------------------------------------------------------------- */

/* Adds the exponents that lack the factor of 2 or the sign of -2i/dim, or have the factor twice. In all scalings but
   those that count turns by the base, other bases make the same frequencies. */
static void suspect_exponents(const posenc_problem *asked, suspect_list *list) {
  static const struct {
    const char *words;
    double power; /* by which the exponent is multiplied */
  } all[] = {{"the exponent lacks its factor of 2 (i/dim instead of 2i/dim)", 0.5},
             {"the exponent has its factor of 2 twice (4i/dim instead of 2i/dim)", 2.0},
             {"the exponent lacks its minus sign", -1.0}};
  const posenc_scaling_kind kind = asked->scaling.kind;
  const bool is_of_base = kind == POSENC_SCALING_YARN || kind == POSENC_SCALING_DYNAMIC;
  const double pairs = (double)asked->dim / 2.0;
  for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
    const double base = pow(asked->base, all[n].power);
    posenc_problem other = *asked;
    if (is_of_base)
      other.shift = pairs - (pairs - asked->shift) / all[n].power;
    else
      other.base = base;
    if (is_of_base || all[n].power < 0.0)
      suspects_add(list, &other, "%s", all[n].words);
    else
      suspects_add(list, &other, "%s, or the base is %.9g, not %.15g", all[n].words, base, asked->base);
  }
}

/* Adds other ends of a ramp. Those of yarn are found in the table, but for a falling ramp; few frequencies are within
   llama3's. */
static void suspect_ramp(const posenc_problem *asked, suspect_list *list) {
  static const double factors[] = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0};
  const posenc_scaling *s = &asked->scaling;
  posenc_problem other = *asked;
  other.scaling.low = s->high, other.scaling.high = s->low;
  if (s->kind == POSENC_SCALING_YARN) suspects_add(list, &other, "beta_fast and beta_slow are exchanged");
  for (size_t n = 0; s->kind == POSENC_SCALING_LLAMA3 && n < sizeof factors / sizeof *factors; n++) {
    other.scaling = *s;
    other.scaling.low = factors[n];
    if (factors[n] != s->low && factors[n] < s->high)
      suspects_add(list, &other, "low_freq_factor is %g, not %g", factors[n], s->low);
    other.scaling = *s;
    other.scaling.high = factors[n];
    if (factors[n] != s->high && factors[n] > s->low)
      suspects_add(list, &other, "high_freq_factor is %g, not %g", factors[n], s->high);
  }
}

/* Adds frequencies that are rounded to a narrower dtype, as factors that divide those of the formula. The factors are
   kept until the program ends. */
static void suspect_rounded(const posenc_problem *asked, suspect_list *list) {
  static const posenc_dtype types[] = {POSENC_BF16, POSENC_F16};
  posenc_problem plain = *asked;
  const int64_t pairs = asked->dim / 2;
  plain.op = POSENC_TABLE;
  plain.heads = 1;
  plain.axes = NULL;
  plain.scale = 1.0;
  plain.positions = NULL;
  plain.dtype = POSENC_F32;
  for (size_t n = 0; asked->dim % 2 == 0 && n < sizeof types / sizeof *types; n++) {
    double *factors = memory_take((size_t)pairs, sizeof *factors);
    bool is_possible = posenc_frequencies(&plain, factors) == POSENC_OK;
    for (int64_t i = 0; is_possible && i < pairs; i++) {
      const double rounded = format_nearest(format_of(types[n]), asked->scale * factors[i]);
      factors[i] = asked->scale * pow(asked->base, -(double)i / (double)pairs) / rounded;
      is_possible = isfinite(factors[i]) && factors[i] > 0.0;
    }
    posenc_problem other = *asked;
    other.shift = 0.0;
    other.scaling = posenc_scaling_longrope(1.0, 2, factors);
    other.scaling.attention = attention_of(asked);
    if (is_possible) suspects_add(list, &other, "the frequencies (inv_freq) are rounded to %s", n ? "f16" : "bf16");
  }
}

/* Adds angles that are rounded to a narrower dtype: products of right positions and frequencies. */
static void suspect_angles(const posenc_problem *asked, suspect_list *list) {
  static const posenc_dtype types[] = {POSENC_BF16, POSENC_F16};
  for (size_t n = 0; n < sizeof types / sizeof *types && list->count < SUSPECTS_MAX; n++) {
    suspects_add(list, asked, "the angles are rounded to %s", dtype_name(types[n]));
    list->items[list->count - 1].angles = format_of(types[n]);
  }
}

void formula_suspects(const posenc_problem *asked, suspect_list *list) {
  static const double bases[] = {1e4, 5e5, 1e6, 1e5, 1e7, 5e6, 1.5e5, 1.6e5, 3.2e5, 8e6, 2.5e5, 100.0};
  const double attention = attention_of(asked);
  const bool is_one = attention_is_one(asked), is_scaled = asked->scaling.kind != POSENC_SCALING_NONE;
  posenc_problem other = *asked;
  suspect_exponents(asked, list);
  suspect_rounded(asked, list);
  suspect_ramp(asked, list);
  for (size_t n = 0; n < sizeof bases / sizeof *bases; n++) {
    other.base = bases[n];
    if (other.base != asked->base) suspects_add(list, &other, "the base is %.15g, not %.15g", bases[n], asked->base);
  }
  other = *asked;
  other.scale = 1.0;
  if (asked->scale != 1.0) suspects_add(list, &other, "the scale is left out");
  other = *asked;
  other.scaling.attention = 1.0;
  if (!is_one) {
    suspects_add(list, &other, "the attention factor is left out");
    other.scaling.attention = attention * attention;
    suspects_add(list, &other, "the attention factor is squared");
  }
  other = *asked;
  other.scaling = posenc_scaling_none();
  if (is_scaled) suspects_add(list, &other, "the scaling is left out");
  other.scaling.attention = attention;
  if (is_scaled && !is_one) suspects_add(list, &other, "the scaling is left out, but for the attention factor");
  suspect_angles(asked, list);
}

/* Returns the problem with another scaling. */
static posenc_problem scaled(const posenc_problem *asked, const posenc_scaling *scaling) {
  posenc_problem other = *asked;
  other.scaling = *scaling;
  return other;
}

/* Whether `asked` has a scaling, and `other` is the same without it. */
static bool is_unscaled(const posenc_problem *other, const posenc_problem *asked) {
  return asked->scaling.kind != POSENC_SCALING_NONE && other->scaling.kind == POSENC_SCALING_NONE &&
         attention_is_one(other) && other->base == asked->base && other->dim == asked->dim;
}

void model_tell_unscaled(suspect_list *ropes) {
  for (size_t n = 0; n < ropes->count; n++)
    for (size_t of = 0; of < ropes->count; of++) {
      if (!is_unscaled(&ropes->items[n].problem, &ropes->items[of].problem)) continue;
      const suspect layers = ropes->items[of];
      char *text = ropes->items[n].text;
      const size_t size = sizeof ropes->items[n].text, taken = strlen(text);
      snprintf(text + taken, size - taken, "; if it is of layers of %s, the scaling is left out", layers.text);
      break;
    }
}

static void suspect_layers(model *m, const char *layer, double length, const posenc_problem *asked,
                           suspect_list *list) {
  for (size_t n = 0; n < model_layers(m); n++) {
    model_rope rope;
    fault unused;
    const char *name = model_layer(m, n);
    if ((layer && strcmp(name, layer) == 0) || !model_rope_of(m, name, NULL, NULL, &rope, &unused)) continue;
    const posenc_scaling scaling = model_scaling(&rope, length);
    posenc_problem other = scaled(asked, &scaling);
    other.base = rope.base;
    if (rope.has_dim) other.dim = rope.dim;
    suspects_add(list, &other, "%sthe rope is that of layers of %.60s",
                 is_unscaled(&other, asked) ? "the scaling is left out, or " : "", name);
    if (other.dim != asked->dim || other.base == asked->base) continue;
    other.base = asked->base;
    suspects_add(list, &other, "the scaling is %sthat of layers of %.60s",
                 is_unscaled(&other, asked) ? "left out, or " : "", name);
    other = *asked;
    other.base = rope.base;
    suspects_add(list, &other, "the base is that of layers of %.60s", name);
  }
}

/* Adds two mistakes: all columns of a head rotated, or the frequencies of all columns in those that are rotated. */
static void suspect_columns(const model_rope *rope, const posenc_problem *asked, suspect_list *list) {
  if (!rope->has_dim || rope->head <= rope->dim || rope->head % 2) return;
  posenc_problem other = *asked;
  if (other.scaling.factors) other.scaling = posenc_scaling_none();
  other.dim = rope->head;
  suspects_add(list, &other, "%lld columns are turned, not %lld: all of a head", (long long)rope->head,
               (long long)rope->dim);
  if (asked->scaling.kind != POSENC_SCALING_NONE) return;
  other.dim = rope->dim;
  other.shift = (double)(rope->dim - rope->head) / 2.0;
  suspects_add(list, &other, "the frequencies are those of all %lld columns of a head", (long long)rope->head);
}

/* Adds the mistakes of a rope that turns a share of the pairs, by the frequencies of all: all are turned, or the
   frequencies are those of the share alone. The factors are kept until the program ends. */
static void suspect_share(const posenc_problem *asked, suspect_list *list) {
  const posenc_scaling *s = &asked->scaling;
  const int64_t pairs = asked->dim / 2;
  int64_t rotated = 0;
  while (s->factors && rotated < pairs && isfinite(s->factors[rotated])) rotated++;
  if (rotated == 0 || rotated == pairs) return;
  posenc_problem other = *asked;
  other.scaling = posenc_scaling_none();
  suspects_add(list, &other, "%lld columns are turned, not %lld: all of a head", (long long)asked->dim,
               (long long)(2 * rotated));
  double *factors = memory_take((size_t)pairs, sizeof *factors);
  for (int64_t i = 0; i < pairs; i++)
    factors[i] = i < rotated ? s->factors[i] * pow(asked->base, (double)i / (double)rotated - (double)i / (double)pairs)
                             : INFINITY;
  other.scaling = *s;
  other.scaling.factors = factors;
  suspects_add(list, &other, "the frequencies are those of %lld columns, not of all %lld of a head",
               (long long)(2 * rotated), (long long)asked->dim);
}

static void suspect_length(const model_rope *rope, double length, const posenc_problem *asked, suspect_list *list) {
  if (rope->switch_at == INT64_MAX) return;
  const bool is_longer = length > (double)rope->switch_at;
  const posenc_problem other = scaled(asked, is_longer ? &rope->scaling : &rope->longer);
  suspects_add(list, &other, "the factors are those of %s sequences than %lld positions, for one of %.12g",
               is_longer ? "shorter" : "longer", (long long)rope->switch_at + is_longer, length);
}

/* Adds dynamic scalings for other lengths: those at which a model's buffers are made, as vLLM's of positions times the
   factor, which may be no whole number. */
static void suspect_dynamic(const model_rope *rope, double length, const posenc_problem *asked, suspect_list *list) {
  const posenc_scaling *s = &asked->scaling;
  const double original = (double)s->original,
               lengths[] = {(double)rope->positions, original * s->factor, 2.0 * original, original};
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
    posenc_problem other = *asked;
    other.scaling.length = lengths[n];
    const bool is_same = lengths[n] == s->length || (lengths[n] <= original && s->length <= original);
    if (lengths[n] > 0.0 && !is_same)
      suspects_add(list, &other, "the dynamic scaling is that of %.12g positions, not of %.12g", lengths[n], length);
  }
}

static void suspect_yarn(const model_rope *rope, const posenc_problem *asked, suspect_list *list) {
  const posenc_scaling *s = &asked->scaling;
  const posenc_scaling usual = posenc_scaling_yarn(1.0, 2);
  posenc_problem other = *asked;
  const double ratio = rope->positions > 0 && s->original > 0 ? (double)rope->positions / (double)s->original : 0.0;
  if (s->attention > 0.0) {
    other.scaling.attention = 0.0;
    suspects_add(list, &other, "the attention factor is 0.1 ln factor + 1, not the config's");
  }
  other = *asked;
  other.scaling.truncate = !s->truncate;
  suspects_add(list, &other, "the ends of the ramp are %s whole numbers",
               s->truncate ? "not rounded to" : "rounded to");
  other = *asked;
  other.scaling.low = usual.low, other.scaling.high = usual.high;
  if (s->low != usual.low || s->high != usual.high)
    suspects_add(list, &other, "beta_slow and beta_fast are 1 and 32, not the config's");
  other = *asked;
  other.scaling.factor = ratio;
  if (ratio > 1.0 && ratio != s->factor)
    suspects_add(list, &other, "the factor is %g, max_position_embeddings / original, not the config's", ratio);
  other = *asked;
  other.scaling.original = rope->positions;
  if (rope->positions > 1 && rope->positions != s->original)
    suspects_add(list, &other, "the original length is max_position_embeddings, %lld", (long long)rope->positions);
}

static void suspect_linear(const posenc_problem *asked, suspect_list *list) {
  posenc_problem other = *asked;
  other.scaling = posenc_scaling_none();
  other.scaling.kind = POSENC_SCALING_LINEAR;
  other.scaling.factor = asked->scaling.factor;
  if (other.scaling.factor > 1.0)
    suspects_add(list, &other, "all frequencies are divided by the factor, %g", other.scaling.factor);
}

void model_suspects(model *m, const char *layer, const model_rope *rope, double length, const posenc_problem *asked,
                    suspect_list *list) {
  suspect_layers(m, layer, length, asked, list);
  suspect_columns(rope, asked, list);
  suspect_share(asked, list);
  suspect_length(rope, length, asked, list);
  if (asked->scaling.kind == POSENC_SCALING_YARN) suspect_yarn(rope, asked, list);
  if (asked->scaling.kind == POSENC_SCALING_DYNAMIC) suspect_dynamic(rope, length, asked, list);
  if (asked->scaling.kind != POSENC_SCALING_NONE && asked->scaling.kind != POSENC_SCALING_LINEAR)
    suspect_linear(asked, list);
}
