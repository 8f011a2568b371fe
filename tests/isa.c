/* SPDX-License-Identifier: MIT */
/* Tests that tiers can be masked and forced, and that the forced tier runs. */
#define _GNU_SOURCE
#include "config.h"

#include "impls/peers/peers.h"
#include "lib/api/kernel.h"
#include "posenc.h"
#include "tests/tap.h"
#include "verify/arena.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __aarch64__
#include <sys/prctl.h>
#endif

static void parses(const char *text, bool valid, unsigned want) {
  unsigned isa = 0;
  const bool got = posenc_isa_parse(text, &isa);
  ok(got == valid && (!valid || isa == want), "'%s' is %s", text, valid ? "a set of tiers" : "refused");
}

static void test_parse(void) {
  parses("generic", true, POSENC_ISA_GENERIC);
  parses("generic,avx2", true, POSENC_ISA_GENERIC | POSENC_ISA_AVX2);
  parses("-avx512", true, POSENC_ISA_ALL & ~POSENC_ISA_AVX512);
  parses("-avx512,-avx2", true, POSENC_ISA_ALL & ~(POSENC_ISA_AVX512 | POSENC_ISA_AVX2));
  parses("avx512", true, POSENC_ISA_AVX512);
  parses("avx512,-avx512", false, 0);
  parses("", false, 0);
  parses("avx", false, 0);
  parses("generic,", false, 0);
  parses("AVX512", false, 0);
  ok(posenc_isa_detect() & POSENC_ISA_GENERIC, "generic is always there");
  ok(strcmp(posenc_isa_name(POSENC_ISA_AVX2), "avx2") == 0 && posenc_isa_name(3) == NULL,
     "a tier has a name, a set has none");
}

/* Returns the kernel of a default plan, or null. */
static const posenc_kernel *chosen(unsigned isa) {
  const posenc_problem problem = posenc_table(64, 64);
  posenc_options options = posenc_default_options();
  options.isa = isa;
  posenc_plan *plan;
  const posenc_kernel *kernel =
      posenc_plan_create(&plan, &problem, &options) == POSENC_OK ? posenc_plan_kernel(plan) : NULL;
  posenc_plan_destroy(plan);
  return kernel;
}

/* Tests the choice where a tier alone is allowed: its kernel that rounds correctly, or none if it cannot run. */
static void test_alone(unsigned tier, const char *name) {
  const posenc_kernel *kernel = posenc_kernel_find(name);
  ok(kernel && chosen(tier) == (posenc_kernel_refusal(kernel, NULL, NULL) ? NULL : kernel),
     "%s alone: that kernel or none", posenc_isa_name(tier));
}

static void test_mask(void) {
  const posenc_kernel *wide = posenc_kernel_find("cr-avx512");
  const posenc_problem problem = posenc_table(64, 64);
  posenc_options options = posenc_default_options();
  options.isa = POSENC_ISA_GENERIC;
  ok(posenc_kernel_refusal(wide, &problem, &options) != NULL, "generic alone: cr-avx512 refuses: %s",
     posenc_kernel_refusal(wide, &problem, &options));
  const bool runs = !posenc_kernel_refusal(wide, NULL, NULL);
#define TIER(bit, name, title, cpu) test_alone(bit, (bit) == POSENC_ISA_GENERIC ? "cr-portable" : "cr-" #name);
#include "lib/simd/tiers.def"
#undef TIER

  setenv("POSENC_ISA", "generic", 1);
  ok(chosen(0) == posenc_kernel_find("cr-portable"), "POSENC_ISA=generic does the same");
  ok(chosen(POSENC_ISA_AVX512) == (runs ? wide : NULL), "an explicit set of tiers goes before POSENC_ISA");
  setenv("POSENC_ISA", "sse9", 1);
  posenc_plan *plan;
  ok(posenc_plan_create(&plan, &problem, NULL) == POSENC_BAD_ISA, "POSENC_ISA=sse9 is refused: %s",
     posenc_status_message(POSENC_BAD_ISA));
  setenv("POSENC_ISA", "", 1);
  ok(posenc_plan_create(&plan, &problem, NULL) == POSENC_OK, "an empty POSENC_ISA is none");
  posenc_plan_destroy(plan);
  unsetenv("POSENC_ISA");
}

/*
 * Tests which instruction stores the table. The output is memory that may not be written: the first store faults, and
 * the handler reads the faulting instruction: on x86-64 its first byte, on AArch64 all of it.
 */
#ifdef __x86_64__
typedef unsigned char instruction;
#else
typedef uint32_t instruction;
#endif

#if defined(__x86_64__) || (defined(__aarch64__) && defined(__linux__))
#define KNOWS_STORES
static sigjmp_buf after_fault;
static volatile instruction found;

static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  found = *(const instruction *)ARENA_CODE_OF((const ucontext_t *)context);
  siglongjmp(after_fault, 1);
}

/* Returns the first vector store of the kernel, or of the default if that is null; 0 if it does not run. On x86
   the default's table is of f64, because cr-avx512 stores vectors of f32 in halves, by AVX. */
static instruction first_store(const posenc_kernel *kernel, unsigned isa) {
  posenc_problem problem = posenc_table(64, 64);
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  options.isa = isa;
#ifdef __x86_64__
  if (!kernel) problem.dtype = POSENC_F64;
#endif
  posenc_plan *plan;
  void *page = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before;
  found = 0;
  if (page == MAP_FAILED || posenc_plan_create(&plan, &problem, &options) != POSENC_OK) return 0;
  sigaction(SIGSEGV, &action, &before);
  if (!sigsetjmp(after_fault, 1)) posenc_execute(plan, 0, problem.rows, page);
  sigaction(SIGSEGV, &before, NULL);
  posenc_plan_destroy(plan);
  munmap(page, 65536);
  printf("# %s stores with 0x%02x\n", kernel ? kernel->name : "the default", (unsigned)found);
  return found;
}

/* Tests the default under the mask of a tier, if the tier's cr- kernel runs. */
static void test_default(const char *kernel, unsigned isa, bool (*is_of_tier)(instruction)) {
  const char *why = posenc_kernel_refusal(posenc_kernel_find(kernel), NULL, NULL);
  if (why)
    skip("the default, forced to a tier, executes that", why);
  else
    ok(is_of_tier(first_store(NULL, isa)), "the default, forced to %s, executes that", posenc_isa_name(isa));
}
#endif

#ifdef __AVX__
#define AVX_EVERYWHERE true /* as the compiler's options say */
#else
#define AVX_EVERYWHERE false
#endif

#if defined(__x86_64__)
/* The tiers in the expected answers below. */
#define KNOWN (POSENC_ISA_GENERIC | POSENC_ISA_AVX2 | POSENC_ISA_AVX512)

/* Returns the tiers for answers of CPUID and XCR0, as machines and systems give them. */
static unsigned known_of(unsigned leaf1_ecx, unsigned leaf7_ebx, unsigned xcr0) {
  return isa_of(leaf1_ecx, leaf7_ebx, xcr0) & KNOWN;
}

static void test_detect(void) {
  const unsigned osxsave = 1u << 27, f16c = 1u << 29, fma = 1u << 12 | f16c, avx2 = 1u << 5,
                 avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
  ok(known_of(osxsave | fma, avx2 | avx512, 0xe7) == KNOWN, "everything there, everything saved");
  ok(known_of(osxsave | fma, avx2 | avx512, 0x7) == (POSENC_ISA_GENERIC | POSENC_ISA_AVX2),
     "AVX-512 there, but its registers are not saved");
  ok(known_of(osxsave | fma, avx2 | avx512, 0x3) == POSENC_ISA_GENERIC, "nor the upper halves of AVX");
  ok(known_of(fma, avx2 | avx512, 0xe7) == POSENC_ISA_GENERIC, "a system that does not say what it saves");
  ok(known_of(osxsave | f16c, avx2, 0x7) == POSENC_ISA_GENERIC, "AVX2 without FMA");
  ok(known_of(osxsave | (fma & ~f16c), avx2, 0x7) == POSENC_ISA_GENERIC, "AVX2 and FMA without F16C");
  ok(known_of(osxsave | f16c, avx2 | avx512, 0xe7) == POSENC_ISA_GENERIC, "AVX-512 without FMA");
  ok(known_of(osxsave | fma, avx512, 0xe7) == POSENC_ISA_GENERIC, "AVX-512 without AVX2");
  static const struct {
    unsigned bit;
    const char *name;
  } parts[] = {{16, "F"}, {17, "DQ"}, {30, "BW"}, {31, "VL"}};
  for (size_t n = 0; n < sizeof parts / sizeof *parts; n++)
    ok(known_of(osxsave | fma, avx2 | (avx512 & ~(1u << parts[n].bit)), 0xe7) == (POSENC_ISA_GENERIC | POSENC_ISA_AVX2),
       "AVX-512 without %s", parts[n].name);
  for (unsigned state = 5; state < 8; state++)
    ok(known_of(osxsave | fma, avx2 | avx512, 0xe7 & ~(1u << state)) == (POSENC_ISA_GENERIC | POSENC_ISA_AVX2),
       "AVX-512, but not all of its registers are saved");
}

/* In 64-bit code, AVX-512 instructions, and no others, begin with the EVEX prefix; those of AVX and AVX2, and no
   others, begin with a VEX prefix, 0xc4 or 0xc5. */
enum { EVEX = 0x62 };

/* Whether the byte begins instructions of AVX and AVX2, with one of the two variants of the VEX prefix. */
static bool is_vex(instruction byte) {
  return byte == 0xc4 || byte == 0xc5;
}

static bool is_evex(instruction byte) {
  return byte == EVEX;
}

static void test_really_runs(void) {
  const char *why = posenc_kernel_refusal(posenc_kernel_find("rotation-avx512"), NULL, NULL);
  if (why)
    skip("rotation-avx512 executes AVX-512", why);
  else
    ok(is_evex(first_store(posenc_kernel_find("rotation-avx512"), 0)), "rotation-avx512 executes AVX-512");
  test_default("cr-avx512", POSENC_ISA_AVX512, is_evex);
  test_default("cr-avx2", POSENC_ISA_AVX2, is_vex);
#ifdef __AVX__
  skip("generic executes no AVX", "the compiler was told to use it everywhere");
#else
  const unsigned char byte = first_store(NULL, POSENC_ISA_GENERIC);
  ok(byte != 0 && byte != EVEX && !is_vex(byte), "the default, forced to generic, does not");
#endif
}

static void test_peer(const posenc_kernel *peer) {
  static const unsigned tiers[] = {POSENC_ISA_AVX512, POSENC_ISA_AVX2, POSENC_ISA_GENERIC};
  for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++) {
    posenc_options options = posenc_default_options();
    options.isa = tiers[i];
    const char *why = posenc_kernel_refusal(peer, NULL, &options);
    if (why) {
      printf("# %s, %s: %s\n", peer->name, posenc_isa_name(tiers[i]), why);
      skip("a competitor executes that tier", why);
      continue;
    }
    const unsigned char byte = first_store(peer, tiers[i]);
    bool executed = byte != 0 && (AVX_EVERYWHERE || (byte != EVEX && !is_vex(byte)));
    if (tiers[i] == POSENC_ISA_AVX512) executed = byte == EVEX;
    if (tiers[i] == POSENC_ISA_AVX2) executed = is_vex(byte);
    ok(executed, "%s, forced to %s, executes it", peer->name, posenc_isa_name(tiers[i]));
  }
}

/* Tests that competitors use the widest vectors that they may use. */
static void test_peers(void) {
  size_t count;
  const posenc_kernel *const *peers = peers_kernels(&count);
  for (size_t k = 0; k < count; k++) test_peer(peers[k]);
  if (peers[0]->absent) {
    skip("competitors heed POSENC_ISA", peers[0]->absent);
    return;
  }
  const unsigned char generic = first_store(peers[0], POSENC_ISA_GENERIC);
  setenv("POSENC_ISA", "generic", 1);
  ok(first_store(peers[0], 0) == generic, "competitors heed POSENC_ISA");
  unsetenv("POSENC_ISA");
}
#else
#ifdef KNOWS_STORES
/* SVE has all instructions with 2 in these four bits (Arm Architecture Reference Manual, C4.1). */
static bool is_sve(instruction code) {
  return (code >> 25 & 15) == 2;
}
#endif

static void test_detect(void) {
#if defined(__aarch64__) && defined(__linux__)
  const unsigned sve = prctl(PR_SVE_GET_VL) < 0 ? 0 : POSENC_ISA_SVE;
  ok(posenc_isa_detect() == (POSENC_ISA_GENERIC | POSENC_ISA_NEON | sve), "AArch64: generic and NEON%s",
     sve ? ", and SVE as the system says" : "");
#elif defined(__s390x__) || defined(__i386__)
  ok(posenc_isa_detect() == POSENC_ISA_GENERIC, "no tier but generic");
#else
  skip("which tiers this processor has", "no case of it here");
#endif
}

static void test_really_runs(void) {
#if defined(__aarch64__) && defined(__linux__)
  test_default("cr-sve", POSENC_ISA_SVE, is_sve);
#ifdef __ARM_FEATURE_SVE
  skip("NEON executes no SVE", "the compiler was told to use it everywhere");
#else
  const instruction neon = first_store(NULL, POSENC_ISA_NEON);
  ok(neon && !is_sve(neon), "the default, forced to NEON, does not");
#endif
#else
  skip("what executes", "this is no x86-64 or AArch64 machine");
#endif
}

static void test_peers(void) {
  skip("what competitors execute", "this is no x86-64 machine");
}
#endif

int main(void) {
  unsetenv("POSENC_ISA");
  test_parse();
  test_mask();
  test_detect();
  test_really_runs();
  test_peers();
  return tap_done();
}
