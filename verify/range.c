/* SPDX-License-Identifier: MIT */
#include "verify/range.h"

#include "common/digest.h"
#include "common/field.h"

/* ---- segments ------------------------------------------------------------------------------------------------- */

void segment_take(segment *taken, accuracy *found, uint64_t *digest) {
  *taken = (segment){found->sum_ulp, found->sum_abs, *digest};
  found->sum_ulp = found->sum_abs = 0.0;
  *digest = DIGEST_START;
}

uint64_t segments_join(const segment *all, int64_t count, accuracy *found) {
  uint64_t digest = DIGEST_START;
  for (int64_t n = 0; n < count; n++) {
    found->sum_ulp += all[n].sum_ulp;
    found->sum_abs += all[n].sum_abs;
    digest = digest_of(digest, (const unsigned char *)&all[n].digest, sizeof all[n].digest);
  }
  return count == 1 ? all[0].digest : digest;
}

/* ---- a part, as JSON ------------------------------------------------------------------------------------------- */

json_t *range_json(range r) {
  return json_pack("{s:I, s:I, s:I}", "from", (json_int_t)r.from, "to", (json_int_t)r.to, "of", (json_int_t)r.of);
}

json_t *segments_json(const segment *all, int64_t count) {
  json_t *list = json_array();
  for (int64_t n = 0; n < count; n++)
    json_array_append_new(list, json_pack("{s:o, s:o, s:s}", "sum_ulp", field_real(all[n].sum_ulp), "sum_abs",
                                          field_real(all[n].sum_abs), "digest", digest_hex(all[n].digest).text));
  return list;
}

json_t *range_check_json(const check *c) {
  return json_pack("{s:I, s:o, s:I, s:I, s:b}", "broken", (json_int_t)c->broken, "share", field_real(c->share),
                   "position", (json_int_t)c->position, "index", (json_int_t)c->index, "noted", *c->note != '\0');
}

json_t *range_figures(const accuracy *a, int64_t elements, uint64_t digest, range_witnesses shown, json_t *checks) {
  const double counted = a->elements ? (double)a->elements : 1.0;
  return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "digest", digest_hex(digest).text,
                   "elements", (json_int_t)elements, "max_ulp", shown.max_ulp, "max_abs", shown.max_abs, "worst",
                   shown.worst, "mean_ulp", field_real(a->sum_ulp / counted), "mean_abs",
                   field_real(a->sum_abs / counted), "misrounded", (json_int_t)a->misrounded, "histogram",
                   record_histogram(a), "by_position", record_by_position(a), "checks", checks);
}
