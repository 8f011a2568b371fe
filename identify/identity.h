/* SPDX-License-Identifier: MIT */
/* The request and the result of an identification. */
#ifndef POSENC_IDENTIFY_IDENTITY_H
#define POSENC_IDENTIFY_IDENTITY_H

#include "common/suspect.h"
#include "files/table.h"
#include "identify/makers.h"

enum { IDENTIFY_COLUMNS_MAX = 1 << 17 };

typedef struct identify_request {
  table_file *table;                   /* at most IDENTIFY_COLUMNS_MAX columns */
  const char *name;                    /* of the file */
  const posenc_kernel *const *kernels; /* candidates for the maker: kernels that report their stages */
  size_t kernel_count;
  /* Or null: what the table should be, each with a name or "", and what may have been made instead. Axes of what is
     expected are sections, whose positions are not looked at. */
  const suspect_list *expected, *suspects;
  double error; /* of its values, which are recovered from an array; else 0 */
} identify_request;

typedef enum identify_agreement { NOT_COMPARED, AGREES, DISAGREES } identify_agreement;

typedef enum identify_verdict {
  IDENTIFY_TABLE,    /* a positional encoding of the family: all is known but, perhaps, who made it */
  IDENTIFY_BENT,     /* sines and cosines, but of no frequencies or positions that are known here */
  IDENTIFY_FEW,      /* too few rows to decide */
  IDENTIFY_NO_TABLE, /* not a sinusoidal table */
} identify_verdict;

/* How the rows follow each other. What is not ordered is not the table that a model should have. */
typedef enum identity_order {
  IDENTITY_ORDERED,  /* at successive positions, or at those of a list */
  IDENTITY_REVERSED, /* at descending ones */
  IDENTITY_NEGATED,  /* at ascending ones with the sines negated, which are descending ones from 0 or below */
  IDENTITY_REPEATED, /* the same positions again and again */
} identity_order;

/* A column that is not what the formula gives. */
typedef enum identify_sin {
  IDENTIFY_CONSTANT, /* the same in all rows */
  IDENTIFY_MOVED,    /* another column's values */
  IDENTIFY_FOREIGN,
} identify_sin;

typedef struct identify_damage {
  int64_t column;
  identify_sin sin;
  double value; /* of a constant */
  int64_t like; /* the column that it belongs to */
} identify_damage;

typedef struct identity {
  identify_verdict verdict;
  char reason[300]; /* of any verdict but IDENTIFY_TABLE */
  posenc_dtype stored, held;
  int64_t rows, dim;
  /* The rest is set for IDENTIFY_TABLE; how.columns for IDENTIFY_BENT as well. */
  making how;
  double *factors, *positions;           /* that `how` points to, or null; positions of `judged` rows */
  double *factor_errors;                 /* as shares of factors */
  bool *bad;                             /* likewise */
  posenc_scaling scaling;                /* of the formula, with its attention: 0 if it is the formula's */
  int64_t original_least, original_most; /* lengths that explain the scaling as well */
  int64_t starts;                        /* other first positions that explain it as well */
  int64_t runs, listed;                  /* of a list: rows with a position, and runs of successive ones */
  bool also_known;                       /* another formula explains it as well */
  formula also;
  int64_t padding, paddings; /* position of the first row of zeros that should be none, and how many there are */
  identify_damage *damage;
  size_t damage_count;
  maker *matches; /* the closest first; without plans */
  size_t match_count;
  /* Counts and errors of the first `judged` rows without padding rows and damaged columns. Lists and measured
     factors are judged in the window, others in all rows. */
  int64_t judged, elements;
  int64_t not_finite, not_finite_row, not_finite_column; /* of all columns; the first of them */
  int64_t unexplained;                                   /* elements farther from exact than recipes' roundings */
  int64_t beyond;               /* elements farther from 0 than exact, and than f32 makes them */
  double max_abs, max_if_exact; /* from exact, which the amplitude is part of; and of values that were rounded once */
  double worst_position;
  int64_t worst_column;
  identify_agreement agreement; /* with what was expected */
  char agreed[160];             /* the name of what it agrees with; or the cause, "" if it is not known */
  bool proved;                  /* exact values are those of the reference; else they have the accuracy of doubles */
} identity;

#endif
