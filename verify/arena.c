/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/arena.h"

#include "common/work.h"
#include "verify/seal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

/*
 * guard pages | slack | rows … | slack | guard pages. Poison is a NaN that arithmetic does not produce; the slack has
 * another pattern. Rows begin on a page or, flush, end at the guard pages. So a write behind them faults, and a write
 * before them changes the slack.
 */
enum {
  PAGE = 4096,
  GUARD_BYTES = 16 * PAGE /* at least one page of the system */,
  HUGE_FROM = 1 << 23,
  POISON = ARENA_POISON,
  SLACK = 0xa5
};

struct arena {
  size_t room; /* bytes between the guards, a multiple of theirs: the rows and two pages */
  unsigned char *mapped;
  unsigned char *rows; /* at their last place */
  size_t bytes;
  arena *next;
};

/* All arenas, for the handler of faults. They may be created and destroyed only while one thread runs. */
static arena *arenas;

static arena *create(size_t bytes, bool sparse) {
  arena *a = calloc(1, sizeof *a);
  size_t mapped;
  if (!a || __builtin_add_overflow(bytes, 2 * PAGE + 3 * GUARD_BYTES, &mapped)) {
    free(a);
    return NULL;
  }
  a->room = (bytes + 2 * PAGE + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES;
  a->mapped = mmap(NULL, a->room + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (a->mapped == MAP_FAILED) {
    free(a);
    return NULL;
  }
  if (!sparse && mprotect(a->mapped + GUARD_BYTES, a->room, PROT_READ | PROT_WRITE) != 0) {
    munmap(a->mapped, a->room + 2 * GUARD_BYTES);
    free(a);
    return NULL;
  }
#ifdef MADV_HUGEPAGE
  if (!sparse && a->room >= HUGE_FROM)
    madvise(a->mapped, a->room + 2 * GUARD_BYTES, MADV_HUGEPAGE); /* faster to fill */
#endif
  a->next = arenas;
  arenas = a;
  return a;
}

arena *arena_create(size_t bytes) {
  return create(bytes, false);
}

arena *arena_create_sparse(size_t bytes) {
  return create(bytes, true);
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

const int64_t *arena_place_list(arena *a, const int64_t *list, int64_t count, bool flush) {
  const size_t bytes = (size_t)count * sizeof *list;
  if (mprotect(arena_begin(a), a->room, PROT_READ | PROT_WRITE) != 0) return list;
  unsigned char *to = flush ? arena_end(a) - bytes : arena_begin(a);
  memcpy(to, list, bytes);
  mprotect(arena_begin(a), a->room, PROT_READ);
  return (const int64_t *)(const void *)to;
}

unsigned char *arena_open(arena *a, size_t at, size_t bytes, size_t *after) {
  const size_t from = at - at % GUARD_BYTES, end = (at + bytes + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES;
  if (mprotect(arena_begin(a) + from, end - from, PROT_READ | PROT_WRITE) != 0) return NULL;
  memset(arena_begin(a) + from, POISON, end - from);
  *after = end - at - bytes;
  return arena_begin(a) + at;
}

unsigned char *arena_place_first(arena *a, size_t bytes) {
  return place(a, arena_begin(a), bytes);
}

unsigned char *arena_place_off(arena *a, size_t bytes, size_t offset) {
  return place(a, arena_begin(a) + PAGE + offset, bytes);
}

const unsigned char *arena_rows(const arena *a) {
  return a->rows;
}

/* Returns the number of bytes of slack, at most a page, that were written. */
static int64_t written(const unsigned char *slack, size_t bytes) {
  static unsigned char untouched[PAGE];
  if (!*untouched) memset(untouched, SLACK, PAGE);
  if (memcmp(slack, untouched, bytes) == 0) return 0;
  int64_t spills = 0;
  for (size_t i = 0; i < bytes; i++) spills += slack[i] != SLACK;
  return spills;
}

int64_t arena_spills(const arena *a) {
  const unsigned char *const tail = a->rows + a->bytes;
  const size_t before = (size_t)(a->rows - arena_begin(a)), after = (size_t)(arena_end(a) - tail),
               looked = before < PAGE ? before : PAGE;
  return written(a->rows - looked, looked) + written(tail, after < PAGE ? after : PAGE);
}

/* Returns the address of the instruction that faulted, or null. */
static const void *code_of(const void *context) {
#ifdef __x86_64__
  const ucontext_t *where = context;
  return (const void *)(uintptr_t)where->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  const ucontext_t *where = context;
  return (const void *)(uintptr_t)where->uc_mcontext.pc;
#else
  (void)context;
  return NULL;
#endif
}

/* Reports a fault; uses async-signal-safe calls only. */
static void tell_fault(int number, siginfo_t *info, void *context) {
  static const char words[] = MEMORY_LAST_WORDS;
  const unsigned char *at = info->si_addr;
  if (seal_allow_write(at, code_of(context))) return;
  for (const arena *a = arenas; a; a = a->next)
    if (at >= a->mapped && at < arena_end(a) + GUARD_BYTES) /* a guard, a list, or a part that is not open */
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

/*
 * Counts words of poison, all bits set. Hardly any block has one, so blocks are counted in a loop that compiles to
 * vectors, and the first word is searched for only in a block that has one.
 */
#define POISONED(word)                                                                                                 \
  static int64_t poisoned_##word(const unsigned char *out, size_t count, size_t *first) {                              \
    enum { BLOCK = 1024 };                                                                                             \
    const word poison = (word)-1;                                                                                      \
    int64_t found = 0;                                                                                                 \
    for (size_t from = 0; from < count; from += BLOCK) {                                                               \
      const size_t end = count - from < BLOCK ? count : from + BLOCK;                                                  \
      word here = 0, at;                                                                                               \
      _Pragma("omp simd reduction(+ : here) private(at)") for (size_t i = from; i < end; i++) {                        \
        memcpy(&at, out + i * sizeof at, sizeof at);                                                                   \
        here = (word)(here + (at == poison));                                                                          \
      }                                                                                                                \
      for (size_t i = from; here && !found; i++) {                                                                     \
        memcpy(&at, out + i * sizeof at, sizeof at);                                                                   \
        if (at != poison) continue;                                                                                    \
        *first = i * sizeof at;                                                                                        \
        break;                                                                                                         \
      }                                                                                                                \
      found += here;                                                                                                   \
    }                                                                                                                  \
    return found;                                                                                                      \
  }
POISONED(uint16_t)
POISONED(uint32_t)
POISONED(uint64_t)

int64_t arena_untouched(const unsigned char *out, size_t bytes, size_t element, size_t *first) {
  return element == 2   ? poisoned_uint16_t(out, bytes / 2, first)
         : element == 4 ? poisoned_uint32_t(out, bytes / 4, first)
                        : poisoned_uint64_t(out, bytes / 8, first);
}
