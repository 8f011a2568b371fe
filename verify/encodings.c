/* SPDX-License-Identifier: MIT */
#include "verify/encodings.h"

#include "common/contract.h"
#include "common/environment.h"
#include "common/field.h"
#include "common/isolate.h"
#include "common/random.h"
#include "common/work.h"
#include "verify/record.h"

#include <errno.h>
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
  e->digest = digest_of(e->digest, out, (size_t)elements * posenc_dtype_bytes(e->dtype));
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
  return random_below(random, 8) ? x : ldexp(x, (int)random_below(random, wide ? 100 : 20) - (wide ? 50 : 10));
}

/* ---- the record ------------------------------------------------------------------------------------------------ */

json_t *encoding_replay(const encoding_exam *e) {
  return json_sprintf("posenc verify --encoding %s --seed %" PRIu64, e->encoding->name, e->request->seed);
}

static json_t *witness_of(const encoding_exam *e, const witness *w) {
  json_t *shown = replayed_witness(w, encoding_replay(e));
  json_object_set_new(shown, "function", json_string(e->encoding->name));
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

void encoding_end(encoding_exam *e, const char *called) {
  const accuracy *a = &e->found;
  const double counted = a->elements ? (double)a->elements : 1.0;
  json_t *checks = json_array();
  char digest[17];
  check_bound(&e->checks[ACCURACY], a);
  for (size_t n = 0; n < sizeof in_order / sizeof *in_order; n++) {
    check *c = &e->checks[in_order[n]];
    if (c->compared && c->broken && !*c->note && in_order[n] != ACCURACY)
      snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " wrong; the first of the worst at p = %" PRId64,
               c->broken, c->compared, c->position);
    if (c->compared) json_array_append_new(checks, check_json(property_name(in_order[n]), c));
  }
  snprintf(digest, sizeof digest, "%016" PRIx64, e->digest);
  json_array_append_new(
      e->records,
      json_pack("{s:s, s:{s:s}, s:n, s:o, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "kernel",
                e->encoding->name, "shape", "name", called, "refusal", "replay", encoding_replay(e), "digest", digest,
                "mode", "sampled", "elements", (json_int_t)a->elements, "max_ulp", witness_of(e, &a->max_ulp),
                "max_abs", witness_of(e, &a->max_abs), "worst", witness_of(e, &a->worst), "mean_ulp",
                field_real(a->sum_ulp / counted), "mean_abs", field_real(a->sum_abs / counted), "misrounded",
                (json_int_t)a->misrounded, "histogram", record_histogram(a), "checks", checks));
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

static void examine(encoding_exam *e) {
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

static void examine_in_worker(void *argument) {
  encoding_exam *e = argument;
  arena_tell_faults();
  e->records = json_array();
  examine(e);
  record_send(e->records);
}

/* Returns the records of an encoding; if its process died, one that says so. Null if no process could be created. */
static json_t *examined(encoding_exam *e) {
  const posenc_kernel named = {.name = e->encoding->name}, *const at_work = &named;
  isolated end = isolate(examine_in_worker, e,
                         &(isolation){.kernels = &at_work, .kernel_count = 1, .silence = e->request->silence});
  json_t *records = record_received(&end);
  if (records || end.how == ENDED_FORK_FAILED) return records;
  check broken = {.compared = 1, .broken = 1, .worst = 1.0};
  describe_exit(&end, broken.note, sizeof broken.note);
  return json_pack("[{s:s, s:{s:s}, s:n, s:o, s:[o]}]", "kernel", e->encoding->name, "shape", "name", "all", "refusal",
                   "replay", encoding_replay(e), "checks", check_json(property_name(SURVIVAL), &broken));
}

json_t *verify_encodings(const encodings_request *request) {
  json_t *records = json_array(), *encodings = json_array();
  json_int_t passed = 0, failed = 0;
  for (size_t i = 0; i < request->count; i++) {
    encoding_exam e = {.request = request, .encoding = request->encodings[i]};
    json_array_append_new(encodings, encoding_json(e.encoding));
    if (e.encoding->by_kernels) continue;
    json_t *found = examined(&e), *one, *each;
    size_t n, c;
    if (!found) {
      json_decref(records);
      json_decref(encodings);
      errno = EAGAIN;
      return NULL;
    }
    json_array_foreach(found, n, one) json_array_foreach(json_object_get(one, "checks"), c, each) *
        (json_is_true(json_object_get(each, "ok")) ? &passed : &failed) += 1;
    json_array_extend(records, found);
    json_decref(found);
  }
  return json_pack("{s:s, s:o, s:[], s:o, s:I, s:o, s:I, s:I, s:i}", "schema", "posenc-encodings-1", "environment",
                   environment_json(), "kernels", "encodings", encodings, "seed", (json_int_t)request->seed, "records",
                   records, "passed", passed, "failed", failed, "skipped", 0);
}
