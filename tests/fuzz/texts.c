/* SPDX-License-Identifier: MIT */
/* Calls the readers of texts on arbitrary bytes: wisdom, hard-to-round cases, records and baselines. */
#include "config.h"

#include "tests/fuzz/texts.h"

#include "records/baseline.h"
#include "records/read.h"
#include "reference/worst.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void read_wisdom(const uint8_t *bytes, size_t size) {
  static const char header[] = "posenc-wisdom 1\n";
  if (size < sizeof header - 1 || memcmp(bytes, header, sizeof header - 1) != 0) return; /* a file for each is slow */
  const int file = memfd_create("wisdom", 0);
  char path[64];
  if (file < 0) return;
  if (write(file, bytes, size) == (ssize_t)size) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    posenc_wisdom *wisdom;
    if (posenc_wisdom_read(&wisdom, path) == POSENC_OK) {
      const posenc_problem problem = posenc_table(4, 8);
      posenc_options options = posenc_default_options();
      posenc_plan *plan;
      options.wisdom = wisdom;
      if (posenc_wisdom_count(wisdom) > size) abort();
      if (posenc_plan_create(&plan, &problem, &options) == POSENC_OK) posenc_plan_destroy(plan);
      posenc_wisdom_free(wisdom);
    } else if (wisdom) {
      abort();
    }
  }
  close(file);
}

static void read_cases(const uint8_t *bytes, size_t size) {
  FILE *stream = size ? fmemopen((void *)(uintptr_t)bytes, size, "r") : NULL;
  worst_cases cases;
  char fault[200] = "";
  if (!stream) return;
  const char *wrong = worst_read(stream, &cases, fault, sizeof fault);
  if (wrong ? !*wrong : cases.count > size) abort();
  if (!wrong) worst_free(&cases);
  fclose(stream);
}

static const void *read_accuracy(const json_t *json, record_fault *fault) {
  return record_read_accuracy(json, fault);
}

static const void *read_timing(const json_t *json, record_fault *fault) {
  return record_read_timing(json, fault);
}

static const void *read_report(const json_t *json, record_fault *fault) {
  return record_read_report(json, fault);
}

static const void *read_baseline(const json_t *json, record_fault *fault) {
  return record_read_baseline(json, fault);
}

static void read_records(const uint8_t *bytes, size_t size) {
  static const void *(*const readers[])(const json_t *, record_fault *) = {read_accuracy, read_timing, read_report,
                                                                           read_baseline};
  json_t *json = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
  if (!json) return;
  for (size_t n = 0; n < sizeof readers / sizeof *readers; n++) {
    record_fault fault = {""};
    const void *record = readers[n](json, &fault);
    if (!record == !*fault.text) abort(); /* a fault has a text, and only a fault */
    if (record && readers[n] == read_accuracy) json_decref(baseline_of(json));
    if (record && readers[n] == read_baseline) {
      json_t *none = json_pack("{s:[]}", "records");
      baseline_hold(none, json, false);
      json_decref(none);
    }
    record_free(record);
  }
  record_free(record_take_accuracy(json));
  record_free(record_take_timing(json));
  json_decref(json);
}

void texts_read(const uint8_t *bytes, size_t size) {
  read_wisdom(bytes, size);
  read_cases(bytes, size);
  read_records(bytes, size);
}
