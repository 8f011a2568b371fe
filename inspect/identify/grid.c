/* SPDX-License-Identifier: MIT */
#include "common/field.h"
#include "common/shapes.h"
#include "inspect/identify/identity.h"
#include "inspect/identify/search.h"
#include "inspect/models/model.h"
#include "reference/axes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest size of a table that is tried; grids of pictures are smaller. */
enum { BYTES_MOST = 1 << 28, ROWS_MOST = 1 << 20 };

/* Whether rows have positions of their own on each axis. Otherwise they are the places of a grid. */
static bool has_lists(const grid *g) {
  return !g->parts[0].found;
}

static char letter_of(const grid *g, int axis) {
  return grid_letters(g->count)[axis];
}

/* ---- the table ----------------------------------------------------------------------------------- */

static bool read_table(grid *g) {
  const stored *at = table_stored(g->request->table);
  g->dtype = at->dtype;
  g->dim = at->dim;
  const size_t element = posenc_dtype_bytes(at->dtype);
  if (at->rows > ROWS_MOST || at->rows * at->dim > BYTES_MOST / (int64_t)element) return false;
  const size_t row_bytes = (size_t)at->dim * element;
  g->bytes = malloc((size_t)at->rows * row_bytes + 1);
  g->failed = !g->bytes;
  if (g->failed) return false;
  table_rows(g->request->table, 0, at->rows, g->bytes);
  for (const unsigned char *byte = g->bytes; g->zeros < at->rows; byte += row_bytes, g->zeros++) {
    size_t n = 0;
    while (n < row_bytes && byte[n] == 0) n++;
    if (n < row_bytes) break;
  }
  return true;
}

void grid_free_parts(grid *g) {
  for (int a = 0; a < g->count; a++) {
    identity_free(g->parts[a].found);
    table_close(g->parts[a].table);
    free(g->parts[a].file);
    free(g->parts[a].of.columns);
    g->parts[a] = (grid_part){.found = NULL};
  }
  g->count = 0;
}

static void free_grid(grid *g) {
  grid_free_parts(g);
  for (int a = 0; a < POSENC_AXES; a++) free(g->lists[a]);
  free(g->makers);
  free(g->bytes);
}

/* ---- lists --------------------------------------------------------------------------------------- */

/* Sets the columns of each axis. Returns false if memory runs out. */
static bool set_lists(grid *g, const sections *found) {
  for (int a = 0; a < g->count; a++) {
    view *v = &g->parts[a].of;
    *v = (view){.first = g->zeros, .step = 1, .rows = found->axes.axis[a].size};
    v->columns = calloc((size_t)g->dim, sizeof *v->columns);
    g->order[a] = a;
    if (!v->columns) return false;
  }
  for (int64_t c = 0; c < g->dim; c++) {
    bool cosine;
    view *v = &g->parts[axes_axis(&found->axes, columns_index(&found->columns, c, &cosine))].of;
    v->columns[v->count++] = c;
  }
  return true;
}

bool grid_find_lists(grid *g) {
  table_window w;
  sections found;
  g->failed = !window_read(&w, g->request->table);
  if (g->failed) return false;
  /* Positions of rows beyond the window would be unknown. */
  const bool is_found = w.count == w.rows && sections_find(&w, g->request, &found, &g->failed);
  if (is_found) {
    g->held = w.held;
    g->zeros = found.zeros;
    g->columns = found.columns;
    g->axes = found.axes;
    g->count = found.axes.count;
    g->is_one = g->zeros <= 1;
    g->problem = posenc_table(w.rows, 2 * found.columns.pairs);
    g->problem.base = found.formula.base;
    g->problem.layout = found.columns.layout;
    g->problem.first = -g->zeros;
    if (g->zeros) g->problem.padding = -1;
    g->problem.axes = &g->axes;
    g->failed = !set_lists(g, &found);
    memcpy(g->lists, found.positions, sizeof g->lists);
    memset(found.positions, 0, sizeof found.positions);
  }
  if (w.count == w.rows) sections_free(&found);
  window_free(&w);
  return is_found && !g->failed;
}

/* ---- whose it is --------------------------------------------------------------------------------- */

static bool is_near(double x, double y) {
  return fabs(x - y) <= 1e-5 * fabs(y);
}

/* Returns the models that have such a table, or null. */
static const char *models_of(const grid *g) {
  const posenc_problem *problem = &g->problem;
  const posenc_axes *axes = &g->axes;
  const bool pair = g->count == 2, reversed = g->order[0] == g->count - 1,
             both = g->columns.part == COLUMNS_BOTH && problem->layout != POSENC_SPLIT_CS; /* that is a rope cache */
  if (axes->frequencies == POSENC_AXES_CONTINUED && has_lists(g) && g->count == 3)
    return axes->order == POSENC_AXES_CYCLIC ? "Qwen3-VL" : "Qwen2-VL";
  if (axes->frequencies == POSENC_AXES_DEALT) return pair && !reversed ? "Pixtral" : NULL;
  if (axes->frequencies == POSENC_AXES_CONTINUED) return NULL;
  const bool divided = axes->axis[0].divisor > 1.0;
  if (divided && is_near(problem->base, 100.0)) return pair && !reversed && !axes->grouped ? "DINOv3" : NULL;
  if (divided && !both) return NULL;
  if (!both) return pair && !reversed ? "pictures of Qwen2-VL" : NULL;
  if (g->count == 3) return axes->grouped && g->order[1] == 2 ? "CogVideoX in diffusers" : NULL;
  if (problem->layout == POSENC_INTERLEAVED) return pair && !reversed ? "DETR" : NULL;
  if (problem->layout != POSENC_SPLIT || !pair) return NULL;
  if (axes->grouped) return reversed ? "MAE, DiT and diffusers" : "timm with interleave_sin_cos";
  return reversed || divided ? NULL : "timm";
}

/* ---- in words ------------------------------------------------------------------------------------ */

/* Prints "0..14", "64 x 15", "7" or "0, 2 .. 14". */
static void print_run(const double *first, int64_t run, double step, FILE *out) {
  const number_text from = number_of_position(first[0]), to = number_of_position(first[run - 1]);
  if (run == 1)
    fputs(from.text, out);
  else if (step == 0.0)
    fprintf(out, "%" PRId64 " x %s", run, from.text);
  else if (step == 1.0)
    fprintf(out, "%s..%s", from.text, to.text);
  else
    fprintf(out, "%s, %s .. %s", from.text, number_of_position(first[1]).text, to.text);
}

static void print_list(const posenc_axis *axis, FILE *out) {
  enum { SHOWN = 6 };
  int64_t runs = 0;
  double step;
  for (int64_t n = 0, run; n < axis->size; n += run, runs++) {
    run = grid_run(axis->positions + n, axis->size - n, &step);
    if (runs == SHOWN) fputs(" ..", out);
    if (runs >= SHOWN) continue;
    if (runs) fputs(", ", out);
    print_run(axis->positions + n, run, step, out);
  }
  if (runs > SHOWN) fprintf(out, " in %" PRId64 " runs", runs);
}

static void print_zeros(const grid *g, FILE *out) {
  if (g->zeros) fprintf(out, "behind %" PRId64 " row%s of zeros, ", g->zeros, g->zeros == 1 ? "" : "s");
}

static void print_lists(const grid *g, FILE *out) {
  static const char *const parts[] = {"", " (cos)", " (sin)"};
  const maker *first = g->maker_count ? &g->makers[0] : NULL;
  const char *models = models_of(g);
  fprintf(out, "positions on %d axes (%s), ", g->count, grid_letters(g->count));
  print_zeros(g, out);
  fputs("sections of ", out);
  axes_print_sections(&g->axes, out);
  fprintf(out, ", frequencies %s", grid_frequencies[g->axes.frequencies]);
  if (models) fprintf(out, ", as in %s", models);
  fputs("; ", out);
  makers_print(g->makers, g->maker_count, "computed ", out);
  fprintf(out, ", base %s, %s%s", number_of_position(g->problem.base).text, columns_layout_name(&g->columns),
          parts[g->columns.part]);
  if (first && first->equal == first->compared)
    fputs(", bit for bit", out);
  else if (first)
    fprintf(out, ", %.3g %% of elements equal to those of %s and the rest within %.2g",
            100.0 * (double)first->equal / (double)first->compared, first->kernel ? first->kernel->name : "exact",
            first->most);
  for (int a = 0; a < g->count; a++) {
    fprintf(out, "; %c: ", letter_of(g, a));
    print_list(&g->axes.axis[a], out);
  }
}

static void print_grid(const grid *g, FILE *out) {
  char *first = NULL;
  fputs("a grid of ", out);
  for (int a = 0; a < g->count; a++) fprintf(out, "%s%" PRId64, a ? " x " : "", g->parts[a].of.rows);
  fprintf(out, " places (%s), ", grid_letters(g->count));
  print_zeros(g, out);
  fputs("columns in the order ", out);
  for (int n = 0; n < g->count; n++) fputc(letter_of(g, g->order[n]), out);
  const char *models = g->is_one ? models_of(g) : NULL;
  if (models) fprintf(out, ", as in %s", models);
  for (int n = 0; n < g->count; n++) {
    const grid_part *p = &g->parts[g->order[n]];
    char *own = identity_sentence(p->found);
    fprintf(out, "; %c: %s", letter_of(g, g->order[n]),
            !own                               ? "?"
            : first && strcmp(own, first) == 0 ? "the same"
                                               : own);
    if (first)
      free(own);
    else
      first = own;
  }
  free(first);
}

/* ---- the record ---------------------------------------------------------------------------------- */

/* Returns the options by which posenc check compares the table with the problem, or JSON's null. */
static json_t *check_json(const grid *g) {
  const columns *at = &g->columns;
  char *all = g->is_one ? problem_options(&g->problem) : NULL;
  if (!all) return json_null();
  char *told = strstr(all, "--grid "), *behind = told ? strstr(told, " --dim ") : NULL,
       *rest = behind ? strstr(behind + 1, " --") : NULL;
  if (behind) *behind = '\0'; /* rows and columns come from the file */
  static const char *const parts[] = {"", " --part cos", " --part sin"};
  const char *layout = at->part != COLUMNS_BOTH && at->layout == POSENC_INTERLEAVED ? " --layout interleaved" : "";
  json_t *text = told ? json_sprintf("%s%s%s%s", told, rest ? rest : "", parts[at->part], layout) : json_null();
  free(all);
  return text;
}

/* Returns the part of config.json that makes the table, or {"refusal": REASON}. */
static json_t *config_json(const grid *g) {
  fault why = {"its axes are no table of one base"};
  posenc_problem plain = g->problem;
  plain.axes = NULL;
  if (g->is_one && g->axes.frequencies != POSENC_AXES_CONTINUED)
    fault_say(&why, "its frequencies are %s: configs have axes of continued ones (mrope_section)",
              grid_frequencies[g->axes.frequencies]);
  json_t *made = g->is_one && g->axes.frequencies == POSENC_AXES_CONTINUED ? model_fragment(&plain, &why) : NULL;
  if (!made) return json_pack("{s:s}", "refusal", why.text);
  json_t *rope = json_object_get(made, "rope_parameters"), *pairs = json_array();
  for (int n = 0; n < g->count; n++) json_array_append_new(pairs, json_integer(g->axes.axis[n].pairs));
  json_object_set_new(rope, "mrope_section", pairs);
  if (g->axes.order == POSENC_AXES_CYCLIC) json_object_set_new(rope, "mrope_interleaved", json_true());
  return made;
}

/* Describes what differs from check's problem in the table of each axis. Axes that differ alike are told once. */
static void tell_parts(const grid *g, char *text, size_t size) {
  const posenc_problem *asked = g->request->asked;
  char first[sizeof((identity *)0)->agreed] = "";
  bool alike = true;
  if (!asked || asked->axes->count != g->count || asked->axes->frequencies != POSENC_AXES_RESTARTED) return;
  for (int n = 0; n < g->count; n++) {
    const grid_part *p = &g->parts[g->order[n]];
    char own[sizeof first] = "";
    axis_pairs pairs;
    if (!p->found || p->found->verdict != IDENTIFY_TABLE) continue;
    if (axis_pairs_find(&pairs, asked, n)) tell_difference(p->found, &pairs.problem, own, sizeof own);
    axis_pairs_free(&pairs);
    if (n == 0) memcpy(first, own, sizeof first);
    alike = alike && strcmp(own, first) == 0;
    if (*own && !*text) snprintf(text, size, "axis %c: %.180s", letter_of(g, g->order[n]), own);
  }
  if (alike) snprintf(text, size, "%s", first);
}

/* Returns whether the table is what is expected, or how it differs from that. */
static json_t *agreement_json(const grid *g) {
  if (!g->request->expected) return json_null();
  identity *at = identify_places(g->request, g->is_one ? &g->problem : NULL, &g->columns);
  if (!at) return NULL;
  const bool is_none = at->agreement != AGREES && !*at->agreed;
  if (is_none && !g->is_one) tell_parts(g, at->agreed, sizeof at->agreed);
  if (is_none && !g->is_one && !*at->agreed && !g->request->asked)
    snprintf(at->agreed, sizeof at->agreed, "rows are the places of a grid, and its axes no table of one base");
  if (is_none) at->agreement = DISAGREES;
  json_t *agreement = identity_agreement_json(at);
  identity_free(at);
  return agreement;
}

static json_t *runs_json(const posenc_axis *axis) {
  json_t *all = json_array();
  double step;
  for (int64_t n = 0, run; n < axis->size; n += run) {
    run = grid_run(axis->positions + n, axis->size - n, &step);
    json_array_append_new(
        all, json_pack("{s:f, s:f, s:I}", "first", axis->positions[n], "step", step, "count", (json_int_t)run));
  }
  return all;
}

static json_t *axes_json(const grid *g) {
  json_t *all = json_array();
  for (int n = 0; n < g->count; n++) {
    const grid_part *p = &g->parts[g->order[n]];
    const identify_request own = {.table = p->table, .name = g->request->name};
    const char letter[] = {letter_of(g, g->order[n]), '\0'};
    json_t *one = json_pack("{s:s, s:I, s:I, s:I}", "axis", letter, "size", (json_int_t)p->of.rows, "columns",
                            (json_int_t)p->of.count, "first_column", (json_int_t)p->of.columns[0]);
    json_object_set_new(one, has_lists(g) ? "runs" : "table",
                        has_lists(g) ? runs_json(&g->axes.axis[n]) : identity_json(p->found, &own));
    json_array_append_new(all, one);
  }
  return all;
}

/* Adds what all axes have in common. */
static bool add_lists(const grid *g, json_t *record) {
  static const char *const parts[] = {"both", "cos", "sin"};
  json_t *pairs = json_array();
  for (int n = 0; n < g->count; n++) json_array_append_new(pairs, json_integer(g->axes.axis[n].pairs));
  json_t *more = json_pack("{s:f, s:I, s:s, s:s, s:o, s:s, s:s, s:o, s:o}", "base", g->problem.base, "dim",
                           (json_int_t)g->problem.dim, "layout", columns_layout_name(&g->columns), "part",
                           parts[g->columns.part], "sections", pairs, "order", grid_orders[g->axes.order],
                           "frequencies", grid_frequencies[g->axes.frequencies], "closest",
                           closest_json(g->makers, g->maker_count), "makers", makers_json(g->makers, g->maker_count));
  const bool added = more && json_object_update(record, more) == 0;
  json_decref(more);
  return added;
}

static json_t *record_of(const grid *g) {
  const char *tensor = table_tensor(g->request->table);
  const stored *at = table_stored(g->request->table);
  char *sentence = NULL;
  size_t length;
  FILE *out = open_memstream(&sentence, &length);
  if (out) (has_lists(g) ? print_lists : print_grid)(g, out);
  json_t *record = NULL;
  if (out && fclose(out) == 0)
    record =
        json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:o, s:I, s:I, s:s, s:s, s:o, s:o, s:o, s:o}", "schema",
                  "posenc-identify-2", "file", field_name(g->request->name, ""), "tensor",
                  tensor ? field_name(tensor, "") : json_null(), "format", table_format(g->request->table), "verdict",
                  "grid", "sentence", sentence, "reason", json_null(), "rows", (json_int_t)at->rows, "columns",
                  (json_int_t)at->dim, "stored", dtype_name(at->dtype), "held", dtype_name(g->held), "axes",
                  axes_json(g), "check", check_json(g), "config", config_json(g), "agreement", agreement_json(g));
  free(sentence);
  if (!record || !has_lists(g) || add_lists(g, record)) return record;
  json_decref(record);
  return NULL;
}

static json_t *identify_by(const identify_request *request, bool (*find)(grid *g), bool *failed) {
  grid g = {.request = request};
  json_t *record = NULL;
  if (read_table(&g) && find(&g)) {
    grid_find_makers(&g);
    record = g.failed ? NULL : record_of(&g);
    g.failed |= !record;
  }
  *failed = g.failed;
  free_grid(&g);
  return record;
}

static bool find_places(grid *g) {
  if (!grid_find_places(g)) return false;
  grid_find_problem(g);
  return true;
}

json_t *identify_grid(const identify_request *request, bool *failed) {
  return identify_by(request, find_places, failed);
}

json_t *identify_lists(const identify_request *request, bool *failed) {
  return identify_by(request, grid_find_lists, failed);
}
