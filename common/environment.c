/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/environment.h"

#include "common/build.h"
#include "posenc.h"

#include <inttypes.h>
#include <math.h>
#include <mpfr.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#ifdef HAVE_SLEEF
#include <sleef.h>
#endif

enum { TEXT = ENVIRONMENT_TEXT };

/* ---- reading files of the system --------------------------------------------------------------- */

/* Returns the rest of the first line that begins with `key`; null if there is none. */
static const char *file_value(const char *path, const char *key, char text[TEXT]) {
  FILE *file = fopen(path, "re");
  if (!file) return NULL;
  const char *value = NULL;
  while (!value && fgets(text, TEXT, file)) {
    text[strcspn(text, "\n")] = '\0';
    if (strncmp(text, key, strlen(key)) == 0) value = text + strlen(key);
  }
  fclose(file);
  return value;
}

/* Returns the part of `text` after the first `open` and before the next `close`, terminated in place. */
static const char *between(char *text, char open, char close) {
  char *start = strchr(text, open);
  char *end = start ? strchr(start + 1, close) : NULL;
  if (!end) return NULL;
  *end = '\0';
  return start + 1;
}

static const char *first_line(const char *path, char text[TEXT]) {
  return file_value(path, "", text);
}

static const char *cpu(char text[TEXT]) {
  const char *value = file_value("/proc/cpuinfo", "model name", text);
  return value ? value + strspn(value, "\t :") : NULL;
}

static const char *operating_system(char text[TEXT]) {
  struct utsname system;
  const char *name = file_value("/etc/os-release", "PRETTY_NAME=", text) ? between(text, '"', '"') : NULL;
  if (name || uname(&system) != 0) return name;
  snprintf(text, TEXT, "%s", system.sysname);
  return text;
}

static const char *kernel_release(char text[TEXT]) {
  struct utsname system;
  if (uname(&system) != 0) return NULL;
  snprintf(text, TEXT, "%s", system.release);
  return text;
}

static const char *transparent_huge_pages(char text[TEXT]) {
  return first_line("/sys/kernel/mm/transparent_hugepage/enabled", text) ? between(text, '[', ']') : NULL;
}

static const char *load(char text[TEXT]) {
  double one, five, fifteen;
  if (!first_line("/proc/loadavg", text) || sscanf(text, "%lf %lf %lf", &one, &five, &fifteen) != 3) return NULL;
  snprintf(text, TEXT, "%.2f %.2f %.2f", one, five, fifteen);
  return text;
}

/* Formats a number. Returns null for 0, which stands for unknown. */
static const char *decimal(uint64_t number, char text[TEXT]) {
  snprintf(text, TEXT, "%" PRIu64, number);
  return number > 0 ? text : NULL;
}

/* ---- caches, cores and memory ------------------------------------------------------------------ */

static long sysfs_cache_bytes(int level) {
  for (int index = 0;; index++) {
    static const char folder[] = "/sys/devices/system/cpu/cpu0/cache/index";
    char path[TEXT], text[TEXT];
    snprintf(path, sizeof path, "%s%d/level", folder, index);
    if (!first_line(path, text)) return 0;
    if (atoi(text) != level) continue;
    snprintf(path, sizeof path, "%s%d/type", folder, index);
    if (!first_line(path, text) || strcmp(text, "Instruction") == 0) continue;
    snprintf(path, sizeof path, "%s%d/size", folder, index);
    if (!first_line(path, text)) return 0;
    char *unit;
    const long size = strtol(text, &unit, 10);
    if (*unit == 'M') return size << 20;
    return *unit == 'K' ? size << 10 : size;
  }
}

static long sysconf_cache_bytes(int level) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  const long size = sysconf(names[level - 1]);
  return size > 0 ? size : 0;
#else
  (void)level;
  return 0;
#endif
}

long environment_cache_bytes(int level) {
  const long size = sysfs_cache_bytes(level);
  return size > 0 ? size : sysconf_cache_bytes(level);
}

int environment_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

/* Returns the size of the physical memory, or a container's limit if that is smaller. */
static uint64_t memory(void) {
  static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    char text[TEXT];
    const uint64_t limit = first_line(limits[i], text) ? strtoull(text, NULL, 10) : 0; /* "max" reads as 0 */
    if (limit > 0 && (bytes == 0 || limit < bytes)) bytes = limit;
  }
  return bytes;
}

uint64_t environment_available_memory(void) {
  char text[TEXT];
  const char *kibibytes = file_value("/proc/meminfo", "MemAvailable:", text);
  const uint64_t all = memory(), available = kibibytes ? strtoull(kibibytes, NULL, 10) << 10 : 0;
  return available > 0 && available < all ? available : all;
}

/* ---- the build and its libraries --------------------------------------------------------------- */

static const char *isa_tiers(char text[TEXT]) {
  const unsigned tiers = posenc_isa_detect();
  text[0] = '\0';
  for (unsigned tier = 1; tier != 0 && tier <= tiers; tier <<= 1) {
    const char *name = tiers & tier ? posenc_isa_name(tier) : NULL;
    if (name) snprintf(text + strlen(text), TEXT - strlen(text), "%s%s", text[0] ? "," : "", name);
  }
  return text[0] ? text : NULL;
}

static const char *libc(char text[TEXT]) {
#ifdef __GLIBC__
  snprintf(text, TEXT, "glibc %s", gnu_get_libc_version());
  return text;
#else
  (void)text;
  return NULL;
#endif
}

static const char *openmp(char text[TEXT]) {
#ifdef _OPENMP
  snprintf(text, TEXT, "%d", _OPENMP);
  return text;
#else
  (void)text;
  return "no";
#endif
}

static const char *sleef(char text[TEXT]) {
#ifdef HAVE_SLEEF
  snprintf(text, TEXT, "%d.%d.%d", SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR, SLEEF_VERSION_PATCHLEVEL);
  return text;
#else
  (void)text;
  return "no";
#endif
}

static const char *benchmark(void) {
#ifdef HAVE_BENCHMARK
  return BENCHMARK_VERSION;
#else
  return "no";
#endif
}

static const char *utc_date(char text[TEXT]) {
  const time_t now = time(NULL);
  struct tm utc;
  return gmtime_r(&now, &utc) && strftime(text, TEXT, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0 ? text : NULL;
}

/* Finds an emulator. It answers /proc/self/exe with the program it runs, but not /proc/thread-self/exe. */
const char *environment_emulator(char text[ENVIRONMENT_TEXT]) {
  char said[ENVIRONMENT_TEXT];
  const ssize_t length = readlink("/proc/self/exe", said, sizeof said),
                is = readlink("/proc/thread-self/exe", text, ENVIRONMENT_TEXT - 1);
  if (length <= 0 || is <= 0 || (length == is && memcmp(said, text, (size_t)is) == 0)) return NULL;
  text[is] = '\0';
  const char *slash = strrchr(text, '/');
  return slash ? slash + 1 : text;
}

static const char *emulator(char text[TEXT]) {
  const char *found = environment_emulator(text);
  return found ? found : "no";
}

/* ---- the facts --------------------------------------------------------------------------------- */

void environment_tell(environment_listener *tell, void *to) {
  char text[TEXT];
  const char *value;
#define FACT(key, of, uses) tell(to, #key, of);
#define FACT_IF(key, of, uses)                                                                                         \
  if ((value = of) && *value) tell(to, #key, value);
#include "common/facts.def"
}

const char *environment_key(unsigned uses, size_t number) {
  static const struct {
    const char *key;
    unsigned uses;
  } facts[] = {
#define FACT(key, value, uses) {#key, uses},
#define FACT_OF(key, uses) {#key, uses},
#include "common/facts.def"
  };
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    if (facts[i].uses & uses && number-- == 0) return facts[i].key;
  return NULL;
}

/* ---- other processes ------------------------------------------------------------------------------------- */

static double seconds_of(struct timeval time) {
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* The time of guests is already included in the first two numbers (proc_stat(5)). */
bool others_parse(others_mark *mark, const char *line, double own) {
  double user, nice, system, idle, waiting, interrupts, soft, stolen;
  if (sscanf(line, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &waiting, &interrupts, &soft,
             &stolen) != 8)
    return false;
  const double ticks = (double)sysconf(_SC_CLK_TCK), used = user + nice + system + interrupts + soft + stolen;
  *mark = (others_mark){used / ticks, (used + idle + waiting) / ticks, own};
  return true;
}

bool others_read(others_mark *mark) {
  char line[256];
  struct rusage own;
  FILE *file = fopen("/proc/stat", "r");
  if (!file) return false;
  const bool read = fgets(line, sizeof line, file) && getrusage(RUSAGE_SELF, &own) == 0;
  fclose(file);
  return read && others_parse(mark, line, seconds_of(own.ru_utime) + seconds_of(own.ru_stime));
}

double others_share(const others_mark *from, const others_mark *to) {
  const double all = to->all - from->all, others = to->used - from->used - (to->own - from->own);
  return all >= 0.1 ? fmin(fmax(others / all, 0.0), 1.0) : NAN;
}

double others_wait(double seconds) {
  const struct timespec while_asleep = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
  others_mark from, to;
  if (!others_read(&from)) return NAN;
  nanosleep(&while_asleep, NULL);
  return others_read(&to) ? others_share(&from, &to) : NAN;
}
