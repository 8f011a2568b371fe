/* SPDX-License-Identifier: MIT */
/* Reads the problem that the options describe, and names the option at fault if it is invalid. */
#include "cli/options.h"

#include <inttypes.h>

/* Returns a copy of the problem with the option's default. */
static posenc_problem without(const options *given, enum option_code code) {
  options changed = *given;
  options_reset(&changed, code);
  return changed.problem;
}

/* Exits with the refusal if this option was given, and the problem would be valid without it. */
static void blame(const options *given, enum option_code code, const char *refusal) {
  if (!is_given(given, code)) return;
  const posenc_problem other = without(given, code);
  if (!posenc_problem_refusal(&other)) options_die(given, code, refusal, "");
}

/* Exits with the refusal and the first given option without which the problem would be valid. --len and --dim are not
   tried. */
static void blame_formula(const options *given, const char *refusal) {
  const option_set suspects = ANY_OF(PROBLEM_SET);
  for (int code = 0; code < OPTIONS; code++)
    if (code != OPTION_LEN && code != OPTION_DIM && option_set_has(suspects, code)) blame(given, code, refusal);
}

/* Whether the number of columns is odd, where the command has --odd, and the problem is valid otherwise. */
static bool is_only_odd(const options *given) {
  posenc_problem other = given->problem;
  other.odd = POSENC_ODD_PAD;
  return options_knows(given, OPTION_ODD) && given->problem.odd == POSENC_ODD_REFUSED &&
         !posenc_problem_refusal(&other);
}

/* Sets equal numbers of pairs for axes that have none. */
static void fill_pairs(const options *given) {
  for (int a = 0; given->grid && a < given->grid->count; a++)
    if (given->grid->axis[a].pairs == 0) given->grid->axis[a].pairs = given->problem.dim / (2 * given->grid->count);
}

/* Returns the reason why the problem is invalid, or null. */
static const char *refusal_of(const options *given) {
  fill_pairs(given);
  const posenc_problem *problem = &given->problem;
  if (problem->scaling.factors && given->factors != problem->dim / 2)
    die("--scaling longrope: %" PRId64 " factors, and --dim %" PRId64 " has %" PRId64 " frequencies", given->factors,
        problem->dim, problem->dim / 2);
  const char *refusal = posenc_problem_refusal(problem);
  return refusal && is_only_odd(given) ? "dim must be even; --odd pad or --odd ceil takes an odd one" : refusal;
}

bool options_have_table(const options *given) {
  const bool len = is_given(given, OPTION_LEN) || is_given(given, OPTION_POSITIONS) || given->grid,
             dim = is_given(given, OPTION_DIM);
  if (!len || !dim) {
    const char *missing = len ? "--dim too" : dim ? "--len too" : "--len and --dim too";
    const enum option_code first = options_first_given(given, ANY_OF(PROBLEM_SET));
    if (first < OPTIONS) options_die(given, first, "needs ", missing);
    return false;
  }
  const char *refusal = refusal_of(given);
  if (!refusal) return true;
  blame_formula(given, refusal);
  /* If rows × dim overflows, the message names the larger of the two. */
  const bool wide = given->problem.dim > given->problem.rows;
  blame(given, wide ? OPTION_DIM : OPTION_LEN, refusal);
  blame(given, wide ? OPTION_LEN : OPTION_DIM, refusal);
  const char *all = problem_options_listed(&given->problem, given->texts[OPTION_POSITIONS]);
  die("%s: %s", all ? all : "the problem", refusal);
}

void options_require_table(const options *given, const char *path) {
  const char *refusal = refusal_of(given);
  if (!refusal) return;
  blame_formula(given, refusal);
  die("%s: %s", path, refusal);
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
