/* SPDX-License-Identifier: MIT */
#include "verify/encodings.h"

#include "common/digest.h"
#include "common/memory.h"
#include "common/number.h"
#include "verify/exam.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- elements and memory --------------------------------------------------------------------------------------- */

void encoding_note(encoding_exam *e, property p, bool ok, int64_t position) {
  check_note(&e->checks[p], ok ? 0.0 : 1.0, 0.0, position, -1);
}

void encoding_same(encoding_exam *e, property p, const void *a, const void *b, size_t bytes, int64_t position) {
  encoding_note(e, p, memcmp(a, b, bytes) == 0, position);
}

void encoding_compare(encoding_exam *e, const exact *value, const void *out, int64_t at, int64_t position,
                      int64_t column) {
  const double got = format_element(e->dtype, out, at);
  if (isinf(value->rounded)) { /* beyond the dtype only infinity is right, and there is no ulp */
    const witness here = {INFINITY, INFINITY, position, column, false, value->high, value->low, got};
    if (got != value->rounded) accuracy_note(&e->found, &here, true);
    if (got != value->rounded) accuracy_hold(&e->found, &here, -1.0);
    return;
  }
  accuracy_add(&e->found, format_of(e->dtype), &e->encoding->bound, value, got,
               (element_place){position, column, false});
}

unsigned char *encoding_arena(arena **a, int64_t elements, posenc_dtype dtype, bool flush) {
  const size_t bytes = (size_t)elements * posenc_dtype_bytes(dtype);
  *a = arena_create(bytes);
  return arena_place(*a, bytes, flush);
}

void encoding_check_written(encoding_exam *e, const arena *a, const unsigned char *out, int64_t elements) {
  size_t first;
  const size_t element = posenc_dtype_bytes(e->dtype);
  encoding_note(e, MEMORY, arena_spills(a) == 0, 0);
  encoding_note(e, MEMORY, arena_untouched(out, (size_t)elements * element, element, &first) == 0, 0);
}

void encoding_digest(encoding_exam *e, const void *out, int64_t elements) {
  e->digest = digest_of(e->digest, out, (size_t)elements * posenc_dtype_bytes(e->dtype), posenc_dtype_bytes(e->dtype));
}

void encoding_note_refusal(encoding_exam *e, posenc_status status, const void *out, size_t bytes) {
  size_t untouched = 0;
  while (untouched < bytes && ((const unsigned char *)out)[untouched] == 0x5a) untouched++;
  encoding_note(e, REFUSAL, status != POSENC_OK && untouched == bytes, 0);
}

void encoding_set_element(posenc_dtype dtype, void *table, int64_t at, double x) {
  const double rounded = dtype == POSENC_F64 ? x : format_nearest(format_of(dtype), x);
  if (dtype == POSENC_F64) {
    ((double *)table)[at] = x;
  } else if (dtype == POSENC_F32) {
    ((float *)table)[at] = (float)rounded;
  } else { /* the bits that are read as this number */
    uint32_t bits;
    const float value = (float)rounded;
    memcpy(&bits, &value, sizeof bits);
    uint16_t encoding = (uint16_t)(bits >> 16);
    if (dtype == POSENC_F16) {
      const float shifted = value * 0x1p-112f; /* exponents of f16 are smaller by 112, those of subnormal numbers too */
      memcpy(&bits, &shifted, sizeof bits);
      encoding = (uint16_t)((bits >> 16 & 0x8000) | (bits >> 13 & 0x7fff));
    }
    ((uint16_t *)table)[at] = encoding;
  }
}

double encoding_draw(uint64_t *random, bool wide) {
  const double x = ldexp((double)random_below(random, UINT64_C(1) << 60), -59) - 1.0;
  const uint64_t most = wide ? 50 : 10;
  return random_below(random, 8) ? x : ldexp(x, (int)random_below(random, 2 * most) - (int)most);
}

/* ---- the record ------------------------------------------------------------------------------------------------ */

/* Returns the command that repeats the whole exam. */
static const char *replay_of(const encoding_exam *e, record_memory *in) {
  return record_format(in, "posenc verify --encoding %s --seed %" PRIu64, e->encoding->name, e->seed);
}

static record_witness witness_of(const encoding_exam *e, const witness *w) {
  record_witness shown = witness_record(w, replay_of(e, e->in), e->in);
  shown.function = e->encoding->name;
  return shown;
}

void encoding_begin(encoding_exam *e, posenc_dtype dtype) {
  memset(&e->found, 0, sizeof e->found);
  memset(e->checks, 0, sizeof e->checks);
  e->digest = DIGEST_START;
  e->dtype = dtype;
}

/* The properties in the order of the records. */
static const property in_order[] = {ACCURACY, MEMORY,  EXTENSION, INDEX,         IN_PLACE,  THREADS,
                                    SPECIAL,  REFUSAL, MASK,      KNOWN_ANSWERS, STATISTICS};

/* Writes a note where a check has none, and returns the checks that were made. */
static const record_check *checks_of(encoding_exam *e, size_t *count) {
  enum { MOST = sizeof in_order / sizeof *in_order };
  record_check *checks = record_allocate(e->in, MOST, sizeof *checks);
  *count = 0;
  for (size_t n = 0; n < MOST; n++) {
    check *c = &e->checks[in_order[n]];
    if (c->compared && c->broken && !*c->note && in_order[n] != ACCURACY)
      snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " wrong; the first of the worst at p = %" PRId64,
               c->broken, c->compared, c->position);
    if (c->compared) checks[(*count)++] = check_record(property_name(in_order[n]), c, e->in);
  }
  return checks;
}

void encoding_end(encoding_exam *e, const char *called) {
  const accuracy *a = &e->found;
  const double counted = a->elements ? (double)a->elements : 1.0;
  check_bound(&e->checks[ACCURACY], a);
  e->records = memory_grow(e->records, e->record_count + 1, sizeof *e->records);
  record_encoded *made = &e->records[e->record_count++];
  *made = (record_encoded){.kernel = e->encoding->name,
                           .shape = {.there = true, .name = record_format(e->in, "%s", called)},
                           .has_refusal = true,
                           .replay = replay_of(e, e->in),
                           .digest = record_format(e->in, "%s", digest_hex(e->digest).text),
                           .mode = "sampled",
                           .elements = a->elements,
                           .has_elements = true,
                           .max_ulp = witness_of(e, &a->max_ulp),
                           .max_abs = witness_of(e, &a->max_abs),
                           .worst = witness_of(e, &a->worst),
                           .mean_ulp = a->sum_ulp / counted,
                           .has_mean_ulp = true,
                           .mean_abs = a->sum_abs / counted,
                           .has_mean_abs = true,
                           .misrounded = a->misrounded,
                           .has_misrounded = true,
                           .histogram = histogram_record(a, e->in),
                           .histogram_count = ACCURACY_BINS};
  made->checks = checks_of(e, &made->checks_count);
}

/* ---- all encodings --------------------------------------------------------------------------------------------- */

const encoders encoders_library = {
    .integer = posenc_integer,
    .binary = posenc_binary,
    .learned = posenc_learned,
    .alibi_bias = posenc_alibi_bias,
    .apply_dropout = posenc_apply_dropout,
    .dropout_mask = posenc_dropout_mask,
};

static void examine_shapes(encoding_exam *e) {
  static const struct {
    const char *name;
    void (*examine)(encoding_exam *e);
  } all[] = {{"integer", encoding_examine_integer},
             {"binary", encoding_examine_binary},
             {"learned", encoding_examine_learned},
             {"alibi", encoding_examine_alibi},
             {"dropout", encoding_examine_dropout}};
  for (size_t n = 0; n < sizeof all / sizeof *all; n++)
    if (strcmp(e->encoding->name, all[n].name) == 0) all[n].examine(e);
}

static encoding_exam exam_of(const encoding_task *of) {
  const run_exam *asked = &of->request->exam;
  return (encoding_exam){
      .encoding = of->encoding, .by = asked->encoders ? asked->encoders : &encoders_library, .seed = asked->seed};
}

void encoding_worker(void *argument) {
  encoding_exam e = exam_of(argument);
  record_memory memory = {NULL};
  arena_tell_faults();
  e.in = &memory;
  examine_shapes(&e);
  const record_encodings told = {.records = e.records, .records_count = e.record_count};
  record_send(record_write_encodings(&told));
  free(e.records);
  record_release(&memory);
}

record_encoded encoding_ended_early(const encoding_task *of, const record_check *only, record_memory *in) {
  const encoding_exam e = exam_of(of);
  return (record_encoded){.kernel = of->encoding->name,
                          .shape = {.there = true, .name = "all"},
                          .has_refusal = true,
                          .replay = replay_of(&e, in),
                          .checks = only,
                          .checks_count = 1};
}
