/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/arena.h"

#include "common/environment.h"
#include "common/memory.h"
#include "common/work.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <link.h>
#endif

/* ---- plans whose memory is read-only while they execute -------------------------------------------------------- */

#if defined(__GLIBC__) && !SANITIZED

/* glibc's own functions, which it exports under these names for programs that replace the standard ones. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

/* Segments follow each other in address space that is reserved once. When no segment is in use, that space is used
   again from its beginning. The pages of AArch64 have 4, 16 or 64 KiB. */
enum { SEGMENTS = 256, SEALED_PAGE = sizeof(void *) == 8 ? 1 << 16 : 1 << 12, HEADER = 16 };
static size_t reserved = sizeof(void *) == 8 ? (size_t)1 << 40 : (size_t)1 << 28;

typedef struct segment {
  unsigned char *begin, *end; /* null if free */
  size_t live;                /* allocated bytes */
  bool released;              /* although some of it is still allocated */
} segment;

static unsigned char *region, *used_end, *writable_end; /* the ends of the used and of the writable part */
static segment segments[SEGMENTS];
static segment *open_segment;
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));
static atomic_int_fast64_t writes;
typedef struct code {
  const unsigned char *begin, *end;
} code;
static code openmp, loader;

static bool is_sealed(const void *address) {
  const unsigned char *at = address;
  return region && at >= region && at < region + reserved;
}

static segment *segment_of(const void *address) {
  const unsigned char *at = address;
  for (int i = 0; i < SEGMENTS; i++)
    if (segments[i].begin && at >= segments[i].begin && at < segments[i].end) return &segments[i];
  return NULL;
}

static size_t to_pages(size_t bytes) {
  return (bytes + SEALED_PAGE - 1) / SEALED_PAGE * SEALED_PAGE;
}

static bool is_of(const code *c, const void *address) {
  const unsigned char *at = address;
  return at >= c->begin && at < c->end;
}

/* Whether an allocation belongs to the plan that is being made, and so into its segment. The loader's allocations, for
   thread-local variables, do not. */
#define IS_INSIDE (inside && !is_of(&loader, __builtin_return_address(0)))

/* Allocates memory of the open segment, zeroed, with its size before it; null if the segment is full. */
static void *take(size_t bytes, size_t alignment) {
  if (alignment < HEADER) alignment = HEADER;
  const uintptr_t from = ((uintptr_t)used_end + HEADER + alignment - 1) & ~(uintptr_t)(alignment - 1);
  const size_t left = (size_t)(region + reserved - used_end);
  if (bytes > left || from - (uintptr_t)used_end > left - bytes) return NULL;
  unsigned char *memory = used_end + (from - (uintptr_t)used_end), *end = memory + bytes;
  if (end > writable_end) {
    const size_t more = to_pages((size_t)(end - writable_end));
    if (mprotect(writable_end, more, PROT_READ | PROT_WRITE) != 0) return NULL;
    writable_end += more;
  }
  memcpy(memory - sizeof bytes, &bytes, sizeof bytes);
  used_end = end;
  open_segment->end = end;
  open_segment->live += bytes;
  return memory;
}

static size_t size_of(const void *memory) {
  size_t bytes;
  memcpy(&bytes, (const unsigned char *)memory - sizeof bytes, sizeof bytes);
  return bytes;
}

static void give_back(void *memory) {
  segment *of = segment_of(memory);
  if (!of) return;
  of->live -= size_of(memory);
  if (of->released && of->live == 0) *of = (segment){.begin = NULL};
}

/* ---- the allocation functions of the program ------------------------------------------------------------ */

void *malloc(size_t bytes) {
  void *memory = IS_INSIDE ? take(bytes, HEADER) : NULL;
  return memory ? memory : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  size_t all;
  void *memory = IS_INSIDE && !__builtin_mul_overflow(count, bytes, &all) ? take(all, HEADER) : NULL;
  return memory ? memory : __libc_calloc(count, bytes);
}

void free(void *memory) {
  if (is_sealed(memory))
    give_back(memory);
  else
    __libc_free(memory);
}

void *realloc(void *memory, size_t bytes) {
  const bool moves = is_sealed(memory);
  if (!moves && !(inside && !memory)) return __libc_realloc(memory, bytes);
  void *moved = malloc(bytes);
  if (!moved || !memory) return moved;
  const size_t known = size_of(memory);
  memcpy(moved, memory, known < bytes ? known : bytes);
  free(memory);
  return moved;
}

void *memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes) {
  void *memory = IS_INSIDE && alignment && !(alignment & (alignment - 1)) ? take(bytes, alignment) : NULL;
  return memory ? memory : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void *) || alignment & (alignment - 1) || !alignment) return EINVAL;
  *memory = memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}

/* ---- segments --------------------------------------------------------------------------------------------- */

/* Finds the code of OpenMP's library and of the dynamic loader. */
static int find_code(struct dl_phdr_info *object, size_t size, void *argument) {
  (void)size, (void)argument;
  const bool is_loader = strstr(object->dlpi_name, "/ld-") || strstr(object->dlpi_name, "/ld64");
  if (!is_loader && !strstr(object->dlpi_name, "libgomp") && !strstr(object->dlpi_name, "libomp")) return 0;
  code *found = is_loader ? &loader : &openmp;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    found->begin = (const unsigned char *)(uintptr_t)(object->dlpi_addr + part->p_vaddr);
    found->end = found->begin + part->p_memsz;
  }
  return 0;
}

static bool reserve(void) {
  char name[ENVIRONMENT_TEXT];
  if (region) return true;
  /* qemu would take minutes to list all pages */
  if (environment_emulator(name)) reserved = (size_t)1 << (sizeof(void *) == 8 ? 32 : 28);
  void *memory = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  region = used_end = writable_end = memory;
  dl_iterate_phdr(find_code, NULL);
  return true;
}

bool seal_works(void) {
  return reserve();
}

/* Starts the segment on a page that no other segment uses. */
void seal_begin(void) {
  if (!reserve() || open_segment) return;
  for (int i = 0; i < SEGMENTS && !open_segment; i++)
    if (!segments[i].begin) open_segment = &segments[i];
  if (!open_segment) return;
  used_end = region + to_pages((size_t)(used_end - region));
  *open_segment = (segment){.begin = used_end, .end = used_end};
  inside = true;
}

void seal_end(void) {
  if (!open_segment) return;
  inside = false;
  mprotect(open_segment->begin, (size_t)(writable_end - open_segment->begin), PROT_READ);
  if (open_segment->end == open_segment->begin) *open_segment = (segment){.begin = NULL};
  open_segment = NULL;
}

void seal_break(const void *address) {
  const segment *of = is_sealed(address) ? segment_of(address) : NULL;
  if (of) mprotect(of->begin, to_pages((size_t)(of->end - of->begin)), PROT_READ | PROT_WRITE);
}

/* Makes whole pages inaccessible; they are zeros when they are used again. */
static void drop(unsigned char *begin, const unsigned char *end) {
  const size_t bytes = to_pages((size_t)(end - begin));
  madvise(begin, bytes, MADV_DONTNEED);
  mprotect(begin, bytes, PROT_NONE);
}

size_t seal_release(const void *address) {
  segment *of = is_sealed(address) ? segment_of(address) : NULL;
  if (!of) return 0;
  if (of->live > 0) { /* may still be in use */
    of->released = true;
    return of->live;
  }
  const segment ended = *of;
  *of = (segment){.begin = NULL};
  for (int i = 0; i < SEGMENTS; i++)
    if (segments[i].begin) {
      drop(ended.begin, ended.end);
      return 0;
    }
  drop(region, writable_end);
  used_end = writable_end = region;
  return 0;
}

/* Returns whether the address is sealed, for the handler of SIGSEGV. If so, makes the page writable and counts the
   write, unless it was made by code of OpenMP's library, whose threads' pools may begin in a segment, or while a plan
   is being made, which may add to data that plans share. Async-signal-safe. */
static bool seal_allow_write(const void *address, const void *code_address) {
  if (!is_sealed(address) || !segment_of(address)) return false;
  if (!inside && !is_of(&openmp, code_address)) atomic_fetch_add(&writes, 1);
  unsigned char *page = region + (size_t)((const unsigned char *)address - region) / SEALED_PAGE * SEALED_PAGE;
  return mprotect(page, SEALED_PAGE, PROT_READ | PROT_WRITE) == 0;
}

int64_t seal_writes(void) {
  return atomic_load(&writes);
}

#else

bool seal_works(void) {
  return false;
}

void seal_begin(void) {}

void seal_end(void) {}

void seal_break(const void *inside) {
  (void)inside;
}

size_t seal_release(const void *inside) {
  (void)inside;
  return 0;
}

bool seal_allow_write(const void *address, const void *code) {
  (void)address, (void)code;
  return false;
}

int64_t seal_writes(void) {
  return 0;
}

#endif

/* ---- arenas ---------------------------------------------------------------------------------------------------- */

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
  return allocated(create(bytes, false));
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

/* Reports a fault; uses async-signal-safe calls only. */
static void tell_fault(int number, siginfo_t *info, void *context) {
  static const char words[] = MEMORY_LAST_WORDS;
  const unsigned char *at = info->si_addr;
  if (seal_allow_write(at, ARENA_CODE_OF((const ucontext_t *)context))) return;
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
/* Makes: poisoned_uint16_t, poisoned_uint32_t, poisoned_uint64_t. */
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
  if (element == 2) return poisoned_uint16_t(out, bytes / 2, first);
  return element == 4 ? poisoned_uint32_t(out, bytes / 4, first) : poisoned_uint64_t(out, bytes / 8, first);
}
