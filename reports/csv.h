/* SPDX-License-Identifier: MIT */
/* Writes the data of the figures and tables of a report as comma-separated values, with a line of names first. */
#ifndef POSENC_REPORTS_CSV_H
#define POSENC_REPORTS_CSV_H

#include "records/read.h"

#include <stdio.h>

enum { CSV_FILES = 5 };

/* Unknown numbers are empty. Errors stay in the stream. */
extern const struct csv_file {
  const char *name;
  void (*write)(const record_report *report, FILE *stream);
} csv_files[CSV_FILES];

#endif
