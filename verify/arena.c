/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/arena.h"

#include "common/isolate.h"
#include "verify/seal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

/*
 * guard pages | slack | rows … | slack | guard pages. Poison is a NaN that no arithmetic makes; slack has another pattern. Rows begin on a page or,
 * flush, end at the guard: so a byte too many faults, and a byte too few is seen in the slack.
 */
enum { PAGE = 4096, GUARD_BYTES = 16 * PAGE, POISON = ARENA_POISON, SLACK = 0xa5 };

struct arena {
  size_t room; /* bytes between the guards, in whole pages: one page of slack, the rows, and a page to shift them by */
  unsigned char *mapped;
  unsigned char *rows; /* as last placed */
  size_t bytes;
  arena *next;
};

/* All arenas, for the handler of faults. Made and destroyed while one thread runs. */
static arena *arenas;

arena *arena_create(size_t bytes) {
  arena *a = calloc(1, sizeof *a);
  size_t mapped;
  if (!a || __builtin_add_overflow(bytes, 3 * PAGE + 2 * GUARD_BYTES, &mapped)) {
    free(a);
    return NULL;
  }
  a->room = (bytes + PAGE - 1) / PAGE * PAGE + 2 * PAGE;
  a->mapped = mmap(NULL, a->room + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (a->mapped == MAP_FAILED) {
    free(a);
    return NULL;
  }
  if (mprotect(a->mapped + GUARD_BYTES, a->room, PROT_READ | PROT_WRITE) != 0) {
    munmap(a->mapped, a->room + 2 * GUARD_BYTES);
    free(a);
    return NULL;
  }
  a->next = arenas;
  arenas = a;
  return a;
}

void arena_destroy(arena *a) {
  if (!a) return;
  for (arena **link = &arenas; *link; link = &(*link)->next)
    if (*link == a) {
      *link = a->next;
      break;
    }
  munmap(a->mapped, a->room + 2 * GUARD_BYTES);
  free(a);
}

static unsigned char *arena_begin(const arena *a) {
  return a->mapped + GUARD_BYTES;
}

static unsigned char *arena_end(const arena *a) {
  return a->mapped + GUARD_BYTES + a->room;
}

static unsigned char *place(arena *a, unsigned char *rows, size_t bytes) {
  a->rows = rows;
  a->bytes = bytes;
  unsigned char *const tail = a->rows + bytes;
  const size_t before = (size_t)(a->rows - arena_begin(a)), after = (size_t)(arena_end(a) - tail);
  memset(a->rows - (before < PAGE ? before : PAGE), SLACK, before < PAGE ? before : PAGE);
  memset(a->rows, POISON, bytes);
  memset(tail, SLACK, after < PAGE ? after : PAGE);
  return a->rows;
}

unsigned char *arena_place(arena *a, size_t bytes, bool flush) {
  return place(a, flush ? arena_end(a) - bytes : arena_begin(a) + PAGE, bytes);
}

unsigned char *arena_place_first(arena *a, size_t bytes) {
  return place(a, arena_begin(a), bytes);
}

unsigned char *arena_place_off(arena *a, size_t bytes, size_t offset) {
  return place(a, arena_begin(a) + PAGE + offset, bytes);
}

int64_t arena_spills(const arena *a) {
  const unsigned char *const tail = a->rows + a->bytes;
  const size_t before = (size_t)(a->rows - arena_begin(a)), after = (size_t)(arena_end(a) - tail);
  int64_t spills = 0;
  for (size_t i = 1; i <= before && i <= PAGE; i++) spills += a->rows[-(ptrdiff_t)i] != SLACK;
  for (size_t i = 0; i < after && i < PAGE; i++) spills += tail[i] != SLACK;
  return spills;
}

/* Where the instruction is that faulted, or null. */
static const void *code_of(const void *context) {
#ifdef __x86_64__
  const ucontext_t *where = context;
  return (const void *)(uintptr_t)where->uc_mcontext.gregs[REG_RIP];
#else
  (void)context;
  return NULL;
#endif
}

/* Only async-signal-safe calls. */
static void tell_fault(int number, siginfo_t *info, void *context) {
  static const char words[] = MEMORY_LAST_WORDS;
  const unsigned char *at = info->si_addr;
  if (seal_allow_write(at, code_of(context))) return;
  for (const arena *a = arenas; a; a = a->next)
    if ((at >= a->mapped && at < arena_begin(a)) || (at >= arena_end(a) && at < arena_end(a) + GUARD_BYTES))
      isolate_last_words(words, sizeof words - 1);
  signal(number, SIG_DFL);
  raise(number);
}

void arena_tell_faults(void) {
  static unsigned char stack[1 << 16];
  const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_sigaction = tell_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaltstack(&alternative, NULL);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}

/* Words of poison, all bits set. */
static inline int64_t poisoned(const unsigned char *out, size_t bytes, size_t element, size_t *first) {
  int64_t found = 0;
  for (size_t i = 0; i < bytes; i += element) {
    uint64_t word = UINT64_MAX;
    memcpy(&word, out + i, element);
    if (word == UINT64_MAX && !found++) *first = i;
  }
  return found;
}

int64_t arena_untouched(const unsigned char *out, size_t bytes, size_t element, size_t *first) {
  switch (element) { /* constants are faster */
  case 2:
    return poisoned(out, bytes, 2, first);
  case 4:
    return poisoned(out, bytes, 4, first);
  default:
    return poisoned(out, bytes, 8, first);
  }
}
