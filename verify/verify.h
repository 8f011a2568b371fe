/* SPDX-License-Identifier: MIT */
/* Holds kernels to their contracts, and makes the accuracy record. */
#ifndef POSENC_VERIFY_VERIFY_H
#define POSENC_VERIFY_VERIFY_H

#include "verify/request.h"

#include <jansson.h>

/*
 * The accuracy record:
 *
 * { "schema": "posenc-accuracy-1",
 *   "environment": environment_json(),
 *   "kernels": [ kernel_json() … ],
 *   "seed": n, "budget": n,
 *   "records": [ { "kernel": name, "shape": shape_json(),
 *                  "refusal": null, or why this kernel does not do this shape (then nothing follows),
 *                  "replay": command, "digest" of the bits, hex, in the order of the rows; null of cases,
 *                  "mode": "exhaustive" | "sampled" | "cases", "elements": n, "of": rows × heads × dim,
 *                  "max_ulp": WITNESS, "max_abs": WITNESS, "worst": WITNESS of the bound, "mean_ulp", "mean_abs", "misrounded": n,
 *                  "histogram": [ {"below": ulp, or null for the last, "count": n} … ],
 *                  "search": absent where nothing was searched, else { "reach": the last position that was, "worst": WITNESS of the bound,
 *                              "nearest": WITNESS of the element nearest to a tie, "from_tie": its distance from it in ulp },
 *                  "checks": [ {"property": name, "ok": bool, "skipped": bool, "worst", "bound", "compared": n,
 *                               "note": why skipped, what is wrong, or what a search met } … ],
 *                  if asked for, "explain": null if the kernel does not expose its stages, or
 *                    { "worst": {"position", "index", "function", "error": signed, of max_abs, "parts": PARTS}, or null in the padding row and of an empty
 *                               table,
 *                      "rows": [ {"position", "parts": PARTS, mean sizes over up to 16 rows from there on} … ], from the first
 *                              position on, and from each power of two in the table } } … ],
 *   "profile": [ { "kernel": name, "dim": n, "base", "shift": 0, or 1 if the kernel does that alone,
 *                  "points": [ {"position": 2^k for k = 0 … 30, "rows": n that were looked at, "max_abs", "max_ulp", "index": frequency index of max_abs,
 *                               "parts": PARTS, mean sizes, or null if the kernel does not expose its stages; absent where errors against
 *                                         position alone were asked for,
 *                               "relative": largest |PE[p]·PE[q] − Σ cos((p−q) w_i)| of two of them} … ], of rows from there on;
 *                            points that the kernel does not do are left out
 *                  "rows": n of a scan of all positions 0 … n-1; null if the kernel does not do that table, absent if it was not asked for,
 *                           and then nothing follows
 *                  "columns": [ {"index": frequency index, "max_abs", "position"} … ],
 *                  "passes": {"f32", "f16", "bf16": first position with an error beyond half an ulp just below 1, or null},
 *                  "norm": {"worst": largest |sin² + cos² − 1|, "position", "index"},
 *                  "collisions": {"f32", "f16", "bf16": first [p, q] (least q) with rows that are equal when rounded to that format, of the
 *                                 scan, or else of a point; or null},
 *                  "failure": absent, or the check that it did not survive, as in a record; nothing else is told then,
 *                  "tables": of a kernel that claims nothing, [ {"dim": n, "base", "points": [ {"position": n, "max_abs": of 16 rows from there on,
 *                                 null if the kernel does not do them} … ]} … ] } … ], empty unless asked for; so is
 *   "unique": {"dim", "base", "rows": n, "distance": least Euclidean distance between two exact rows of so many positions, "apart": by so
 *             many positions; it depends on that alone}, or null
 *   "passed": n, "failed": n, "skipped": n,
 *   "shard": of a part of a run alone, { "number": n, "of": n, "exams": [numbers of the records, all kernels on the first shape, then on the next …],
 *              "profiles": [numbers of the kernels of "profile"],
 *              "run": {"seed", "budget", "search", "isa": 0 or a set of tiers, "threads", "stores", "explain": bool, "brief": bool, "plugins": [digests of their files],
 *                      "parts": [ {"kernels": [name …], "shapes": [shape_json() …], "cases": [digests of their files], "profile": verify_profile} … ];
 *                      "encodings": true if the last shard looks at the other encodings} },
 *   "encodings": where the command looked at the other encodings too, their record: see encodings.h, and its counts are its own }
 *
 * WITNESS: { "ulp", "abs", "position": n, "index": n, "function": "sin" | "cos", "exact": hex-float, "got": hex-float,
 *            "replay": command }
 *
 * Of add and rope the exact result is that of the x given, which is drawn (verify/operand.h): max_ulp, max_abs, both
 * means, misrounded and the histogram are of the rows with x of a size about 1; worst, and all checks, are of the
 * others too. An ulp is, of add, that of the exact result, so that it has no end where x cancels the table; of rope,
 * that of the exact length of the pair. Misrounded are the elements that are not nearest to their own exact value.
 * There is no search, and "explain" is null. A witness of rope has as "function" "first" | "second" of the pair, and
 * "head": n; one of either has "x": [ hex-float … ], the element or the pair that was given.
 *
 * Of a list of positions, the "position" of a witness need not be whole, and of it and of an odd dim there are no
 * search, stages and "explain".
 *
 * A rope cache is looked at as the table that it is made of, and the bits of its two tables beside it: property
 * rope-cache.
 *
 * PARTS: {"frequency", "phase", "trig", "store"}, as reference/split.h says
 *
 * Each kernel is looked at in a process of its own, a shape at a time. Of one that did not live to tell there is one
 * check only: survival, or memory if it died of touching what lies next to its rows.
 *
 * A number that is infinite or not a number is null, the errors of an element that is NaN among them. Null when memory
 * runs out, or, with errno EAGAIN, when a process could not be made, which is no kernel's fault. No thread may be
 * running, nor have run an OpenMP region in this process (fork).
 */
json_t *verify_run(const verify_request *request);

#endif
