/* SPDX-License-Identifier: MIT */
/* A problem as a part of config.json. */
#include "inspect/models/model.h"

#include <math.h>

static const posenc_scaling plain = {.kind = POSENC_SCALING_NONE};

/* Returns a number; integers have no decimal point. */
static json_t *number_json(double x) {
  return fabs(x) < 0x1p53 && x == rint(x) ? json_integer((json_int_t)x) : json_real(x);
}

static json_t *list_json(const double *values, int64_t count) {
  json_t *list = json_array();
  for (int64_t i = 0; i < count; i++) json_array_append_new(list, number_json(values[i]));
  return list;
}

static void add_yarn(json_t *rope, const posenc_scaling *s) {
  json_object_set_new(rope, "beta_fast", number_json(s->high));
  json_object_set_new(rope, "beta_slow", number_json(s->low));
  if (!s->truncate) json_object_set_new(rope, "truncate", json_false());
}

static void add_llama3(json_t *rope, const posenc_scaling *s) {
  json_object_set_new(rope, "low_freq_factor", number_json(s->low));
  json_object_set_new(rope, "high_freq_factor", number_json(s->high));
}

/* Returns the number of pairs that turn, if their factors are equal and those of all others infinite; otherwise 0. */
static int64_t proportional_pairs(const posenc_scaling *s, int64_t dim) {
  int64_t turned = 0;
  if (s->kind != POSENC_SCALING_LONGROPE || s->attention != 1.0) return 0;
  while (turned < dim / 2 && s->factors[turned] == s->factors[0] && !isinf(s->factors[turned])) turned++;
  for (int64_t i = turned; i < dim / 2; i++)
    if (!isinf(s->factors[i])) return 0;
  return turned < dim / 2 ? turned : 0;
}

static void add_proportional(json_t *rope, const posenc_scaling *s, int64_t pairs, int64_t dim) {
  json_object_set_new(rope, "rope_type", json_string("proportional"));
  json_object_set_new(rope, "partial_rotary_factor", json_real((double)(2 * pairs) / (double)dim));
  if (s->factors[0] != 1.0) json_object_set_new(rope, "factor", number_json(s->factors[0]));
}

static void add_scaling(json_t *rope, const posenc_scaling *s, int64_t dim) {
  const int64_t pairs = proportional_pairs(s, dim);
  if (pairs) {
    add_proportional(rope, s, pairs, dim);
    return;
  }
  json_object_set_new(rope, "factor", number_json(s->factor));
  if (s->kind != POSENC_SCALING_LINEAR)
    json_object_set_new(rope, "original_max_position_embeddings", json_integer(s->original));
  if (s->kind == POSENC_SCALING_YARN) add_yarn(rope, s);
  if (s->kind == POSENC_SCALING_LLAMA3) add_llama3(rope, s);
  if (s->kind == POSENC_SCALING_LONGROPE) {
    json_object_set_new(rope, "short_factor", list_json(s->factors, dim / 2));
    json_object_set_new(rope, "long_factor", list_json(s->factors, dim / 2));
  }
  if (s->attention > 0.0) json_object_set_new(rope, "attention_factor", number_json(s->attention));
}

static const char *refusal_of(const posenc_problem *problem) {
  const posenc_scaling *s = &problem->scaling;
  const bool has_factor = s->kind == POSENC_SCALING_YARN || s->kind == POSENC_SCALING_LONGROPE;
  if (problem->shift != 0.0) return "configs have no shift of the denominator";
  if (problem->dim % 2) return "the number of columns is odd";
  if (s->attention > 0.0 && s->attention != 1.0 && !has_factor)
    return "only yarn and longrope have an attention factor";
  for (int64_t i = 0; s->kind == POSENC_SCALING_LONGROPE && i < problem->dim / 2; i++)
    if (isinf(s->factors[i]) && !proportional_pairs(s, problem->dim)) return "pairs that do not turn are not the last";
  if (s->kind == POSENC_SCALING_DYNAMIC) return "the base of dynamic scaling depends on the length";
  if (problem->scale != 1.0 && (s->kind != POSENC_SCALING_NONE || problem->scale > 1.0))
    return "configs have no such scale";
  return NULL;
}

json_t *model_fragment(const posenc_problem *problem, fault *why) {
  static const char *const types[] = {
      [POSENC_SCALING_NONE] = "default", [POSENC_SCALING_LINEAR] = "linear",     [POSENC_SCALING_DYNAMIC] = "dynamic",
      [POSENC_SCALING_YARN] = "yarn",    [POSENC_SCALING_LONGROPE] = "longrope", [POSENC_SCALING_LLAMA3] = "llama3"};
  const char *refusal = refusal_of(problem);
  posenc_scaling s = problem->scaling;
  if (refusal) {
    fault_say(why, "%s", refusal);
    return NULL;
  }
  if (problem->scale < 1.0) {
    s = plain;
    s.kind = POSENC_SCALING_LINEAR;
    s.factor = 1.0 / problem->scale;
  }
  json_t *rope = json_pack("{s:s, s:o}", "rope_type", types[s.kind], "rope_theta", number_json(problem->base));
  if (s.kind != POSENC_SCALING_NONE) add_scaling(rope, &s, problem->dim);
  return json_pack("{s:I, s:o}", "head_dim", (json_int_t)problem->dim, "rope_parameters", rope);
}

void model_fragment_head(json_t *fragment, int64_t dim, int64_t start, int64_t head) {
  if (start > 0) {
    json_object_del(fragment, "head_dim");
    json_object_set_new(fragment, "qk_nope_head_dim", json_integer(start));
    json_object_set_new(fragment, "qk_rope_head_dim", json_integer(dim));
    return;
  }
  double share = (double)dim / (double)head;
  if ((int64_t)((double)head * share) < dim) share = nextafter(share, 1.0); /* readers truncate the product */
  json_object_set_new(fragment, "head_dim", json_integer(head));
  if (dim < head)
    json_object_set_new(json_object_get(fragment, "rope_parameters"), "partial_rotary_factor", json_real(share));
}
