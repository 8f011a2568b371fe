/* SPDX-License-Identifier: MIT */
#include "records/print.h"

#include "common/contract.h"
#include "common/field.h"

#include <string.h>

static const char *const names[] = {"frequency", "phase", "trig", "store"};
enum { PARTS = sizeof names / sizeof *names };

static void print_worst(const json_t *worst, const char *prefix, FILE *stream) {
  fprintf(stream,
          "%sthe largest error, %+.3g at p = %" JSON_INTEGER_FORMAT ", i = %" JSON_INTEGER_FORMAT ", %s:", prefix,
          field_number(worst, "error"), json_integer_value(json_object_get(worst, "position")),
          json_integer_value(json_object_get(worst, "index")), field_string(worst, "function"));
  for (int n = 0; n < PARTS; n++)
    fprintf(stream, "%s %s %+.3g", n ? "," : "", names[n], field_number(json_object_get(worst, "parts"), names[n]));
  fputc('\n', stream);
}

static void print_rows(const json_t *rows, const char *prefix, FILE *stream) {
  size_t i;
  json_t *one;
  fprintf(stream, "%smean size of each part, up to 16 rows from\n%s%20s", prefix, prefix, "position");
  for (int n = 0; n < PARTS; n++) fprintf(stream, " %10s", names[n]);
  fputc('\n', stream);
  json_array_foreach(rows, i, one) {
    fprintf(stream, "%s%20" JSON_INTEGER_FORMAT, prefix, json_integer_value(json_object_get(one, "position")));
    for (int n = 0; n < PARTS; n++) fprintf(stream, " %10.3g", field_number(json_object_get(one, "parts"), names[n]));
    fputc('\n', stream);
  }
}

void record_print_explained(const json_t *record, const char *prefix, FILE *stream) {
  const json_t *explained = json_object_get(record, "explain"), *worst = json_object_get(explained, "worst"),
               *rows = json_object_get(explained, "rows");
  const char *op = field_string(json_object_get(record, "shape"), "op");
  if (json_is_null(explained))
    fprintf(stream, "%sno telling where its error comes from: %s\n", prefix,
            strcmp(op, "table") == 0 ? STAGES_UNTOLD : "stages are of tables");
  if (json_is_object(worst)) print_worst(worst, prefix, stream);
  if (json_array_size(rows) > 0) print_rows(rows, prefix, stream);
}

const char *record_mistrust(const json_t *record, char *text, size_t size) {
  size_t i;
  json_t *result;
  bool any = false;
  json_array_foreach(json_object_get(record, "records"), i, result) {
    if (!json_object_get(result, "mode")) continue; /* refused, or dead */
    any = true;
    if (json_integer_value(json_object_get(result, "elements")) > 0) continue;
    snprintf(text, size, "%s on %s: %s", json_string_value(json_object_get(result, "kernel")),
             json_string_value(json_object_get(json_object_get(result, "shape"), "name")),
             json_integer_value(json_object_get(result, "of")) ? "no element was compared"
                                                               : "the table is empty, nothing was compared");
    return text;
  }
  if (any || json_integer_value(json_object_get(record, "failed")) > 0) return NULL;
  if (json_object_get(record, "shard")) return NULL; /* it may have nothing to do */
  snprintf(text, size, "no kernel did any of the tables");
  return text;
}
