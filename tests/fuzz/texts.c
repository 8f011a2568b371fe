/* SPDX-License-Identifier: MIT */
/* Calls the readers of texts: wisdom, hard-to-round cases, records and baselines, lines about arrays in memory. */
#include "config.h"

#include "tests/fuzz/readers.h"

#include "inspect/files/table.h"
#include "records/compare.h"
#include "records/merge.h"
#include "records/record.h"
#include "records/timings.h"
#include "reference/worst.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void read_wisdom(const uint8_t *bytes, size_t size) {
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

void read_cases(const uint8_t *bytes, size_t size) {
  FILE *stream = size ? fmemopen((void *)(uintptr_t)bytes, size, "r") : NULL;
  worst_cases cases;
  char reason[200] = "";
  if (!stream) return;
  const char *wrong = worst_read(stream, &cases, reason, sizeof reason);
  if (wrong ? !*wrong : cases.count > size) abort();
  if (!wrong) worst_free(&cases);
  fclose(stream);
}

static const void *read_accuracy(json_t *json, record_fault *why) {
  return record_read_accuracy(json, why);
}

static const void *read_timing(json_t *json, record_fault *why) {
  return record_read_timing(json, why);
}

static const void *read_report(json_t *json, record_fault *why) {
  return record_read_report(json, why);
}

static const void *read_baseline(json_t *json, record_fault *why) {
  return record_read_baseline(json, why);
}

static const record_result *join_none(const record_result *const *parts, size_t count) {
  return count ? record_keep_result(parts[0]) : NULL;
}

/* Does with a record that was accepted what commands do with it. */
static void use_record(json_t *json, const record_accuracy *accuracy, const record_timing *timing, FILE *nowhere) {
  char why[200] = "";
  const char *reason = NULL;
  static char name[] = "a";
  const compare_thresholds thresholds = {.growth = 0, .slower = 5, .alpha = 0.05};
  if (accuracy) {
    record_print_tap(accuracy, nowhere);
    record_print_junit(accuracy, nowhere);
    record_print_text(accuracy, nowhere);
    record_print_github(accuracy, NULL, name, nowhere);
    record_mistrust(accuracy, why, sizeof why);
  } else if (!timings_check(timing, why, sizeof why) && !*why) {
    abort();
  }
  const compare_input side = {accuracy, timing};
  record_memory memory = {NULL};
  record_comparison comparison;
  if (!compare_records(&comparison, &side, &side, &thresholds, &memory, &reason) && (!reason || !*reason)) abort();
  record_release(&memory);
  *why = '\0';
  merged_record merged;
  json_t *own = json_incref(json);
  if (!merge_records(&merged, &own, (char *[]){name}, 1, join_none, why, sizeof why) && !*why) abort();
  record_free(merged.accuracy);
  record_free(merged.timing);
}

void read_records(const uint8_t *bytes, size_t size) {
  static const void *(*const readers[])(json_t *, record_fault *) = {read_accuracy, read_timing, read_report,
                                                                     read_baseline};
  static FILE *nowhere;
  if (!nowhere && !(nowhere = fopen("/dev/null", "w"))) abort();
  json_t *json = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
  if (!json) return;
  for (size_t n = 0; n < sizeof readers / sizeof *readers; n++) {
    record_fault why = {""};
    const void *record = readers[n](json_incref(json), &why);
    if (!record == !*why.text) abort(); /* a fault has a text, and only a fault */
    record_memory memory = {NULL};
    if (record && n < 2) use_record(json, n == 0 ? record : NULL, n == 1 ? record : NULL, nowhere);
    if (record && readers[n] == read_accuracy) {
      const record_baseline made = baseline_of(record, &memory);
      json_decref(record_write_baseline(&made));
    }
    if (record && readers[n] == read_baseline)
      baseline_hold(&(record_accuracy){.records_count = 0}, record, &(baseline_terms){.allow_environment = true},
                    &memory);
    record_release(&memory);
    record_free(record);
  }
  record_free(record_take_accuracy(json_incref(json)));
  record_free(record_take_timing(json));
}

void read_memory(const uint8_t *bytes, size_t size) {
  char *line = strndup((const char *)bytes, size);
  for (int half = TABLE_ARRAY; line && half <= TABLE_JOINED; half++) {
    stored found;
    memory_array array;
    fault why = {""};
    if (memory_array_find(line, (table_half)half, &found, &array, &why)
            ? found.rows < 1 || found.dim < 1 || array.axis_count < 1 || array.axis_count > STORED_AXES
            : !*why.text)
      abort();
  }
  free(line);
}
