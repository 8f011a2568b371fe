/* SPDX-License-Identifier: MIT */
#include "verify/join.h"

#include "common/field.h"
#include "verify/range.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of that key. Null in the record stands for infinity. */
static double real(const json_t *holder, const char *key) {
  return field_number_or(holder, key, INFINITY);
}

/* Returns a witness for comparisons. Its index counts the pairs of all heads; no row has 2^32 pairs. */
static witness witness_of(const json_t *part, const char *key) {
  const json_t *from = json_object_get(part, key);
  const char *function = field_string(from, "function");
  return (witness){.ulp = real(from, "ulp"),
                   .abs = real(from, "abs"),
                   .position = field_integer(from, "position"),
                   .index =
                       (int64_t)((uint64_t)field_integer(from, "head") << 32 | (uint32_t)field_integer(from, "index")),
                   .cosine = strcmp(function, "cos") == 0 || strcmp(function, "second") == 0};
}

static check check_of(const json_t *from) {
  const json_t *found = json_object_get(from, "found");
  check c = {.compared = field_integer(from, "compared"),
             .broken = field_integer(found, "broken"),
             .worst = real(from, "worst"),
             .bound = real(from, "bound"),
             .share = real(found, "share"),
             .position = field_integer(found, "position"),
             .index = field_integer(found, "index")};
  const char *note = field_string(from, "note");
  if (json_is_true(json_object_get(found, "noted"))) snprintf(c.note, sizeof c.note, "%s", note);
  if (json_is_true(json_object_get(from, "skipped"))) c.skip = note;
  return c;
}

/* Returns the results of a part, without the sums. */
static accuracy accuracy_of(const json_t *part) {
  const json_t *bins = json_object_get(part, "histogram"), *each;
  size_t i;
  const check held = check_of(json_array_get(json_object_get(part, "checks"), ACCURACY));
  accuracy a = {.misrounded = field_integer(part, "misrounded"),
                .held = held.compared,
                .beyond = held.broken,
                .max_ulp = witness_of(part, "max_ulp"),
                .max_abs = witness_of(part, "max_abs"),
                .worst_share = held.share,
                .worst = witness_of(part, "worst")};
  for (int b = 0; b < ACCURACY_BINS; b++)
    a.elements += a.bins[b] = field_integer(json_array_get(bins, (size_t)b), "count");
  json_array_foreach(json_object_get(part, "by_position"), i, each)
      a.most[accuracy_range(field_integer(each, "from"))] =
      (element_error){real(each, "max_ulp"), real(each, "max_abs")};
  return a;
}

/* Returns the witness of the part that has the witness of all parts, a new reference. */
static json_t *shown_of(json_t *const *parts, size_t count, const char *key, const witness *of_all) {
  for (size_t i = 0; i < count; i++) {
    const witness w = witness_of(parts[i], key);
    if (w.position == of_all->position && w.index == of_all->index && w.cosine == of_all->cosine)
      return json_incref(json_object_get(parts[i], key));
  }
  return json_incref(json_object_get(parts[0], key));
}

/* Returns a check of all parts. The first part makes all checks. If it skipped one because it has no rows, the check
   counts if another part has rows. */
static json_t *check_joined(json_t *const *parts, size_t count, size_t number) {
  const json_t *first = json_array_get(json_object_get(parts[0], "checks"), number);
  const char *name = field_string(first, "property");
  check all = {.compared = 0};
  for (size_t i = 0; i < count; i++) {
    const json_t *from = json_array_get(json_object_get(parts[i], "checks"), number);
    const check c = check_of(from);
    if (strcmp(field_string(from, "property"), name) != 0) return NULL;
    if (!json_is_object(json_object_get(from, "found")) || json_is_true(json_object_get(from, "ok")) != check_ok(&c))
      return NULL;
    if (i == 0) all.skip = c.skip;
    if (i > 0 && all.compared == 0 && (c.compared || c.broken)) all.skip = NULL;
    check_merge(&all, &c);
    if (!*all.note) memcpy(all.note, c.note, sizeof all.note);
  }
  return record_check(name, &all);
}

static json_t *checks_joined(json_t *const *parts, size_t count) {
  const size_t checks = json_array_size(json_object_get(parts[0], "checks"));
  for (size_t i = 1; i < count; i++)
    if (json_array_size(json_object_get(parts[i], "checks")) != checks) return NULL;
  json_t *list = json_array();
  for (size_t n = 0; list && n < checks; n++)
    if (json_array_append_new(list, check_joined(parts, count, n)) != 0) return json_decref(list), NULL;
  return list;
}

/* Adds the segments of a part. Returns false if they are not those of its range. */
static bool add_segments(segment *all, int64_t of, const json_t *part) {
  const json_t *r = json_object_get(part, "range"), *list = json_object_get(part, "segments"), *each;
  const json_int_t from = field_integer(r, "from"), to = field_integer(r, "to");
  size_t i;
  if (from < 0 || from > to || to > of || (json_int_t)json_array_size(list) != to - from) return false;
  json_array_foreach(list, i, each) all[from + (json_int_t)i] =
      (segment){real(each, "sum_ulp"), real(each, "sum_abs"), strtoull(field_string(each, "digest"), NULL, 16)};
  return true;
}

static json_t *joined(json_t *const *parts, size_t count, const segment *segments, int64_t of) {
  accuracy found = {0};
  json_int_t elements = 0;
  for (size_t i = 0; i < count; i++) {
    const accuracy mine = accuracy_of(parts[i]);
    accuracy_merge(&found, &mine);
    elements += field_integer(parts[i], "elements");
  }
  json_t *made = json_copy(parts[0]), *checks = checks_joined(parts, count);
  const uint64_t digest = segments_join(segments, of, &found);
  const range_witnesses shown = {shown_of(parts, count, "max_ulp", &found.max_ulp),
                                 shown_of(parts, count, "max_abs", &found.max_abs),
                                 shown_of(parts, count, "worst", &found.worst)};
  json_t *figures = range_figures(&found, elements, digest, shown, checks); /* null if one of the arguments is null */
  json_object_del(made, "range");
  json_object_del(made, "segments");
  const bool ok = made && figures && json_object_update(made, figures) == 0;
  json_decref(figures);
  if (ok) return made;
  json_decref(made);
  return NULL;
}

/* Returns the first part whose kernel refused the shape or crashed, as the whole exam would have done; null if there is
   none. */
static json_t *ended(json_t *const *parts, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!*field_string(parts[i], "mode")) return parts[i];
  return NULL;
}

json_t *verify_join(json_t *const *parts, size_t count) {
  const int64_t of = field_integer(json_object_get(parts[0], "range"), "of");
  json_t *end = ended(parts, count), *made;
  if (end) {
    made = json_copy(end);
    json_object_del(made, "range");
    return made;
  }
  segment *segments = of > 0 ? calloc((size_t)of, sizeof *segments) : NULL;
  bool ok = segments;
  for (size_t i = 0; ok && i < count; i++) ok = add_segments(segments, of, parts[i]);
  made = ok ? joined(parts, count, segments, of) : NULL;
  free(segments);
  return made;
}
