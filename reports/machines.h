/* SPDX-License-Identifier: MIT */
/* Reports of several machines, side by side. */
#ifndef POSENC_REPORTS_MACHINES_H
#define POSENC_REPORTS_MACHINES_H

#include "reports/page/page.h"

#include <jansson.h>

/*
 * { "schema": "posenc-machines-1", "command": string,
 *   "machines": [ {"label", "failed": checks that failed there, "environment": as in the report} … ]; lists below have an entry for each of them,
 *                 null where it has no such thing,
 *   "fastest": [ {"shape", "footprint": "reference" | "largest" | "in cache", "bytes": n, "budget": as in answer.h,
 *                 "machines": [ {"kernel", "bytes_per_second": SPREAD, "of_limit": SPREAD} … ]} … ], of f32 tables that all timed; in cache: of all of
 *                 them, at most half of the least L2
 *   "times": [ {"shape": as in the report, "bytes", "kernels": [ {"kernel", "machines": [ {"bytes_per_second", "of_limit"} … ]} … ]} … ], what two or more timed
 *   "accuracy": {"compared": n kernels on shapes, "same": n, "unlike": n of which two machines looked at other elements, so that these were not compared,
 *                "bits": n of "compared" by kernels that are reproducible, on machines of one version and commit,
 *                "differences": [ {"kernel", "shape": name, "broken": bool, "machines": [ {"max_ulp", "max_abs", "misrounded", "digest"} … ]} … ],
 *                "broken": n of these: bits differ of a kernel that is reproducible, on machines of one version and commit } }
 *
 * SPREAD as in document.h. labels: of the first `label_count` machines, or less; the others are called by their CPU. Null, and `why` in one line, if one of
 * `reports`, which `names` call, is no report, two are of one run, or memory runs out.
 */
json_t *machines_make(json_t *const *reports, char *const *names, size_t count, const char *const *labels,
                      size_t label_count, const char *command, char *why, size_t size);

/* Does it tell of a failed check, on a machine or between two? */
bool machines_failed(const json_t *document);

/* Shares of the limit by kernel and machine, for each footprint of "fastest"; null where there is none. */
enum { MACHINES_FIGURES = 3 };
typedef struct machines_figures {
  char *svg[MACHINES_FIGURES];
} machines_figures;

/* False on an error already told on stderr; nothing to free then. */
bool machines_draw(const json_t *document, machines_figures *made);
void machines_free(machines_figures *made);

/* The whole page. */
void machines_write(page *p, const json_t *document, const machines_figures *drawn);

#endif
