/* SPDX-License-Identifier: MIT */
#include "reports/sections/sections.h"

#include "common/field.h"
#include "reports/model/claims.h"

#include <stdlib.h>

static void write_subtitle(page *p, const record_report *report) {
  static const char *const keys[] = {"posenc_version", "commit", "cpu", "date"};
  static const char *const labels[] = {"posenc ", ", commit ", ", on ", ", "};
  page_open(p, PAGE_PARAGRAPH);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *fact = field_string(report->environment.accuracy, keys[i]);
    if (*fact) page_say(p, SMALL("%s") SMALL("%s"), labels[i], fact);
  }
  page_close(p, PAGE_PARAGRAPH);
  if (p->brief)
    page_paragraph(p, "The tables behind the figures, worst cases and other states of memory are in report.md.");
}

/* Writes what it is about, or nothing. */
typedef void section(page *p, const record_report *report);

void write_contents(page *p, const record_report *report) {
  static section *const sections[] = {
      write_headline,  write_lengths, write_shipped, write_errors, write_histogram, write_cases,  write_far,
      write_witnesses, write_shapes,  write_checks,  claims_write, write_kernels,   write_method,
  };
  page_begin(p, "posenc report");
  write_answer(p, report);
  write_subtitle(p, report);
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) sections[i](p, report);
  page_end(p);
}

/* ---- figures ---- */

bool figures_make(const record_report *report, figures *made) {
  *made = (figures){{NULL}};
  const bool ok = draw_answer(report, made) && draw_lengths(report, made) && draw_curves(report, made);
  if (!ok) figures_free(made);
  return ok;
}

void figures_free(figures *made) {
  for (size_t i = 0; i < FIGURES; i++) free(made->svg[i]);
}
