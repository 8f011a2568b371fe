/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/worker.h"

#include "common/clock.h"
#include "common/process.h"
#include "common/terminal.h"
#include "common/work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool channel_key_make(channel_key *key) {
  return getrandom(key, sizeof *key, 0) == (ssize_t)sizeof *key;
}

/* ---- the code of a message ----------------------------------------------------------------------- */

static inline uint64_t rotated(uint64_t x, int bits) {
  return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], int count) {
  for (; count > 0; count--) {
    v[0] += v[1], v[2] += v[3];
    v[1] = rotated(v[1], 13) ^ v[0], v[3] = rotated(v[3], 16) ^ v[2];
    v[0] = rotated(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = rotated(v[1], 17) ^ v[2], v[3] = rotated(v[3], 21) ^ v[0];
    v[2] = rotated(v[2], 32);
  }
}

static void absorb(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  rounds(v, 2);
  v[0] ^= word;
}

/* Words are in the machine's byte order, as both ends are on one machine. The reference implementation uses little
   endian. */
uint64_t channel_code(const channel_key *key, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint64_t v[4] = {key->words[0] ^ UINT64_C(0x736f6d6570736575), key->words[1] ^ UINT64_C(0x646f72616e646f6d),
                   key->words[0] ^ UINT64_C(0x6c7967656e657261), key->words[1] ^ UINT64_C(0x7465646279746573)};
  uint64_t word, last = (uint64_t)count << 56;
  for (; count >= sizeof word; at += sizeof word, count -= sizeof word) {
    memcpy(&word, at, sizeof word);
    absorb(v, word);
  }
  for (size_t i = 0; i < count; i++) last |= (uint64_t)at[i] << 8 * i;
  absorb(v, last);
  v[2] ^= 0xff;
  rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t code_of(const channel_key *key, const message *m) {
  const size_t skipped = sizeof m->code;
  return channel_code(key, (const char *)m + skipped, MESSAGE_HEADER - skipped + m->length);
}

/* ---- both ends ----------------------------------------------------------------------------------- */

_Static_assert(offsetof(message, text) == MESSAGE_HEADER, "messages have no padding");

bool channel_send(sender *to, uint16_t kind, const void *text, size_t length) {
  message m = {.number = to->number++, .length = (uint16_t)length, .kind = kind};
  memcpy(m.text, text, length);
  m.code = code_of(&to->key, &m);
  const size_t all = MESSAGE_HEADER + length;
  ssize_t written;
  do {
    written = write(to->descriptor, &m, all);
  } while (written < 0 && errno == EINTR);
  return written == (ssize_t)all;
}

/* Reads until `wanted` bytes of the message are there, then returns RECEIVED. */
static reception fill(receiver *from, size_t wanted) {
  while (from->length < wanted) {
    const ssize_t got = read(from->descriptor, (char *)&from->next + from->length, wanted - from->length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? RECEIVED_NOTHING : RECEIVED_END;
    if (got == 0) return from->length ? RECEIVED_FORGERY : RECEIVED_END;
    from->length += (size_t)got;
  }
  return RECEIVED;
}

reception channel_receive(receiver *from) {
  message *m = &from->next;
  reception got = fill(from, MESSAGE_HEADER);
  if (got != RECEIVED) return got;
  if (m->length > MESSAGE_MOST || m->number != from->number) return RECEIVED_FORGERY;
  got = fill(from, MESSAGE_HEADER + m->length);
  if (got != RECEIVED) return got;
  if (m->code != code_of(&from->key, m)) return RECEIVED_FORGERY;
  m->text[m->length] = '\0';
  from->number++;
  from->length = 0;
  return RECEIVED;
}

size_t number_of_kernel(const isolation *how, const posenc_kernel *kernel) {
  for (size_t k = 0; kernel && k < how->kernel_count; k++)
    if (how->kernels[k] == kernel) return k + 1;
  return 0;
}

/* ---- in the worker ------------------------------------------------------------------------------- */

static pid_t worker; /* 0 in other processes */
static sender to_caller;
static int printed = -1; /* the pipe of stdout and stderr */
static int ordered = -1; /* the socket of orders */
static struct stat message_pipe, printed_pipe;
static const isolation *terms;
static shared *board;

bool isolate_inside(void) {
  return worker != 0;
}

/* Whether this is the worker. Ends a process that a kernel has forked and that returned to posenc's code. */
static bool is_worker(void) {
  if (worker && getpid() != worker) _exit(EXIT_MUTE);
  return worker != 0;
}

static void say(uint16_t kind, const void *text, size_t length) {
  if (!is_worker()) return;
  if (!channel_send(&to_caller, kind, text, length)) _exit(EXIT_MUTE);
}

/* Gives a sign of life, which wakes the caller, unless less than `apart` seconds, and less than a quarter of the time
   limit, have passed since the last one. */
static void live(double apart) {
  static double said;
  if (!worker) return;
  const double now = clock_seconds();
  if (now - said < fmin(apart, terms->silence / 4.0)) return;
  said = now;
  say(SAYS_DOING, "", 0);
}

static void say_doing(const char *text, size_t length, double share) {
  if (!is_worker()) return;
  if (length >= sizeof board->doing) length = sizeof board->doing - 1;
  memcpy(board->doing, text, length);
  board->doing[length] = '\0';
  board->share = share;
  live(0.02);
}

void isolate_go_on(void) {
  live(1.0);
}

void isolate_say(const char *text, double share) {
  say_doing(text, strlen(text), share);
}

void isolate_last_words(const char *text, size_t length) {
  say_doing(text, length, 0.0);
}

void isolate_tell(const char *line) {
  const size_t length = strlen(line);
  say(SAYS_LINE, line, length < MESSAGE_MOST ? length : MESSAGE_MOST);
}

void isolate_result(const char *text) {
  size_t left = strlen(text), some;
  do {
    some = left < MESSAGE_MOST ? left : MESSAGE_MOST;
    say(SAYS_RESULT, text, some);
    text += some;
    left -= some;
  } while (left > 0);
}

void isolate_fail(const char *why) {
  if (!is_worker()) return;
  isolate_say(why, 0.0);
  say(SAYS_FAILURE, "", 0);
  _exit(EXIT_ORDERLY);
}

bool isolate_order(void *order, size_t size) {
  ssize_t got;
  while ((got = recv(ordered, order, size, 0)) < 0 && errno == EINTR) continue;
  return got == (ssize_t)size;
}

void isolate_reply(const void *reply, size_t size) {
  say(SAYS_REPLY, reply, size);
}

static void say_progress(const progress *now) {
  say(SAYS_PROGRESS, now, sizeof *now);
}

bool isolate_has_children(void) {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/* Whether the descriptor still belongs to the same pipe. */
static bool is_same(int file, const struct stat *before) {
  struct stat now;
  return fstat(file, &now) == 0 && now.st_dev == before->st_dev && now.st_ino == before->st_ino;
}

static void wait_until_read(int file) {
  int unread = 0;
  while (ioctl(file, FIONREAD, &unread) == 0 && unread > 0) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* Ends a kernel's work: flushes its output, and checks descriptors and child processes. */
static void end_kernel(void) {
  fflush(stdout);
  fflush(stderr);
  if (!is_same(to_caller.descriptor, &message_pipe) || !is_same(printed, &printed_pipe)) _exit(EXIT_MUTE);
  if (!isolate_has_children()) return;
  say(SAYS_ORPHANS, "", 0);
  _exit(EXIT_ORDERLY);
}

void isolate_kernel(const posenc_kernel *kernel) {
  if (!is_worker()) return;
  const size_t number = number_of_kernel(terms, kernel);
  if (number == board->at_work) return;
  end_kernel();
  wait_until_read(printed); /* the caller attributes output to the kernel at work */
  wait_until_read(to_caller.descriptor);
  board->at_work = number;
}

/* Closes all descriptors except stdin, stdout, stderr and these. */
static void close_others(const int *kept, size_t count) {
  DIR *folder = opendir("/proc/self/fd");
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    const int file = atoi(entry->d_name);
    bool keep = file <= STDERR_FILENO || file == dirfd(folder);
    for (size_t i = 0; i < count; i++) keep = keep || file == kept[i];
    if (!keep) close(file);
  }
  if (folder) closedir(folder);
}

/* Moves a descriptor to a random number, which foreign code cannot guess. */
static int moved(int file, uint64_t random) {
  const int away = fcntl(file, F_DUPFD, 64 + (int)(random % 128));
  return away >= 0 ? away : file;
}

static void set_up_streams(int messages, int output, int orders) {
  const int nothing = open("/dev/null", O_RDONLY);
  to_caller.descriptor = moved(messages, to_caller.key.words[0] >> 32);
  printed = moved(output, to_caller.key.words[1] >> 32);
  ordered = moved(orders, to_caller.key.words[0]);
  fstat(to_caller.descriptor, &message_pipe);
  fstat(printed, &printed_pipe);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close_others((const int[]){to_caller.descriptor, printed, ordered}, 3);
}

/* Replaces the command line that this process shows in /proc, so that a kernel cannot tell from it
   whether it is verified or timed. In this process nothing else reads them. */
static void hide_options(void) {
  static const char name[] = "posenc";
  enum { BEFORE_ARGUMENTS = 45 }; /* fields of proc_pid_stat(5) between the name and arg_start */
  char line[2048];
  unsigned long start = 0, end = 0;
  FILE *file = fopen("/proc/self/stat", "r");
  const char *at = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
  if (file) fclose(file);
  for (int field = 0; at && field <= BEFORE_ARGUMENTS; field++) at = strchr(at + 1, ' ');
  if (!at || sscanf(at, "%lu %lu", &start, &end) != 2 || start >= end) return;
  memset((void *)(uintptr_t)start, 0, end - start);
  if (end - start > sizeof name) memcpy((void *)(uintptr_t)start, name, sizeof name);
}

/* Resets signal handlers, as the caller's would remove its files. */
static void forget_handlers(void) {
  static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], SIG_DFL);
}

static _Noreturn void work_in_worker(void (*work)(void *), void *argument, int messages, int output, int orders) {
  worker = getpid();
  board->worker = worker;
  if (terms->folder) setenv("TMPDIR", terms->folder, 1);
  set_up_streams(messages, output, orders);
  progress_divert(say_progress);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  threads_limit(terms->threads);
  work(argument);
  end_kernel();
  say(SAYS_END, "", 0);
  _exit(EXIT_ORDERLY);
}

/* ---- in the watcher ------------------------------------------------------------------------------ */

static bool littered;

static int remove_entry(const char *path, const struct stat *what, int kind, struct FTW *at) {
  (void)what;
  littered = littered || at->level > 0 || kind == FTW_DNR;
  if (kind == FTW_DP || kind == FTW_DNR)
    rmdir(path);
  else
    unlink(path);
  return 0;
}

/* Removes a folder with what is in it, and returns whether there was anything. */
static bool remove_folder(const char *path) {
  enum { OPEN_FOLDERS = 16 };
  nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
  return littered;
}

static void wake(int number) {
  (void)number;
}

/* Kills the children of this process. Orphans of the worker are among them, as this process is a subreaper. */
static void kill_children(void) {
  FILE *list = fopen("/proc/thread-self/children", "r");
  int child;
  while (list && fscanf(list, "%d", &child) == 1) kill(child, SIGKILL);
  if (list) fclose(list);
}

/* Kills orphans until none is left; gives up if they start others faster. Returns whether there were any. */
static bool kill_orphans(void) {
  bool any = false;
  for (int tries = 0; tries < 1000; tries++) {
    const pid_t child = waitpid(-1, NULL, WNOHANG | __WALL);
    if (child < 0) break;
    any = true;
    if (child > 0) continue;
    kill_children();
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  }
  return any;
}

/* Waits until the worker has ended or stopped, or the caller closes `release`; then kills its process group. The worker
   has not been reaped at that time, so no other group can have its number. */
static void await(pid_t watched, int release, const sigset_t *mask, worker_end *found) {
  struct pollfd held = {.fd = release, .events = POLLIN};
  siginfo_t event = {0};
  do {
    waitid(P_PID, (id_t)watched, &event, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL);
  } while (event.si_pid != watched && ppoll(&held, 1, NULL, mask) <= 0);
  kill(-watched, SIGKILL);
  kill(watched, SIGKILL);
  while (waitpid(watched, &found->status, __WALL) < 0 && errno == EINTR) {
  }
  if (event.si_pid == watched && event.si_code == CLD_STOPPED) found->status = W_STOPCODE(event.si_status);
}

_Noreturn void worker_watch(void (*work)(void *), void *argument, const isolation *how, const pipes *p,
                            const channel_key *key, shared *with) {
  terms = how;
  board = with;
  to_caller.key = *key;
  sigset_t blocked, before;
  worker_end found = {0};
  /* Those of other workers stay open otherwise, and none could be told to end. */
  close_others((const int[]){p->messages[1], p->output[1], p->release[0], p->verdicts[1], p->orders[1]}, 5);
  forget_handlers();
  hide_options();
  setpgid(0, 0); /* signals of the terminal go to the caller only; all end when it ends */
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGCHLD, wake);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const pid_t self = getpid(), child = fork();
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(EXIT_MUTE);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    work_in_worker(work, argument, p->messages[1], p->output[1], p->orders[1]);
  }
  if (child < 0) _exit(EXIT_MUTE);
  setpgid(child, child);
  await(child, p->release[0], &before, &found);
  found.orphans = kill_orphans();
  found.littered = how->folder && remove_folder(how->folder);
  _exit(write(p->verdicts[1], &found, sizeof found) == (ssize_t)sizeof found ? EXIT_ORDERLY : EXIT_MUTE);
}
