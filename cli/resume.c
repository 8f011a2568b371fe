/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/resume.h"

#include "cli/files.h"
#include "cli/measure.h"
#include "common/digest.h"
#include "common/field.h"
#include "posenc.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the digests of this program and, if it is another file, of libposenc; null if they cannot be read. Version
   and commit do not tell builds of modified sources apart. */
static json_t *build_json(void) {
  static const char ours = 0;
  Dl_info program, library;
  digest_text own, other = {""};
  size_t count;
  if (!dladdr(&ours, &program) || !dladdr(posenc_kernels(&count), &library)) return NULL;
  if (!file_digest("/proc/self/exe", &own)) return NULL;
  if (library.dli_fbase != program.dli_fbase && !file_digest(library.dli_fname, &other)) return NULL;
  return json_sprintf("%s%s", own.text, other.text);
}

void resume_note(const options *given, json_t *holder) {
  json_t *part = json_object_get(holder, "shard"), *build = part ? build_json() : NULL;
  if (!part) return;
  json_object_set_new(part, "command", json_string(given->shard_command));
  if (build) json_object_set_new(part, "build", build);
}

static bool is_done(const options *given, json_t *run, int *status) {
  const char *path = given->output;
  if (access(path, F_OK) != 0) return false;
  json_t *record = load_json("--output", path, 0), *build = build_json();
  const json_t *context = json_object_get(record, "context"),
               *part = json_object_get(context ? context : record, "shard");
  const bool same =
      field_integer(part, "number") == given->only.number && field_integer(part, "of") == given->only.of &&
      strcmp(field_string(part, "command"), given->shard_command) == 0 &&
      json_equal(run, json_object_get(part, "run")) && build && json_equal(build, json_object_get(part, "build"));
  if (!same)
    die_value("--output", path, "is not the record of this shard, command, build and input, which --resume would keep");
  *status = context ? timed_status(record) : trusted_status(record, json_object_get(record, "encodings"));
  json_decref(record);
  json_decref(build);
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
