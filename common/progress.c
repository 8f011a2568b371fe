/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/progress.h"

#include "common/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool shown;

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

/* When this stage began: what is left of it is judged by its own pace alone. */
static double stage_start(const char *stage, double done, double now) {
  static char current[32];
  static double start, done_before;
  if (strncmp(current, stage, sizeof current - 1) != 0 || done < done_before) {
    snprintf(current, sizeof current, "%s", stage);
    start = now;
  }
  done_before = done;
  return start;
}

void progress_show(const char *stage, const char *what, double done, double total) {
  static double last;
  if (!terminal()) return;
  const double now = clock_seconds();
  const double elapsed = now - stage_start(stage, done, now);
  if (shown && now - last < 0.1) return;
  last = now;
  shown = true;

  char left[32] = "";
  if (done > 0 && elapsed > 1) {
    const long rest = lround(elapsed * fmax(total - done, 0) / done);
    snprintf(left, sizeof left, ", %ld:%02ld left", rest / 60, rest % 60);
  }
  char line[256];
  snprintf(line, sizeof line, "%s: %s [%.0f/%.0f%s]", stage, what, done, total, left);
  fprintf(stderr, "\r\033[K%.*s", columns() - 1, line); /* a full line would wrap, and stay */
}

void progress_clear(void) {
  if (!shown) return;
  fputs("\r\033[K", stderr);
  shown = false;
}
