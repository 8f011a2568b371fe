/* SPDX-License-Identifier: MIT */
/* What verify, bench and report have in common: which kernels on which tables, and the measuring. */
#ifndef POSENC_CLI_MEASURE_H
#define POSENC_CLI_MEASURE_H

#include "cli/options.h"
#include "verify/verify.h"

#include <jansson.h>
#include <stdio.h>

typedef struct selection {
  const posenc_kernel **kernels;
  size_t kernel_count;
  shape *shapes;
  size_t shape_count;
  size_t *kernel_counts; /* of a timing: for each shape, so many of the kernels, the first ones; or null: all */
  unsigned *modes;       /* in which each shape is timed, sets of 1 << bench_mode; or null: nothing is timed */
  double longest;        /* as in bench_request; 0: bench_longest */
  bool foretell;         /* as there */
  verify_cases *cases;   /* for each shape, or null: all of their elements */
  verify_profile profile;
} selection;

/* The kernels of --kernel, or all; the table described, or the published ones and, if asked for, the sweep before
   them. Exits if none of the kernels can do any of the tables. */
selection select_measured(const options *given, bool sweep);

/* Exits if none of the shapes is a table of successive positions with an even dim, or a rope cache of such: nothing would use that option then. */
void require_tables(const options *given, const selection *chosen, const char *option);

/* Exits if a kernel that --kernel has by its name, and not by a pattern, can do none of the tables. */
void require_named(const options *given, const selection *chosen);

/* The kernels on the hard-to-round cases of these files alone. Exits if one is not to be had, or if none of the kernels can do any of
   the tables. */
selection select_cases(const options *given, const char *const *files, size_t count);

/* What frameworks ship, on the tables that a report compares it on, and its error against position: so many of the selections, each of a
   table and the recipes that do it. None where --kernel tells what is wanted. */
enum { RECIPE_TABLES = 2 };
size_t select_recipes(const options *given, selection chosen[RECIPE_TABLES]);

/* The same in a selection to be timed: they are added, for those of its shapes alone that are one of these tables. */
void add_recipes(const options *given, selection *timed);
void selection_free(selection *chosen);

/* The accuracy record of all selections, a new reference. Exits if it cannot be made. */
json_t *measure_accuracy(const options *given, const selection *chosen, size_t count, bool explain);

/* Exits, and tells why there is no record of verify: errno. */
__attribute__((noreturn)) void die_unmeasured(void);

/* STATUS_FAILED_CHECK if a promise was broken, else EXIT_SUCCESS. */
int accuracy_status(const json_t *record);

/* Every shape in the same modes. */
void select_modes(selection *chosen, unsigned modes);

/* Makes the timing record, as bench_run; flags: further ones for Google Benchmark, or null. An exit status. */
int measure_time(const options *given, const selection *chosen, char **flags, json_t **record);

/* Prints a timing record, a table for each mode. */
void print_timings(const json_t *record, FILE *stream);

#endif
