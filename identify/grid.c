/* SPDX-License-Identifier: MIT */
#include "identify/grid.h"

#include "common/field.h"
#include "common/grid.h"
#include "common/shapes.h"
#include "files/npy.h"
#include "identify/identify.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest size of a table that is tried; grids of pictures are smaller. */
enum { BYTES_MOST = 1 << 28, ROWS_MOST = 1 << 20 };

/* Some rows, at equal steps, and some columns of the table. */
typedef struct view {
  const unsigned char *bytes;
  size_t element;
  int64_t dim; /* of the table */
  int64_t first, step, rows;
  int64_t *columns, count;
} view;

/* An axis: its rows and columns, and what they are. */
typedef struct part {
  view of;
  unsigned char *file; /* a .npy file of them, in memory */
  table_file *table;
  identity *found;
} part;

typedef struct grid {
  unsigned char *bytes;
  int64_t zeros; /* rows of zeros before the places */
  part parts[POSENC_AXES];
  int count;              /* of axes; the last one changes from row to row */
  int order[POSENC_AXES]; /* of their columns */
  bool failed;            /* memory ran out */
} grid;

static const unsigned char *element_of(const view *v, int64_t row, int64_t column) {
  return v->bytes + (size_t)((v->first + row * v->step) * v->dim + v->columns[column]) * v->element;
}

static bool are_equal(const view *v, int64_t column, int64_t row, int64_t other) {
  return memcmp(element_of(v, row, column), element_of(v, other, column), v->element) == 0;
}

/* ---- which columns belong to which axis ----------------------------------------------------------- */

enum { SLOW = 1, FAST = 2 };

/* Is the column the same in blocks of so many rows, or do its rows come again after so many? A set of both. */
static int kind_of(const view *v, int64_t column, int64_t width) {
  int kind = SLOW | FAST;
  for (int64_t row = 0; row < v->rows && kind; row++) {
    if (!are_equal(v, column, row, row - row % width)) kind &= ~SLOW;
    if (row >= width && !are_equal(v, column, row, row - width)) kind &= ~FAST;
  }
  return kind;
}

/* Kinds of all columns in a grid of that width; those that do not change at all are of the kind of the one before, or
   behind. False if one is neither, or all are of one kind. */
static bool find_kinds(const view *v, int64_t width, unsigned char *kinds) {
  int64_t slow = 0, fast = 0;
  for (int64_t c = 0; c < v->count; c++) {
    kinds[c] = (unsigned char)kind_of(v, c, width);
    if (!kinds[c]) return false;
    slow += kinds[c] == SLOW;
    fast += kinds[c] == FAST;
  }
  for (int64_t c = 1; c < v->count; c++)
    if (kinds[c] == (SLOW | FAST)) kinds[c] = kinds[c - 1];
  for (int64_t c = v->count - 1; c > 0; c--)
    if (kinds[c - 1] == (SLOW | FAST)) kinds[c - 1] = kinds[c];
  return slow >= 2 && fast >= 2;
}

/* Rows that have the value of the first. */
static int64_t run_of(const view *v, int64_t column) {
  int64_t run = 1;
  while (run < v->rows && are_equal(v, column, run, 0)) run++;
  return run;
}

/* The width of a grid, with the kinds of its columns; 0 if it is none. `runs` has room for one of each column. */
static int64_t find_width(const view *v, unsigned char *kinds, int64_t *runs) {
  int64_t tried = 1;
  for (int64_t c = 0; c < v->count; c++) runs[c] = run_of(v, c);
  for (;;) { /* the next longer run each time */
    int64_t width = v->rows;
    for (int64_t c = 0; c < v->count; c++)
      if (runs[c] > tried && runs[c] < width) width = runs[c];
    if (width == v->rows) return 0;
    if (v->rows % width == 0 && find_kinds(v, width, kinds)) return width;
    tried = width;
  }
}

/* The columns of a kind; rows are set by the caller. */
static bool take_kind(const view *v, const unsigned char *kinds, int kind, view *taken) {
  *taken = *v;
  taken->count = 0;
  taken->columns = calloc((size_t)v->count, sizeof *taken->columns);
  for (int64_t c = 0; taken->columns && c < v->count; c++)
    if (kinds[c] == kind) taken->columns[taken->count++] = v->columns[c];
  return taken->columns;
}

/* Divides the view into `most` axes at most, slow ones first; takes its columns. */
static void find_axes(grid *g, view *v, int most) {
  unsigned char *kinds = calloc((size_t)v->count + 1, 1);
  int64_t *runs = calloc((size_t)v->count + 1, sizeof *runs);
  g->failed |= !kinds || !runs;
  const int64_t width = g->failed || most == 1 ? 0 : find_width(v, kinds, runs);
  view slow = {0}, fast = {0};
  if (width) g->failed |= !take_kind(v, kinds, SLOW, &slow) || !take_kind(v, kinds, FAST, &fast);
  free(kinds);
  free(runs);
  if (!width || g->failed) {
    free(slow.columns);
    free(fast.columns);
    g->parts[g->count++].of = *v;
    return;
  }
  free(v->columns);
  fast.rows = width;
  slow.rows = v->rows / width;
  slow.step = v->step * width;
  find_axes(g, &slow, most - 1);
  g->parts[g->count++].of = fast;
}

/* Reads the table and divides it. */
static bool find_grid(grid *g, table_file *table) {
  const stored *at = table_stored(table);
  const size_t element = posenc_dtype_bytes(at->dtype);
  if (at->rows > ROWS_MOST || at->rows * at->dim > BYTES_MOST / (int64_t)element) return false;
  const size_t row_bytes = (size_t)at->dim * element;
  g->bytes = malloc((size_t)at->rows * row_bytes + 1);
  view all = {.bytes = g->bytes, .element = element, .dim = at->dim, .step = 1, .count = at->dim};
  all.columns = calloc((size_t)at->dim, sizeof *all.columns);
  g->failed = !g->bytes || !all.columns;
  if (g->failed) {
    free(all.columns);
    return false;
  }
  table_rows(table, 0, at->rows, g->bytes);
  for (int64_t c = 0; c < at->dim; c++) all.columns[c] = c;
  for (const unsigned char *byte = g->bytes; g->zeros < at->rows; byte += row_bytes, g->zeros++) {
    size_t n = 0;
    while (n < row_bytes && byte[n] == 0) n++;
    if (n < row_bytes) break;
  }
  all.first = g->zeros;
  all.rows = at->rows - g->zeros;
  find_axes(g, &all, POSENC_AXES);
  return !g->failed && g->count > 1;
}

static void free_grid(grid *g) {
  for (int a = 0; a < g->count; a++) {
    identity_free(g->parts[a].found);
    table_close(g->parts[a].table);
    free(g->parts[a].file);
    free(g->parts[a].of.columns);
  }
  free(g->bytes);
}

/* ---- what each axis is ---------------------------------------------------------------------------- */

/* As a table of its own. */
static bool identify_part(part *p, posenc_dtype dtype, const identify_request *request) {
  const view *v = &p->of;
  char header[NPY_HEADER_MAX];
  const size_t length = npy_header(dtype, (const int64_t[]){v->rows, v->count}, 2, header),
               size = length + (size_t)(v->rows * v->count) * v->element;
  fault why;
  p->file = malloc(size);
  if (!p->file) return false;
  memcpy(p->file, header, length);
  for (int64_t r = 0; r < v->rows; r++)
    for (int64_t c = 0; c < v->count; c++)
      memcpy(p->file + length + (size_t)(r * v->count + c) * v->element, element_of(v, r, c), v->element);
  p->table = table_open_memory(p->file, size, NULL, TABLE_WHOLE, &why);
  if (!p->table) return false;
  identify_request own = *request;
  own.table = p->table;
  p->found = identify(&own);
  return p->found;
}

/* False if one is no table, unless it has too few rows to tell, or none is. */
static bool identify_parts(grid *g, const identify_request *request) {
  int tables = 0;
  for (int a = 0; a < g->count; a++) {
    g->failed = !identify_part(&g->parts[a], table_stored(request->table)->dtype, request);
    if (g->failed) return false;
    const identity *found = g->parts[a].found;
    const bool is_table = identity_is_table(found) && !found->positions;
    if (!is_table && found->verdict != IDENTIFY_FEW) return false;
    tables += is_table;
  }
  if (!tables) return false;
  for (int a = 0; a < g->count; a++) {
    int at = a;
    for (; at > 0 && g->parts[g->order[at - 1]].of.columns[0] > g->parts[a].of.columns[0]; at--)
      g->order[at] = g->order[at - 1];
    g->order[at] = a;
  }
  return true;
}

/* ---- as one table --------------------------------------------------------------------------------- */

static bool is_near(double x, double y) {
  return fabs(x - y) <= 1e-5 * fabs(y);
}

static const formula *formula_of(const grid *g, int column) {
  return &g->parts[g->order[column]].found->how.formula;
}

static bool is_contiguous(const view *v, int64_t from, int64_t to) {
  for (int64_t c = from + 1; c < to; c++)
    if (v->columns[c] != v->columns[c - 1] + 1) return false;
  return true;
}

/* Are the columns of each axis side by side? Else they are to be so in each half. False if they are not. */
static bool find_columns(const grid *g, bool *grouped) {
  bool whole = true, halves = true;
  for (int a = 0; a < g->count; a++) {
    const view *v = &g->parts[a].of;
    const int64_t half = v->count / 2;
    whole &= is_contiguous(v, 0, v->count);
    halves &= v->count % 2 == 0 && is_contiguous(v, 0, half) && is_contiguous(v, half, v->count) &&
              v->columns[half] == v->columns[0] + v->dim / 2;
  }
  *grouped = whole;
  return whole || halves;
}

/* How positions of axes are made of coordinates. */
typedef enum spacing {
  CENTRED,    /* centres of `size` cells from -1 to 1, times 2 pi: DINOv3 */
  NORMALISED, /* 1, 2 … divided by the last and 1e-6, times 2 pi: DETR */
  PLAIN,      /* whole numbers, all times the same scale */
  SIZED,      /* 0, b, 2 b … divided by the size: those of a grid of b, in diffusers */
  FORMS
} spacing;

static const double turn = 0x1.921fb54442d18p+2;

/* Are the positions of an axis of that form? Sets their first one, step, divisor and scale. */
static bool has_form(const grid *g, int n, spacing form, double size, double set[4]) {
  const start *at = &g->parts[g->order[n]].found->how.start;
  const double scale = formula_of(g, n)->scale, sized = rint(scale * size);
  const bool whole = start_is_one(at);
  const double first = whole ? (double)at->least : at->first;
  switch (form) {
  case CENTRED:
    memcpy(set, (const double[]){1.0 - size, 2.0, size, turn}, 4 * sizeof *set);
    return is_near(scale * size / 2.0, turn) && (whole || !start_is_whole(at)) && fabs(first - set[0] / 2.0) < 1e-3;
  case NORMALISED:
    memcpy(set, (const double[]){1.0, 1.0, size + 1e-6, turn}, 4 * sizeof *set);
    return is_near(scale * size, turn) && whole && at->least == 1;
  case PLAIN:
    memcpy(set, (const double[]){first, 1.0, 1.0, formula_of(g, 0)->scale}, 4 * sizeof *set);
    return whole;
  case SIZED:
    memcpy(set, (const double[]){0.0, sized, size, 1.0}, 4 * sizeof *set);
    return whole && at->least == 0 && sized >= 1.0 && is_near(scale * size, sized);
  case FORMS:
    break;
  }
  return false;
}

/* Sets positions, divisors and scale. False if not all axes have that form, or memory runs out. */
static bool set_positions(const grid *g, spacing form, posenc_problem *problem, posenc_axes *axes,
                          double *lists[POSENC_AXES]) {
  double set[4];
  for (int n = 0; n < g->count; n++)
    if (!has_form(g, n, form, (double)axes->axis[n].size, set)) return false;
  for (int n = 0; n < g->count; n++) {
    posenc_axis *axis = &axes->axis[n];
    has_form(g, n, form, (double)axis->size, set);
    axis->divisor = set[2];
    problem->scale = set[3];
    free(lists[n]);
    axis->positions = lists[n] = calloc((size_t)axis->size, sizeof *lists[n]);
    if (!lists[n]) return false;
    for (int64_t k = 0; k < axis->size; k++) lists[n][k] = set[0] + set[1] * (double)k;
  }
  return true;
}

/* Frequencies that are restarted on each axis have the same base, and the scale that positions have left; else it is
   the base of all columns. False if neither they nor other frequencies of one base explain them. */
static bool set_frequencies(const grid *g, spacing form, posenc_problem *problem, posenc_axes *axes) {
  const double all = (double)problem->dim / 2.0, first = formula_of(g, 0)->base,
               of_all = pow(first, all / (double)axes->axis[0].pairs);
  bool restarted = true, continued = form == PLAIN, dealt = form == PLAIN;
  double before = 0.0;
  for (int n = 0; n < g->count; n++) {
    const formula *f = formula_of(g, n);
    const double pairs = (double)axes->axis[n].pairs, relative = f->scale / formula_of(g, 0)->scale;
    if (f->scaling.kind != POSENC_SCALING_NONE || f->shift > 0.0 || f->shift < 0.0) return false;
    restarted &= is_near(f->base, first) && (form != PLAIN || is_near(relative, 1.0));
    dealt &= is_near(f->base, first) && is_near(relative, pow(first, -n / all)) && is_near(pairs * g->count, all);
    continued &= is_near(pow(f->base, all / pairs), of_all) && is_near(relative, pow(of_all, -before / all));
    before += pairs;
  }
  problem->base = restarted || dealt ? first : plainest(of_all, 1e-5).value;
  axes->frequencies = restarted ? POSENC_AXES_RESTARTED : continued ? POSENC_AXES_CONTINUED : POSENC_AXES_DEALT;
  return restarted || continued || dealt;
}

/* The problem that all axes are together. False if no problem is. */
static bool find_problem(const grid *g, posenc_problem *problem, posenc_axes *axes, double *lists[POSENC_AXES]) {
  const columns *first = &g->parts[g->order[0]].found->how.columns;
  int64_t stride = 1, pairs = 0;
  bool whole;
  *axes = posenc_grid(1, (const int64_t[]){1}, 2);
  axes->count = g->count;
  for (int a = g->count - 1; a >= 0; a--) {
    int column = 0;
    while (g->order[column] != a) column++;
    const columns *own = &g->parts[a].found->how.columns;
    axes->axis[column] = (posenc_axis){own->pairs, g->parts[a].of.rows, stride, NULL, 1.0};
    stride *= g->parts[a].of.rows;
    pairs += own->pairs;
    if (g->parts[a].found->verdict != IDENTIFY_TABLE) return false;
    if (own->layout != first->layout || own->part != first->part || own->dim % 2) return false;
  }
  *problem = posenc_table(stride + g->zeros, 2 * pairs);
  problem->first = -g->zeros;
  if (g->zeros == 1) problem->padding = -1;
  problem->layout = first->layout;
  problem->axes = axes;
  const bool is_split = first->layout == POSENC_SPLIT || first->layout == POSENC_SPLIT_CS;
  if (g->zeros > 1 || !find_columns(g, &whole)) return false;
  axes->grouped = whole && is_split && first->part == COLUMNS_BOTH;
  if (whole && first->layout == POSENC_DUPLICATED) return false; /* each axis is duplicated by itself */
  for (spacing form = CENTRED; form < FORMS; form++)
    if (set_positions(g, form, problem, axes, lists) && set_frequencies(g, form, problem, axes)) return true;
  return false;
}

/* Models that have such a table, or null. */
static const char *models_of(const grid *g, const posenc_problem *problem) {
  const posenc_axes *axes = problem->axes;
  const bool pair = g->count == 2, reversed = g->order[0] == g->count - 1,
             both = g->parts[0].found->how.columns.part == COLUMNS_BOTH;
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

/* ---- the record ----------------------------------------------------------------------------------- */

static char letter_of(const grid *g, int axis) {
  static const char *const letters[] = {"", "l", "hw", "thw", "tdhw"};
  return letters[g->count][axis];
}

/* The options by which posenc check holds the table to it, or null. */
static json_t *check_json(const grid *g, const posenc_problem *problem) {
  const columns *at = &g->parts[0].found->how.columns;
  char *all = problem_options(problem);
  if (!all) return NULL;
  char *told = strstr(all, "--grid "), *behind = told ? strstr(told, " --dim ") : NULL,
       *rest = behind ? strstr(behind + 1, " --") : NULL;
  if (behind) *behind = '\0'; /* rows and columns are the file's */
  static const char *const parts[] = {"", " --part cos", " --part sin"};
  const char *layout = at->part != COLUMNS_BOTH && at->layout == POSENC_INTERLEAVED ? " --layout interleaved" : "";
  json_t *text = told ? json_sprintf("%s%s%s%s", told, rest ? rest : "", parts[at->part], layout) : NULL;
  free(all);
  return text;
}

static void print_sentence(const grid *g, const posenc_problem *problem, FILE *out) {
  char *first = NULL;
  fputs("a grid of ", out);
  for (int a = 0; a < g->count; a++) fprintf(out, "%s%" PRId64, a ? " x " : "", g->parts[a].of.rows);
  fprintf(out, " places (%.*s), ", g->count, g->count == 2 ? "hw" : g->count == 3 ? "thw" : "tdhw");
  if (g->zeros) fprintf(out, "behind %" PRId64 " row%s of zeros, ", g->zeros, g->zeros == 1 ? "" : "s");
  fputs("columns in the order ", out);
  for (int n = 0; n < g->count; n++) fputc(letter_of(g, g->order[n]), out);
  const char *models = problem ? models_of(g, problem) : NULL;
  if (models) fprintf(out, ", as in %s", models);
  for (int n = 0; n < g->count; n++) {
    const part *p = &g->parts[g->order[n]];
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

static json_t *axes_json(const grid *g, const identify_request *request) {
  json_t *all = json_array();
  for (int n = 0; n < g->count; n++) {
    const part *p = &g->parts[g->order[n]];
    const identify_request own = {.table = p->table, .name = request->name};
    const char letter[] = {letter_of(g, g->order[n]), '\0'};
    json_array_append_new(all, json_pack("{s:s, s:I, s:I, s:I, s:o}", "axis", letter, "size", (json_int_t)p->of.rows,
                                         "columns", (json_int_t)p->of.count, "first_column",
                                         (json_int_t)p->of.columns[0], "table", identity_json(p->found, &own)));
  }
  return all;
}

static json_t *record_of(const grid *g, const identify_request *request) {
  const identity *first = g->parts[0].found;
  const char *tensor = table_tensor(request->table);
  const stored *at = table_stored(request->table);
  double *lists[POSENC_AXES] = {NULL};
  posenc_axes axes;
  posenc_problem problem;
  char *sentence = NULL;
  size_t length;
  const bool is_one = find_problem(g, &problem, &axes, lists);
  FILE *out = open_memstream(&sentence, &length);
  if (out) print_sentence(g, is_one ? &problem : NULL, out);
  json_t *record = NULL;
  if (out && fclose(out) == 0)
    record = json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:o, s:I, s:I, s:s, s:s, s:o, s:o}", "schema",
                       "posenc-identify-2", "file", field_name(request->name, ""), "tensor",
                       tensor ? field_name(tensor, "") : json_null(), "format", table_format(request->table), "verdict",
                       "grid", "sentence", sentence, "reason", json_null(), "rows", (json_int_t)at->rows, "columns",
                       (json_int_t)at->dim, "stored", dtype_name(at->dtype), "held", dtype_name(first->held), "axes",
                       axes_json(g, request), "check", is_one ? check_json(g, &problem) : json_null());
  free(sentence);
  for (int a = 0; a < POSENC_AXES; a++) free(lists[a]);
  return record;
}

json_t *identify_grid(const identify_request *request, bool *failed) {
  grid g = {0};
  json_t *record = NULL;
  if (find_grid(&g, request->table) && identify_parts(&g, request)) {
    record = record_of(&g, request);
    g.failed |= !record;
  }
  *failed = g.failed;
  free_grid(&g);
  return record;
}
