/* SPDX-License-Identifier: MIT */
/*
 * Rows by the vector sines of libraries that are headers of C++, as a plugin: tools/time-sines.py builds it with those
 * that are there, for the processor at hand, so that the sines are inlined as they are where these libraries are used.
 * impls/peers has the same for libraries with a C interface, and the derivation of the bounds.
 */
#include "posenc.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>

#if __has_include(<hwy/contrib/math/math-inl.h>)
#define HWY_COMPILE_ONLY_STATIC
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
#endif
#if __has_include(<xsimd/xsimd.hpp>)
#include <xsimd/xsimd.hpp>
#endif

namespace {

#ifdef HWY_COMPILE_ONLY_STATIC
namespace hn = hwy::HWY_NAMESPACE;

struct Highway {
  using tag = hn::ScalableTag<float>;
  using vector = hn::Vec<tag>;
  static constexpr int64_t lanes = hn::MaxLanes(tag());
  static vector product(const float *w, float position) {
    return hn::Mul(hn::Load(tag(), w), hn::Set(tag(), position));
  }
  static void sincos(vector angles, vector &sines, vector &cosines) {
    hn::SinCos(tag(), angles, sines, cosines);
  }
  static vector first(vector a, vector b) {
    return hn::InterleaveWholeLower(tag(), a, b);
  }
  static vector second(vector a, vector b) {
    return hn::InterleaveWholeUpper(tag(), a, b);
  }
  static void store(vector values, float *to) {
    hn::StoreU(values, tag(), to);
  }
  static void stream(vector values, float *to) {
    hn::Stream(values, tag(), to);
  }
};
#endif

#ifdef XSIMD_VERSION_MAJOR
struct Xsimd {
  using vector = xsimd::batch<float>;
  static constexpr int64_t lanes = vector::size;
  static vector product(const float *w, float position) {
    return vector::load_aligned(w) * vector(position);
  }
  static void sincos(vector angles, vector &sines, vector &cosines) {
    const auto found = xsimd::sincos(angles);
    sines = found.first, cosines = found.second;
  }
  static vector first(vector a, vector b) {
    return xsimd::zip_lo(a, b);
  }
  static vector second(vector a, vector b) {
    return xsimd::zip_hi(a, b);
  }
  static void store(vector values, float *to) {
    values.store_unaligned(to);
  }
  static void stream(vector values, float *to) {
    values.store(to, xsimd::stream_mode());
  }
};
#endif

template <class Library, bool streams> void put(typename Library::vector values, float *to) {
  if constexpr (streams)
    Library::stream(values, to);
  else
    Library::store(values, to);
}

template <class Library, bool streams>
void put_rows(const float *frequencies, const posenc_problem *problem, int64_t row, int64_t rows, float *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  for (int64_t r = 0; r < rows; r++, out += problem->dim)
    for (int64_t i = 0; i < problem->dim / 2; i += Library::lanes) {
      typename Library::vector sines, cosines;
      Library::sincos(Library::product(frequencies + i, static_cast<float>(problem->first + row + r)), sines, cosines);
      if (at.step == 1) {
        put<Library, streams>(sines, out + at.sin + i);
        put<Library, streams>(cosines, out + at.cos + i);
      } else {
        const auto even = at.sin == 0 ? sines : cosines, odd = at.sin == 0 ? cosines : sines;
        put<Library, streams>(Library::first(even, odd), out + 2 * i);
        put<Library, streams>(Library::second(even, odd), out + 2 * i + Library::lanes);
      }
    }
}

/* Streaming stores from the size on from which impls/peers uses them; bench's memory is not new. The fence is one that
   streaming stores, which are not ordered, keep to as well. */
template <class Library>
void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const auto *frequencies = static_cast<const float *>(constants);
  auto *table = static_cast<float *>(out);
  const bool large = rows >= (INT64_C(1) << 22) / problem->dim;
  if (large && reinterpret_cast<uintptr_t>(out) % sizeof(typename Library::vector) == 0) {
    put_rows<Library, true>(frequencies, problem, row, rows, table);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    put_rows<Library, false>(frequencies, problem, row, rows, table);
  }
}

template <class Library> const char *can_do(const posenc_problem *problem) {
  if (problem->base < 1.0) return "it needs base >= 1";
  return problem->dim % (2 * Library::lanes) ? "it needs rows of whole vectors" : nullptr;
}

posenc_status prepare(const posenc_problem *problem, const posenc_options *, void **constants) {
  const size_t count = static_cast<size_t>(problem->dim) / 2;
  auto *exact = static_cast<double *>(std::malloc(count * sizeof(double)));
  auto *rounded = static_cast<float *>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64));
  const posenc_status status = exact && rounded ? posenc_frequencies(problem, exact) : POSENC_OUT_OF_MEMORY;
  for (size_t i = 0; status == POSENC_OK && i < count; i++) rounded[i] = static_cast<float>(exact[i]);
  std::free(exact);
  if (status == POSENC_OK)
    *constants = rounded;
  else
    std::free(rounded);
  return status;
}

/* ulp: of the library's sine. farthest: the largest angle that it is for. */
template <class Library>
constexpr posenc_kernel kernel(const char *name, const char *provenance, const char *basis, double ulp,
                               int64_t farthest) {
  posenc_kernel made{};
  made.abi = POSENC_KERNEL_ABI;
  made.isa = POSENC_ISA_GENERIC;
  made.name = name;
  made.summary = "f32 angles, a header's vector sine and cosine";
  made.algorithm = "Frequencies once per plan, in double, rounded to f32; then one f32 product and one vector sine and "
                   "cosine per pair.";
  made.provenance = provenance;
  made.bound.ulp = 2.0 * ulp;
  made.bound.growth = 3.125 * 0x1p-24;
  made.bound.max_position = farthest;
  made.bound.derived = true;
  made.basis = basis;
  made.f32_only = true;
  made.can_do = can_do<Library>;
  made.prepare = prepare;
  made.execute = execute<Library>;
  made.release = std::free;
  return made;
}

#ifdef HWY_COMPILE_ONLY_STATIC
constexpr posenc_kernel highway = kernel<Highway>(
    "highway-f32", "Google: Highway, 2019, https://github.com/google/highway",
    "derived in impls/peers/peers.c, given Highway's SinCos within the 1 ulp it states, to angles of 39000", 1.0,
    39000);
#define HIGHWAY &highway,
#else
#define HIGHWAY
#endif
#ifdef XSIMD_VERSION_MAJOR
constexpr posenc_kernel xsimd_f32 =
    kernel<Xsimd>("xsimd-f32", "Mabille, Corlay and others: xsimd, 2016, https://github.com/xtensor-stack/xsimd",
                  "derived in impls/peers/peers.c, given xsimd's sincos within 2 ulp", 2.0, INT64_MAX);
#define XSIMD &xsimd_f32,
#else
#define XSIMD
#endif

} // namespace

POSENC_PLUGIN(HIGHWAY XSIMD nullptr);
