/* SPDX-License-Identifier: MIT */
#include "verify/variants.h"

#include "common/random.h"
#include "verify/probe.h"
#include "verify/race.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- many plans ---------------------------------------------------------------------------------------------- */

/* Checks plans of different bases: some threads execute existing plans while others create, execute and destroy
   plans. */
static void check_many_plans(stress *t) {
  enum { ROWS = 24, KINDS = 4, LINE = 64 };
  check *c = &t->s->checks[THREADS];
  const int count = race_threads();
  /* Tables of 2 columns are the same for all bases. */
  const posenc_problem like = variant_done(t, ROWS, 1 + (int)random_below(t->random, VARIANT_DIMS - 1));
  posenc_options options = t->options;
  probe of[KINDS];
  int kinds = 0;
  for (int n = 0; n < KINDS; n++) {
    posenc_problem p = like;
    p.base = (1 + 2 * n) * like.base + n;
    if (probe_open(&of[kinds], t, &p, true)) kinds++;
  }
  const size_t bytes = row_bytes(&like) * ROWS, apart = (bytes + LINE - 1) / LINE * LINE;
  unsigned char *out = posenc_alloc((size_t)count * apart);
  race_job *jobs = calloc((size_t)count, sizeof *jobs);
  options.kernel = t->s->kernel;
  for (int i = 0; jobs && kinds && i < count; i++) {
    const probe *mine = &of[i % kinds];
    jobs[i] = (race_job){.plan = i / kinds % 2 ? NULL : mine->s.plan,
                         .problem = &mine->of.problem,
                         .options = &options,
                         .slice = posenc_rows(0, ROWS),
                         .x = mine->x,
                         .out = out + (size_t)i * apart,
                         .want = mine->rows,
                         .bytes = bytes};
  }
  if (out) memset(out, ARENA_POISON, (size_t)count * apart);
  const bool all = jobs && out && kinds && race_run(t->s, jobs, count, RACE_SECONDS);
  if (kinds && !all) c->skip = "threads could not be had";
  for (int i = 0; all && i < count; i++) {
    if (jobs[i].failed) c->skip = "threads could not make plans";
    c->compared += ROWS * row_width(&like);
    if (jobs[i].wrong)
      check_break(c, t->s, jobs[i].problem, "other bits in %s while %d threads make and execute plans of several bases",
                  jobs[i].plan ? "a plan" : "plans of one thread", count);
  }
  for (int n = 0; n < kinds; n++) probe_close(&of[n]);
  free(jobs);
  posenc_free(out);
}

/* ---- teams of a threaded kernel -------------------------------------------------------------------------------- */

static const int teams[] = {1, 2, 3, 7, 16};
enum { TEAMS = sizeof teams / sizeof *teams };

/* Checks that results do not depend on the number of threads: for few rows, and for 1 MiB and more, for which a kernel
   may use all threads. */
static void compare_teams(stress *t) {
  static const int64_t counts[] = {1, 3, 17, 101, 1027};
  enum { COUNTS = sizeof counts / sizeof *counts, DIM = 512 };
  const posenc_problem p = variant_problem(t, counts[COUNTS - 1], DIM);
  check *c = &t->s->checks[THREADS];
  probe r;
  if (!probe_open(&r, t, &p, true)) return;
  unsigned char *out = posenc_alloc(r.row_bytes * (size_t)p.rows);
  for (int n = 0; out && n < TEAMS; n++) {
    posenc_options options = t->options;
    subject other = r.s;
    posenc_plan *plan;
    options.threads = teams[n];
    other.options = &options;
    if (subject_plan(&other, &p, &plan) != POSENC_OK) continue;
    for (int k = 0; k < COUNTS; k++) {
      const size_t bytes = r.row_bytes * (size_t)counts[k];
      memset(out, ARENA_POISON, bytes);
      subject_begin_calls();
      probe_call(&r, plan, 0, counts[k], out);
      subject_end_calls(t->s, p.first);
      c->compared += counts[k] * row_width(&p);
      if (memcmp(out, r.rows, bytes) != 0)
        check_break(c, t->s, &p, "%" PRId64 " rows have other bits with %d threads than with %d", counts[k], teams[n],
                    t->options.threads);
    }
    subject_drop(plan);
  }
  posenc_free(out);
  probe_close(&r);
}

/* Checks rows against the bound with each team. Returns false if memory runs out. */
static bool examine_teams(stress *t) {
  enum { DIM = 512, APPLIED_ROWS = CHECKED_ROWS - 3, APPLIED_DIM = 4096 };
  const bool is_applied = op_is_applied(t->s->shape->problem.op);
  posenc_problem p = variant_problem(t, APPLIED_ROWS, is_applied ? APPLIED_DIM : DIM);
  p.heads = 1;
  if (!is_applied) p.rows = STRESS_BYTES / (int64_t)row_bytes(&p);
  const shape of = shape_of(&p);
  check *c = &t->s->checks[THREADS];
  fast_oracle *reference = variant_reference(&p);
  bool enough = reference;
  for (int n = 0; enough && n < TEAMS; n++) {
    posenc_options options = t->options;
    const bool noted = *c->note;
    subject other;
    options.threads = teams[n];
    if (subject_open(&other, t->s->kernel, &of, &options)) continue;
    enough = variant_examine(t, &other, reference, THREADS);
    subject_close(&other);
    const size_t used = strlen(c->note);
    if (!noted && used) snprintf(c->note + used, sizeof c->note - used, " --threads %d", teams[n]);
  }
  fast_destroy(reference);
  return enough;
}

bool check_teams(stress *t) {
  stress_say("plans of several threads at once");
  check_many_plans(t);
  if (!t->s->kernel->threaded) return true;
  stress_say("other numbers of threads");
  if (!t->s->kernel->reproducible) return examine_teams(t);
  compare_teams(t);
  return true;
}
