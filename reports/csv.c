/* SPDX-License-Identifier: MIT */
#include "reports/csv.h"
#include "common/number.h"
#include "reports/model/document.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Writes a field, after a comma unless it is the first of a line. */
static void text(FILE *out, const char *value) {
  if (!strpbrk(value, ",\"\n\r")) {
    fputs(value, out);
    return;
  }
  fputc('"', out);
  for (; *value; value++) {
    if (*value == '"') fputc('"', out);
    fputc(*value, out);
  }
  fputc('"', out);
}

static void next_text(FILE *out, const char *value) {
  fputc(',', out);
  text(out, value);
}

static void number(FILE *out, double value) {
  fputc(',', out);
  if (!isnan(value)) fprintf(out, "%.9g", value);
}

static void integer(FILE *out, int64_t value) {
  fputc(',', out);
  if (value != RECORD_NONE) fprintf(out, "%" PRId64, value);
}

/* ---- times ---- */

static void spread(FILE *out, const record_spread *of) {
  number(out, of->median);
  number(out, of->min);
  number(out, of->max);
}

static void write_state(FILE *out, const char *state, const record_table *tables, size_t count) {
  for (const record_table *table = tables; table < tables + count; table++)
    RECORD_EACH(row, table, rows) {
      if (!row->timing.json) continue;
      text(out, state);
      next_text(out, table->shape.name);
      number(out, table->shape.rows);
      number(out, table->shape.dim);
      number(out, table->bytes);
      next_text(out, row->kernel);
      integer(out, row->timing.repetitions);
      spread(out, &row->timing.ns_per_element);
      spread(out, &row->timing.bytes_per_second);
      spread(out, &row->timing.of_limit);
      spread(out, &row->timing.plan_ns);
      fputc('\n', out);
    }
}

static void write_times(const record_report *report, FILE *out) {
  fputs("state,shape,rows,dim,bytes,kernel,repetitions,ns_per_element,ns_per_element_least,ns_per_element_most,"
        "bytes_per_second,bytes_per_second_least,bytes_per_second_most,of_limit,of_limit_least,of_limit_most,"
        "plan_ns,plan_ns_least,plan_ns_most\n",
        out);
  write_state(out, "hot", report->shapes, report->shapes_count);
#define STATE(name) write_state(out, #name, report->name, report->name##_count);
  REPORT_STATES(STATE)
#undef STATE
}

/* ---- errors ---- */

/* Writes the element with the largest error in ulp, the largest absolute error, or the largest share of the bound. */
static void write_worst(FILE *out, const record_table *table, const record_row *row, const char *worst_in,
                        const record_witness *worst) {
  if (!worst->json || isnan(worst->position)) return;
  text(out, table->shape.name);
  next_text(out, row->kernel);
  next_text(out, row->mode);
  integer(out, row->elements);
  integer(out, row->of);
  integer(out, row->misrounded);
  number(out, row->mean_ulp);
  next_text(out, worst_in);
  number(out, worst->ulp);
  number(out, worst->abs);
  next_text(out, number_of_position(worst->position).text);
  integer(out, worst->head);
  integer(out, worst->index);
  next_text(out, worst->function);
  next_text(out, worst->got);
  next_text(out, worst->exact);
  next_text(out, *worst->replay ? worst->replay : row->replay);
  fputc('\n', out);
}

static void write_worsts(FILE *out, const record_table *tables, size_t count) {
  for (const record_table *table = tables; table < tables + count; table++)
    RECORD_EACH(row, table, rows) {
      write_worst(out, table, row, "ulp", &row->max_ulp);
      write_worst(out, table, row, "abs", &row->max_abs);
      write_worst(out, table, row, "bound", &row->worst);
    }
}

static void write_accuracy(const record_report *report, FILE *out) {
  fputs("shape,kernel,mode,elements,of,misrounded,mean_ulp,worst_in,ulp,abs,position,head,index,function,got,exact,"
        "replay\n",
        out);
  write_worsts(out, report->shapes, report->shapes_count);
  write_worsts(out, report->cases, report->cases_count);
}

static void write_positions(const record_report *report, FILE *out) {
  fputs("kernel,position,rows,max_abs,relative,frequency,phase,trig,store\n", out);
  RECORD_EACH(profile, report, profile)
    RECORD_EACH(point, profile, points) {
      const record_parts none = {.frequency = NAN, .phase = NAN, .trig = NAN, .store = NAN},
                         *parts = point->parts.json ? &point->parts : &none;
      text(out, profile->kernel);
      integer(out, point->position);
      integer(out, point->rows);
      number(out, point->max_abs);
      number(out, point->relative);
      number(out, parts->frequency);
      number(out, parts->phase);
      number(out, parts->trig);
      number(out, parts->store);
      fputc('\n', out);
    }
}

static void write_frequencies(const record_report *report, FILE *out) {
  fputs("kernel,index,max_abs,position\n", out);
  RECORD_EACH(profile, report, profile)
    RECORD_EACH(column, profile, columns) {
      text(out, profile->kernel);
      integer(out, column->index);
      number(out, column->max_abs);
      integer(out, column->position);
      fputc('\n', out);
    }
}

static void write_histogram(const record_report *report, FILE *out) {
  const record_headline *headline = &report->headline;
  fputs("kernel,below_ulp,elements\n", out);
  RECORD_EACH(row, headline, rows)
    RECORD_EACH(bin, row, histogram) { /* the last bin has no end */
      text(out, row->kernel);
      number(out, bin->below);
      integer(out, bin->count);
      fputc('\n', out);
    }
}

const struct csv_file csv_files[CSV_FILES] = {{"times.csv", write_times},
                                              {"accuracy.csv", write_accuracy},
                                              {"positions.csv", write_positions},
                                              {"frequencies.csv", write_frequencies},
                                              {"histogram.csv", write_histogram}};
