/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/page/plot.h"

#include "common/memory.h"
#include "common/output.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether a folder of PATH has a program of that name. */
static int in_path(const char *name) {
  const char *folder = getenv("PATH");
  while (folder && *folder) {
    const size_t length = strcspn(folder, ":");
    char path[4096];
    const int used = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
    if (used > 0 && (size_t)used < sizeof path && access(path, X_OK) == 0) return 1;
    folder += length + (folder[length] == ':');
  }
  return 0;
}

const char *plot_refusal(void) {
  const int found = strchr(GNUPLOT, '/') ? access(GNUPLOT, X_OK) == 0 : in_path(GNUPLOT);
  return found ? NULL : "gnuplot is not installed";
}

static FILE *temporary(const char *name) {
  FILE *file = output_temporary();
  if (!file) fprintf(stderr, "posenc report: plot %s: no temporary file: %s\n", name, strerror(errno));
  return file;
}

static void discard(plot *p) {
  if (p->script) fclose(p->script);
  if (p->drawn) fclose(p->drawn);
  free(p->command);
  free(p);
}

/* Begins a plot. Script and picture are temporary files without a name, so none is left behind even after a crash. */
plot *plot_begin(const char *name, int width, int height) {
  plot *p = memory_take(1, sizeof *p);
  p->name = name;
  p->script = temporary(name);
  p->drawn = allocated(open_memstream(&p->command, &p->size));
  if (!p->script) {
    discard(p);
    return NULL;
  }
  fprintf(p->script,
          "set terminal svg size %d,%d dynamic enhanced font 'sans-serif,15' linewidth 1.4\n"
          "set encoding utf8\n"
          "set key below center Left reverse noenhanced samplen 2 title ' '\n"
          "set xlabel offset 0,0.5\n"
          "set errorbars small\n"
          "set border 3 linewidth 0.7\n"
          "set tics nomirror scale 0.6\n"
          "set grid linecolor rgb '#808080' dashtype 1 linewidth 0.2\n",
          width, height);
  return p;
}

int plot_height(size_t names, size_t longest) {
  enum { LINE_PIXELS = 20, LINES_USUAL = 3, LETTER_PIXELS = 9, MARK_PIXELS = 60 };
  const size_t fit = PLOT_WIDTH / (MARK_PIXELS + LETTER_PIXELS * longest), columns = fit ? fit : 1,
               lines = (names + columns - 1) / columns;
  return PLOT_HEIGHT + LINE_PIXELS * (int)(lines > LINES_USUAL ? lines - LINES_USUAL : 0);
}

void plot_axis(plot *p, const char *text, const char *note) {
  fputs("set xlabel ", p->script);
  plot_quoted(p->script, text);
  fputs(*note ? ".\"\\n\"." : "", p->script);
  if (*note) plot_quoted(p->script, note);
  fputs(" noenhanced\n", p->script);
}

void plot_quoted(FILE *script, const char *text) {
  fputc('\'', script);
  for (; *text; text++) {
    if (*text == '\'') fputc('\'', script);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
  }
  fputc('\'', script);
}

/* Okabe and Ito's colours, which colour-blind people can distinguish, without yellow, which is hard to see on white.
   Dashes distinguish more lines. */
static const char *const colours[PLOT_COLOURS] = {"#0072b2", "#009e73", "#d55e00", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#808080"};

static void begin_series(plot *p, const char *drawn) {
  fprintf(p->script, "%s$series%zu << EOD\n", p->series ? "EOD\n" : "", p->series);
  fprintf(p->drawn, "%s$series%zu %s", p->series ? ", " : "plot ", p->series, drawn);
  p->series++;
}

static void write_title(plot *p, const char *title) {
  fputs(" title ", p->drawn);
  plot_quoted(p->drawn, title);
}

void plot_series(plot *p, const char *drawn, const char *title) {
  begin_series(p, drawn);
  write_title(p, title);
}

void plot_kernel(plot *p, const char *drawn, size_t index, const char *title) {
  enum { DASHES = 5 }; /* the dash types of gnuplot */
  begin_series(p, drawn);
  if (index == PLOT_OTHER) {
    fputs(" linecolor rgb '#a0a0a0' pointtype 7 pointsize 0.3 linewidth 0.6", p->drawn);
    if (p->has_others)
      fputs(" notitle", p->drawn);
    else
      write_title(p, "others");
    p->has_others = true;
    return;
  }
  fprintf(p->drawn, " linecolor rgb '%s' dashtype %zu pointtype %zu pointsize 0.55 linewidth 1.2",
          colours[index % PLOT_COLOURS], 1 + index / PLOT_COLOURS % DASHES, 4 + index % 11);
  write_title(p, title);
}

void plot_point(plot *p, double x, double y, double least, double most) {
  fprintf(p->script, "%.17g %.17g %.17g %.17g\n", x, y, least, most);
}

/* Returns the content of a file as a string to free; null if it cannot be read. */
static char *contents(FILE *file) {
  if (fseek(file, 0, SEEK_END) != 0) return NULL;
  const long size = ftell(file);
  rewind(file);
  if (size < 0) return NULL;
  char *text = memory_take((size_t)size + 1, 1);
  text[fread(text, 1, (size_t)size, file)] = '\0';
  return text;
}

/* Returns the exit status of gnuplot, or -1 with errno set if it could not be run. */
static int run_gnuplot(FILE *script, FILE *picture, FILE *messages) {
  /* With -d, gnuplot ignores the user's own settings. */
  char *const arguments[] = {(char[]){GNUPLOT}, (char[]){"-d"}, NULL};
  extern char **environ;
  posix_spawn_file_actions_t actions;
  errno = posix_spawn_file_actions_init(&actions);
  if (errno) return -1;
  pid_t child;
  errno = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
  if (!errno) errno = posix_spawn_file_actions_adddup2(&actions, fileno(picture), STDOUT_FILENO);
  if (!errno) errno = posix_spawn_file_actions_adddup2(&actions, fileno(messages), STDERR_FILENO);
  if (!errno) errno = posix_spawnp(&child, GNUPLOT, &actions, NULL, arguments, environ);
  const int failure = errno;
  posix_spawn_file_actions_destroy(&actions);
  errno = failure;
  if (failure) return -1;
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Returns the first line of gnuplot's messages that does not only point at a column. */
static const char *first_line(char *messages) {
  char *rest;
  for (char *line = strtok_r(messages, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
    if (line[strspn(line, " ^\t")] && !strstr(line, "gnuplot>")) return line + strspn(line, " \t");
  return "it failed";
}

/* Returns the length of an empty group at the beginning of the text, or 0. */
static size_t empty_group(const char *text) {
  if (strncmp(text, "<g ", 3) != 0) return 0;
  const size_t opened = strcspn(text, ">") + 1, ends = opened + strspn(text + opened, "\n");
  return strncmp(text + ends, "</g>\n", 5) == 0 ? ends + 5 : 0;
}

/* Returns the length of a default attribute or an empty group at the beginning of the text, or 0. */
static size_t idle_text(const char *text) {
  static const char *const idle[] = {" stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", " text-anchor=\"start\"",
                                     " class=\"gridline\""};
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
    if (strncmp(text, idle[i], strlen(idle[i])) == 0) return strlen(idle[i]);
  return empty_group(text);
}

/* Writes a colour at the beginning of the text in hexadecimal. Returns the length of its text, 0 if there is none. */
static size_t write_colour(FILE *out, const char *text) {
  unsigned red, green, blue;
  int length = 0;
  if (strncmp(text, "rgb(", 4) != 0 || sscanf(text, "rgb(%u, %u, %u)%n", &red, &green, &blue, &length) != 3) return 0;
  fprintf(out, "#%02x%02x%02x", red, green, blue);
  return (size_t)length;
}

/* Writes [from, to) in a shorter form. Each id and each reference to one gets the picture's name. */
static void write_body(FILE *out, const char *from, const char *to, const char *name) {
  static const char *const marks[] = {"id='", "id=\"", "href='#", "href=\"#", "url(#"};
  while (from < to) {
    size_t length = idle_text(from);
    if (!length) length = write_colour(out, from);
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !length; i++)
      if (strncmp(from, marks[i], strlen(marks[i])) == 0) {
        length = strlen(marks[i]);
        fprintf(out, "%s%s-", marks[i], name);
      }
    if (!length) fputc(*from, out);
    from += length ? length : 1;
  }
}

/* Returns gnuplot's SVG document as an element of a page; null if it is no such document. */
static char *as_element(const char *document, const char *name, const char *description) {
  const char *box = strstr(document, "viewBox=\"");
  const char *body = strstr(document, "</desc>"); /* after gnuplot's own title and description */
  const char *end = strstr(document, "</svg>");
  if (!box || !body || !end || body > end) return NULL;
  box += strlen("viewBox=\"");
  body += strlen("</desc>");
  char *text = NULL;
  size_t size;
  FILE *out = allocated(open_memstream(&text, &size));
  fprintf(out, "<svg viewBox=\"%.*s\" role=\"img\" aria-label=\"%s\">", (int)strcspn(box, "\""), box, description);
  write_body(out, body, end, name);
  fputs("</svg>", out);
  if (fclose(out) != 0) memory_end();
  return text;
}

/* Ends the data, and writes the command that draws them. Returns false on an error. */
static bool complete(plot *p) {
  if (fclose(p->drawn) != 0) memory_end();
  p->drawn = NULL;
  if (p->series) fprintf(p->script, "EOD\n%s\n", p->command);
  return fflush(p->script) == 0 && fseek(p->script, 0, SEEK_SET) == 0;
}

static char *draw(plot *p, FILE *picture, FILE *messages, const char *description) {
  if (!complete(p)) {
    fprintf(stderr, "posenc report: plot %s: cannot write the script: %s\n", p->name, strerror(errno));
    return NULL;
  }
  const int status = run_gnuplot(p->script, picture, messages);
  if (status < 0) {
    fprintf(stderr, "posenc report: plot %s: cannot run gnuplot: %s\n", p->name, strerror(errno));
    return NULL;
  }
  char *document = contents(picture);
  char *said = contents(messages);
  char *element = status == 0 && document ? as_element(document, p->name, description) : NULL;
  if (!element)
    fprintf(stderr, "posenc report: plot %s: gnuplot: %s\n", p->name,
            said ? first_line(said) : "its messages cannot be read");
  free(said);
  free(document);
  return element;
}

char *plot_finish(plot *p, const char *description) {
  FILE *picture = temporary(p->name);
  FILE *messages = picture ? temporary(p->name) : NULL;
  char *element = messages ? draw(p, picture, messages, description) : NULL;
  if (picture) fclose(picture);
  if (messages) fclose(messages);
  discard(p);
  return element;
}

void plot_standalone(const char *element, FILE *stream) {
  static const char start[] = "<svg ", box[] = "viewBox=\"0 0 ";
  /* gnuplot draws in black on a transparent background. */
  static const char style[] =
      "svg{--ink:#1a1c1f;--paper:#fff}\n"
      "@media(prefers-color-scheme:dark){svg{--ink:#e4e6e9;--paper:#131619}}\n"
      "#paper{fill:var(--paper)}[stroke=black],[color=black]{stroke:var(--ink)}[stroke=none]{stroke:none}\n"
      "[fill=black]{fill:var(--ink)}\n";
  int width = PLOT_WIDTH, height = PLOT_HEIGHT;
  const char *size = strstr(element, box), *body = strchr(element, '>');
  if (size) sscanf(size + strlen(box), "%d %d", &width, &height);
  const char *attributes = element + strlen(start);
  fprintf(stream,
          "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
          "xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"%d\" height=\"%d\" %.*s>\n<style>\n%s</style>\n"
          "<rect id=\"paper\" width=\"100%%\" height=\"100%%\"/>%s\n",
          width, height, (int)(body - attributes), attributes, style, body + 1);
}

/* ---- error against time ---------------------------------------------------------------------------------- */

/* Stands for an error of 0 on a logarithmic axis. */
static const double least_error = 1e-18;

static int compare_points(const void *a, const void *b) {
  const pareto_point *x = a, *y = b;
  if (x->time < y->time || x->time > y->time) return x->time > y->time ? 1 : -1;
  if (x->elements < y->elements || x->elements > y->elements) return x->elements < y->elements ? 1 : -1;
  return (x->error > y->error) - (x->error < y->error);
}

void pareto_sort(pareto_point *points, size_t count) {
  double best = INFINITY, most = -1; /* the least error so far, of the most elements */
  for (size_t i = 0; i < count; i++)
    if (!(points[i].elements > 0)) points[i].elements = INFINITY;
  qsort(points, count, sizeof *points, compare_points);
  for (size_t i = 0; i < count; i++) {
    const bool more = points[i].elements > most, as_many = !more && !(points[i].elements < most);
    points[i].front = points[i].counts && (more || (as_many && points[i].error < best));
    if (!points[i].front) continue;
    best = points[i].error;
    most = points[i].elements;
  }
}

static double shown_error(const pareto_point *point) {
  return fmax(point->error, least_error);
}

/* Draws steps from the fastest point on, at the smallest error so far, up to both edges of the picture. */
static void draw_front(plot *picture, const pareto_point *points, size_t count) {
  const pareto_point *last = NULL;
  plot_series(picture, "using 1:2 with steps linecolor rgb '#808080' dashtype 2", "front");
  for (size_t i = 0; i < count; i++) {
    if (!points[i].front) continue;
    last = &points[i];
    plot_point(picture, last->time, shown_error(last), 0, 0);
  }
  if (last) plot_point(picture, points[count - 1].time, shown_error(last), 0, 0);
}

/* ---- names ---- */

/* The edges of a picture, as logarithms, and pixels per decade; approximate. */
typedef struct canvas {
  double left, right, low, high;
  double across, up;
} canvas;

/* A name beside its point, at pixels from the lower left corner. */
typedef struct label {
  const pareto_point *of;
  double x, y; /* the point */
  int side;    /* of the columns below */
  bool down;   /* below the point, not above */
} label;

enum { HEIGHT_NARROW = 340, LINE_NARROW = 18 };

static canvas canvas_of(const pareto_point *points, size_t count, bool narrow) {
  enum { AXIS_PIXELS = 120, AXIS_NARROW = 80, AREA_HEIGHT = 215, AREA_NARROW = 190 };
  canvas v = {INFINITY, -INFINITY, INFINITY, -INFINITY, 0, 0};
  for (size_t i = 0; i < count; i++) {
    v.left = fmin(v.left, log10(points[i].low > 0 ? points[i].low : points[i].time));
    v.right = fmax(v.right, log10(points[i].high));
    v.low = fmin(v.low, log10(shown_error(&points[i])));
    v.high = fmax(v.high, log10(shown_error(&points[i])));
  }
  v.left -= 0.1;
  v.right += 0.1;
  v.low = floor(v.low - 0.5); /* room for names below and above */
  v.high = ceil(v.high + 0.5);
  v.across = (narrow ? PLOT_NARROW - AXIS_NARROW : PLOT_WIDTH - AXIS_PIXELS) / (v.right - v.left);
  v.up = (narrow ? AREA_NARROW : AREA_HEIGHT) / (v.high - v.low);
  return v;
}

static bool has_label(const pareto_point *point) {
  return !point->selected && (point->front || point->group != PARETO_OWN);
}

/* Where the text has the point: at its beginning, its centre or its end. */
enum { RIGHT_OF, ACROSS, LEFT_OF, SIDES };
static const struct {
  const char *word;
  double share; /* of the text that is left of the point */
} sides[SIDES] = {{"left", 0}, {"center", 0.5}, {"right", 1}};

/* The box of a text, from the lower left corner. */
typedef struct box {
  double left, right, low, high;
} box;

static box box_of(const label *one, bool narrow) {
  const double letter = narrow ? 5.7 : 7.6, line = narrow ? 14 : 18, away = 4; /* of the text from the point */
  const double width = letter * (double)strlen(one->of->name), left = one->x - sides[one->side].share * width,
               low = one->down ? one->y - away - line : one->y + away;
  return (box){left - letter / 2, left + width + letter / 2, low, low + line};
}

static bool has_place(const label *one, const label *placed, size_t count, const canvas *v, bool narrow) {
  const box a = box_of(one, narrow);
  if (a.left < 0 || a.right > v->across * (v->right - v->left)) return false;
  for (size_t i = 0; i < count; i++) {
    const box b = box_of(&placed[i], narrow);
    if (a.left < b.right && b.left < a.right && a.low < b.high && b.low < a.high) return false;
  }
  return true;
}

/* Adds a name above or below its point, away from the nearer edge first. Returns false if there is no place for it. */
static bool place(const pareto_point *point, const canvas *v, bool narrow, label *placed, size_t *count) {
  label one = {
      .of = point, .x = v->across * (log10(point->time) - v->left), .y = v->up * (log10(shown_error(point)) - v->low)};
  const bool in_right_half = one.x > v->across * (v->right - v->left) / 2;
  for (int way = 2 * SIDES - 1; way >= 0; way--) {
    one.side = in_right_half ? way / 2 : SIDES - 1 - way / 2;
    one.down = way % 2 == 0;
    if (!has_place(&one, placed, *count, v, narrow)) continue;
    placed[(*count)++] = one;
    return true;
  }
  return false;
}

/* Writes names, those of the front first. Counts those without a place in `nameless`. */
static void write_labels(FILE *script, const pareto_point *points, size_t count, bool narrow, size_t *nameless) {
  const canvas v = canvas_of(points, count, narrow);
  label *labels = memory_take(count, sizeof *labels);
  size_t placed = 0;
  for (int front = 1; front >= 0; front--)
    for (size_t i = 0; i < count; i++)
      if (has_label(&points[i]) && points[i].front == front)
        nameless[points[i].group] += !place(&points[i], &v, narrow, labels, &placed);
  for (size_t i = 0; i < placed; i++) {
    const label *one = &labels[i];
    fputs("set label ", script);
    plot_quoted(script, one->of->name);
    fprintf(script, " at %.17g,%.17g %s offset 0,%s font ',%d' noenhanced\n", one->of->time, shown_error(one->of),
            sides[one->side].word, one->down ? "-0.7" : "0.7", narrow ? 12 : 15);
  }
  free(labels);
  fprintf(script, "set xrange [%.17g:%.17g]\nset yrange [%.17g:%.17g]\n", pow(10, v.left), pow(10, v.right),
          pow(10, v.low), pow(10, v.high));
}

/* ---- points ---- */

/* The points of a group that are not on the front, or those of all groups that are. */
typedef struct series {
  bool front;
  pareto_group group;
  size_t look;
  const char *title;
} series;

enum { LOOK_FRONT, LOOK_SELECTED = PARETO_GROUPS };
static const series all_series[] = {{false, PARETO_OWN, PLOT_OTHER, "others"},
                                    {false, PARETO_COMPETITOR, 2, "another library"},
                                    {false, PARETO_RECIPE, 1, "recipes"},
                                    {true, PARETO_OWN, LOOK_FRONT, "on the front"}};
enum { SERIES = sizeof all_series / sizeof *all_series };

/* Draws points as one series; selected ones are drawn by themselves. */
static void draw_points(plot *picture, const pareto_point *points, size_t count, const series *one) {
  bool begun = false;
  for (size_t i = 0; i < count; i++) {
    const pareto_point *point = &points[i];
    if (point->front != one->front || point->selected || (!one->front && point->group != one->group)) continue;
    if (!begun) plot_kernel(picture, "using 1:2:3:4 with xerrorbars", one->look, one->title);
    begun = true;
    plot_point(picture, point->time, shown_error(point), point->low, point->high);
  }
}

/* Draws all series. Their titles tell how many names had no place. */
static void draw_all(plot *picture, const pareto_point *points, size_t count, const size_t *nameless) {
  for (size_t i = 0; i < SERIES; i++) {
    series one = all_series[i];
    char title[80];
    const size_t lacking = one.front ? 0 : nameless[one.group];
    snprintf(title, sizeof title, "%s, %zu unnamed", one.title, lacking);
    if (lacking) one.title = title;
    draw_points(picture, points, count, &one);
  }
}

static void draw_selected(plot *picture, const pareto_point *points, size_t count) {
  size_t look = LOOK_SELECTED;
  for (size_t i = 0; i < count; i++) {
    if (!points[i].selected) continue;
    plot_kernel(picture, "using 1:2:3:4 with xerrorbars", look++, points[i].name);
    plot_point(picture, points[i].time, shown_error(&points[i]), points[i].low, points[i].high);
  }
}

/* Returns the height of the picture with its legend. */
static int height_of(const pareto_point *points, size_t count, bool narrow) {
  size_t names = 1 + SERIES, longest = 0; /* the steps, too */
  for (size_t i = 0; i < count; i++) {
    if (!points[i].selected) continue;
    const size_t length = strlen(points[i].name);
    longest = length > longest ? length : longest;
    names++;
  }
  return narrow ? HEIGHT_NARROW + LINE_NARROW * (int)names : plot_height(names, longest);
}

char *pareto_draw(const pareto_point *points, size_t count, bool narrow, const char *name, const char *title,
                  const char *time_label, const char *note) {
  size_t nameless[PARETO_GROUPS] = {0};
  plot *picture = plot_begin(name, narrow ? PLOT_NARROW : PLOT_WIDTH, height_of(points, count, narrow));
  if (!picture) return NULL;
  FILE *script = picture->script;
  fputs("set logscale xy 10\nset format x '%g'\nset format y '10^{%L}'\nset ytics 100\nset ylabel 'largest |error|'\n",
        script);
  plot_axis(picture, time_label, note);
  fputs("set title ", script);
  plot_quoted(script, title);
  fputs(" noenhanced\n", script);
  if (narrow)
    fputs("set key maxcols 1 samplen 1 font ',12'\nset tics font ',12'\nset xlabel font ',11' offset -3,0.5\n"
          "set ylabel font ',12' offset 1.5,0\nset title font ',13'\nset rmargin 1\n",
          script);
  write_labels(script, points, count, narrow, nameless);
  draw_front(picture, points, count);
  draw_all(picture, points, count, nameless);
  draw_selected(picture, points, count);
  return plot_finish(picture, narrow ? "The same points for narrow screens"
                                     : "Points: largest absolute error against time, one per kernel, and the front of "
                                       "those that none beats in both");
}
