/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/limit.h"

#include "common/clock.h"
#include "common/number.h"
#include "posenc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
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
  return isa & POSENC_ISA_AVX512 ? avx512 : isa & POSENC_ISA_AVX2 ? avx2 : sse2;
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

/* Makes one pass, divided among threads at cache lines. */
static void pass_over(way *work, unsigned char *buffer, size_t bytes, int threads) {
  const size_t line = 64, part = (bytes / (size_t)threads + line - 1) / line * line;
  if (threads == 1) {
    work(buffer, bytes);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int n = 0; n < threads; n++) {
    const size_t from = (size_t)n * part;
    if (from < bytes) work(buffer + from, bytes - from < part ? bytes - from : part);
  }
}

/* Returns the bytes that a pass over `bytes` moves. */
static double moved(const limit *l, size_t bytes) {
  return (l->scales ? 2.0 : 1.0) * (double)bytes;
}

/* Returns the rate of a whole prepared pass; NaN if the preparation fails. */
static double prepared_rate(limit *l, way *work, int threads) {
  if (!l->prepare(l)) return NAN;
  const double start = clock_seconds();
  pass_over(work, l->buffer, l->bytes, threads);
  const double seconds = clock_seconds() - start;
  return seconds > 0 ? moved(l, l->bytes) / seconds : 0;
}

static double steady_rate(limit *l, way *work, int threads) {
  const size_t bytes = l->bytes < stretch_max ? l->bytes : stretch_max;
  const size_t passes = (stretch_min + bytes - 1) / bytes;
  if (l->next > l->bytes - bytes) l->next = 0;
  unsigned char *place = l->buffer + l->next;
  const double start = clock_seconds();
  for (size_t pass = 0; pass < passes; pass++) {
    pass_over(work, place, bytes, threads);
    __asm__ volatile("" ::"r"(place) : "memory"); /* keeps each pass, though the next overwrites it */
  }
  const double seconds = clock_seconds() - start;
  l->next += bytes;
  return seconds > 0 ? (double)passes * moved(l, bytes) / seconds : 0;
}

/* Returns the best rate if the state is prepared, or the footprint stays in a cache. For a larger footprint the best
   would be a stretch with some bytes in a cache by chance, so it returns the median. */
static double rate_of(limit *l, way *work, int threads) {
  double rates[STRETCHES];
  const int count = l->prepare ? PREPARED_STRETCHES : STRETCHES;
  if (l->cached && !l->prepare) pass_over(work, l->buffer, l->bytes, threads);
  for (int i = 0; i < count; i++) {
    rates[i] = l->prepare ? prepared_rate(l, work, threads) : steady_rate(l, work, threads);
    if (isnan(rates[i])) return NAN;
  }
  numbers_sort(rates, (size_t)count);
  return rates[l->cached || l->prepare ? count - 1 : count / 2];
}

/* Starts OpenMP's threads outside of the timed passes. They are ended afterwards so that they do not spin on processors
   of the next kernel's threads: gcc's spin for some milliseconds, which made rotation-threads take 304 instead of 225
   µs. */
static void start_threads(int threads) {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  (void)omp_get_thread_num();
#else
  (void)threads;
#endif
}

static void end_threads(void) {
#ifdef HAVE_OMP_PAUSE_RESOURCE_ALL
  omp_pause_resource_all(omp_pause_soft);
#endif
}

double limit_rate(limit *l, int threads) {
  double best = NAN;
  if (threads > 1) start_threads(threads);
  for (ways all = l->scales ? ways_to_scale() : ways_to_fill(); *all; all++)
    best = fmax(best, rate_of(l, *all, threads));
  end_threads(); /* including those of a kernel */
  return best;
}
