/* SPDX-License-Identifier: MIT */
/* Makes the documents of reports from their records, and the parts of these documents. */
#ifndef POSENC_REPORTS_MODEL_COMPOSE_H
#define POSENC_REPORTS_MODEL_COMPOSE_H

#include "records/read.h"
#include "records/timings.h"

#include <jansson.h>

/* Makes a "report" of records/record.schema.json. `timing` may be null. */
json_t *document_make(const record_accuracy *accuracy, const record_timing *timing, const char *command);

/* Makes "claims": common claims about positional encodings, and what the shapes and the profile of the report show
   about each. */
json_t *claims_make(const record_report *report);

/* Makes "stability": how steady the machine was, from the timings with hot caches, as the limit of a shape is measured
   again beside each kernel. `others` is the share of the processors that other processes used in that time, or NaN.
   Returns JSON null if nothing was timed. */
json_t *stability_make(samples *times, double others);

/* ---- causes of errors ------------------------------------------------------------------------------------ */

/* Finds the causes of the errors of kernels. */

/* The parts of an error, in the order of a kernel's steps. */
enum { CAUSES = 4 };
extern const char *const cause_names[CAUSES];

static inline double cause_part(const record_parts *parts, size_t cause) {
  return (const double[CAUSES]){parts->frequency, parts->phase, parts->trig, parts->store}[cause];
}

/*
 * Makes the "causes" of a report from the profiles of an accuracy record. A span lists each cause with a fifth of the
 * error or more; the largest of four shares is at least a quarter, so every span lists one. Kernels without parts are
 * left out.
 */
json_t *causes_make(const record_accuracy *record);

/* ---- the cost of choices --------------------------------------------------------------------------------- */

/* Computes the cost of the library's own choices: the time of the chosen kernel divided by that of the fastest kernel
   with the same guarantees. */

/* Makes the "regret" of the report from its "choices" and times, for every shape that was timed, with one thread and
   with all threads. */
json_t *regret_make(const record_report *report, samples *times);

/* The geometric mean and the largest of the ratios with one thread, or with all; `count` is 0 if there are none. */
typedef struct regret_summary {
  int count;
  double mean, worst;
  const record_regret *of_worst; /* null if each choice is the fastest */
} regret_summary;
regret_summary regret_sum_up(const record_report *report, bool serial);

/* ---- several machines ------------------------------------------------------------------------------------ */

/* Makes the document of several machines from the report of each. */

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

/* ---- the front page: several machines in short, and packages beside posenc ----------------------------------- */

/* What stands beside a report on its front page. */
typedef struct front_inputs {
  const char *label;        /* the name of the report's machine; null: its CPU */
  json_t *const *beside;    /* reports of other machines, or published ones, which have several */
  const char *const *names; /* of their files, for messages */
  size_t count;
  const json_t *packages; /* of make time-peers, or null: those of the first report beside it that has some */
} front_inputs;

/* Returns a "front_machine" of records/fields.def. */
json_t *front_machine(const record_report *report, const char *label);

/* Adds "machines" and "packages" to the document of a report. Of one label, the figures of the latest date stay.
   Returns false, with the reason in `why` in one line, if an input is not what it should be. */
bool front_add(json_t *document, const front_inputs *given, char *why, size_t size);

#endif
