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

/* A static program finds neither: it has no other file. */
static bool has_library(Dl_info *library) {
  static const char ours = 0;
  Dl_info program;
  size_t count;
  return dladdr(&ours, &program) && dladdr(posenc_kernels(&count), library) && library->dli_fbase != program.dli_fbase;
}

json_t *resume_build(const options *given) {
  Dl_info library;
  digest_text own, other = {""};
  if (!is_given(given, OPTION_SHARD) || !file_digest("/proc/self/exe", &own)) return NULL;
  if (has_library(&library) && !file_digest(library.dli_fname, &other)) return NULL;
  return json_sprintf("%s%s", own.text, other.text);
}

void resume_note(const options *given, json_t *build, json_t *holder) {
  json_t *part = json_object_get(holder, "shard");
  if (part) json_object_set_new(part, "command", json_string(given->shard_command));
  if (part && build) json_object_set(part, "build", build);
  json_decref(build);
}

/* Whether a kernel could not compute a shape for want of memory, which another start may have. */
static bool lacked_memory(const json_t *record) {
  const json_t *result;
  size_t i;
  json_array_foreach(json_object_get(record, "records"), i, result) {
    if (strcmp(field_string(result, "refusal"), posenc_status_message(POSENC_OUT_OF_MEMORY)) == 0) return true;
  }
  return false;
}

static bool is_done(const options *given, const json_t *build, json_t *run, int *status) {
  const char *path = given->output;
  if (access(path, F_OK) != 0) return false;
  json_t *record = load_json("--output", path, 0);
  const json_t *context = json_object_get(record, "context"),
               *part = json_object_get(context ? context : record, "shard");
  const bool same =
      field_integer(part, "number") == given->only.number && field_integer(part, "of") == given->only.of &&
      strcmp(field_string(part, "command"), given->shard_command) == 0 &&
      json_equal(run, json_object_get(part, "run")) && build && json_equal(build, json_object_get(part, "build"));
  if (!same)
    die_value("--output", path, "is not the record of this shard, command, build and input, which --resume would keep");
  const bool done = !lacked_memory(record);
  if (done)
    *status = context ? timed_status(record, false) : trusted_status(record, json_object_get(record, "encodings"));
  json_decref(record);
  return done;
}

bool resume_is_done(const options *given, const json_t *build, json_t *run, int *status) {
  if (!is_given(given, OPTION_SHARD)) die("--resume: is for --shard");
  if (!format_is(given, "json")) die("--resume: is for --format json");
  if (strcmp(given->output, "-") == 0) die("--resume: needs --output");
  const bool done = is_done(given, build, run, status);
  json_decref(run);
  return done;
}
