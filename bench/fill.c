/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/fill.h"

#include "common/clock.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What is timed at once. A smaller footprint is passed over until so much is written, so that the clock weighs nothing.
   In a larger one each stretch is the part after the last, as cold as it is in a pass over all: a fraction of the time
   tells the same. */
static const size_t stretch_min = (size_t)1 << 20;
static const size_t stretch_max = (size_t)1 << 24;

static const double enough_seconds = 1e-3;
static const int enough_stretches = 2;

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

static double stretch_rate(fill *f, fill_method *method) {
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

static double best_rate(fill *f, fill_method *method) {
  double best = 0;
  const double start = clock_seconds();
  for (int i = 0; i < enough_stretches || clock_seconds() - start < enough_seconds; i++) {
    const double rate = stretch_rate(f, method);
    if (rate > best) best = rate;
  }
  return best;
}

double fill_rate(fill *f) {
  double best = best_rate(f, fill_memset);
#ifdef __SSE2__
  const double stream = best_rate(f, fill_stream);
  if (stream > best) best = stream;
#endif
  return best;
}
