/* SPDX-License-Identifier: MIT */
#include "reports/sections/portraits.h"

#include "common/field.h"
#include "reports/model/encoding.h"
#include "reports/page/plot.h"
#include "reports/page/words.h"

#include <stdlib.h>

static const char sine_colour[] = "#0072b2", cosine_colour[] = "#d55e00";

static const json_t *encoding_of(const json_t *document) {
  return json_object_get(document, "encoding");
}

static double element(const json_t *pair, size_t index) {
  return json_number_value(json_array_get(pair, index));
}

/* Pairs, as a data block of that name. */
static void write_pairs(FILE *script, const char *name, const json_t *pairs) {
  fprintf(script, "$%s << EOD\n", name);
  for (size_t i = 0; i < json_array_size(pairs); i++) {
    const json_t *pair = json_array_get(pairs, i);
    fprintf(script, "%.17g %.17g\n", element(pair, 0), element(pair, 1));
  }
  fputs("EOD\n", script);
}

/* ---- the table itself ---- */

/* Rows of the heatmap, of the waves, of the circles; and the frequency indices of the latter two. */
enum { MAP_ROWS = 128, WAVE_ROWS = 200, CIRCLE_ROWS = 13 };
static const int wave_indices[] = {0, 8, 16, 24, 32}, circle_indices[] = {0, 8, 16};
enum {
  WAVES = sizeof wave_indices / sizeof *wave_indices,
  CIRCLES = sizeof circle_indices / sizeof *circle_indices,
  WAVE_HEIGHT = 96,
  CIRCLE_HEIGHT = 270,
};

/* The first rows of all columns, as a data block. */
static void write_table(FILE *script, const double *table, int rows) {
  fputs("$table << EOD\n", script);
  for (int i = 0; i < rows * ENCODING_DIM; i++)
    fprintf(script, "%.4f%c", table[i], i % ENCODING_DIM == ENCODING_DIM - 1 ? '\n' : ' ');
  fputs("EOD\n", script);
}

static char *draw_map(const double *table) {
  FILE *script = plot_begin("encoding", PLOT_HEIGHT);
  if (!script) return NULL;
  write_table(script, table, MAP_ROWS);
  fprintf(script,
          "set xlabel 'column'\nset ylabel 'position'\nset xrange [-0.5:%d.5]\nset yrange [%d.5:-0.5]\n"
          "set xtics 16\nset ytics 16\nunset grid\nset cbrange [-1:1]\nset cbtics 0.5\n"
          "set palette defined (-1 '#b2182b', -0.5 '#f4a582', 0 '#f7f7f7', 0.5 '#92c5de', 1 '#2166ac')\n"
          "plot $table matrix with image notitle\n",
          ENCODING_DIM - 1, MAP_ROWS - 1);
  return plot_finish(
      script, "encoding",
      "Heatmap: values of the encoding from -1 to 1, positions downwards, columns to the right; fast waves on "
      "the left, slow ones on the right");
}

static char *draw_columns(const double *table) {
  FILE *script = plot_begin("columns", WAVES * WAVE_HEIGHT + 40);
  if (!script) return NULL;
  write_table(script, table, WAVE_ROWS);
  fprintf(script,
          "set xrange [0:%d]\nset yrange [-1.15:1.15]\nset ytics 1\nset lmargin 6\nset rmargin 2\nset tmargin 1.6\nset "
          "bmargin 0.4\n"
          "set format x ''\nunset key\nset multiplot layout %d,1 margins 0.09,0.98,0.11,0.95 spacing 0,0.05\n",
          WAVE_ROWS - 1, WAVES);
  for (int i = 0; i < WAVES; i++) {
    const int sine = 2 * wave_indices[i], cosine = sine + 1;
    if (i == WAVES - 1) fputs("set format x '%g'\nset xlabel 'position'\n", script);
    fprintf(script,
            "set title '{/:Bold column %d}, sine, and column %d, cosine, dashed' font ',13' offset 0,-0.8\n"
            "plot $table using 0:%d with lines linecolor rgb '%s', '' using 0:%d with lines dashtype 2 linecolor rgb "
            "'%s'\n",
            sine, cosine, sine + 1, sine_colour, cosine + 1, cosine_colour);
  }
  fputs("unset multiplot\n", script);
  return plot_finish(script, "columns",
                     "Line charts, one below the other: sine and cosine columns against position, each pair slower "
                     "than the one above");
}

static void write_circle(FILE *script, const double *table, int index) {
  fprintf(script, "$circle%d << EOD\n", index);
  for (int p = 0; p < CIRCLE_ROWS; p++) {
    const double *pair = table + p * ENCODING_DIM + 2 * index;
    fprintf(script, "%d %.6f %.6f\n", p, pair[1], pair[0]);
  }
  fputs("EOD\n", script);
}

/* Slow pairs have no room for the number of every position. */
static int numbered_every(double frequency) {
  return frequency < 0.2 ? 4 : 1;
}

static char *draw_circles(const json_t *encoding, const double *table) {
  const json_t *frequencies = json_object_get(encoding, "frequencies");
  FILE *script = plot_begin("circle", CIRCLE_HEIGHT);
  if (!script) return NULL;
  for (int i = 0; i < CIRCLES; i++) write_circle(script, table, circle_indices[i]);
  fprintf(script,
          "set xrange [-1.35:1.35]\nset yrange [-1.35:1.35]\nset size ratio -1\nset xtics 1\nset ytics 1\nunset key\n"
          "set multiplot layout 1,%d margins 0.06,0.99,0.2,0.88 spacing 0.06,0\nset xlabel 'cosine'\nset ylabel 'sine' "
          "offset 1.5,0\n",
          CIRCLES);
  for (int i = 0; i < CIRCLES; i++) {
    const int index = circle_indices[i];
    const double frequency = field_number(json_array_get(frequencies, (size_t)index), "frequency");
    fprintf(script,
            "set title 'index %d: %s per position' font ',13' offset 0,-0.5\n"
            "plot $circle%d using (0):(0):(1) every ::0::0 with circles fillstyle empty border rgb '#808080', "
            "'' using (0):(0):2:3 every ::0::1 with vectors nohead linecolor rgb '#808080', "
            "'' using 2:3 with points pointtype 7 pointsize 0.6 linecolor rgb '%s', "
            "'' using ($2*1.2):($3*1.2):1 every %d with labels font ',12'\n"
            "unset ylabel\n",
            index, words_significant(frequency, 3).text, index, sine_colour, numbered_every(frequency));
  }
  fputs("unset multiplot\n", script);
  return plot_finish(script, "circle",
                     "Three unit circles: the pair of cosine and sine of the first positions, numbered, each turned "
                     "from the last by the same angle, which is smaller from circle to circle");
}

/* ---- what was computed of it ---- */

static char *draw_wavelengths(const json_t *encoding) {
  const json_t *all = json_object_get(encoding, "frequencies");
  FILE *script = plot_begin("wavelength", PLOT_HEIGHT);
  if (!script) return NULL;
  fputs("$frequencies << EOD\n", script);
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *one = json_array_get(all, i);
    fprintf(script, "%zu %.17g %.17g %.17g\n", i, field_number(one, "frequency"), field_number(one, "turn"),
            field_number(one, "wavelength"));
  }
  fprintf(
      script,
      "EOD\nset xlabel 'frequency index'\nset xrange [0:%d]\nset xtics 8\nset logscale y 10\nset format y '10^{%%L}'\n"
      "plot $frequencies using 1:4 with lines linewidth 2 linecolor rgb '%s' title 'wavelength, positions', "
      "'' using 1:2 with lines dashtype 2 linewidth 2 linecolor rgb '%s' title 'frequency, radians per position', "
      "'' using 1:3 with points pointtype 6 pointsize 0.5 linecolor rgb '%s' title 'turn from row 0 to row 1 of the "
      "table'\n",
      ENCODING_INDICES - 1, sine_colour, cosine_colour, cosine_colour);
  return plot_finish(script, "wavelength",
                     "Line chart: wavelength rising and frequency falling against frequency index, both straight on a "
                     "logarithmic axis");
}

static double wavelength_of(const json_t *encoding, const json_t *column) {
  const json_t *all = json_object_get(encoding, "frequencies");
  return field_number(json_array_get(all, (size_t)json_integer_value(json_object_get(column, "index"))), "wavelength");
}

static char *draw_spectrum(const json_t *encoding) {
  static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"};
  const json_t *spectrum = json_object_get(encoding, "spectrum"), *columns = json_object_get(spectrum, "columns");
  FILE *script = plot_begin("spectrum", PLOT_HEIGHT);
  if (!script) return NULL;
  const double rows = field_number(spectrum, "rows");
  for (size_t i = 0; i < json_array_size(columns); i++) {
    const json_t *column = json_array_get(columns, i), *amplitudes = json_object_get(column, "amplitudes");
    char name[32];
    if (!amplitudes) continue;
    snprintf(name, sizeof name, "column%zu", i);
    write_pairs(script, name, amplitudes);
    fprintf(
        script,
        "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead back linecolor rgb '#808080' dashtype 2\n",
        wavelength_of(encoding, column), wavelength_of(encoding, column));
  }
  fprintf(script,
          "set xlabel 'wavelength (positions)'\nset logscale x 2\nset xrange [2:%.0f]\n"
          "set ylabel 'amplitude'\nset logscale y 10\nset format y '10^{%%L}'\nset yrange [1e-4:2]\n",
          rows);
  const char *separator = "plot ";
  for (size_t i = 0, drawn = 0; i < json_array_size(columns); i++) {
    const json_t *column = json_array_get(columns, i);
    if (!json_object_get(column, "amplitudes")) continue;
    fprintf(script,
            "%s$column%zu using (%.0f/$1):2 with linespoints pointtype 7 pointsize 0.3 linecolor rgb '%s' title "
            "'column %d: %s'",
            separator, i, rows, colours[drawn++ % (sizeof colours / sizeof *colours)],
            2 * (int)json_integer_value(json_object_get(column, "index")),
            words_significant(wavelength_of(encoding, column), 4).text);
    separator = ", ";
  }
  return plot_finish(script, "spectrum",
                     "Line chart: amplitude against wavelength, a line per column, each with its peak at a dashed line "
                     "that marks the exact wavelength");
}

static char *draw_similarity(const json_t *encoding) {
  const json_t *similarity = json_object_get(encoding, "similarity"), *points = json_object_get(similarity, "points");
  FILE *script = plot_begin("similarity", 320);
  if (!script) return NULL;
  write_pairs(script, "points", points);
  /* Of a wide table the sum is the integral of cos(k w) over ln w, (Ci(k) - Ci(k/base)) / ln base; for 1 << k << base that is
     1 - (ln k + 0.5772) / ln base, as Ci(x) is nearly 0 for large x, and ln x + 0.5772 for small. */
  fprintf(script,
          "set ylabel 'similarity' offset 1,0\nset yrange [-0.1:1.05]\nset ytics 0.25\n"
          "set multiplot layout 1,2 margins 0.09,0.98,0.32,0.97 spacing 0.09,0\nunset key\n"
          "set xlabel 'p − q'\nset xrange [-64:64]\nset xtics 32\n"
          "plot $points using 1:2 with lines linewidth 1.5 linecolor rgb '%s', "
          "'' using (-$1):2 with lines linewidth 1.5 linecolor rgb '%s'\n"
          "unset ylabel\nset xlabel '|p − q|'\nset logscale x 2\nset xrange [1:%.0f]\nset xtics 1,8\nset format x "
          "'2^{%%L}'\n"
          "set key at screen 0.5, screen 0.08 center center maxrows 1 title ''\n"
          "plot $points using 1:2 with lines linewidth 1.5 linecolor rgb '%s' title 'PE[p]·PE[q] / (d/2)', "
          "1 - (log(x) + 0.5772156649) / log(%.17g) with lines dashtype 2 linewidth 2 linecolor rgb '%s' "
          "title '1 − (ln |p − q| + 0.577) / ln base'\nunset multiplot\n",
          sine_colour, sine_colour, element(json_array_get(points, json_array_size(points) - 1), 0), sine_colour,
          field_number(encoding, "base"), cosine_colour);
  return plot_finish(script, "similarity",
                     "Two line charts: similarity of two positions against their difference, highest at 0 and the same "
                     "on both sides, and its slow decay on a logarithmic axis beside a straight line");
}

bool portraits_make(const json_t *document, figures *made) {
  const json_t *encoding = encoding_of(document);
  double *table = encoding_table(WAVE_ROWS);
  const bool ok = table && (made->svg[FIGURE_ENCODING] = draw_map(table)) &&
                  (made->svg[FIGURE_COLUMNS] = draw_columns(table)) &&
                  (made->svg[FIGURE_WAVELENGTH] = draw_wavelengths(encoding)) &&
                  (!json_is_object(json_object_get(encoding, "spectrum")) ||
                   (made->svg[FIGURE_SPECTRUM] = draw_spectrum(encoding))) &&
                  (made->svg[FIGURE_CIRCLE] = draw_circles(encoding, table)) &&
                  (made->svg[FIGURE_SIMILARITY] = draw_similarity(encoding));
  free(table);
  return ok;
}

/* ---- the section ---- */

static void write_waves(page *p, const json_t *encoding) {
  static const page_column columns[] = {{"index", true},      {"frequency", true}, {"turn of row 1", true},
                                        {"wavelength", true}, {"bin", true},       {"peak at bin", true}};
  const json_t *all = json_object_get(encoding, "frequencies");
  const json_t *seen = json_object_get(json_object_get(encoding, "spectrum"), "columns");
  const size_t count = json_is_array(seen) ? 6 : 4;
  page_table(p, "Frequencies by the formula, and as they are found in the table.", columns, count);
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *one = json_array_get(all, i), *column = json_array_get(seen, i);
    page_cell_run(p, PAGE_TEXT, words_count((double)i).text);
    page_cell_run(p, PAGE_TEXT, words_significant(field_number(one, "frequency"), 6).text);
    page_cell_run(p, PAGE_TEXT, words_significant(field_number(one, "turn"), 6).text);
    page_cell_run(p, PAGE_TEXT, words_significant(field_number(one, "wavelength"), 6).text);
    if (count == 4) continue;
    page_cell_run(p, PAGE_TEXT, words_fixed(field_number(column, "bin"), 2).text);
    page_cell_run(p, PAGE_TEXT, words_count(field_number(column, "peak")).text);
  }
  page_table_end(p);
}

static void write_similarities(page *p, const json_t *similarity) {
  static const page_column columns[] = {{"difference", true}, {"similarity", true}};
  const json_t *points = json_object_get(similarity, "points");
  page_table(p, "Similarity of two positions.", columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(points); i++) {
    const json_t *point = json_array_get(points, i);
    page_cell_run(p, PAGE_TEXT, words_count(element(point, 0)).text);
    page_cell_run(p, PAGE_TEXT, words_fixed(element(point, 1), 6).text);
  }
  page_table_end(p);
}

/* Largest distance of a peak from the exact wavelength's place, in bins. */
static double farthest_peak(const json_t *columns) {
  double farthest = 0;
  for (size_t i = 0; i < json_array_size(columns); i++) {
    const json_t *column = json_array_get(columns, i);
    farthest = fmax(farthest, fabs(field_number(column, "peak") - field_number(column, "bin")));
  }
  return farthest;
}

static void write_spectrum(page *p, const json_t *encoding, const figures *drawn) {
  const json_t *spectrum = json_object_get(encoding, "spectrum"), *columns = json_object_get(spectrum, "columns");
  if (!drawn->svg[FIGURE_SPECTRUM]) return;
  char caption[512];
  snprintf(
      caption, sizeof caption,
      "Spectrum of sine columns over %s positions (FFT by KISS FFT, Hann's window). Dashed lines are the exact "
      "wavelengths, 2π base^(2i/d): of %zu columns with four waves or more, no peak is farther than %s bins from its "
      "own.",
      words_count(field_number(spectrum, "rows")).text, json_array_size(columns),
      words_fixed(farthest_peak(columns), 2).text);
  p->format->figure(p, caption, drawn->svg[FIGURE_SPECTRUM]);
}

static void write_similarity(page *p, const json_t *encoding, const figures *drawn) {
  const json_t *similarity = json_object_get(encoding, "similarity"),
               *starts = json_object_get(similarity, "positions");
  char caption[400];
  snprintf(caption, sizeof caption,
           "Similarity of positions: PE[p]·PE[q] / (d/2), a mean of cosines of (p − q) w. It depends on the difference "
           "alone: for p = %.0f, %.0f and %.0f it is the same to within %s.",
           element(starts, 0), element(starts, 1), element(starts, 2),
           words_significant(field_number(similarity, "spread"), 2).text);
  p->format->figure(p, caption, drawn->svg[FIGURE_SIMILARITY]);
}

void portraits_write(page *p, const json_t *document, const figures *drawn) {
  const json_t *encoding = encoding_of(document);
  p->format->heading(p, 2, "What the encoding looks like");
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(
      p, PAGE_TEXT,
      "The paper's table with %.0f columns, base %s, made by this library in double precision when this page was "
      "made.",
      field_number(encoding, "dim"), words_plain(field_number(encoding, "base")).text);
  if (!drawn->svg[FIGURE_SPECTRUM])
    p->format->run(p, PAGE_TEXT, " This posenc was built without KISS FFT, so the columns' spectrum is missing.");
  p->format->close(p, PAGE_PARAGRAPH);
  p->format->open(p, PAGE_FIGURES);
  p->format->figure(p, "The first rows: sines in even columns, cosines in odd ones.", drawn->svg[FIGURE_ENCODING]);
  p->format->figure(p, "Single columns: the same wave, ever slower.", drawn->svg[FIGURE_COLUMNS]);
  p->format->figure(p, "Frequency and wavelength against index: geometric progressions.",
                    drawn->svg[FIGURE_WAVELENGTH]);
  write_spectrum(p, encoding, drawn);
  p->format->figure(
      p, "Pairs of columns on the unit circle: a step turns each by an angle of its own, wherever it begins.",
      drawn->svg[FIGURE_CIRCLE]);
  write_similarity(p, encoding, drawn);
  p->format->close(p, PAGE_FIGURES);
  p->format->open(p, PAGE_DATA);
  write_waves(p, encoding);
  write_similarities(p, json_object_get(encoding, "similarity"));
  p->format->close(p, PAGE_DATA);
}
