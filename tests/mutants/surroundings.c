/* SPDX-License-Identifier: MIT */
/* Mutants with correct rows that change the floating-point environment or the process of their caller. */
#define _GNU_SOURCE
#include "tests/mutants/mutant.h"

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

/* Defines an execute with the good rows, and then DONE, once in a process. */
#define ONCE(function, DONE)                                                                                           \
  AFTER_ROWS(                                                                                                          \
      function, static atomic_bool done; if (!atomic_exchange(&done, true)) { DONE; })

/* ---- the floating-point environment ------------------------------------------------------------------- */

#ifdef __x86_64__
#define ON_X86(run) .execute = run

enum { ROUND_UP = 0x4000, MASK_OVERFLOW = 0x0400, MXCSR_FLAGS = 0x3f };

static void load_control(unsigned control) {
  const uint16_t word = (uint16_t)control;
  __asm__ volatile("fldcw %0" : : "m"(word));
}

static void set_rflags(uint64_t bits) {
  __writeeflags(__readeflags() | bits);
}

/* Makes the rows in the usual direction. */
static EXECUTE(mxcsr_rounding) {
  _mm_setcsr(_mm_getcsr() & ~(unsigned)ROUND_UP);
  good_rows(constants, problem, row, rows, out);
  _mm_setcsr(_mm_getcsr() | ROUND_UP);
}
AFTER_ROWS(mxcsr_masks, _mm_setcsr(_mm_getcsr() & ~(unsigned)MASK_OVERFLOW))
AFTER_ROWS(flags_cleared, _mm_setcsr(_mm_getcsr() & ~(unsigned)MXCSR_FLAGS))
AFTER_ROWS(x87_precision, load_control(0x027f))
AFTER_ROWS(x87_rounding, load_control(0x0f7f))
AFTER_ROWS(x87_masks, load_control(0x037b))
AFTER_ROWS(x87_cleared, __asm__ volatile("fnclex"))
AFTER_ROWS(x87_stack, __asm__ volatile("fld1"))
AFTER_ROWS(mmx_left, __asm__ volatile("pxor %%mm0, %%mm0" : : : "memory"))
AFTER_ROWS(backwards, set_rflags(0x400))
#else
#define ON_X86(run) .absent = "what it leaves changed is one of x86"
#endif

/* Changes the direction before the rows. */
AFTER_PLAN(prepare_upward, fesetround(FE_UPWARD))

static EXECUTE(restore_rounding) {
  const int given = fegetround();
  fesetround(FE_TONEAREST);
  good_rows(constants, problem, row, rows, out);
  fesetround(given);
}

static void release_upward(void *constants) {
  good_release(constants);
  fesetround(FE_UPWARD);
}

/* ---- the process ---------------------------------------------------------------------------------------- */

static void block(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigprocmask(SIG_BLOCK, &one, NULL);
}

static void limit_cores(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = limit.rlim_cur ? 0 : 4096;
  limit.rlim_max = limit.rlim_max < 4096 ? limit.rlim_cur : limit.rlim_max;
  setrlimit(RLIMIT_CORE, &limit);
}

static void start_timer(void) {
  const struct itimerval soon = {.it_value = {.tv_sec = 3600}};
  setitimer(ITIMER_VIRTUAL, &soon, NULL);
}

static void *wait_for_ever(void *argument) {
  for (;;) pause();
  return argument;
}

static void start_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, wait_for_ever, NULL) == 0) pthread_detach(thread);
}

static void replace_input(void) {
  const int nowhere = open("/dev/zero", O_RDONLY);
  dup2(nowhere, 0);
  close(nowhere);
}

static void bind_thread(void) {
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &cpus)) {
      CPU_ZERO(&cpus);
      CPU_SET(cpu, &cpus);
      break;
    }
  sched_setaffinity(0, sizeof cpus, &cpus);
}

static void start_child(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
}

ONCE(signal_blocked, block(SIGUSR1))
ONCE(signal_ignored, signal(SIGTERM, SIG_IGN))
ONCE(faults_handled, signal(SIGSEGV, SIG_DFL))
ONCE(folder_changed, if (chdir("/") != 0) abort())
ONCE(umask_changed, umask(umask(0) ^ 2))
ONCE(file_left, if (open("/dev/null", O_RDONLY) < 0) abort())
ONCE(file_closed, close(0))
ONCE(file_replaced, replace_input())
ONCE(variable_set, setenv("POSENC_MUTANT", "1", 1))
ONCE(locale_set, setlocale(LC_ALL, "C.UTF-8"))
ONCE(limit_set, limit_cores())
ONCE(thread_bound, bind_thread())
ONCE(timer_left, start_timer())
ONCE(thread_left, start_thread())
ONCE(priority_left, if (setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 1) != 0) abort())
ONCE(child_left, start_child())

#define ENVIRONMENT(called, fault, run)                                                                                \
  KERNEL(CONTRACT(0.5, called, fault), .can_do = mutant_can_do, .prepare = good_prepare, .release = good_release,      \
         ON_X86(run))

PLUGIN = {
    ENVIRONMENT("mxcsr-rounding", "leaves upward rounding on in MXCSR alone", mxcsr_rounding),
    ENVIRONMENT("mxcsr-masks", "lets overflow trap", mxcsr_masks),
    ENVIRONMENT("flags-cleared", "clears exceptions that MXCSR had raised", flags_cleared),
    ENVIRONMENT("x87-precision", "leaves the x87 in double precision", x87_precision),
    ENVIRONMENT("x87-rounding", "leaves the x87 rounding to zero", x87_rounding),
    ENVIRONMENT("x87-masks", "lets the x87 trap where it divides by zero", x87_masks),
    ENVIRONMENT("x87-cleared", "clears exceptions that the x87 had raised", x87_cleared),
    ENVIRONMENT("x87-stack", "leaves a number on the x87 stack", x87_stack),
    ENVIRONMENT("mmx-left", "uses MMX and leaves out emms", mmx_left),
    ENVIRONMENT("backwards", "leaves the direction flag set", backwards),
    MUTANT("prepare-upward", "leaves upward rounding on where it prepares", restore_rounding, .prepare = prepare_upward,
           .release = good_release),
    MUTANT("release-upward", "leaves upward rounding on where it releases", restore_rounding, .prepare = good_prepare,
           .release = release_upward),
    MUTANT_OF_GOOD("signal-blocked", "blocks a signal", signal_blocked),
    MUTANT_OF_GOOD("signal-ignored", "ignores a signal from then on", signal_ignored),
    MUTANT_OF_GOOD("faults-handled", "takes the handler of faults away", faults_handled),
    MUTANT_OF_GOOD("folder-changed", "changes the working directory", folder_changed),
    MUTANT_OF_GOOD("umask-changed", "changes the umask", umask_changed),
    MUTANT_OF_GOOD("file-left", "leaves a file descriptor open", file_left),
    MUTANT_OF_GOOD("file-closed", "closes standard input", file_closed),
    MUTANT_OF_GOOD("file-replaced", "makes standard input another file", file_replaced),
    MUTANT_OF_GOOD("variable-set", "sets an environment variable", variable_set),
    MUTANT_OF_GOOD("locale-set", "sets the locale", locale_set),
    MUTANT_OF_GOOD("limit-set", "sets a resource limit", limit_set),
    MUTANT_OF_GOOD("thread-bound", "binds its caller to a CPU", thread_bound),
    MUTANT_OF_GOOD("timer-left", "leaves a timer running", timer_left),
    MUTANT_OF_GOOD("thread-left", "leaves a thread running", thread_left),
    MUTANT_OF_GOOD("priority-left", "lowers the priority", priority_left),
    MUTANT_OF_GOOD("child-left", "leaves a process behind", child_left),
    NULL,
};
