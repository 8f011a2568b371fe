/* SPDX-License-Identifier: MIT */
/* Tests what the command and a kernel's worker derive from the seed of a slot (bench/slot.h), and the judge of what
   timed calls wrote (bench/watch.h). No process is started, and no time is taken. */
#include "config.h"

#include "bench/slot.h"
#include "bench/timed-subject.h"
#include "bench/watch.h"
#include "common/contract.h"
#include "common/number.h"
#include "common/shapes.h"
#include "records/timings.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

#ifdef HAVE_BENCHMARK

/* ---- groups ---- */

/* Returns the rule that the groups of one slot break, in a word; null if they keep all. */
static const char *broken_by(const slot_terms *terms) {
  const int64_t most = terms->alone ? 1 : least(terms->chain, 4);
  int64_t calls = 0, draws = 0, since = 0;
  int spans = 0;
  slot t = slot_begin(terms);
  const slot_group *g = &t.group;
  for (bool any = false; slot_next(&t); any = true) {
    if (g->first != calls || g->calls < 1) return "calls are left out, or made twice";
    calls += g->calls;
    if (g->is_last != (calls == terms->calls)) return "the last group is not the last one";
    if (g->is_last && g->calls > most) return "the last group is large";
    if (terms->alone && g->calls != 1) return "a call is not alone";
    if (!any && !g->draws) return "x is not drawn at first";
    if (g->draws && g->since != g->first) return "a draw begins elsewhere";
    draws += g->draws;
    if (g->draw != draws - 1) return "draws are not counted";
    if (g->is_last && !g->draws && g->first - g->since > 64) return "x is not drawn before the last group";
    if (calls - g->since > terms->chain) return "a chain is too long";
    if (any && g->draws && !g->is_last && g->first + g->calls - since <= terms->chain) return "x is drawn too often";
    if (g->draws) since = g->first;
    if (g->is_last ? g->spans != SLOT_LAST_SPANS : g->spans && g->spans != SLOT_SPANS) return "a number of spans";
    spans += g->spans;
    if (spans > SLOT_NOTES) return "there is no room for all spans";
  }
  return calls == terms->calls ? NULL : "calls are missing";
}

static void test_groups(void) {
  static const int64_t calls[] = {1, 2, 3, 4, 5, 31, 32, 33, 64, 100, 1000, 100000},
                       chains[] = {1, 2, 3, 100, INT64_MAX};
  const char *broken = NULL;
  int slots = 0;
  for (size_t c = 0; c < sizeof calls / sizeof *calls && !broken; c++)
    for (size_t n = 0; n < sizeof chains / sizeof *chains && !broken; n++)
      for (uint64_t seed = 1; seed <= 40 && !broken; seed++, slots++)
        broken = broken_by(&(slot_terms){seed << 40 | seed, calls[c], 1, 0, chains[n], seed % 4 == 0, 8, 2, 3});
  bool drawn = true;
  for (slot t = slot_begin(&(slot_terms){77, 1000, 3, 0, 200, false, 8, 2, 3}); slot_next(&t);)
    drawn = drawn && t.group.draws;
  ok(drawn, "x in slices is drawn before each group");
  ok(!broken, "groups of %d slots: %s", slots, broken ? broken : "all calls once, short chains, a short last group");
}

/* Tests how groups of a long slot are: their number, their sizes, how many are looked at, and where. */
static void test_sizes(void) {
  enum { SLOTS = 100, CALLS = 3200 };
  int groups = 0, noted = 0, small = 0, repeated = 0;
  for (uint64_t seed = 0; seed < SLOTS; seed++) {
    const slot_terms terms = {seed << 20 | 7, CALLS, 1, 0, INT64_MAX, false, 8, 2, 3};
    uint64_t before[SLOT_LAST_SPANS] = {0};
    int spans_before = 0;
    for (slot t = slot_begin(&terms); slot_next(&t);) {
      const slot_group *g = &t.group;
      groups++;
      noted += g->spans > 0;
      small += g->calls < CALLS / 32;
      for (int i = 0; spans_before && i < g->spans && !g->is_last; i++) repeated += g->random[i] == before[i];
      memcpy(before, g->random, sizeof before);
      spans_before = g->spans;
    }
  }
  ok(groups > 25 * SLOTS && groups < 40 * SLOTS, "%d groups of a slot", groups / SLOTS);
  ok(noted > 20 * SLOTS, "%d of them are looked at", noted / SLOTS);
  ok(small > 5 * SLOTS && small < 25 * SLOTS, "%d are smaller than the mean", small / SLOTS);
  ok(repeated > noted && repeated < 3 * noted, "%d spans are where those before were", repeated / SLOTS);
  int last[5] = {0};
  for (uint64_t seed = 0; seed < 400; seed++) {
    slot t = slot_begin(&(slot_terms){seed * 977, CALLS, 1, 0, INT64_MAX, false, 8, 2, 3});
    while (slot_next(&t)) continue;
    last[t.group.calls < 5 ? t.group.calls : 0]++;
  }
  ok(!last[0] && last[1] > 50 && last[2] > 50 && last[3] > 50 && last[4] > 50, "last groups of 1 to 4 calls");
}

/* ---- plans and slices ---- */

static void test_plans(void) {
  bool differ = true, alternate = true, continues = true, any = true;
  for (uint64_t seed = 0; seed < 16; seed++)
    for (int plans = 2; plans <= SLOT_PLANS; plans += SLOT_PLANS - 2)
      for (int64_t slices = 1; slices <= 7; slices++)
        for (int64_t from = 0; from < slices; from++) {
          const slot_terms terms = {seed << 32, 100, slices, from, INT64_MAX, false, SLOT_PLANS, plans, 3};
          bool used[SLOT_PLANS] = {false};
          int count = 0;
          for (int64_t call = 0; call < 50; call++) {
            const int64_t slice = slot_slice(&terms, call);
            const int plan = slot_plan(&terms, call);
            differ = differ && plan >= 0 && plan < SLOT_PLANS &&
                     (slice != slot_slice(&terms, call + 1) || plan != slot_plan(&terms, call + 1));
            alternate =
                alternate && slice == slot_slice(&terms, call + slices) && plan != slot_plan(&terms, call + slices);
            continues = continues && slice == (from + call) % slices;
            count += !used[plan];
            used[plan] = true;
          }
          any = any && count == plans && (from > 0 || slot_plan(&terms, 0) == (int)seed % SLOT_PLANS);
        }
  ok(differ, "no two successive calls are asked for the same");
  ok(alternate, "a slice is of another plan in the next pass");
  ok(continues, "slices follow one another, from where the slot before ended");
  ok(any, "a slot begins with any plan, and uses as many as it should");
}

static void test_shifts(void) {
  bool apart = true, within = true, vary = false;
  int64_t before = 0;
  for (uint64_t seed = 0; seed < 50; seed++)
    for (int64_t rows = 1; rows < 3000; rows = 3 * rows + 1) {
      int64_t shifts[SLOT_PLANS];
      slot_shifts(seed, rows, shifts);
      for (int p = 0; p < SLOT_PLANS; p++) {
        within = within && shifts[p] >= 0 && shifts[p] <= slot_reach(rows);
        for (int q = 0; q < p; q++) apart = apart && shifts[p] != shifts[q];
      }
      within = within && shifts[0] == 0;
      vary = vary || (before && shifts[1] != before && rows > 1000);
      if (rows > 1000) before = shifts[1];
    }
  ok(within, "the first plan begins where the shape does, the others within the reach");
  ok(apart, "no two begin at the same position");
  ok(vary, "nor at the same in all runs");
}

/* ---- regions and spans ---- */

static void are_within(const char *what, const region *r, size_t element) {
  enum { DRAWN = 20000 };
  bool within = true, placed = true, low = false, high = false;
  static int rows[2][64];
  memset(rows, 0, sizeof rows);
  uint64_t state = 5;
  for (int n = 0; n < DRAWN; n++) {
    random_next(&state);
    const span s = region_span(r, state * UINT64_C(0xbf58476d1ce4e5b9), element);
    const int64_t full = SLOT_SPAN / (int64_t)element;
    within = within && s.part >= 0 && s.part < r->parts && s.row >= 0 && s.row < r->rows && s.column >= 0 &&
             s.column + s.count <= r->width && s.count == (r->width < full ? r->width : full);
    placed = placed && s.at == s.part * r->apart + (r->first + s.row) * r->width + s.column;
    if (!within) break;
    rows[s.part][s.row]++;
    low = low || s.column == 0;
    high = high || s.column + s.count == r->width;
  }
  bool all = low && high;
  for (int64_t p = 0; p < r->parts; p++)
    for (int64_t i = 0; i < r->rows; i++) all = all && rows[p][i] > 0;
  ok(within, "%s: spans are within rows", what);
  ok(placed, "%s: and where they say", what);
  ok(all, "%s: and everywhere", what);
}

static void test_spans(void) {
  posenc_problem problem = posenc_table(50, 32);
  region r = region_of(&problem, 1, 50, 20, 10);
  ok(r.parts == 1 && r.rows == 10 && r.width == 32 && r.first == 20, "a slice of a table");
  are_within("a table of f32", &r, 4);
  are_within("a table of f64", &r, 8);
  problem.op = POSENC_ROPE_CACHE;
  r = region_of(&problem, 1, 50, 0, 50);
  ok(r.parts == 2 && r.width == row_elements_of(&problem) / 2 && r.apart == 50 * r.width, "a rope cache has two parts");
  are_within("a rope cache", &r, 4);
  problem.op = POSENC_ROPE;
  problem.heads = 3;
  r = region_of(&problem, 2, 50, 7, 3);
  ok(r.parts == 2 && r.width == 96 && r.apart == 50 * 96, "two sequences are two parts");
  are_within("rope", &r, 2);
  problem = posenc_table(5, 2);
  r = region_of(&problem, 1, 5, 0, 5);
  are_within("rows that are shorter than a span", &r, 4);
}

/* ---- numbers ---- */

static double element_at(posenc_dtype dtype, const void *memory, int64_t i) {
  if (dtype == POSENC_F64) return ((const double *)memory)[i];
  if (dtype == POSENC_F32) return (double)((const float *)memory)[i];
  const uint16_t bits = ((const uint16_t *)memory)[i];
  if (dtype == POSENC_F16) { /* normal numbers alone */
    const double value = ldexp(1024 + (bits & 1023), (bits >> 10 & 31) - 25);
    return bits >> 15 ? -value : value;
  }
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return (double)value;
}

static void test_spoil(void) {
  enum { COUNT = 5000 };
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F64, POSENC_F16, POSENC_BF16};
  static double wide[COUNT];
  static unsigned char kept[sizeof wide];
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const posenc_dtype dtype = dtypes[d];
    const size_t bytes = posenc_dtype_bytes(dtype) * COUNT;
    for (int i = 0; i < COUNT; i++) {
      const double value = 0.25 + 0.7 * i / COUNT;
      if (dtype == POSENC_F64) ((double *)wide)[i] = value;
      if (dtype == POSENC_F32) ((float *)wide)[i] = (float)value;
      if (dtype == POSENC_F16) ((uint16_t *)wide)[i] = (uint16_t)(0x3400 + i % 0x800);
      if (dtype == POSENC_BF16) ((uint16_t *)wide)[i] = (uint16_t)(0x3e80 + i % 0x100);
    }
    memcpy(kept, wide, bytes);
    slot_spoil(77, dtype, COUNT, wide);
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < COUNT; i++) {
      const double before = element_at(dtype, kept, i), part = fabs(element_at(dtype, wide, i) / before - 1.0);
      least = fmin(least, part);
      most = fmax(most, part);
    }
    ok(least >= 0x1p-16 && most <= 0x1p-3 && most > 1.5 * least, "%s: each number is changed, by 2^%.1f to 2^%.1f",
       dtype_name(dtype), log2(least), log2(most));
    slot_spoil(78, dtype, COUNT, wide);
    const bool other = memcmp(kept, wide, bytes) != 0;
    slot_spoil(78, dtype, COUNT, wide);
    slot_spoil(77, dtype, COUNT, wide);
    ok(other && memcmp(kept, wide, bytes) == 0, "%s: and restored by the same seed alone", dtype_name(dtype));
  }
}

static void test_x(void) {
  enum { COUNT = 1000 };
  float all[COUNT], parts[COUNT];
  uint16_t narrow[COUNT];
  double least = 1.0, most = -1.0, sum = 0.0;
  bool alike = true;
  slot_fill_x(9, 3, POSENC_F32, 100, COUNT, all);
  for (int from = 0; from < COUNT; from += 125) slot_fill_x(9, 3, POSENC_F32, 100 + from, 125, parts + from);
  slot_fill_x(9, 3, POSENC_BF16, 100, COUNT, narrow);
  for (int i = 0; i < COUNT; i++) {
    least = fmin(least, (double)all[i]);
    most = fmax(most, (double)all[i]);
    sum += (double)all[i];
    alike = alike && fabs(element_at(POSENC_BF16, narrow, i) - (double)all[i]) <= 0x1p-7 * fabs((double)all[i]);
  }
  ok(memcmp(all, parts, sizeof all) == 0, "x is the same in parts");
  ok(least < -0.95 && least >= -1.0 && most > 0.95 && most < 1.0 && fabs(sum) < 0.1 * COUNT, "numbers of [-1, 1)");
  ok(alike, "bf16 is the same, cut");
  slot_fill_x(9, 4, POSENC_F32, 100, COUNT, parts);
  int same = 0;
  for (int i = 0; i < COUNT; i++) same += all[i] == parts[i];
  ok(same < COUNT / 100, "the next draw is another");
  int64_t rows[200];
  bool within = true;
  slot_draw_rows(5, 10, rows, 200);
  for (int i = 0; i < 200; i++) within = within && rows[i] >= 0 && rows[i] < 10;
  ok(within, "single rows are rows of the table");
}

/* ---- the problems of the plans ---- */

static const char *only_first(const posenc_problem *problem) {
  return problem->first == 0 ? NULL : "the usual table alone";
}

/* Makes the problems of a kernel's plans; returns how many there are, -1 if they are not those of the shifts. */
static int vary(const posenc_problem *problem, const posenc_kernel *kernel) {
  const shape table = shape_of(problem);
  int64_t shifts[SLOT_PLANS];
  timed_subject s = {.shape = &table, .kernel = kernel, .options = posenc_default_options(), .batch = 1};
  s.options.kernel = kernel;
  const bool varied = subject_vary(&s, 9);
  slot_shifts(9, problem->rows, shifts);
  for (int p = 0; p < s.plan_count; p++) {
    posenc_problem wanted = *problem;
    wanted.first += shifts[p];
    if (memcmp(&s.problems[p], &wanted, sizeof wanted) != 0) return -1;
  }
  return varied == (s.plan_count > 1) ? s.plan_count : -1;
}

static void test_vary(void) {
  posenc_kernel kernel = *posenc_kernel_find("cr-portable");
  posenc_problem problem = posenc_table(100, 16);
  ok(vary(&problem, &kernel) == SLOT_PLANS, "plans begin later");
  kernel.keeps_rows = true;
  ok(vary(&problem, &kernel) == 2, "two, if a plan holds a table");
  kernel.keeps_rows = false;
  kernel.can_do = only_first;
  ok(vary(&problem, &kernel) == 1, "one, if the kernel makes no other");
  kernel.can_do = NULL;
  static const double list[100];
  problem.positions = list;
  ok(vary(&problem, &kernel) == 1, "or of a list of positions");
  problem.positions = NULL;
  problem.first = INT64_MAX - 105;
  ok(vary(&problem, &kernel) == 1, "or at the end of all positions");
}

/* Tests that the worker makes the calls that the command derives. */
static void test_calls(void) {
  enum { ROWS = 60, DIM = 16, CALLS = 100 };
  static const bench_mode sliced[] = {BENCH_HOT, BENCH_OFFSET};
  static float memory[ROWS * DIM + BENCH_OFFSET_BYTES];
  const posenc_problem problem = posenc_table(ROWS, DIM);
  const shape table = shape_of(&problem);
  timed_subject s = {.shape = &table,
                     .kernel = posenc_kernel_find("cr-portable"),
                     .options = posenc_default_options(),
                     .batch = 1,
                     .bytes = sizeof memory,
                     .buffer = (unsigned char *)memory};
  bool made = subject_vary(&s, 5), alike = true, placed = true;
  s.options.kernel = s.kernel;
  for (int p = 0; p < SLOT_PLANS; p++)
    made = made && posenc_plan_create(&s.plans[p], &s.problems[p], &s.options) == POSENC_OK;
  if (!ok(made, "plans are made")) return;
  for (int64_t slices = 1; slices <= 6; slices++)
    for (uint64_t n = 0; n < 8; n++) {
      const int plans = n % 2 ? SLOT_PLANS : 2;
      const slot_terms terms = {n << 32, CALLS, slices, (int64_t)n % slices, INT64_MAX, false, SLOT_PLANS, plans, 5};
      timing t = {.subject = &s, .mode = sliced[n / 2 % 2], .rows = ROWS / slices};
      timing_place(&t);
      timing_begin(&t, &terms);
      for (int64_t call = 0; call < CALLS; call++) {
        const region r = timing_region(&t);
        alike = alike && t.slice == slot_slice(&terms, call) && t.plan == slot_plan(&terms, call);
        placed = placed && r.first == t.slice * t.rows && r.rows == t.rows && r.width == DIM;
        alike = alike && timing_work(&t) == POSENC_OK;
      }
    }
  ok(alike, "calls are of the slices and plans that follow from the seed");
  ok(placed, "and write what is looked at");
  subject_release(&s);
}

/* Tests that the rows that are shown after mode plan can be any. */
static void test_shown(void) {
  enum { ROWS = 70, SOME = 64, PLACES = ROWS - SOME + 1 };
  int seen[PLACES] = {0}, places = 0;
  bool within = slot_shown(&(slot_terms){.seed = 3}, SOME, SOME) == 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    const int64_t row = slot_shown(&(slot_terms){.seed = seed << 32}, ROWS, SOME);
    within = within && row >= 0 && row < PLACES;
    if (within) places += seen[row]++ == 0;
  }
  ok(within && places == PLACES, "rows that are shown begin anywhere");
}

/* Tests that calls of a kernel that keeps rows, which have one plan, are of the rows of the problems. */
static void test_kept(void) {
  enum { ROWS = 200, DIM = 16, PLANS = 2 };
  static const posenc_op ops[] = {POSENC_TABLE, POSENC_ROPE_CACHE, POSENC_ADD};
  static float memory[2 * ROWS * DIM], wanted[2 * ROWS * DIM];
  for (size_t n = 0; n < sizeof ops / sizeof *ops; n++) {
    posenc_problem problem = posenc_table(ROWS, DIM);
    problem.op = ops[n];
    if (problem.op == POSENC_ROPE_CACHE) problem.layout = POSENC_DUPLICATED;
    const shape table = shape_of(&problem);
    timed_subject s = {.shape = &table,
                       .kernel = posenc_kernel_find("cached"),
                       .options = posenc_default_options(),
                       .batch = 1,
                       .bytes = sizeof memory,
                       .buffer = (unsigned char *)memory};
    s.options.kernel = s.kernel;
    const bool made = subject_vary(&s, 5) && subject_prepare(&s) == POSENC_OK && s.plan_count == PLANS;
    if (!ok(made && s.plans[0] == s.plans[1], "%s: one plan for two problems", op_name(problem.op))) return;
    int right = 0;
    for (int p = 0; p < PLANS; p++) {
      timing t = {.subject = &s, .mode = BENCH_HOT, .rows = ROWS, .plan = p, .of = PLANS, .plans = PLANS};
      memset(memory, 0, sizeof memory);
      memset(wanted, 0, sizeof wanted);
      timing_place(&t);
      right += timing_work(&t) == POSENC_OK;
      t.memory = (unsigned char *)wanted;
      right += timing_show(&t, p, 0, ROWS) == POSENC_OK && memcmp(memory, wanted, sizeof memory) == 0;
      memset(memory, 0, sizeof memory);
      t = (timing){.subject = &s, .mode = BENCH_ROW, .rows = 1, .plan = p, .of = PLANS, .plans = PLANS, .draws = {9}};
      right += timing_work(&t) == POSENC_OK && memcmp(memory, wanted + 9 * DIM, DIM * sizeof *memory) == 0;
    }
    ok(right == 3 * PLANS, "%s: they are of the rows of both", op_name(problem.op));
    subject_release(&s);
  }
}

/* ---- the judge ---- */

static const posenc_kernel *kernel_of(posenc_plan **plan, const posenc_problem *problem) {
  posenc_options options = posenc_default_options();
  options.kernel = posenc_kernel_find("cr-portable");
  return posenc_plan_create(plan, problem, &options) == POSENC_OK ? options.kernel : NULL;
}

/* Changes the last bit of an element. */
static void change(posenc_dtype dtype, void *memory, int64_t at) {
  const size_t bytes = posenc_dtype_bytes(dtype);
  unsigned char *const place = (unsigned char *)memory + (size_t)at * bytes;
  union {
    uint64_t f64;
    uint32_t f32;
    uint16_t narrow;
  } bits;
  memcpy(&bits, place, bytes);
  if (dtype == POSENC_F64)
    bits.f64 ^= 1;
  else if (dtype == POSENC_F32)
    bits.f32 ^= 1;
  else
    bits.narrow ^= 1;
  memcpy(place, &bits, bytes);
}

/* Tests that correctly rounded rows pass, and that one wrong element is found, whole tables and spans alike. */
static void judge_table(const char *what, const posenc_problem *problem) {
  static double memory[2 * 300 * 64];
  const int parts = problem->op == POSENC_ROPE_CACHE ? 2 : 1;
  const int64_t all = problem->rows * row_elements_of(problem) / parts, width = all / problem->rows;
  unsigned char *const tables[2] = {(unsigned char *)memory,
                                    (unsigned char *)memory + (size_t)all * posenc_dtype_bytes(problem->dtype)};
  posenc_plan *plan;
  const posenc_kernel *kernel = kernel_of(&plan, problem);
  judge *j = judge_can(problem) ? judge_create(problem) : NULL;
  if (!ok(kernel && j && judge_holds(j, &kernel->bound), "%s: there are exact values within a bound", what)) return;
  if (parts == 2)
    posenc_rope_cache(plan, 0, problem->rows, tables[0], tables[1]);
  else
    posenc_execute(plan, 0, problem->rows, memory);
  for (int t = 0; t < parts; t++) {
    judgement found = {0};
    judge_elements(j, &kernel->bound, t, 0, all, tables[t], &found);
    ok(found.broken == 0 && found.compared == all, "%s: all of %d elements of table %d are right", what, (int)all, t);
    const int64_t row = 3 + t, column = width - 3, at = row * width + column;
    change(problem->dtype, tables[t], at);
    found = (judgement){0};
    judge_elements(j, &kernel->bound, t, 0, all, tables[t], &found);
    ok(found.broken == 1 && found.row == row && found.column == column && fabs(found.got - found.exact) > found.allowed,
       "%s: one wrong element of table %d is found: row %d, column %d", what, t, (int)found.row, (int)found.column);
    found = (judgement){0};
    const unsigned char *there = tables[t] + (size_t)(at - 2) * posenc_dtype_bytes(problem->dtype);
    judge_elements(j, &kernel->bound, t, at - 2, 4, there, &found);
    ok(found.broken == 1 && found.compared == 4 && found.row == row && found.column == column, "%s: in a span too",
       what);
    change(problem->dtype, tables[t], at);
  }
  if (parts == 2 && all > 0) {
    judgement found = {0};
    judge_elements(j, &kernel->bound, 0, 0, all, tables[1], &found);
    ok(found.broken > all / 2, "%s: sines are no cosines", what);
  }
  posenc_plan_destroy(plan);
  judge_destroy(j);
}

/* Tests that of correctly rounded floats each neighbour is found, wherever the exact value is between them. */
static void test_neighbours(void) {
  enum { ROWS = 300, DIM = 64, ALL = ROWS * DIM };
  static float memory[ALL];
  posenc_problem problem = posenc_table(ROWS, DIM);
  posenc_plan *plan;
  problem.first = -(INT64_C(1) << 33);
  const posenc_kernel *kernel = kernel_of(&plan, &problem);
  judge *j = judge_create(&problem);
  judgement found = {0};
  if (!ok(kernel && j, "a table of far rows")) return;
  posenc_execute(plan, 0, ROWS, memory);
  judge_elements(j, &kernel->bound, 0, 0, ALL, memory, &found);
  ok(found.broken == 0 && found.compared == ALL, "floats nearest to exact values are right");
  for (int64_t i = 0; i < ALL; i++) memory[i] = nextafterf(memory[i], i % 3 ? 2.0f : -2.0f);
  judge_elements(j, &kernel->bound, 0, 0, ALL, memory, &found);
  ok(found.broken == ALL, "of %d neighbours %d are wrong", ALL, (int)found.broken);
  posenc_plan_destroy(plan);
  judge_destroy(j);
}

/* Tests that a padding row is zero, and nothing else. */
static void test_padding(void) {
  enum { ROWS = 20, DIM = 32, ALL = ROWS * DIM };
  static float memory[ALL];
  posenc_problem problem = posenc_table(ROWS, DIM);
  posenc_plan *plan;
  const posenc_kernel *kernel = kernel_of(&plan, &problem);
  problem.padding = 7;
  judge *j = judge_create(&problem);
  judgement found = {0};
  if (!ok(kernel && j, "a table with a padding row")) return;
  posenc_execute(plan, 0, ROWS, memory);
  judge_elements(j, &kernel->bound, 0, 0, ALL, memory, &found);
  ok(found.broken == DIM && found.row == 7, "values in it are wrong: %d", (int)found.broken);
  posenc_plan_destroy(plan);
  judge_destroy(j);
}

/* Tests a problem with these changes. */
#define JUDGED(judge, what, of, ...)                                                                                   \
  do {                                                                                                                 \
    posenc_problem problem = of;                                                                                       \
    __VA_ARGS__;                                                                                                       \
    judge(what, &problem);                                                                                             \
  } while (0)

static void no_values(const char *what, const posenc_problem *problem) {
  ok(!judge_can(problem), "%s", what);
}

static void test_tables(void) {
  static const double places[50] = {[1] = 7, [3] = 1e6, [4] = -5}, fraction[1] = {0.5};
  posenc_axes axes = posenc_grid(2, (const int64_t[]){5, 10}, 32), grouped = axes;
  grouped.grouped = true;
  const posenc_problem table = posenc_table(50, 32);
  for (int dtype = POSENC_F32; dtype <= POSENC_BF16; dtype++)
    JUDGED(judge_table, dtype_name(problem.dtype), posenc_table(300, 64), problem.dtype = (posenc_dtype)dtype);
  for (int layout = POSENC_INTERLEAVED; layout <= POSENC_SPLIT_CS; layout++) {
    char what[32];
    snprintf(what, sizeof what, "layout %d", layout);
    JUDGED(judge_table, what, table, problem.layout = (posenc_layout)layout);
  }
  JUDGED(judge_table, "a padding row and negative positions", table, (problem.padding = 7, problem.first = -20));
  JUDGED(judge_table, "scaled positions", posenc_table(200, 32), problem.scale = 0.75);
  JUDGED(judge_table, "a rope cache", posenc_rope_tables(50, 32), problem.layout = POSENC_INTERLEAVED);
  JUDGED(judge_table, "a rope cache of half the columns", posenc_rope_tables(50, 32), problem.layout = POSENC_SPLIT);
  JUDGED(judge_table, "two axes", table, problem.axes = &axes);
  JUDGED(judge_table, "two axes with columns of their own", table, problem.axes = &grouped);
  JUDGED(judge_table, "a rope cache of such axes", posenc_rope_tables(50, 32), problem.axes = &grouped);
  JUDGED(judge_table, "a list of positions", table, problem.positions = places);
  JUDGED(no_values, "there are none at fractions", posenc_table(1, 32), problem.positions = fraction);
  JUDGED(no_values, "nor for odd dims", posenc_table(9, 32), problem.dim = 31);
}

static void test_holds(void) {
  posenc_problem problem = posenc_table(20, 8);
  posenc_bound bound = {.ulp = 1, .max_position = 19};
  judge *j = judge_create(&problem);
  ok(judge_holds(j, &bound), "a bound up to the last row");
  bound.max_position = 18;
  ok(!judge_holds(j, &bound), "one that ends before");
  bound = (posenc_bound){.max_position = 100};
  ok(!judge_holds(j, &bound), "none at all");
  judge_destroy(j);
  problem.first = -50;
  bound = (posenc_bound){.ulp = 1, .max_position = 40};
  j = judge_create(&problem);
  ok(!judge_holds(j, &bound), "one that ends before, at negative positions");
  judge_destroy(j);
}

/* Tests that f32 is compared within the bound where shares of a value are no normal floats. */
static void test_tiny(void) {
  enum { COLUMN = 62 };
  posenc_problem problem = posenc_table(2, 64);
  problem.base = 0x1.24p129;
  const double value = pow(problem.base, -COLUMN / 64.0); /* its sine, too; 0.31 ulp above a float */
  const float nearest = (float)value, two[] = {nextafterf(nearest, 0.0f), nextafterf(nearest, 1.0f)};
  const posenc_bound bound = {.ulp = 1.1, .max_position = 1};
  judge *j = judge_create(&problem);
  judgement found = {0}, farther = {0};
  if (!ok(judge_holds(j, &bound), "there are exact values of a large base")) return;
  for (int n = 0; n < 2; n++) judge_elements(j, &bound, 0, problem.dim + COLUMN, 1, &two[n], &found);
  judge_elements(j, &bound, 0, problem.dim + COLUMN, 1, &two[value > (double)nearest ? 0 : 1], &farther);
  ok(nearest < 0x1p-125f && found.broken == 1 && farther.broken == 1, "of floats beside a tiny value one is wrong: %g",
     farther.got);
  judge_destroy(j);
}

static bool read_here(void *from, const void *address, void *to, size_t bytes) {
  (void)from;
  memcpy(to, address, bytes);
  return true;
}

/* Tests that all of a result is compared that is read in several pieces. */
static void test_whole(void) {
  enum { ROWS = 300, DIM = 64, ALL = ROWS * DIM };
  static double memory[ALL];
  posenc_problem problem = posenc_table(ROWS, DIM);
  posenc_plan *plan;
  problem.dtype = POSENC_F64;
  const posenc_kernel *kernel = kernel_of(&plan, &problem);
  judge *j = judge_create(&problem);
  if (!ok(kernel, "a table of 150 KiB")) return;
  posenc_execute(plan, 0, ROWS, memory);
  const yardstick y = {.problem = &problem, .batch = 1, .bound = kernel->bound, .judge = j, .held = true};
  const slot_terms terms = {.calls = 1, .slices = 1, .chain = INT64_MAX, .of = 1, .plans = 1};
  const evidence e = {read_here, NULL, (const unsigned char *)memory, NULL, 0};
  judgement found = {0};
  ok(trial_of_whole(&y, &terms, &e, &found) && found.compared == ALL && found.broken == 0, "all of it is right");
  for (int64_t at = 0; at < ALL; at += ALL / 7) change(POSENC_F64, memory, at);
  change(POSENC_F64, memory, ALL - 1);
  found = (judgement){0};
  const bool read = trial_of_whole(&y, &terms, &e, &found);
  ok(read && found.compared == ALL && found.broken == 9 && found.row == 0, "nine wrong elements are found: %d",
     (int)found.broken);
  posenc_plan_destroy(plan);
  judge_destroy(j);
}

/* Returns how many elements are wrong after calls of two plans, of which `told` are told. */
static int64_t judge_chain(const posenc_problem *problem, const int made[2], const int64_t told[2], int64_t changed) {
  enum { SEED = 11, DRAW = 2, SHIFT = 5 };
  static double memory[100 * 3 * 64], own[3 * 64];
  const int64_t width = row_elements_of(problem);
  const size_t row_bytes = (size_t)width * posenc_dtype_bytes(problem->dtype);
  posenc_problem problems[2] = {*problem, *problem}, all = *problem;
  posenc_plan *plans[2];
  const posenc_kernel *kernel = NULL;
  judgement found = {0};
  applications a;
  problems[1].first += SHIFT;
  all.rows += SHIFT;
  judge *j = judge_create(&all);
  for (int p = 0; p < 2; p++) kernel = kernel_of(&plans[p], &problems[p]);
  if (!kernel) return -1;
  applications_open(&a, problem->dim);
  slot_fill_x(SEED, DRAW, problem->dtype, 0, problem->rows * width, memory);
  for (int p = 0; p < 2; p++)
    for (int n = 0; n < made[p]; n++) {
      const posenc_slice slice = posenc_rows(0, problem->rows);
      posenc_apply(plans[p], &slice, memory, memory);
    }
  if (changed >= 0)
    slot_spoil(3, problem->dtype, 1, (unsigned char *)memory + (size_t)changed * row_bytes / (size_t)width);
  for (int64_t row = 0; row < problem->rows; row++) {
    applications_begin(&a, problem);
    for (int p = 0; p < 2; p++)
      if (told[p]) applications_add(&a, j, &kernel->bound, row + p * SHIFT, told[p]);
    slot_fill_x(SEED, DRAW, problem->dtype, row * width, width, own);
    applications_judge(&a, j, row, 0, width, own, (unsigned char *)memory + (size_t)row * row_bytes, &found);
    if (!a.held || a.count != told[0] + told[1]) found.broken = -1000;
  }
  applications_close(&a);
  for (int p = 0; p < 2; p++) posenc_plan_destroy(plans[p]);
  judge_destroy(j);
  return found.compared == problem->rows * width ? found.broken : -1;
}

static void judge_applied(const char *what, const posenc_problem *problem) {
  const int64_t all = problem->rows * row_elements_of(problem);
  ok(judge_chain(problem, (const int[]){1, 0}, (const int64_t[]){1, 0}, -1) == 0, "%s: one call is right", what);
  ok(judge_chain(problem, (const int[]){3, 2}, (const int64_t[]){3, 2}, -1) == 0, "%s: so are five of two plans", what);
  ok(judge_chain(problem, (const int[]){2, 2}, (const int64_t[]){3, 2}, -1) > all / 3, "%s: a call is left out", what);
  ok(judge_chain(problem, (const int[]){4, 2}, (const int64_t[]){3, 2}, -1) > all / 3, "%s: one is made twice", what);
  ok(judge_chain(problem, (const int[]){4, 1}, (const int64_t[]){3, 2}, -1) > 0, "%s: one is of the other plan", what);
  for (int n = 0; n < 2; n++) { /* one of each half of a pair, in any layout */
    const int64_t wrong = judge_chain(problem, (const int[]){1, 1}, (const int64_t[]){1, 1}, n ? all - 5 : all / 2 + 4);
    ok(wrong == 1, "%s: one element is wrong: %d", what, (int)wrong);
  }
}

static void test_applied(void) {
  posenc_axes axes = posenc_grid(2, (const int64_t[]){5, 10}, 64);
  axes.grouped = true;
  const posenc_problem add = posenc_add(100, 64), rope = posenc_rope(100, 3, 64);
  JUDGED(judge_applied, "add", add, (void)0);
  JUDGED(judge_applied, "add in halves", add, problem.layout = POSENC_SPLIT_CS);
  JUDGED(judge_applied, "add with the cosine first", add, problem.layout = POSENC_INTERLEAVED_CS);
  JUDGED(judge_applied, "add with a padding row", add, (problem.layout = POSENC_INTERLEAVED_CS, problem.padding = 7));
  JUDGED(judge_applied, "add of two axes", posenc_add(40, 64),
         (problem.layout = POSENC_INTERLEAVED_CS, problem.axes = &axes));
  JUDGED(judge_applied, "rope", rope, (void)0);
  JUDGED(judge_applied, "rope backwards", rope, problem.inverse = true);
  JUDGED(judge_applied, "rope in halves", rope, problem.layout = POSENC_SPLIT);
  JUDGED(judge_applied, "rope in halves with an attention factor", rope,
         (problem.layout = POSENC_SPLIT, problem.scaling.attention = 1.5));
  JUDGED(judge_applied, "rope in halves of two axes", posenc_rope(40, 3, 64),
         (problem.layout = POSENC_SPLIT, problem.axes = &axes));
}

/* ---- what records say of the checks ---- */

static void test_join(void) {
  static const record_timed_check first[] = {{.kernel = "a", .check = "floor", .compared = 3, .ok = true},
                                             {.kernel = "a", .check = "clock", .compared = 5, .ok = true}},
                                  second[] = {
                                      {.kernel = "a", .check = "clock", .compared = 2, .ok = false, .note = "late"},
                                      {.kernel = "b", .check = "clock", .compared = 7, .ok = true}};
  const record_context none = {.checks = NULL}, one = {.checks = first, .checks_count = 2},
                       two = {.checks = second, .checks_count = 2};
  record_timed_check all[8];
  size_t count = 0;
  timed_checks_join(all, &count, &none);
  ok(count == 0, "no checks and none");
  timed_checks_join(all, &count, &one);
  ok(count == 2, "checks are added");
  timed_checks_join(all, &count, &two);
  ok(count == 3 && strcmp(all[2].kernel, "b") == 0, "others beside them");
  CHECK(all[1].compared == 7); /* the same is made as often as both */
  CHECK(!all[1].ok);           /* and holds if both do */
  CHECK(all[1].note && strcmp(all[1].note, "late") == 0);
  CHECK(all[0].compared == 3); /* another check is as it was */
  timed_checks_join(all, &count, &one);
  ok(!all[1].ok && all[1].compared == 12, "a later record does not mend it");
}

/* Two records of one report. */
static void test_joined_records(void) {
  static const record_timed_check checks[] = {{.kernel = "a", .check = "floor", .compared = 3, .ok = true}};
  static const record_benchmark first[] = {{.name = "hot/s/a"}}, second[] = {{.name = "hot/t/a"}, {.name = "hot/t/b"}};
  static const record_library_choice choice[] = {{.shape = "t", .kernel = "a", .all_threads = "b"}};
  static const record_fact facts[] = {{"cpu", "one", true}},
                           others[] = {{"cpu", "two", true}, {"kernel_failed.b", "why", true}};
  const record_timing one = {
      .context = {.facts = {true, facts, 1}, .others = 0, .has_others = true, .checks = checks, .checks_count = 1},
      .benchmarks = first,
      .benchmarks_count = 1};
  record_timing two = {.context = {.facts = {true, others, 2}, .choices = choice, .choices_count = 1},
                       .benchmarks = second,
                       .benchmarks_count = 2};
  two.context.checks = checks;
  two.context.checks_count = 1;
  const record_timing *both = timings_join(&one, &two);
  ok(both->benchmarks_count == 3 && strcmp(both->benchmarks[2].name, "hot/t/b") == 0, "benchmarks of both records");
  ok(both->context.choices_count == 1 && strcmp(both->context.choices[0].all_threads, "b") == 0, "choices of both");
  ok(both->context.checks_count == 1 && both->context.checks[0].compared == 6, "checks of both");
  ok(strcmp(record_fact_text(&both->context.facts, "cpu"), "one") == 0, "facts of the first");
  ok(strcmp(record_fact_text(&both->context.facts, "kernel_failed.b"), "why") == 0, "and what the second has beside");
  ok(both->context.has_others && both->context.others == 0, "the share of others is that of the first");
  record_free(both);
}

int main(void) {
  test_groups();
  test_sizes();
  test_plans();
  test_shifts();
  test_spans();
  test_spoil();
  test_x();
  test_vary();
  test_calls();
  test_shown();
  test_kept();
  test_tables();
  test_holds();
  test_neighbours();
  test_padding();
  test_tiny();
  test_whole();
  test_applied();
  test_join();
  test_joined_records();
  return tap_done();
}

#else

int main(void) {
  skip("slots of timed calls", "this build has no Google Benchmark");
  return tap_done();
}

#endif
