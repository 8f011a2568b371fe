/* SPDX-License-Identifier: MIT */
/* Over a pipe the work says lines: "H share doing", "R result". */
#include "verify/isolate.h"

#include "common/clock.h"
#include "common/threads.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- in the new process -------------------------------------------------------------------------- */

static int voice = -1;

static void say(const char *text, size_t length) {
  while (voice >= 0 && length > 0) {
    const ssize_t written = write(voice, text, length);
    if (written < 0 && errno != EINTR) return;
    if (written <= 0) continue;
    text += written;
    length -= (size_t)written;
  }
}

void isolate_say(const char *doing, double share) {
  char line[sizeof((isolated){0}.last) + 32];
  const int length = snprintf(line, sizeof line, "H %.4f %s\n", share, doing);
  say(line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void isolate_result(const char *text) {
  say("R ", 2);
  say(text, strlen(text));
  say("\n", 1);
}

void isolate_last_words(const char *text, size_t length) {
  say("H 0 ", 4);
  say(text, length);
  say("\n", 1);
}

/* ---- in the one that waits -------------------------------------------------------------------------- */

typedef struct ear {
  char *text; /* what came after the last whole line */
  size_t length, room;
  heard listener;
  void *argument;
} ear;

static void hear_line(ear *e, char *line, isolated *end) {
  if (*line == 'R') {
    free(end->result);
    end->result = strdup(line + 2);
  } else if (*line == 'H') {
    char *doing;
    const double share = strtod(line + 2, &doing);
    if (*doing == ' ') doing++;
    snprintf(end->last, sizeof end->last, "%s", doing);
    if (e->listener) e->listener(end->last, share, e->argument);
  }
}

/* Takes in what the pipe holds; false at its end. */
static bool hear(ear *e, int pipe_end, isolated *end) {
  if (e->length + 65536 > e->room) {
    char *larger = realloc(e->text, 2 * e->room + 65536);
    if (!larger) return false;
    e->text = larger;
    e->room = 2 * e->room + 65536;
  }
  const ssize_t got = read(pipe_end, e->text + e->length, e->room - e->length - 1);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  e->length += (size_t)got;
  e->text[e->length] = '\0';
  char *from = e->text;
  for (char *newline; (newline = memchr(from, '\n', e->length - (size_t)(from - e->text))); from = newline + 1) {
    *newline = '\0';
    hear_line(e, from, end);
  }
  e->length -= (size_t)(from - e->text);
  memmove(e->text, from, e->length);
  return true;
}

/* Listens until the pipe closes; false if nothing was said for too long. */
static bool listen_to(ear *e, int pipe_end, double silence, isolated *end) {
  for (;;) {
    struct pollfd wait_for = {.fd = pipe_end, .events = POLLIN};
    const double until = clock_seconds() + silence;
    int ready;
    do {
      const double left = until - clock_seconds();
      ready = poll(&wait_for, 1, left > 0.0 ? (int)(left * 1e3) + 1 : 0);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) return false;
    if (!hear(e, pipe_end, end)) return true;
  }
}

static _Noreturn void be_born(void (*work)(void *), void *argument, int pipe_end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
  voice = pipe_end;
  threads_hold();
  work(argument);
  _exit(0);
}

isolated isolate(void (*work)(void *), void *argument, double silence, heard listener, void *listener_argument) {
  isolated end = {.how = ENDED_UNBORN};
  int ends[2];
  if (pipe(ends) != 0) return end;
  fflush(NULL); /* what is in stdio's buffers must not be written twice */
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    be_born(work, argument, ends[1]);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return end;
  }

  ear e = {.listener = listener, .argument = listener_argument};
  const bool spoke = listen_to(&e, ends[0], silence, &end);
  close(ends[0]);
  free(e.text);
  if (!spoke) kill(child, SIGKILL);
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }

  if (!spoke) {
    end.how = ENDED_BY_SILENCE;
  } else if (WIFSIGNALED(status)) {
    end.how = ENDED_BY_SIGNAL;
    end.number = WTERMSIG(status);
  } else if (!end.result || WEXITSTATUS(status) != 0) {
    end.how = ENDED_BY_EXIT;
    end.number = WEXITSTATUS(status);
  } else {
    end.how = ENDED_WELL;
  }
  return end;
}
