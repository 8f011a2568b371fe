/* SPDX-License-Identifier: MIT */
/* Tests the tables that posenc bench prints, from timings with known figures. */
#include "config.h"

#include "cli/measure.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

static json_t *add(json_t *benchmarks, const char *type, const char *name, int family, double ns) {
  json_t *entry =
      json_pack("{s:s, s:s, s:i, s:f}", "run_type", type, "name", name, "family_index", family, "real_time", ns);
  json_array_append_new(benchmarks, entry);
  return entry;
}

/* Adds rates, for a table of 1000 elements. */
static json_t *add_rates(json_t *benchmarks, const char *type, const char *name, int family, double ns,
                         double gigabytes, double of_limit) {
  json_t *entry = add(benchmarks, type, name, family, 1000 * ns);
  json_object_set_new(entry, "ns_per_element", json_real(ns));
  json_object_set_new(entry, "bytes_per_second", json_real(1e9 * gigabytes));
  json_object_set_new(entry, "of_limit", json_real(of_limit));
  return entry;
}

/* Makes a record of two kernels whose repetitions are mixed, two other modes, and entries that are no repetition or of
   no mode. */
static const record_timing *make_record(void) {
  json_t *benchmarks = json_array();
  add_rates(benchmarks, "iteration", "hot/64x16/odd", 2, 5, 0.8, 0.5);
  add_rates(benchmarks, "iteration", "hot/64x16/even", 0, 8, 3, 0.1);
  add(benchmarks, "iteration", "plan/64x16/recipe/odd/min_time:0.010/repeats:3", 3, 4000);
  add_rates(benchmarks, "iteration", "hot/64x16/odd", 2, 1, 4, 0.2);
  add_rates(benchmarks, "aggregate", "hot/64x16/odd", 2, 1000, 1000, 1000);
  add_rates(benchmarks, "iteration", "hotter/64x16/odd", 4, 1000, 1000, 1000);
  add_rates(benchmarks, "iteration", "hot/64x16/even", 0, 1, 8, 0.4);
  add_rates(benchmarks, "iteration", "hot/64x16/even", 0, 2, 1, 0.2);
  add_rates(benchmarks, "iteration", "hot/64x16/odd", 2, 2, 2, 0.3);
  add_rates(benchmarks, "iteration", "hot/64x16/even", 0, 4, 5, 0.8);
  json_object_set_new(add_rates(benchmarks, "iteration", "first/64x16/odd", 1, 8, 0.5, 0.125), "plan_share",
                      json_real(0.25));
  json_t *json = json_pack("{s:o}", "benchmarks", benchmarks);
  return record_take_timing(json);
}

typedef struct row {
  char table[64], kernel[32];
  double us, ns, gigabytes, of_limit, spread; /* shares in percent */
} row;

static bool read_row(FILE *stream, row *r) {
  char line[256];
  return fgets(line, sizeof line, stream) && sscanf(line, "%63s %31s %lf %lf %lf %lf%% %lf%%", r->table, r->kernel,
                                                    &r->us, &r->ns, &r->gigabytes, &r->of_limit, &r->spread) == 7;
}

static bool near(double x, double y) {
  return x > 0.999 * y && x < 1.001 * y;
}

static void expect(FILE *stream, const row *want) {
  row got;
  if (!ok(read_row(stream, &got), "there is a row for '%s'", want->kernel)) return;
  ok(strcmp(got.table, want->table) == 0 && strcmp(got.kernel, want->kernel) == 0, "it names table and kernel");
  ok(near(got.us, want->us), "median of microseconds: %g", got.us);
  ok(near(got.ns, want->ns), "median of ns/element: %g", got.ns);
  ok(near(got.gigabytes, want->gigabytes), "median of GB/s: %g", got.gigabytes);
  ok(near(got.of_limit, want->of_limit), "median of the share of the limit: %g %%", got.of_limit);
  ok(near(got.spread, want->spread), "spread of the times: %g %%", got.spread);
}

/* Expects the next line, with each run of blanks as one. */
static void expect_line(FILE *stream, const char *want) {
  char line[256] = "", got[256];
  size_t length = 0;
  if (!fgets(line, sizeof line, stream)) line[0] = '\0';
  for (const char *c = line; *c && *c != '\n'; c++)
    if (*c != ' ' || c[1] != ' ') got[length++] = *c;
  got[length] = '\0';
  ok(strcmp(got, want) == 0, "a line: '%s'", got);
}

int main(void) {
  static const row even = {"64x16", "even", 3, 3, 4, 30, 233.3}, odd = {"64x16", "odd", 2, 2, 2, 30, 200};
  char line[256];
  FILE *stream = tmpfile();
  const record_timing *record = make_record();
  if (!stream || !record) return EXIT_FAILURE;
  print_timings(record, stream);
  rewind(stream);
  ok(fgets(line, sizeof line, stream) && strncmp(line, "hot: ", strlen("hot: ")) == 0, "a title");
  expect_line(stream, "table kernel us ns/element GB/s of limit spread");
  expect(stream, &even);
  expect(stream, &odd);
  expect_line(stream, "");
  ok(fgets(line, sizeof line, stream) && strncmp(line, "first: ", strlen("first: ")) == 0, "the next mode");
  expect_line(stream, "table kernel us ns/element GB/s of limit plan spread");
  expect_line(stream, "64x16 odd 8 8 0.50 12.5% 25.0% 0.0%");
  expect_line(stream, "");
  ok(fgets(line, sizeof line, stream) && strncmp(line, "plan: ", strlen("plan: ")) == 0, "and the next");
  expect_line(stream, "table kernel us spread");
  expect_line(stream, "64x16 recipe/odd 4 0.0%");
  ok(!fgets(line, sizeof line, stream), "and nothing else");
  fclose(stream);
  record_free(record);
  return tap_done();
}
