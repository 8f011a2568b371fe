/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "lib/api/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* A call that follows another one so soon finds the helpers awake, or wakes them: there may be many more. */
static const double awake_seconds = 50e-6;

/* Work that takes one thread less is done sooner without waking threads, or starting them: that takes 15 and 60 µs, and
   about as long until they are at work (doc/performance.md). */
static const double worth_waking = 75e-6, worth_starting = 200e-6;

#ifdef __linux__
typedef cpu_set_t processors;
#else
typedef int processors;
#endif

/* Memory that the plan and its helpers share: the last of them frees it. */
struct team {
  pthread_mutex_t mutex; /* of all that follows and is not atomic */
  pthread_cond_t called, done;
  int threads, helpers, asleep, working; /* wanted, with the caller; that run; that sleep; that have a part */
  bool busy, ending;                     /* a call has them; they are to end */
  _Atomic pid_t process;                 /* they are of; 0: none was started */
  atomic_uint calls;                     /* changes with each call */
  processors allowed;                    /* to the caller that started them */
  int processor;                         /* of the present caller */
  team_work *work;
  void *argument;
  int64_t parts, next;
  double ended; /* the last call, in seconds */
};

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void pause_briefly(void) {
#if defined(__x86_64__)
  for (int i = 0; i < 8; i++) __builtin_ia32_pause();
#endif
}

/* ---- processors ---- */

#ifdef __linux__
int team_processors(void) {
  cpu_set_t own;
  return sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : 1;
}

static int own_processor(void) {
  return sched_getcpu();
}

/* Linux wakes a thread on the processor of the one that wakes it, and may leave both there for milliseconds while
   others are idle (doc/performance.md). So a helper may use all that the caller may, but the caller's. */
static bool has_others(const team *t, processors *others) {
  *others = t->allowed;
  if (t->processor >= 0) CPU_CLR(t->processor, others);
  return CPU_COUNT(others) > 0;
}

static void keep_off(const team *t) {
  processors others;
  if (own_processor() == t->processor && has_others(t, &others)) sched_setaffinity(0, sizeof others, &others);
}

static void start_off(team *t, pthread_attr_t *how) {
  processors others;
  if (sched_getaffinity(0, sizeof t->allowed, &t->allowed) != 0) CPU_ZERO(&t->allowed);
  if (has_others(t, &others)) pthread_attr_setaffinity_np(how, sizeof others, &others);
}
#else
int team_processors(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (int)count : 1;
}

static int own_processor(void) {
  return -1;
}

static void keep_off(const team *t) {
  (void)t;
}

static void start_off(team *t, pthread_attr_t *how) {
  (void)t, (void)how;
}
#endif

/* ---- helpers ---- */

/* With the mutex, which it gives up during a part: parts, as long as there are any. */
static void take_parts(team *t) {
  while (t->next < t->parts) {
    const int64_t part = t->next++;
    pthread_mutex_unlock(&t->mutex);
    t->work(t->argument, part);
    pthread_mutex_lock(&t->mutex);
  }
}

/* Until another call, or the end; with the mutex. */
static void await_call(team *t, unsigned seen) {
  pthread_mutex_unlock(&t->mutex);
  const double start = seconds();
  while (atomic_load_explicit(&t->calls, memory_order_relaxed) == seen && seconds() - start < awake_seconds)
    pause_briefly();
  pthread_mutex_lock(&t->mutex);
  t->asleep++;
  while (atomic_load(&t->calls) == seen && !t->ending) pthread_cond_wait(&t->called, &t->mutex);
  t->asleep--;
}

static void *help(void *argument) {
  team *t = argument;
  unsigned seen = 0; /* a helper starts within the first call */
  pthread_mutex_lock(&t->mutex);
  while (!t->ending) {
    if (atomic_load(&t->calls) == seen) await_call(t, seen);
    seen = atomic_load(&t->calls);
    keep_off(t);
    t->working++;
    take_parts(t);
    if (--t->working == 0) pthread_cond_signal(&t->done);
  }
  const bool last = --t->helpers == 0;
  pthread_mutex_unlock(&t->mutex);
  if (last) munmap(t, sizeof *t);
  return NULL;
}

/* With the mutex. Nobody waits for their end: beside other work, that took as long as a call of 4 ms. */
static void start_helpers(team *t) {
  pthread_attr_t how;
  pthread_t helper;
  sigset_t all, before;
  atomic_store(&t->process, getpid());
  if (pthread_attr_init(&how) != 0) return;
  pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
  start_off(t, &how);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (t->helpers < t->threads - 1 && pthread_create(&helper, &how, help, t) == 0) t->helpers++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&how);
}

/* ---- the team ---- */

/* Pages of its own: it changes during calls, which nothing else of a plan does. */
team *team_create(int threads) {
  team *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return NULL;
  made->threads = threads;
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->called, NULL);
  pthread_cond_init(&made->done, NULL);
  return made;
}

void team_destroy(team *t) {
  if (!t) return;
  const pid_t process = atomic_load(&t->process);
  bool last = true;
  if (process && process == getpid()) { /* a forked child has no helpers */
    pthread_mutex_lock(&t->mutex);
    t->ending = true;
    last = t->helpers == 0;
    pthread_cond_broadcast(&t->called);
    pthread_mutex_unlock(&t->mutex);
  }
  if (last) munmap(t, sizeof *t);
}

/* With the mutex: until no helper is at work. Most are done soon. */
static void await_helpers(team *t) {
  const double start = seconds();
  while (t->working && seconds() - start < awake_seconds) {
    pthread_mutex_unlock(&t->mutex);
    pause_briefly();
    pthread_mutex_lock(&t->mutex);
  }
  while (t->working) pthread_cond_wait(&t->done, &t->mutex);
}

static bool take_helpers(team *t, int64_t parts) {
  const pid_t process = atomic_load(&t->process);
  if (parts < 2 || t->threads < 2 || (process && process != getpid())) return false;
  pthread_mutex_lock(&t->mutex);
  const bool taken = !t->busy;
  if (taken) t->busy = true;
  if (!taken) pthread_mutex_unlock(&t->mutex);
  return taken;
}

/* With the mutex. */
static bool is_worthwhile(const team *t, double alone) {
  if (t->asleep < t->helpers || seconds() - t->ended < awake_seconds) return true;
  return alone >= (t->helpers || t->ended > 0 ? worth_waking : worth_starting);
}

static void run_alone(int64_t parts, team_work *work, void *argument) {
  for (int64_t part = 0; part < parts; part++) work(argument, part);
}

/* With the mutex, which it gives up on the way. */
static void run_with_helpers(team *t, int64_t parts, team_work *work, void *argument) {
  t->work = work;
  t->argument = argument;
  t->parts = parts;
  t->next = 0;
  t->processor = own_processor();
  atomic_fetch_add(&t->calls, 1);
  if (t->asleep) pthread_cond_broadcast(&t->called);
  if (!atomic_load(&t->process)) start_helpers(t);
  take_parts(t);
  await_helpers(t);
  t->parts = t->next = 0;
}

void team_run(team *t, int64_t parts, team_work *work, void *argument, double alone) {
  if (!take_helpers(t, parts)) {
    run_alone(parts, work, argument);
    return;
  }
  if (is_worthwhile(t, alone)) {
    run_with_helpers(t, parts, work, argument);
  } else {
    pthread_mutex_unlock(&t->mutex);
    run_alone(parts, work, argument);
    pthread_mutex_lock(&t->mutex);
  }
  t->ended = seconds();
  t->busy = false;
  pthread_mutex_unlock(&t->mutex);
}
