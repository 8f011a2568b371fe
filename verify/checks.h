/* SPDX-License-Identifier: MIT */
/* What is checked of one kernel on one shape. Every bound follows from the kernel's own contract, none is chosen. */
#ifndef POSENC_VERIFY_CHECKS_H
#define POSENC_VERIFY_CHECKS_H

#include "common/shapes.h"
#include "reference/accuracy.h"
#include "reference/fast.h"
#include "verify/arena.h"

#include <stdatomic.h>

typedef enum property {
  ACCURACY,      /* every element within the claimed bound of the exact value */
  MEMORY,        /* every element of the rows asked for is written, and nothing else */
  BOUNDED,       /* all in [-1, 1], no NaN */
  PAIR_NORM,     /* sin² + cos² = 1; rope keeps the length of a pair */
  ROTATION,      /* PE[p+k] = M_k PE[p] */
  EXTRAPOLATION, /* a table from position P holds the rows P … of the long one */
  EXTENSION,     /* a table made in pieces is the table made at once, bit for bit */
  DETERMINISM,   /* the same call again gives the same bits */
  THREADS,       /* more threads than CPUs that execute one plan at once get the bits that one gets alone */
  ENVIRONMENT,   /* the floating-point environment is left as it was, but for exceptions that are raised */
  READ_ONLY, /* execute and apply leave the plan as it is: its pages are read-only meanwhile; can_do and prepare leave the problem */
  PROCESS,       /* signals, folder, descriptors, limits, locale and threads of the process are left as they were */
  FAR_POSITIONS, /* the contract holds at negative positions, beyond 2^31 … 2^62, and to the ends of the bound's domain */
  WIDTHS,        /* and for dims of each residue modulo 16, in each layout and with either way to store */
  HEAD_COUNTS, /* and for 1 to 128 heads */
  ALIGNMENT,   /* rows have the same bits wherever they are written to, in each alignment of the element type */
  CALL_SIZE,   /* calls of one row to 64 MiB give the same bits */
  DECODING,    /* so do thousands of calls of one row each, at successive positions */
  PLANS,       /* several plans that are alive at once, of different problems, do not change each other's rows */
  ENDURANCE,   /* a long run of calls gives the same bits to its end */
  CPUS,        /* each CPU gives the same bits */
  LEAK,        /* memory does not grow from call to call, nor from plan to plan */
  SEARCH,      /* every element that a directed search met within the claimed bound of the exact value */
  STAGES,      /* what the kernel tells of its stages is what it did: rounded once, it is what is in the table */
  ROPE_CACHE,  /* the tables of a rope cache are columns of the table that it is made of, bit for bit */
  IN_PLACE,    /* add and rope in place give the bits that they give out of place, which leaves x alone */
  BATCH,       /* each sequence of a batch has the bits that it has alone */
  INDEX,       /* rows that are told one by one, in any order, have the bits that they have in succession */
  INVERSE,     /* what rope has turned, its inverse turns back */
  RELATIVE,    /* <R_m q, R_n k> depends on m - n alone */
  PADDING,     /* add leaves x as it is where the table has its padding row */
  SPECIAL,     /* NaN and infinities of x are in the results that they belong to, and in no other */
  SURVIVAL,    /* it came to an end, by itself */
  PROPERTIES
} property;

const char *property_name(property p);

/* Is it about something else than the rows of the shape (stress.h)? */
bool property_is_beside(property p);

/* Is it checked of that operation? */
bool property_is_of(property p, posenc_op op);

typedef struct check {
  int64_t compared; /* elements */
  int64_t broken;   /* of these, beyond the bound */
  double worst;     /* largest deviation, and */
  double bound;     /* what was allowed where the deviation was the largest share of it */
  double share;     /* that share */
  int64_t position; /* where that was, */
  int64_t index;    /* -1: no single frequency */
  const char *skip; /* why nothing could be compared, or null */
  char note[400];   /* what else there is to tell, or empty */
} check;

/* One kernel on one shape. */
typedef struct subject {
  const posenc_kernel *kernel;
  const shape *shape;
  const posenc_options *options;
  posenc_plan *plan;
  double attention;     /* the factor of all values */
  posenc_bound bound;   /* the contract as it is of this table, in its own positions */
  posenc_bound most;    /* the same for posenc_bound_at: an ulp is that of the largest values */
  posenc_bound applied; /* and for posenc_applied_bound_at, which knows the factor */
  bool shared;          /* its windows may be computed by several threads at once: see subject_share */
  int64_t origin;       /* position of row 0 of the oracle's problem */
  accuracy found;
  uint64_t digest; /* of all windows, in order */
  check checks[PROPERTIES];
} subject;

/* Rows that are computed in one call. */
typedef struct window {
  int64_t row, rows;
} window;

/* Rows that the checks of threads and relations want an arena to hold. */
enum { CHECKED_ROWS = 64 };

/* Rows of a plan of the subject's kernel, in the arena until its next use. Memory and environment are checked. */
const unsigned char *subject_execute(subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *a);

/* Makes the plan. Null, or why this kernel does not do this shape, in static storage. */
const char *subject_open(subject *s, const posenc_kernel *kernel, const shape *of, const posenc_options *options);
void subject_close(subject *s);

/* Accuracy, memory, bounded, pair norm and environment of one window; with `again`, determinism and extension too, into `other`. */
void subject_check_window(subject *s, window w, fast_oracle *truth, arena *whole, arena *other, bool again,
                          uint64_t *random);

/* Rows from more threads than CPUs at once, against those from one. */
void subject_check_threads(subject *s);

/* From now on its windows may be computed by several threads at once, if it was seen to stand that. */
void subject_share(subject *s);

/* Rotation and extrapolation, at places drawn from `random`. False when memory runs out. */
bool subject_check_relations(subject *s, fast_oracle *truth, arena *one, arena *other, uint64_t *random);

/* In how many parts rows are computed at once. */
int64_t subject_parts(const subject *s);

/* Is the contract's bound about this position? */
bool subject_claims(const subject *s, int64_t position);

/* Why nothing follows from the contract for any value of this shape, or null. */
const char *subject_no_claim(const subject *s);

/* A plan of the subject's kernel for a problem, whose memory is read-only from now on; and its end, which returns how many bytes it left allocated. */
posenc_status subject_plan(const subject *s, const posenc_problem *problem, posenc_plan **plan);
size_t subject_drop(posenc_plan *plan);

/* Before calls of the library: writes to plans count from now on. */
void subject_begin_calls(void);

/* Around calls of the library, the last of them for that position. After them the floating-point environment is as fpenv_set made it, whoever changed
 * it since, and they have written to no plan. What has changed is noted, and put right. */
void subject_begin_calls(void);
void subject_check_conduct(subject *s, int64_t position);

/* Takes in one thing that is wrong with a part of the subject's exam: another problem, which the note tells. */
__attribute__((format(printf, 4, 5))) void check_break(check *c, const subject *s, const posenc_problem *problem,
                                                       const char *text, ...);

/* The pair of frequency index `index` in a row of a plan of the subject's kernel, which computes that row alone. Memory and environment
 * are checked. */
typedef struct table_pair {
  double sine, cosine;
} table_pair;
table_pair subject_pair(subject *s, const posenc_plan *plan, int64_t row, int64_t index, arena *a);

/* The largest |sin|, |cos| and |sin² + cos² - square| of a row of the problem's table; both infinite if one of them is not a number. */
typedef struct row_norms {
  double value, norm;
} row_norms;
row_norms row_norms_of(const unsigned char *row, const posenc_problem *problem, posenc_columns at, double square);

/* Last: gives the checks that could not compare anything their reason. */
void subject_finish(subject *s);

bool check_ok(const check *c);

/* What of the elements that were held to the bound: the share of it that they take, which may be 1. */
void check_bound(check *c, const accuracy *found);

/* Takes in elements of rows, of the table or of add and rope, that must have the same bits. */
void check_bits(check *c, const posenc_problem *problem, const unsigned char *a, const unsigned char *b,
                int64_t position, int64_t rows);

/* Rows that one of several threads makes over and over, at the same time as the others, and what must come of it. */
typedef struct job {
  const posenc_plan *plan;
  int64_t row, rows;
  const unsigned char *x; /* of add and rope; null: rows of a table */
  unsigned char *out;
  const unsigned char *want;
  size_t bytes;
  const atomic_int *go; /* 0: wait, 1: run, -1: do not */
  bool wrong;
} job;
void check_together(check *c, const posenc_problem *problem, job *jobs, int count);

/* As many as are more than the CPUs that this process may use, 9 to 33. */
int crowd_of_threads(void);

/* Takes in one comparison; index -1: of no single frequency. */
void check_note(check *c, double deviation, double bound, int64_t position, int64_t index);

/* Goes on with a digest by so many bytes, of whole elements. */
#define DIGEST_START UINT64_C(14695981039346656037)
uint64_t digest_of(uint64_t digest, const unsigned char *bytes, size_t count);

static inline int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* A uniform number below `limit` (> 0), from a state that any seed may start. */
uint64_t random_below(uint64_t *state, uint64_t limit);

#endif
