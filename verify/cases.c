/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"

#include "common/isolate.h"
#include "common/memory.h"
#include "common/work.h"
#include "inspect/files/mapping.h"
#include "reference/worst.h"
#include "verify/checks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct hard_cases {
  shape shape;
  worst_cases worst;
};

/* The longest time that MPFR may take to confirm the cases, in seconds; larger files are refused. */
static const double patience = 600.0;

/* Confirms the cases in a process of its own: the reference uses OpenMP, and a process that has used OpenMP must not
   fork, as the caller does later. */
static void confirm(void *argument) {
  const hard_cases *c = argument;
  oracle *reference = allocated(oracle_create(&c->worst.problem));
  const worst_case *refuted = worst_refuted(&c->worst, reference);
  char text[80] = "";
  if (refuted) snprintf(text, sizeof text, "line %d: this is not what MPFR finds there", refuted->line);
  isolate_result(text);
  oracle_destroy(reference);
}

static hard_cases *refuse(hard_cases *c, const char *reason, char *why, size_t size) {
  if (reason != why) snprintf(why, size, "%s", reason);
  cases_free(c);
  return NULL;
}

hard_cases *cases_load(const char *path, char *why, size_t size) {
  hard_cases *c = memory_take(1, sizeof *c);
  fault unopened;
  FILE *stream = regular_open(path, &unopened);
  if (!stream) return refuse(c, unopened.text, why, size);
  const char *wrong = worst_read(stream, &c->worst, why, size);
  fclose(stream);
  if (wrong) return refuse(c, wrong, why, size);

  isolated end = isolate(confirm, c, &(isolation){.silence = patience});
  const char *found = end.how == ENDED_WELL ? end.result : "MPFR could not be asked";
  if (*found) c = refuse(c, found, why, size);
  free(end.result);
  if (!c) return NULL;
  c->shape.problem = c->worst.problem;
  const posenc_dtype dtype = c->worst.problem.dtype;
  snprintf(c->shape.name, sizeof c->shape.name, "base%g-d%" PRId64 "%s%s.wc", c->worst.problem.base,
           c->worst.problem.dim, dtype == POSENC_F32 ? "" : "-", dtype == POSENC_F32 ? "" : dtype_name(dtype));
  return c;
}

void cases_free(hard_cases *c) {
  if (!c) return;
  worst_free(&c->worst);
  free(c);
}

const shape *cases_shape(const hard_cases *c) {
  return &c->shape;
}

size_t cases_count(const hard_cases *c) {
  return c->worst.count;
}

void cases_try(const hard_cases *c, subject *s, arena *a) {
  const posenc_problem *problem = &c->worst.problem;
  oracle *reference = allocated(oracle_create(problem));
  for (size_t i = 0; i < c->worst.count; i++) {
    const worst_case *now = &c->worst.cases[i];
    char doing[80];
    snprintf(doing, sizeof doing, "the row of position %" PRId64, now->position);
    isolate_say(doing, (double)i / (double)c->worst.count);
    const exact_pair pair = oracle_pair(reference, now->position, now->index);
    const table_pair got = subject_pair(s, s->plan, now->position, now->index, a);
    accuracy_add(&s->found, oracle_format(reference), subject_is_bound(s, now->position) ? &s->bound : NULL,
                 now->cosine ? &pair.cosine : &pair.sine, now->cosine ? got.cosine : got.sine,
                 (element_place){now->position, now->index, now->cosine});
  }
  oracle_destroy(reference);
  if (!s->found.held) s->checks[ACCURACY].skip = "beyond the positions that the bound is for";
}
