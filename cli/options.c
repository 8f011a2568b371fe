/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/catalogue.h"
#include "cli/options.h"
#include "cli/values.h"
#include "common/output.h"
#include "common/progress.h"
#include "verify/verify.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 1024, REPETITIONS_MIN = 3, REPETITIONS_MAX = 10000 };

/* ---- options ----------------------------------------------------------------------------------- */

static const char *const option_names[] = {
    [OPTION_LEN - OPTION_LEN] = "--len",
    [OPTION_DIM - OPTION_LEN] = "--dim",
    [OPTION_BASE - OPTION_LEN] = "--base",
    [OPTION_CHOOSE_BASE - OPTION_LEN] = "--choose-base",
    [OPTION_OFFSET - OPTION_LEN] = "--offset",
    [OPTION_SCALE - OPTION_LEN] = "--scale",
    [OPTION_SCALING - OPTION_LEN] = "--scaling",
    [OPTION_SHIFT - OPTION_LEN] = "--shift",
    [OPTION_PADDING - OPTION_LEN] = "--padding",
    [OPTION_ODD - OPTION_LEN] = "--odd",
    [OPTION_POSITIONS - OPTION_LEN] = "--positions",
    [OPTION_LAYOUT - OPTION_LEN] = "--layout",
    [OPTION_DTYPE - OPTION_LEN] = "--dtype",
    [OPTION_HEADS - OPTION_LEN] = "--heads",
    [OPTION_INVERSE - OPTION_LEN] = "--inverse",
    [OPTION_OP - OPTION_LEN] = "--op",
    [OPTION_KERNEL - OPTION_LEN] = "--kernel",
    [OPTION_THREADS - OPTION_LEN] = "--threads",
    [OPTION_MAX_ULP - OPTION_LEN] = "--max-ulp",
    [OPTION_MAX_ABS - OPTION_LEN] = "--max-abs",
    [OPTION_ISA - OPTION_LEN] = "--isa",
    [OPTION_STORES - OPTION_LEN] = "--stores",
    [OPTION_SEED - OPTION_LEN] = "--seed",
    [OPTION_BUDGET - OPTION_LEN] = "--budget",
    [OPTION_EXHAUSTIVE - OPTION_LEN] = "--exhaustive",
    [OPTION_BRIEF - OPTION_LEN] = "--brief",
    [OPTION_SEARCH - OPTION_LEN] = "--search",
    [OPTION_TIME_LIMIT - OPTION_LEN] = "--time-limit",
    [OPTION_REPETITIONS - OPTION_LEN] = "--repetitions",
    [OPTION_PLUGIN - OPTION_LEN] = "--plugin",
    [OPTION_MIN_TIME - OPTION_LEN] = "--min-time",
    [OPTION_BATCH - OPTION_LEN] = "--batch",
    [OPTION_SHARD - OPTION_LEN] = "--shard",
};

static const char *option_name(int code) {
  return option_names[code - OPTION_LEN];
}

/* What the command line gave for the option; null if nothing. */
static const char *text_given(const options *given, int code) {
  return given->texts[code - OPTION_LEN];
}

options options_defaults(void) {
  return (options){
      .problem = posenc_table(0, 2),
      .seed = VERIFY_DEFAULT_SEED,
      .budget = VERIFY_DEFAULT_BUDGET,
      .search = VERIFY_DEFAULT_SEARCH,
      .silence = ISOLATE_DEFAULT_SILENCE,
      .repetitions = DEFAULT_REPETITIONS,
      .min_time = DEFAULT_MIN_TIME,
      .batch = 1,
  };
}

static bool is_table(posenc_op op) {
  return op == POSENC_TABLE || op == POSENC_ROPE_CACHE;
}

/* Takes in the value of a shared option, which is called by that name. A value from a file must not be the name of another. */
static void take_value(options *given, int code, const char *name, const char *text, bool from_file) {
  posenc_problem *problem = &given->problem;
  switch (code) {
  case OPTION_LEN:
    problem->rows = parse_integer(name, text, INT64_MIN, INT64_MAX);
    break;
  case OPTION_DIM:
    problem->dim = parse_integer(name, text, INT64_MIN, INT64_MAX);
    break;
  case OPTION_BASE:
    problem->base = parse_real(name, text);
    break;
  case OPTION_CHOOSE_BASE:
    problem->base = posenc_base_for(parse_positive(name, text));
    if (!isfinite(problem->base)) die_value(name, text, "there is no base for it");
    break;
  case OPTION_OFFSET:
    problem->first = parse_integer(name, text, INT64_MIN, INT64_MAX);
    break;
  case OPTION_SCALE:
    problem->scale = parse_real(name, text);
    break;
  case OPTION_SCALING:
    given->factors = parse_scaling(name, text, !from_file, &problem->scaling);
    break;
  case OPTION_SHIFT:
    problem->shift = parse_real(name, text);
    break;
  case OPTION_PADDING:
    problem->padding = parse_integer(name, text, POSENC_NO_PADDING + 1, INT64_MAX);
    break;
  case OPTION_ODD:
    if (!odd_parse(text, &problem->odd)) die_value(name, text, "not refuse, pad or ceil");
    break;
  case OPTION_POSITIONS:
    problem->rows = parse_numbers(name, text, ",", !from_file, &problem->positions);
    break;
  case OPTION_LAYOUT:
    if (!layout_parse(text, &problem->layout))
      die_value(name, text, "not interleaved, interleaved-cs, split, split-cs or duplicated");
    break;
  case OPTION_DTYPE:
    if (!dtype_parse(text, &problem->dtype)) die_value(name, text, "not f32, f64, f16 or bf16");
    break;
  case OPTION_HEADS:
    problem->heads = parse_integer(name, text, INT64_MIN, INT64_MAX);
    break;
  case OPTION_INVERSE:
    problem->inverse = true;
    break;
  case OPTION_OP:
    if (!op_parse(text, &problem->op) || (given->tables_alone && !is_table(problem->op)))
      die_value(name, text,
                given->tables_alone ? "not table or rope-cache, which can be written"
                                    : "not table, add, rope or rope-cache");
    break;
  case OPTION_KERNEL:
    given->kernel = text;
    break;
  case OPTION_MAX_ULP:
    given->max_ulp = parse_positive(name, text);
    break;
  case OPTION_MAX_ABS:
    given->max_abs = parse_positive(name, text);
    break;
  case OPTION_PLUGIN:
    catalogue_add(text, given->silence);
    break;
  case OPTION_THREADS:
    given->threads = (int)parse_integer(name, text, 0, THREADS_MAX);
    break;
  case OPTION_ISA:
    given->isa = parse_isa(name, text);
    break;
  case OPTION_STORES:
    if (!stores_parse(text, &given->stores)) die_value(name, text, "not auto, regular or streaming");
    break;
  case OPTION_SEED:
    given->seed = parse_integer(name, text, 0, INT64_MAX);
    break;
  case OPTION_BUDGET:
    given->budget = parse_integer(name, text, 1, INT64_MAX);
    break;
  case OPTION_EXHAUSTIVE:
    given->budget = INT64_MAX;
    break;
  case OPTION_BRIEF:
    given->brief = true;
    break;
  case OPTION_SEARCH:
    given->search = parse_integer(name, text, 0, INT64_MAX);
    break;
  case OPTION_TIME_LIMIT:
    given->silence = parse_positive(name, text);
    break;
  case OPTION_REPETITIONS:
    given->repetitions = (int)parse_integer(name, text, REPETITIONS_MIN, REPETITIONS_MAX);
    break;
  case OPTION_MIN_TIME:
    given->min_time = parse_positive(name, text);
    break;
  case OPTION_BATCH:
    given->batch = parse_integer(name, text, 1, INT64_MAX);
    break;
  case OPTION_SHARD:
    if (!shard_parse(text, &given->only))
      die_value(name, text, "not I/N, with I from 1 to N and N up to " TEXT(SHARDS_MOST));
    break;
  }
}

/* False if the option is the command's own. */
static bool take(options *given, int code, const char *text) {
  if (code < OPTION_LEN || code >= OPTION_OWN) return false;
  given->texts[code - OPTION_LEN] = text;
  take_value(given, code, option_name(code), text, false);
  return true;
}

void options_record(options *given, int code, const char *key, const char *text, const char *file) {
  char name[160];
  snprintf(name, sizeof name, "%.120s: its metadata, %s", file, key);
  take_value(given, code, name, text, true);
}

/* What one option says and another one too, or would need to be otherwise. */
static void hold_together(options *given) {
  posenc_problem *problem = &given->problem;
  if (text_given(given, OPTION_BASE)) options_refuse(given, OPTION_CHOOSE_BASE, OPTION_CHOOSE_BASE, "--base");
  if (problem->positions) {
    options_refuse(given, OPTION_LEN, OPTION_LEN, "--positions");
    options_refuse(given, OPTION_OFFSET, OPTION_OFFSET, "--positions");
  }
  if (!text_given(given, OPTION_LAYOUT)) problem->layout = layout_default(problem->op);
}

int options_next(options *given, const command *self, int argc, char **argv) {
  int code;
  do {
    code = getopt_long(argc, argv, self->short_options, self->long_options, NULL);
    if (code == '?') leave(STATUS_ERROR); /* getopt has told why */
    if (code == 'h') {
      fputs(self->help, stdout);
      finish(EXIT_SUCCESS);
    }
    if (code == 'V') {
      char name[32];
      snprintf(name, sizeof name, "posenc-%s", self->name);
      print_version(name);
      finish(EXIT_SUCCESS);
    }
  } while (take(given, code, optarg ? optarg : ""));
  if (code == -1 && optind < argc && !self->operands) die("extra operand '%s'", argv[optind]);
  if (code == -1) hold_together(given);
  return code;
}

/* ---- the table --------------------------------------------------------------------------------- */

/* The problem with one option as if it had not been given. */
static posenc_problem without(const posenc_problem *problem, int code) {
  const posenc_problem plain = options_defaults().problem;
  posenc_problem changed = *problem;
  switch (code) {
  case OPTION_LEN:
    changed.rows = plain.rows;
    break;
  case OPTION_DIM:
    changed.dim = plain.dim;
    break;
  case OPTION_BASE:
    changed.base = plain.base;
    break;
  case OPTION_OFFSET:
    changed.first = plain.first;
    break;
  case OPTION_SCALE:
    changed.scale = plain.scale;
    break;
  case OPTION_SCALING:
    changed.scaling = plain.scaling;
    break;
  case OPTION_ODD:
    changed.odd = plain.odd;
    break;
  case OPTION_POSITIONS:
    changed.positions = plain.positions;
    break;
  case OPTION_SHIFT:
    changed.shift = plain.shift;
    break;
  case OPTION_HEADS:
    changed.heads = plain.heads;
    break;
  case OPTION_INVERSE:
    changed.inverse = plain.inverse;
    break;
  case OPTION_PADDING:
    changed.padding = plain.padding;
    break;
  case OPTION_LAYOUT:
    changed.layout = layout_default(problem->op);
    break;
  case OPTION_DTYPE:
    changed.dtype = plain.dtype;
    break;
  }
  return changed;
}

/* Whether an odd number of columns is all that is wrong, where the command has a way with it. */
static bool is_odd_alone(const options *given) {
  posenc_problem other = given->problem;
  other.odd = POSENC_ODD_PAD;
  return given->takes_odd && given->problem.odd == POSENC_ODD_REFUSED && !posenc_problem_refusal(&other);
}

/* Null if there is such a table. */
static const char *refusal_of(const options *given) {
  const char *refusal = posenc_problem_refusal(&given->problem);
  return refusal && is_odd_alone(given) ? "dim must be even; --odd pad or --odd ceil takes an odd one" : refusal;
}

__attribute__((noreturn)) static void die_option(const options *given, int code, const char *reason) {
  const char *text = text_given(given, code);
  die("%s%s%s: %s", option_name(code), *text ? " " : "", text, reason);
}

/* The option to blame is the first one without which there would be such a table. */
__attribute__((noreturn)) static void die_blaming(const options *given, const char *refusal) {
  /* Of a product that is too large, the larger factor. */
  const bool wide = given->problem.dim > given->problem.rows;
  const int larger = wide ? OPTION_DIM : OPTION_LEN, smaller = wide ? OPTION_LEN : OPTION_DIM;
  const int suspects[] = {OPTION_BASE,  OPTION_OFFSET,    OPTION_SCALE,   OPTION_SCALING, OPTION_SHIFT,
                          OPTION_HEADS, OPTION_INVERSE,   OPTION_PADDING, OPTION_LAYOUT,  OPTION_DTYPE,
                          OPTION_ODD,   OPTION_POSITIONS, larger,         smaller};
  for (size_t i = 0; i < sizeof suspects / sizeof *suspects; i++) {
    const posenc_problem other = without(&given->problem, suspects[i]);
    if (text_given(given, suspects[i]) && !posenc_problem_refusal(&other)) die_option(given, suspects[i], refusal);
  }
  const char *all = problem_options_listed(&given->problem, text_given(given, OPTION_POSITIONS));
  die("%s: %s", all ? all : "the problem", refusal);
}

/* As many as the table has frequencies. */
static void hold_factors(const options *given) {
  const posenc_problem *problem = &given->problem;
  if (problem->scaling.factors && given->factors != problem->dim / 2)
    die("--scaling longrope: %" PRId64 " factors, and --dim %" PRId64 " has %" PRId64 " frequencies", given->factors,
        problem->dim, problem->dim / 2);
}

bool options_have_table(const options *given) {
  const bool len = text_given(given, OPTION_LEN) || text_given(given, OPTION_POSITIONS),
             dim = text_given(given, OPTION_DIM);
  if (!len || !dim) {
    for (int code = OPTION_LEN; code <= OPTION_INVERSE; code++)
      if (text_given(given, code))
        die_option(given, code, len ? "needs --dim too" : dim ? "needs --len too" : "needs --len and --dim too");
    return false;
  }
  hold_factors(given);
  const char *refusal = refusal_of(given);
  if (refusal) die_blaming(given, refusal);
  return true;
}

void options_require_table(const options *given, const char *path) {
  hold_factors(given);
  const char *refusal = refusal_of(given);
  if (!refusal) return;
  for (int code = OPTION_BASE; code <= OPTION_LAYOUT; code++) {
    const posenc_problem other = without(&given->problem, code);
    if (text_given(given, code) && !posenc_problem_refusal(&other)) die_option(given, code, refusal);
  }
  die("%s: %s", path, refusal);
}

void options_refuse(const options *given, int from, int to, const char *beside) {
  for (int code = from; code <= to; code++) {
    const char *text = text_given(given, code);
    if (text) die("%s%s%s: nothing would use it beside %s", option_name(code), *text ? " " : "", text, beside);
  }
}

/* ---- the kernels ------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void die_no_kernel(const char *name) {
  size_t count;
  const posenc_kernel *const *kernels = catalogue_kernels(&count);
  const char *nearest = NULL;
  for (size_t i = 0; i < count; i++) nearest = nearer_name(name, nearest, kernels[i]->name);
  char reason[sizeof(name_hint) + 16];
  snprintf(reason, sizeof reason, "no such kernel%s", hint_of(nearest, "posenc list tells them").text);
  die_value("--kernel", name, reason);
}

const posenc_kernel *find_kernel(const char *name) {
  const posenc_kernel *kernel = catalogue_find(name);
  if (!kernel) die_no_kernel(name);
  return kernel;
}

/* Which of the kernels a glob selects is set in `selected`: what has a slash in its name, by nothing but a slash. Exits if it selects none. */
static void select_kernels(const char *glob, const posenc_kernel *const *kernels, size_t count, bool *selected) {
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    if (fnmatch(glob, kernels[i]->name, FNM_PATHNAME) != 0) continue;
    any = selected[i] = true;
  }
  if (!any) die_no_kernel(glob);
}

/* The same for globs separated by commas. */
static void select_by_list(const char *globs, const posenc_kernel *const *kernels, size_t count, bool *selected) {
  for (const char *word = globs;; word++) {
    const size_t length = strcspn(word, ",");
    char *glob = strndup(word, length);
    if (!glob) die("out of memory");
    select_kernels(glob, kernels, count, selected);
    free(glob);
    word += length;
    if (*word == '\0') return;
  }
}

const posenc_kernel **options_kernels(const options *given, size_t *count) {
  size_t all;
  const posenc_kernel *const *kernels = catalogue_kernels(&all);
  const posenc_kernel **selection = calloc(all, sizeof(*selection));
  bool *selected = calloc(all, sizeof *selected);
  if (!selection || !selected) die("out of memory");
  select_by_list(given->kernel ? given->kernel : "*", kernels, all, selected);
  *count = 0;
  for (size_t i = 0; i < all; i++)
    if (selected[i]) selection[(*count)++] = kernels[i];
  free(selected);
  return selection;
}

bool options_name_kernel(const options *given, const posenc_kernel *kernel) {
  for (const char *word = given->kernel; word; word = strchr(word, ',')) {
    word += *word == ',';
    if (strcspn(word, ",") == strlen(kernel->name) && strncmp(word, kernel->name, strlen(kernel->name)) == 0)
      return true;
  }
  return false;
}

posenc_options options_of_plan(const options *given, const posenc_kernel *kernel) {
  posenc_options plan = posenc_default_options();
  plan.kernel = kernel;
  plan.max_ulp = given->max_ulp;
  plan.threads = given->threads;
  plan.isa = given->isa;
  plan.stores = given->stores;
  return plan;
}
