/* SPDX-License-Identifier: MIT */
/* Writes the section on the library's own choices. */
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

static const char *const threads_title[] = {"all threads", "one thread"};

static void say_summary(page *p, const record_report *report, bool serial) {
  const regret_summary sum = regret_sum_up(report, serial);
  if (sum.count == 0) return;
  page_open(p, PAGE_PARAGRAPH);
  page_say(p,
           "With %s, the kernel that the library chooses by itself takes " STRONG(
               "%s times") " as long as the fastest of "
                           "its kernels with a bound within the same error, in the geometric mean of %d shapes",
           threads_title[serial], words_fixed(sum.mean, 3).text, sum.count);
  if (sum.of_worst)
    page_say(p,
             "; %s times " SMALL("%s") " at most, " CODE("%s") " where " CODE("%s") " is the fastest for " CODE("%s"),
             words_fixed(sum.worst, 3).text, words_interval(&sum.of_worst->ratio).text, sum.of_worst->kernel,
             sum.of_worst->fastest, sum.of_worst->shape);
  page_say(p, ".");
  page_close(p, PAGE_PARAGRAPH);
}

static void threads(page *p, const void *serial) {
  page_say(p, "%s", threads_title[*(const bool *)serial]);
}

static void takes(page *p, const void *value) {
  const record_ratio *ratio = value;
  page_say(p, "%s× " SMALL("%s"), words_fixed(ratio->estimate, 3).text, words_interval(ratio).text);
}

/* Writes the choices for which another kernel is significantly faster. */
static void write_slower(page *p, const record_report *report) {
  static const page_column columns[] = {
      {.title = "shape", .kind = PAGE_TEXT, PAGE_AT(0, record_regret, shape)},
      {.title = "threads", PAGE_AT(0, record_regret, serial), .say = threads},
      {.title = "chosen", .kind = PAGE_NAME, PAGE_AT(0, record_regret, kernel)},
      {.title = "fastest", .kind = PAGE_NAME, PAGE_AT(0, record_regret, fastest)},
      {.title = "takes", .numeric = true, PAGE_AT(0, record_regret, ratio), .say = takes},
  };
  PAGE_TABLE(p, caption_of_times(report, "Choices that are slower than another kernel.").text, columns);
  RECORD_EACH(one, report, regret)
    if (one->ratio.there && one->ratio.low > 1) page_row(p, PAGE_ROW(one));
  page_table_end(p);
}

void write_regret(page *p, const record_report *report) {
  if (report->regret_count == 0) return;
  page_section(p, "The library's choice");
  say_summary(p, report, true);
  say_summary(p, report, false);
  write_slower(p, report);
}
