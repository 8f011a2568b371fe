/* SPDX-License-Identifier: MIT */
/* Rows of the competitors. Compiled once per instruction set, with -DROWS_GENERIC, -DROWS_AVX2 or -DROWS_AVX512. */
#include "config.h"

#include "impls/peers/peers.h"

#include <immintrin.h>
#include <string.h>

#ifdef HAVE_SLEEF
#include <sleef.h>
#endif

/* ---- vectors ----------------------------------------------------------------------------------- */

/*
 * Macros of an instruction set. ROWS: the table of writers. LANES: doubles in a vector. TO_FLOATS: the doubles of a and
 * b as floats. INTRINSIC(name): an intrinsic. EACH(f): indices of a shuffle, of which f gives two each. VECTOR_FLOAT,
 * VECTOR_DOUBLE: a function of libmvec. SLEEF_FLOAT, SLEEF_DOUBLE: a function of SLEEF with an accuracy, of the kind
 * that does not look for wider vectors itself. SLEEF_TYPE(): its return type for floats; SLEEF_TYPE(d): for doubles.
 */
#if defined(ROWS_AVX512)
#define ROWS rows_avx512
#define LANES 8
#define TO_FLOATS(a, b) _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1)
#define EACH(f) f(0), f(2), f(4), f(6), f(8), f(10), f(12), f(14)
#define SLEEF_TYPE(kind) Sleef___m512##kind##_2
#define INTRINSIC(name) _mm512_##name
#define VECTOR_FLOAT(function) _ZGVeN16v_##function
#define VECTOR_DOUBLE(function) _ZGVeN8v_##function
#define SLEEF_FLOAT(accuracy) Sleef_sincosf16_##accuracy##avx512f
#define SLEEF_DOUBLE(accuracy) Sleef_sincosd8_##accuracy##avx512f
#elif defined(ROWS_AVX2)
#define ROWS rows_avx2
#define LANES 4
#define TO_FLOATS(a, b) _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a))
#define EACH(f) f(0), f(2), f(4), f(6)
#define SLEEF_TYPE(kind) Sleef___m256##kind##_2
#define INTRINSIC(name) _mm256_##name
#define VECTOR_FLOAT(function) _ZGVdN8v_##function
#define VECTOR_DOUBLE(function) _ZGVdN4v_##function
#define SLEEF_FLOAT(accuracy) Sleef_sincosf8_##accuracy##avx2
#define SLEEF_DOUBLE(accuracy) Sleef_sincosd4_##accuracy##avx2
#else
#define ROWS rows_generic
#define LANES 2
#define TO_FLOATS(a, b) _mm_movelh_ps(_mm_cvtpd_ps(a), _mm_cvtpd_ps(b))
#define EACH(f) f(0), f(2)
#define SLEEF_TYPE(kind) Sleef___m128##kind##_2
#define INTRINSIC(name) _mm_##name
#define VECTOR_FLOAT(function) _ZGVbN4v_##function
#define VECTOR_DOUBLE(function) _ZGVbN2v_##function
#define SLEEF_FLOAT(accuracy) Sleef_sincosf4_##accuracy##sse2
#define SLEEF_DOUBLE(accuracy) Sleef_sincosd2_##accuracy##sse2
#endif

#define FLOATS (2 * LANES)
#define INLINE static inline __attribute__((always_inline))

typedef double doubles __attribute__((vector_size(8 * LANES)));
typedef float floats __attribute__((vector_size(8 * LANES)));

typedef struct float_pairs {
  floats sines, cosines;
} float_pairs;

typedef struct double_pairs {
  doubles sines, cosines;
} double_pairs;

/* ---- rows -------------------------------------------------------------------------------------- */

/* Returns the pairs of FLOATS frequencies, from `index` on, at a position. */
typedef float_pairs pairs_at(const void *frequencies, int64_t index, int64_t position);
typedef float_pairs sincos_floats(floats angles);
typedef double_pairs sincos_doubles(doubles angles);

INLINE float_pairs pairs_of_floats(const void *frequencies, int64_t index, int64_t position, sincos_floats *sincos) {
  return sincos(*(const floats *)((const float *)frequencies + index) * (float)position);
}

INLINE float_pairs pairs_of_doubles(const void *frequencies, int64_t index, int64_t position, sincos_doubles *sincos) {
  const doubles *w = (const doubles *)((const double *)frequencies + index);
  const double_pairs low = sincos(w[0] * (double)position), high = sincos(w[1] * (double)position);
  return (float_pairs){TO_FLOATS(low.sines, high.sines), TO_FLOATS(low.cosines, high.cosines)};
}

/* Stores the first `count` elements of a vector, or all of it if `count` is larger. */
INLINE void put(float *to, floats values, int64_t count, bool streams) {
  if (count >= FLOATS && streams)
    INTRINSIC(stream_ps)(to, values);
  else if (count >= FLOATS)
    memcpy(to, &values, sizeof values);
  else if (count > 0)
    memcpy(to, &values, (size_t)count * sizeof(float));
}

/* Indices that take the elements of two vectors in turn: the first and the second half of the result. */
#define FIRST(i) (i) / 2, FLOATS + (i) / 2
#define SECOND(i) LANES + (i) / 2, FLOATS + LANES + (i) / 2

INLINE void put_rows(pairs_at *pairs, const void *frequencies, const posenc_problem *problem, int64_t row, int64_t rows,
                     bool streams, float *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t count = problem->dim / 2;
  for (int64_t r = 0; r < rows; r++, out += problem->dim)
    for (int64_t i = 0; i < count; i += FLOATS) {
      const float_pairs found = pairs(frequencies, i, problem->first + row + r);
      if (at.step == 1) {
        put(out + at.sin + i, found.sines, count - i, streams);
        put(out + at.cos + i, found.cosines, count - i, streams);
      } else {
        const floats even = at.sin == 0 ? found.sines : found.cosines, odd = at.sin == 0 ? found.cosines : found.sines;
        put(out + 2 * i, __builtin_shufflevector(even, odd, EACH(FIRST)), 2 * (count - i), streams);
        put(out + 2 * i + FLOATS, __builtin_shufflevector(even, odd, EACH(SECOND)), 2 * (count - i) - FLOATS, streams);
      }
    }
}

/* Rows are streamed if `out` is aligned and rows or half rows consist of whole vectors, so that each vector is
   aligned. */
INLINE void write_rows(pairs_at *pairs, const void *frequencies, const posenc_problem *problem, int64_t row,
                       int64_t rows, bool streams, float *out) {
  const int64_t half = posenc_layout_columns(problem->layout, problem->dim).step == 1 ? problem->dim / 2 : problem->dim;
  if (streams && half % FLOATS == 0 && (uintptr_t)out % sizeof(floats) == 0) {
    put_rows(pairs, frequencies, problem, row, rows, true, out);
    _mm_sfence();
  } else {
    put_rows(pairs, frequencies, problem, row, rows, false, out);
  }
}

/* Defines the writer NAME. Its rows have pairs from pairs_of_TYPE with the function SINCOS. */
/* Makes: libmvec_f32_pairs, libmvec_f64_pairs. */
#define WRITER(name, type, sincos)                                                                                     \
  INLINE float_pairs name##_pairs(const void *frequencies, int64_t index, int64_t position) {                          \
    return pairs_of_##type(frequencies, index, position, sincos);                                                      \
  }                                                                                                                    \
  static void name(const void *frequencies, const posenc_problem *problem, int64_t row, int64_t rows, bool streams,    \
                   float *out) {                                                                                       \
    write_rows(name##_pairs, frequencies, problem, row, rows, streams, out);                                           \
  }

/* ---- the libraries ----------------------------------------------------------------------------- */

#ifdef HAVE_LIBMVEC
/* glibc has no header that declares these. */
floats VECTOR_FLOAT(sinf)(floats angles);
floats VECTOR_FLOAT(cosf)(floats angles);
doubles VECTOR_DOUBLE(sin)(doubles angles);
doubles VECTOR_DOUBLE(cos)(doubles angles);

/* Clamps to [-1, 1]. glibc 2.36's AVX2 and AVX-512 functions return ±(1 + 2^-23) for 39 sines and 2 cosines of all
   floats in [0, 2^20]: within their bound of 4 ulp, but not a sine. */
INLINE floats within_one(floats values) {
  const floats one = INTRINSIC(set1_ps)(1.0f);
  return INTRINSIC(max_ps)(INTRINSIC(min_ps)(values, one), -one);
}

INLINE float_pairs libmvec_floats(floats angles) {
  return (float_pairs){within_one(VECTOR_FLOAT(sinf)(angles)), within_one(VECTOR_FLOAT(cosf)(angles))};
}

INLINE double_pairs libmvec_doubles(doubles angles) {
  return (double_pairs){VECTOR_DOUBLE(sin)(angles), VECTOR_DOUBLE(cos)(angles)};
}

WRITER(libmvec_f32, floats, libmvec_floats)
WRITER(libmvec_f64, doubles, libmvec_doubles)
#endif

#ifdef HAVE_SLEEF
/* Makes: sleef_floats_u10, sleef_floats_u35, sleef_doubles_u10, sleef_doubles_u35. */
#define SLEEF(accuracy)                                                                                                \
  INLINE float_pairs sleef_floats_##accuracy(floats angles) {                                                          \
    const SLEEF_TYPE() found = SLEEF_FLOAT(accuracy)(angles);                                                          \
    return (float_pairs){found.x, found.y};                                                                            \
  }                                                                                                                    \
  INLINE double_pairs sleef_doubles_##accuracy(doubles angles) {                                                       \
    const SLEEF_TYPE(d) found = SLEEF_DOUBLE(accuracy)(angles);                                                        \
    return (double_pairs){found.x, found.y};                                                                           \
  }                                                                                                                    \
  WRITER(sleef_f32_##accuracy, floats, sleef_floats_##accuracy)                                                        \
  WRITER(sleef_f64_##accuracy, doubles, sleef_doubles_##accuracy)

SLEEF(u10)
SLEEF(u35)
#endif

rows_writer *const ROWS[ROWS_KERNELS] = {
#ifdef HAVE_LIBMVEC
    [ROWS_LIBMVEC_F32] = libmvec_f32,     [ROWS_LIBMVEC_F64] = libmvec_f64,
#endif
#ifdef HAVE_SLEEF
    [ROWS_SLEEF_F32_U10] = sleef_f32_u10, [ROWS_SLEEF_F32_U35] = sleef_f32_u35,
    [ROWS_SLEEF_F64_U10] = sleef_f64_u10, [ROWS_SLEEF_F64_U35] = sleef_f64_u35,
#endif
};
