/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/model.h"

#include "common/field.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Sets the option as if the command line had this number. Options that it needs are then required. */
static void give(options *given, enum option_code code, int64_t value) {
  char *text = NULL;
  if (asprintf(&text, "%" PRId64, value) < 0) die("out of memory");
  given->texts[code] = text; /* freed at the end of the program */
}

static void tell(const char *text, void *argument) {
  const options *given = argument;
  note("%s: %s", given->config, text);
}

/* Exits if an option about a config is given without --config. */
static void refuse_alone(const options *given) {
  if (given->layer_type) die_value("--layer-type", given->layer_type, "needs --config");
  if (is_given(given, OPTION_CONTEXT)) die_value("--context", given->texts[OPTION_CONTEXT], "needs --config");
}

int64_t model_length(const options *given, const posenc_problem *problem) {
  double last = -1.0;
  int64_t length;
  if (given->context) return given->context;
  for (int64_t row = 0; problem->positions && row < problem->rows; row++) last = fmax(last, problem->positions[row]);
  if (problem->positions) return last < 0x1p40 ? (int64_t)last + 1 : INT64_C(1) << 40;
  return __builtin_add_overflow(problem->first, problem->rows, &length) || length > INT64_C(1) << 40 ? INT64_C(1) << 40
                                                                                                     : length;
}

void take_model_length(options *given) {
  if (!given->model || is_given(given, OPTION_SCALING)) return;
  given->problem.scaling = model_scaling(&given->rope, model_length(given, &given->problem));
  given->factors = given->rope.factor_count;
}

/* Sets the columns: for an array of rope, those of a head, else the rotated ones. A table in a file has the columns of
   the file. */
static void take_columns(options *given) {
  const unsigned by = given->self->bit;
  const model_rope *rope = &given->rope;
  if (is_given(given, OPTION_DIM) || !rope->has_dim) return;
  if (by & (IDENTIFY | CHECK) && given->problem.op != POSENC_ROPE) return;
  given->problem.dim = by & PROBE ? rope->head : rope->dim;
  give(given, OPTION_DIM, given->problem.dim);
}

static void take_pairs(options *given) {
  given->problem.layout = given->rope.pairs;
  if (!given->rope.has_pairs) note("%s: how columns pair is not known of this model; halves are taken", given->config);
}

static void take_rows(options *given) {
  const bool is_counted = given->self->bit & (WRITE | VERIFY | BENCH | CHOOSE | REPORT) && !given->x;
  if (!is_counted || is_given(given, OPTION_LEN) || given->problem.positions || given->grid ||
      given->rope.positions <= 0)
    return;
  given->problem.rows = given->rope.positions;
  give(given, OPTION_LEN, given->problem.rows);
}

void take_model(options *given) {
  fault why;
  if (!given->config) {
    refuse_alone(given);
    return;
  }
  given->model = model_open(given->config, &why);
  if (!given->model) die_value("--config", given->config, why.text);
  /* identify compares a table with the ropes of all layer types. */
  if (given->self->bit == IDENTIFY && !given->layer_type && model_layers(given->model)) return;
  if (!model_rope_of(given->model, given->layer_type, tell, given, &given->rope, &why))
    die_value("--config", given->config, why.text);
  if (given->self->bit == IDENTIFY) return;
  if (given->rope.section_count && !given->grid)
    note("%s: it has sections of axes (mrope_section): all positions are taken as equal, as those of text are",
         given->config);
  if (!is_given(given, OPTION_BASE) && !is_given(given, OPTION_CHOOSE_BASE)) given->problem.base = given->rope.base;
  if (given->problem.op == POSENC_ROPE && !is_given(given, OPTION_LAYOUT)) take_pairs(given);
  take_columns(given);
  take_rows(given);
  take_model_length(given);
}

/* Returns the sections of M-RoPE without positions, which are kept until the program ends; null if there are none. */
static posenc_axes *axes_of(const model_rope *rope) {
  if (!rope->section_count) return NULL;
  posenc_axes *axes = malloc(sizeof *axes);
  if (!axes) die("out of memory");
  *axes = posenc_grid(rope->section_count, (const int64_t[POSENC_AXES]){1, 1, 1, 1}, 2);
  for (int a = 0; a < rope->section_count; a++) axes->axis[a].pairs = rope->sections[a];
  axes->order = rope->in_turns ? POSENC_AXES_CYCLIC : POSENC_AXES_CHUNKED;
  axes->frequencies = POSENC_AXES_CONTINUED;
  return axes;
}

void model_problems(const options *given, const stored *at, suspect_list *expected, suspect_list *mistakes) {
  const size_t layers = given->layer_type ? 1 : model_layers(given->model);
  posenc_problem problem = given->problem;
  if (!problem.positions) problem.rows = at->rows;
  const int64_t length = model_length(given, &problem);
  const bool has_base = is_given(given, OPTION_BASE) || is_given(given, OPTION_CHOOSE_BASE);
  expected->count = mistakes->count = 0;
  for (size_t n = 0; n == 0 || n < layers; n++) {
    const char *layer = given->layer_type || !layers ? given->layer_type : model_layer(given->model, n);
    model_rope rope;
    fault why;
    if (!model_rope_of(given->model, layer, NULL, NULL, &rope, &why)) {
      if (layers <= 1 || (n + 1 == layers && !expected->count)) die_value("--config", given->config, why.text);
      note("%s: %s: %s", given->config, layer, why.text);
      continue;
    }
    problem = posenc_table(at->rows, rope.has_dim ? rope.dim : at->dim);
    problem.base = has_base ? given->problem.base : rope.base;
    problem.scaling = is_given(given, OPTION_SCALING) ? given->problem.scaling : model_scaling(&rope, length);
    problem.scale = given->problem.scale;
    problem.shift = given->problem.shift;
    problem.axes = axes_of(&rope);
    suspects_add(expected, &problem, "%.60s", layer ? layer : "");
    problem.axes = NULL;
    if (expected->count == 1) model_suspects(given->model, layer, &rope, length, &problem, mistakes);
  }
  problem = expected->items[0].problem;
  problem.axes = NULL;
  formula_suspects(&problem, mistakes);
}

bool model_applies(const options *given, const json_t *applied, char *why, size_t size) {
  const bool is_several = !given->layer_type && model_layers(given->model);
  const char *layer = is_several ? model_layer(given->model, 0) : given->layer_type;
  const char *pairs = field_string(applied, "pairs");
  const int64_t start = field_integer(applied, "start"), dim = field_integer(applied, "dim"),
                columns = field_integer(applied, "columns");
  model_rope rope;
  fault unused;
  if (!applied || !*pairs || !model_rope_of(given->model, layer, NULL, NULL, &rope, &unused)) return true;
  const int64_t first = is_given(given, OPTION_START) ? given->start : rope.start;
  const bool is_head = rope.has_dim && rope.dim == dim && rope.head == columns;
  const bool is_told = rope.has_pairs || is_given(given, OPTION_LAYOUT);
  const posenc_layout layout = is_given(given, OPTION_LAYOUT) ? given->problem.layout : rope.pairs;
  if (is_told && strcmp(pairs, layout_name(layout)) != 0)
    snprintf(why, size, "%s", pairs_mistake(layout));
  else if (is_head && start != first)
    snprintf(why, size, "the columns from %" PRId64 " on are turned, not those from %" PRId64 " on", start, first);
  else if (json_is_true(json_object_get(applied, "back")) != given->problem.inverse)
    snprintf(why, size, "%s", turn_mistake(given->problem.inverse));
  else
    return true;
  return false;
}
