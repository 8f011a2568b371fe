/* SPDX-License-Identifier: MIT */
/* The table that posenc bench prints, from timings whose figures are known. */
#include "config.h"

#include "cli/measure.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

static void add(json_t *benchmarks, const char *type, const char *name, int family, double ns, double gigabytes,
                double of_fill) {
  json_t *entry = json_pack("{s:s, s:s, s:i, s:f, s:f, s:f}", "run_type", type, "name", name, "family_index", family,
                            "ns_per_element", ns, "bytes_per_second", 1e9 * gigabytes, "of_fill", of_fill);
  json_array_append_new(benchmarks, entry);
}

/* Two kernels whose repetitions are mixed, as they may be, and what is no repetition of executing a plan. */
static json_t *make_record(void) {
  json_t *benchmarks = json_array();
  add(benchmarks, "iteration", "execute/64x16/odd", 2, 5, 0.8, 0.5);
  add(benchmarks, "iteration", "execute/64x16/even", 0, 8, 3, 0.1);
  add(benchmarks, "iteration", "plan/64x16/odd", 3, 1000, 1000, 1000);
  add(benchmarks, "iteration", "execute/64x16/odd", 2, 1, 4, 0.2);
  add(benchmarks, "aggregate", "execute/64x16/odd", 2, 1000, 1000, 1000);
  add(benchmarks, "iteration", "execute/64x16/even", 0, 1, 8, 0.4);
  add(benchmarks, "iteration", "execute/64x16/even", 0, 2, 1, 0.2);
  add(benchmarks, "iteration", "execute/64x16/odd", 2, 2, 2, 0.3);
  add(benchmarks, "iteration", "execute/64x16/even", 0, 4, 5, 0.8);
  return json_pack("{s:o}", "benchmarks", benchmarks);
}

typedef struct row {
  char table[64], kernel[32];
  double ns, gigabytes, of_fill, spread; /* shares in percent */
} row;

static bool read_row(FILE *stream, row *r) {
  char line[256];
  return fgets(line, sizeof line, stream) && sscanf(line, "%63s %31s %lf %lf %lf%% %lf%%", r->table, r->kernel, &r->ns,
                                                    &r->gigabytes, &r->of_fill, &r->spread) == 6;
}

static bool near(double x, double y) {
  return x > 0.999 * y && x < 1.001 * y;
}

static void expect(FILE *stream, const row *want) {
  row got;
  if (!ok(read_row(stream, &got), "there is a row for '%s'", want->kernel)) return;
  ok(strcmp(got.table, want->table) == 0 && strcmp(got.kernel, want->kernel) == 0, "it names table and kernel");
  ok(near(got.ns, want->ns), "median of ns/element: %g", got.ns);
  ok(near(got.gigabytes, want->gigabytes), "median of GB/s: %g", got.gigabytes);
  ok(near(got.of_fill, want->of_fill), "median of the share of the fill limit: %g %%", got.of_fill);
  ok(near(got.spread, want->spread), "spread of the times: %g %%", got.spread);
}

int main(void) {
  static const row even = {"64x16", "even", 3, 4, 30, 233.3}, odd = {"64x16", "odd", 2, 2, 30, 200};
  char line[256];
  FILE *stream = tmpfile();
  json_t *record = make_record();
  if (!stream || !record) return EXIT_FAILURE;
  print_timings(record, stream);
  rewind(stream);
  ok(fgets(line, sizeof line, stream) && strncmp(line, "table ", strlen("table ")) == 0, "a head");
  expect(stream, &even);
  expect(stream, &odd);
  ok(!fgets(line, sizeof line, stream), "and nothing else");
  fclose(stream);
  json_decref(record);
  return tap_done();
}
