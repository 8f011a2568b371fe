/* SPDX-License-Identifier: MIT */
#include "verify/record.h"

#include "common/field.h"

#include <inttypes.h>
#include <stdio.h>

json_t *record_hex(double x) {
  char text[40];
  snprintf(text, sizeof text, "%a", x);
  return json_string(text);
}

json_t *record_name(const char *name) {
  return field_name(name, "#");
}

json_t *record_witness(const witness *w, json_t *replay) {
  return json_pack("{s:o, s:o, s:I, s:I, s:s, s:o, s:o, s:o}", "ulp", field_real(w->ulp), "abs", field_real(w->abs),
                   "position", (json_int_t)w->position, "index", (json_int_t)w->index, "function",
                   w->cosine ? "cos" : "sin", "exact", record_hex(w->exact_high), "got", record_hex(w->got), "replay",
                   replay);
}

json_t *record_histogram(const accuracy *a) {
  json_t *bins = json_array();
  for (int b = 0; b < ACCURACY_BINS; b++)
    json_array_append_new(
        bins, json_pack("{s:o, s:I}", "below", field_real(accuracy_bin_end(b)), "count", (json_int_t)a->bins[b]));
  return bins;
}

json_t *record_by_position(const accuracy *a) {
  json_t *ranges = json_array();
  for (int r = 0; r < ACCURACY_RANGES; r++) {
    const element_error *most = &a->most[r];
    if (!(most->abs > 0.0)) continue; /* no elements, or no errors */
    json_array_append_new(ranges, json_pack("{s:I, s:o, s:o}", "from", (json_int_t)accuracy_range_begin(r), "max_ulp",
                                            field_real(most->ulp), "max_abs", field_real(most->abs)));
  }
  return ranges;
}

json_t *record_check(const char *name, const check *c) {
  char text[sizeof c->note];
  if (c->skip || *c->note)
    snprintf(text, sizeof text, "%s", c->skip ? c->skip : c->note);
  else if (c->broken && c->index >= 0)
    snprintf(text, sizeof text,
             "%" PRId64 " of %" PRId64 " beyond the bound; the worst at p = %" PRId64 ", i = %" PRId64, c->broken,
             c->compared, c->position, c->index);
  else if (c->broken)
    snprintf(text, sizeof text, "%" PRId64 " of %" PRId64 " wrong; the first at p = %" PRId64, c->broken, c->compared,
             c->position);
  else
    *text = '\0';
  return json_pack("{s:s, s:b, s:b, s:o, s:o, s:I, s:s}", "property", name, "ok", check_ok(c), "skipped",
                   c->skip != NULL, "worst", field_real(c->worst), "bound", field_real(c->bound), "compared",
                   (json_int_t)c->compared, "note", text);
}

json_t *record_command(const char *command) {
  json_t *text = json_string(command);
  return text ? text : json_string("posenc check");
}
