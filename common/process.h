/* SPDX-License-Identifier: MIT */
/* The state of a process, its floating-point environment and its threads: limits of them, and what a call changed. */
#ifndef POSENC_COMMON_PROCESS_H
#define POSENC_COMMON_PROCESS_H

#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct process_state process_state;

/* Starts OpenMP's threads, so that they make no difference between two states. */
void process_start_openmp(void);

/* Returns the current state; null if memory runs out. Threads that are not in `before`, unless that is null, have a
   second to end. */
process_state *process_read(const process_state *before);
void process_free(process_state *s);

/* Takes the open file descriptors as they are now: those of a device, which stays open. */
void process_keep_descriptors(process_state *s);

/* Returns the first difference, in a few words of static storage; null if there is none, or if a state is null. A
   threaded kernel may leave threads. */
const char *process_difference(const process_state *before, const process_state *after, bool is_threaded);

/* The state of a thread, on Linux: thread_read reads that of the calling one. It takes few system calls. */
typedef struct thread_state {
  sigset_t mask;
  int priority, scheduler, death_signal;
  cpu_set_t cpus;
  locale_t locale;
  stack_t signal_stack;
  char name[16];
} thread_state;

void thread_read(thread_state *s);
const char *thread_difference(const thread_state *before, const thread_state *after);

/* The allocated bytes of the process, and the size of its address space; 0 where the system does not provide them. */
typedef struct process_memory {
  uint64_t allocated, mapped;
} process_memory;
process_memory process_memory_read(void);

/* ---- floating-point environment -------------------------------------------------------------------------- */

/* The parts of the calling thread's floating-point environment that a call must not change. */

/* Sets the default environment, but with all exceptions raised, so that clearing one is seen. x86: that of SSE and of
   the x87, with the direction flag clear. */
void fpenv_set(void);

/* Undoes and returns the changes since fpenv_set, in a few words of static storage, or null. Calls may raise
   exceptions, but not clear them. */
const char *fpenv_restore(void);

/* ---- threads --------------------------------------------------------------------------------------------- */

/* The number of threads that can be started. */

#ifdef _OPENMP
#include <omp.h>
#endif

/* The largest number of threads of OpenMP's next team; and this thread's number in its team, from 0 on. */
static inline int threads_most(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

static inline int threads_this(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

/* Returns how many threads, including the caller, this process can have at once: at least 1 and at most `wanted`. It
   starts the other threads, which then end. Other processes may take threads between this call and the start of a
   team. */
int threads_available(int wanted);

/* Limits OpenMP's teams to `most` threads, unless it is 0, and to those that this process can start. Otherwise OpenMP's
   library ends the process if it cannot have all it wants. */
static inline void threads_limit(int most) {
#ifdef _OPENMP
  const int wanted = omp_get_max_threads();
  omp_set_num_threads(threads_available(most && most < wanted ? most : wanted));
#else
  (void)most;
#endif
}

/* Returns how many threads each process can have when so many works run side by side in processes, as many at a time
   as there are processors: all of them together have at most one for each processor. */
static inline int threads_each(size_t works) {
  const size_t all = (size_t)threads_most(), processes = works < all ? works : all;
  return processes ? (int)((all + processes - 1) / processes) : (int)all;
}

#endif
