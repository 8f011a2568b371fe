/* SPDX-License-Identifier: MIT */
#include "records/print.h"

#include "common/contract.h"
#include "common/field.h"

#include <inttypes.h>
#include <string.h>

static void print_worst(const record_explained_error *worst, const char *prefix, FILE *stream) {
  const record_signed_parts *parts = &worst->parts;
  fprintf(stream,
          "%sthe largest error, %+.3g at p = %" PRId64 ", i = %" PRId64
          ", %s: frequency %+.3g, phase %+.3g, trig %+.3g, store %+.3g\n",
          prefix, worst->error, worst->position, worst->index, worst->function, parts->frequency, parts->phase,
          parts->trig, parts->store);
}

static void print_rows(const record_explanation *explained, const char *prefix, FILE *stream) {
  fprintf(stream, "%smean size of each part, up to 16 rows from\n%s%20s %10s %10s %10s %10s\n", prefix, prefix,
          "position", "frequency", "phase", "trig", "store");
  RECORD_EACH(one, explained, rows)
    fprintf(stream, "%s%20" PRId64 " %10.3g %10.3g %10.3g %10.3g\n", prefix, one->position, one->parts.frequency,
            one->parts.phase, one->parts.trig, one->parts.store);
}

void record_print_explained(const record_result *result, const char *prefix, FILE *stream) {
  const record_explanation *explained = &result->explain;
  if (result->has_explain && !result->explain.there)
    fprintf(stream, "%sno telling where its error comes from: %s\n", prefix,
            strcmp(result->shape.op, "table") == 0 ? STAGES_UNTOLD : "stages are of tables");
  if (explained->worst.there) print_worst(&explained->worst, prefix, stream);
  if (explained->rows_count > 0) print_rows(explained, prefix, stream);
}

/* Whether the errors of the result were not judged because the contract has no bound. */
static bool lacks_bound(const json_t *result) {
  const json_t *accurate = field_find(json_object_get(result, "checks"), "property", "accuracy");
  return strcmp(field_string(accurate, "note"), CONTRACT_WITHOUT_BOUND) == 0;
}

/* Returns why the result of a kernel proves nothing; null if it does. */
static const char *emptiness_of(const json_t *result) {
  if (json_integer_value(json_object_get(result, "elements")) > 0)
    return lacks_bound(result) ? "its errors were " CONTRACT_WITHOUT_BOUND : NULL;
  if (json_integer_value(json_object_get(result, "of"))) return "no element was compared";
  return "the table is empty, nothing was compared";
}

const char *record_mistrust(const json_t *record, char *text, size_t size) {
  size_t i;
  json_t *result;
  bool any = false;
  const json_t *uncompared = json_object_get(record, "uncompared");
  if (json_array_size(uncompared)) {
    const char *more = json_array_size(uncompared) > 1 ? " and others" : "",
               *name = json_string_value(json_array_get(uncompared, 0));
    snprintf(text, size, "the baseline has %.60s%s, of which nothing was compared with it", name ? name : "", more);
    return text;
  }
  json_array_foreach(json_object_get(record, "records"), i, result) {
    if (!json_object_get(result, "mode")) continue; /* the kernel refused or died */
    any = true;
    const char *why = emptiness_of(result);
    if (!why) continue;
    snprintf(text, size, "%s on %s: %s", json_string_value(json_object_get(result, "kernel")),
             json_string_value(json_object_get(json_object_get(result, "shape"), "name")), why);
    return text;
  }
  if (any || json_integer_value(json_object_get(record, "failed")) > 0) return NULL;
  if (json_object_get(record, "shard")) return NULL; /* a shard may have no elements */
  snprintf(text, size, "no kernel did any of the tables");
  return text;
}
