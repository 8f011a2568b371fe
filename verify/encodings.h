/* SPDX-License-Identifier: MIT */
/* Exams of the encodings other than the table, and the common parts of these exams. */
#ifndef POSENC_VERIFY_ENCODINGS_H
#define POSENC_VERIFY_ENCODINGS_H

#include "reference/applied.h"
#include "verify/arena.h"
#include "verify/findings.h"
#include "verify/verify.h"

#include <string.h>

enum { DTYPES = POSENC_BF16 + 1 };

/* The number of elements between sequences of a batch. */
enum { ENCODING_GAP = 5 };

/* One encoding in one shape, with the records of earlier shapes. */
typedef struct encoding_exam {
  const posenc_encoding *encoding;
  const encoders *by;
  uint64_t seed;
  posenc_dtype dtype; /* dtype of the result */
  accuracy found;
  check checks[PROPERTIES];
  uint64_t digest;
  record_memory *in;
  record_encoded *records;
  size_t record_count;
} encoding_exam;

/* Begin a shape, and add its record under a name. */
void encoding_begin(encoding_exam *e, posenc_dtype dtype);
void encoding_end(encoding_exam *e, const char *called);

/* Add a check of a property: by its outcome; whether bytes are the same; and whether an element is within the
   contract's bound of the exact value. */
void encoding_note(encoding_exam *e, property p, bool ok, int64_t position);
void encoding_same(encoding_exam *e, property p, const void *a, const void *b, size_t bytes, int64_t position);
void encoding_compare(encoding_exam *e, const exact *value, const void *out, int64_t at, int64_t position,
                      int64_t column);

/* Allocates memory for `elements`, poisoned by arena_place. */
unsigned char *encoding_arena(arena **a, int64_t elements, posenc_dtype dtype, bool flush);

/* Checks MEMORY of all elements of an arena. */
void encoding_check_written(encoding_exam *e, const arena *a, const unsigned char *out, int64_t elements);

void encoding_digest(encoding_exam *e, const void *out, int64_t elements);

/* Checks REFUSAL: the call must be refused, with nothing written. */
#define REFUSED(e, out, bytes, call) (memset(out, 0x5a, bytes), encoding_note_refusal(e, call, out, bytes))
void encoding_note_refusal(encoding_exam *e, posenc_status status, const void *out, size_t bytes);

/* Sets an element, rounded to the dtype; draws a number of a size about 1, one in eight of another size if `wide`. */
void encoding_set_element(posenc_dtype dtype, void *table, int64_t at, double x);
double encoding_draw(uint64_t *random, bool wide);

/* Sends the records of an encoding from a worker. argument: an encoding_task. */
typedef struct encoding_task {
  const run_request *request;
  const posenc_encoding *encoding;
  posenc_kernel named;          /* has the encoding's name, for messages */
  const posenc_kernel *at_work; /* that one */
} encoding_task;
void encoding_worker(void *argument);

/* Returns the record of an encoding whose process ended, with that check alone. */
record_encoded encoding_ended_early(const encoding_task *of, const record_check *only, record_memory *in);

/* The exams, in encoding-exams.c. */
void encoding_examine_integer(encoding_exam *e);
void encoding_examine_binary(encoding_exam *e);
void encoding_examine_learned(encoding_exam *e);
void encoding_examine_alibi(encoding_exam *e);
void encoding_examine_dropout(encoding_exam *e);

#endif
