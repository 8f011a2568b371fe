/* SPDX-License-Identifier: MIT */
/* Tables shape by shape: the reference shape, every shape, add and rope, and other states of memory. */
#include "common/field.h"
#include "reports/model/document.h"
#include "reports/sections/sections.h"

static bool is_true(const json_t *table, const char *key) {
  return json_is_true(json_object_get(table, key));
}

static void write_table(page *p, table_kind kind, const json_t *document, const json_t *table) {
  write_rows(p, kind, table_describe(table).text, json_object_get(table, "rows"), document_is_timed(document));
}

void write_headline(page *p, const json_t *document) {
  const char *name = field_string(json_object_get(document, "headline"), "shape");
  const json_t *table = document_shape(document, name);
  page_section(p, "Headline");
  if (!table) {
    page_paragraph(p, "No shape was verified.");
    return;
  }
  page_paragraph(
      p,
      "The reference shape, " CODE("%s") ". Exhaustive figures are over every element; sampled ones are lower "
                                         "bounds. Times are medians (least–most).",
      name);
  write_table(p, TABLE_HEADLINE, document, table);
}

/* Is there anything but times of it? */
static bool is_verified(const json_t *table) {
  const json_t *rows = json_object_get(table, "rows");
  for (size_t i = 0; i < json_array_size(rows); i++)
    if (json_object_get(json_array_get(rows, i), "mode")) return true;
  return false;
}

/* Tables, or what add and rope work on, but for the sweep of lengths. */
static void write_list(page *p, const json_t *document, bool applied, const char *sliced) {
  const json_t *shapes = json_object_get(document, "shapes");
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *table = json_array_get(shapes, i);
    if (is_true(table, "sweep") || is_true(table, "applied") != applied) continue;
    page_subsection(p, field_string(json_object_get(table, "shape"), "name"));
    write_table(p, applied && !is_verified(table) ? TABLE_TIMES : TABLE_FULL, document, table);
  }
  if (document_is_timed(document)) page_paragraph(p, "†: timed on slices of rows in turn, %s", sliced);
}

static bool has_shapes(const json_t *document, bool applied) {
  const json_t *shapes = json_object_get(document, "shapes");
  for (size_t i = 0; i < json_array_size(shapes); i++)
    if (is_true(json_array_get(shapes, i), "applied") == applied) return true;
  return false;
}

/* Tables of a mode that write_lengths does not show. How many they are; written only if asked for. */
static size_t write_mode(page *p, const json_t *document, const char *mode, bool sweep, bool write) {
  const json_t *tables = json_object_get(document, mode);
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(tables); i++) {
    const json_t *table = json_array_get(tables, i);
    char caption[512];
    if (is_true(table, "sweep") && !sweep) continue;
    count++;
    if (!write) continue;
    snprintf(caption, sizeof caption, "%s, %s: %s", mode, field_string(json_object_get(table, "shape"), "name"),
             table_describe(table).text);
    write_rows(p, TABLE_TIMES, caption, json_object_get(table, "rows"), true);
  }
  return count;
}

static void write_modes(page *p, const json_t *document) {
  static const struct {
    const char *name;
    bool sweep;
    const char *text;
  } modes[] = {{"cold", false, "table, or x, and constants are in no cache before"},
               {"fresh", false, "into memory that was just allocated, so that its page faults count"},
               {"first", true, "the plan, the whole table and the plan's end: what one table costs from nothing"},
               {"row", true, "one row at a time, at scattered positions"}};
  bool any = false;
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (write_mode(p, document, modes[i].name, modes[i].sweep, false) == 0) continue;
    if (!any) page_section(p, "Other states of memory");
    any = true;
    page_paragraph(p, STRONG("%s") ": %s.", modes[i].name, modes[i].text);
    page_data(p, NULL);
    write_mode(p, document, modes[i].name, modes[i].sweep, true);
    page_data_end(p);
  }
}

void write_shapes(page *p, const json_t *document) {
  if (has_shapes(document, false)) {
    page_section(p, "Every shape");
    write_list(p, document, false, "each at its own place in the table, since a pass over all of it is slow.");
  }
  if (has_shapes(document, true)) {
    page_section(p, "Add and rope");
    page_open(p, PAGE_PARAGRAPH);
    page_say(p, "The cost of add (x + the table) and of rope (pairs of x turned by their angles), in place. ");
    if (document_is_timed(document)) {
      page_say(p, "GB/s are those of x, read and written; the scale limit is x *= constant over the same memory. ");
      page_say(p, CODE("cached") " works from a table in memory, as is usual; the others compute its rows on the way.");
    }
    page_close(p, PAGE_PARAGRAPH);
    write_list(p, document, true, "as above.");
  }
  write_modes(p, document);
}
