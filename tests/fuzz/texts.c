/* SPDX-License-Identifier: MIT */
/* The readers of texts on bytes that no writer wrote: wisdom, hard-to-round cases, records and baselines. */
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

static void read_records(const uint8_t *bytes, size_t size) {
  static bool (*const kinds[])(const json_t *, record_fault *) = {record_is_accuracy, record_is_timing,
                                                                  record_is_report};
  json_t *record = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
  if (!record) return;
  for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
    record_fault fault = {""};
    const bool fits = kinds[n](record, &fault);
    if (fits == (*fault.text != '\0')) abort(); /* it says why, and only then */
    if (n == 0 && fits) json_decref(baseline_of(record));
  }
  if (!baseline_fault(record)) {
    json_t *none = json_pack("{s:[]}", "records");
    baseline_hold(none, record);
    json_decref(none);
  }
  json_decref(record);
}

void texts_read(const uint8_t *bytes, size_t size) {
  read_wisdom(bytes, size);
  read_cases(bytes, size);
  read_records(bytes, size);
}
