/* SPDX-License-Identifier: MIT */
/* Writes the fastest kernel for each error, and how the library's own choices do beside it. */
#include "reports/model/answer.h"
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

#include <string.h>

/* ---- the fastest kernels by maximum error ---- */

/* A row of the fastest kernels: the answer, and what it is of. */
enum { OF_ANSWER, OF_KERNEL, OF_TABLE, OF_ROW };

static void budget(page *p, const void *value) {
  page_say(p, "%s", answer_titles[answer_budget_called(*(const char *const *)value)]);
}

static void footprint(page *p, const void *value) {
  const record_answer *answer = value;
  page_say(p, "%s " SMALL("%s"), answer->footprint, answer->shape);
}

static void take(page *p, const void *value) {
  const record_kernel *kernel = value;
  page_say(p, kernel->threaded ? CODE("%s") SMALL(" several threads") : CODE("%s"), kernel->name);
}

/* Writes "2.31× (2.20–2.44) not told apart". */
static void multiple(page *p, const void *value) {
  const record_ratio *ratio = value;
  if (ratio->there)
    page_say(p, "%s× " SMALL("%s%s"), words_significant(ratio->estimate, 3).text, words_interval(ratio).text,
             ratio->low <= 1 && ratio->high >= 1 ? " not told apart" : "");
}

/* Writes the same with the other kernel before it. */
static void next_multiple(page *p, const void *value) {
  const record_ratio *ratio = value;
  if (ratio->there) page_say(p, CODE("%s") " ", ratio->kernel);
  multiple(p, value);
}

static void kept_bound(page *p, const void *kernel) {
  page_say(p, "%s", bound_on(kernel, p->of[OF_TABLE]).text);
}

static void write_sheet(page *p, const record_report *report) {
#define IN_TIMING(field) PAGE_AT(OF_ROW, record_row, timing.field)
  static const page_column columns[] = {
      {"maximum error", false, PAGE_AT(OF_ANSWER, record_answer, budget), .say = budget},
      {"table", .say = footprint},
      {"take", .in = OF_KERNEL, .say = take},
      {"GB/s", true, NULL, PAGE_SPREAD, IN_TIMING(bytes_per_second), .scale = 1e-9},
      {"% of limit", true, NULL, PAGE_SPREAD, IN_TIMING(of_limit), .scale = 100},
      {"the next takes", false, PAGE_AT(OF_ANSWER, record_answer, next), .say = next_multiple},
      {"naive takes", true, PAGE_AT(OF_ANSWER, record_answer, naive), .say = multiple},
      {"bound it keeps", .in = OF_KERNEL, .say = kept_bound},
  };
  PAGE_SHEET(p,
             caption_of_times(report,
                              "0.5 ulp is correctly rounded, 1 ulp is 2⁻²⁴, one just below 1. Ratios have intervals "
                              "of 90 %, other figures their least and most; ‡ marks wide ones.")
                 .text,
             columns);
  for (answer_budget n = 0; n < ANSWER_BUDGETS; n++)
    RECORD_EACH(answer, report, answer) {
      const record_table *table = report_table(report, answer->shape);
      const record_kernel *kernel = report_kernel(report, answer->kernel);
      const record_row *row = report_row(table, answer->kernel);
      if (kernel && row && strcmp(answer->budget, answer_budgets[n]) == 0)
        page_row(p, PAGE_ROW([OF_ANSWER] = answer, [OF_KERNEL] = kernel, [OF_TABLE] = table, [OF_ROW] = row));
    }
  page_sheet_end(p);
}

void write_fastest(page *p, const record_report *report) {
  if (report->answer_count == 0) return;
  page_section(p, report->subjects_count ? "The fastest of these kernels by maximum error"
                                         : "Fastest kernels by maximum error");
  write_sheet(p, report);
}

/* ---- the library's choices ---- */

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
  PAGE_SHEET(p, caption_of_times(report, "Choices that are slower than another kernel.").text, columns);
  RECORD_EACH(one, report, regret)
    if (one->ratio.there && one->ratio.low > 1) page_row(p, PAGE_ROW(one));
  page_sheet_end(p);
}

void write_regret(page *p, const record_report *report) {
  if (report->regret_count == 0) return;
  page_section(p, "The library's choice");
  say_summary(p, report, true);
  say_summary(p, report, false);
  write_slower(p, report);
}
