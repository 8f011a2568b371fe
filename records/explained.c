/* SPDX-License-Identifier: MIT */
#include "records/print.h"

#include "common/contract.h"

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

/* Returns why the result of a kernel proves nothing; null if it does. */
static const char *emptiness_of(const record_result *result) {
  const record_check *accurate = record_find_check(result->checks, result->checks_count, "accuracy");
  if (result->elements == 0) return result->of ? "no element was compared" : "the table is empty, nothing was compared";
  return accurate && strcmp(accurate->note, CONTRACT_WITHOUT_BOUND) == 0 ? "its errors were " CONTRACT_WITHOUT_BOUND
                                                                         : NULL;
}

/* As record_mistrust. */
static const char *mistrust(const record_accuracy *record, char *text, size_t size) {
  bool any = false;
  if (record->uncompared_count) {
    const char *more = record->uncompared_count > 1 ? " and others" : "";
    snprintf(text, size, "the baseline has %.60s%s, of which nothing was compared with it", record->uncompared[0],
             more);
    return text;
  }
  RECORD_EACH(result, record, records) {
    if (!*result->mode) continue; /* the kernel refused or died */
    any = true;
    const char *why = emptiness_of(result);
    if (!why) continue;
    snprintf(text, size, "%s on %s: %s", result->kernel, result->shape.name, why);
    return text;
  }
  if (any || record->failed > 0 || record->shard.there) return NULL; /* a shard may have no elements */
  snprintf(text, size, "no kernel did any of the tables");
  return text;
}

const char *record_mistrust(const json_t *record, char *text, size_t size) {
  const record_accuracy *taken = record_take_accuracy(record);
  const char *why = mistrust(taken, text, size);
  record_free(taken);
  return why;
}
