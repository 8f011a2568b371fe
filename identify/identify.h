/* SPDX-License-Identifier: MIT */
/* What a table in a file is, told from its numbers alone. */
#ifndef POSENC_IDENTIFY_IDENTIFY_H
#define POSENC_IDENTIFY_IDENTIFY_H

#include "files/table.h"
#include "identify/makers.h"

#include <jansson.h>

enum { IDENTIFY_COLUMNS_MAX = 1 << 17 };

typedef struct identify_request {
  table_file *table;                   /* at most IDENTIFY_COLUMNS_MAX columns */
  const char *name;                    /* of the file */
  const posenc_kernel *const *kernels; /* who may have made it: those of them that tell their stages */
  size_t kernel_count;
} identify_request;

typedef enum identify_verdict {
  IDENTIFY_TABLE,    /* all is known but, perhaps, who made it */
  IDENTIFY_BENT,     /* sines and cosines, but of no frequencies or positions that are known here */
  IDENTIFY_FEW,      /* too few rows to tell */
  IDENTIFY_NO_TABLE, /* not a sinusoidal table */
} identify_verdict;

/* Who may have made it: recipes that would have written the same into all elements that were looked at come first. */
typedef struct identify_match {
  const posenc_kernel *kernel; /* null: exact values, each rounded once */
  int64_t compared, equal;     /* elements */
  double rms, most;            /* of differences */
  bool closest;                /* none is closer */
  /* As a maker has them: differences that are no rounding, the first of them, and the largest of the others. */
  int64_t outliers, outlier_row, outlier_column;
  double within;
} identify_match;

typedef struct identity {
  identify_verdict verdict;
  char reason[160]; /* of any verdict but IDENTIFY_TABLE */
  posenc_dtype stored, held;
  int64_t rows, dim;
  /* What follows is of IDENTIFY_TABLE; how.columns of IDENTIFY_BENT, too. */
  making how;
  bool also_known; /* another formula explains it as well */
  formula also;
  int64_t padding, paddings; /* position of the first row of zeros that should be none, and how many there are */
  identify_match *matches;
  size_t match_count;
  /* Of all elements of the file, padding rows left out. */
  int64_t elements, not_finite;
  double max_abs, max_if_exact; /* from exact, which the amplitude is part of; and of values that were rounded once */
  int64_t worst_position, worst_column;
  bool proved; /* exact values are the oracle's; else they are as good as doubles are */
} identity;

/* Null when memory runs out. */
identity *identify(const identify_request *request);
void identity_free(identity *found);

/* One sentence. A new string, null when memory runs out. */
char *identity_sentence(const identity *found);

/*
 * "posenc-identify-1": {"file", "tensor", "format", "verdict": "table" | "bent" | "too-few-rows" | "not-sinusoidal", "sentence", "reason" or null, "rows", "columns",
 * "stored", "held", and of a table
 *   "layout", "part": "both" | "cos" | "sin", "dim" of the formula, "base", "shift", "scale", "scaling": null, or {"kind": "ntk", "factor", "base"}, or {"kind": "llama3" | "yarn", "factor", "original", "low", "high"}, "offset", "whole_offset",
 *   "offset_range": [least, most], "amplitude", "padding": position or null, "padding_rows", "also": null or {"base", "shift"},
 *   "outliers": null, or {"elements", "row", "column": of the first, "above"},
 *   "closest": [names], "makers": [{"name", "elements", "equal", "rms", "max"} …], the closest first,
 *   "elements", "not_finite", "max_abs", "max_abs_if_exact", "worst": {"position", "column"}, "proved", "any_base": as of one frequency, "check": the command that holds it to that}
 */
json_t *identity_json(const identity *found, const identify_request *request);

#endif
