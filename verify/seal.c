/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/seal.h"

#include "common/environment.h"
#include "common/sanitizer.h"

#if defined(__GLIBC__) && !SANITIZED

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* glibc's own functions, which it exports under these names for programs that replace the standard ones. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

/* Segments follow each other in address space that is reserved once. When no segment is in use, that space is used
   again from its beginning. The pages of AArch64 have 4, 16 or 64 KiB. */
enum { SEGMENTS = 256, PAGE = sizeof(void *) == 8 ? 1 << 16 : 1 << 12, HEADER = 16 };
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
  return (bytes + PAGE - 1) / PAGE * PAGE;
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

bool seal_allow_write(const void *address, const void *code_address) {
  if (!is_sealed(address) || !segment_of(address)) return false;
  if (!inside && !is_of(&openmp, code_address)) atomic_fetch_add(&writes, 1);
  unsigned char *page = region + (size_t)((const unsigned char *)address - region) / PAGE * PAGE;
  return mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0;
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
