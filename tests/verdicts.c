/* SPDX-License-Identifier: MIT */
/* Tests the conclusions of reports and choose from known figures: claims, the fastest kernels, the front of error and
   time, and the choice. */
#include "common/field.h"
#include "reports/model/answer.h"
#include "reports/model/document.h"
#include "reports/page/plot.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

/* ---- a report of one table of f32 and one x ---- */

enum { KERNELS = 4, ROWS = 1024 };

typedef struct made {
  record_kernel kernels[KERNELS];
  record_check check;
  record_row rows[2][KERNELS];
  record_table shapes[2];
  record_report report;
} made;

static record_spread spread(double median) {
  return (record_spread){.there = true, .median = median, .min = 0.9 * median, .max = 1.1 * median};
}

/* Makes kernels with these names, proved to be correctly rounded, and `ns` nanoseconds per element. */
static void make(made *m, const char *const *names, const double *ns) {
  *m = (made){.check = {.property = "bounded", .ok = true}};
  m->report.kernels = m->kernels;
  m->report.shapes = m->shapes;
  m->report.shapes_count = 2;
  for (int s = 0; s < 2; s++) {
    m->shapes[s] = (record_table){
        .shape = {.name = s ? "x" : "table", .rows = ROWS, .dim = 64, .dtype = "f32", .op = s ? "add" : "table"},
        .bytes = ROWS * 64 * 4,
        .rows = m->rows[s],
    };
  }
  for (size_t k = 0; k < KERNELS && names[k]; k++) {
    m->kernels[k] = (record_kernel){.name = names[k],
                                    .plugin = "",
                                    .bound = {.ulp = 0.5, .max_position = INT64_MAX, .derived = true},
                                    .keeps_rows = strcmp(names[k], "cached") == 0,
                                    .holds = true};
    m->report.kernels_count++;
    for (int s = 0; s < 2; s++) {
      m->rows[s][k] = (record_row){.kernel = names[k], .checks = &m->check, .checks_count = 1};
      m->rows[s][k].timing.ns_per_element = spread(ns[k]);
      m->shapes[s].rows_count++;
    }
  }
}

/* ---- claims ---- */

/* Expects a verdict on the claim that begins with `claim`, with its condition. */
static void verdict_is(const made *m, const char *claim, const char *verdict, const char *when, const char *found) {
  record_memory memory = {NULL};
  record_report report = m->report;
  bool known = false;
  claims_make(&report, &memory);
  RECORD_EACH(one, &report, claims) {
    if (strncmp(one->claim, claim, strlen(claim)) != 0) continue;
    known = true;
    ok(strcmp(one->verdict, verdict) == 0, "%s %s", one->claim, one->verdict);
    ok(strcmp(one->when, when) == 0, "when: '%s'", one->when);
    ok(strstr(one->found, found) != NULL, "found: %s", one->found);
  }
  ok(known, "there is a claim '%s...'", claim);
  record_release(&memory);
}

static void test_bounded(void) {
  made m;
  make(&m, (const char *const[]){"good", NULL}, (const double[]){1});
  verdict_is(&m, "All values", "holds", "", "2 of 2 checks");
  const record_check broken = {.property = "bounded"};
  m.rows[1][0].checks = &broken;
  verdict_is(&m, "All values", "false", "", "1 of 2 checks");
  m.report.shapes_count = 0;
  verdict_is(&m, "All values", "not measured", "", "");
}

static void test_cached(void) {
  static const struct {
    double good, naive;
    const char *verdict, *when, *found;
  } known[] = {
      {20, 30, "false", "", "20.0 (16.4–24.4) times as fast as good"},
      {20, 200, "holds only when", "the alternative is the formula, literally", "200 (164–244) times as fast as naive"},
      {200, 300, "holds only when", "the alternative is as slow as the fastest here", "200 (164–244)"},
      {20, 55, "undecided", "", "55.0 (45.0–67.2) times as fast as naive"},
      {55, 300, "holds only when", "the alternative is the formula, literally", "55.0 (45.0–67.2)"},
      {0.5, 1, "false", "", "0.500 (0.409–0.611) times as fast as good"},
  };
  for (size_t n = 0; n < sizeof known / sizeof *known; n++) {
    made m;
    make(&m, (const char *const[]){"cached", "good", "naive", NULL},
         (const double[]){1, known[n].good, known[n].naive});
    m.kernels[2].bound.derived = false;
    verdict_is(&m, "A cached table", known[n].verdict, known[n].when, known[n].found);
  }
}

/* ---- answers ---- */

static void fastest_is(const made *m, answer_budget budget, const char *want) {
  const char *got = answer_fastest(&m->report, &m->shapes[0], budget);
  ok(want ? got && strcmp(got, want) == 0 : !got, "within %s: %s", answer_titles[budget], got ? got : "none");
}

static void test_answers(void) {
  made m;
  make(&m, (const char *const[]){"wild", "grows", "nearly", "exact"}, (const double[]){1, 2, 3, 4});
  m.kernels[0].bound.derived = false;
  m.kernels[1].bound = (record_bound){.ulp = 0.5, .growth = 0x1p-34, .max_position = INT64_MAX, .derived = true};
  m.kernels[2].bound.abs = 0x1p-45;
  fastest_is(&m, ANSWER_HALF, "exact");
  fastest_is(&m, ANSWER_ONE, "nearly"); /* at position 1023, "grows" may be wrong by more than 2^-24 */
  fastest_is(&m, ANSWER_ANY, "wild");
  m.shapes[0].shape.rows = 16;
  fastest_is(&m, ANSWER_ONE, "grows");
  m.shapes[0].shape.first = 1 - ROWS;
  m.shapes[0].shape.rows = ROWS;
  fastest_is(&m, ANSWER_ONE, "nearly");
  m.kernels[2].holds = false;
  fastest_is(&m, ANSWER_ONE, "exact");
  m.kernels[3].keeps_rows = true;
  fastest_is(&m, ANSWER_HALF, NULL);
}

/* ---- the front ---- */

typedef struct point_case {
  pareto_point point;
  bool front;
} point_case;

enum { POINTS = 7 };

static void front_is(const point_case known[POINTS]) {
  pareto_point points[POINTS];
  for (int n = 0; n < POINTS; n++) points[n] = known[(n * 3 + 2) % POINTS].point;
  pareto_sort(points, POINTS);
  for (int n = 0; n < POINTS; n++)
    for (int i = 0; i < POINTS; i++)
      if (strcmp(points[i].name, known[n].point.name) == 0)
        ok(points[i].front == known[n].front, "'%s' is %son the front", points[i].name, points[i].front ? "" : "not ");
}

static void test_front(void) {
  static const point_case known[POINTS] = {
      {{.name = "liar", .time = 1, .error = 0}, false}, /* does not count */
      {{.name = "fast", .time = 2, .error = 3, .counts = true}, true},
      {{.name = "as accurate", .time = 3, .error = 3, .counts = true}, false},
      {{.name = "better", .time = 4, .error = 2, .counts = true}, true},
      {{.name = "worse", .time = 5, .error = 4, .counts = true}, false},
      {{.name = "as slow", .time = 6, .error = 1.5, .counts = true}, false}, /* as slow as the next, less accurate */
      {{.name = "best", .time = 6, .error = 1, .counts = true}, true},
  };
  /* The largest error of a sample is a lower bound. */
  static const point_case sampled[POINTS] = {
      {{.name = "fast sample", .time = 1, .error = 1, .elements = 10, .counts = true}, true},
      {{.name = "all", .time = 2, .error = 2, .elements = 100, .counts = true}, true}, /* not beaten by a sample */
      {{.name = "slow sample", .time = 3, .error = 0.5, .elements = 10, .counts = true}, false},
      {{.name = "less", .time = 4, .error = 0.1, .elements = 99, .counts = true}, false},
      {{.name = "as many", .time = 5, .error = 1.5, .elements = 100, .counts = true}, true},
      {{.name = "tied sample", .time = 5, .error = 0, .elements = 50, .counts = true}, false},
      {{.name = "as many, worse", .time = 6, .error = 1.6, .elements = 100, .counts = true}, false},
  };
  front_is(known);
  front_is(sampled);
}

/* Tests that only kernels count that passed all checks and compute their rows. */
static void test_counted(void) {
  made m;
  make(&m, (const char *const[]){"cached", "broken", "good", NULL}, (const double[]){1, 2, 3});
  m.kernels[1].holds = false;
  for (int k = 0; k < 3; k++)
    ok(answer_counts(&m.kernels[k]) == (k == 2), "%s %s", m.kernels[k].name, k == 2 ? "counts" : "does not count");
}

/* ---- choose ---- */

#define BOUND "'bound': {'ulp': 0.5, 'abs': 0, 'growth': 0, 'max_position': 9, 'derived': true}"
#define RESULT                                                                                                         \
  "'shape': {'name': '8x8', 'rows': 8, 'dim': 8}, 'mode': 'exhaustive', 'elements': 64, 'of': 64, 'mean_ulp': 0.25,"   \
  " 'max_ulp': {'ulp': 0.5}, 'max_abs': {'abs': 0.125}, 'misrounded': 0,"                                              \
  " 'checks': [{'property': 'accuracy', 'ok': true, 'skipped': false}]"
static const char accuracy_text[] =
    "{'schema': 'posenc-accuracy-1', 'environment': {}, 'profile': [], 'passed': 2, 'failed': 0, 'skipped': 0,"
    " 'kernels': [{'name': 'slow', " BOUND "}, {'name': 'quick', " BOUND "}],"
    " 'records': [{'kernel': 'slow', " RESULT "}, {'kernel': 'quick', " RESULT "}]}";

/* Adds timings of a kernel. None is the mean, and rates and shares have other medians. */
static void add_timings(json_t *benchmarks, const char *kernel, const double *ns) {
  static const double rates[] = {1e9, 5e9, 2e9}, shares[] = {0.5, 0.125, 0.25};
  for (int i = 0; i < 3; i++)
    json_array_append_new(benchmarks,
                          json_pack("{s:s+, s:s, s:f, s:f, s:s, s:f, s:f}", "name", "hot/8x8/", kernel, "run_type",
                                    "iteration", "real_time", ns[i], "cpu_time", 1.0, "time_unit", "ns",
                                    "bytes_per_second", rates[i], "of_limit", shares[i]));
}

static void number_is(const json_t *of, const char *name, double wanted) {
  const double got = field_number(of, name);
  if (isnan(wanted)) return;
  ok(fabs(got - wanted) <= 1e-12 * wanted, "%s is %.17g, %.17g", name, wanted, got);
}

static void add_plans(json_t *benchmarks, const char *kernel, double ns) {
  for (int i = 0; i < 3; i++)
    json_array_append_new(benchmarks,
                          json_pack("{s:s+, s:s, s:f, s:f, s:s}", "name", "plan/8x8/", kernel, "run_type", "iteration",
                                    "real_time", ns * (1 + i % 2), "cpu_time", 1.0, "time_unit", "ns"));
}

static bool is_slow(const char *kernel) {
  return strcmp(kernel, "slow") == 0;
}

/* Returns the choice in a budget of half an ulp. */
static json_t *chosen_of(json_t *accuracy, json_t *timing, const choice_workload *work) {
  record_memory memory = {NULL};
  const record_timing *timed = record_take_timing(json_incref(timing));
  const record_accuracy *verified = record_take_accuracy(json_incref(accuracy));
  const record_choice chosen =
      choice_of(verified, timed, "8x8", "8x8", "hot", (choice_budget){0.5, INFINITY}, work, &memory);
  json_t *choice = record_write_choice(&chosen);
  record_release(&memory);
  record_free(verified);
  record_free(timed);
  return choice;
}

/* Calls of `slow` take 220 ns, half of them 110, and its plans 1000; of `quick` 110 ns and 5000: as good from 36.4
   calls of one plan on. */
static void test_workload(json_t *accuracy, json_t *timing, double share, int64_t calls, const char *taken,
                          double least, double most, double total, double ratio) {
  const choice_workload work = {.rows = 8, .share = share, .calls = calls};
  json_t *choice = chosen_of(accuracy, timing, &work);
  ok(strcmp(field_string(choice, "choice"), taken) == 0, "%ld calls of one plan: %s", (long)calls, taken);
  number_is(choice, "least_calls", least);
  number_is(choice, "most_calls", most);
  number_is(choice, "calls", (double)calls);
  number_is(json_array_get(json_object_get(choice, "candidates"), 0), "total_seconds", total);
  number_is(json_object_get(choice, "next"), "ratio", ratio);
  ok(strcmp(field_string(choice, "once"), "slow") == 0 && strcmp(field_string(choice, "later"), "quick") == 0,
     "slow for a single call, quick for very many");
  json_decref(choice);
}

enum { TIMINGS = 5 };

/* Returns a choice between kernels whose calls take 100 ns, by these times of plans. */
static json_t *choice_of_plans(json_t *accuracy, const char *mode, const char *figure, const double *slow,
                               const double *quick) {
  json_t *benchmarks = json_array();
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < TIMINGS; i++) {
      const char *kernel = k ? "quick" : "slow";
      const bool is_hot = strcmp(mode, "hot") == 0;
      json_t *call = json_pack("{s:s+, s:s, s:f, s:s}", "name", "hot/8x8/", kernel, "run_type", "iteration",
                               "real_time", 100.0, "time_unit", "ns");
      json_t *plan = is_hot ? json_incref(call)
                            : json_pack("{s:s+, s:s, s:s}", "name", "plan/8x8/", kernel, "run_type", "iteration",
                                        "time_unit", "ns");
      json_object_set_new(plan, figure, json_real((k ? quick : slow)[i]));
      json_object_set_new(call, "cpu_time", json_real(1.0));
      json_object_set_new(plan, "cpu_time", json_real(1.0));
      json_array_append_new(benchmarks, call);
      if (!is_hot) json_array_append(benchmarks, plan);
      json_decref(plan);
    }
  json_t *timing = json_pack("{s:{s:f}, s:o}", "context", "others", 0.0, "benchmarks", benchmarks);
  const choice_workload work = {.rows = 8, .share = 0.5, .calls = 2};
  json_t *choice = chosen_of(accuracy, timing, &work);
  json_decref(timing);
  return choice;
}

/* Tests that the interval has the spread of plans, and that the time of one plan gives none. */
static void test_interval(json_t *accuracy) {
  static const double steady[TIMINGS] = {1000, 1000, 1000, 1000, 1000},
                      unsteady[TIMINGS] = {1200, 700, 900, 2000, 5000};
  json_t *choice = choice_of_plans(accuracy, "plan", "real_time", steady, unsteady);
  const json_t *next = json_object_get(choice, "next"),
               *first = json_array_get(json_object_get(choice, "candidates"), 0),
               *second = json_array_get(json_object_get(choice, "candidates"), 1);
  ok(strcmp(field_string(choice, "choice"), "slow") == 0, "the kernel with the least median is chosen");
  number_is(next, "ratio", 650.0 / 550.0);
  number_is(next, "low", 400.0 / 550.0);
  number_is(next, "high", 2550.0 / 550.0);
  number_is(first, "total_low", 550e-9);
  number_is(first, "total_high", 550e-9);
  number_is(second, "total_seconds", 650e-9);
  number_is(second, "total_low", 400e-9);
  number_is(second, "total_high", 2550e-9);
  json_decref(choice);
  choice = choice_of_plans(accuracy, "hot", "plan_once_ns", steady, unsteady);
  next = json_object_get(choice, "next");
  number_is(next, "ratio", 650.0 / 550.0);
  ok(json_is_null(json_object_get(next, "low")) && json_is_null(json_object_get(next, "high")),
     "the time of one plan gives no interval");
  first = json_array_get(json_object_get(choice, "candidates"), 0);
  ok(json_is_null(json_object_get(first, "total_low")) && json_is_null(json_object_get(first, "total_high")),
     "and no range");
  json_decref(choice);
}

static void test_choice(void) {
  char text[sizeof accuracy_text];
  memcpy(text, accuracy_text, sizeof accuracy_text);
  for (char *c = text; (c = strchr(c, '\''));) *c = '"';
  json_t *accuracy = json_loads(text, 0, NULL), *benchmarks = json_array();
  add_timings(benchmarks, "slow", (const double[]){220, 900, 200});
  add_timings(benchmarks, "quick", (const double[]){300, 100, 110});
  json_t *timing = json_pack("{s:{s:f}, s:o}", "context", "others", 0.25, "benchmarks", benchmarks);
  const choice_workload all = {.rows = 8, .share = 1.0}, seldom = {.rows = 8, .share = 1.0, .elsewhere = is_slow};
  json_t *choice = chosen_of(accuracy, timing, &all);
  const json_t *first = json_array_get(json_object_get(choice, "candidates"), 0),
               *next = json_object_get(choice, "next");
  ok(strcmp(field_string(choice, "choice"), "quick") == 0, "the quick one is chosen");
  number_is(first, "seconds", 110e-9);
  number_is(first, "low", 100e-9);
  number_is(first, "high", 300e-9);
  number_is(first, "bytes_per_second", 2e9);
  number_is(first, "of_limit", 0.25);
  number_is(next, "ratio", 2.0); /* the median of 9 quotients */
  ok(json_is_null(json_object_get(next, "low")), "of three timings each there is no interval of 95 %%");
  number_is(choice, "others", 0.25);
  json_decref(choice);

  add_plans(benchmarks, "slow", 1000);
  add_plans(benchmarks, "quick", 5000);
  test_workload(accuracy, timing, 1.0, 1, "slow", 1, 36, 1220e-9, 5110.0 / 1200.0);
  test_workload(accuracy, timing, 1.0, 36, "slow", 1, 36, 220e-9 + 1000e-9 / 36,
                (110 + 5000.0 / 36) / (200 + 1000.0 / 36));
  test_workload(accuracy, timing, 1.0, 37, "quick", 37, 0, 110e-9 + 5000e-9 / 37, NAN);
  test_workload(accuracy, timing, 0.5, 37, "slow", 1, 72, 110e-9 + 1000e-9 / 37, NAN);
  test_workload(accuracy, timing, 0.5, 0, "quick", 73, 0, 55e-9, 2.0);
  choice = chosen_of(accuracy, timing, &seldom);
  ok(strcmp(field_string(choice, "once"), "quick") == 0 && json_is_null(json_object_get(choice, "next")),
     "what is elsewhere is neither taken nor second");
  json_decref(choice);
  json_decref(timing);
  test_interval(accuracy);
  json_decref(accuracy);
}

int main(void) {
  test_bounded();
  test_cached();
  test_answers();
  test_front();
  test_counted();
  test_choice();
  return tap_done();
}
