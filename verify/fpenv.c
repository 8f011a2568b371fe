/* SPDX-License-Identifier: MIT */
#include "verify/fpenv.h"

#include <fenv.h>
#include <float.h>
#include <stddef.h>

#ifdef __x86_64__
#include <immintrin.h>

/* Bits of MXCSR: exceptions that are raised, subnormals as zero, exceptions that do not trap, rounding, flush to zero. */
enum { SSE_FLAGS = 0x3f, SSE_DAZ = 0x40, SSE_MASKS = 0x1f80, SSE_ROUNDING = 0x6000, SSE_FTZ = 0x8000 };
enum { X87_MASKS = 0x3f, X87_PRECISION = 0x300, X87_ROUNDING = 0xc00 }; /* of the control word */
enum { X87_FLAGS = 0x3f, X87_TOP = 0x3800 };                            /* of the status word */

/* As FNSTENV stores it in 64-bit mode. */
typedef struct x87_environment {
  uint16_t control, unused0, status, unused1, tags, unused2;
  uint32_t unused3[4];
} x87_environment;

static void read_x86(fpenv *now) {
  x87_environment x87;
  uint64_t flags;
  __asm__ volatile("pushfq\n\tpopq %0\n\tcld" : "=r"(flags) : : "cc", "memory");
  /* FNSTENV masks all exceptions: the control word is loaded again. */
  __asm__ volatile("fnstenv %0\n\tfldcw %0" : "=m"(x87) : : "memory");
  now->goes_backwards = flags & 0x400;
  now->mxcsr = _mm_getcsr();
  now->control = x87.control;
  now->status = x87.status;
  now->tags = x87.tags;
}

static void set_x86(void) {
  x87_environment x87;
  __asm__ volatile("cld\n\tfninit\n\tfnstenv %0" : "=m"(x87) : : "memory");
  x87.status |= X87_FLAGS;
  __asm__ volatile("fldenv %0" : : "m"(x87));
  _mm_setcsr(SSE_MASKS | SSE_FLAGS);
}

static const char *x86_difference(const fpenv *before, const fpenv *after) {
  const uint32_t sse = before->mxcsr ^ after->mxcsr;
  const unsigned control = before->control ^ after->control, status = before->status ^ after->status;
  if (after->goes_backwards) return "the direction flag is set";
  if (sse & SSE_ROUNDING) return "MXCSR has another rounding direction";
  if (sse & SSE_FTZ) return "MXCSR has another flush-to-zero";
  if (sse & SSE_DAZ) return "MXCSR has another denormals-are-zero";
  if (sse & SSE_MASKS) return "MXCSR masks other exceptions";
  if (before->mxcsr & ~after->mxcsr & SSE_FLAGS) return "exceptions that MXCSR had raised are cleared";
  if (control & X87_ROUNDING) return "the x87 has another rounding direction";
  if (control & X87_PRECISION) return "the x87 has another precision";
  if (control & X87_MASKS) return "the x87 masks other exceptions";
  if (before->tags != after->tags || status & X87_TOP) return "the x87 registers are not empty, as they were";
  if (before->status & ~after->status & X87_FLAGS) return "exceptions that the x87 had raised are cleared";
  return NULL;
}
#else
static void read_x86(fpenv *now) {
  (void)now;
}

static void set_x86(void) {}

static const char *x86_difference(const fpenv *before, const fpenv *after) {
  (void)before, (void)after;
  return NULL;
}
#endif

void fpenv_set(void) {
  fesetenv(FE_DFL_ENV);
  feraiseexcept(FE_ALL_EXCEPT);
  set_x86();
}

fpenv fpenv_read(void) {
  static volatile float least = FLT_MIN, subnormal = 0x1p-140f;
  fpenv now = {.rounding = fegetround()};
  read_x86(&now); /* before the next line raises exceptions */
  now.exceptions = fetestexcept(FE_ALL_EXCEPT);
  now.keeps_tiny = least * 0.5f != 0.0f && subnormal * 1.0f != 0.0f;
  return now;
}

const char *fpenv_difference(const fpenv *before, const fpenv *after) {
  const char *x86 = x86_difference(before, after);
  if (x86) return x86;
  if (before->rounding != after->rounding) return "the rounding direction is another";
  if (before->keeps_tiny != after->keeps_tiny) return "subnormals are treated otherwise";
  if (before->exceptions & ~after->exceptions) return "exceptions that had been raised are cleared";
  return NULL;
}
