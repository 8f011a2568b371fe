/* SPDX-License-Identifier: MIT */
#include "reports/sections/sections.h"

#include "reports/model/document.h"
#include "reports/page/page.h"

#include <math.h>
#include <stdlib.h>

/* Writes machine, threads, load, date, and warnings about the figures. */
static void write_subtitle(page *p, const record_report *report) {
  const record_environments *of = &report->environment;
  const record_facts *facts = of->timing.there ? &of->timing : &of->accuracy;
  static const struct {
    const char *before, *key, *after;
  } told[] = {{"", "cpu", ""},
              {", ", "cores", " processors"},
              {", ", "isa", ""},
              {"; load ", "load", ""},
              {", after it ", "load_after", ""},
              {"; ", "date", ""},
              {"; posenc ", "posenc_version", ""},
              {", commit ", "commit", ""}};
  const record_stability *stability = &report->stability;
  const words busy = words_busy(report);
  if (*busy.text) page_paragraph(p, STRONG("A busy machine: %s, so times are longer than they need be."), busy.text);
  page_open(p, PAGE_PARAGRAPH);
  for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
    const char *fact = record_fact_text(facts, told[i].key);
    if (*fact) page_say(p, SMALL("%s%s%s"), told[i].before, fact, told[i].after);
  }
  if (stability->there && isfinite(stability->typical))
    page_say(p, SMALL("; the machine's own speed varied by %s\u00a0%%"),
             words_significant(100 * stability->typical, 2).text);
  if (isfinite(stability->others))
    page_say(p, SMALL("; other processes used %s\u00a0%% of it"), words_significant(100 * stability->others, 2).text);
  page_say(p, SMALL("."));
  page_close(p, PAGE_PARAGRAPH);
}

/* Writes one section, or nothing if the report has no data for it. */
typedef void section(page *p, const record_report *report);

/* Writes links to the other files in the folder of the page. */
static void write_files(page *p, const record_report *report) {
  const char *separator = "";
  page_section(p, "Files");
  page_paragraph(p,
                 LINK("details.html") " has errors by cause and frequency, all tables, other states of memory, checks, "
                                      "claims and contracts; " LINK("report.md") " has everything as text.");
  page_open(p, PAGE_PARAGRAPH);
  page_say(p, "The data: " LINK("times.csv") ", " LINK("accuracy.csv") " with the worst case of each kernel on each "
                                                                       "table and the command that finds it again, ");
  page_say(p,
           LINK("positions.csv") ", " LINK("frequencies.csv") ", " LINK("histogram.csv") ", " LINK("report.json") ".");
  page_say(p, " The records, from which " CODE("posenc report --from") " makes the page again: " CODE("accuracy.json"));
  if (report_is_timed(report)) page_say(p, ", " CODE("bench.json"));
  page_say(p, ".");
  page_say(p, " The figures: ");
  for (size_t i = 0; i < FIGURES; i++) {
    if (!p->svg[i]) continue;
    page_say(p, "%s" LINK("%s.svg"), separator, figure_names[i]);
    separator = ", ";
  }
  page_say(p, ".");
  page_close(p, PAGE_PARAGRAPH);
}

/* Returns the date of figures of the accuracy record, or of both records: that of the older one. */
static const char *date_of(const record_report *report, bool timed) {
  const char *verified = record_fact_text(&report->environment.accuracy, "date"),
             *times = timed ? record_fact_text(&report->environment.timing, "date") : "";
  const int64_t a = record_seconds(verified), b = record_seconds(times);
  return b == RECORD_NONE || (a != RECORD_NONE && a < b) ? verified : times;
}

void write_contents(page *p, const record_report *report, contents wanted) {
  static const struct {
    section *write;
    bool timed; /* has times, too */
  } sections[2][12] = {
      {{write_answer, true},
       {write_front, true},
       {write_why, false},
       {write_headline, true},
       {write_lengths, true},
       {write_checks, false},
       {write_left_out, true},
       {write_method, true},
       {write_files, false}},
      {{write_fastest, true},
       {write_regret, true},
       {write_shipped, true},
       {write_errors, false},
       {write_histogram, false},
       {write_cases, false},
       {write_far, false},
       {write_shapes, true},
       {write_properties, false},
       {write_claims, true},
       {write_kernels, false}},
  };
  page_begin(p, wanted == CONTENTS_DETAILS ? "posenc report: details" : "posenc report");
  write_subtitle(p, report);
  for (int half = 0; half < 2; half++)
    for (size_t i = 0; sections[half][i].write && (wanted == CONTENTS_ALL || wanted == (contents)half); i++) {
      page_date(p, date_of(report, sections[half][i].timed));
      sections[half][i].write(p, report);
    }
  page_end(p);
}

/* ---- figures ---- */

const char *const figure_names[FIGURES] = {
    [FIGURE_BARS] = "bars",
    [FIGURE_NARROW] = "bars-narrow",
    [FIGURE_PARETO] = "headline",
    [FIGURE_PARETO_NARROW] = "headline-narrow",
    [FIGURE_TIME] = "time",
    [FIGURE_COLD] = "cold",
    [FIGURE_FRESH] = "fresh",
    [FIGURE_ERROR] = "error",
    [FIGURE_RECIPES] = "recipes",
    [FIGURE_CAUSES] = "causes",
    [FIGURE_FREQUENCY] = "frequency",
    [FIGURE_HISTOGRAM] = "histogram",
    [FIGURE_RECIPES_HISTOGRAM] = "recipes-histogram",
};

bool figures_make(const record_report *report, figures *made) {
  *made = (figures){{NULL}};
  const bool ok = draw_answer(report, made) && draw_lengths(report, made) && draw_curves(report, made);
  if (!ok) figures_free(made);
  return ok;
}

void figures_free(figures *made) {
  for (size_t i = 0; i < FIGURES; i++) free(made->svg[i]);
}
