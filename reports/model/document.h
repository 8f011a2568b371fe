/* SPDX-License-Identifier: MIT */
/* The document that page, Markdown and report.json all show: what it holds, and how that is found in it. */
#ifndef POSENC_REPORTS_MODEL_DOCUMENT_H
#define POSENC_REPORTS_MODEL_DOCUMENT_H

#include "posenc.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * { "schema": "posenc-report-1", "command": string, "seed", "budget": integer or null,
 *   "answer": see reports/model/answer.h,
 *   "stability": see reports/model/stability.h,
 *   "headline": null or {"shape": name, "rows": [ ROW … ]},   the reference shape: transformer-base where it was verified
 *   "shapes": [ {"shape": as in the records, "sweep": bool, "applied": is it add or rope?, "bytes": n of the table or x,
 *                "limit_bytes_per_second": SPREAD over the measurements beside all kernels, or null,
 *                "rows": [ ROW … ]} ],
 *   "cold", "fresh", "first", "row": [ as in "shapes", for what was timed in that mode, with rows of {"kernel", "timing"} alone ],
 *   "cases": as "shapes", of hard-to-round cases alone,
 *   "profile": as in the accuracy record,
 *   "unique": as in the accuracy record, or null,
 *   "causes": see reports/model/causes.h,
 *   "checks": {"passed", "failed", "skipped",
 *              "shapes": {"exhaustive", "sampled"}: numbers of shapes,
 *              "properties": [name …],
 *              "kernels": [ {"kernel", "properties": {name: {"passed", "of", "sampled": shapes that are}}} ],
 *              "failures": [ {"kernel", "shape", and the fields of the check} ]},
 *   "kernels": as in the accuracy record, each with "holds": every check of it passed, and there was one; and "recipe": is it shown beside
 *              the kernels, as what a framework ships?
 *   "environment": {"accuracy": {…}, "timing": null or {…}},
 *   "claims": see reports/model/claims.h }
 *
 * ROW: {"kernel", "recipe": as of the kernel, "isa", "refusal", then the fields of its accuracy record or nothing if there is none,
 *       "timing": null or {"repetitions": n, "rows": n, "rows_timed": n in one iteration, "ns_per_element": SPREAD,
 *                          "bytes_per_second": SPREAD, "of_limit": SPREAD, "limit_bytes_per_second": SPREAD,
 *                          "speed_up": over naive, see samples_ratio, or null (of naive, too), "plan_ns": SPREAD or null; of "shapes" alone}}
 * SPREAD: {"median", "min", "max"} over the repetitions. A share of the limit is that of one repetition, so the
 * median of the shares is not the ratio of the medians.
 */

/* The entry of "shapes" of that name, and in it the row of a kernel; null if there is none. */
const json_t *document_shape(const json_t *document, const char *name);
const json_t *document_row(const json_t *table, const char *kernel);

/* The shape that headlines are about, where it was verified. */
extern const char document_reference[];

/* Was anything timed? */
bool document_is_timed(const json_t *document);

/* Is it a table of f32, and no x, nor a rope cache? */
bool document_is_f32_table(const json_t *table);

/* "recipe" of the kernel of that name. */
bool document_is_recipe(const json_t *document, const char *kernel);

/* The bound of an entry of "kernels". */
posenc_bound document_bound(const json_t *kernel);

#endif
