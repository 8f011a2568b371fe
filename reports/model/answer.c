/* SPDX-License-Identifier: MIT */
#include "reports/model/answer.h"

#include "common/shapes.h"
#include "posenc.h"
#include "records/timings.h"
#include "reports/model/document.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char answer_literal[] = "naive";
static const double tie = 1.1;

const char *const answer_budgets[ANSWER_BUDGETS] = {"half", "one", "any"};
const char *const answer_titles[ANSWER_BUDGETS] = {"0.5 ulp", "1 ulp", "any"};
const char *const answer_promises[ANSWER_BUDGETS] = {", correctly rounded", ", proved to be at most 2⁻²⁴", ""};

answer_budget answer_budget_called(const char *name) {
  answer_budget budget = ANSWER_HALF;
  while (budget < ANSWER_ANY && strcmp(name, answer_budgets[budget]) != 0) budget++;
  return budget;
}

/* ---- candidates ---- */

/* Whether the bound applies to all positions of that shape. */
static bool holds_on(const posenc_bound *bound, const record_table_shape *of, int64_t *last) {
  return of->rows >= 0 && of->rows < 0x1p62 && bound->derived && bound->max_position >= 0 &&
         of->first >= -bound->max_position && !__builtin_add_overflow(of->first, (int64_t)of->rows - 1, last) &&
         *last <= bound->max_position;
}

bool answer_is_within(const record_kernel *kernel, const record_table_shape *of, posenc_dtype dtype, double most) {
  const posenc_bound bound = report_bound_in(kernel, dtype);
  int64_t last;
  return holds_on(&bound, of, &last) && posenc_bound_at(&bound, dtype, of->first) <= most &&
         posenc_bound_at(&bound, dtype, last) <= most;
}

static bool is_within(const record_kernel *kernel, const record_table_shape *of, answer_budget most) {
  const posenc_dtype dtype = report_dtype(of);
  const posenc_bound bound = report_bound_in(kernel, dtype);
  int64_t last;
  if (most == ANSWER_ANY) return true;
  if (most == ANSWER_ONE) return answer_is_within(kernel, of, dtype, choice_default_abs(dtype));
  return holds_on(&bound, of, &last) && bound.ulp <= 0.5 && bound.abs <= 0 && bound.growth <= 0;
}

bool answer_counts(const record_kernel *kernel) {
  return kernel->holds && !kernel->keeps_rows;
}

static bool is_candidate(const record_kernel *kernel, const record_table_shape *of, answer_budget most) {
  return answer_counts(kernel) && !kernel->recipe && is_within(kernel, of, most);
}

/* The candidates for the fastest kernel. */
typedef struct field {
  answer_budget most;
  bool serial;     /* only kernels of one thread */
  bool own;        /* no kernels of plugins */
  const char *but; /* a kernel that is excluded, or null */
} field;

static bool is_in(const field *in, const record_kernel *kernel, const record_table *table) {
  return !(in->serial && kernel->threaded) && !(in->own && *kernel->plugin) &&
         !(in->but && strcmp(kernel->name, in->but) == 0) && is_candidate(kernel, &table->shape, in->most);
}

/* Returns the fastest candidate, or null if there is none. */
static const record_kernel *fastest(const record_report *report, const record_table *table, const field *in) {
  const record_kernel *best = NULL;
  double best_ns = INFINITY;
  RECORD_EACH(kernel, report, kernels) {
    const double ns = report_median_ns(table, kernel->name);
    if (!(ns < best_ns) || !is_in(in, kernel, table)) continue;
    best = kernel;
    best_ns = ns;
  }
  return best;
}

const char *answer_fastest(const record_report *report, const record_table *table, answer_budget budget) {
  const record_kernel *best = table ? fastest(report, table, &(field){.most = budget}) : NULL;
  return best ? best->name : NULL;
}

answer_budget answer_class(const record_kernel *kernel, const record_table *table) {
  answer_budget budget = ANSWER_HALF;
  while (!is_within(kernel, &table->shape, budget)) budget++;
  return budget;
}

/* Returns the merit of a kernel. Of equally fast kernels, the one with the higher merit is preferred. */
static int merit(const record_kernel *kernel, const record_table *table) {
  return 2 * (answer_class(kernel, table) == ANSWER_HALF) + !kernel->threaded;
}

/* Returns the fastest kernel, or one with more merit whose time does not differ significantly. With few timings many
   differences are not significant, so its median must also be almost as small. */
static const char *pick(const record_report *report, repetition_index *times, const record_table *table,
                        const field *in) {
  const record_kernel *best = fastest(report, table, in), *picked = best;
  RECORD_EACH(kernel, report, kernels) {
    if (!isfinite(report_median_ns(table, kernel->name)) || !is_in(in, kernel, table)) continue;
    if (merit(kernel, table) <= merit(picked, table)) continue;
    const record_ratio ratio = repetitions_ratio(times, "hot", table->shape.name, best->name, kernel->name);
    if (ratio.low <= 1 && ratio.estimate < tie) picked = kernel;
  }
  return picked ? picked->name : NULL;
}

/* ---- by how much ---- */

/* Compares two kernels, and adds the second's name. The ratio is not there without a second. */
static record_ratio compare(repetition_index *times, const char *table, const char *first, const char *second) {
  if (!second || strcmp(first, second) == 0) return record_empty_ratio();
  record_ratio made = repetitions_ratio(times, "hot", table, first, second);
  made.kernel = second;
  return made;
}

/* Makes an answer. Returns false if there is none. */
static bool make_answer(record_answer *made, const record_report *report, repetition_index *times,
                        const record_table *table, const char *footprint, answer_budget most) {
  const char *name = table->shape.name, *kernel = pick(report, times, table, &(field){.most = most});
  if (!kernel) return false;
  const char *slow = isfinite(report_median_ns(table, answer_literal)) ? answer_literal : NULL;
  const record_kernel *next = fastest(report, table, &(field){.most = most, .but = kernel});
  *made = (record_answer){.there = true,
                          .shape = name,
                          .footprint = footprint,
                          .budget = answer_budgets[most],
                          .kernel = kernel,
                          .next = compare(times, name, kernel, next ? next->name : NULL),
                          .naive = compare(times, name, kernel, slow)};
  return true;
}

/* ---- tables ---- */

/* Whether this is a timed table of f32. Other shapes have no answer. */
static bool is_asked(const record_table *table) {
  return report_is_f32_table(table) && table->limit_bytes_per_second.there;
}

/* Returns the largest table of at most `most` bytes, or null if there is none. */
static const record_table *largest(const record_report *report, double most) {
  const record_table *chosen = NULL;
  RECORD_EACH(table, report, shapes)
    if (is_asked(table) && table->bytes > 0 && table->bytes <= most && (!chosen || table->bytes >= chosen->bytes))
      chosen = table;
  return chosen;
}

void answer_make(record_report *report, repetition_index *times, record_memory *in) {
  const record_table *reference = report_table(report, report->headline.shape);
  const double cache = strtod(record_fact_text(&report->environment.timing, "l2"), NULL);
  const struct {
    const char *footprint;
    const record_table *table;
  } asked[] = {
      {"reference", reference && is_asked(reference) ? reference : NULL},
      {"largest", largest(report, INFINITY)},
      {"in cache", largest(report, cache / 2)}, /* half of the cache is left to other data */
  };
  enum { ASKED = sizeof asked / sizeof *asked };
  record_answer *answers = record_allocate(in, ASKED * ANSWER_BUDGETS, sizeof *answers);
  report->answer = answers;
  for (size_t i = 0; i < ASKED; i++) {
    bool again = false; /* two of the tables may be the same */
    for (size_t k = 0; k < i; k++) again = again || asked[k].table == asked[i].table;
    for (answer_budget most = ANSWER_HALF; asked[i].table && !again && most < ANSWER_BUDGETS; most++)
      report->answer_count +=
          make_answer(&answers[report->answer_count], report, times, asked[i].table, asked[i].footprint, most);
  }
}

/* ---- uses ---- */

static const char *const use_names[USES] = {"default", "threads", "library", "now"};

/* Records do not say so, but names do. */
bool answer_has_foreign_sines(const record_kernel *kernel) {
  static const char *const libraries[] = {"sleef-", "libmvec-"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (strncmp(kernel->name, libraries[i], strlen(libraries[i])) == 0) return true;
  return false;
}

/* Whether the kernel is a framework's code (USE_NOW) or uses another library's sines (USE_LIBRARY), with errors that
   grow with the position. */
static bool is_of(const record_kernel *kernel, answer_use use) {
  const bool grows = !kernel->bound.derived || kernel->bound.growth > 0;
  if (kernel->threaded || *kernel->plugin || !answer_counts(kernel)) return false;
  return use == USE_NOW ? kernel->recipe : !kernel->recipe && grows && answer_has_foreign_sines(kernel);
}

/* Returns the fastest kernel of a use, or null if none was timed. */
static const char *find_of(const record_report *report, const record_table *table, answer_use use) {
  const char *best = NULL;
  double best_ns = INFINITY;
  RECORD_EACH(kernel, report, kernels) {
    const double ns = report_median_ns(table, kernel->name);
    if (!is_of(kernel, use) || !(ns < best_ns)) continue;
    best = kernel->name;
    best_ns = ns;
  }
  return best;
}

/* Returns the fastest recipe; else the other library's kernel; else the literal formula. */
static const char *find_now(const record_report *report, const record_table *table, const char *library) {
  const char *recipe = find_of(report, table, USE_NOW);
  if (recipe || library) return recipe ? recipe : library;
  return isfinite(report_median_ns(table, answer_literal)) ? answer_literal : NULL;
}

/* Returns the library's own choice, if the record has it and it was timed and passed its checks; else the fastest
   kernel, if it is a table of f32. */
static const char *find_choice(const record_report *report, repetition_index *times, const record_table *table,
                               bool serial) {
  const char *told = report_choice(report, table->shape.name, serial);
  const record_kernel *kernel = report_kernel(report, told);
  if (kernel && answer_counts(kernel) && isfinite(report_median_ns(table, told))) return told;
  if (!is_asked(table)) return NULL;
  return pick(report, times, table, &(field){.most = ANSWER_ONE, .serial = serial, .own = true});
}

void answer_uses(record_report *report, repetition_index *times, record_memory *in) {
  const record_table *table = report_table(report, report->headline.shape);
  record_use *uses = record_allocate(in, USES, sizeof *uses);
  report->uses = uses;
  if (!table || !table->limit_bytes_per_second.there) return;
  const char *const library = find_of(report, table, USE_LIBRARY), *const now = find_now(report, table, library);
  const char *const kernels[USES] = {find_choice(report, times, table, true), find_choice(report, times, table, false),
                                     library != now ? library : NULL, now};
  for (answer_use use = USE_DEFAULT; use < USES; use++)
    if (kernels[use])
      uses[report->uses_count++] = (record_use){.there = true,
                                                .use = use_names[use],
                                                .kernel = kernels[use],
                                                .speed_up = compare(times, table->shape.name, kernels[use], now)};
}

const record_use *answer_find_use(const record_report *report, answer_use use) {
  RECORD_EACH(one, report, uses)
    if (strcmp(one->use, use_names[use]) == 0) return one;
  return NULL;
}

bool answer_is_use(const record_report *report, answer_use use, const char *kernel) {
  const record_use *found = answer_find_use(report, use);
  return found && strcmp(found->kernel, kernel) == 0;
}

bool answer_is_choice(const record_report *report, bool serial, const char *kernel) {
  return strcmp(report_choice(report, report->headline.shape, serial), kernel) == 0;
}

/* Compares a kernel with the default, the literal formula and the first subject, each if both were timed. */
static record_subject make_subject(const record_report *report, repetition_index *times, const char *kernel,
                                   const char *standard, const char *first) {
  const record_table *table = report_table(report, report->headline.shape);
  const char *const others[] = {standard, answer_literal, first};
  enum { OTHERS = sizeof others / sizeof *others };
  record_ratio ratios[OTHERS];
  for (size_t i = 0; i < OTHERS; i++) {
    const bool both =
        others[i] && isfinite(report_median_ns(table, others[i])) && isfinite(report_median_ns(table, kernel));
    ratios[i] = both ? compare(times, table->shape.name, kernel, others[i]) : record_empty_ratio();
  }
  return (record_subject){.there = true,
                          .kernel = kernel,
                          .over_default = ratios[0],
                          .over_naive = ratios[1],
                          .over_first = ratios[2],
                          .has_over_first = true};
}

void answer_subjects(record_report *report, repetition_index *times, record_memory *in) {
  const record_use *standard = answer_find_use(report, USE_DEFAULT);
  record_subject *subjects = record_allocate(in, report->kernels_count, sizeof *subjects);
  const char *first = NULL;
  report->subjects = subjects;
  for (int of_plugins = 1; of_plugins >= 0; of_plugins--)
    RECORD_EACH(kernel, report, kernels)
      if (kernel->selected && !!*kernel->plugin == of_plugins) {
        subjects[report->subjects_count++] =
            make_subject(report, times, kernel->name, standard ? standard->kernel : NULL, first);
        if (!first) first = kernel->name;
      }
}

size_t answer_mark(const record_report *report, const char *kernel) {
  size_t number = 0;
  RECORD_EACH(subject, report, subjects) {
    if (strcmp(subject->kernel, kernel) == 0) return number;
    number++;
  }
  for (answer_use use = USE_DEFAULT; use < USES; use++, number++)
    if (answer_is_use(report, use, kernel)) return number;
  return strcmp(kernel, answer_literal) == 0 ? number : ANSWER_UNMARKED;
}

/* ---- the cost of choices --------------------------------------------------------------------------------- */

/* Whether the library could have chosen this kernel: its error is within the library's default, and it rounds correctly
   if the chosen one does. */
static bool is_rival(const record_kernel *kernel, const record_table *table, const record_kernel *chosen, bool serial) {
  posenc_dtype dtype = POSENC_F32;
  if (!table->applied) dtype_parse(table->shape.dtype, &dtype); /* rows for add and rope are of f32 */
  if (answer_class(chosen, table) == ANSWER_HALF && answer_class(kernel, table) != ANSWER_HALF) return false;
  return posenc_kernel_find(kernel->name) && answer_counts(kernel) && (!serial || !kernel->threaded) &&
         answer_is_within(kernel, &table->shape, dtype, choice_default_abs(dtype));
}

/* Makes an entry. Returns false if the chosen kernel was not timed. */
static bool make_regret(record_regret *made, const record_report *report, repetition_index *times,
                        const record_table *table, const char *chosen, bool serial) {
  const char *fastest = chosen, *name = table->shape.name;
  const record_kernel *taken = report_kernel(report, chosen);
  double least = report_median_ns(table, chosen);
  if (!taken || !isfinite(least)) return false;
  RECORD_EACH(kernel, report, kernels) {
    const double ns = report_median_ns(table, kernel->name);
    if (!(ns < least) || !is_rival(kernel, table, taken, serial)) continue;
    fastest = kernel->name;
    least = ns;
  }
  *made = (record_regret){.there = true,
                          .shape = name,
                          .serial = serial,
                          .kernel = chosen,
                          .fastest = fastest,
                          .ratio = fastest == chosen ? record_empty_ratio()
                                                     : repetitions_ratio(times, "hot", name, fastest, chosen)};
  return true;
}

void regret_make(record_report *report, repetition_index *times, record_memory *in) {
  record_regret *made = record_allocate(in, 2 * report->choices_count, sizeof *made);
  report->regret = made;
  RECORD_EACH(choice, report, choices) {
    const record_table *table = report_table(report, choice->shape);
    for (int serial = 1; table && serial >= 0; serial--)
      report->regret_count += make_regret(&made[report->regret_count], report, times, table,
                                          serial ? choice->kernel : choice->all_threads, serial);
  }
}

regret_summary regret_sum_up(const record_report *report, bool serial) {
  regret_summary sum = {.worst = 1};
  double logs = 0;
  RECORD_EACH(one, report, regret) {
    if (one->serial != serial) continue;
    const double ratio = one->ratio.there ? one->ratio.estimate : 1;
    logs += log(ratio);
    sum.count++;
    if (ratio <= sum.worst) continue;
    sum.worst = ratio;
    sum.of_worst = one;
  }
  sum.mean = exp(logs / sum.count);
  return sum;
}
