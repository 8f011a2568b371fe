/* SPDX-License-Identifier: MIT */
#include "cli/identify-array.h"

#include "common/field.h"

#include <inttypes.h>

table_file *recover_applied(const options *given, const char *file, recovered *found, json_t **applied, fault *why) {
  const bool is_rope = given->problem.op == POSENC_ROPE;
  const char *const op = op_name(given->problem.op);
  const applied_arrays from = open_arrays(given, file);
  const bool is_known = recover(&from, given->problem.op, found, why);
  if (found->bad_row >= 0) die_value("--x", given->x, why->text);
  if (is_known)
    *applied = json_pack("{s:s, s:o, s:s, s:I, s:s?, s:I, s:I, s:b}", "op", op, "x", field_name(given->x, ""), "axes",
                         from.axes, "columns", (json_int_t)table_stored(from.x)->dim, "pairs",
                         is_rope ? layout_name(found->pairs) : NULL, "start", (json_int_t)found->start, "dim",
                         (json_int_t)found->dim, "back", (int)found->back);
  table_close(from.x);
  table_close(from.out);
  return found->table;
}

/* Returns the options by which posenc check compares the result with the formula. They are made from those for the
   recovered table, whose layout differs from the result's. */
static json_t *options_for_check(const json_t *applied, const char *of_table) {
  static const char layout[] = "--layout split-cs";
  const char *const pairs = field_string(applied, "pairs"), *const begin = *pairs ? strstr(of_table, layout) : NULL;
  const int64_t begins = field_integer(applied, "start"), dim = field_integer(applied, "dim");
  const int ahead = (int)(begin ? begin - of_table : (ptrdiff_t)strlen(of_table));
  const char *const axes = field_string(applied, "axes"), *const usual = axes_usual(*pairs ? POSENC_ROPE : POSENC_ADD,
                                                                                    strlen(axes));
  const bool is_usual = usual && strcmp(axes, usual) == 0;
  char rotated[80] = "";
  if (dim != field_integer(applied, "columns"))
    snprintf(rotated, sizeof rotated, " --dim %" PRId64 " --start %" PRId64, dim, begins);
  return json_sprintf("--op %s --x X%s%s%s%s%s%s%s%.*s%s", field_string(applied, "op"), is_usual ? "" : " --axes ",
                      is_usual ? "" : axes, *pairs ? " --layout " : "", pairs, rotated,
                      json_is_true(json_object_get(applied, "back")) ? " --inverse" : "", ahead ? " " : "",
                      begin && ahead ? ahead - 1 : ahead, of_table, begin ? begin + strlen(layout) : "");
}

void record_applied(json_t *record, json_t *applied) {
  const char *of_table = json_string_value(json_object_get(record, "check"));
  if (of_table) json_object_set_new(record, "check", options_for_check(applied, of_table));
  json_object_set(record, "applied", applied);
}

void print_applied(const json_t *record, FILE *stream) {
  const json_t *applied = json_object_get(record, "applied");
  const int64_t begins = field_integer(applied, "start"), dim = field_integer(applied, "dim");
  fprintf(stream, "%-15s %s to %s, axes %s: columns %" PRId64 " to %" PRId64 " of %" JSON_INTEGER_FORMAT, "applied",
          field_string(applied, "op"), field_string(applied, "x"), field_string(applied, "axes"), begins,
          begins + dim - 1, field_integer(applied, "columns"));
  if (json_is_string(json_object_get(applied, "pairs")))
    fprintf(stream, ", pairs are %s, turned %s",
            strcmp(field_string(applied, "pairs"), "split") == 0 ? "halves" : "neighbours",
            json_is_true(json_object_get(applied, "back")) ? "back" : "forward");
  fputc('\n', stream);
}
