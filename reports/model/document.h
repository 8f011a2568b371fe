/* SPDX-License-Identifier: MIT */
/* Documents of reports: made from records, and what page, Markdown and report.json show of them. */
#ifndef POSENC_REPORTS_MODEL_DOCUMENT_H
#define POSENC_REPORTS_MODEL_DOCUMENT_H

#include "posenc.h"
#include "records/record.h"
#include "records/timings.h"

#include <jansson.h>
#include <stdbool.h>

/* The states of memory in which tables are timed, as fields of the report, except "hot", whose times are in
   "shapes". */
#define REPORT_STATES(STATE) STATE(cold) STATE(fresh) STATE(malloc) STATE(offset) STATE(first) STATE(row)

/* The name of the reference shape, which headlines use if it was verified. */
extern const char report_reference[];

/* Returns the shape of that name, or the row of a kernel in a table, which may be null. Returns null if there is
   none. */
const record_table *report_table(const record_report *report, const char *name);
const record_row *report_row(const record_table *table, const char *kernel);

/* Whether all elements were compared bit by bit, and are the same. */
bool row_has_same_bits(const record_row *a, const record_row *b);

/* Whether the row was timed on slices of the table. */
bool row_is_sliced(const record_row *row);

/* Returns why times of the kernel are lacking, all or some: it broke a check, crashed or the like; "" if it did not. */
const char *report_loss(const record_report *report, const char *kernel);

/* Returns the median of the kernel's times on the table in ns; NaN if it was not timed. */
double report_median_ns(const record_table *table, const char *kernel);

const record_kernel *report_kernel(const record_report *report, const char *name);
bool report_is_recipe(const record_report *report, const char *kernel);

/* Returns the kernel that the library chooses for a shape, with one thread or with all; "" if the record does not have
   it. */
const char *report_choice(const record_report *report, const char *name, bool serial);

/* Whether anything was timed; whether it was on that table. */
bool report_is_timed(const record_report *report);
bool table_is_timed(const record_table *table);

/* Whether it is a table of f32, as opposed to an x or a rope cache. */
bool report_is_f32_table(const record_table *table);

/* Returns the bound of the contract; or the one of the kernel's rows in a dtype, which the library may round again. */
posenc_bound report_bound(const record_kernel *kernel);
posenc_bound report_bound_in(const record_kernel *kernel, posenc_dtype dtype);

/* Returns the dtype of a shape, f32 if the record has none. */
posenc_dtype report_dtype(const record_table_shape *of);

/* ---- made from records ------------------------------------------------------------------------------------------- */

/* Makes the documents of reports from their records, and the parts of these documents. */

/* A report. Its texts are those of the records that it is made of, which must outlive it, and of their repetitions. */
typedef struct document {
  record_report of;
  record_memory memory;
  repetition_index *times;
} document;

/* Makes a report, for document_free. `timing` may be null. */
void document_make(document *made, const record_accuracy *accuracy, const record_timing *timing, const char *command);
void document_free(document *made);

/* Adds "claims" to the report: common claims about positional encodings, and what its shapes and its profile show about
   each. */
void claims_make(record_report *report, record_memory *in);

/* Returns how steady the machine was, from the timings with hot caches, as the limit of a shape is measured again
   beside each kernel. `others` is the share of the processors that other processes used in that time, or NaN. It is not
   there if nothing was timed. */
record_stability stability_make(repetition_index *times, double others);

/* ---- causes of errors ------------------------------------------------------------------------------------ */

/* Finds the causes of the errors of kernels. */

/* The parts of an error, in the order of a kernel's steps. */
enum { CAUSES = 4 };
extern const char *const cause_names[CAUSES];

static inline double cause_part(const record_parts *parts, size_t cause) {
  return (const double[CAUSES]){parts->frequency, parts->phase, parts->trig, parts->store}[cause];
}

/*
 * Adds the "causes" to a report from the profiles of an accuracy record. A span lists each cause with a fifth of the
 * error or more; the largest of four shares is at least a quarter, so every span lists one. Kernels without parts are
 * left out.
 */
void causes_make(record_report *report, const record_accuracy *record, record_memory *in);

/* ---- the cost of choices --------------------------------------------------------------------------------- */

/* Computes the cost of the library's own choices: the time of the chosen kernel divided by that of the fastest kernel
   with the same guarantees. */

/* Adds the "regret" to the report from its "choices" and times, for every shape that was timed, with one thread and
   with all threads. */
void regret_make(record_report *report, repetition_index *times, record_memory *in);

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
  const record_report *const *reports;
  char *const *names; /* names of the files, for messages */
  size_t count;
  const char *const *labels;
  size_t label_count;                    /* at most count */
  const record_package_errors *packages; /* or null */
  const char *command;
} machines_inputs;

/*
 * Makes a document whose texts are those of the inputs; its lists are in `in`. Returns false, with the reason in `why`
 * in one line, if two of the inputs are of one run.
 */
bool machines_make(record_machines *made, const machines_inputs *given, record_memory *in, char *why, size_t size);

/* ---- the front page: several machines in short, and packages beside posenc ----------------------------------- */

/* The report of another machine, or a published one, which has several. */
typedef struct front_beside {
  const record_report *report;       /* or null */
  const record_published *published; /* or null */
} front_beside;

/* Reads it, for front_close. Returns false, with a fault, if the JSON is neither. */
bool front_read(front_beside *made, json_t *json, record_fault *fault);
void front_close(front_beside *of);

/* Figures and machines that a report's front page shows beside its own. */
typedef struct front_inputs {
  const char *label;          /* the name of the report's machine; null: its CPU */
  const front_beside *beside; /* as many as count */
  size_t count;
  const record_package_times *packages; /* null: those of the first report beside it that has some */
} front_inputs;

/* Returns a machine, whose list is in `in`. */
record_front_machine front_machine(const record_report *report, const char *label, record_memory *in);

/* Adds "machines" and "packages" to a report. Of one label, the figures of the latest date stay. */
void front_add(record_report *report, const front_inputs *given, record_memory *in);

#endif
