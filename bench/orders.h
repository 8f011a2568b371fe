/* SPDX-License-Identifier: MIT */
/* What the watching process orders from a kernel's worker (common/isolate.h), and the answers. */
#ifndef POSENC_BENCH_ORDERS_H
#define POSENC_BENCH_ORDERS_H

#include "bench/modes.h"
#include "bench/turn.h"

#include <stddef.h>

typedef enum order_kind {
  ORDER_GREET,   /* does nothing */
  ORDER_OPEN,    /* asks the kernel for a shape, and makes room for it */
  ORDER_PREPARE, /* makes the plans of the shape, and finds out how long its modes take */
  ORDER_SHOW,    /* writes the whole table once, by the plan of `mode`, without timing it */
  ORDER_GROW,    /* makes `plan` plans of tables of `rows` rows, and all these rows, in place of earlier such plans */
  ORDER_TURN,    /* a repetition, after the limits */
  ORDER_LIMITS,  /* the limits once more */
  ORDER_LET_GO,  /* gives the memory for results back */
} order_kind;

typedef struct order {
  order_kind kind;
  size_t shape;
  bench_mode mode;
  int plan;         /* for ORDER_SHOW, ORDER_GROW */
  int64_t rows;     /* for ORDER_GROW */
  turn_terms terms; /* for ORDER_TURN */
  bool wanted;      /* for ORDER_OPEN: the shape will be timed */
  bool keep;        /* memory for results is not given back until the next turn */
} order;

/* The limits beside a repetition: with one thread, and with as many as the kernel has; NaN if it has one. */
typedef struct limits {
  double serial, threaded;
} limits;

/* A mode of a shape, as ORDER_PREPARE finds it. */
typedef struct mode_facts {
  bool takes_long;
  int64_t rows, iterations; /* rows of an iteration; iterations of a repetition */
  double seconds, beside;   /* approximate seconds of a repetition, and of its limits, 0 unless it is foretold */
  size_t limit_bytes;       /* 0: it has no limit */
} mode_facts;

typedef struct answer {
  bool refused;       /* ORDER_OPEN, ORDER_GROW */
  size_t bytes;       /* of the table, or of x */
  size_t allocated;   /* memory for results that was allocated */
  int plan_count;     /* of plans: ORDER_PREPARE: that take turns; ORDER_GROW: that were made */
  double pass;        /* ORDER_PREPARE: approximate seconds of a pass over all rows */
  double plan, total; /* ORDER_PREPARE: seconds of making a plan; ORDER_TURN: of all plans, in mode first */
  size_t plan_bytes;  /* the memory of a plan */
  mode_facts modes[BENCH_MODES];
  /* ORDER_TURN: the worker's clock when it began and ended, the seconds of all groups, and the processor's of the same,
     in modes with a preparation of that too. */
  double began, ended, seconds, busy;
  limits limits;
  /* Addresses in the worker: of the results, after ORDER_SHOW and ORDER_TURN; of the notes, also after ORDER_GREET. */
  const void *memory, *notes;
  char words[160]; /* what differs in the state of the process; empty if nothing */
} answer;

#endif
