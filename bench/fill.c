/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/fill.h"

#include "common/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What is timed at once. A smaller footprint is passed over until so much is written, so that the clock weighs nothing.
   In a larger one each stretch is the part after the last: a fraction of the time tells the same. */
static const size_t stretch_min = (size_t)1 << 23;
static const size_t stretch_max = (size_t)1 << 24;

enum { STRETCHES = 5, PREPARED_STRETCHES = 3 };

typedef void fill_method(unsigned char *buffer, size_t bytes);

static void fill_memset(unsigned char *buffer, size_t bytes) {
  memset(buffer, 0x55, bytes);
}

#ifdef __SSE2__
static void fill_stream(unsigned char *buffer, size_t bytes) {
  const __m128i value = _mm_set1_epi8(0x55);
  const size_t whole = bytes & ~(size_t)63;
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

/* One whole filling; NaN if it could not be prepared. */
static double prepared_rate(fill *f, fill_method *method) {
  if (!f->prepare(f)) return NAN;
  const double start = clock_seconds();
  method(f->buffer, f->bytes);
  const double seconds = clock_seconds() - start;
  return seconds > 0 ? (double)f->bytes / seconds : 0;
}

static double steady_rate(fill *f, fill_method *method) {
  const size_t bytes = f->bytes < stretch_max ? f->bytes : stretch_max;
  const size_t passes = (stretch_min + bytes - 1) / bytes;
  if (f->next > f->bytes - bytes) f->next = 0;
  unsigned char *place = f->buffer + f->next;
  const double start = clock_seconds();
  for (size_t pass = 0; pass < passes; pass++) {
    method(place, bytes);
    __asm__ volatile("" ::"r"(place) : "memory"); /* every pass counts, though the next one overwrites it */
  }
  const double seconds = clock_seconds() - start;
  f->next += bytes;
  return seconds > 0 ? (double)passes * (double)bytes / seconds : 0;
}

static int compare_rates(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The best of what starts warm. Where nothing stays in a cache for long the best is the stretch that happened to find some of
   its rows there, so it is the median. */
static double method_rate(fill *f, fill_method *method) {
  double rates[STRETCHES];
  const int count = f->prepare ? PREPARED_STRETCHES : STRETCHES;
  const bool warm = f->cached && !f->prepare;
  if (warm) method(f->buffer, f->bytes);
  for (int i = 0; i < count; i++) {
    rates[i] = f->prepare ? prepared_rate(f, method) : steady_rate(f, method);
    if (isnan(rates[i])) return NAN;
  }
  qsort(rates, (size_t)count, sizeof *rates, compare_rates);
  return rates[warm ? count - 1 : count / 2];
}

double fill_rate(fill *f) {
  double best = NAN;
#ifdef __SSE2__
  best = method_rate(f, fill_stream);
#endif
  /* Last, since it leaves the footprint in the caches, for the kernel that is timed next. */
  return fmax(best, method_rate(f, fill_memset));
}
