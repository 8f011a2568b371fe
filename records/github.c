/* SPDX-License-Identifier: MIT */
/* Prints failures as annotations: the workflow commands of GitHub Actions, "::error file=F,line=L,title=T::MESSAGE". */
#include "records/print.h"

#include "common/field.h"
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

/* GitHub shows this many annotations of a step. */
enum { ANNOTATIONS_MOST = 10 };

/* Escapes "%" and line ends, and in a property also ':' and ','. */
static void print_escaped(const char *text, bool is_property, FILE *stream) {
  for (; *text; text++)
    if (strchr(is_property ? "%\r\n:," : "%\r\n", *text))
      fprintf(stream, "%%%02X", (unsigned)(unsigned char)*text);
    else
      fputc(*text, stream);
}

/* Returns the digits after the last colon of FILE:LINE, or null. */
static const char *line_of(const char *place) {
  const char *colon = strrchr(place, ':');
  return colon && colon > place && colon[1] && colon[1 + strspn(colon + 1, "0123456789")] == '\0' ? colon + 1 : NULL;
}

static void begin(const char *place, const char *title, FILE *stream) {
  const char *line = line_of(place);
  char *file = allocated(strndup(place, line ? (size_t)(line - place) - 1 : strlen(place)));
  fputs("::error file=", stream);
  print_escaped(file, true, stream);
  if (line) fprintf(stream, ",line=%s", line);
  fputs(",title=", stream);
  print_escaped(title, true, stream);
  fputs("::", stream);
  free(file);
}

static void print_failure(const json_t *record, const json_t *check, const char *place, FILE *stream) {
  const char *property = field_string(check, "property"), *cause = field_string(record, "cause"),
             *note = field_string(check, "note");
  char title[200];
  snprintf(title, sizeof title, "posenc: %s", field_string(record, "kernel"));
  begin(place, title, stream);
  fprintf(stream, "%s of ", property);
  print_escaped(field_string(record, "kernel"), false, stream);
  fprintf(stream, ", %s: ", field_string(json_object_get(record, "shape"), "name"));
  print_escaped(note, false, stream);
  if (strcmp(property, "accuracy") == 0)
    fprintf(stream, "; off by up to %.3g", field_number_or(json_object_get(record, "max_abs"), "abs", INFINITY));
  if (*cause && strcmp(cause, note) != 0) fprintf(stream, "%%0Alikely cause: %s", cause);
  fputs("%0A", stream);
  print_escaped(field_string(record, "replay"), false, stream);
  fputc('\n', stream);
}

void record_print_github(const json_t *record, const char *place, FILE *stream) {
  size_t i, j;
  json_t *one, *check;
  int printed = 0;
  char why[200];
  json_array_foreach(json_object_get(record, "records"), i, one) {
    const int before = printed;
    json_array_foreach(json_object_get(one, "checks"), j, check) {
      if (!json_is_true(json_object_get(check, "ok")) && printed++ < ANNOTATIONS_MOST)
        print_failure(one, check, place, stream);
    }
    if (printed == before && field_integer(one, "not_finite") && printed++ < ANNOTATIONS_MOST) {
      begin(place, "posenc", stream);
      print_escaped(field_string(one, "kernel"), false, stream);
      fprintf(stream, ": %" JSON_INTEGER_FORMAT " elements are NaN or infinite\n", field_integer(one, "not_finite"));
    }
  }
  if (record_mistrust(record, why, sizeof why)) {
    begin(place, "posenc", stream);
    print_escaped(why, false, stream);
    fputc('\n', stream);
  }
}
