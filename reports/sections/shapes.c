/* SPDX-License-Identifier: MIT */
/* Writes tables for each shape: the reference shape, every shape, add and rope, and other states of memory. */
#include "reports/model/document.h"
#include "reports/sections/sections.h"

static void write_sheet(page *p, table_kind kind, const record_report *report, const record_table *table) {
  write_rows(p, kind, table_describe(table).text, table, report);
}

static bool any_sliced(const record_table *table) {
  RECORD_EACH(row, table, rows)
    if (row_is_sliced(row)) return true;
  return false;
}

void write_headline(page *p, const record_report *report) {
  const record_table *table = report_table(report, report->headline.shape);
  page_section(p, report->subjects_count ? "The kernels on the reference table" : "All kernels on the reference table");
  if (!table) {
    page_paragraph(p, "No shape was verified.");
    return;
  }
  page_paragraph(
      p,
      "The table " CODE("%s") ". Exhaustive figures are over every element; sampled ones are lower bounds."
                              "%s%s%s",
      table->shape.name, report_is_timed(report) ? " Times are medians (least–most)." : "",
      rows_share(table, report) ? " Kernels with the same bits share a row, which has the time of the fastest." : "",
      any_sliced(table) ? " †: timed on slices of rows in turn." : "");
  write_sheet(p, TABLE_HEADLINE, report, table);
}

/* Whether the report has results of verification for the table. */
static bool is_verified(const record_table *table) {
  RECORD_EACH(row, table, rows)
    if (*row->mode) return true;
  return false;
}

/* Writes the tables, or the results of add and rope, without the sweep of lengths. */
static void write_list(page *p, const record_report *report, bool applied, const char *sliced) {
  bool any_shown = false;
  RECORD_EACH(table, report, shapes) {
    if (table->sweep || table->applied != applied) continue;
    any_shown = any_shown || any_sliced(table);
    page_data(p, table->shape.name);
    write_sheet(p, applied && !is_verified(table) ? TABLE_TIMES : TABLE_FULL, report, table);
    page_data_end(p);
  }
  if (any_shown) page_paragraph(p, "†: timed on slices of rows in turn, %s", sliced);
}

static bool has_shapes(const record_report *report, bool applied) {
  RECORD_EACH(table, report, shapes)
    if (table->applied == applied) return true;
  return false;
}

/* The tables of one state of memory that write_lengths does not show. */
typedef struct memory_state {
  const char *name;
  const record_table *tables;
  size_t count;
  bool sweep; /* includes those of the sweep */
  const char *text;
} memory_state;

/* Writes the tables of a state. The heading of the section is written before its first table. */
static void write_state(page *p, const record_report *report, const memory_state *state, bool *begun) {
  bool any = false;
  for (const record_table *table = state->tables; table < state->tables + state->count; table++) {
    char caption[512];
    if (table->sweep && !state->sweep) continue;
    if (!*begun) page_section(p, "Other states of memory");
    if (!any) {
      page_paragraph(p, STRONG("%s") ": %s.", state->name, state->text);
      page_data(p, state->name);
    }
    *begun = any = true;
    snprintf(caption, sizeof caption, "%s, %s: %s", state->name, table->shape.name, table_describe(table).text);
    write_rows(p, TABLE_TIMES, caption, table, report);
  }
  if (any) page_data_end(p);
}

static void write_states(page *p, const record_report *report) {
  const memory_state states[] = {
      {"cold", report->cold, report->cold_count, false, "table, or x, and constants are in no cache before"},
      {"fresh", report->fresh, report->fresh_count, false,
       "into memory that was just allocated, so that its page faults count"},
      {"malloc", report->malloc, report->malloc_count, true, "into memory that malloc has just allocated"},
      {"offset", report->offset, report->offset_count, true, "as hot, 16 bytes past a cache line"},
      {"first", report->first, report->first_count, true,
       "the plan, the whole table and the plan's end: what one table costs from nothing"},
      {"row", report->row, report->row_count, true, "one row at a time, at scattered positions"},
  };
  bool begun = false;
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) write_state(p, report, &states[i], &begun);
}

void write_shapes(page *p, const record_report *report) {
  if (has_shapes(report, false)) {
    page_section(p, "Every shape");
    write_list(p, report, false, "each at its own place in the table, since a pass over all of it is slow.");
  }
  if (has_shapes(report, true)) {
    page_section(p, "Add and rope");
    page_open(p, PAGE_PARAGRAPH);
    page_say(p, "The cost of add (x + the table) and of rope (pairs of x turned by their angles), in place. ");
    if (report_is_timed(report)) {
      page_say(p, "GB/s are those of x, read and written; the scale limit is x *= constant over the same memory. ");
      page_say(p, CODE("cached") " works from a table in memory, as is usual; the others compute its rows on the way.");
    }
    page_close(p, PAGE_PARAGRAPH);
    write_list(p, report, true, "as above.");
  }
  write_states(p, report);
}
