/* SPDX-License-Identifier: MIT */
/* Takes a problem from --config, and explains the ropes of a model. */
#include "config.h"

#include "cli/model.h"

#include "cli/files.h"
#include "cli/options.h"
#include "common/field.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/shapes.h"
#include "inspect/identify/identity.h"
#include "records/make.h"
#include "records/record.h"
#include "verify/file-exams.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Sets the option as if the command line had this number. Options that it needs are then required. */
static void give(options *given, enum option_code code, int64_t value) {
  given->texts[code] = memory_print("%" PRId64, value); /* freed at the end of the program */
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

/* Returns the length that a file shows, or --context, or else the length of the sequence that ends with the last of the
   problem's positions, at most 2^40. */
static double model_length(const options *given, const posenc_problem *problem) {
  const double most = 0x1p40;
  double last = (double)problem->first + (double)problem->rows - 1.0;
  if (given->shown_length > 0.0) return given->shown_length;
  if (given->context) return (double)given->context;
  if (problem->positions) last = -1.0;
  for (int64_t row = 0; problem->positions && row < problem->rows; row++) last = fmax(last, problem->positions[row]);
  return fmin(floor(last) + 1.0, most);
}

void take_model_length(options *given) {
  if (!given->model || is_given(given, OPTION_SCALING)) return;
  given->problem.scaling = model_scaling(&given->rope, model_length(given, &given->problem));
  given->factors = given->rope.factor_count;
}

/* ---- the length of a sequence, which the values show ---------------------------------------------- */

/* Returns the roundest number of a range in binary, as lengths of sequences mostly are. */
static int64_t roundest(int64_t least, int64_t most) {
  while (most & (most - 1) && (most & (most - 1)) >= least) most &= most - 1;
  return most;
}

/* Writes the words for the lengths that a table shows. */
static void tell_shown(options *given, const table_length *found) {
  char *const shown = given->length_shown;
  const size_t size = sizeof given->length_shown;
  if (found->is_sure || found->least == found->most)
    snprintf(shown, size, ", in a sequence of %.12g positions, as the values show", found->length);
  else
    snprintf(shown, size, ", in a sequence of %" PRId64 " to %" PRId64 " positions, as the values show", found->least,
             found->most);
  if (!found->is_sure)
    snprintf(given->length_unchecked, sizeof given->length_unchecked,
             "; not checked: the length of the sequence, %.12g, read from the values", found->length);
}

/* Takes what was found of a dynamic scaling. asked: the length that is asked. */
static void take_dynamic(options *given, const posenc_scaling *s, const table_length *found, double asked) {
  char *const cause = given->length_cause, *const open = given->length_open;
  switch (found->verdict) {
  case LENGTH_OPEN:
    if (!given->context)
      snprintf(open, sizeof given->length_open,
               "its scaling depends on the length of the sequence, which the values do not show: --context gives it");
    break;
  case LENGTH_BASE:
    if (!given->context)
      snprintf(open, sizeof given->length_open,
               "the base is %.15g, or the sequence has %.12g positions: --context tells the two apart", found->base,
               found->length);
    else
      snprintf(cause, sizeof given->length_cause,
               "the base is %.15g, or the dynamic scaling is that of %.12g positions, not of %.12g", found->base,
               found->length, asked);
    break;
  case LENGTH_EARLY:
    if (found->least <= s->original)
      snprintf(cause, sizeof given->length_cause,
               "the dynamic scaling is left out, as in sequences of at most %" PRId64 " positions", s->original);
    else
      snprintf(cause, sizeof given->length_cause,
               "the dynamic scaling is that of %" PRId64 " positions, before the last row",
               roundest(found->least, found->most));
    break;
  case LENGTH_SHOWN:
    if (given->context && fabs(asked - found->length) >= 1.0) {
      snprintf(cause, sizeof given->length_cause, "the dynamic scaling is that of %.12g positions, not of %.12g",
               found->length, asked);
      break;
    }
    given->shown_length = found->length;
    tell_shown(given, found);
    break;
  case LENGTH_ASKED:
  case LENGTH_NONE:
    break;
  }
}

void take_shown_length(options *given, table_file *table, double error) {
  const model_rope *rope = &given->rope;
  const stored *at = table_stored(table);
  const identify_request request = {.table = table, .error = error};
  if (!given->model || !rope->by_length || is_given(given, OPTION_SCALING) || rope->section_count || rope->has_grid)
    return;
  posenc_problem problem = given->problem;
  if (!problem.positions) problem.rows = at->rows;
  const double length = model_length(given, &problem);
  posenc_problem of = posenc_table(at->rows, rope->has_dim ? rope->dim : at->dim);
  of.base = is_given(given, OPTION_BASE) || is_given(given, OPTION_CHOOSE_BASE) ? given->problem.base : rope->base;
  of.scale = given->problem.scale;
  of.scaling = model_scaling(rope, length);
  if (of.scaling.kind == POSENC_SCALING_DYNAMIC) {
    const table_length found = length_find(&request, &of, given->context);
    take_dynamic(given, &of.scaling, &found, length);
  } else if (!given->context && length <= (double)rope->switch_at) {
    posenc_problem longer = of;
    longer.scaling = rope->longer;
    if (length_fits(&request, &of) || !length_fits(&request, &longer)) return;
    given->shown_length = (double)rope->switch_at + 1.0;
    snprintf(given->length_shown, sizeof given->length_shown,
             ", in a sequence of %.12g positions or more, as the values show", given->shown_length);
  }
}

const char *take_model_rows(const options *given, table_file *table, const char *file) {
  const model_rope *rope = &given->rope;
  const int64_t few = rope->switch_at, rows = table_stored(table)->rows;
  if (!given->model || few == INT64_MAX || rope->positions <= 0 || rows - few != rope->positions) return NULL;
  if (!given->context)
    die("%s: it has %" PRId64 " rows of short sequences and %" PRId64 " of long ones: --context %" PRId64
        " or --context %" PRId64 " chooses",
        file, few, rows - few, few, rows - few);
  const bool is_short = given->context <= few;
  if (!table_take_rows(table, is_short ? 0 : few, is_short ? few : rows - few))
    die("%s: the tables of short and long sequences cannot be told apart in this order of elements", file);
  return is_short ? "tables of short and of long sequences; compared is the first"
                  : "tables of short and of long sequences; compared is the second";
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
  if (!given->rope.has_pairs && given->self->bit != CHECK) /* check tells it with the verdict */
    note("%s: how columns pair is not known of this model; halves are taken", given->config);
}

static const char missing_grid[] = "--config %s: a rope of the axes of a picture, which --grid %s gives%s";

/* Takes the grid of the pictures whose size the config has, for check: the rows of a file tell whether it is that. */
static void take_grid(options *given) {
  const char *grid = given->rope.grid;
  if (given->self->bit != CHECK || given->grid || given->problem.positions || !*grid || strpbrk(grid, "HWFGN")) return;
  given->problem.axes = given->grid = parse_grid("--config", grid, false, &given->places);
}

void require_places(const options *given, int64_t rows) {
  if (!given->rope.has_grid || is_given(given, OPTION_GRID)) return;
  if (rows != given->places) die(missing_grid, given->config, given->rope.grid, ", of its image_size");
  note("%s: --grid %s is taken", given->config, given->rope.grid);
}

/* Exits if the rope is one of a picture's axes, and no option gives them. */
static void require_grid(const options *given) {
  const model_rope *rope = &given->rope;
  if (!rope->has_grid) return;
  if (!given->grid && *rope->grid)
    die(missing_grid, given->config, rope->grid, strpbrk(rope->grid, "HW") ? ", H and W for its height and width" : "");
  if (!given->grid) die("--config %s: a rope of the axes of a picture: --grid is missing", given->config);
  if (!is_given(given, OPTION_GRID)) return;
  /* Sizes, first positions and steps may be those of another picture. */
  const char *told = given->texts[OPTION_GRID], *width = strstr(rope->grid, ",w="),
             *keys = width ? strchr(width + 1, ',') : NULL;
  if ((keys && !strstr(told, keys)) || (strchr(rope->grid, ':') && !strchr(told, ':')))
    note("%s: the axes of this model are --grid %s", given->config, rope->grid);
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
  if (given->self->bit == LIST) {
    if (given->layer_type && !model_rope_of(given->model, given->layer_type, NULL, NULL, &given->rope, &why))
      die_value("--config", given->config, why.text);
    return;
  }
  /* identify compares a table with the ropes of all layer types. */
  if (given->self->bit == IDENTIFY && !given->layer_type && model_layers(given->model)) return;
  if (!model_rope_of(given->model, given->layer_type, tell, given, &given->rope, &why))
    die_value("--config", given->config, why.text);
  if (given->self->bit == IDENTIFY) return;
  if (given->rope.section_count && !given->grid)
    note("%s: it has sections of axes (mrope_section): all positions are taken as equal, as those of text are%s",
         given->config, given->self->bit == CHECK ? ", unless the values show others" : "");
  take_grid(given);
  require_grid(given);
  if (!is_given(given, OPTION_BASE) && !is_given(given, OPTION_CHOOSE_BASE)) given->problem.base = given->rope.base;
  if (!is_given(given, OPTION_SCALE)) given->problem.scale = given->rope.scale;
  if (given->problem.op == POSENC_ROPE && !is_given(given, OPTION_LAYOUT)) take_pairs(given);
  take_columns(given);
  take_rows(given);
  take_model_length(given);
}

/* Returns the sections of M-RoPE without positions, which are kept until the program ends; null if there are none. */
static posenc_axes *axes_of(const model_rope *rope) {
  if (!rope->section_count) return NULL;
  posenc_axes *axes = memory_take(1, sizeof *axes);
  *axes = posenc_grid(rope->section_count, (const int64_t[POSENC_AXES]){1, 1, 1, 1}, 2);
  for (int a = 0; a < rope->section_count; a++) axes->axis[a].pairs = rope->sections[a];
  axes->order = rope->is_cyclic ? POSENC_AXES_CYCLIC : POSENC_AXES_CHUNKED;
  axes->frequencies = POSENC_AXES_CONTINUED;
  return axes;
}

static void keep_note(const char *text, void *argument) {
  json_array_append_new((json_t *)argument, json_string(text));
}

/* The number of kinds of layers that are asked for, and the name of one; null: of all layers. */
static size_t count_layers(const options *given) {
  const size_t layers = given->layer_type ? 0 : model_layers(given->model);
  return layers ? layers : 1;
}

static const char *layer_of(const options *given, size_t n) {
  return given->layer_type || !model_layers(given->model) ? given->layer_type : model_layer(given->model, n);
}

void model_problems(const options *given, const stored *at, suspect_list *expected, suspect_list *mistakes) {
  const size_t layers = count_layers(given);
  posenc_problem problem = given->problem;
  if (!problem.positions) problem.rows = at->rows;
  const double length = model_length(given, &problem);
  const bool has_base = is_given(given, OPTION_BASE) || is_given(given, OPTION_CHOOSE_BASE);
  expected->count = mistakes->count = 0;
  for (size_t n = 0; n < layers; n++) {
    const char *layer = layer_of(given, n);
    model_rope rope;
    fault why;
    if (!model_rope_of(given->model, layer, NULL, NULL, &rope, &why)) {
      if (layers == 1 || (n + 1 == layers && !expected->count)) die_value("--config", given->config, why.text);
      note("%s: %s: %s", given->config, layer, why.text);
      continue;
    }
    problem = posenc_table(at->rows, rope.has_dim ? rope.dim : at->dim);
    problem.base = has_base ? given->problem.base : rope.base;
    problem.scaling = is_given(given, OPTION_SCALING) ? given->problem.scaling : model_scaling(&rope, length);
    problem.scale = given->problem.scale;
    problem.shift = given->problem.shift;
    if (rope.has_grid && !given->grid)
      die("--config %s: a rope of the axes of a picture: posenc check --grid compares it", given->config);
    problem.axes = rope.has_grid ? given->grid : axes_of(&rope);
    suspects_add(expected, &problem, "%.60s", layer ? layer : "");
    problem.axes = NULL;
    model_suspects(given->model, layer, &rope, length, &problem, mistakes);
  }
  model_tell_unscaled(expected);
  if (given->has_angles)
    for (size_t n = 0; n < expected->count; n++) expected->items[n].problem.scaling.attention = 1.0;
  problem = expected->items[0].problem;
  problem.axes = NULL;
  formula_suspects(&problem, mistakes);
  if (given->has_angles)
    for (size_t n = 0; n < mistakes->count; n++) mistakes->items[n].problem.scaling.attention = 1.0;
}

bool model_is_known(const options *given, char *why, size_t size) {
  for (size_t n = 0; n < count_layers(given); n++) {
    const char *layer = layer_of(given, n);
    json_t *notes = json_array();
    model_rope rope;
    fault reason = {""};
    const bool is_read = model_rope_of(given->model, layer, keep_note, notes, &rope, &reason);
    const bool is_known = is_read && !rope.unread;
    const char *last = json_string_value(json_array_get(notes, json_array_size(notes) - 1));
    if (!is_known) snprintf(why, size, "%s%s%s", layer ? layer : "", layer ? ": " : "", is_read ? last : reason.text);
    json_decref(notes);
    if (!is_known) return false;
  }
  return true;
}

bool model_applies(const options *given, const record_applied *applied, char *why, size_t size) {
  const char *layer = layer_of(given, 0), *pairs = applied->pairs;
  model_rope rope;
  fault unused;
  if (!applied->there || !*pairs || !model_rope_of(given->model, layer, NULL, NULL, &rope, &unused)) return true;
  const int64_t first = is_given(given, OPTION_START) ? given->start : rope.start;
  const bool is_head = rope.has_dim && rope.dim == applied->dim && rope.head == applied->columns;
  const bool is_told = rope.has_pairs || is_given(given, OPTION_LAYOUT);
  const posenc_layout layout = is_given(given, OPTION_LAYOUT) ? given->problem.layout : rope.pairs;
  if (*applied->written)
    snprintf(why, size, "%s", written_mistake(strcmp(pairs, "split") == 0 ? POSENC_SPLIT : POSENC_INTERLEAVED));
  else if (is_told && strcmp(pairs, layout_name(layout)) != 0)
    snprintf(why, size, "%s", pairs_mistake(layout));
  else if (is_head && applied->start != first)
    snprintf(why, size, "the columns from %" PRId64 " on are turned, not those from %" PRId64 " on", applied->start,
             first);
  else if (applied->back != given->problem.inverse)
    snprintf(why, size, "%s", direction_mistake(given->problem.inverse));
  else
    return true;
  return false;
}

/* ---- explanation --------------------------------------------------------------------------------- */

/* Returns the numbers of the layers with this kind of rope or, without a name, for this reason without one. */
static json_t *layer_numbers(const model *m, const char *name, const char *reason) {
  json_t *numbers = json_array();
  for (int64_t layer = 0; layer < model_number_of_layers(m); layer++) {
    const char *none, *kind = model_layer_kind(m, layer, &none);
    const bool is_same = reason ? none && strcmp(none, reason) == 0 : !none && (!name || strcmp(kind, name) == 0);
    if (is_same) json_array_append_new(numbers, json_integer(layer));
  }
  return numbers;
}

static json_t *without_rope(const model *m) {
  json_t *all = json_array();
  for (int64_t layer = 0; layer < model_number_of_layers(m); layer++) {
    const char *why;
    bool is_told = false;
    size_t n;
    json_t *one;
    model_layer_kind(m, layer, &why);
    json_array_foreach(all, n, one) is_told |= why && strcmp(field_string(one, "why"), why) == 0;
    if (why && !is_told)
      json_array_append_new(all, json_pack("{s:s, s:o}", "why", why, "layers", layer_numbers(m, NULL, why)));
  }
  return all;
}

/* Returns the value of --scaling. */
static json_t *scaling_option(const posenc_problem *problem) {
  char *text = NULL;
  size_t size;
  FILE *stream = allocated(open_memstream(&text, &size));
  scaling_write(&problem->scaling, problem->dim, stream);
  fclose(stream);
  json_t *option = json_string(text);
  free(text);
  return option;
}

/* Returns the largest errors of right results of each dtype, at positions below `length`. */
static json_t *tolerances_json(const posenc_problem *problem, int64_t length) {
  json_t *all = json_array();
  for (posenc_dtype dtype = POSENC_F32; dtype <= POSENC_BF16; dtype++) {
    const tolerance most = tolerance_of(problem, dtype, length - 1);
    json_array_append_new(all, json_pack("{s:s, s:f, s:f, s:f, s:I}", "dtype", dtype_name(dtype), "table",
                                         tolerance_above(most.table), "pair", tolerance_above(most.pair), "angle",
                                         most.angle, "index", (json_int_t)most.index));
  }
  return all;
}

/* Returns the formula and the frequencies of a rope, for a sequence of --context or of all positions. */
static json_t *rope_json(const options *given, const model_rope *rope) {
  const int64_t positions = rope->positions > 0 ? rope->positions : 1,
                length = given->context ? given->context : positions;
  const bool is_known = rope->has_dim && (!rope->has_grid || *rope->grid);
  posenc_problem problem = posenc_table(1, rope->axis);
  problem.base = rope->base;
  problem.scaling = model_scaling(rope, (double)length);
  problem.scale = rope->scale;
  const record_scaling scaled = scaling_record(&problem.scaling, rope->dim);
  json_t *scaling = scaled.there ? record_write_scaling(&scaled) : json_null();
  json_t *frequencies = json_array(), *sections = json_array(), *option = scaling_option(&problem), *most = NULL;
  double *w = memory_take((size_t)rope->dim / 2 + 1, sizeof *w);
  if (is_known) {
    model_frequencies(&problem, w);
    for (int64_t i = 0; i < rope->axis / 2; i++) json_array_append_new(frequencies, json_real(w[i]));
  }
  if (is_known && !rope->has_grid) most = tolerances_json(&problem, length);
  free(w);
  for (int a = 0; a < rope->section_count; a++) json_array_append_new(sections, json_integer(rope->sections[a]));
  return json_pack("{s:f, s:I, s:I, s:I, s:I, s:s?, s:I, s:o, s:o, s:f, s:f, s:I, s:b, s:o, s:b, s:s?, s:o, s:o*}",
                   "base", rope->base, "dim", (json_int_t)(rope->has_dim ? rope->dim : 0), "axis",
                   (json_int_t)(rope->has_dim ? rope->axis : 0), "head", (json_int_t)(rope->has_dim ? rope->head : 0),
                   "start", (json_int_t)rope->start, "pairs", rope->has_pairs ? layout_name(rope->pairs) : NULL,
                   "positions", (json_int_t)rope->positions, "scaling", scaling, "option", option, "attention",
                   posenc_attention(&problem), "scale", rope->scale, "length", (json_int_t)length, "by_length",
                   rope->by_length, "sections", sections, "cyclic", rope->is_cyclic, "grid",
                   rope->has_grid ? rope->grid : NULL, "inv_freq", frequencies, "tolerance", most);
}

static json_t *explained(const options *given, const char *layer) {
  model_rope rope;
  fault why;
  json_t *notes = json_array(), *made;
  const bool is_read = model_rope_of(given->model, layer, keep_note, notes, &rope, &why);
  char *end = NULL;
  const long long number = layer ? strtoll(layer, &end, 10) : -1;
  const char *none, *name = layer;
  if (layer && !*end && number < model_number_of_layers(given->model))
    name = model_layer_kind(given->model, number, &none);
  made = is_read ? rope_json(given, &rope) : json_pack("{s:s}", "unknown", why.text);
  json_object_set_new(made, "layer_type", layer ? json_string(layer) : json_null());
  json_object_set_new(made, "layers", layer_numbers(given->model, name, NULL));
  json_object_set_new(made, "notes", notes);
  return made;
}

static void print_numbers(const char *label, const json_t *numbers, FILE *out) {
  size_t n;
  json_t *one;
  fprintf(out, "  %-13s", label);
  json_array_foreach(numbers, n, one) fprintf(out, " %s", number_of(json_number_value(one)).text);
  fputc('\n', out);
}

static void print_tolerances(const json_t *rope, FILE *out) {
  size_t n;
  json_t *one;
  if (!json_object_get(rope, "tolerance")) return;
  fprintf(out,
          "  tolerance     of right code to position %" JSON_INTEGER_FORMAT
          " (--context): --max-abs, or atol with rtol 0\n",
          field_integer(rope, "length") - 1);
  json_array_foreach(json_object_get(rope, "tolerance"), n, one)
      fprintf(out,
              "    %-4s        %g of a table, %g of the length of a pair; %.2g of them of the angle of inv_freq "
              "%" JSON_INTEGER_FORMAT "\n",
              field_string(one, "dtype"), field_number(one, "table"), field_number(one, "pair"),
              field_number(one, "angle"), field_integer(one, "index"));
}

static void print_rope(const options *given, const json_t *rope, FILE *out) {
  const char *layer = json_string_value(json_object_get(rope, "layer_type")), *pairs = field_string(rope, "pairs");
  const json_t *numbers = json_object_get(rope, "layers"), *grid = json_object_get(rope, "grid");
  const json_t *frequencies = json_object_get(rope, "inv_freq"), *scaling = json_object_get(rope, "scaling");
  const json_int_t dim = field_integer(rope, "dim"), axis = field_integer(rope, "axis");
  size_t n;
  json_t *note;
  fprintf(out, "%s%s%s\n", given->config, layer ? ", " : "", layer ? layer : "");
  if (json_array_size(numbers)) print_numbers("layers", numbers, out);
  if (json_object_get(rope, "unknown")) fprintf(out, "  not known     %s\n", field_string(rope, "unknown"));
  if (json_object_get(rope, "base")) {
    fprintf(out, "  formula       angle[i] = position x w[i], w[i] = %s^(-2i/%" JSON_INTEGER_FORMAT ")%s%s\n",
            number_of(field_number(rope, "base")).text, axis, axis == dim ? "" : " of each axis",
            json_is_object(scaling) ? ", scaled" : "");
    const char *order = strcmp(pairs, "split") == 0 ? "are halves" : "are neighbours";
    fprintf(out,
            "  columns       %" JSON_INTEGER_FORMAT " of the %" JSON_INTEGER_FORMAT
            " of a head, from column %" JSON_INTEGER_FORMAT " on; pairs %s\n",
            dim, field_integer(rope, "head"), field_integer(rope, "start"), *pairs ? order : "are not known");
    fprintf(out, "  scaling       %s\n  attention     %s\n", field_string(rope, "option"),
            number_of(field_number(rope, "attention")).text);
    if (json_is_true(json_object_get(rope, "by_length")))
      fprintf(out, "  length        %" JSON_INTEGER_FORMAT " positions, on which the scaling depends (--context)\n",
              field_integer(rope, "length"));
    if (json_is_string(grid)) fprintf(out, "  axes          --grid %s\n", json_string_value(grid));
    if (json_array_size(json_object_get(rope, "sections")))
      print_numbers("sections", json_object_get(rope, "sections"), out);
    if (json_array_size(frequencies)) print_numbers("inv_freq", frequencies, out);
    print_tolerances(rope, out);
  }
  json_array_foreach(json_object_get(rope, "notes"), n, note)
      fprintf(out, "  note          %s\n", json_string_value(note));
}

void explain_model(const options *given, FILE *stream) {
  json_t *ropes = json_array(), *none = given->layer_type ? json_array() : without_rope(given->model), *one;
  size_t n;
  for (n = 0; n < count_layers(given); n++) json_array_append_new(ropes, explained(given, layer_of(given, n)));
  if (format_is(given, "json")) {
    json_t *all = json_pack("{s:s, s:I, s:O, s:O}", "config", given->config, "layers",
                            (json_int_t)model_number_of_layers(given->model), "ropes", ropes, "without_rope", none);
    record_print(all, stream);
  } else {
    json_array_foreach(ropes, n, one) print_rope(given, one, stream);
    json_array_foreach(none, n, one) {
      fprintf(stream, "%s, without rope: %s\n", given->config, field_string(one, "why"));
      print_numbers("layers", json_object_get(one, "layers"), stream);
    }
  }
  json_decref(ropes);
  json_decref(none);
}
