/* SPDX-License-Identifier: MIT */
#include "reports/model/compose.h"

#include "common/field.h"
#include "common/memory.h"
#include "records/statistics.h"

#include <stdlib.h>

static const char mode[] = "hot", counter[] = "limit_bytes_per_second";

/* Returns the width of the middle half of n sorted numbers, or a little more, as a share of their median; NaN if n is
   1. */
static double middle_half(const double *sorted, size_t n, double median) {
  return n > 1 ? (sorted[n - 1 - n / 4] - sorted[n / 4]) / median : NAN;
}

static double most_turns(const samples *times) {
  double most = 0;
  for (size_t i = 0; i < times->count; i++) most = fmax(most, times->all[i].entry->turn); /* fmax ignores NaN */
  return most;
}

typedef struct found {
  double *halves, *early,
      *late; /* room for a number of every sample; the latter two are shares of the median of a shape */
  size_t shapes, half_count, early_count, late_count, measured;
  double worst;
  const char *shape;
} found;

/* Adds a shape, all of whose repetitions are adjacent in the order by name. */
static void add_shape(found *f, samples *times, size_t first, size_t end, double turns) {
  const char *shape = times->by_name[first]->shape;
  const size_t count = samples_collect(times, mode, shape, NULL, counter);
  if (count == 0) return;
  const double median = statistics_median(times->values, count); /* sorts the values */
  const double half = middle_half(times->values, count, median);
  f->measured += count;
  if (!(median > 0)) return;
  f->shapes++;
  if (isfinite(half)) {
    f->halves[f->half_count++] = half;
    if (!f->shape || half > f->worst) {
      f->worst = half;
      f->shape = shape;
    }
  }
  for (size_t i = first; i < end; i++) {
    const record_benchmark *entry = times->by_name[i]->entry;
    const double turn = entry->turn, share = entry->limit_bytes_per_second / median;
    if (!isfinite(share) || !(share > 0) || !isfinite(turn)) continue;
    if (turn <= turns / 3) f->early[f->early_count++] = share;
    if (turn > turns * 2 / 3) f->late[f->late_count++] = share;
  }
}

json_t *stability_make(samples *times, double others) {
  found f = {.halves = memory_take(times->count, sizeof *f.halves),
             .early = memory_take(times->count, sizeof *f.early),
             .late = memory_take(times->count, sizeof *f.late)};
  const double turns = most_turns(times);
  for (size_t first = 0, end; first < times->count; first = end) {
    const sample *one = times->by_name[first];
    for (end = first + 1; end < times->count && strcmp(times->by_name[end]->mode, one->mode) == 0 &&
                          strcmp(times->by_name[end]->shape, one->shape) == 0;)
      end++;
    if (strcmp(one->mode, mode) == 0) add_shape(&f, times, first, end, turns);
  }
  const bool turned = f.early_count && f.late_count;
  json_t *drift = turned ? samples_ratio_of(f.early, f.early_count, f.late, f.late_count) : json_null();
  const double typical = f.half_count ? statistics_median(f.halves, f.half_count) : NAN;
  json_t *made = !f.shapes ? json_null()
                           : json_pack("{s:I, s:I, s:o, s:o, s:s?, s:o, s:o}", "measured", (json_int_t)f.measured,
                                       "shapes", (json_int_t)f.shapes, "typical", field_real(typical), "worst",
                                       field_real(f.half_count ? f.worst : NAN), "shape", f.shape, "drift", drift,
                                       "others", field_real(others));
  free(f.halves);
  free(f.early);
  free(f.late);
  return made;
}
