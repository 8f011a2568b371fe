/* SPDX-License-Identifier: MIT */
#include "reports/model/causes.h"

#include "common/field.h"

const char *const cause_names[CAUSES] = {"frequency", "phase", "trig", "store"};

static const double notable = 0.2;

/* ---- points ---- */

/* Returns the sum of the parts, NaN if one is missing. */
static double sum_of(const record_parts *parts) {
  return parts->frequency + parts->phase + parts->trig + parts->store;
}

/* Returns the points from position 1 on whose parts are known and not all 0. */
static json_t *points_of(const record_profile *profile) {
  json_t *made = json_array();
  RECORD_EACH(point, profile, points) {
    const record_parts *parts = &point->parts;
    const double sum = sum_of(parts);
    if (point->position < 1 || !isfinite(sum) || !(sum > 0)) continue;
    json_t *shares =
        json_pack("{s:f, s:f, s:f, s:f}", cause_names[0], parts->frequency / sum, cause_names[1], parts->phase / sum,
                  cause_names[2], parts->trig / sum, cause_names[3], parts->store / sum);
    field_append(made, json_pack("{s:I, s:O, s:f, s:o}", "position", (json_int_t)point->position, "parts", parts->json,
                                 "sum", sum, "shares", shares));
  }
  return made;
}

/* ---- spans ---- */

static double share_of(const json_t *points, size_t number, size_t cause) {
  return field_number(json_object_get(json_array_get(points, number), "shares"), cause_names[cause]);
}

/* Returns the causes of most of a point's error, as a set. */
static unsigned notable_causes(const json_t *points, size_t number) {
  unsigned causes = 0;
  for (unsigned i = 0; i < CAUSES; i++)
    if (share_of(points, number, i) >= notable) causes |= 1u << i;
  return causes;
}

/* Returns the smallest and the largest share of each of these causes over points [from, to). */
static json_t *ranges_of(const json_t *points, size_t from, size_t to, unsigned causes) {
  json_t *ranges = json_object();
  for (size_t i = 0; i < CAUSES; i++) {
    double least = INFINITY, most = 0;
    if (!(causes & 1u << i)) continue;
    for (size_t k = from; k < to; k++) {
      least = fmin(least, share_of(points, k, i));
      most = fmax(most, share_of(points, k, i));
    }
    field_put(ranges, cause_names[i], json_pack("{s:f, s:f}", "least", least, "most", most));
  }
  return ranges;
}

static json_t *spans_of(const json_t *points) {
  json_t *spans = json_array();
  for (size_t from = 0, to; from < json_array_size(points); from = to) {
    const unsigned causes = notable_causes(points, from);
    for (to = from + 1; to < json_array_size(points); to++)
      if (notable_causes(points, to) != causes) break;
    field_append(spans, json_pack("{s:O, s:O, s:o}", "from", json_object_get(json_array_get(points, from), "position"),
                                  "to", json_object_get(json_array_get(points, to - 1), "position"), "shares",
                                  ranges_of(points, from, to, causes)));
  }
  return spans;
}

/* ---- kernels with the same points ---- */

static json_t *find_points(const json_t *groups, const json_t *points) {
  for (size_t i = 0; i < json_array_size(groups); i++) {
    json_t *group = json_array_get(groups, i);
    if (json_equal(json_object_get(group, "points"), points)) return group;
  }
  return NULL;
}

/* Adds a kernel to the group with the same points. */
static void add_kernel(json_t *groups, const char *kernel, json_t *points) {
  json_t *group = find_points(groups, points);
  if (group)
    field_append(json_object_get(group, "kernels"), json_string(kernel));
  else
    field_append(groups,
                 json_pack("{s:[s], s:O, s:o}", "kernels", kernel, "points", points, "spans", spans_of(points)));
}

json_t *causes_make(const record_accuracy *record) {
  json_t *groups = json_array();
  RECORD_EACH(profile, record, profile) {
    json_t *points = points_of(profile);
    if (json_array_size(points)) add_kernel(groups, profile->kernel, points); /* without stages there are none */
    json_decref(points);
  }
  return groups;
}
