/* SPDX-License-Identifier: MIT */
/* Two records of the same kind, before and after: what has become worse. */
#ifndef POSENC_RECORDS_COMPARE_H
#define POSENC_RECORDS_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct compare_limits {
  double growth; /* an error may grow by this share */
  double slower; /* a benchmark may take longer by this share */
  double alpha;  /* and only what is as unlikely as this without a cause counts; the intervals are of 1 - alpha */
  bool by_time;  /* compare times, even where both records tell the share of a limit that was measured beside them */
} compare_limits;

#define COMPARE_DEFAULT_GROWTH 0
#define COMPARE_DEFAULT_SLOWER 5
#define COMPARE_DEFAULT_ALPHA 0.05

/*
 * { "schema": "posenc-compare-1",
 *   "kind": "accuracy" | "speed",
 *   "environment": [ {"what", "old", "new"} … ], what differs of that which figures depend on
 *   "rows": [ {"name", "verdict": "worse" | "better" | "same" | "undecided", "note": why, or "",
 *              accuracy: "figures": [ {"what": "max_ulp" | "max_abs" | "misrounded", "old", "new"} … ], "replay": command of the new record
 *              speed: "measure": "time" | "limit", "old", "new": medians, ns or shares of the limit, "samples": [n, n],
 *                     "ratio", "low", "high": how many times as long it takes, null where too few timings tell; "p" } … ],
 *   "gone": [name …], "new": [name …], in one of the records only
 *   "worse": n, "better": n, "same": n, "undecided": n }
 *
 * Speed is that of any Google Benchmark JSON. Null with *why told if the records do not belong together, or memory runs out.
 */
json_t *compare_records(const json_t *before, const json_t *after, const compare_limits *limits, const char **why);

/* Whether every benchmark of a speed record tells a time where it has to; other records have none. False: `why` says which one, and why not. */
bool compare_check(const json_t *record, char *why, size_t size);

/* Text for a terminal, rows that are the same left out unless `all`; or a Markdown table. */
void compare_print_text(const json_t *comparison, bool all, FILE *stream);
void compare_print_markdown(const json_t *comparison, bool all, FILE *stream);

#endif
