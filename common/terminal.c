/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/terminal.h"

#include "common/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- progress -------------------------------------------------------------------------------------------- */

static bool shown, in_lines;
static void (*divert_to)(const progress *now);

static bool terminal(void) {
  static int known = -1;
  if (known < 0) {
    const char *term = getenv("TERM");
    known = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
  }
  return known;
}

static int columns(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* The stage that is shown. The time left is estimated from its own pace. */
static struct {
  char name[32];
  double total, start, done;
} current;

/* Begins a stage if its name or total is another one. Returns how much of it is done, never less than before: what a
   process has done is not counted for a moment, until its result has arrived. */
static double go_on(const char *stage, double done, double total, double now) {
  if (strncmp(current.name, stage, sizeof current.name - 1) != 0 || current.total != total) {
    snprintf(current.name, sizeof current.name, "%s", stage);
    current.total = total;
    current.start = now;
    current.done = 0.0;
  }
  current.done = fmax(current.done, done);
  return current.done;
}

/* The decimal prefix of a number; below 1000 there is none. */
typedef struct scale {
  double unit;
  const char *prefix;
} scale;

static scale scale_of(double number) {
  static const scale scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
    if (number >= scales[i].unit) return scales[i];
  return (scale){1.0, ""};
}

/* Formats ", 231 M/s, 0:12 left"; nothing in the first second. */
static void format_pace(char *text, size_t size, double done, double total, double elapsed) {
  *text = '\0';
  if (done <= 0.0 || elapsed <= 1.0) return;
  const double pace = done / elapsed;
  const scale s = scale_of(pace);
  const long rest = lround(fmax(total - done, 0.0) / pace);
  snprintf(text, size, ", %.*f %s/s, %ld:%02ld left", pace < 10.0 * s.unit, pace / s.unit, s.prefix, rest / 60,
           rest % 60);
}

/* Draws a bar and a space of at most `width` columns; nothing if that is too narrow. */
static void draw_bar(char *bar, int width, double share) {
  enum { LEAST = 8, MOST = 43 };
  const int inside = (width < MOST ? width : MOST) - 3, full = (int)(fmin(fmax(share, 0.0), 1.0) * inside);
  *bar = '\0';
  if (width < LEAST) return;
  bar[0] = '[';
  memset(bar + 1, '#', (size_t)full);
  memset(bar + 1 + full, '-', (size_t)(inside - full));
  memcpy(bar + 1 + inside, "] ", 3);
}

void progress_divert(void (*tell)(const progress *now)) {
  divert_to = tell;
  shown = false;
}

static void divert(const char *stage, const char *what, double done, double total, const char *unit) {
  progress now = {.done = done, .total = total};
  snprintf(now.stage, sizeof now.stage, "%s", stage);
  snprintf(now.what, sizeof now.what, "%s", what);
  snprintf(now.unit, sizeof now.unit, "%s", unit);
  divert_to(&now);
}

void progress_in_lines(void) {
  in_lines = !terminal();
}

/* Prints a line such as "verify: transformer-base, 42 %", at most every two seconds. */
static void print_line(const char *stage, const char *what, double share, double now) {
  static double last = -1.0;
  if (last < 0.0) last = now; /* short work prints nothing */
  if (now - last < 2.0) return;
  last = now;
  fprintf(stderr, "%s%s%s, %.0f %%\n", stage, *what ? ": " : "", what, 100 * share);
}

void progress_show(const char *stage, const char *what, double done, double total, const char *unit) {
  static double last;
  if (!divert_to && !in_lines && !terminal()) return;
  const double now = clock_seconds();
  done = go_on(stage, done, total, now);
  if (in_lines && !divert_to) {
    print_line(stage, what, total > 0.0 ? done / total : 0.0, now);
    return;
  }
  const double elapsed = now - current.start;
  if (shown && now - last < 0.1) return;
  last = now;
  shown = true;
  if (divert_to) {
    divert(stage, what, done, total, unit);
    return;
  }

  char name[160], bar[64], amount[96], pace[64];
  const scale s = scale_of(total);
  const int decimals = s.unit > 1.0;
  format_pace(pace, sizeof pace, done, total, elapsed);
  snprintf(amount, sizeof amount, "%.*f/%.*f %s%s%s", decimals, done / s.unit, decimals, total / s.unit, s.prefix,
           *s.prefix ? " " : "", unit);
  const int room = columns() - 1; /* a full line would wrap */
  const int for_name = room - (int)(strlen(amount) + strlen(pace)) - 1;
  const int wanted = snprintf(name, sizeof name, "%s: %s", stage, what), given = wanted < for_name ? wanted : for_name;
  draw_bar(bar, for_name - wanted, total > 0.0 ? done / total : 0.0);
  char line[400];
  snprintf(line, sizeof line, "%.*s %s%s%s", given > 0 ? given : 0, name, bar, amount, pace);
  fprintf(stderr, "\r\033[K%.*s", room, line);
}

void progress_clear(void) {
  if (!shown || divert_to) return;
  fputs("\r\033[K", stderr);
  shown = false;
}

/* ---- name ------------------------------------------------------------------------------------------------ */

static const char *program = "posenc";

void program_set(const char *name) {
  program = name;
}

const char *program_name(void) {
  return program;
}

/* ---- plain text ------------------------------------------------------------------------------------------ */

size_t plain_forbidden(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  if (*c < ' ' || *c == 0x7f) return 1;
  if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) return 2;
  if (*c == 0xd8 && c[1] == 0x9c) return 2; /* U+061C */
  if (*c == 0xe2 && c[1] == 0x80) {
    const bool is_mark = c[2] == 0x8e || c[2] == 0x8f, breaks_or_embeds = c[2] >= 0xa8 && c[2] <= 0xae;
    return is_mark || breaks_or_embeds ? 3 : 0;
  }
  if (*c == 0xe2 && c[1] == 0x81) return c[2] >= 0xa6 && c[2] <= 0xa9 ? 3 : 0;
  return *c >= 0x80 && *c <= 0x9f; /* no character of UTF-8 begins so, but terminals of one byte obey it */
}

/* Returns the bytes of the character of UTF-8 at `text`, 1 if there is none: plain_forbidden looks at first bytes. */
static size_t length_of(const char *text) {
  const unsigned char first = (unsigned char)*text;
  const bool begins = first >= 0xc2 && first < 0xf5;
  const size_t wanted = begins ? 2 + (first >= 0xe0) + (first >= 0xf0) : 1;
  for (size_t i = 1; i < wanted; i++)
    if (((unsigned char)text[i] & 0xc0) != 0x80) return 1;
  return wanted;
}

void plain_make(char *text) {
  char *to = text;
  while (*text) {
    const size_t forbidden = plain_forbidden(text), length = forbidden ? forbidden : length_of(text);
    if (forbidden)
      *to++ = '?';
    else
      to = (char *)memmove(to, text, length) + length;
    text += length;
  }
  *to = '\0';
}

bool plain_is(const char *text) {
  while (*text && !plain_forbidden(text)) text += length_of(text);
  return !*text;
}

void plain_markdown(FILE *stream, const char *text) {
  for (; *text; text++) {
    if (strchr("\\`*_{}[]<>#|!&~$", *text)) fputc('\\', stream);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, stream);
  }
}
