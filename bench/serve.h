/* SPDX-License-Identifier: MIT */
/* The worker of one kernel, which makes the calls that the command's process orders: the orders and their replies. */
#ifndef POSENC_BENCH_SERVE_H
#define POSENC_BENCH_SERVE_H

#include "bench/bench.h"
#include "bench/limit.h"
#include "bench/slot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum order_kind {
  ORDER_GREET,   /* only replies, so that the worker is known before the kernel's code has run */
  ORDER_OPEN,    /* makes room for a shape, which the kernel takes */
  ORDER_PREPARE, /* makes the plans of the shape, and finds out how long its modes take */
  ORDER_SHOW,    /* writes the whole table once by plan number `plan`, without timing it */
  ORDER_GROW,    /* makes `plan` plans of tables of `rows` rows, and all these rows, in place of earlier such plans */
  ORDER_SLOT,    /* measures the limits, then makes the calls of a repetition */
  ORDER_LIMITS,  /* measures the limits once more */
  ORDER_LET_GO,  /* gives the memory for results back */
} order_kind;

typedef struct order {
  order_kind kind;
  size_t shape;
  bench_mode mode;
  int plan;         /* for ORDER_SHOW: its number; for ORDER_GROW: how many */
  int64_t rows;     /* for ORDER_GROW */
  slot_terms terms; /* for ORDER_SLOT; and the seed of x for ORDER_SHOW */
  bool keep;        /* for ORDER_LIMITS: the memory for results is not given back */
} order;

/* The limits beside a repetition: with one thread, and with as many as the kernel has; NaN if it has one. */
typedef struct beside_limits {
  double serial, threaded;
} beside_limits;

/* A mode of a shape, as ORDER_PREPARE finds it. */
typedef struct mode_facts {
  bool takes_long;
  int64_t rows, iterations; /* rows of an iteration; iterations of a repetition */
  double seconds;           /* approximate time of a repetition */
  double beside;            /* that of measuring its limits, if the run's time is to be foretold; else 0 */
  size_t limit_bytes;       /* 0: it has no limit */
} mode_facts;

typedef struct reply {
  bool refused;       /* ORDER_GROW */
  size_t bytes;       /* of the table, or of x */
  size_t allocated;   /* memory for results that was allocated */
  int plan_count;     /* ORDER_PREPARE: plans that take turns; ORDER_GROW: plans that were made */
  double pass;        /* ORDER_PREPARE: approximate seconds of a pass over all rows */
  double plan, total; /* ORDER_PREPARE: seconds of making a plan; ORDER_SLOT: of all plans, in mode first */
  size_t plan_bytes;  /* the memory of a plan */
  mode_facts modes[BENCH_MODES];
  double began, ended; /* the worker's clock when it began to obey, and when it had done so */
  /* ORDER_SLOT: the seconds of all groups; the processor seconds of the calling thread in them, which include those of
     preparations. */
  double seconds, busy;
  beside_limits limits;
  /* Addresses in the worker: of the results, after ORDER_SHOW and ORDER_SLOT; of the notes, also after ORDER_GREET. */
  const void *memory, *notes;
  char words[160]; /* ORDER_OPEN: why there is no room; later what differs in the process's state; or empty */
} reply;

typedef struct service {
  const run_request *request;
  size_t kernel; /* its place in the request */
  const evictor *evictor;
  const uint64_t *seeds; /* by shape: from which slot_shifts draws where its plans begin */
  size_t cache;          /* size of the last cache level, 0 if unknown */
} service;

/* Obeys orders until there are no more. argument: a service. For isolate_start. */
void serve(void *argument);

#endif
