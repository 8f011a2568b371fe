/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/field.h"
#include "common/shapes.h"
#include "reports/model/answer.h"
#include "reports/model/choice.h"
#include "reports/model/document.h"
#include "reports/model/regret.h"

#include <math.h>
#include <string.h>

/* Whether the library could have chosen this kernel: its error is within the library's default, and it rounds correctly
   if the chosen one does. */
static bool is_rival(const record_kernel *kernel, const record_table *table, const record_kernel *chosen, bool serial) {
  posenc_dtype dtype = POSENC_F32;
  if (!table->applied) dtype_parse(table->shape.dtype, &dtype); /* rows for add and rope are of f32 */
  if (answer_class(chosen, table) == ANSWER_HALF && answer_class(kernel, table) != ANSWER_HALF) return false;
  return posenc_kernel_find(kernel->name) && answer_counts(kernel) && (!serial || !kernel->threaded) &&
         answer_is_within(kernel, &table->shape, dtype, choice_default_abs(dtype));
}

/* Returns a new entry, or JSON null if the chosen kernel was not timed. */
static json_t *make_one(const record_report *report, samples *times, const record_table *table, const char *chosen,
                        bool serial) {
  const char *fastest = chosen, *name = table->shape.name;
  const record_kernel *taken = report_kernel(report, chosen);
  double least = report_median_ns(table, chosen);
  if (!taken || !isfinite(least)) return json_null();
  RECORD_EACH(kernel, report, kernels) {
    const double ns = report_median_ns(table, kernel->name);
    if (!(ns < least) || !is_rival(kernel, table, taken, serial)) continue;
    fastest = kernel->name;
    least = ns;
  }
  json_t *ratio = fastest == chosen ? json_null() : samples_ratio(times, "hot", name, fastest, chosen);
  return json_pack("{s:s, s:b, s:s, s:s, s:o}", "shape", name, "serial", (int)serial, "kernel", chosen, "fastest",
                   fastest, "ratio", ratio);
}

json_t *regret_make(const record_report *report, samples *times) {
  json_t *made = json_array();
  RECORD_EACH(choice, report, choices) {
    const record_table *table = report_table(report, choice->shape);
    for (int serial = 1; table && serial >= 0; serial--) {
      json_t *one = make_one(report, times, table, serial ? choice->kernel : choice->all_threads, serial);
      if (json_is_null(one)) continue;
      field_append(made, one);
    }
  }
  return made;
}

regret_summary regret_sum_up(const record_report *report, bool serial) {
  regret_summary sum = {.worst = 1};
  double logs = 0;
  RECORD_EACH(one, report, regret) {
    if (one->serial != serial) continue;
    const double ratio = one->ratio.there ? one->ratio.estimate : 1;
    logs += log(ratio);
    sum.count++;
    if (ratio <= sum.worst) continue;
    sum.worst = ratio;
    sum.of_worst = one;
  }
  sum.mean = exp(logs / sum.count);
  return sum;
}
