/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/files.h"
#include "common/clock.h"
#include "common/environment.h"
#include "common/memory.h"
#include "common/number.h"
#include "records/make.h"
#include "reports/page/page.h"
#include "reports/page/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_UNFIT = 1 };

static const char usage[] = "Usage: posenc doctor [OPTION]...\n"
                            "Print facts about this machine, and whether times measured on it now are fit to\n"
                            "be published: the instruction sets of its processors and of this build, huge\n"
                            "pages, the frequency governor, the load of other processes, how steady the\n"
                            "speed is, and what is missing for timings and reports. It takes two seconds.\n";
static const char notes[] = "Exit status:\n"
                            "  0                 if it is fit\n"
                            "  1                 if it is not; a line that begins with NO says why\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc doctor\n"
                            "  $ posenc doctor --format json -o machine.json\n";

/* ---- checks ------------------------------------------------------------------------------------ */

typedef struct finding {
  bool ok;
  char text[300];
} finding;

__attribute__((format(printf, 2, 3))) static finding found(bool ok, const char *format, ...) {
  finding f = {.ok = ok};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f.text, sizeof f.text, format, arguments);
  va_end(arguments);
  return f;
}

static finding check_emulator(const record_facts *facts) {
  const char *emulator = record_fact_text(facts, "emulator");
  const bool none = strcmp(emulator, "no") == 0;
  return found(none, none ? "programs run on it" : "%s runs the program: times are those of an emulator", emulator);
}

static finding check_tiers(const record_facts *facts) {
  static const char *const names[] = {
#define TIER(bit, name) [bit] = #name,
      BUILT_TIERS(TIER)
#undef TIER
  };
  const unsigned here = posenc_isa_detect();
  for (unsigned tier = 1; tier <= here; tier <<= 1)
    if (here & tier && (tier >= sizeof names / sizeof *names || !names[tier]))
      return found(false, "the CPU has %s, and this build has no kernels for it", posenc_isa_name(tier));
  return found(true, "kernels for %s, all that the CPU has", record_fact_text(facts, "isa"));
}

static finding check_pages(const record_facts *facts) {
  const char *pages = record_fact_text(facts, "thp");
  if (strcmp(pages, "never") == 0)
    return found(false, "/sys/kernel/mm/transparent_hugepage/enabled is never: new memory costs several times as much");
  return found(true, "%s", pages);
}

static finding check_governor(const record_facts *facts) {
  const char *governor = record_fact_text(facts, "governor");
  const bool slow = strcmp(governor, "powersave") == 0 || strcmp(governor, "ondemand") == 0;
  return found(!slow, slow ? "%s: the frequency follows the load; performance keeps it" : "%s", governor);
}

static finding check_commit(const record_facts *facts) {
  const char *commit = record_fact_text(facts, "commit");
  if (strstr(commit, "modified")) return found(false, "%s: commit the sources, as figures are of a commit", commit);
  return found(true, "commit %s", commit);
}

static finding check_others(const record_facts *facts) {
  const double share = others_wait(1.0);
  (void)facts;
  if (isnan(share)) return found(false, "the system does not tell what they use");
  return found(share <= OTHERS_MOST, "%.1f %% of the processors in the last second; at most %.0f %% do no harm",
               100 * share, 100 * OTHERS_MOST);
}

/* Computes a chain of multiplications. Compilers cannot shorten it, and its operands stay in registers, because store
   forwarding takes varying times. */
static uint64_t spin(uint64_t state, int steps) {
  for (int i = 0; i < steps; i++) state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return state;
}

/* Repeats arithmetic of about a millisecond. Finds how much longer than the fastest repetition the slowest tenth
   takes. */
static finding check_steadiness(const record_facts *facts) {
  enum { TIMES = 500, TENTH = TIMES * 9 / 10 };
  const double most = 0.05;
  double seconds[TIMES];
  volatile uint64_t state = 1;
  (void)facts;
  for (int i = 0; i < TIMES; i++) {
    const double before = clock_seconds();
    state = spin(state, 500000);
    seconds[i] = clock_seconds() - before;
  }
  numbers_sort(seconds, TIMES);
  const double more = seconds[TENTH] / seconds[0] - 1;
  return found(more <= most,
               "one in ten of %d equal loops took %.1f %% longer than the best, or more; at most %.0f %% do no harm",
               TIMES, 100 * more, 100 * most);
}

static finding check_benchmark(const record_facts *facts) {
  const char *version = record_fact_text(facts, "benchmark");
  const bool there = strcmp(version, "no") != 0;
  return found(there, there ? "Google Benchmark %s" : "Google Benchmark: %s; install libbenchmark-dev, and build again",
               version);
}

static finding check_gnuplot(const record_facts *facts) {
  const char *refusal = plot_refusal();
  (void)facts;
  return refusal ? found(false, "%s", refusal) : found(true, "gnuplot");
}

static const struct {
  const char *name;
  finding (*check)(const record_facts *facts);
} checks[] = {
    {"processor", check_emulator}, {"instruction sets", check_tiers}, {"huge pages", check_pages},
    {"governor", check_governor},  {"other processes", check_others}, {"steadiness", check_steadiness},
    {"sources", check_commit},     {"times", check_benchmark},        {"figures", check_gnuplot},
};

/* ---- the command ------------------------------------------------------------------------------- */

/* Makes all checks. The texts are in `in`. */
static record_fitness diagnose(record_memory *in) {
  enum { CHECKS = sizeof checks / sizeof *checks };
  record_fitness_check *all = record_allocate(in, CHECKS, sizeof *all);
  record_fitness made = {
      .there = true, .environment = environment_record(in), .checks = all, .checks_count = CHECKS, .fit = true};
  for (size_t i = 0; i < CHECKS; i++) {
    const finding f = checks[i].check(&made.environment);
    all[i] = (record_fitness_check){
        .there = true, .name = checks[i].name, .ok = f.ok, .found = record_format(in, "%s", f.text)};
    made.fit = made.fit && f.ok;
  }
  return made;
}

static words bytes_of(const record_facts *facts, const char *key) {
  return words_bytes(strtod(record_fact_text(facts, key), NULL));
}

static void print_text(const record_fitness *of, FILE *out) {
  const record_facts *facts = &of->environment;
  fprintf(out, "%-16s  %s; this process may use %s\n", "processor", record_fact_text(facts, "cpu"),
          record_fact_text(facts, "cores"));
  fprintf(out, "%-16s  %s, %s, %s\n", "caches", bytes_of(facts, "l1d").text, bytes_of(facts, "l2").text,
          bytes_of(facts, "l3").text);
  fprintf(out, "%-16s  %s\n", "memory", bytes_of(facts, "memory").text);
  fprintf(out, "%-16s  %s, kernel %s, C library %s\n", "system", record_fact_text(facts, "os"),
          record_fact_text(facts, "kernel_release"), record_fact_text(facts, "libc"));
  fprintf(out, "%-16s  %s\n", "load", record_fact_text(facts, "load"));
  fprintf(out, "%-16s  %s, %s, %s\n\n", "posenc", record_fact_text(facts, "posenc_version"),
          record_fact_text(facts, "compiler"), record_fact_text(facts, "cflags"));
  RECORD_EACH(one, of, checks) fprintf(out, "%-3s %-16s  %s\n", one->ok ? "ok" : "NO", one->name, one->found);
  fprintf(out, "\nFit to publish times: %s\n", of->fit ? "yes" : "no");
}

static int run(options *given) {
  output *out = open_output("--output", given->output);
  record_memory memory = {NULL};
  const record_fitness found = diagnose(&memory);
  if (format_is(given, "json"))
    record_print(record_write_fitness(&found), output_stream(out));
  else
    print_text(&found, output_stream(out));
  record_release(&memory);
  close_output("--output", given->output, out);
  return found.fit ? EXIT_SUCCESS : STATUS_UNFIT;
}

const command command_doctor = {
    .bit = DOCTOR,
    .name = "doctor",
    .summary = "print whether this machine is fit to publish times",
    .usage = usage,
    .notes = notes,
    .run = run,
};
