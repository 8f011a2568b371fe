/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/limit.h"

#include "common/clock.h"
#include "common/number.h"
#include "posenc.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

/* The bytes that are timed at once. Over a smaller footprint, several passes are made, so that the time of reading the
   clock is negligible. A larger one is divided into stretches that are timed in turn, which takes a fraction of the
   time and gives the same speed. */
static const size_t stretch_min = (size_t)1 << 23;
static const size_t stretch_max = (size_t)1 << 24;

/* A preparation can take ten times as long as the timed pass, so there are fewer prepared stretches. */
enum { STRETCHES = 5, PREPARED_STRETCHES = 2 };

typedef void way(unsigned char *buffer, size_t bytes);

static void fill_memset(unsigned char *buffer, size_t bytes) {
  memset(buffer, 0x55, bytes);
}

#ifdef __x86_64__
static void fill_stream(unsigned char *buffer, size_t bytes) {
  const __m128i value = _mm_set1_epi8(0x55);
  const size_t to_line = -(uintptr_t)buffer & 63, before = to_line < bytes ? to_line : bytes,
               whole = (bytes - before) & ~(size_t)63;
  memset(buffer, 0x55, before);
  buffer += before;
  bytes -= before;
  for (size_t i = 0; i < whole; i += 64) {
    _mm_stream_si128((__m128i *)(buffer + i), value);
    _mm_stream_si128((__m128i *)(buffer + i + 16), value);
    _mm_stream_si128((__m128i *)(buffer + i + 32), value);
    _mm_stream_si128((__m128i *)(buffer + i + 48), value);
  }
  memset(buffer + whole, 0x55, bytes - whole);
  _mm_sfence();
}
#endif

/* Fills by regular stores of whole vectors, as kernels write smaller tables. */
#define FILL(name, attribute, width)                                                                                   \
  attribute static void name(unsigned char *buffer, size_t bytes) {                                                    \
    typedef unsigned char vector __attribute__((vector_size(width), aligned(1), may_alias));                           \
    const volatile unsigned char byte = 0x55;                                                                          \
    const vector value = byte - (vector){0};                                                                           \
    vector *out = (vector *)(void *)buffer;                                                                            \
    for (size_t block = 0; block < bytes / 64; block++, out += 64 / (width))                                           \
      _Pragma("GCC unroll 4") for (size_t i = 0; i < 64 / (width); i++) out[i] = value;                                \
    memset(out, 0x55, bytes % 64);                                                                                     \
  }
FILL(fill_generic, , 16)
#ifdef __x86_64__
FILL(fill_avx2, __attribute__((target("avx2"))), 32)
FILL(fill_avx512, __attribute__((target("avx512f"))), 64)
#endif

/* Scales by x *= 1, in blocks of 64 bytes, which are prefetched `ahead` bytes before. */
#define SCALE(name, attribute, width, ahead)                                                                           \
  attribute static void name(unsigned char *buffer, size_t bytes) {                                                    \
    typedef float vector __attribute__((vector_size(width), aligned(4), may_alias));                                   \
    const volatile float one = 1.0f;                                                                                   \
    const float constant = one;                                                                                        \
    vector *x = (vector *)(void *)buffer;                                                                              \
    for (size_t block = 0; block < bytes / 64; block++, x += 64 / (width)) {                                           \
      if (ahead) __builtin_prefetch((unsigned char *)x + (ahead), 1);                                                  \
      _Pragma("GCC unroll 4") for (size_t i = 0; i < 64 / (width); i++) x[i] *= constant;                              \
    }                                                                                                                  \
    float *rest = (float *)(void *)x;                                                                                  \
    for (size_t i = 0; i < bytes % 64 / sizeof *rest; i++) rest[i] *= constant;                                        \
  }
enum { AHEAD = 4096 };
SCALE(scale_generic, , 16, 0)
SCALE(scale_generic_ahead, , 16, AHEAD)
#ifdef __x86_64__
SCALE(scale_avx2, __attribute__((target("avx2"))), 32, 0)
SCALE(scale_avx2_ahead, __attribute__((target("avx2"))), 32, AHEAD)
SCALE(scale_avx512, __attribute__((target("avx512f"))), 64, 0)
SCALE(scale_avx512_ahead, __attribute__((target("avx512f"))), 64, AHEAD)
#endif

/* The ways to compare, null-terminated. The last way leaves the footprint in the caches, for the kernel that is timed
   next. */
typedef way *const *ways;

static ways ways_to_fill(void) {
#ifdef __x86_64__
  static way *const avx512[] = {fill_stream, fill_avx512, fill_memset, NULL};
  static way *const avx2[] = {fill_stream, fill_avx2, fill_memset, NULL};
  static way *const sse2[] = {fill_stream, fill_generic, fill_memset, NULL};
  const unsigned isa = posenc_isa_detect();
  if (isa & POSENC_ISA_AVX512) return avx512;
  return isa & POSENC_ISA_AVX2 ? avx2 : sse2;
#else
  static way *const generic[] = {fill_generic, fill_memset, NULL};
  return generic;
#endif
}

static ways ways_to_scale(void) {
#ifdef __x86_64__
  static way *const avx512[] = {scale_avx512_ahead, scale_avx512, NULL}, *const avx2[] = {scale_avx2_ahead, scale_avx2,
                                                                                          NULL};
  if (posenc_isa_detect() & POSENC_ISA_AVX512) return avx512;
  if (posenc_isa_detect() & POSENC_ISA_AVX2) return avx2;
#endif
  static way *const generic[] = {scale_generic_ahead, scale_generic, NULL};
  return generic;
}

/* ---- passes by several threads ---- */

/* The calling thread and its helpers, which spin between the passes of a limit, so that a pass starts at once.
   OpenMP's threads cannot be used, as they go on spinning afterwards, beside the kernel that is timed next: gcc's for
   some milliseconds, LLVM's for 200, and its omp_pause_resource_all hangs (LLVM 14 with OMP_WAIT_POLICY=active). */
typedef struct crew {
  int threads;
  /* The present pass, set before `passes` grows. Without work, the helpers end. */
  way *work;
  unsigned char *buffer;
  size_t bytes, part;
  atomic_int passes, at_work; /* at_work: the helpers that have not ended the present pass */
} crew;

typedef struct helper {
  crew *crew;
  int number; /* from 1 */
  pthread_t thread;
} helper;

/* Lets others run after a while: two threads on one processor would each spin through a time slice, and a limit took a
   second. Fewer polls before that make passes over 8 KiB five times as long where other work runs. */
static void wait_more(int *polls) {
  enum { POLLS = 20000 };
  if (++*polls > POLLS) sched_yield();
}

static void do_part(const crew *c, int number) {
  const size_t from = (size_t)number * c->part;
  if (from < c->bytes) c->work(c->buffer + from, c->bytes - from < c->part ? c->bytes - from : c->part);
}

static void *help(void *arg) {
  const helper *self = arg;
  crew *c = self->crew;
  for (int pass = 1;; pass++) {
    for (int polls = 0; atomic_load(&c->passes) < pass;) wait_more(&polls);
    if (!c->work) return NULL;
    do_part(c, self->number);
    atomic_fetch_sub(&c->at_work, 1);
  }
}

/* Makes one pass, divided among the threads at cache lines. */
static void pass_over(crew *c, way *work, unsigned char *buffer, size_t bytes) {
  const size_t line = 64;
  c->work = work;
  c->buffer = buffer;
  c->bytes = bytes;
  c->part = (bytes / (size_t)c->threads + line - 1) / line * line;
  atomic_store(&c->at_work, c->threads - 1);
  atomic_fetch_add(&c->passes, 1);
  do_part(c, 0);
  for (int polls = 0; atomic_load(&c->at_work) > 0;) wait_more(&polls);
}

static void end_helpers(crew *c, helper *helpers) {
  c->work = NULL;
  atomic_fetch_add(&c->passes, 1);
  for (int n = 1; n < c->threads; n++) pthread_join(helpers[n].thread, NULL);
}

/* Returns the bytes that a pass over `bytes` moves. */
static double moved(const limit *l, size_t bytes) {
  return (l->scales ? 2.0 : 1.0) * (double)bytes;
}

/* Returns the rate of a whole prepared pass; NaN if the preparation fails. */
static double prepared_rate(limit *l, way *work, crew *c) {
  if (!l->prepare(l)) return NAN;
  const double start = clock_seconds();
  pass_over(c, work, l->buffer, l->bytes);
  const double seconds = clock_seconds() - start;
  return seconds > 0 ? moved(l, l->bytes) / seconds : 0;
}

static double steady_rate(limit *l, way *work, crew *c) {
  const size_t bytes = l->bytes < stretch_max ? l->bytes : stretch_max;
  const size_t passes = (stretch_min + bytes - 1) / bytes;
  if (l->next > l->bytes - bytes) l->next = 0;
  unsigned char *place = l->buffer + l->next;
  const double start = clock_seconds();
  for (size_t pass = 0; pass < passes; pass++) {
    pass_over(c, work, place, bytes);
    __asm__ volatile("" ::"r"(place) : "memory"); /* keeps each pass, though the next overwrites it */
  }
  const double seconds = clock_seconds() - start;
  l->next += bytes;
  return seconds > 0 ? (double)passes * moved(l, bytes) / seconds : 0;
}

/* Returns the best rate if the state is prepared, or the footprint stays in a cache. For a larger footprint the best
   would be a stretch with some bytes in a cache by chance, so it returns the median. */
static double rate_of(limit *l, way *work, crew *c) {
  double rates[STRETCHES];
  const int count = l->prepare ? PREPARED_STRETCHES : STRETCHES;
  if (l->cached && !l->prepare) pass_over(c, work, l->buffer, l->bytes);
  for (int i = 0; i < count; i++) {
    rates[i] = l->prepare ? prepared_rate(l, work, c) : steady_rate(l, work, c);
    if (isnan(rates[i])) return NAN;
  }
  numbers_sort(rates, (size_t)count);
  return rates[l->cached || l->prepare ? count - 1 : count / 2];
}

/* Stops the OpenMP threads that the previous kernel left spinning: gcc's end; LLVM's sleep after a millisecond without
   work, unless OMP_WAIT_POLICY is active. */
static void rest_openmp(void) {
#ifdef HAVE_KMP_SET_BLOCKTIME
  kmp_set_blocktime(1);
#elif defined HAVE_OMP_PAUSE_RESOURCE_ALL
  omp_pause_resource_all(omp_pause_soft);
#endif
}

static double best_rate(limit *l, crew *c) {
  double best = NAN;
  for (ways all = l->scales ? ways_to_scale() : ways_to_fill(); *all; all++) best = fmax(best, rate_of(l, *all, c));
  return best;
}

double limit_rate(limit *l, int threads) {
  helper *helpers = calloc((size_t)threads, sizeof *helpers);
  crew all = {.threads = 1};
  rest_openmp();
  for (; helpers && all.threads < threads; all.threads++) {
    helper *one = &helpers[all.threads];
    *one = (helper){.crew = &all, .number = all.threads};
    if (pthread_create(&one->thread, NULL, help, one) != 0) break;
  }
  const bool complete = all.threads == threads;
  const double best = complete ? best_rate(l, &all) : NAN;
  end_helpers(&all, helpers);
  free(helpers);
  return best;
}

/* ---- eviction of data from caches ---- */

static const size_t cache_line = 64;

/* How many times the size of the last cache is read to evict it, as it does not evict strictly in the order of use.
   Measured with a cache of 32 MiB: reading a line that was in use takes 23 ns after half of the cache's size was read,
   116 ns after its size, 137 ns after twice its size, 147 ns after four times its size, and 144 ns after a flush. */
static const size_t excess = 2;
static const size_t unknown_cache = (size_t)1 << 26;

bool evictor_open(evictor *e, size_t last_cache_bytes) {
  e->bytes = excess * (last_cache_bytes ? last_cache_bytes : unknown_cache);
  e->memory = posenc_alloc(e->bytes);
  if (e->memory) memset(e->memory, 1, e->bytes); /* untouched memory would be one page of zeros */
  return e->memory;
}

void evictor_close(evictor *e) {
  posenc_free(e->memory);
  *e = (evictor){0};
}

/* Flushes memory from the caches of all cores: those of other cores may hold parts of a table that their threads
   wrote. */
static void flush(const unsigned char *memory, size_t bytes) {
#ifdef __SSE2__
  for (size_t i = 0; i < bytes; i += cache_line) _mm_clflush(memory + i);
  if (bytes) _mm_clflush(memory + bytes - 1);
  _mm_mfence();
#else
  (void)memory, (void)bytes;
#endif
}

void evict(const evictor *e, const unsigned char *memory, size_t bytes) {
  flush(memory, bytes);
  const volatile unsigned char *line = e->memory;
  for (size_t i = 0; i < e->bytes; i += cache_line) (void)line[i];
}
