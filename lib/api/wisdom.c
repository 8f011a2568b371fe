/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "lib/api/kernel.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

enum { MACHINE_BYTES = 128, LINE_BYTES = 512, KERNEL_BYTES = 32 };

static const char header[] = "posenc-wisdom 1\n";

/* ---- this machine -------------------------------------------------------------------------------- */

/* Returns the CPU's model name without surrounding spaces; on AArch64, the register that identifies the model, which
   Linux emulates for programs. */
static void cpu_name(char name[49]) {
  strcpy(name, "unknown");
#if defined(__x86_64__)
  unsigned words[12];
  if ((unsigned)__get_cpuid_max(0x80000000, NULL) < 0x80000004) return; /* clang returns an int */
  for (unsigned leaf = 0; leaf < 3; leaf++)
    __get_cpuid(0x80000002 + leaf, &words[4 * leaf], &words[4 * leaf + 1], &words[4 * leaf + 2], &words[4 * leaf + 3]);
  memcpy(name, words, sizeof words);
  name[sizeof words] = '\0';
  memmove(name, name + strspn(name, " "), strlen(name + strspn(name, " ")) + 1);
  for (size_t end = strlen(name); end && name[end - 1] == ' '; end--) name[end - 1] = '\0';
#elif defined(__aarch64__) && defined(__linux__)
  uint64_t model;
  if (!(getauxval(AT_HWCAP) & HWCAP_CPUID)) return;
  __asm__("mrs %0, midr_el1" : "=r"(model));
  snprintf(name, 49, "midr %08" PRIx64, model);
#endif
}

void posenc_machine(char *text, size_t size) {
  char cpu[49];
  if (!text) return;
  cpu_name(cpu);
  snprintf(text, size, "posenc %s, isa %u, %s", PACKAGE_VERSION, posenc_isa_detect(), cpu);
}

/* ---- the file ------------------------------------------------------------------------------------ */

typedef struct entry {
  int op, dtype, layout, threads;
  int64_t rows, dim, heads;
  double base, seconds;
  char kernel[KERNEL_BYTES];
} entry;

struct posenc_wisdom {
  size_t count;
  entry *entries;
};

/* Parses a line; returns false if it is malformed. *here: whether it was measured on this machine. */
static bool parse(const char *line, const char *machine, entry *e, bool *here) {
  int used = 0;
  uint64_t base, picoseconds;
  const int fields =
      sscanf(line, "%d %d %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNx64 " %d %31s %" SCNu64 " %n", &e->op, &e->dtype,
             &e->layout, &e->rows, &e->dim, &e->heads, &base, &e->threads, e->kernel, &picoseconds, &used);
  if (fields != 10 || used == 0 || picoseconds == 0 || e->rows < 1) return false;
  memcpy(&e->base, &base, sizeof base);
  e->seconds = 1e-12 * (double)picoseconds;
  const size_t length = strcspn(line + used, "\n");
  *here = length == strlen(machine) && strncmp(line + used, machine, length) == 0;
  return true;
}

/* Adds the entries of this machine. */
static posenc_status read_entries(posenc_wisdom *made, FILE *file) {
  char line[LINE_BYTES], machine[MACHINE_BYTES];
  posenc_machine(machine, sizeof machine);
  size_t room = 0;
  if (!fgets(line, sizeof line, file) || strcmp(line, header) != 0) return POSENC_BAD_FILE;
  while (fgets(line, sizeof line, file)) {
    entry e;
    bool here;
    if (!parse(line, machine, &e, &here)) return POSENC_BAD_FILE;
    if (!here) continue;
    if (made->count == room) {
      room = 2 * room + 16;
      entry *grown = (entry *)realloc(made->entries, room * sizeof *grown);
      if (!grown) return POSENC_OUT_OF_MEMORY;
      made->entries = grown;
    }
    made->entries[made->count++] = e;
  }
  return ferror(file) ? POSENC_BAD_FILE : POSENC_OK;
}

posenc_status posenc_wisdom_read(posenc_wisdom **wisdom, const char *path) {
  if (!wisdom) return POSENC_BAD_ARGUMENT;
  *wisdom = NULL;
  if (!path) return POSENC_BAD_ARGUMENT;
  FILE *file = fopen(path, "r");
  if (!file) return POSENC_BAD_FILE;
  posenc_wisdom *made = (posenc_wisdom *)calloc(1, sizeof *made);
  const posenc_status status = made ? read_entries(made, file) : POSENC_OUT_OF_MEMORY;
  fclose(file);
  if (status == POSENC_OK)
    *wisdom = made;
  else
    posenc_wisdom_free(made);
  return status;
}

/* Numbers are written as integers, and the base as its bits: fractions would depend on the locale. */
int posenc_wisdom_line(char *text, size_t size, const posenc_problem *problem, int threads, const char *kernel,
                       double seconds) {
  char machine[MACHINE_BYTES];
  uint64_t base;
  if ((!text && size) || !problem || problem->size != sizeof *problem || !kernel || !(seconds >= 0.0 && seconds < 1e6))
    return -1;
  memcpy(&base, &problem->base, sizeof base);
  posenc_machine(machine, sizeof machine);
  return snprintf(text, size, "%d %d %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRIx64 " %d %s %" PRIu64 " %s\n",
                  (int)problem->op, (int)problem->dtype, (int)problem->layout, problem->rows, problem->dim,
                  problem->heads, base, threads, kernel, (uint64_t)(seconds * 1e12) + 1, machine);
}

const char *posenc_wisdom_header(void) {
  return header;
}

size_t posenc_wisdom_count(const posenc_wisdom *wisdom) {
  return wisdom ? wisdom->count : 0;
}

void posenc_wisdom_free(posenc_wisdom *wisdom) {
  if (!wisdom) return;
  free(wisdom->entries);
  free(wisdom);
}

/* ---- the choice ---------------------------------------------------------------------------------- */

static bool is_like(const entry *e, const posenc_problem *problem, int threads) {
  return e->op == (int)problem->op && e->dtype == (int)problem->dtype && e->layout == (int)problem->layout &&
         e->dim == problem->dim && e->heads == problem->heads && e->base == problem->base && e->threads == threads;
}

/* Returns the ratio of the larger number of rows to the smaller one. */
static double distance(int64_t a, int64_t b) {
  return a > b ? (double)a / (double)b : (double)b / (double)a;
}

double wisdom_seconds(const posenc_wisdom *wisdom, const posenc_problem *problem, int threads, const char *kernel) {
  double nearest = 2.0, seconds = INFINITY;
  int64_t rows = 0;
  for (size_t i = 0; wisdom && problem->rows && !problem->axes && i < wisdom->count; i++) {
    const entry *e = wisdom->entries + i;
    const double away = distance(e->rows, problem->rows);
    /* Times of tables of different lengths are not compared. Of two lengths equally near, the longer one is used, with
       the kernels that were measured for it. */
    if (!is_like(e, problem, threads) || away > nearest || (away == nearest && e->rows < rows)) continue;
    if (e->rows != rows) seconds = INFINITY;
    nearest = away;
    rows = e->rows;
    if (strcmp(e->kernel, kernel) == 0) seconds = e->seconds;
  }
  return seconds;
}
