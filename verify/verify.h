/* SPDX-License-Identifier: MIT */
/* Holds kernels to their contracts, and makes the accuracy record. */
#ifndef POSENC_VERIFY_VERIFY_H
#define POSENC_VERIFY_VERIFY_H

#include "common/digest.h"
#include "common/isolate.h"
#include "common/shapes.h"
#include "common/shard.h"
#include "posenc.h"

#include <jansson.h>

/* What the command line uses unless told otherwise: 2^26 pairs, so that every published table, up to 131072×1024, is checked whole of
 * kernels that promise correct rounding, and all but the two largest of the others. */
#define VERIFY_DEFAULT_SEED 1
#define VERIFY_DEFAULT_BUDGET 67108864
#define VERIFY_DEFAULT_SILENCE ISOLATE_DEFAULT_SILENCE
#define VERIFY_DEFAULT_SEARCH 1000

/* The hard-to-round cases of a file. */
typedef struct verify_cases {
  struct cases *cases; /* verify/cases.h */
  char *option;        /* of the replay commands, quoted for a shell: "--cases FILE" */
  digest_text digest;  /* of the file */
} verify_cases;

/* What is measured beyond the shapes, of a table of its own. */
typedef enum verify_profile {
  VERIFY_NO_PROFILE,
  VERIFY_POINTS, /* errors of some rows from each power of two to 2^30 on */
  VERIFY_SCAN /* these with their parts, errors of every row below 2^20, and, of kernels that claim nothing, those in further tables */
} verify_profile;

/* Each of the kernels is looked at on each of the shapes, and no other. */
typedef struct verify_part {
  const posenc_kernel *const *kernels;
  size_t kernel_count;
  const shape *shapes;
  size_t shape_count;
  const verify_cases *cases; /* for each shape, the elements of it that alone are looked at; null: no such thing */
  verify_profile profile;
} verify_part;

typedef struct verify_request {
  const verify_part *parts; /* the record has each kernel once, and what was found in this order */
  size_t part_count;
  unsigned isa; /* allowed tiers; 0: POSENC_ISA, or all */
  int threads;  /* of threaded kernels; 0: OpenMP's default */
  int team;     /* that default: verify_run's business */
  posenc_stores stores;
  uint64_t seed; /* of what is sampled */
  int64_t
      budget; /* so many pairs of a table are compared, if the kernel promises correct rounding, else a 16th; of add and rope
                 a 32nd, of a rope cache a 256th; of a shape with more, a sample */
  int64_t search;             /* so many sine-cosine pairs, in the table or not, are looked at by a directed search */
  bool brief;                 /* without what is asked beside the shapes: see stress.h */
  double silence;             /* seconds that a kernel may go without a sign of life */
  bool explain;               /* also tell where the errors come from; of tables */
  shard only;                 /* so much of all that alone is done */
  const char *replay_options; /* further ones of the replay commands, quoted for a shell: "--plugin FILE"; or null */
  const char *list;           /* in them, the value of --positions, quoted for a shell; or null */
  const digest_text *plugins; /* of their files, in order, */
  size_t plugin_count;        /* and how many */
} verify_request;

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
                                        position alone were asked for,
 *                               "relative": largest |PE[p]·PE[q] − Σ cos((p−q) w_i)| of two of them} … ], of rows from there on;
 *                            points that the kernel does not do are left out
 *                  "rows": n of a scan of all positions 0 … n-1; null if the kernel does not do that table, absent if it was not asked for,
                          and then nothing follows
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
 * Of add and rope the exact result is that of the x given, which is drawn (verify/applied.h): max_ulp, max_abs, both means, misrounded and the
 * histogram are of the rows with x of a size about 1; worst, and all checks, are of the others too. An ulp is, of add, that of the exact result, so
 * that it has no end where x cancels the table; of rope, that of the exact length of the pair. Misrounded are the elements that are not nearest
 * to their own exact value. There is no search, and "explain" is null. A witness of rope has as "function" "first" | "second" of the pair, and
 * "head": n; one of either has "x": [ hex-float … ], the element or the pair that was given.
 *
 * Of a list of positions, the "position" of a witness need not be whole, and of it and of an odd dim there are no search, stages and "explain".
 *
 * A rope cache is looked at as the table that it is made of, and the bits of its two tables beside it: property rope-cache.
 *
 * PARTS: {"frequency", "phase", "trig", "store"}, as reference/split.h says
 *
 * Each kernel is looked at in a process of its own, a shape at a time. Of one that did not live to tell there is one check only:
 * survival, or memory if it died of touching what lies next to its rows.
 *
 * A number that is infinite or not a number is null, the errors of an element that is NaN among them.
 * Null when memory runs out, or, with errno EAGAIN, when a process could not be made, which is no kernel's fault. No thread may be running, nor
 * have run an OpenMP region in this process (fork).
 */
json_t *verify_run(const verify_request *request);

#endif
