/* SPDX-License-Identifier: MIT */
/* Known mistakes of programs that read a config. Sources: the threads of issue trackers, and the versions of
   transformers' and vLLM's rope code. */
#include "models/model.h"

#include "reference/scaling.h"

#include <math.h>
#include <string.h>

void formula_suspects(const posenc_problem *asked, suspect_list *list) {
  static const double bases[] = {1e4, 5e5, 1e6, 1e5, 1e7, 5e6, 1.5e5, 1.6e5, 3.2e5, 8e6, 2.5e5, 100.0};
  const double attention = attention_of(asked);
  const bool is_one = attention_is_one(asked), is_scaled = asked->scaling.kind != POSENC_SCALING_NONE;
  posenc_problem other = *asked;
  for (size_t n = 0; n < sizeof bases / sizeof *bases; n++) {
    other.base = bases[n];
    if (other.base != asked->base) suspects_add(list, &other, "the base is %.15g", bases[n]);
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
}

/* Returns the problem with another scaling. */
static posenc_problem scaled(const posenc_problem *asked, const posenc_scaling *scaling) {
  posenc_problem other = *asked;
  other.scaling = *scaling;
  return other;
}

static void suspect_layers(model *m, const char *layer, int64_t length, const posenc_problem *asked,
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
    suspects_add(list, &other, "the rope is that of layers of %.60s", name);
  }
}

/* Adds two mistakes: all columns of a head rotated, or the frequencies of all columns in those that are rotated. */
static void suspect_columns(const model_rope *rope, const posenc_problem *asked, suspect_list *list) {
  if (!rope->has_dim || rope->head <= rope->dim || rope->head % 2) return;
  posenc_problem other = *asked;
  if (other.scaling.factors) other.scaling = posenc_scaling_none();
  other.dim = rope->head;
  suspects_add(list, &other, "all %lld columns of a head are turned, not %lld of them", (long long)rope->head,
               (long long)rope->dim);
  if (asked->scaling.kind != POSENC_SCALING_NONE) return;
  other.dim = rope->dim;
  other.shift = (double)(rope->dim - rope->head) / 2.0;
  suspects_add(list, &other, "the frequencies are those of all %lld columns of a head", (long long)rope->head);
}

static void suspect_length(const model_rope *rope, int64_t length, const posenc_problem *asked, suspect_list *list) {
  if (rope->switch_at == INT64_MAX) return;
  const bool is_longer = length > rope->switch_at;
  const posenc_problem other = scaled(asked, is_longer ? &rope->scaling : &rope->longer);
  suspects_add(list, &other, "the factors are those of %s sequences than %lld positions, for one of %lld",
               is_longer ? "shorter" : "longer", (long long)rope->switch_at + is_longer, (long long)length);
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

void model_suspects(model *m, const char *layer, const model_rope *rope, int64_t length, const posenc_problem *asked,
                    suspect_list *list) {
  suspect_layers(m, layer, length, asked, list);
  suspect_columns(rope, asked, list);
  suspect_length(rope, length, asked, list);
  if (asked->scaling.kind == POSENC_SCALING_YARN) suspect_yarn(rope, asked, list);
  if (asked->scaling.kind != POSENC_SCALING_NONE && asked->scaling.kind != POSENC_SCALING_LINEAR)
    suspect_linear(asked, list);
}
