/* SPDX-License-Identifier: MIT */
#include "verify/octaves.h"

#include "common/field.h"

octave *octaves_at(octaves *all, int64_t position) {
  const uint64_t size = position < 0 ? -(uint64_t)position : (uint64_t)position;
  return &all->of[(position < 0 ? 0 : OCTAVES) + (size ? 64 - __builtin_clzll(size) : 0)];
}

void octaves_sum(const octaves *all, accuracy *found) {
  for (int n = 0; n < 2 * OCTAVES; n++) accuracy_merge(found, &all->of[n].found);
}

json_t *octaves_json(const octaves *all, const double *positions) {
  json_t *array = json_array();
  for (int n = 0; n < 2 * OCTAVES; n++) {
    const octave *in = &all->of[n < OCTAVES ? OCTAVES - 1 - n : n];
    if (in->rows == 0) continue;
    json_t *position = positions ? json_real(positions[in->first]) : json_integer(in->first);
    json_array_append_new(array, json_pack("{s:o, s:I, s:o, s:o, s:o, s:I}", "position", position, "rows",
                                           (json_int_t)in->rows, "max_ulp", field_real(in->found.max_ulp.ulp),
                                           "max_abs", field_real(in->found.max_abs.abs), "mean_abs",
                                           field_real(in->found.sum_abs / (double)in->found.elements), "misrounded",
                                           (json_int_t)in->found.misrounded));
  }
  return array;
}
