/* SPDX-License-Identifier: MIT */
#include "reports/model/causes.h"

#include "common/field.h"

const char *const cause_names[CAUSES] = {"frequency", "phase", "trig", "store"};

static const double notable = 0.2;

/* The object or array that something was put in, with what jansson said to that: null, and freed, if memory ran out. */
static json_t *kept(json_t *holder, int refused) {
  if (!refused) return holder;
  json_decref(holder);
  return NULL;
}

/* ---- points ---- */

/* Sum of the parts; NaN if one is missing. */
static double sum_of(const json_t *parts) {
  double sum = 0;
  for (size_t i = 0; i < CAUSES; i++) sum += field_number(parts, cause_names[i]);
  return sum;
}

static json_t *shares_of(const json_t *parts, double sum) {
  json_t *shares = json_object();
  for (size_t i = 0; i < CAUSES; i++) {
    const double share = field_number(parts, cause_names[i]) / sum;
    shares = kept(shares, json_object_set_new(shares, cause_names[i], json_real(share)));
  }
  return shares;
}

/* The points from position 1 on that have parts, not all 0. Null when memory runs out. */
static json_t *points_of(const json_t *profile) {
  const json_t *points = json_object_get(profile, "points");
  json_t *made = json_array();
  for (size_t i = 0; i < json_array_size(points); i++) {
    const json_t *point = json_array_get(points, i);
    json_t *parts = json_object_get(point, "parts");
    const double sum = sum_of(parts);
    if (field_number(point, "position") < 1 || !isfinite(sum) || !(sum > 0)) continue;
    json_t *one = json_pack("{s:O, s:O, s:f, s:o}", "position", json_object_get(point, "position"), "parts", parts,
                            "sum", sum, "shares", shares_of(parts, sum));
    made = kept(made, json_array_append_new(made, one));
  }
  return made;
}

/* ---- spans ---- */

/* The causes that a point's error is mostly made of, as a set. */
static unsigned notable_causes(const json_t *point) {
  unsigned causes = 0;
  for (unsigned i = 0; i < CAUSES; i++)
    if (field_number(json_object_get(point, "shares"), cause_names[i]) >= notable) causes |= 1u << i;
  return causes;
}

/* Least and most share of each of these causes over points [from, to). */
static json_t *ranges_of(const json_t *points, size_t from, size_t to, unsigned causes) {
  json_t *ranges = json_object();
  for (size_t i = 0; i < CAUSES; i++) {
    double least = INFINITY, most = 0;
    if (!(causes & 1u << i)) continue;
    for (size_t k = from; k < to; k++) {
      const double share = field_number(json_object_get(json_array_get(points, k), "shares"), cause_names[i]);
      least = fmin(least, share);
      most = fmax(most, share);
    }
    json_t *range = json_pack("{s:f, s:f}", "least", least, "most", most);
    ranges = kept(ranges, json_object_set_new(ranges, cause_names[i], range));
  }
  return ranges;
}

/* Null when memory runs out. */
static json_t *spans_of(const json_t *points) {
  json_t *spans = json_array();
  for (size_t from = 0, to; from < json_array_size(points); from = to) {
    const unsigned causes = notable_causes(json_array_get(points, from));
    for (to = from + 1; to < json_array_size(points); to++)
      if (notable_causes(json_array_get(points, to)) != causes) break;
    json_t *span = json_pack("{s:O, s:O, s:o}", "from", json_object_get(json_array_get(points, from), "position"), "to",
                             json_object_get(json_array_get(points, to - 1), "position"), "shares",
                             ranges_of(points, from, to, causes));
    spans = kept(spans, json_array_append_new(spans, span));
  }
  return spans;
}

/* ---- kernels with the same points are one ---- */

static json_t *find_points(const json_t *groups, const json_t *points) {
  for (size_t i = 0; i < json_array_size(groups); i++) {
    json_t *group = json_array_get(groups, i);
    if (json_equal(json_object_get(group, "points"), points)) return group;
  }
  return NULL;
}

/* Takes the points. Not 0 when memory runs out. */
static int add_kernel(json_t *groups, const char *kernel, json_t *points) {
  json_t *group = find_points(groups, points);
  if (!group)
    return json_array_append_new(
        groups, json_pack("{s:[s], s:o, s:o}", "kernels", kernel, "points", points, "spans", spans_of(points)));
  json_decref(points);
  return json_array_append_new(json_object_get(group, "kernels"), json_string(kernel));
}

json_t *causes_make(const json_t *profile) {
  json_t *groups = json_array();
  for (size_t i = 0; groups && i < json_array_size(profile); i++) {
    const json_t *entry = json_array_get(profile, i);
    json_t *points = points_of(entry);
    if (points && json_array_size(points) == 0)
      json_decref(points); /* it tells no parts */
    else
      groups = kept(groups, add_kernel(groups, field_string(entry, "kernel"), points));
  }
  return groups;
}
