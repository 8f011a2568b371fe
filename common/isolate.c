/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/isolate.h"
#include "common/terminal.h"

#include "common/clock.h"
#include "common/worker.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Limits of a kernel's work: the bytes that it may print, and the lines that are shown. */
enum { PRINTED_MOST = 1 << 16, LINES_SHOWN = 50 };

typedef struct text {
  char *bytes;
  size_t length, room;
} text;

static bool append(text *t, const char *more, size_t length) {
  if (t->length + length >= t->room) {
    const size_t room = 2 * t->room + length + 1;
    char *larger = realloc(t->bytes, room);
    if (!larger) return false;
    t->bytes = larger;
    t->room = room;
  }
  memcpy(t->bytes + t->length, more, length);
  t->length += length;
  t->bytes[t->length] = '\0';
  return true;
}

/* A worker, and what its caller knows of it. */
struct lodger {
  isolation terms;
  isolated end;
  pipes pipes;
  pid_t watching, working; /* the watcher, and the worker as it was when it had not yet run foreign code */
  shared *board;
  /* A reply that is waited for. */
  void *reply;
  size_t reply_size;
  bool replied, has_ended, is_killed;
  double until; /* when it will have been silent for too long */
  receiver messages;
  text result;
  bool complete; /* the last message was received */
  int output;
  size_t blamed;       /* number of the kernel at work when the worker was killed; 0 if it ended by itself */
  size_t whose;        /* number of the kernel whose output was read last */
  size_t bytes, lines; /* of that kernel's output since it is at work */
  char line[160];      /* the incomplete line */
  size_t line_length;
};

static void release_worker(pipes *p) {
  if (p->release[1] >= 0) close(p->release[1]);
  p->release[1] = -1;
}

static const posenc_kernel *kernel_at_work(const lodger *l, size_t number) {
  return number > 0 && number <= l->terms.kernel_count ? l->terms.kernels[number - 1] : NULL;
}

static void end_line(lodger *l) {
  if (l->line_length == 0) return;
  const posenc_kernel *by = kernel_at_work(l, l->whose);
  progress_clear();
  if (l->lines < LINES_SHOWN)
    fprintf(stderr, "%s: %s printed: %.*s\n", program_name(), by ? by->name : "the child process", (int)l->line_length,
            l->line);
  else if (l->lines == LINES_SHOWN)
    fprintf(stderr, "%s: %s printed more than %d lines\n", program_name(), by ? by->name : "the child process",
            LINES_SHOWN);
  l->lines++;
  l->line_length = 0;
}

static void show_printed(lodger *l, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char c = bytes[i];
    if (c == '\n' || l->line_length == sizeof l->line) end_line(l);
    if (c != '\n') l->line[l->line_length++] = isprint((unsigned char)c) ? c : '?';
  }
}

/* Reads some of the output; returns false if there is none. It was printed by the kernel at work, as isolate_kernel()
   waits until it is read. */
static bool take_printed(lodger *l) {
  const size_t whose = l->board->at_work;
  char bytes[4096];
  const ssize_t got = read(l->output, bytes, sizeof bytes);
  if (got <= 0) return false;
  if (whose != l->whose) {
    end_line(l);
    l->whose = whose;
    l->bytes = l->lines = 0;
  }
  show_printed(l, bytes, (size_t)got);
  l->bytes += (size_t)got;
  return true;
}

/* Copies what the worker last reported doing, in printable characters, as a kernel may have written to the shared
   memory. Returns the share of the work that is done. */
static double read_doing(lodger *l) {
  const double share = l->board->share;
  snprintf(l->end.last, sizeof l->end.last, "%.*s", (int)sizeof l->board->doing, l->board->doing);
  for (char *c = l->end.last; *c; c++)
    if (!isprint((unsigned char)*c)) *c = '?';
  return share >= 0.0 && share <= 1.0 ? share : 0.0;
}

static void take_message(lodger *l, const message *m) {
  progress now;
  double share;
  switch (m->kind) {
  case SAYS_DOING:
    share = read_doing(l);
    if (l->terms.on_progress) l->terms.on_progress(l->end.last, share, l->terms.argument);
    break;
  case SAYS_PROGRESS:
    memcpy(&now, m->text, sizeof now);
    progress_show(now.stage, now.what, now.done, now.total, now.unit);
    break;
  case SAYS_LINE:
    progress_clear();
    fprintf(stderr, "%s\n", m->text);
    break;
  case SAYS_RESULT:
    if (!append(&l->result, m->text, m->length)) l->end.how = ENDED_WITHOUT_RESULT;
    break;
  case SAYS_FAILURE:
    l->end.how = ENDED_BY_FAILURE;
    break;
  case SAYS_ORPHANS:
    l->end.how = ENDED_WITH_ORPHANS;
    break;
  case SAYS_REPLY:
    if (!l->reply || m->length != l->reply_size) {
      l->end.how = ENDED_BY_FORGERY;
      break;
    }
    memcpy(l->reply, m->text, m->length);
    l->replied = true;
    break;
  case SAYS_END:
    l->complete = true;
    break;
  }
}

/* Receives all complete messages; returns their number, or -1 after bytes that are not a message. */
static int take_messages(lodger *l) {
  int count = 0;
  for (;; count++) {
    const reception got = channel_receive(&l->messages);
    if (got == RECEIVED_FORGERY) return -1;
    if (got != RECEIVED) return count;
    take_message(l, &l->messages.next);
  }
}

/* Takes what has come from a worker, as `from` tells. If the worker must be killed, sets the reason in `end`. */
static void attend(lodger *l, const struct pollfd from[3]) {
  const size_t at_work = l->board->at_work; /* must precede reading: see isolate_kernel() in common/worker.c */
  l->has_ended = l->has_ended || from[0].revents;
  if (l->has_ended || l->is_killed) return;
  if (from[1].revents) {
    const int received = take_messages(l);
    if (received < 0) l->end.how = ENDED_BY_FORGERY;
    if (received > 0) l->until = clock_seconds() + l->terms.silence;
  }
  if (from[2].revents && take_printed(l) && l->bytes > PRINTED_MOST) l->end.how = ENDED_BY_FLOOD;
  if (!from[1].revents && !from[2].revents && clock_seconds() >= l->until) l->end.how = ENDED_BY_SILENCE;
  if (l->end.how == ENDED_WELL) return;
  l->blamed = at_work;
  l->is_killed = true;
  release_worker(&l->pipes);
}

/* Waits until a worker sends something, or has been silent for too long, and attends to all. A worker that is killed
   has only its watcher's verdict to send. */
static void attend_all(lodger *const *all, size_t count) {
  struct pollfd from[3 * ISOLATE_MOST];
  double until = INFINITY;
  for (size_t i = 0; i < count; i++) {
    const lodger *l = all[i];
    const bool talks = !l->is_killed;
    from[3 * i] = (struct pollfd){l->pipes.verdicts[0], POLLIN, 0};
    from[3 * i + 1] = (struct pollfd){talks ? l->pipes.messages[0] : -1, POLLIN, 0};
    from[3 * i + 2] = (struct pollfd){talks ? l->pipes.output[0] : -1, POLLIN, 0};
    if (talks) until = fmin(until, l->until);
  }
  const double left = fmin(until - clock_seconds(), 1e6);
  const int ready = poll(from, (nfds_t)(3 * count), left > 0.0 ? (int)(left * 1e3) + 1 : 0);
  for (size_t i = 0; i < count; i++) {
    if (ready < 0 && errno != EINTR) all[i]->has_ended = true;
    if (ready >= 0) attend(all[i], from + 3 * i);
  }
}

/* Receives until a reply comes that is waited for, or the worker has ended. */
static void listen_to(lodger *l) {
  l->until = clock_seconds() + l->terms.silence;
  while (!l->has_ended && (l->is_killed || !l->replied)) attend_all(&l, 1);
}

/* Returns how the worker ended: by its status, unless this process had it killed. */
static ending ending_of(const lodger *l, const worker_end *found) {
  const int status = found->status;
  if (l->end.how != ENDED_WELL) return l->end.how;
  if (WIFSTOPPED(status)) return ENDED_BY_STOPPING;
  if (WIFSIGNALED(status)) return ENDED_BY_SIGNAL;
  if (WEXITSTATUS(status) == EXIT_MUTE) return ENDED_BY_CLOSING;
  if (!l->complete) return ENDED_BY_EXIT;
  if (found->orphans) return ENDED_WITH_ORPHANS;
  return l->result.bytes ? ENDED_WELL : ENDED_WITHOUT_RESULT;
}

static int number_of(int status) {
  if (WIFSTOPPED(status)) return WSTOPSIG(status);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/* Waits for the watcher to end, and completes `end`. */
static void conclude(lodger *l) {
  worker_end found;
  const bool has_verdict = read(l->pipes.verdicts[0], &found, sizeof found) == (ssize_t)sizeof found;
  int status;
  release_worker(&l->pipes);
  while (waitpid(l->watching, &status, 0) < 0 && errno == EINTR) {
  }
  if (l->end.how == ENDED_WELL && take_messages(l) < 0) l->end.how = ENDED_BY_FORGERY;
  while (l->bytes <= PRINTED_MOST && take_printed(l)) continue;
  if (l->end.how == ENDED_WELL && l->bytes > PRINTED_MOST) l->end.how = ENDED_BY_FLOOD;
  end_line(l);
  read_doing(l);
  if (!has_verdict) {
    const bool killed = WIFSIGNALED(status);
    found = (worker_end){.status = status};
    if (!killed && l->end.how == ENDED_WELL) l->end.how = ENDED_FORK_FAILED;
  }
  l->end.littered = found.littered;
  l->end.how = ending_of(l, &found);
  l->end.number = number_of(found.status);
  l->end.at_work = kernel_at_work(l, l->blamed ? l->blamed : l->board->at_work);
}

static bool open_pipes(pipes *p) {
  int *const all[] = {p->messages, p->output, p->release, p->verdicts};
  size_t open = 0;
  while (open < sizeof all / sizeof *all && pipe2(all[open], O_CLOEXEC) == 0) open++;
  if (open == sizeof all / sizeof *all && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->orders) == 0) {
    fcntl(p->messages[0], F_SETFL, O_NONBLOCK);
    fcntl(p->output[0], F_SETFL, O_NONBLOCK);
    return true;
  }
  while (open-- > 0) close(all[open][0]), close(all[open][1]);
  return false;
}

/* Closes the ends of the pipes that belong to the other processes, in the caller after the fork. */
static void close_ends(pipes *p) {
  close(p->messages[1]);
  close(p->output[1]);
  close(p->release[0]);
  close(p->verdicts[1]);
  close(p->orders[1]);
}

static void close_own(pipes *p) {
  close(p->messages[0]);
  close(p->output[0]);
  close(p->verdicts[0]);
  close(p->orders[0]);
  release_worker(p);
}

lodger *isolate_start(void (*work)(void *), void *argument, const isolation *how) {
  lodger *l = calloc(1, sizeof *l);
  channel_key key;
  if (!l) return NULL;
  l->terms = *how;
  if (!channel_key_make(&key) || !open_pipes(&l->pipes)) {
    free(l);
    return NULL;
  }
  l->board = mmap(NULL, sizeof *l->board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  fflush(NULL); /* otherwise buffered output would be written twice */
  l->watching = -1;
  if (l->board != MAP_FAILED) {
    l->board->at_work = how->kernel_count == 1;
    l->watching = fork();
    if (l->watching == 0) worker_watch(work, argument, how, &l->pipes, &key, l->board);
  }
  close_ends(&l->pipes);
  l->end.how = ENDED_WELL;
  l->until = clock_seconds() + how->silence;
  l->messages = (receiver){key, l->pipes.messages[0], 0, 0, {0}};
  l->output = l->pipes.output[0];
  if (l->watching > 0) return l;
  close_own(&l->pipes);
  if (l->board != MAP_FAILED) munmap(l->board, sizeof *l->board);
  free(l);
  return NULL;
}

bool isolate_ask(lodger *l, const void *order, size_t size, void *reply, size_t reply_size) {
  if (l->has_ended) return false;
  l->reply = reply;
  l->reply_size = reply_size;
  l->replied = false;
  /* If the worker has ended, listening tells it. */
  while (send(l->pipes.orders[0], order, size, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
  listen_to(l);
  l->reply = NULL;
  if (l->working == 0) l->working = l->board->worker;
  return !l->has_ended;
}

pid_t isolate_process(const lodger *l) {
  return l->working;
}

size_t isolate_any(lodger *const *all, size_t count) {
  for (;;) {
    for (size_t i = 0; i < count; i++)
      if (all[i]->has_ended) return i;
    attend_all(all, count);
  }
}

isolated isolate_end(lodger *l) {
  shutdown(l->pipes.orders[0], SHUT_WR);
  l->replied = false;
  listen_to(l);
  conclude(l);
  isolated end = l->end;
  if (end.how == ENDED_WELL)
    end.result = l->result.bytes;
  else
    free(l->result.bytes);
  close_own(&l->pipes);
  munmap(l->board, sizeof *l->board);
  free(l);
  return end;
}

void isolate_stop(lodger *l) {
  l->end.how = ENDED_WITHOUT_RESULT;
  release_worker(&l->pipes);
  l->has_ended = true;
  free(isolate_end(l).result);
}

isolated isolate(void (*work)(void *), void *argument, const isolation *how) {
  lodger *l = isolate_start(work, argument, how);
  return l ? isolate_end(l) : (isolated){.how = ENDED_FORK_FAILED};
}

void describe_exit(const isolated *end, char *words, size_t size) {
  static const char *const endings[] = {
      [ENDED_WELL] = "it ended well",
      [ENDED_WITHOUT_RESULT] = "it ended without a result",
      [ENDED_BY_SILENCE] = "no sign of life within the time limit",
      [ENDED_BY_FLOOD] = "it printed more than a kernel may",
      [ENDED_BY_FORGERY] = "a forged or damaged message came from its process",
      [ENDED_BY_CLOSING] = "it closed descriptors that are not its own, or worked on in a process that it forked",
      [ENDED_WITH_ORPHANS] = "it left a process behind",
  };
  char number[100];
  const char *how = number;
  if (end->how == ENDED_FORK_FAILED) {
    snprintf(words, size, "no process could be created for it");
    return;
  }
  if (end->how == ENDED_BY_SIGNAL)
    snprintf(number, sizeof number, "killed by signal %d (%s)", end->number, strsignal(end->number));
  else if (end->how == ENDED_BY_STOPPING)
    snprintf(number, sizeof number, "it stopped its process, by signal %d (%s)", end->number, strsignal(end->number));
  else if (end->how == ENDED_BY_EXIT)
    snprintf(number, sizeof number, "it ended the process with status %d", end->number);
  else if (end->how == ENDED_BY_FAILURE) {
    snprintf(words, size, "it failed: %s", end->last);
    return;
  } else
    how = endings[end->how];
  const bool when = *end->last && end->how != ENDED_WITH_ORPHANS; /* the watcher finds them later */
  snprintf(words, size, "%s%s%s", how, when ? "; at that time: " : "", when ? end->last : "");
}

isolated isolate_team(void (*work)(void *), void *argument, const isolation *how, bool *left_out, lost_kernel *lost) {
  for (;;) {
    isolated end = isolate(work, argument, how);
    const size_t number = end.how == ENDED_WELL ? 0 : number_of_kernel(how, end.at_work);
    if (number == 0 || left_out[number - 1]) return end;
    char words[400];
    describe_exit(&end, words, sizeof words);
    left_out[number - 1] = true;
    lost(end.at_work, words, how->argument);
  }
}
