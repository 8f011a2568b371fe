/* SPDX-License-Identifier: MIT */
#include "verify/encodings.h"

#include "common/contract.h"
#include "common/environment.h"
#include "common/isolate.h"
#include "common/work.h"
#include "verify/encoding-exam.h"
#include "verify/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const encoders encoders_library = {
    .integer = posenc_integer,
    .binary = posenc_binary,
    .learned = posenc_learned,
    .alibi_bias = posenc_alibi_bias,
    .apply_dropout = posenc_apply_dropout,
    .dropout_mask = posenc_dropout_mask,
};

static void examine(encoding_exam *e) {
  static const struct {
    const char *name;
    void (*examine)(encoding_exam *e);
  } all[] = {{"integer", encoding_examine_integer},
             {"binary", encoding_examine_binary},
             {"learned", encoding_examine_learned},
             {"alibi", encoding_examine_alibi},
             {"dropout", encoding_examine_dropout}};
  for (size_t n = 0; n < sizeof all / sizeof *all; n++)
    if (strcmp(e->encoding->name, all[n].name) == 0) all[n].examine(e);
}

static void examine_in_worker(void *argument) {
  encoding_exam *e = argument;
  arena_tell_faults();
  e->records = json_array();
  examine(e);
  char *text = e->records ? json_dumps(e->records, JSON_COMPACT) : NULL;
  if (text) isolate_result(text);
  free(text);
  json_decref(e->records);
}

/* Returns the records of an encoding; if its process died, one that says so. Null if no process could be created. */
static json_t *examined(encoding_exam *e) {
  const posenc_kernel named = {.name = e->encoding->name}, *const at_work = &named;
  const isolated end = isolate(examine_in_worker, e,
                               &(isolation){.kernels = &at_work, .kernel_count = 1, .silence = e->request->silence});
  json_t *records = end.result ? json_loads(end.result, 0, NULL) : NULL;
  free(end.result);
  if (records || end.how == ENDED_FORK_FAILED) return records;
  check broken = {.compared = 1, .broken = 1, .worst = 1.0};
  describe_exit(&end, broken.note, sizeof broken.note);
  return json_pack("[{s:s, s:{s:s}, s:n, s:o, s:[o]}]", "kernel", e->encoding->name, "shape", "name", "all", "refusal",
                   "replay", encoding_replay(e), "checks", record_check(property_name(SURVIVAL), &broken));
}

json_t *verify_encodings(const encodings_request *request) {
  json_t *records = json_array(), *encodings = json_array();
  json_int_t passed = 0, failed = 0;
  for (size_t i = 0; i < request->count; i++) {
    encoding_exam e = {.request = request, .encoding = request->encodings[i]};
    json_array_append_new(encodings, encoding_json(e.encoding));
    if (e.encoding->by_kernels) continue;
    json_t *found = examined(&e), *one, *each;
    size_t n, c;
    if (!found) {
      json_decref(records);
      json_decref(encodings);
      errno = EAGAIN;
      return NULL;
    }
    json_array_foreach(found, n, one) json_array_foreach(json_object_get(one, "checks"), c, each) *
        (json_is_true(json_object_get(each, "ok")) ? &passed : &failed) += 1;
    json_array_extend(records, found);
    json_decref(found);
  }
  return json_pack("{s:s, s:o, s:[], s:o, s:I, s:o, s:I, s:I, s:i}", "schema", "posenc-encodings-1", "environment",
                   environment_json(), "kernels", "encodings", encodings, "seed", (json_int_t)request->seed, "records",
                   records, "passed", passed, "failed", failed, "skipped", 0);
}
