/* SPDX-License-Identifier: MIT */
#include "common/fpenv.h"

#include <fenv.h>
#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __x86_64__
#include <x86intrin.h>

/* Bits of MXCSR: raised exceptions, subnormals as zero, masks of exceptions, rounding, flush to zero. */
enum { SSE_FLAGS = 0x3f, SSE_DAZ = 0x40, SSE_MASKS = 0x1f80, SSE_ROUNDING = 0x6000, SSE_FTZ = 0x8000 };
enum { X87_MASKS = 0x3f, X87_PRECISION = 0x300, X87_ROUNDING = 0xc00 };          /* of the control word */
enum { X87_FLAGS = 0x3f, X87_TOP = 0x3800 };                                     /* of the status word */
enum { FLAG_DIRECTION = 0x400, FLAG_NESTED = 0x4000, FLAG_ALIGNMENT = 0x40000 }; /* of RFLAGS */
enum { FLAGS = FLAG_DIRECTION | FLAG_NESTED | FLAG_ALIGNMENT };

/* The form in which FNSTENV stores the x87 environment in 64-bit mode. */
typedef struct x87_environment {
  uint16_t control, unused0, status, unused1, tags, unused2;
  uint32_t unused3[4];
} x87_environment;

typedef struct fpenv {
  uint64_t flags; /* RFLAGS */
  uint32_t mxcsr;
  uint16_t control, status, tags; /* of the x87 */
} fpenv;

/* The environment to restore; each thread has its own. */
static _Thread_local fpenv standard;
static _Thread_local bool is_set;

/* Reads the environment. The direction flag is read first, as compiled code relies on it. FNSTENV masks all exceptions
   of the x87, which is their default. */
static fpenv read_environment(void) {
  x87_environment x87;
  fpenv now = {.flags = __readeflags() & FLAGS};
  if (now.flags) __writeeflags(__readeflags() & ~(uint64_t)FLAGS);
  __asm__ volatile("fnstenv %0" : "=m"(x87) : : "memory");
  now.mxcsr = _mm_getcsr();
  now.control = x87.control;
  now.status = x87.status;
  now.tags = x87.tags;
  return now;
}

static void set_environment(void) {
  x87_environment x87;
  __asm__ volatile("fninit\n\tfnstenv %0" : "=m"(x87) : : "memory");
  x87.status |= X87_FLAGS;
  __asm__ volatile("fldenv %0" : : "m"(x87));
  _mm_setcsr(SSE_MASKS | SSE_FLAGS);
  standard = read_environment();
}

static const char *difference(const fpenv *now) {
  const uint32_t sse = standard.mxcsr ^ now->mxcsr;
  const unsigned control = standard.control ^ now->control, status = standard.status ^ now->status;
  if (now->flags & FLAG_DIRECTION) return "the direction flag is set";
  if (now->flags) return "flags of the processor are set";
  if (sse & SSE_ROUNDING) return "MXCSR has another rounding direction";
  if (sse & SSE_FTZ) return "MXCSR has another flush-to-zero";
  if (sse & SSE_DAZ) return "MXCSR has another denormals-are-zero";
  if (sse & SSE_MASKS) return "MXCSR masks other exceptions";
  if (standard.mxcsr & ~now->mxcsr & SSE_FLAGS) return "exceptions that MXCSR had raised are cleared";
  if (control & X87_ROUNDING) return "the x87 has another rounding direction";
  if (control & X87_PRECISION) return "the x87 has another precision";
  if (control & X87_MASKS) return "the x87 masks other exceptions";
  if (standard.tags != now->tags || status & X87_TOP) return "the x87 registers are not empty, as they were";
  if (standard.status & ~now->status & X87_FLAGS) return "exceptions that the x87 had raised are cleared";
  return NULL;
}
#else
typedef struct fpenv {
  int rounding, exceptions;
  bool keeps_tiny; /* subnormal results and operands are not replaced by zero */
} fpenv;

/* The environment to restore; each thread has its own. */
static _Thread_local fpenv standard;
static _Thread_local bool is_set;

static fpenv read_environment(void) {
  static volatile float least = FLT_MIN, subnormal = 0x1p-140f;
  fpenv now = {.rounding = fegetround(),
               .exceptions = fetestexcept(FE_ALL_EXCEPT)}; /* read before the next line raises some */
  now.keeps_tiny = least * 0.5f != 0.0f && subnormal * 1.0f != 0.0f;
  return now;
}

static void set_environment(void) {
  fesetenv(FE_DFL_ENV);
  feraiseexcept(FE_ALL_EXCEPT);
  standard = read_environment();
}

static const char *difference(const fpenv *now) {
  if (standard.rounding != now->rounding) return "the rounding direction is another";
  if (standard.keeps_tiny != now->keeps_tiny) return "subnormals are treated otherwise";
  if (standard.exceptions & ~now->exceptions) return "exceptions that had been raised are cleared";
  return NULL;
}
#endif

/* Before its first use, tells LLVM's OpenMP not to clear raised exceptions in the threads of a parallel region. */
__attribute__((constructor)) static void keep_exceptions(void) {
  setenv("KMP_INHERIT_FP_CONTROL", "false", 0);
}

void fpenv_set(void) {
  set_environment();
  is_set = true;
}

const char *fpenv_restore(void) {
  if (!is_set) fpenv_set();
  const fpenv now = read_environment();
  const char *found = difference(&now);
  if (found) fpenv_set();
  return found;
}
