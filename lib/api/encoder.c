/* SPDX-License-Identifier: MIT */
#include "lib/api/kernel.h"

#include <stdlib.h>
#include <string.h>

struct posenc_encoder {
  posenc_plan *plan; /* has at least `room` rows */
  posenc_options options;
  char *table;
  int64_t rows, room;
};

posenc_status posenc_encoder_create(posenc_encoder **encoder, const posenc_problem *problem,
                                    const posenc_options *options) {
  if (!encoder) return POSENC_BAD_ARGUMENT;
  *encoder = NULL;
  if (!problem || problem->size != sizeof *problem) return POSENC_BAD_ARGUMENT;
  /* The plan has at least two rows, so that the kernel is not chosen for position 0 alone, which more kernels can make
     accurately. */
  posenc_problem planned = *problem;
  if (planned.rows < 2 && planned.rows >= 0 && !planned.positions) planned.rows = 2;
  posenc_plan *plan;
  const posenc_status status = posenc_plan_create(&plan, &planned, options);
  if (status != POSENC_OK) return status;
  const bool grows = problem->op == POSENC_TABLE && !problem->positions && !problem->axes;
  posenc_encoder *made = grows ? (posenc_encoder *)calloc(1, sizeof *made) : NULL;
  if (!made) {
    posenc_plan_destroy(plan);
    return grows ? POSENC_OUT_OF_MEMORY : POSENC_BAD_ARGUMENT;
  }
  made->plan = plan;
  made->options = options ? *options : posenc_default_options();
  made->options.kernel = posenc_plan_kernel(plan); /* the same for every length */
  *encoder = made;
  return POSENC_OK;
}

/* Replaces the plan by one with twice as many rows, or with `rows` rows if more are refused. */
static posenc_status grow_plan(posenc_encoder *encoder, int64_t rows) {
  posenc_problem problem = *posenc_plan_problem(encoder->plan);
  posenc_plan *plan;
  size_t bytes;
  problem.rows = rows > INT64_MAX / 2 ? rows : 2 * rows;
  if (posenc_table_bytes(&problem, &bytes) != POSENC_OK) problem.rows = rows;
  posenc_status status = posenc_plan_create(&plan, &problem, &encoder->options);
  if (status != POSENC_OK && problem.rows != rows) {
    problem.rows = rows; /* twice as many may exceed the kernel's domain */
    status = posenc_plan_create(&plan, &problem, &encoder->options);
  }
  if (status != POSENC_OK) return status;
  posenc_plan_destroy(encoder->plan);
  encoder->plan = plan;
  return POSENC_OK;
}

static posenc_status grow_room(posenc_encoder *encoder, int64_t rows) {
  posenc_problem problem = *posenc_plan_problem(encoder->plan);
  const int64_t planned = problem.rows, twice = encoder->room > planned / 2 ? planned : 2 * encoder->room;
  size_t bytes, used;
  problem.rows = rows > twice ? rows : twice;
  if (posenc_table_bytes(&problem, &bytes) != POSENC_OK) return POSENC_TOO_LARGE;
  char *table = (char *)posenc_alloc(bytes);
  if (!table) return POSENC_OUT_OF_MEMORY;
  encoder->room = problem.rows;
  problem.rows = encoder->rows;
  posenc_table_bytes(&problem, &used);
  if (used) memcpy(table, encoder->table, used);
  posenc_free(encoder->table);
  encoder->table = table;
  return POSENC_OK;
}

posenc_status posenc_encoder_append(posenc_encoder *encoder, int64_t rows) {
  int64_t all;
  if (!encoder || rows < 0) return POSENC_BAD_ARGUMENT;
  if (__builtin_add_overflow(encoder->rows, rows, &all)) return POSENC_TOO_LARGE;
  posenc_status status = POSENC_OK;
  if (all > posenc_plan_problem(encoder->plan)->rows) status = grow_plan(encoder, all);
  if (status == POSENC_OK && all > encoder->room) status = grow_room(encoder, all);
  if (status != POSENC_OK || rows == 0) return status;
  const posenc_problem *problem = posenc_plan_problem(encoder->plan);
  const size_t row_bytes = kernel_row_bytes(problem);
  status = posenc_execute(encoder->plan, encoder->rows, rows, encoder->table + (size_t)encoder->rows * row_bytes);
  if (status == POSENC_OK) encoder->rows = all;
  return status;
}

const void *posenc_encoder_rows(const posenc_encoder *encoder, int64_t *count) {
  if (count) *count = encoder ? encoder->rows : 0;
  return encoder && encoder->rows ? encoder->table : NULL;
}

void posenc_encoder_destroy(posenc_encoder *encoder) {
  if (!encoder) return;
  posenc_plan_destroy(encoder->plan);
  posenc_free(encoder->table);
  free(encoder);
}
