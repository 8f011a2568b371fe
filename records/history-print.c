/* SPDX-License-Identifier: MIT */
/* Prints what has changed in a history, as text and as a Markdown table. */
#include "records/history.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/plain.h"

#include <inttypes.h>

static bool is_speed(const json_t *change) {
  return json_object_get(change, "p");
}

/* Prints the size of a change: of times in per cent with its interval and p, or the figures of errors. */
static void print_size(const json_t *change, const char *between, FILE *stream) {
  if (is_speed(change)) {
    fprintf(stream, "%+.1f%%%s", 100.0 * (field_number(change, "ratio") - 1.0), between);
    const double low = field_number(change, "low"), high = field_number(change, "high");
    if (isnan(low) || isnan(high))
      fprintf(stream, "-%s", between);
    else
      fprintf(stream, "%+.1f%% to %+.1f%%%s", 100.0 * (low - 1.0), 100.0 * (high - 1.0), between);
    fprintf(stream, "p %.4f", field_number(change, "p"));
    return;
  }
  const json_t *figures = json_object_get(change, "figures");
  for (size_t i = 0; i < json_array_size(figures); i++) {
    const json_t *figure = json_array_get(figures, i);
    fprintf(stream, "%s%s %.6g -> %.6g", i ? ", " : "", field_string(figure, "what"), field_number(figure, "old"),
            field_number(figure, "new"));
  }
}

/* Prints the commit, or "-", and its day. */
static void print_commit(const json_t *change, const char *side, FILE *stream) {
  const json_t *end = json_object_get(change, side);
  const char *commit = field_string(end, "commit");
  fprintf(stream, "%.12s (%.10s)", *commit ? commit : "-", field_string(end, "date"));
}

/* Prints what else may be the cause: the facts of the environment that differ. */
static void print_note(const json_t *change, FILE *stream, void (*print)(FILE *stream, const char *text)) {
  const json_t *facts = json_object_get(change, "environment");
  const char *before = field_string(change, "note");
  print(stream, before);
  for (size_t i = 0; i < json_array_size(facts); i++) {
    const json_t *fact = json_array_get(facts, i);
    json_t *text = json_sprintf("%s%s: %s, then %s", *before || i ? "; " : "", field_string(fact, "what"),
                                field_string(fact, "old"), field_string(fact, "new"));
    print(stream, json_string_value(text));
    json_decref(text);
  }
}

static void print_plain(FILE *stream, const char *text) {
  fputs(text, stream);
}

static void print_change(const json_t *change, int width, FILE *stream) {
  fprintf(stream, "%-10s %-*s  ", field_string(change, "verdict"), width, field_string(change, "name"));
  print_size(change, "  ", stream);
  fputs("  since ", stream);
  print_commit(change, "first_bad", stream);
  fputs(", after ", stream);
  print_commit(change, "last_good", stream);
  const json_int_t commits = field_integer(change, "commits");
  if (commits > 1) fprintf(stream, ", one of %" JSON_INTEGER_FORMAT " commits", commits);
  fprintf(stream, "  %s", field_string(change, "cpu"));
  if (*field_string(change, "note") || json_array_size(json_object_get(change, "environment"))) fputs("  ", stream);
  print_note(change, stream, print_plain);
  fputc('\n', stream);
}

static void print_sum(const json_t *found, FILE *stream) {
  fprintf(stream, "%" JSON_INTEGER_FORMAT " of %zu series worse now\n", field_integer(found, "worse"),
          json_array_size(json_object_get(found, "series")));
}

void history_print_text(const json_t *found, FILE *stream) {
  const json_t *changes = json_object_get(found, "changes");
  int width = 30;
  for (size_t i = 0; i < json_array_size(changes); i++)
    width = width_with(width, field_string(json_array_get(changes, i), "name"));
  for (size_t i = 0; i < json_array_size(changes); i++) print_change(json_array_get(changes, i), width, stream);
  if (json_array_size(changes)) print_sum(found, stream);
}

void history_print_markdown(const json_t *found, FILE *stream) {
  const json_t *changes = json_object_get(found, "changes");
  print_sum(found, stream);
  if (!json_array_size(changes)) return;
  fputs("\n| verdict | series | change | since | after | commits | CPU | |\n|---|---|---|---|---|--:|---|---|\n",
        stream);
  for (size_t i = 0; i < json_array_size(changes); i++) {
    const json_t *change = json_array_get(changes, i);
    fprintf(stream, "| %s | ", field_string(change, "verdict"));
    plain_markdown(stream, field_string(change, "name"));
    fputs(" | ", stream);
    print_size(change, ", ", stream);
    fputs(" | ", stream);
    print_commit(change, "first_bad", stream);
    fputs(" | ", stream);
    print_commit(change, "last_good", stream);
    const json_int_t commits = field_integer(change, "commits");
    if (commits)
      fprintf(stream, " | %" JSON_INTEGER_FORMAT " | ", commits);
    else
      fputs(" | | ", stream);
    plain_markdown(stream, field_string(change, "cpu"));
    fputs(" | ", stream);
    print_note(change, stream, plain_markdown);
    fputs(" |\n", stream);
  }
}
