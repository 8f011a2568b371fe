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

enum { LINE = 64 };

/* Memory that the plan and its helpers share: the last of them frees it. What changes within a call has cache lines of
   its own, as helpers that wait for a call read `calls` all the time. */
struct team {
  pthread_mutex_t mutex; /* of `helpers`, `ending` and the two conditions */
  pthread_cond_t called, done;
  int threads, helpers; /* wanted, with the caller; that run */
  bool ending;
  atomic_bool busy;      /* a call has the helpers: what is not atomic below is its */
  _Atomic pid_t process; /* they are of; 0: none was started */
  processors allowed;    /* to the caller that started them */
  int processor;         /* of the present caller */
  team_work *work;
  void *argument;
  int64_t parts;
  double ended;                     /* the last call, in seconds */
  _Alignas(LINE) atomic_uint calls; /* changes with each call */
  atomic_int asleep;
  _Alignas(LINE) _Atomic int64_t next;
  atomic_int working;        /* helpers that may take parts: the caller does not return before they are done */
  atomic_bool open, awaited; /* there may be parts to take; the caller sleeps until no helper works */
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

static void take_parts(team *t) {
  for (int64_t part; (part = atomic_fetch_add(&t->next, 1)) < t->parts;) t->work(t->argument, part);
}

/* Until there is another call than the one seen; false: the team ends. */
static bool await_call(team *t, unsigned *seen) {
  const double start = seconds();
  while (atomic_load(&t->calls) == *seen && seconds() - start < awake_seconds) pause_briefly();
  if (atomic_load(&t->calls) == *seen) {
    pthread_mutex_lock(&t->mutex);
    atomic_fetch_add(&t->asleep, 1);
    while (atomic_load(&t->calls) == *seen && !t->ending) pthread_cond_wait(&t->called, &t->mutex);
    atomic_fetch_sub(&t->asleep, 1);
    pthread_mutex_unlock(&t->mutex);
  }
  const unsigned calls = atomic_load(&t->calls);
  const bool is_call = calls != *seen;
  *seen = calls;
  return is_call;
}

/* `working` before `open`: a caller that closes, and then finds nobody at work, has the fields of the call to itself. */
static void help_call(team *t) {
  atomic_fetch_add(&t->working, 1);
  if (atomic_load(&t->open)) {
    keep_off(t);
    take_parts(t);
  }
  if (atomic_fetch_sub(&t->working, 1) != 1 || !atomic_load(&t->awaited)) return;
  pthread_mutex_lock(&t->mutex);
  pthread_cond_signal(&t->done);
  pthread_mutex_unlock(&t->mutex);
}

static void *help(void *argument) {
  team *t = argument;
  unsigned seen = 0; /* a helper starts within the first call */
  while (await_call(t, &seen)) help_call(t);
  pthread_mutex_lock(&t->mutex);
  const bool last = --t->helpers == 0;
  pthread_mutex_unlock(&t->mutex);
  if (last) munmap(t, sizeof *t);
  return NULL;
}

/* Nobody waits for their end: beside other work, that took as long as a call of 4 ms. */
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

/* Until no helper is at work. Most are done soon. */
static void await_helpers(team *t) {
  const double start = seconds();
  while (atomic_load(&t->working) && seconds() - start < awake_seconds) pause_briefly();
  if (!atomic_load(&t->working)) return;
  pthread_mutex_lock(&t->mutex);
  atomic_store(&t->awaited, true);
  while (atomic_load(&t->working)) pthread_cond_wait(&t->done, &t->mutex);
  atomic_store(&t->awaited, false);
  pthread_mutex_unlock(&t->mutex);
}

static bool take_helpers(team *t, int64_t parts) {
  const pid_t process = atomic_load(&t->process);
  if (parts < 2 || t->threads < 2 || (process && process != getpid())) return false;
  return !atomic_exchange(&t->busy, true);
}

static bool is_worthwhile(const team *t, double alone) {
  if (atomic_load(&t->asleep) < t->helpers || seconds() - t->ended < awake_seconds) return true;
  return alone >= (t->helpers || t->ended > 0 ? worth_waking : worth_starting);
}

static void run_alone(int64_t parts, team_work *work, void *argument) {
  for (int64_t part = 0; part < parts; part++) work(argument, part);
}

static void wake_helpers(team *t) {
  if (!atomic_load(&t->asleep)) return;
  pthread_mutex_lock(&t->mutex);
  pthread_cond_broadcast(&t->called);
  pthread_mutex_unlock(&t->mutex);
}

static void run_with_helpers(team *t, int64_t parts, team_work *work, void *argument) {
  t->work = work;
  t->argument = argument;
  t->parts = parts;
  t->processor = own_processor();
  atomic_store(&t->next, 0);
  atomic_store(&t->open, true);
  atomic_fetch_add(&t->calls, 1);
  wake_helpers(t);
  if (!atomic_load(&t->process)) start_helpers(t);
  take_parts(t);
  atomic_store(&t->open, false);
  await_helpers(t);
}

void team_run(team *t, int64_t parts, team_work *work, void *argument, double alone) {
  if (!take_helpers(t, parts)) {
    run_alone(parts, work, argument);
    return;
  }
  if (is_worthwhile(t, alone))
    run_with_helpers(t, parts, work, argument);
  else
    run_alone(parts, work, argument);
  t->ended = seconds();
  atomic_store(&t->busy, false);
}
