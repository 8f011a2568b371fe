/* SPDX-License-Identifier: MIT */
/* Makes the document of several machines from the report of each. */
#ifndef POSENC_REPORTS_MODEL_MACHINES_H
#define POSENC_REPORTS_MODEL_MACHINES_H

#include <jansson.h>

/* The reports of `count` machines. `labels` are those of the first `label_count` machines; the label of others is their
   CPU. `command` is the command line that makes the page. */
typedef struct machines_inputs {
  json_t *const *reports;
  char *const *names; /* names of the files, for messages */
  size_t count;
  const char *const *labels;
  size_t label_count; /* at most count */
  const char *command;
} machines_inputs;

/*
 * Makes a "machines" of records/record.schema.json. Returns null, with the reason in `why` in one line, if one of the
 * inputs is no report, or two are of one run.
 */
json_t *machines_make(const machines_inputs *given, char *why, size_t size);

#endif
