/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/lanes.h"

#include "common/threads.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_LANES = 64 };

/* The memory that all lanes share: the next piece, and the progress of each lane. */
typedef struct shared {
  atomic_size_t next;
  _Atomic double done[MOST_LANES];
} shared;

/* The header before each text on a pipe. */
typedef struct header {
  size_t number, length;
} header;

static shared *board;
static int mine; /* the number of this lane */

static int lanes_count(size_t pieces) {
  const size_t most = (size_t)(threads_most() < MOST_LANES ? threads_most() : MOST_LANES);
  return (int)(pieces < most ? pieces : most);
}

int lanes_threads(size_t pieces) {
  const int count = lanes_count(pieces);
  return count ? (threads_most() + count - 1) / count : threads_most();
}

void lanes_progress(double done) {
  if (board) atomic_store_explicit(&board->done[mine], done, memory_order_relaxed);
}

static bool write_all(int pipe_end, const void *data, size_t length) {
  for (const char *at = data; length > 0;) {
    const ssize_t written = write(pipe_end, at, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    length -= (size_t)written;
  }
  return true;
}

static _Noreturn void run_lane(const lanes *l, int number, int pipe_end) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
#ifdef _OPENMP
  omp_set_num_threads(lanes_threads(l->count));
#endif
  mine = number;
  for (size_t at; (at = atomic_fetch_add(&board->next, 1)) < l->count;) {
    char *text = l->work(l->order[at], l->argument);
    if (!text) _exit(EXIT_FAILURE);
    const header h = {l->order[at], strlen(text) + 1};
    lanes_progress(0.0);
    if (!write_all(pipe_end, &h, sizeof h) || !write_all(pipe_end, text, h.length)) _exit(EXIT_FAILURE);
    free(text);
  }
  _exit(EXIT_SUCCESS);
}

/* A lane, as the caller sees it. */
typedef struct lane {
  pid_t process;
  int pipe_end; /* -1 if closed */
  char *text;
  size_t length, room;
} lane;

/* Reads from the pipe and passes on complete texts; returns false at its end. */
static bool read_lane(lane *from, const lanes *l, size_t *taken) {
  enum { AT_A_TIME = 1 << 16 };
  if (from->room - from->length < AT_A_TIME) {
    char *larger = realloc(from->text, 2 * from->room + AT_A_TIME);
    if (!larger) return false;
    from->text = larger;
    from->room = 2 * from->room + AT_A_TIME;
  }
  const ssize_t got = read(from->pipe_end, from->text + from->length, AT_A_TIME);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  from->length += (size_t)got;
  for (header h; from->length >= sizeof h; (*taken)++) {
    memcpy(&h, from->text, sizeof h);
    if (from->length - sizeof h < h.length) break;
    l->take(h.number, from->text + sizeof h, l->argument);
    from->length -= sizeof h + h.length;
    memmove(from->text, from->text + sizeof h + h.length, from->length);
  }
  return true;
}

/* Reads until all pipes are closed; returns the number of texts. */
static size_t listen_to(lane *all, int count, const lanes *l) {
  enum { TICK = 100 }; /* milliseconds */
  size_t taken = 0;
  for (int open = count; open > 0;) {
    struct pollfd ends[MOST_LANES];
    for (int i = 0; i < count; i++) ends[i] = (struct pollfd){.fd = all[i].pipe_end, .events = POLLIN};
    if (poll(ends, (nfds_t)count, TICK) < 0 && errno != EINTR) break;
    for (int i = 0; i < count; i++)
      if (all[i].pipe_end >= 0 && ends[i].revents && !read_lane(&all[i], l, &taken)) {
        close(all[i].pipe_end);
        all[i].pipe_end = -1;
        open--;
      }
    double at_work = 0.0;
    for (int i = 0; i < count; i++) at_work += atomic_load_explicit(&board->done[i], memory_order_relaxed);
    l->progress(at_work, l->argument);
  }
  return taken;
}

static bool start(lane *made, int number, const lanes *l) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  made->process = fork();
  if (made->process == 0) {
    close(ends[0]);
    run_lane(l, number, ends[1]);
  }
  close(ends[1]);
  made->pipe_end = ends[0];
  return made->process > 0;
}

bool lanes_run(const lanes *l) {
  lane all[MOST_LANES] = {{0}};
  const int wanted = lanes_count(l->count);
  int count = 0;
  board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (board == MAP_FAILED) {
    board = NULL;
    return false;
  }
  fflush(NULL); /* otherwise each lane would write buffered output again */
  while (count < wanted && start(&all[count], count, l)) count++;
  if (count < wanted) close(all[count].pipe_end);
  const size_t taken = listen_to(all, count, l);
  for (int i = 0; i < count; i++) {
    int status;
    while (waitpid(all[i].process, &status, 0) < 0 && errno == EINTR) {
    }
    free(all[i].text);
  }
  munmap(board, sizeof *board);
  board = NULL;
  return taken == l->count;
}
