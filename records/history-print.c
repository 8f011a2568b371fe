/* SPDX-License-Identifier: MIT */
/* Words for what has changed in a history, and a line for each change. */
#include "records/history.h"

#include "common/contract.h"
#include "common/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void append(history_words *words, const char *format, ...) {
  const size_t used = strlen(words->text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words->text + used, sizeof words->text - used, format, arguments);
  va_end(arguments);
}

history_words history_size(const record_history_change *change, const char *between) {
  history_words size = {""};
  if (change->has_ratio) {
    append(&size, "%+.1f%%%s", 100.0 * (change->ratio - 1.0), between);
    if (isnan(change->low) || isnan(change->high))
      append(&size, "-%s", between);
    else
      append(&size, "%+.1f%% to %+.1f%%%s", 100.0 * (change->low - 1.0), 100.0 * (change->high - 1.0), between);
    append(&size, "p %.4f", change->p);
  }
  RECORD_EACH(figure, change, figures)
    append(&size, "%s%s %.10g -> %.10g", *size.text ? ", " : "", figure->what, figure->old, figure->new);
  return size;
}

history_words history_end(const record_history_end *end) {
  history_words commit = {""};
  append(&commit, "%.12s (%.10s)", *end->commit ? end->commit : "-", end->date);
  return commit;
}

history_words history_note(const record_history_change *change) {
  history_words note = {""};
  append(&note, "%.300s", change->note);
  RECORD_EACH(fact, change, environment)
    append(&note, "%s%s: %s, then %s", *note.text ? "; " : "", fact->what, fact->old, fact->new);
  return note;
}

static void print_change(const record_history_change *change, int width, FILE *stream) {
  const history_words note = history_note(change);
  fprintf(stream, "%-10s %-*s  %s", change->verdict, width, change->name, history_size(change, "  ").text);
  fprintf(stream, "  since %s, after ", history_end(&change->first_bad).text);
  fputs(history_end(&change->last_good).text, stream);
  if (change->commits > 1) fprintf(stream, ", one of %" PRId64 " commits", change->commits);
  fprintf(stream, "  %s%s%s\n", change->cpu, *note.text ? "  " : "", note.text);
}

void history_print_text(const record_history *found, FILE *stream) {
  int width = 30;
  RECORD_EACH(change, found, changes) width = width_with(width, change->name);
  RECORD_EACH(change, found, changes) print_change(change, width, stream);
  if (found->changes_count) fprintf(stream, "%" PRId64 " of %zu series worse now\n", found->worse, found->series_count);
}
