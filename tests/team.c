/* SPDX-License-Identifier: MIT */
/* Tests teams of threads (lib/api/kernel.h), and how many threads can be started (common/process.h). */
#include "common/memory.h"
#include "common/process.h"
#include "lib/api/kernel.h"
#include "tests/tap.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1000 };

typedef struct tally {
  atomic_int done[MOST], waiting, others, unmasked; /* `others`: parts of other threads than the caller */
  int together;                                     /* number of threads that wait for one another in a part */
  pthread_t caller;
} tally;

static void count(void *argument, int64_t part) {
  tally *t = argument;
  sigset_t mask;
  atomic_fetch_add(&t->done[part], 1);
  atomic_fetch_add(&t->waiting, 1);
  while (atomic_load(&t->waiting) < t->together) sched_yield();
  if (pthread_equal(pthread_self(), t->caller)) return;
  atomic_fetch_add(&t->others, 1);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  if (!sigismember(&mask, SIGUSR1) || !sigismember(&mask, SIGINT)) atomic_fetch_add(&t->unmasked, 1);
}

/* Whether that many parts were done, each once. */
static bool all_once(tally *t, team *by, int parts, int together) {
  memset(t, 0, sizeof *t);
  t->together = together;
  t->caller = pthread_self();
  team_run(by, parts, count, t, 1.0);
  bool all = true;
  for (int i = 0; i < MOST; i++) all = all && t->done[i] == (i < parts);
  return all;
}

static void test_parts(void) {
  static const int threads[] = {1, 2, 3, 7, 16};
  tally t;
  for (int n = 0; n < 5; n++) {
    team *by = team_create(threads[n]);
    bool all = by;
    for (int round = 0; by && round < 300; round++) {
      all = all && all_once(&t, by, round % 40 * 25, 1);
      if (round % 100 == 99) usleep(1000); /* so that helpers sleep */
    }
    ok(all, "%d threads do each part once, in 300 calls", threads[n]);
    team_destroy(by);
  }
  team_destroy(NULL);
}

static void test_helpers(void) {
  enum { THREADS = 3 };
  team *by = team_create(THREADS);
  tally t;
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  for (int round = 0; round < 2; round++) {
    const bool all = all_once(&t, by, THREADS, THREADS); /* ends only if three threads have a part at the same time */
    ok(all && t.others == THREADS - 1, "%s, %d helpers are at work with the caller",
       round ? "after they slept" : "at first", t.others);
    ok(t.unmasked == 0, "with all signals blocked");
    usleep(20000);
  }
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  ok(sigismember(&before, SIGUSR1) == sigismember(&after, SIGUSR1), "the caller's mask is what it was");
  team_destroy(by);
}

/* Takes so long that helpers get some of the parts. */
static void dawdle(void *argument, int64_t part) {
  tally *t = argument;
  (void)part;
  for (volatile int i = 0; i < 1000; i++) continue;
  if (!pthread_equal(pthread_self(), t->caller)) atomic_fetch_add(&t->others, 1);
}

/* Returns the number of parts of small work that helpers did. */
static int helped(team *by) {
  tally t = {.caller = pthread_self()};
  team_run(by, MOST, dawdle, &t, 1e-6);
  return t.others;
}

static void test_small_work(void) {
  team *by = team_create(2);
  tally t;
  ok(helped(by) == 0, "small work starts no helper");
  all_once(&t, by, 2, 2);
  int left = 0;
  for (int tries = 0; tries < 50 && !left; tries++) {
    usleep(20000);
    left = helped(by) == 0;
  }
  ok(left, "nor wakes one that sleeps");
  int calls = 0;
  while (calls < 100000 && helped(by) == 0) calls++;
  ok(calls < 100000, "unless calls follow each other");
  team_destroy(by);
}

static void *call(void *argument) {
  tally t;
  bool all = true;
  for (int round = 0; round < 200; round++) all = all && all_once(&t, argument, 50, 1);
  return all ? NULL : argument;
}

static void test_callers(void) {
  enum { CALLERS = 5 };
  team *by = team_create(3);
  pthread_t callers[CALLERS];
  int started = 0;
  bool all = true;
  while (started < CALLERS && pthread_create(&callers[started], NULL, call, by) == 0) started++;
  for (int i = 0; i < started; i++) {
    void *failed;
    pthread_join(callers[i], &failed);
    all = all && !failed;
  }
  ok(all && started > 1, "%d threads call one team at once", started);
  team_destroy(by);
}

static atomic_bool calling;

static void *call_on(void *argument) {
  tally t;
  while (atomic_load(&calling)) all_once(&t, argument, MOST, 1);
  return NULL;
}

/* Whether a team works in a child process, which has no helper, and where a thread that does not exist may have the
   lock. */
static bool works_in_child(team *by) {
  tally t;
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    const bool all = all_once(&t, by, 100, 1) && t.others == 0;
    team_destroy(by);
    _exit(all ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_fork(void) {
  enum { CHILDREN = 100 };
  team *by = team_create(2);
  tally t;
  pthread_t caller;
  int children = 0;
  all_once(&t, by, 2, 2);
  atomic_store(&calling, true);
  if (pthread_create(&caller, NULL, call_on, by) == 0) {
    while (children < CHILDREN && works_in_child(by)) children++;
    atomic_store(&calling, false);
    pthread_join(caller, NULL);
  }
  ok(children == CHILDREN, "forked children do all parts by themselves, while a thread calls: %d of %d", children,
     CHILDREN);
  ok(all_once(&t, by, 2, 2), "and the parent has its helper still");
  team_destroy(by);
}

static int count_tasks(void) {
  int tasks = -2;
  DIR *folder = opendir("/proc/self/task");
  while (folder && readdir(folder)) tasks++;
  if (folder) closedir(folder);
  return tasks;
}

static void test_available_threads(void) {
  const int before = count_tasks(), had = threads_available(5), after = count_tasks();
  ok(had >= 1 && had <= 5 && after - before <= SANITIZED, /* whose first thread creates one of the sanitizer */
     "%d of 5 threads can be started; %d run before, %d after", had, before, after);
  CHECK(threads_available(1) == 1);
  CHECK(threads_available(0) == 1);
  CHECK(threads_available(-7) == 1);
  CHECK(threads_available(INT32_MIN) == 1);
}

int main(void) {
  test_available_threads();
  CHECK(team_processors() >= 1 && team_processors() <= sysconf(_SC_NPROCESSORS_CONF));
  test_parts();
  test_helpers();
  test_small_work();
  test_callers();
  test_fork();
  return tap_done();
}
