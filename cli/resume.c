/* SPDX-License-Identifier: MIT */
#include "cli/resume.h"

#include "cli/files.h"
#include "cli/measure.h"
#include "common/environment.h"
#include "common/field.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void resume_note(const options *given, json_t *holder) {
  json_t *part = json_object_get(holder, "shard");
  if (part) json_object_set_new(part, "command", json_string(given->shard_command));
}

static bool is_done(const options *given, json_t *run, int *status) {
  const char *path = given->output;
  if (access(path, F_OK) != 0) return false;
  json_t *record = load_json("--output", path, 0), *now = allocated(environment_json());
  const json_t *context = json_object_get(record, "context"),
               *part = json_object_get(context ? context : record, "shard"),
               *facts = context ? context : json_object_get(record, "environment");
  bool same = field_integer(part, "number") == given->only.number && field_integer(part, "of") == given->only.of &&
              strcmp(field_string(part, "command"), given->shard_command) == 0 &&
              json_equal(run, json_object_get(part, "run"));
  static const char *const build[] = {"posenc_version", "kernel_abi", "commit", "compiler", "cflags"};
  for (size_t i = 0; i < sizeof build / sizeof *build; i++)
    same = same && strcmp(field_string(facts, build[i]), field_string(now, build[i])) == 0;
  if (!same)
    die_value("--output", path, "is not the record of this shard, command, build and input, which --resume would keep");
  *status = context ? timed_status(record) : trusted_status(record, json_object_get(record, "encodings"));
  json_decref(record);
  json_decref(now);
  return true;
}

bool resume_is_done(const options *given, json_t *run, int *status) {
  if (!is_given(given, OPTION_SHARD)) die("--resume: is for --shard");
  if (!format_is(given, "json")) die("--resume: is for --format json");
  if (strcmp(given->output, "-") == 0) die("--resume: needs --output");
  const bool done = is_done(given, run, status);
  json_decref(run);
  return done;
}
