/* SPDX-License-Identifier: MIT */
/* The document of several machines side by side, from the report of each. */
#ifndef POSENC_REPORTS_MODEL_MACHINES_H
#define POSENC_REPORTS_MODEL_MACHINES_H

#include <jansson.h>

/* The reports that stand side by side, as many as names. labels: of the first machines; the others are called by their
   CPU. command: the command line that makes the page. */
typedef struct machines_inputs {
  json_t *const *reports;
  char *const *names; /* of the files, for messages */
  size_t count;
  const char *const *labels;
  size_t label_count; /* at most count */
  const char *command;
} machines_inputs;

/*
 * A "machines" of records/record.schema.json. Null, and `why` in one line, if one of the reports is none, two are of
 * one run, or memory runs out.
 */
json_t *machines_make(const machines_inputs *given, char *why, size_t size);

#endif
