/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "lib/api/kernel.h"
#include "lib/api/store.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* How long helpers spin before they sleep. A call that follows another within this time may use the helpers: they are
   awake, or are woken because more calls may follow. */
static const double awake_seconds = 50e-6;

/* The shortest time of the work on one thread for which helpers are woken or started. Waking takes 15 µs and starting
   60 µs, and about as long again until the helpers work (doc/notebook.md). */
static const double worth_waking = 75e-6, worth_starting = 200e-6;

#ifdef __linux__
typedef cpu_set_t processors;
#else
typedef int processors;
#endif

/* Memory that the plan and its helpers share; the last of them frees it. Fields that change within a call have cache
   lines of their own, because helpers that wait for a call keep reading `calls`. */
struct team {
  pthread_mutex_t mutex; /* protects `helpers` and `ending`, with the two conditions */
  pthread_cond_t called, done;
  int threads, helpers; /* wanted, including the caller; running helpers */
  bool ending;
  atomic_bool busy;       /* a call uses the helpers and owns the fields below that are not atomic */
  _Atomic(pid_t) process; /* of the helpers; 0 if none was started */
  processors allowed;     /* those of the caller that started the helpers */
  int processor;          /* of the current caller */
  team_work *work;
  void *argument;
  int64_t parts;
  double ended;                           /* when the last call ended, in seconds */
  _Alignas(STORE_LINE) atomic_uint calls; /* changes with each call */
  atomic_int asleep;
  _Alignas(STORE_LINE) _Atomic(int64_t) next;
  atomic_int working;        /* helpers that may take parts; the caller returns when it is 0 */
  atomic_bool open, awaited; /* parts may be left; the caller sleeps until `working` is 0 */
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

/* Sets the processors of the caller's set other than the caller's current one; returns whether there are any. Helpers
   are bound to these because Linux wakes a thread on the processor of the thread that wakes it, and may leave both
   there for milliseconds while other processors are idle (doc/notebook.md). */
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
#ifdef __GLIBC__ /* musl lacks it: there, helpers begin on any processor */
  if (has_others(t, &others)) pthread_attr_setaffinity_np(how, sizeof others, &others);
#else
  (void)others, (void)how;
#endif
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

/* Waits for a call other than the one seen; returns false if the team ends. */
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

/* Increments `working` before it reads `open`. So when the caller has cleared `open` and then finds `working` at 0, no
   helper uses the fields of the call. */
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
  team *t = (team *)argument;
  unsigned seen = 0; /* helpers are started within the first call */
  while (await_call(t, &seen)) help_call(t);
  pthread_mutex_lock(&t->mutex);
  const bool last = --t->helpers == 0;
  pthread_mutex_unlock(&t->mutex);
  if (last) munmap(t, sizeof *t);
  return NULL;
}

/* Starts detached helpers. Joining them at the end, beside other work, took as long as a call of 4 ms. */
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

/* The team has pages of its own because it changes during calls, unlike everything else in a plan. */
team *team_create(int threads) {
  team *made = (team *)mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
  if (process && process == getpid()) { /* a forked child has no helpers of its own */
    pthread_mutex_lock(&t->mutex);
    t->ending = true;
    last = t->helpers == 0;
    pthread_cond_broadcast(&t->called);
    pthread_mutex_unlock(&t->mutex);
  }
  if (last) munmap(t, sizeof *t);
}

/* Waits until no helper is at work. It spins first, as most helpers are done soon. */
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
