/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

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
