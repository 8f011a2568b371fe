/* SPDX-License-Identifier: MIT */
#include "lib/api/isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h> /* glibc >= 2.33 */
#endif

/* Register state in XCR0: SSE, AVX; and opmask, ZMM_Hi256, Hi16_ZMM. */
#define YMM_STATE 0x6u
#define ZMM_STATE 0xe6u

unsigned isa_of(unsigned leaf1_ecx, unsigned leaf7_ebx, unsigned xcr0) {
  const unsigned fma = bit_FMA | bit_F16C, avx512 = bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW;
  unsigned isa = POSENC_ISA_GENERIC;
  if (!(leaf1_ecx & bit_OSXSAVE)) return isa;
  if ((xcr0 & YMM_STATE) == YMM_STATE && (leaf1_ecx & fma) == fma && (leaf7_ebx & bit_AVX2)) isa |= POSENC_ISA_AVX2;
  if ((xcr0 & ZMM_STATE) == ZMM_STATE && (leaf7_ebx & avx512) == avx512) isa |= POSENC_ISA_AVX512;
  return isa;
}

/* Under a hypervisor each CPUID costs microseconds. glibc has asked already, when the process began. */
static unsigned ask_cpu(void) {
  unsigned leaf1_ecx, leaf7_ebx = 0, xcr0 = 0, high;
#ifdef _SYS_PLATFORM_X86_H
  leaf1_ecx = __x86_get_cpuid_feature_leaf(CPUID_INDEX_1)->cpuid_array[cpuid_register_index_ecx];
  leaf7_ebx = __x86_get_cpuid_feature_leaf(CPUID_INDEX_7)->cpuid_array[cpuid_register_index_ebx];
#else
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &leaf1_ecx, &d)) return POSENC_ISA_GENERIC;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) leaf7_ebx = b;
#endif
  if (leaf1_ecx & bit_OSXSAVE) __asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
  return isa_of(leaf1_ecx, leaf7_ebx, xcr0);
}
#else
static unsigned ask_cpu(void) {
  return POSENC_ISA_GENERIC;
}
#endif

/* The answer cannot change, and is kept. */
unsigned posenc_isa_detect(void) {
  static _Atomic unsigned known;
  unsigned isa = atomic_load_explicit(&known, memory_order_relaxed);
  if (!isa) atomic_store_explicit(&known, isa = ask_cpu(), memory_order_relaxed);
  return isa;
}

static const struct tier {
  unsigned bit;
  const char *name;
} tiers[] = {
#define TIER(bit, name) {bit, #name},
#include "lib/simd/tiers.def"
#undef TIER
};

static unsigned tier_bit(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++)
    if (strlen(tiers[i].name) == length && memcmp(tiers[i].name, name, length) == 0) return tiers[i].bit;
  return 0;
}

const char *posenc_isa_name(unsigned isa) {
  for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++)
    if (tiers[i].bit == isa) return tiers[i].name;
  return NULL;
}

bool posenc_isa_parse(const char *text, unsigned *isa) {
  unsigned only = 0, without = 0;
  if (!text || !isa) return false;
  for (const char *word = text;; word++) {
    const size_t length = strcspn(word, ",");
    const bool minus = *word == '-';
    const unsigned bit = tier_bit(word + minus, length - minus);
    if (!bit) return false;
    *(minus ? &without : &only) |= bit;
    word += length;
    if (!*word) break;
  }
  *isa = (only ? only : POSENC_ISA_ALL) & ~without;
  return *isa != 0;
}

posenc_status isa_allowed(const posenc_options *options, unsigned *isa) {
  *isa = options && options->isa ? options->isa : POSENC_ISA_ALL;
  if (options && options->isa) return POSENC_OK;
  const char *text = getenv("POSENC_ISA");
  return !text || !*text || posenc_isa_parse(text, isa) ? POSENC_OK : POSENC_BAD_ISA;
}

unsigned isa_usable(const posenc_options *options) {
  unsigned isa;
  return isa_allowed(options, &isa) == POSENC_OK ? isa & posenc_isa_detect() : 0;
}
