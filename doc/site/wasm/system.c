/* SPDX-License-Identifier: MIT */
/* What emscripten's C library lacks, for the build for WebAssembly. */
#include <errno.h>
#include <mpfr.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
  (void)flags;
  return getentropy(bytes, count) == 0 ? (ssize_t)count : -1;
}

void *reallocarray(void *array, size_t count, size_t size) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, size, &bytes)) return realloc(array, bytes);
  errno = ENOMEM;
  return NULL;
}

/* What is of processes, threads and processors fails, as where a system refuses it. */
#define REFUSED(name, ...)                                                                                             \
  int name(__VA_ARGS__) {                                                                                              \
    errno = ENOSYS;                                                                                                    \
    return -1;                                                                                                         \
  }
REFUSED(memfd_create, const char *name, unsigned flags)
REFUSED(ppoll, struct pollfd *files, nfds_t count, const struct timespec *until, const sigset_t *mask)
REFUSED(posix_spawnp, pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
        const posix_spawnattr_t *attributes, char *const *arguments, char *const *variables)
REFUSED(prctl, int operation, ...)
REFUSED(pthread_attr_setstack, pthread_attr_t *attributes, void *stack, size_t size)
REFUSED(sched_getaffinity, pid_t thread, size_t size, cpu_set_t *set)
REFUSED(sched_getscheduler, pid_t process)
REFUSED(sched_setaffinity, pid_t thread, size_t size, const cpu_set_t *set)
REFUSED(__sched_cpucount, size_t size, const cpu_set_t *set)
REFUSED(sigaltstack, const stack_t *stack, stack_t *before)

/* musl has no 113 bits of expl and logl. */
static long double by_mpfr(int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t), long double x) {
  mpfr_t y;
  mpfr_init2(y, 113);
  mpfr_set_ld(y, x, MPFR_RNDN);
  function(y, y, MPFR_RNDN);
  x = mpfr_get_ld(y, MPFR_RNDN);
  mpfr_clear(y);
  return x;
}

long double expl(long double x) {
  return by_mpfr(mpfr_exp, x);
}

long double logl(long double x) {
  return by_mpfr(mpfr_log, x);
}
