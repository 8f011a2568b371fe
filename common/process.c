/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/process.h"

#include "common/environment.h"
#include "common/work.h"

#include <dirent.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS = 65, LIMITS = 16, TIMERS = 3, DESCRIPTORS = 1024 };

typedef struct descriptor {
  bool open;
  dev_t device;
  ino_t inode;
  int flags, own_flags; /* from F_GETFL and F_GETFD */
} descriptor;

struct process_state {
  thread_state own; /* of the reading thread */
  struct sigaction actions[SIGNALS];
  dev_t folder_device;
  ino_t folder_inode;
  mode_t umask;
  char locale[256];
  uint64_t environment; /* a digest */
  struct rlimit limits[LIMITS];
  struct itimerval timers[TIMERS];
  pid_t group, session;
  int is_dumpable;
  bool has_children;
  int64_t threads;
  descriptor descriptors[DESCRIPTORS];
};

extern char **environ;

/* Returns the FNV-1a digest of all strings, in their order. */
static uint64_t digest_environment(void) {
  uint64_t digest = UINT64_C(14695981039346656037);
  for (char **entry = environ; entry && *entry; entry++)
    for (const char *c = *entry;; c++) {
      digest = (digest ^ (unsigned char)*c) * UINT64_C(1099511628211);
      if (!*c) break;
    }
  return digest;
}

void process_keep_descriptors(process_state *s) {
  for (int i = 0; i < DESCRIPTORS; i++) {
    struct stat what;
    descriptor *d = &s->descriptors[i];
    *d = (descriptor){0};
    if (fstat(i, &what) == 0) *d = (descriptor){true, what.st_dev, what.st_ino, fcntl(i, F_GETFL), fcntl(i, F_GETFD)};
  }
}

/* The compiler would remove an empty region. */
void process_start_openmp(void) {
#pragma omp parallel
  {
#pragma omp barrier
  }
}

/* Returns the number of threads; 0 if the system does not provide it. */
static int64_t count_threads(void) {
  int64_t threads = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return 0;
  while (readdir(tasks)) threads++;
  closedir(tasks);
  return threads - 2; /* . and .. */
}

void thread_read(thread_state *s) {
  *s = (thread_state){.priority = getpriority(PRIO_PROCESS, 0)};
  pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
  s->scheduler = sched_getscheduler(0);
  sched_getaffinity(0, sizeof s->cpus, &s->cpus);
  s->locale = uselocale((locale_t)0);
  sigaltstack(NULL, &s->signal_stack);
  prctl(PR_GET_NAME, s->name);
  prctl(PR_GET_PDEATHSIG, &s->death_signal);
}

process_state *process_read(const process_state *before) {
  process_state *s = calloc(1, sizeof *s);
  struct stat folder;
  if (!s) return NULL;
  for (int i = 1; i < SIGNALS; i++) sigaction(i, NULL, &s->actions[i]); /* fails for signals that do not exist */
  if (stat(".", &folder) == 0) {
    s->folder_device = folder.st_dev;
    s->folder_inode = folder.st_ino;
  }
  s->umask = umask(0);
  umask(s->umask);
  snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
  s->environment = digest_environment();
  for (int i = 0; i < LIMITS; i++) getrlimit((__rlimit_resource_t)i, &s->limits[i]);
  for (int i = 0; i < TIMERS; i++) getitimer((__itimer_which_t)i, &s->timers[i]);
  s->group = getpgrp();
  s->session = getsid(0);
  s->is_dumpable = prctl(PR_GET_DUMPABLE);
  s->has_children = isolate_has_children();
  s->threads = count_threads();
  for (int n = 0; before && s->threads > before->threads && n < 100; n++) {
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    s->threads = count_threads();
  }
  thread_read(&s->own);
  process_keep_descriptors(s);
  return s;
}

void process_free(process_state *s) {
  free(s);
}

static bool same_signals(const thread_state *a, const thread_state *b) {
  for (int i = 1; i < SIGNALS; i++)
    if (sigismember(&a->mask, i) != sigismember(&b->mask, i)) return false;
  return true;
}

const char *thread_difference(const thread_state *before, const thread_state *after) {
  if (!same_signals(before, after)) return "the signal mask is another";
  if (before->priority != after->priority || before->scheduler != after->scheduler) return "the priority is another";
  if (before->locale != after->locale) return "the locale of the thread is another";
  if (before->signal_stack.ss_sp != after->signal_stack.ss_sp) return "the stack for signals is another";
  if (strcmp(before->name, after->name) != 0) return "the thread has another name";
  if (before->death_signal != after->death_signal) return "what prctl tells of the thread is another";
  if (!CPU_EQUAL(&before->cpus, &after->cpus)) return "the thread is bound to other CPUs";
  return NULL;
}

/* sigaction() of glibc adds Linux's SA_RESTORER, so actions that were replaced and restored have it. */
static bool same_actions(const process_state *a, const process_state *b) {
  const int restorer = 0x04000000;
  for (int i = 1; i < SIGNALS; i++)
    if (a->actions[i].sa_handler != b->actions[i].sa_handler ||
        (a->actions[i].sa_flags ^ b->actions[i].sa_flags) & ~restorer)
      return false;
  return true;
}

static bool same_timers(const process_state *a, const process_state *b) {
  for (int i = 0; i < TIMERS; i++)
    if (timerisset(&a->timers[i].it_value) != timerisset(&b->timers[i].it_value)) return false;
  return true;
}

static bool same_limits(const process_state *a, const process_state *b) {
  for (int i = 0; i < LIMITS; i++)
    if (a->limits[i].rlim_cur != b->limits[i].rlim_cur || a->limits[i].rlim_max != b->limits[i].rlim_max) return false;
  return true;
}

static const char *descriptor_difference(const process_state *before, const process_state *after) {
  for (int i = 0; i < DESCRIPTORS; i++) {
    const descriptor *a = &before->descriptors[i], *b = &after->descriptors[i];
    if (!a->open && b->open) return "a file descriptor is left open";
    if (a->open && !b->open) return "a file descriptor is closed";
    if (a->open && (a->device != b->device || a->inode != b->inode)) return "a file descriptor is another file";
    if (a->open && (a->flags != b->flags || a->own_flags != b->own_flags)) return "a file descriptor has other flags";
  }
  return NULL;
}

const char *process_difference(const process_state *before, const process_state *after, bool is_threaded) {
  if (!before || !after) return NULL;
  const char *difference = thread_difference(&before->own, &after->own);
  if (difference) return difference;
  if (!same_actions(before, after)) return "a signal is handled otherwise";
  if (before->folder_device != after->folder_device || before->folder_inode != after->folder_inode)
    return "the working directory is another";
  if (before->umask != after->umask) return "the umask is another";
  if (strcmp(before->locale, after->locale) != 0) return "the locale is another";
  if (before->environment != after->environment) return "the environment variables are others";
  if (!same_limits(before, after)) return "a resource limit is another";
  if (!same_timers(before, after)) return "a timer was started or stopped";
  if (before->group != after->group || before->session != after->session) return "the process group is another";
  if (before->is_dumpable != after->is_dumpable) return "what prctl tells of the process is another";
  if (!before->has_children && after->has_children) return "a process is left behind";
  if (!is_threaded && before->threads < after->threads) return "it is not threaded, and leaves threads running";
  return descriptor_difference(before, after);
}

process_memory process_memory_read(void) {
  process_memory now = {0, 0};
  unsigned long long pages;
  char name[ENVIRONMENT_TEXT];
  FILE *sizes = environment_emulator(name) ? NULL : fopen("/proc/self/statm", "r"); /* not of the emulator */
  if (sizes && fscanf(sizes, "%llu", &pages) == 1) now.mapped = pages * (uint64_t)sysconf(_SC_PAGESIZE);
  if (sizes) fclose(sizes);
#ifdef HAVE_MALLINFO2
  const struct mallinfo2 heap = mallinfo2();
  now.allocated = heap.uordblks + heap.hblkhd;
#endif
  return now;
}

/* ---- floating-point environment -------------------------------------------------------------------------- */

#ifdef __x86_64__
#include <x86intrin.h>

/* Bits of MXCSR: raised exceptions, subnormals as zero, masks of exceptions, rounding, flush to zero. */
enum { SSE_FLAGS = 0x3f, SSE_DAZ = 0x40, SSE_MASKS = 0x1f80, SSE_ROUNDING = 0x6000, SSE_FTZ = 0x8000 };
enum { X87_MASKS = 0x3f, X87_PRECISION = 0x300, X87_ROUNDING = 0xc00 };          /* of the control word */
enum { X87_FLAGS = 0x3f, X87_TOP = 0x3800 };                                     /* of the status word */
enum { FLAG_DIRECTION = 0x400, FLAG_NESTED = 0x4000, FLAG_ALIGNMENT = 0x40000 }; /* of RFLAGS */
enum { FLAGS = FLAG_DIRECTION | FLAG_NESTED | FLAG_ALIGNMENT };

/* The form in which FNSTENV stores the x87 environment in 64-bit mode. */
typedef struct x87_environment {
  uint16_t control, unused0, status, unused1, tags, unused2;
  uint32_t unused3[4];
} x87_environment;

typedef struct fpenv {
  uint64_t flags; /* RFLAGS */
  uint32_t mxcsr;
  uint16_t control, status, tags; /* of the x87 */
} fpenv;

/* The environment to restore; each thread has its own. */
static _Thread_local fpenv standard;
static _Thread_local bool is_set;

/* Reads the environment. The direction flag is read first, as compiled code relies on it. FNSTENV masks all exceptions
   of the x87, which is their default. */
static fpenv read_environment(void) {
  x87_environment x87;
  fpenv now = {.flags = __readeflags() & FLAGS};
  if (now.flags) __writeeflags(__readeflags() & ~(uint64_t)FLAGS);
  __asm__ volatile("fnstenv %0" : "=m"(x87) : : "memory");
  now.mxcsr = _mm_getcsr();
  now.control = x87.control;
  now.status = x87.status;
  now.tags = x87.tags;
  return now;
}

static void set_environment(void) {
  x87_environment x87;
  __asm__ volatile("fninit\n\tfnstenv %0" : "=m"(x87) : : "memory");
  x87.status |= X87_FLAGS;
  __asm__ volatile("fldenv %0" : : "m"(x87));
  _mm_setcsr(SSE_MASKS | SSE_FLAGS);
  standard = read_environment();
}

static const char *difference(const fpenv *now) {
  const uint32_t sse = standard.mxcsr ^ now->mxcsr;
  const unsigned control = standard.control ^ now->control, status = standard.status ^ now->status;
  if (now->flags & FLAG_DIRECTION) return "the direction flag is set";
  if (now->flags) return "flags of the processor are set";
  if (sse & SSE_ROUNDING) return "MXCSR has another rounding direction";
  if (sse & SSE_FTZ) return "MXCSR has another flush-to-zero";
  if (sse & SSE_DAZ) return "MXCSR has another denormals-are-zero";
  if (sse & SSE_MASKS) return "MXCSR masks other exceptions";
  if (standard.mxcsr & ~now->mxcsr & SSE_FLAGS) return "exceptions that MXCSR had raised are cleared";
  if (control & X87_ROUNDING) return "the x87 has another rounding direction";
  if (control & X87_PRECISION) return "the x87 has another precision";
  if (control & X87_MASKS) return "the x87 masks other exceptions";
  if (standard.tags != now->tags || status & X87_TOP) return "the x87 registers are not empty, as they were";
  if (standard.status & ~now->status & X87_FLAGS) return "exceptions that the x87 had raised are cleared";
  return NULL;
}
#else
typedef struct fpenv {
  int rounding, exceptions;
  bool keeps_tiny; /* subnormal results and operands are not replaced by zero */
} fpenv;

/* The environment to restore; each thread has its own. */
static _Thread_local fpenv standard;
static _Thread_local bool is_set;

static fpenv read_environment(void) {
  static volatile float least = FLT_MIN, subnormal = 0x1p-140f;
  fpenv now = {.rounding = fegetround(),
               .exceptions = fetestexcept(FE_ALL_EXCEPT)}; /* read before the next line raises some */
  now.keeps_tiny = least * 0.5f != 0.0f && subnormal * 1.0f != 0.0f;
  return now;
}

static void set_environment(void) {
  fesetenv(FE_DFL_ENV);
  feraiseexcept(FE_ALL_EXCEPT);
  standard = read_environment();
}

static const char *difference(const fpenv *now) {
  if (standard.rounding != now->rounding) return "the rounding direction is another";
  if (standard.keeps_tiny != now->keeps_tiny) return "subnormals are treated otherwise";
  if (standard.exceptions & ~now->exceptions) return "exceptions that had been raised are cleared";
  return NULL;
}
#endif

/* Before its first use, tells LLVM's OpenMP not to clear raised exceptions in the threads of a parallel region. */
__attribute__((constructor)) static void keep_exceptions(void) {
  setenv("KMP_INHERIT_FP_CONTROL", "false", 0);
}

void fpenv_set(void) {
  set_environment();
  is_set = true;
}

const char *fpenv_restore(void) {
  if (!is_set) fpenv_set();
  const fpenv now = read_environment();
  const char *found = difference(&now);
  if (found) fpenv_set();
  return found;
}

/* ---- threads --------------------------------------------------------------------------------------------- */

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>

static long own_number(void) {
  return syscall(SYS_gettid);
}

/* Whether the system still counts a thread. After it was joined, it counts against the limits for some more
   microseconds. */
static bool is_counted(long number) {
  return syscall(SYS_tgkill, (long)getpid(), number, 0L) == 0;
}
#else
static long own_number(void) {
  return 0;
}
static bool is_counted(long number) {
  (void)number;
  return false;
}
#endif

/* Limits the waiting, in case a system never forgets a thread. */
enum { YIELDS_MOST = 10000 };

typedef struct started {
  pthread_t thread;
  pthread_mutex_t *gate;
  long number;
} started;

static void *wait_at_gate(void *argument) {
  started *mine = argument;
  mine->number = own_number();
  pthread_mutex_lock(mine->gate);
  pthread_mutex_unlock(mine->gate);
  return NULL;
}

int threads_available(int wanted) {
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  int count = 0;
  if (wanted <= 1) return 1;
  started *others = calloc((size_t)wanted - 1, sizeof *others);
  if (!others) return 1;
  pthread_mutex_lock(&gate);
  for (; count < wanted - 1; count++) {
    others[count].gate = &gate;
    if (pthread_create(&others[count].thread, NULL, wait_at_gate, &others[count]) != 0) break;
  }
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < count; i++) pthread_join(others[i].thread, NULL);
  for (int i = 0, yields = 0; i < count; i++)
    while (is_counted(others[i].number) && yields++ < YIELDS_MOST) sched_yield();
  pthread_mutex_destroy(&gate);
  free(others);
  return count + 1;
}
