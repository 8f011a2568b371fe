/* SPDX-License-Identifier: MIT */
/* How steady the machine was while kernels were timed: the limit, measured beside each of them, tells. */
#ifndef POSENC_REPORTS_MODEL_STABILITY_H
#define POSENC_REPORTS_MODEL_STABILITY_H

#include "records/samples.h"
#include "reports/page/page.h"

/*
 * Of "hot", where the limit of a shape is the same thing measured again and again:
 *
 * {"measured": timings beside which it was, "shapes": n,
 *  "typical": the half of the measurements of a shape that is in the middle reaches over such a share of their median; median over the shapes,
 *  "worst": the largest of those, "shape": whose it is; the three are null where no shape has two measurements,
 *  "drift": how many times the limit of the first third of the run the last third had, see samples_ratio, or null where the record does not tell turns}
 *
 * JSON null where nothing was timed; null when memory runs out.
 */
json_t *stability_make(samples *times);

/* A paragraph. */
void stability_write(page *p, const json_t *document);

#endif
