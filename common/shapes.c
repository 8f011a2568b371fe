/* SPDX-License-Identifier: MIT */
#include "common/shapes.h"

#include "common/digest.h"
#include "common/number.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Defaults for the rows below, as the function posenc_table cannot be called in an initializer. */
#define PLAIN(length, width, radix, row)                                                                               \
  .size = sizeof(posenc_problem), .rows = (length), .dim = (width), .base = (radix), .padding = (row), .scale = 1.0,   \
  .scaling = {.factor = 1.0, .low = 1.0, .high = 32.0, .truncate = true}
#define PADDED(length, width, row) PLAIN(length, width, 10000.0, row), .heads = 1
#define TABLE(length, width) PADDED(length, width, POSENC_NO_PADDING)
#define ADD(length, width) TABLE(length, width), .op = POSENC_ADD
#define ROPE(length, count, radix) PLAIN(length, 128, radix, POSENC_NO_PADDING), .op = POSENC_ROPE, .heads = (count)

#define CACHE(length, radix)                                                                                           \
  PLAIN(length, 128, radix, POSENC_NO_PADDING), .op = POSENC_ROPE_CACHE, .heads = 1, .layout = POSENC_DUPLICATED

/* An axis without a list. */
#define AXIS(columns, length, apart)                                                                                   \
  { .pairs = (columns), .size = (length), .stride = (apart), .divisor = 1.0 }

/* 14 × 14 patches of a picture, the columns of the width first. */
static const posenc_axes patches = {
    .size = sizeof(posenc_axes), .count = 2, .axis = {AXIS(192, 14, 1), AXIS(192, 14, 14)}, .grouped = true};

/* 8 frames of 18 × 32 patches; the sections of M-RoPE. */
static const posenc_axes video = {.size = sizeof(posenc_axes),
                                  .count = 3,
                                  .axis = {AXIS(16, 8, 18 * 32), AXIS(24, 18, 32), AXIS(24, 32, 1)},
                                  .frequencies = POSENC_AXES_CONTINUED};

const shape *shapes_published(size_t *count) {
  /* Five shapes are not published: two at far positions, three of other dtypes. */
  static const shape shapes[] = {
      {"ddpm-timesteps", {TABLE(1000, 128), .shift = 1.0, .layout = POSENC_SPLIT}},
      {"transformer-base+2^32", {TABLE(256, 512), .first = INT64_C(1) << 32}},
      {"transformer-base+2^40", {TABLE(256, 512), .first = INT64_C(1) << 40}},
      {"mae-base", {PADDED(197, 768, -1), .first = -1, .axes = &patches, .layout = POSENC_SPLIT}},
      {"fairseq-base", {PADDED(1026, 512, 1), .shift = 1.0, .layout = POSENC_SPLIT}},
      {"gpt2-sized", {TABLE(1024, 768)}},
      {"whisper-small-encoder", {TABLE(1500, 768), .shift = 1.0, .layout = POSENC_SPLIT}},
      {"transformer-base-f16", {TABLE(5000, 512), .dtype = POSENC_F16}},
      {"transformer-base-bf16", {TABLE(5000, 512), .dtype = POSENC_BF16}},
      {"transformer-base", {TABLE(5000, 512)}},
      {"transformer-base-f64", {TABLE(5000, 512), .dtype = POSENC_F64}},
      {"wide-table", {TABLE(32768, 4096)}},
      {"long-table", {TABLE(131072, 1024)}},
  };
  *count = sizeof shapes / sizeof *shapes;
  return shapes;
}

const shape *shapes_applied(size_t *count) {
  static const shape shapes[] = {
      {"transformer-base-add", {ADD(5000, 512)}},
      {"transformer-base-add-bf16", {ADD(5000, 512), .dtype = POSENC_BF16}},
      {"llama2-rope-cache", {CACHE(4096, 1e4)}},
      {"qwen2-vl-rope-cache", {CACHE(4608, 1e6), .axes = &video}},
      {"llama2-rope", {ROPE(4096, 32, 1e4)}},
      {"llama2-rope-halves", {ROPE(4096, 32, 1e4), .layout = POSENC_SPLIT}},
      {"llama2-rope-halves-bf16", {ROPE(4096, 32, 1e4), .layout = POSENC_SPLIT, .dtype = POSENC_BF16}},
      {"llama3-rope-cache", {CACHE(131072, 5e5)}},
      {"llama3-rope", {ROPE(131072, 8, 5e5)}},
      {"llama3-rope-halves", {ROPE(131072, 8, 5e5), .layout = POSENC_SPLIT}},
      {"long-table-add", {ADD(131072, 1024)}},
  };
  *count = sizeof shapes / sizeof *shapes;
  return shapes;
}

/* A problem with scale `by` and a scaling. */
#define SCALED(length, width, radix, by, ...)                                                                          \
  .size = sizeof(posenc_problem), .rows = (length), .dim = (width), .base = (radix), .padding = POSENC_NO_PADDING,     \
  .heads = 1, .scale = (by), .scaling = {__VA_ARGS__}
#define YARN .kind = POSENC_SCALING_YARN, .factor = 16.0, .original = 4096, .low = 1.0, .high = 32.0, .truncate = true

/* Factors like results of LongRoPE's search: about 1 for the shortest periods, growing to the model's stretch for the
   longest. */
static const double longrope_factors[] = {1.0,  1.02, 1.05, 1.08, 1.11, 1.15, 1.19, 1.24, 1.3,  1.37, 1.45, 1.54,
                                          1.65, 1.78, 1.93, 2.11, 2.32, 2.57, 2.87, 3.23, 3.66, 4.18, 4.8,  5.55,
                                          6.45, 7.55, 8.9,  10.5, 12.4, 14.6, 17.2, 20.2, 23.6, 27.4, 31.5, 35.8,
                                          40.2, 44.5, 48.5, 52.0, 55.0, 57.5, 59.5, 61.0, 62.2, 63.1, 63.7, 64.0};

const shape *shapes_scaled(size_t *count) {
  /* Scalings of models, at some of their positions; dynamic with twice the trained length. */
  static const shape shapes[] = {
      {"interpolated", {SCALED(4096, 128, 1e4, 0.5, .factor = 1.0), .layout = POSENC_SPLIT_CS}},
      {"linear-scaling",
       {SCALED(4096, 128, 1e4, 1.0, .kind = POSENC_SCALING_LINEAR, .factor = 4.0), .layout = POSENC_SPLIT_CS}},
      {"dynamic-scaling",
       {SCALED(4096, 128, 1e4, 1.0, .kind = POSENC_SCALING_DYNAMIC, .factor = 2.0, .original = 2048, .length = 4096),
        .layout = POSENC_SPLIT_CS}},
      {"yarn-scaling", {SCALED(4096, 128, 1e4, 1.0, YARN), .layout = POSENC_SPLIT_CS}},
      {"yarn-scaling-rope", {SCALED(1024, 128, 1e4, 1.0, YARN), .op = POSENC_ROPE, .layout = POSENC_SPLIT}},
      {"llama3.1-scaling",
       {SCALED(8192, 128, 5e5, 1.0, .kind = POSENC_SCALING_LLAMA3, .factor = 8.0, .original = 8192, .low = 1.0,
               .high = 4.0),
        .layout = POSENC_SPLIT_CS}},
      {"longrope-scaling",
       {SCALED(4096, 96, 1e4, 1.0, .kind = POSENC_SCALING_LONGROPE, .factor = 32.0, .original = 4096,
               .factors = longrope_factors),
        .layout = POSENC_SPLIT_CS}},
  };
  *count = sizeof shapes / sizeof *shapes;
  return shapes;
}

const shape *shapes_sweep(size_t *count) {
  static const shape shapes[] = {
      {"16x512", {TABLE(16, 512)}},       {"64x512", {TABLE(64, 512)}},     {"256x512", {TABLE(256, 512)}},
      {"1024x512", {TABLE(1024, 512)}},   {"4096x512", {TABLE(4096, 512)}}, {"16384x512", {TABLE(16384, 512)}},
      {"65536x512", {TABLE(65536, 512)}},
  };
  *count = sizeof shapes / sizeof *shapes;
  return shapes;
}

/* ---- problems as text ---------------------------------------------------------------------------- */

posenc_layout layout_default(posenc_op op) {
  return op == POSENC_ROPE_CACHE ? POSENC_DUPLICATED : POSENC_INTERLEAVED;
}

int64_t rope_cache_width(const posenc_problem *problem) {
  return problem->layout == POSENC_SPLIT ? problem->dim / 2 : problem->dim;
}

int64_t row_elements_of(const posenc_problem *problem) {
  return problem->op == POSENC_ROPE_CACHE ? 2 * rope_cache_width(problem) : problem->heads * problem->dim;
}

bool op_is_applied(posenc_op op) {
  return op == POSENC_ADD || op == POSENC_ROPE;
}

static bool is_scaled(const posenc_problem *problem) {
  return problem->scaling.kind != POSENC_SCALING_NONE || problem->scaling.attention != 0.0;
}

static uint64_t digest_of(const double *values, int64_t count) {
  return bytes_digest(BYTES_DIGEST_START, values, (size_t)count * sizeof *values);
}

/* Writes the value of --grid without signs: "-h14-w14-columnswh"; for lists, its digest. */
static void write_grid_name(const posenc_problem *problem, FILE *out) {
  char *text = grid_text(problem->axes, problem->dim);
  if (text && grid_has_lists(problem->axes)) {
    fprintf(out, "-lists%08" PRIx32, (uint32_t)bytes_digest(BYTES_DIGEST_START, text, strlen(text)));
  } else {
    fputc('-', out);
    for (char *c = text; c && *c; c++) {
      if (*c == ',') *c = '-';
      if (*c == '/') *c = '_';
      if (*c != '=') fputc(*c, out);
    }
  }
  free(text);
}

static void write_name(const posenc_problem *problem, const char *list, FILE *out) {
  (void)list;
  const posenc_problem paper = posenc_table(problem->rows, problem->dim);
  fprintf(out, "%" PRId64 "x%" PRId64, problem->rows, problem->dim);
  if (problem->first != paper.first) fprintf(out, "%+" PRId64, problem->first);
  if (problem->positions) fprintf(out, "-positions%08" PRIx32, (uint32_t)digest_of(problem->positions, problem->rows));
  if (problem->axes) write_grid_name(problem, out);
  if (problem->base != paper.base) fprintf(out, "-base%s", number_of(problem->base).text);
  if (problem->scale != paper.scale) fprintf(out, "-scale%s", number_of(problem->scale).text);
  if (is_scaled(problem)) {
    const double *factors = problem->scaling.factors;
    fputc('-', out);
    scaling_write(&problem->scaling, 0, out); /* without the factors */
    if (factors) fprintf(out, "%08" PRIx32, (uint32_t)digest_of(factors, problem->dim / 2));
  }
  if (problem->shift != paper.shift) fprintf(out, "-shift%s", number_of(problem->shift).text);
  if (problem->padding != paper.padding) fprintf(out, "-padding%" PRId64, problem->padding);
  if (problem->odd != paper.odd) fprintf(out, "-%s", odd_name(problem->odd));
  if (problem->layout != layout_default(problem->op)) fprintf(out, "-%s", layout_name(problem->layout));
  if (problem->dtype != paper.dtype) fprintf(out, "-%s", dtype_name(problem->dtype));
  if (problem->op != paper.op) fprintf(out, "-%s", op_name(problem->op));
  if (problem->op == POSENC_ROPE) fprintf(out, "%" PRId64, problem->heads);
  if (problem->inverse) fputs("-inverse", out);
}

static void write_positions(const posenc_problem *problem, const char *list, FILE *out) {
  if (problem->rows > SHAPE_POSITIONS) {
    fprintf(out, "--positions %s", list);
    return;
  }
  for (int64_t row = 0; row < problem->rows; row++)
    fprintf(out, "%s%s", row ? "," : "--positions ", number_of_position(problem->positions[row]).text);
}

static void write_options(const posenc_problem *problem, const char *list, FILE *out) {
  const posenc_problem paper = posenc_table(problem->rows, problem->dim);
  if (problem->positions)
    write_positions(problem, list, out);
  else
    fprintf(out, "--len %" PRId64, problem->rows);
  if (problem->axes) {
    fputs(" --grid ", out);
    grid_write(problem->axes, problem->dim, out);
  }
  fprintf(out, " --dim %" PRId64, problem->dim);
  if (problem->base != paper.base) fprintf(out, " --base %s", number_of(problem->base).text);
  if (problem->first != paper.first) fprintf(out, " --offset %" PRId64, problem->first);
  if (problem->scale != paper.scale) fprintf(out, " --scale %s", number_of(problem->scale).text);
  if (is_scaled(problem)) {
    fputs(" --scaling ", out);
    scaling_write(&problem->scaling, problem->dim, out);
  }
  if (problem->shift != paper.shift) fprintf(out, " --shift %s", number_of(problem->shift).text);
  if (problem->padding != paper.padding) fprintf(out, " --padding %" PRId64, problem->padding);
  if (problem->odd != paper.odd) fprintf(out, " --odd %s", odd_name(problem->odd));
  if (problem->layout != layout_default(problem->op)) fprintf(out, " --layout %s", layout_name(problem->layout));
  if (problem->dtype != paper.dtype) fprintf(out, " --dtype %s", dtype_name(problem->dtype));
  if (problem->op != paper.op) fprintf(out, " --op %s", op_name(problem->op));
  if (problem->heads != paper.heads) fprintf(out, " --heads %" PRId64, problem->heads);
  if (problem->inverse) fputs(" --inverse", out);
}

/* Returns what `write` writes as a new string; null if memory runs out. */
static char *text_of(const posenc_problem *problem, const char *list,
                     void (*write)(const posenc_problem *problem, const char *list, FILE *out)) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out) return NULL;
  write(problem, list, out);
  const bool failed = ferror(out);
  if (fclose(out) == 0 && !failed) return text;
  free(text);
  return NULL;
}

const shape *shapes_find(const shape *(*list)(size_t *count), const char *name) {
  size_t count;
  const shape *shapes = list(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(shapes[i].name, name) == 0) return &shapes[i];
  return NULL;
}

shape shape_of(const posenc_problem *problem) {
  shape s = {.problem = *problem};
  char *name = text_of(problem, NULL, write_name);
  const size_t length = name ? strlen(name) : 0;
  snprintf(s.name, sizeof s.name, "%s", name ? name : "?");
  if (length >= sizeof s.name) {
    const digest_text digest = digest_hex(bytes_digest(BYTES_DIGEST_START, name, length));
    snprintf(s.name + sizeof s.name - sizeof digest.text - 1, sizeof digest.text + 1, "-%s", digest.text);
  }
  free(name);
  return s;
}

char *problem_options(const posenc_problem *problem) {
  return problem_options_listed(problem, NULL);
}

char *problem_options_listed(const posenc_problem *problem, const char *list) {
  return text_of(problem, list ? list : "@positions", write_options);
}

/* ---- names --------------------------------------------------------------------------------------- */

const char *const layout_names[] = {
    [POSENC_INTERLEAVED] = "interleaved", [POSENC_INTERLEAVED_CS] = "interleaved-cs", [POSENC_SPLIT] = "split",
    [POSENC_SPLIT_CS] = "split-cs",       [POSENC_DUPLICATED] = "duplicated",         NULL,
};

const char *const dtype_names[] = {
    [POSENC_F32] = "f32", [POSENC_F64] = "f64", [POSENC_F16] = "f16", [POSENC_BF16] = "bf16", NULL,
};

const char *const op_names[] = {
    [POSENC_TABLE] = "table", [POSENC_ADD] = "add", [POSENC_ROPE] = "rope", [POSENC_ROPE_CACHE] = "rope-cache", NULL,
};

const char *const stores_names[] = {
    [POSENC_STORES_AUTO] = "auto",
    [POSENC_STORES_REGULAR] = "regular",
    [POSENC_STORES_STREAMING] = "streaming",
    NULL,
};

const char *const odd_names[] = {
    [POSENC_ODD_REFUSED] = "refuse",
    [POSENC_ODD_PAD] = "pad",
    [POSENC_ODD_CEIL] = "ceil",
    NULL,
};

/* Returns the index of the name, or -1. */
static int find_name(const char *const *names, const char *name) {
  for (int i = 0; names[i]; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

const char *layout_name(posenc_layout layout) {
  return layout_names[layout];
}

const char *dtype_name(posenc_dtype dtype) {
  return dtype_names[dtype];
}

const char *op_name(posenc_op op) {
  return op_names[op];
}

const char *stores_name(posenc_stores stores) {
  return stores_names[stores];
}

const char *odd_name(posenc_odd odd) {
  return odd_names[odd];
}

bool layout_parse(const char *name, posenc_layout *layout) {
  int found = find_name(layout_names, name);
  if (found >= 0) *layout = (posenc_layout)found;
  return found >= 0;
}

bool dtype_parse(const char *name, posenc_dtype *dtype) {
  int found = find_name(dtype_names, name);
  if (found >= 0) *dtype = (posenc_dtype)found;
  return found >= 0;
}

bool op_parse(const char *name, posenc_op *op) {
  int found = find_name(op_names, name);
  if (found >= 0) *op = (posenc_op)found;
  return found >= 0;
}

/* ---- scalings -------------------------------------------------------------------------------------------- */

const scaling_key scaling_keys[SCALING_KEYS] = {
    [SCALING_FACTOR] = {"factor", SCALING_REAL, offsetof(posenc_scaling, factor)},
    [SCALING_ORIGINAL] = {"original", SCALING_WHOLE, offsetof(posenc_scaling, original)},
    [SCALING_LENGTH] = {"length", SCALING_REAL, offsetof(posenc_scaling, length)},
    [SCALING_LOW] = {"low", SCALING_REAL, offsetof(posenc_scaling, low)},
    [SCALING_HIGH] = {"high", SCALING_REAL, offsetof(posenc_scaling, high)},
    [SCALING_TRUNCATE] = {"truncate", SCALING_FLAG, offsetof(posenc_scaling, truncate)},
    [SCALING_ATTENTION] = {"attention", SCALING_REAL, offsetof(posenc_scaling, attention)},
    [SCALING_FACTORS] = {"factors", SCALING_LIST, offsetof(posenc_scaling, factors)},
};

#define BIT(key) (1u << (key))
/* The defaults of the constructors in posenc.h, which are functions and cannot be called in an initializer
   (tests/scaling compares the two). */
#define UNSCALED .truncate = true

const scaling_form scaling_forms[SCALINGS] = {
    [POSENC_SCALING_NONE] = {"none", "frequencies as they are", BIT(SCALING_ATTENTION), 0, {UNSCALED}},
    [POSENC_SCALING_LINEAR] = {"linear",
                               "all frequencies divided by the factor (position interpolation)",
                               BIT(SCALING_FACTOR) | BIT(SCALING_ATTENTION),
                               BIT(SCALING_FACTOR),
                               {UNSCALED, .kind = POSENC_SCALING_LINEAR}},
    [POSENC_SCALING_DYNAMIC] = {"dynamic",
                                "a larger base for a length beyond the original one (NTK-aware)",
                                BIT(SCALING_FACTOR) | BIT(SCALING_ORIGINAL) | BIT(SCALING_LENGTH) |
                                    BIT(SCALING_ATTENTION),
                                BIT(SCALING_FACTOR) | BIT(SCALING_ORIGINAL) | BIT(SCALING_LENGTH),
                                {UNSCALED, .kind = POSENC_SCALING_DYNAMIC}},
    [POSENC_SCALING_YARN] = {"yarn",
                             "a ramp by index from w to w / factor, and an attention factor",
                             BIT(SCALING_FACTOR) | BIT(SCALING_ORIGINAL) | BIT(SCALING_LOW) | BIT(SCALING_HIGH) |
                                 BIT(SCALING_TRUNCATE) | BIT(SCALING_ATTENTION),
                             BIT(SCALING_FACTOR) | BIT(SCALING_ORIGINAL),
                             {UNSCALED, .kind = POSENC_SCALING_YARN, .low = 1.0, .high = 32.0}},
    [POSENC_SCALING_LLAMA3] =
        {"llama3",
         "a ramp by wavelength from w to w / factor",
         BIT(SCALING_FACTOR) | BIT(SCALING_ORIGINAL) | BIT(SCALING_LOW) | BIT(SCALING_HIGH) | BIT(SCALING_ATTENTION),
         0,
         {.kind = POSENC_SCALING_LLAMA3, .factor = 8.0, .original = 8192, .low = 1.0, .high = 4.0, .truncate = true}},
    /* The original length is required, but without a factor it has no effect. */
    [POSENC_SCALING_LONGROPE] = {"longrope",
                                 "a factor for each frequency, and an attention factor",
                                 BIT(SCALING_FACTOR) | BIT(SCALING_ORIGINAL) | BIT(SCALING_ATTENTION) |
                                     BIT(SCALING_FACTORS),
                                 BIT(SCALING_FACTORS),
                                 {UNSCALED, .kind = POSENC_SCALING_LONGROPE, .factor = 1.0, .original = 2}},
};

static double real(const posenc_scaling *s, int key) {
  return *(const double *)((const char *)s + scaling_keys[key].offset);
}

static int64_t whole(const posenc_scaling *s, int key) {
  return *(const int64_t *)((const char *)s + scaling_keys[key].offset);
}

static bool is_same_value(const posenc_scaling *a, const posenc_scaling *b, int key, int64_t dim) {
  switch (scaling_keys[key].type) {
  case SCALING_REAL:
    return real(a, key) == real(b, key);
  case SCALING_WHOLE:
    return whole(a, key) == whole(b, key);
  case SCALING_FLAG:
    return a->truncate == b->truncate;
  case SCALING_LIST:
    break;
  }
  bool same = !a->factors == !b->factors;
  for (int64_t i = 0; same && a->factors && i < dim / 2; i++) same = a->factors[i] == b->factors[i];
  return same;
}

static bool is_default(const posenc_scaling *s, int key) {
  return is_same_value(s, &scaling_forms[s->kind].defaults, key, 0); /* no default has factors */
}

static void write_value(const posenc_scaling *s, int key, int64_t dim, FILE *stream) {
  switch (scaling_keys[key].type) {
  case SCALING_REAL:
    fputs(number_of(real(s, key)).text, stream);
    break;
  case SCALING_WHOLE:
    fprintf(stream, "%" PRId64, whole(s, key));
    break;
  case SCALING_FLAG:
    fputs(s->truncate ? "yes" : "no", stream);
    break;
  case SCALING_LIST:
    for (int64_t i = 0; i < dim / 2; i++) fprintf(stream, "%s%s", i ? ":" : "", number_of(s->factors[i]).text);
    break;
  }
}

void scaling_default(const scaling_form *form, int key, FILE *stream) {
  if (key == SCALING_ATTENTION || (key == SCALING_ORIGINAL && form->defaults.kind == POSENC_SCALING_LONGROPE)) {
    fputs(key == SCALING_ATTENTION ? "=by the formula" : " (with a factor)", stream);
    return;
  }
  fputc('=', stream);
  write_value(&form->defaults, key, 0, stream);
}

void scaling_write(const posenc_scaling *s, int64_t dim, FILE *stream) {
  const scaling_form *form = &scaling_forms[s->kind];
  fputs(form->name, stream);
  for (int key = 0; key < SCALING_KEYS; key++) {
    if (!(form->keys & BIT(key)) || (is_default(s, key) && !(form->needed & BIT(key)))) continue;
    fprintf(stream, ",%s=", scaling_keys[key].name);
    write_value(s, key, dim, stream);
  }
}

bool scaling_has(const posenc_scaling *s, int key) {
  return scaling_forms[s->kind].keys & BIT(key);
}

bool scaling_is_same(const posenc_scaling *a, const posenc_scaling *b, int64_t dim) {
  bool same = a->kind == b->kind;
  for (int key = 0; same && key < SCALING_KEYS; key++) same = !scaling_has(a, key) || is_same_value(a, b, key, dim);
  return same;
}

/* ---- axes ------------------------------------------------------------------------------------------------ */

const char *const grid_orders[] = {[POSENC_AXES_CHUNKED] = "chunked", [POSENC_AXES_CYCLIC] = "cyclic", NULL};

const char *const grid_frequencies[] = {
    [POSENC_AXES_RESTARTED] = "restarted", [POSENC_AXES_CONTINUED] = "continued", [POSENC_AXES_DEALT] = "dealt", NULL};

/* Finds the order of the axes as dimensions of the grid: longer strides first. */
static void order_of(const posenc_axes *axes, int order[POSENC_AXES]) {
  for (int a = 0; a < axes->count; a++) {
    int at = a;
    for (; at > 0 && axes->axis[order[at - 1]].stride < axes->axis[a].stride; at--) order[at] = order[at - 1];
    order[at] = a;
  }
}

const char *grid_letters(int count) {
  static const char *const letters[] = {"", "l", "hw", "thw", "tdhw"};
  return letters[count];
}

char grid_letter(const posenc_axes *axes, int a) {
  int order[POSENC_AXES], at = 0;
  order_of(axes, order);
  while (order[at] != a) at++;
  return grid_letters(axes->count)[at];
}

bool grid_step(double first, double step, int64_t n, double *position) {
  const double steps = step * (double)n, sum = first + steps, part = sum - first;
  *position = sum;
  return fma(step, (double)n, -steps) == 0.0 && (first - (sum - part)) + (steps - part) == 0.0;
}

/* Returns how many positions are a run from the first on, and its step. */
static int64_t longest_run(const double *positions, int64_t count, double *step) {
  double next;
  int64_t run = 1;
  *step = count > 1 ? positions[1] - positions[0] : 1.0;
  while (run < count && grid_step(positions[0], *step, run, &next) && next == positions[run]) run++;
  if (run == 1) *step = 1.0;
  return run;
}

int64_t grid_run(const double *positions, int64_t count, double *step) {
  double unused;
  const int64_t run = longest_run(positions, count, step);
  return run > 2 && longest_run(positions + run - 1, count - run + 1, &unused) > 2 ? run - 1 : run;
}

bool grid_steps(const posenc_axis *axis, double *first, double *step) {
  *first = axis->positions ? axis->positions[0] : 0.0;
  *step = 1.0;
  return !axis->positions || longest_run(axis->positions, axis->size, step) == axis->size;
}

/* Whether strides or positions need a list for each axis. */
bool grid_has_lists(const posenc_axes *axes) {
  double first, step;
  int order[POSENC_AXES];
  int64_t stride = 1;
  bool has = false;
  order_of(axes, order);
  for (int n = axes->count - 1; n >= 0; n--) {
    const posenc_axis *axis = &axes->axis[order[n]];
    has |= axis->stride != stride || !grid_steps(axis, &first, &step);
    if (__builtin_mul_overflow(stride, axis->size, &stride)) return true;
  }
  return has;
}

static void write_run(int64_t size, double first, double step, FILE *out) {
  fprintf(out, "%" PRId64, size);
  if (first != 0.0 || step != 1.0) fprintf(out, ":%s", number_of_position(first).text);
  if (step != 1.0) fprintf(out, ":%s", number_of_position(step).text);
}

/* With `is_list`, a list of runs is written, two at least: that tells it from an axis of a grid. */
static void write_axis(const posenc_axis *axis, char letter, bool is_list, FILE *out) {
  double step = 1.0;
  fprintf(out, "%c=", letter);
  if (!axis->positions && is_list && axis->size > 1)
    fprintf(out, "1+%" PRId64 ":1", axis->size - 1);
  else if (!axis->positions)
    write_run(axis->size, 0.0, 1.0, out);
  for (int64_t n = 0, run; axis->positions && n < axis->size; n += run) {
    const double *rest = axis->positions + n;
    run = is_list ? grid_run(rest, axis->size - n, &step) : longest_run(rest, axis->size, &step);
    if (is_list && n == 0 && run == axis->size) run = 1;
    if (n) fputc('+', out);
    write_run(run, *rest, run > 1 ? step : 1.0, out);
  }
  if (axis->divisor != 1.0) fprintf(out, "/%s", number_of_position(axis->divisor).text);
}

static void write_columns(const posenc_axes *axes, const int order[POSENC_AXES], const char *letters, FILE *out) {
  char of[POSENC_AXES];
  bool is_plain = true;
  for (int n = 0; n < axes->count; n++) {
    of[order[n]] = letters[n];
    is_plain &= order[n] == n;
  }
  if (!is_plain) fprintf(out, ",columns=%.*s", axes->count, of);
}

void grid_write(const posenc_axes *axes, int64_t dim, FILE *out) {
  const char *of = grid_letters(axes->count);
  const bool lists = grid_has_lists(axes);
  int order[POSENC_AXES];
  bool equal = true;
  order_of(axes, order);
  for (int n = 0; n < axes->count; n++) {
    if (n) fputc(',', out);
    write_axis(&axes->axis[order[n]], of[n], lists, out);
    equal &= axes->axis[n].pairs * 2 * axes->count == dim;
  }
  write_columns(axes, order, of, out);
  for (int a = 0; a < axes->count && !equal; a++) fprintf(out, "%s%" PRId64, a ? ":" : ",pairs=", axes->axis[a].pairs);
  if (axes->order != POSENC_AXES_CHUNKED) fprintf(out, ",order=%s", grid_orders[axes->order]);
  if (axes->frequencies != POSENC_AXES_RESTARTED) fprintf(out, ",frequencies=%s", grid_frequencies[axes->frequencies]);
  if (axes->grouped) fputs(",grouped=yes", out);
}

char *grid_text(const posenc_axes *axes, int64_t dim) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out) return NULL;
  grid_write(axes, dim, out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}
