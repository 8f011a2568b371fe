/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/page/plot.h"

#include "common/memory.h"
#include "common/output.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
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
