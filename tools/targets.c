/* SPDX-License-Identifier: MIT */
/*
 * Prints the targets with their measured values, as a Markdown table. The files are records, in any order: timing
 * records (posenc bench --format json, and other entries of the same form), and the list of kernels (posenc list
 * --format json), which has the reasons why kernels were not measured.
 */
#include "common/field.h"
#include "reports/page/page.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* The figure that is compared with the threshold, and whether it must be at least or at most that. */
typedef enum measure {
  SHARE,      /* share of the limit, at least */
  PLAN_SHARE, /* share of the plan in the time, at most */
  TIME,       /* microseconds, at most */
  SPEED_UP,   /* time of `over` / time of `name`, repetitions paired in their order, at least */
} measure;

typedef struct target {
  const char *number, *work;
  measure measure;
  const char *name, *over; /* names of benchmarks */
  double threshold;
  const char *goal; /* the unit or the object of comparison, in words */
  const char *why;
} target;

#define FILL "of the best fill"
#define SCALE "of x *= constant"

/* Reasons: what a user would notice. */
#define WRITES "a large table costs no more than to write it"
#define NEW "the first pass over memory is the one that users make"
#define PASSES "x is read and written once; no more is felt"
#define TOKENS "each token waits for it, in each layer"
#define RUN "what people run"
#define ACCURATE "the other way to accurate tables"

/* All targets. Thresholds are in this table only. */
static const target targets[] = {
    {"1", "f32, correctly rounded, 131072 × 1024", SHARE, "hot/131072x1024/cr-avx512", NULL, 0.95, FILL, WRITES},
    {"1", "f32, correctly rounded, 32768 × 4096", SHARE, "hot/32768x4096/cr-avx512", NULL, 0.95, FILL, WRITES},
    {"1", "without AVX-512, 131072 × 1024", SHARE, "hot/131072x1024/cr-avx2", NULL, 0.90, FILL, "most processors"},
    {"1", "a problem without a certificate, 131072 × 1024", SHARE, "hot/131072x1024-base10001/cr-avx512", NULL, 0.90,
     FILL, "any base must do"},
    {"1", "bf16, correctly rounded, 131072 × 1024", SHARE, "hot/131072x1024-bf16/cr-avx512", NULL, 0.90, FILL,
     "what models are run in"},
    {"1", "f16, correctly rounded, 131072 × 1024", SHARE, "hot/131072x1024-f16/cr-avx512", NULL, 0.85, FILL,
     "what models are run in"},
    {"2", "fresh memory of posenc_alloc, 131072 × 1024", SHARE, "fresh/131072x1024/cr-avx512", NULL, 0.90,
     "of the best fill of fresh huge pages", NEW},
    {"2", "new memory of malloc, 131072 × 1024", SHARE, "malloc/131072x1024/cr-avx512", NULL, 0.90, FILL, NEW},
    {"2", "16 bytes past a cache line, 131072 × 1024", SPEED_UP, "offset/131072x1024/cr-avx512",
     "hot/131072x1024/cr-avx512", 0.9, "as fast as on it", "malloc returns such memory"},
    {"3", "add in place, 131072 × 1024", SHARE, "hot/131072x1024-add/cr-avx512", NULL, 0.93, SCALE, PASSES},
    {"3", "add in place, 131072 × 1024", SPEED_UP, "hot/131072x1024-add/cr-avx512", "hot/131072x1024-add/cached", 1.3,
     "as fast as x += a table in memory", "what frameworks do instead"},
    {"3", "rope in place, neighbours, 4096 × 32 × 128", SHARE, "hot/4096x128-rope32/cr-avx512", NULL, 0.93, SCALE,
     PASSES},
    {"3", "rope in place, halves, 4096 × 32 × 128", SHARE, "hot/4096x128-split-rope32/cr-avx512", NULL, 0.93, SCALE,
     PASSES},
    {"3", "rope in place, neighbours, 131072 × 8 × 128", SHARE, "hot/131072x128-base500000-rope8/cr-avx512", NULL, 0.93,
     SCALE, PASSES},
    {"3", "rope in place, halves, 131072 × 8 × 128", SHARE, "hot/131072x128-base500000-split-rope8/cr-avx512", NULL,
     0.93, SCALE, PASSES},
    {"3", "rope cache, 131072 × 128", SHARE, "hot/131072x128-base500000-rope-cache/cr-avx512", NULL, 0.85, FILL,
     "what servers make when they start"},
    {"4", "rope of a single row, 1 × 32 × 128", TIME, "hot/1x128+1000-rope32/cr-avx512", NULL, 1, "µs", TOKENS},
    {"4", "rope of a single row, 1 × 32 × 128", SPEED_UP, "hot/1x128+1000-rope32/cr-avx512",
     "hot/1x128+1000-rope32/naive", 5, "as fast as scalar libm", TOKENS},
    {"4", "rope of rows at scattered positions, 32 × 128", TIME, "row/4096x128-rope32/cr-avx512", NULL, 1, "µs",
     "batches decode so"},
    {"4", "rope of rows at scattered positions, 32 × 128", SPEED_UP, "row/4096x128-rope32/cr-avx512",
     "row/4096x128-rope32/naive", 5, "as fast as scalar libm", "batches decode so"},
    {"5", "first call of a process, plan included, 512 × 512", TIME, "process/512x512/cr-avx512", NULL, 50, "µs",
     "a program that starts must not wait"},
    {"5", "the plan's share of the first table, 5000 × 512", PLAN_SHARE, "first/5000x512/cr-avx512", NULL, 0.25,
     "of the time", "a table that is made once must not cost two"},
    {"6", "two threads, 4992 × 512", SPEED_UP, "hot/4992x512/cr-threads", "hot/4992x512/cr-avx512", 1.9,
     "as fast as one", "who gives threads wants them used"},
    {"6", "two threads, 131072 × 1024", SPEED_UP, "hot/131072x1024/cr-threads", "hot/131072x1024/cr-avx512", 1,
     "as fast as one", "threads must not harm where memory is the limit"},
    {"7", "PyTorch with its best settings, 32768 × 1024", SPEED_UP, "hot/32768x1024/cr-avx512", "torch/32768x1024/best",
     20, "as fast", RUN},
    {"7", "PyTorch as installed, both into new memory, 32768 × 1024", SPEED_UP, "fresh/32768x1024/cr-avx512",
     "torch/32768x1024/installed", 60, "as fast", RUN},
    {"7", "the same, of malloc", SPEED_UP, "malloc/32768x1024/cr-avx512", "torch/32768x1024/installed", 60, "as fast",
     RUN},
    {"7", "SLEEF in double, 1.0 ulp, 131072 × 1024", SPEED_UP, "hot/131072x1024/cr-avx512",
     "hot/131072x1024/sleef-f64-u10", 5, "as fast", ACCURATE},
    {"7", "SLEEF in double, 3.5 ulp, 131072 × 1024", SPEED_UP, "hot/131072x1024/cr-avx512",
     "hot/131072x1024/sleef-f64-u35", 5, "as fast", ACCURATE},
    {"7", "libmvec in double, 131072 × 1024", SPEED_UP, "hot/131072x1024/cr-avx512", "hot/131072x1024/libmvec-f64", 5,
     "as fast", ACCURATE},
};

/* The contents of all files. */
typedef struct records {
  json_t *context;    /* context of the first timing record that has one */
  json_t *benchmarks; /* benchmarks of all timing records */
  json_t *kernels;    /* kernels with their contracts */
  json_t *missing;    /* object: for each program that could not be measured, the reason */
} records;

typedef struct reading {
  double median, least, most; /* NaN if nothing was measured */
  char note[200];             /* a remark, or the reason why nothing was measured */
} reading;

/* ---- what was measured -------------------------------------------------------------------------- */

enum { MOST = 10000 };

static bool is_repetition(const json_t *entry, const char *name) {
  const char *type = field_string(entry, "run_type");
  return (!*type || strcmp(type, "iteration") == 0) && strcmp(field_string(entry, "name"), name) == 0;
}

static const json_t *find_repetition(const records *found, const char *name) {
  for (size_t i = 0; i < json_array_size(found->benchmarks); i++)
    if (is_repetition(json_array_get(found->benchmarks, i), name)) return json_array_get(found->benchmarks, i);
  return NULL;
}

/* Stores the values of that key in all repetitions, in the order in which they were made. Returns how many. */
static size_t collect(const records *found, const char *name, const char *key, double *values) {
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(found->benchmarks) && count < MOST; i++) {
    const json_t *entry = json_array_get(found->benchmarks, i);
    const double value = is_repetition(entry, name) ? field_number(entry, key) : NAN;
    if (isfinite(value)) values[count++] = value;
  }
  return count;
}

static reading summarize(double *values, size_t count) {
  if (count == 0) return (reading){NAN, NAN, NAN, ""};
  numbers_sort(values, count);
  return (reading){numbers_median(values, count), values[0], values[count - 1], ""};
}

static reading number(const records *found, const char *name, const char *key, double scale) {
  static double values[MOST];
  const size_t count = collect(found, name, key, values);
  for (size_t i = 0; i < count; i++) values[i] *= scale;
  return summarize(values, count);
}

/* Returns the ratio of repetitions, paired in their order, as far as both benchmarks have them. */
static reading ratio(const records *found, const char *above, const char *below, const char *key) {
  static double values[MOST], divisors[MOST];
  const size_t count = collect(found, above, key, values), others = collect(found, below, key, divisors);
  const size_t pairs = count < others ? count : others;
  for (size_t i = 0; i < pairs; i++) values[i] /= divisors[i];
  return summarize(values, pairs);
}

static reading measured(const records *found, const target *t) {
  switch (t->measure) {
  case SHARE:
    return number(found, t->name, "of_limit", 1);
  case PLAN_SHARE:
    return number(found, t->name, "plan_share", 1);
  case TIME:
    return number(found, t->name, "real_time", 1e-3);
  case SPEED_UP:
    break;
  }
  return ratio(found, t->over, t->name, "real_time");
}

/* ---- why something was not ---------------------------------------------------------------------- */

/* Writes the reason why a benchmark was not measured; returns false if none is known. The kernel is the last part of
   the benchmark's name; another program is the first part, as in "torch/…". */
static bool explain(const records *found, const char *name, char *text, size_t size) {
  const char *slash = strrchr(name, '/'), *kernel = slash ? slash + 1 : name;
  char who[32];
  snprintf(who, sizeof who, "%.*s", (int)strcspn(name, "/"), name);
  const char *missing = field_string(found->missing, who);
  const json_t *contract = field_find(found->kernels, "name", kernel);
  const char *refusal = field_string(contract, "refusal");
  if (*missing)
    snprintf(text, size, "%s", missing);
  else if (*refusal)
    snprintf(text, size, "%s: %s", kernel, refusal);
  else if (json_is_true(json_object_get(contract, "threaded")) &&
           strcmp(field_string(found->context, "cores"), "1") == 0)
    snprintf(text, size, "one core");
  else
    return false;
  return true;
}

/* Writes the label of a measurement, or the reason why nothing was measured. */
static void note(const records *found, const target *t, reading *f) {
  const char *names[] = {t->name, t->over};
  for (size_t i = 0; i < 2 && names[i]; i++) {
    const char *label = field_string(find_repetition(found, names[i]), "label");
    if (*label) snprintf(f->note, sizeof f->note, "%s", label);
  }
  if (isfinite(f->median)) return;
  for (size_t i = 0; i < 2 && names[i]; i++)
    if (explain(found, names[i], f->note, sizeof f->note)) return;
  snprintf(f->note, sizeof f->note, "no record of it");
}

/* ---- the table ---------------------------------------------------------------------------------- */

static bool at_most(measure m) {
  return m == PLAN_SHARE || m == TIME;
}

static bool met(const target *t, const reading *f) {
  return at_most(t->measure) ? f->median <= t->threshold : f->median >= t->threshold;
}

static void print_goal(const target *t) {
  const char *sign = at_most(t->measure) ? "≤" : "≥";
  if (t->measure == SPEED_UP)
    printf("%s %g times %s", sign, t->threshold, t->goal);
  else if (t->measure == TIME)
    printf("%s %g %s", sign, t->threshold, t->goal);
  else
    printf("%s %.2f %s", sign, t->threshold, t->goal);
}

static void print_figure(const target *t, const reading *f) {
  if (!isfinite(f->median))
    printf("not measured: %s | –", f->note);
  else {
    printf("%s (%s–%s)", words_significant(f->median, 3).text, words_significant(f->least, 3).text,
           words_significant(f->most, 3).text);
    if (*f->note) printf("; %s", f->note);
    fputs(met(t, f) ? " | met" : " | **missed**", stdout);
  }
}

/* Prints all targets, and how many of them are met, missed and not measured. */
static void print_table(const records *found) {
  int counts[3] = {0, 0, 0}; /* met, missed, not measured */
  puts("| | work | target | because | measured: median (least–most) | |\n|---|---|---|---|---|---|");
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    const target *t = &targets[i];
    reading f = measured(found, t);
    note(found, t, &f);
    printf("| %s | %s | ", t->number, t->work);
    print_goal(t);
    printf(" | %s | ", t->why);
    print_figure(t, &f);
    puts(" |");
    counts[isfinite(f.median) ? !met(t, &f) : 2]++;
  }
  printf("\n%d met, %d missed, %d not measured.\n", counts[0], counts[1], counts[2]);
}

static void print_environment(const records *found) {
  static const char *const keys[] = {"cpu",      "cores",          "l1d",    "l2",  "l3", "isa",
                                     "compiler", "posenc_version", "commit", "load"};
  puts("# Targets\n");
  puts("Made by `make targets`; the thresholds stand in `tools/targets.c`. One thread, unless said, of the machine "
       "below.\n"
       "Limits are measured just before and after each repetition (`doc/performance.md`); ratios pair repetitions.\n");
  printf("%s", field_string(found->context, "date"));
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *fact = field_string(found->context, keys[i]);
    const bool cache = keys[i][0] == 'l' && strlen(keys[i]) < 4;
    if (*fact) printf("; %s %s", keys[i], cache ? words_bytes(strtod(fact, NULL)).text : fact);
  }
  puts(".\n");
  /* With more processes than cores, a kernel waits for a core during its repetitions, but the short measurements of the
     limit mostly do not. */
  if (strtod(field_string(found->context, "load"), NULL) > strtod(field_string(found->context, "cores"), NULL))
    puts("**The machine was busy**: kernels had to share its cores, and their shares of the limits are too low.\n");
}

/* ---- the files ---------------------------------------------------------------------------------- */

static void take(records *found, json_t *record) {
  json_t *context = json_object_get(record, "context");
  if (json_is_array(record)) json_array_extend(found->kernels, record);
  if (context && json_object_size(found->context) == 0) json_object_update(found->context, context);
  json_array_extend(found->benchmarks, json_object_get(record, "benchmarks"));
  json_object_update(found->missing, json_object_get(record, "missing"));
}

static bool read_record(records *found, const char *path) {
  json_error_t error;
  json_t *record = json_load_file(path, 0, &error);
  if (record)
    take(found, record);
  else
    fprintf(stderr, "posenc-targets: %s: %s\n", path, error.text);
  json_decref(record);
  return record;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("usage: posenc-targets RECORD...\n", stderr);
    return 2;
  }
  records found = {json_object(), json_array(), json_array(), json_object()};
  bool enough = true;
  for (int i = 1; i < argc && enough; i++) enough = read_record(&found, argv[i]);
  if (enough) {
    print_environment(&found);
    print_table(&found);
  }
  json_t *all[] = {found.context, found.benchmarks, found.kernels, found.missing};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) json_decref(all[i]);
  return enough && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}
