/* SPDX-License-Identifier: MIT */
#include "lib/api/kernel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- detection: the conditions of lib/simd/tiers.def ---------------------------------------------- */

#define HAS(bits, all) (((bits) & (all)) == (all))

#if defined(__x86_64__)
#include <cpuid.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h> /* glibc >= 2.33 */
#endif

/* Register states in XCR0: YMM needs SSE and AVX; ZMM also opmask, ZMM_Hi256 and Hi16_ZMM. */
#define YMM_STATE 0x6u
#define ZMM_STATE 0xe6u
/* Whether CPUID has these features in the two registers, and the system saves the register state; 0 stands for the
   state of SSE. */
#define X86(ecx_of_1, ebx_of_7, state)                                                                                 \
  (HAS(leaf1_ecx, (ecx_of_1) | ((state) ? bit_OSXSAVE : 0)) && HAS(leaf7_ebx, ebx_of_7) && HAS(xcr0, state))
#else
#define X86(ecx_of_1, ebx_of_7, state) false
#endif

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
/* Whether Linux reports these features, such as HWCAP_ASIMD and HWCAP_SVE. */
#define AARCH64(features) HAS(getauxval(AT_HWCAP), features)
#else
#define AARCH64(features) false
#endif

unsigned isa_of(unsigned leaf1_ecx, unsigned leaf7_ebx, unsigned xcr0) {
  unsigned isa = 0;
  (void)leaf1_ecx, (void)leaf7_ebx, (void)xcr0; /* used on x86 only */
#define TIER(bit, name, title, cpu)                                                                                    \
  if (cpu) isa |= (bit);
#include "lib/simd/tiers.def"
#undef TIER
  return isa;
}

#if defined(__x86_64__)
/* Reads CPUID and XCR0. glibc's copy from the start of the process is used where there is one, because each CPUID takes
   microseconds under a hypervisor. */
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
  return isa_of(0, 0, 0);
}
#endif

/* ---- sets of tiers ------------------------------------------------------------------------------- */

/* The result is cached, as it cannot change. */
unsigned posenc_isa_detect(void) {
  static _Atomic(unsigned) known;
  unsigned isa = atomic_load_explicit(&known, memory_order_relaxed);
  if (!isa) atomic_store_explicit(&known, isa = ask_cpu(), memory_order_relaxed);
  return isa;
}

#define TIER(bit, name, title, cpu) | (bit)
_Static_assert(POSENC_ISA_ALL == (0u
#include "lib/simd/tiers.def"
                                  ),
               "POSENC_ISA_ALL has the bits of lib/simd/tiers.def, and no others");
#undef TIER

static const struct tier {
  unsigned bit;
  const char *name;
} tiers[] = {
#define TIER(bit, name, title, cpu) {bit, #name},
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
