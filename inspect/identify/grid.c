/* SPDX-License-Identifier: MIT */
/* Identifies a table of several axes, and says in words and in a record what it is. */
#include "common/memory.h"
#include "common/shapes.h"
#include "inspect/identify/identity.h"
#include "inspect/identify/search.h"
#include "inspect/models/model.h"
#include "reference/axes.h"
#include "reference/scaling.h"

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
  g->bytes = memory_take((size_t)at->rows, row_bytes);
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

/* Sets the columns of each axis. */
static void set_lists(grid *g, const sections *found) {
  for (int a = 0; a < g->count; a++) {
    view *v = &g->parts[a].of;
    *v = (view){.first = g->zeros, .step = 1, .rows = found->axes.axis[a].size};
    v->columns = memory_take((size_t)g->dim, sizeof *v->columns);
    g->order[a] = a;
  }
  for (int64_t c = 0; c < g->dim; c++) {
    bool cosine;
    view *v = &g->parts[axes_axis(&found->axes, columns_index(&found->columns, c, &cosine))].of;
    v->columns[v->count++] = c;
  }
}

bool grid_find_lists(grid *g) {
  table_window w;
  sections found;
  window_read(&w, g->request->table, 0);
  /* Positions of rows beyond the window would be unknown. */
  const bool is_found = w.count == w.rows && sections_find(&w, g->request, &found);
  if (is_found) {
    g->held = w.held;
    g->zeros = found.zeros;
    g->columns = found.columns;
    g->axes = found.axes;
    g->count = found.axes.count;
    g->is_one = g->zeros <= 1;
    g->problem = posenc_table(w.rows, 2 * found.columns.pairs);
    g->problem.base = found.formula.base;
    if (found.expected) {
      g->problem.base = found.expected->base;
      g->problem.scale = found.expected->scale;
      g->problem.scaling = found.expected->scaling;
    }
    g->problem.scale *= found.scale;
    if (fabs(found.amplitude - attention_of(&g->problem)) > 0.0) g->problem.scaling.attention = found.amplitude;
    g->problem.layout = found.columns.layout;
    g->problem.first = -g->zeros;
    if (g->zeros) g->problem.padding = -1;
    g->problem.axes = &g->axes;
    set_lists(g, &found);
    memcpy(g->lists, found.positions, sizeof g->lists);
    memset(found.positions, 0, sizeof found.positions);
  }
  if (w.count == w.rows) sections_free(&found);
  window_free(&w);
  return is_found;
}

/* ---- whose it is --------------------------------------------------------------------------------- */

/* Returns the models that have such a table, or null. */
static const char *models_of(const grid *g) {
  const posenc_problem *problem = &g->problem;
  const posenc_axes *axes = &g->axes;
  const bool pair = g->count == 2, reversed = g->order[0] == g->count - 1,
             both = g->columns.part == TABLE_BOTH && problem->layout != POSENC_SPLIT_CS; /* that is a rope cache */
  if (axes->frequencies == POSENC_AXES_CONTINUED && has_lists(g) && g->count == 3)
    return axes->order == POSENC_AXES_CYCLIC ? "Qwen3-VL" : "Qwen2-VL";
  if (axes->frequencies == POSENC_AXES_DEALT) return pair && !reversed ? "Pixtral" : NULL;
  if (axes->frequencies == POSENC_AXES_CONTINUED) return NULL;
  const bool divided = axes->axis[0].divisor > 1.0;
  if (divided && grid_is_near(problem->base, 100.0)) return pair && !reversed && !axes->grouped ? "DINOv3" : NULL;
  if (divided && !both) return NULL;
  if (!both) return pair && !reversed ? "pictures of Qwen2-VL" : NULL;
  if (g->count == 3) return axes->grouped && g->order[1] == 2 ? "CogVideoX in diffusers" : NULL;
  if (problem->layout == POSENC_INTERLEAVED) return pair && !reversed ? "DETR" : NULL;
  if (problem->layout != POSENC_SPLIT || !pair) return NULL;
  if (axes->grouped) return reversed ? "MAE, DiT and diffusers" : "timm with interleave_sin_cos";
  return reversed || divided ? NULL : "timm";
}

/* Whether all values are multiplied by a number that no scaling gives. */
static bool is_multiplied(const grid *g) {
  const posenc_scaling *s = &g->problem.scaling;
  return s->kind == POSENC_SCALING_NONE && s->attention > 0.0 && !number_is_one(s->attention);
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
  if (is_multiplied(g)) fprintf(out, ", times %s", number_of_position(g->problem.scaling.attention).text);
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
    fprintf(out, "; %c: %s", letter_of(g, g->order[n]), first && strcmp(own, first) == 0 ? "the same" : own);
    if (first)
      free(own);
    else
      first = own;
  }
  free(first);
}

/* ---- the record ---------------------------------------------------------------------------------- */

/* Returns the options by which posenc check compares the table with the problem, or null if there are none. */
static const char *told_options(const grid *g, record_memory *in) {
  char *all = g->is_one ? problem_options(&g->problem) : NULL;
  if (!all) return NULL;
  char *told = strstr(all, "--grid "), *behind = told ? strstr(told, " --dim ") : NULL,
       *found = behind ? strstr(behind + 1, " --") : NULL;
  const char *rest = found ? found : "";
  if (behind) *behind = '\0'; /* rows and columns come from the file */
  const char *text = told ? record_format(in, "%s%s%s", told, rest, columns_options(&g->columns)) : NULL;
  free(all);
  return text;
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
static record_agreement agreement_of(const grid *g, record_memory *in) {
  if (!g->request->expected) return (record_agreement){.there = false};
  identity *at = identify_places(g->request, g->is_one ? &g->problem : NULL, &g->columns);
  const bool is_none = at->agreement != AGREES && !*at->agreed;
  if (is_none && !g->is_one) tell_parts(g, at->agreed, sizeof at->agreed);
  if (is_none && !g->is_one && !*at->agreed && !g->request->asked)
    snprintf(at->agreed, sizeof at->agreed, "rows are the places of a grid, and its axes no table of one base");
  if (is_none) at->agreement = DISAGREES;
  const record_agreement agreement = agreement_record(at, in);
  identity_free(at);
  return agreement;
}

static void record_runs(const posenc_axis *axis, record_found_axis *made, record_memory *in) {
  record_position_run *all = record_allocate(in, (size_t)axis->size, sizeof *all);
  double step;
  for (int64_t n = 0, run; n < axis->size; n += run) {
    run = grid_run(axis->positions + n, axis->size - n, &step);
    all[made->runs_count++] =
        (record_position_run){.there = true, .first = axis->positions[n], .step = step, .count = run};
  }
  made->runs = all;
}

static const record_found_axis *axes_of(const grid *g, record_memory *in) {
  record_found_axis *all = record_allocate(in, (size_t)g->count, sizeof *all);
  for (int n = 0; n < g->count; n++) {
    const grid_part *p = &g->parts[g->order[n]];
    const identify_request own = {.table = p->table, .name = g->request->name};
    all[n] = (record_found_axis){.there = true,
                                 .axis = record_format(in, "%c", letter_of(g, g->order[n])),
                                 .size = p->of.rows,
                                 .columns = p->of.count,
                                 .first_column = p->of.columns[0]};
    if (has_lists(g)) {
      record_runs(&g->axes.axis[n], &all[n], in);
      continue;
    }
    record_identified *table = record_allocate(in, 1, sizeof *table);
    *table = identity_record(p->found, &own, in);
    all[n].table = table;
  }
  return all;
}

/* Adds what all axes have in common. */
static void record_lists(const grid *g, record_identified *made, record_memory *in) {
  int64_t *pairs = record_allocate(in, (size_t)g->count, sizeof *pairs);
  for (int n = 0; n < g->count; n++) pairs[n] = g->axes.axis[n].pairs;
  made->base = g->problem.base;
  made->dim = g->problem.dim;
  made->layout = columns_layout_name(&g->columns);
  made->part = identity_parts[g->columns.part];
  made->sections = pairs;
  made->sections_count = (size_t)g->count;
  made->order = grid_orders[g->axes.order];
  made->frequencies = grid_frequencies[g->axes.frequencies];
  makers_record(g->makers, g->maker_count, made, in);
}

static record_identified record_of(const grid *g, record_memory *in) {
  record_identified made = file_record(g->request, in);
  char *sentence = NULL;
  size_t length;
  FILE *out = allocated(open_memstream(&sentence, &length));
  (has_lists(g) ? print_lists : print_grid)(g, out);
  if (fclose(out) != 0) memory_end();
  made.verdict = "grid";
  made.sentence = record_format(in, "%s", sentence);
  made.held = dtype_name(g->held);
  made.axes = axes_of(g, in);
  made.axes_count = (size_t)g->count;
  made.check = told_options(g, in);
  made.has_check = true;
  const char *refusal = g->is_one ? NULL : "its axes are no table of one base";
  if (is_multiplied(g)) refusal = identity_amplitude_refusal(g->problem.scaling.attention, in);
  made.config = config_record(&g->problem, refusal, in);
  made.agreement = agreement_of(g, in);
  free(sentence);
  if (has_lists(g)) record_lists(g, &made, in);
  return made;
}

static bool identify_by(const identify_request *request, bool (*find)(grid *g), record_identified *made,
                        record_memory *in) {
  grid g = {.request = request};
  const bool is_found = read_table(&g) && find(&g);
  if (is_found) {
    grid_find_makers(&g);
    *made = record_of(&g, in);
  }
  free_grid(&g);
  return is_found;
}

static bool find_places(grid *g) {
  if (!grid_find_places(g)) return false;
  grid_find_problem(g);
  return true;
}

bool identify_grid(const identify_request *request, record_identified *made, record_memory *in) {
  return identify_by(request, find_places, made, in);
}

bool identify_lists(const identify_request *request, record_identified *made, record_memory *in) {
  return identify_by(request, grid_find_lists, made, in);
}
