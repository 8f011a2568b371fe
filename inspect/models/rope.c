/* SPDX-License-Identifier: MIT */
/* Reads the rope that a config describes: base, columns, pairs, scaling and axes. */
#include "inspect/models/keys.h"

#include "common/memory.h"
#include "common/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rope_lists_free(rope_lists *lists) {
  for (size_t n = 0; n < lists->count; n++) free(lists->items[n]);
  free(lists->items);
  *lists = (rope_lists){NULL, 0};
}

typedef struct reader {
  config_keys *w;
  rope_lists *lists;
  model_rope *rope;
} reader;

/* Reads a number that the scaling needs. Fails unless the config has it. */
static bool need(reader *r, word what, double *value) {
  return words_number(r->w, what, value) || words_missing(r->w, what);
}

/* ---- base and columns -------------------------------------------------------------------------- */

static bool read_base(reader *r) {
  const double usual = 10000.0;
  double ratio = 1.0;
  if (!words_number(r->w, BASE, &r->rope->base)) {
    if (r->w->failed) return false;
    r->rope->base = usual;
    words_tell(r->w, "the base is not in it; 10000 is taken");
  }
  if (words_number(r->w, BASE_RATIO, &ratio)) r->rope->base *= ratio;
  return !r->w->failed;
}

static bool is_columns(reader *r, word what, int64_t columns) {
  const int64_t most = (int64_t)1 << 24;
  if (columns >= 1 && columns <= most) return true;
  return words_fail(r->w, "%s %" PRId64 ": no number of columns", words_name(r->w, what).text, columns);
}

/* Returns the number of columns of a head; 0 if the config does not give it. */
static int64_t read_head(reader *r) {
  int64_t head, hidden, heads, share = 1;
  if (words_whole(r->w, HEAD, &head)) return is_columns(r, HEAD, head) ? head : 0;
  if (!words_whole(r->w, HIDDEN, &hidden) || !words_whole(r->w, HEADS, &heads)) return 0;
  if (!is_columns(r, HIDDEN, hidden) || !is_columns(r, HEADS, heads)) return 0;
  if (words_whole(r->w, HIDDEN_SHARE, &share) && !is_columns(r, HIDDEN_SHARE, share)) return 0;
  return hidden / share / heads;
}

/* Reads columns that have a key of their own, after others. */
static bool read_rotary_head(reader *r) {
  model_rope *rope = r->rope;
  if (words_whole(r->w, PLAIN_HEAD, &rope->start) && rope->start < 0)
    return words_fail(r->w, "%s %" PRId64 ": below 0", words_name(r->w, PLAIN_HEAD).text, rope->start);
  rope->has_dim = is_columns(r, ROTARY_HEAD, rope->dim);
  rope->head = rope->start + rope->dim;
  return !r->w->failed;
}

static bool read_columns(reader *r) {
  model_rope *rope = r->rope;
  double share, trailing = 0.0;
  words_class(r->w, TRAILING, &trailing);
  if (trailing == 0.0 && words_whole(r->w, ROTARY_HEAD, &rope->dim)) {
    if (!read_rotary_head(r)) return false;
  } else {
    rope->head = read_head(r);
    rope->dim = rope->head;
    rope->has_dim = rope->head > 0;
    const word own = trailing != 0.0 && words_find(r->w, ROTARY_HEAD) ? ROTARY_HEAD : ROTARY_DIM;
    if (words_whole(r->w, own, &rope->dim)) {
      rope->has_dim = is_columns(r, own, rope->dim);
    } else if (words_number(r->w, ROTARY_SHARE, &share)) {
      if (!(share > 0.0 && share <= 1.0))
        return words_fail(r->w, "%s %s: no share of the columns", words_name(r->w, ROTARY_SHARE).text,
                          number_of(share).text);
      rope->dim = (int64_t)((double)rope->head * share); /* the product of doubles, as in Python */
    }
    if (rope->head < rope->dim) rope->head = rope->dim;
    if (trailing != 0.0) rope->start = rope->head - rope->dim;
  }
  if (rope->has_dim && rope->dim % 2)
    return words_fail(r->w, "%" PRId64 " columns are turned, which is odd", rope->dim);
  return !r->w->failed;
}

/* ---- pairs ------------------------------------------------------------------------------------- */

static const struct {
  const char *model;
  unsigned place;
  bool neighbours;
} pairs_of[] = {
#define PAIRS(model, place, pairs) {model, place, pairs},
#include "inspect/models/keys.def"
};

static void read_pairs(reader *r) {
  const bool is_gguf = r->w->architecture;
  const char *named = words_model(r->w);
  bool neighbours = false;
  r->rope->has_pairs = words_flag(r->w, NEIGHBOURS, &neighbours);
  for (size_t n = 0; named && !r->rope->has_pairs && n < sizeof pairs_of / sizeof *pairs_of; n++) {
    if (pairs_of[n].place != (is_gguf ? GGUF : TOP) || strcmp(pairs_of[n].model, named) != 0) continue;
    neighbours = pairs_of[n].neighbours;
    r->rope->has_pairs = true;
  }
  r->rope->pairs = neighbours ? POSENC_INTERLEAVED : POSENC_SPLIT;
}

/* ---- scalings ---------------------------------------------------------------------------------- */

/* Reads the number of positions that the model was trained with; without it, the largest number that the model
   accepts. */
static bool read_original(reader *r, int64_t *original) {
  if (words_whole(r->w, ORIGINAL, original)) return true;
  if (r->w->failed) return false;
  *original = r->rope->positions;
  return *original > 0 || words_missing(r->w, ORIGINAL);
}

/* Reads the factor; without it, the ratio of the positions that the model accepts to those that it was trained with. */
static bool read_factor(reader *r, posenc_scaling *s) {
  if (words_number(r->w, FACTOR, &s->factor) || r->w->failed) return !r->w->failed;
  if (r->rope->positions <= 0 || s->original <= 0) return words_missing(r->w, FACTOR);
  s->factor = fmax(1.0, (double)r->rope->positions / (double)s->original);
  return true;
}

static bool read_plain(reader *r) {
  (void)r;
  return true;
}

/* Returns a new list of factors, which the reader's lists keep. */
static double *keep_factors(reader *r, double *values, int64_t count) {
  r->lists->items = memory_grow(r->lists->items, r->lists->count + 1, sizeof *r->lists->items);
  r->lists->items[r->lists->count++] = values;
  r->rope->factor_count = count;
  return values;
}

/* Reads Gemma 4's scaling: the frequencies are those of all columns of a head, but for those of the share that does not
   turn, which are 0. */
static bool read_proportional(reader *r) {
  model_rope *rope = r->rope;
  double share = 1.0, factor = 1.0;
  words_number(r->w, FACTOR, &factor);
  words_number(r->w, ROTARY_SHARE, &share);
  if (r->w->failed || !rope->has_dim) return words_missing(r->w, HEAD);
  const int64_t pairs = rope->head / 2, rotated = (int64_t)floor(share * (double)rope->head / 2.0);
  rope->dim = rope->head;
  if (rotated == pairs && !(factor > 1.0)) return true;
  double *factors = keep_factors(r, memory_take((size_t)pairs, sizeof *factors), pairs);
  for (int64_t i = 0; i < pairs; i++) factors[i] = i < rotated ? factor : INFINITY;
  rope->scaling = posenc_scaling_longrope(1.0, 2, factors);
  rope->scaling.attention = 1.0;
  return true;
}

static bool read_linear(reader *r) {
  double factor;
  if (!need(r, FACTOR, &factor)) return false;
  r->rope->scaling = posenc_scaling_linear(factor);
  return true;
}

/* Sets the base times alpha^(dim/(dim - 2)), for sequences of any length: alpha = length/original with factor 1. */
static bool take_stretch(reader *r, word what, double alpha) {
  enum { BITS_MOST = 20 };
  int bits = 1;
  while (bits < BITS_MOST && ldexp(alpha, bits) != rint(ldexp(alpha, bits))) bits++;
  const double length = ldexp(alpha, bits);
  if (!(alpha >= 1.0 && alpha <= 0x1p19) || length != rint(length))
    return words_fail(r->w, "%s %s: a base that is stretched so is not possible here", words_name(r->w, what).text,
                      number_of(alpha).text);
  r->rope->scaling = posenc_scaling_dynamic(1.0, (int64_t)1 << bits, (int64_t)length);
  return true;
}

static bool read_ntk(reader *r) {
  double factor;
  return need(r, FACTOR, &factor) && take_stretch(r, FACTOR, factor);
}

static bool read_dynamic(reader *r) {
  posenc_scaling *s = &r->rope->scaling;
  double alpha;
  if (words_number(r->w, ALPHA, &alpha)) return take_stretch(r, ALPHA, alpha);
  *s = posenc_scaling_dynamic(1.0, r->rope->positions, 1); /* model_scaling sets the length */
  r->rope->by_length = true;
  if (s->original <= 0) return words_missing(r->w, POSITIONS);
  return need(r, FACTOR, &s->factor);
}

/* Returns 0.1 c ln s + 1 for a factor s above 1, else 1. */
static double mscale_of(double factor, double c) {
  return factor > 1.0 ? 0.1 * c * log(factor) + 1.0 : 1.0;
}

/* Reads yarn's attention factor: the given one, or the one that two coefficients give, or 0 for that of the formula. */
static bool read_attention(reader *r, posenc_scaling *s) {
  double own, all, times;
  if (words_number(r->w, ATTENTION, &s->attention) || r->w->failed) return !r->w->failed;
  const bool has_own = words_number(r->w, MSCALE, &own) && own != 0.0,
             has_all = words_number(r->w, MSCALE_ALL, &all) && all != 0.0;
  if (has_own && has_all)
    s->attention = mscale_of(s->factor, own) / mscale_of(s->factor, all);
  else if (has_own || has_all)
    words_tell(r->w, "%s has no effect, as %s is missing or 0", words_name(r->w, has_own ? MSCALE : MSCALE_ALL).text,
               has_own ? "mscale_all_dim" : "mscale");
  if (words_number(r->w, LOG_MULTIPLIER, &own) && own != 0.0)
    s->attention = 1.0;
  else if (words_number(r->w, ATTENTION_TIMES, &times) && times != 1.0)
    s->attention = times * mscale_of(s->factor, 1.0);
  return !r->w->failed;
}

static bool read_yarn(reader *r) {
  posenc_scaling *s = &r->rope->scaling;
  double turns;
  *s = posenc_scaling_yarn(1.0, 0);
  if (!read_original(r, &s->original) || !read_factor(r, s) || !read_attention(r, s)) return false;
  if (words_number(r->w, BETA_FAST, &turns) && turns != 0.0) s->high = turns;
  if (words_number(r->w, BETA_SLOW, &turns) && turns != 0.0) s->low = turns;
  words_flag(r->w, TRUNCATE, &s->truncate);
  bool applies = true;
  if (words_flag(r->w, APPLY_SCALE, &applies) && !applies) s->attention = 1.0;
  return !r->w->failed;
}

static bool read_llama3(reader *r) {
  posenc_scaling *s = &r->rope->scaling;
  *s = posenc_scaling_llama3(1.0, 0);
  if (!need(r, FACTOR, &s->factor) || !need(r, LOW_FREQ, &s->low) || !need(r, HIGH_FREQ, &s->high)) return false;
  return words_whole(r->w, ORIGINAL, &s->original) || words_missing(r->w, ORIGINAL);
}

/* llama.cpp's converter writes this factor, an f32, for pairs that do not turn. */
static const double gguf_infinity = (double)1e30f;

/* Reads the factors of all pairs. */
static bool take_factors(reader *r, word what, posenc_scaling *s) {
  int64_t count;
  double *values = words_list(r->w, what, &count);
  if (!values) return words_missing(r->w, what);
  for (int64_t i = 0; i < count; i++)
    if (values[i] >= gguf_infinity) values[i] = INFINITY;
  s->factors = keep_factors(r, values, count);
  return !r->rope->has_dim || count == r->rope->dim / 2 ||
         words_fail(r->w, "%s: %" PRId64 " factors, and %" PRId64 " pairs are turned", words_name(r->w, what).text,
                    count, r->rope->dim / 2);
}

static bool read_longrope(reader *r) {
  posenc_scaling *s = &r->rope->scaling, *longer = &r->rope->longer;
  double times = 1.0;
  *s = posenc_scaling_longrope(1.0, 0, NULL);
  if (!read_original(r, &s->original)) return false;
  if (r->w->architecture) {
    words_number(r->w, ATTENTION_TIMES, &times);
    s->attention = times;
  } else if (!read_factor(r, s)) {
    return false;
  }
  words_number(r->w, ATTENTION, &s->attention);
  *longer = *s;
  r->rope->switch_at = s->original;
  r->rope->by_length = true;
  words_number(r->w, SHORT_MSCALE, &s->attention);
  words_number(r->w, LONG_MSCALE, &longer->attention);
  return take_factors(r, SHORT_FACTORS, s) && take_factors(r, LONG_FACTORS, longer) && !r->w->failed;
}

/* Reads GGUF's factors for sequences of all lengths, which include Llama 3's scaling. */
static bool read_factors(reader *r) {
  posenc_scaling *s = &r->rope->scaling;
  if (s->kind == POSENC_SCALING_YARN || (s->kind != POSENC_SCALING_NONE && s->factor != 1.0))
    return words_fail(r->w, "%s beside a scaling of another kind", words_name(r->w, FACTORS).text);
  *s = posenc_scaling_longrope(1.0, 2, NULL);
  s->attention = 1.0;
  return take_factors(r, FACTORS, s);
}

static const struct {
  const char *name;
  bool (*read)(reader *r);
} types[] = {{"default", read_plain},
             {"none", read_plain},
             {"mrope", read_plain},
             {"axial", read_plain},
             {"proportional", read_proportional},
             {"linear", read_linear},
             {"dynamic", read_dynamic},
             {"ntk", read_ntk},
             {"yarn", read_yarn},
             {"deepseek_yarn", read_yarn},
             {"llama3", read_llama3},
             {"longrope", read_longrope},
             {"su", read_longrope}};

static bool read_type(reader *r, const char *type) {
  for (size_t n = 0; n < sizeof types / sizeof *types; n++)
    if (strcmp(types[n].name, type) == 0) return types[n].read(r);
  return words_fail(r->w, "%s %.60s: that scaling is not known", words_name(r->w, TYPE).text, type);
}

static bool read_scaling(reader *r) {
  if (r->w->unscaled) return true;
  const char *type = words_text(r->w, TYPE);
  bool is_scaled = false;
  if (words_flag(r->w, IS_SCALED, &is_scaled) && is_scaled) return read_llama3(r);
  if (!type && r->w->rope_name && strcmp(r->w->rope_name, "yarn") == 0) type = "yarn";
  if (r->w->failed) return false;
  if (r->w->architecture && words_find(r->w, LONG_FACTORS)) return read_longrope(r);
  if (!type && words_find(r->w, FACTOR)) {
    if (!r->w->architecture) return words_missing(r->w, TYPE);
    type = "linear";
  }
  /* llama.cpp's converters write the type even if there is no factor. */
  if (type && r->w->architecture && strcmp(type, "linear") == 0 && !words_find(r->w, FACTOR)) type = NULL;
  if (type && !read_type(r, type)) return false;
  return !words_find(r->w, FACTORS) || read_factors(r);
}

/* ---- the whole --------------------------------------------------------------------------------- */

/* The most pairs of a section: sums of sections cannot overflow. */
#define SECTION_MOST 0x1p20

/* Returns the number of places along a side of the model's pictures, or of their windows; 0 if it is not known. */
static int64_t side_of(reader *r, bool is_width, bool is_window) {
  const json_t *picture = words_find(r->w, PICTURE), *patch = words_find(r->w, PATCH), *sides = words_find(r->w, SIDES),
               *tile = words_find(r->w, TILE),
               *size = json_is_array(picture) ? json_array_get(picture, is_width) : picture,
               *unit = json_is_array(patch) ? json_array_get(patch, is_width) : patch;
  const int64_t pixels = json_integer_value(size), each = json_integer_value(unit);
  if (is_window) return json_integer_value(tile);
  if (sides) return json_integer_value(json_array_get(sides, is_width));
  return pixels > 0 && each > 0 ? pixels / each : 0;
}

/* Writes the --grid of the model's pictures, whose axes have equal numbers of pairs: columns that are left over are not
   turned. In its template H and W are the sizes of the grid, F and G are 1 - H and 1 - W, and N is the side of a
   window; sizes that the config does not give stay letters. */
static bool read_grid(reader *r) {
  const char *from = words_grid(r->w);
  size_t used = 0;
  int64_t axes = 0;
  r->rope->has_grid = from;
  for (const char *at = from; at && (at = strchr(at, '=')); at++) axes += strspn(at, "=HWN1") > 1;
  if (axes && r->rope->has_dim) r->rope->dim -= r->rope->dim % (2 * axes);
  r->rope->axis = axes && !strstr(from, "frequencies=") ? r->rope->dim / axes : r->rope->dim;
  words_class(r->w, SCALE, &r->rope->scale);
  for (; from && *from && used < sizeof r->rope->grid - 24; from++) {
    const bool is_width = *from == 'W' || *from == 'G', is_first = *from == 'F' || *from == 'G';
    const int64_t side = strchr("HWFGN", *from) ? side_of(r, is_width, *from == 'N') : 0;
    if (side > 0)
      used += (size_t)snprintf(r->rope->grid + used, 24, "%" PRId64, is_first ? 1 - side : side);
    else
      r->rope->grid[used++] = *from;
  }
  return !r->w->failed;
}

/* Reads M-RoPE's sections. A GGUF file has four, of which those of 0 pairs are left out. */
static bool read_sections(reader *r) {
  int64_t count;
  double *pairs = words_list(r->w, SECTIONS, &count);
  words_flag(r->w, SECTIONS_INTERLEAVED, &r->rope->is_cyclic);
  for (int64_t n = 0; pairs && n < count && !r->w->failed; n++) {
    if (!(pairs[n] >= 0.0 && pairs[n] <= SECTION_MOST && pairs[n] == rint(pairs[n])))
      words_fail(r->w, "%s %g: not a number of pairs", words_name(r->w, SECTIONS).text, pairs[n]);
    else if (pairs[n] > 0.0 && r->rope->section_count < POSENC_AXES)
      r->rope->sections[r->rope->section_count++] = (int64_t)pairs[n];
  }
  free(pairs);
  return !r->w->failed;
}

/* Fails if the config has another encoding than rope, or a rope that a problem cannot describe. */
static bool refuse_others(reader *r) {
  const json_t *xpos = words_find(r->w, XPOS);
  bool alibi, none;
  const char *kind = words_text(r->w, KIND);
  words_find(r->w, PARAMETERS);
  if (xpos) return words_refuse(r->w, XPOS, xpos, "xPos scales pairs by their positions, which is not possible here");
  if ((kind && strcmp(kind, "nope") == 0) || (words_flag(r->w, NO_ROPE_AT_ALL, &none) && none))
    return words_fail(r->w, "%s: the model has no rope",
                      kind ? "position_embedding_type \"nope\"" : "mla_use_nope true");
  if (words_flag(r->w, ALIBI, &alibi) && alibi) return words_fail(r->w, "alibi true: the model has no rope");
  return !r->w->failed;
}

/* Fails if the library refuses a table with this scaling. */
static bool accept(reader *r, const posenc_scaling *scaling) {
  const int64_t usual = 128;
  posenc_problem problem = posenc_table(1, r->rope->has_dim ? r->rope->dim : usual);
  problem.base = r->rope->base;
  problem.scaling = *scaling;
  if (scaling->factors && !r->rope->has_dim) problem.scaling = posenc_scaling_none();
  const char *refusal = posenc_problem_refusal(&problem);
  return !refusal || words_fail(r->w, "its rope is refused: %s", refusal);
}

bool rope_read(config_keys *w, rope_lists *lists, model_rope *rope) {
  const posenc_scaling plain = posenc_scaling_none();
  reader r = {w, lists, rope};
  *rope = (model_rope){.scaling = plain, .longer = plain, .switch_at = INT64_MAX, .scale = 1.0};
  if (!refuse_others(&r) || !read_base(&r) || !read_columns(&r)) return false;
  words_whole(w, POSITIONS, &rope->positions);
  read_pairs(&r);
  if (w->failed || !read_scaling(&r)) return false;
  if (!read_sections(&r) || !read_grid(&r) || !words_finish(w)) return false;
  rope->unread = w->unread;
  return accept(&r, &rope->scaling) && accept(&r, &rope->longer);
}
