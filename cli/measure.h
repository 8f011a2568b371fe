/* SPDX-License-Identifier: MIT */
/* Selects kernels and shapes, and measures them, for verify, bench, choose and report. */
#ifndef POSENC_CLI_MEASURE_H
#define POSENC_CLI_MEASURE_H

#include "cli/options.h"
#include "common/run.h"
#include "records/record.h"
#include "verify/verify.h"

#include <stdio.h>

/* Returns an empty request with what the options say of how a run is done. */
run_request begin_run(const options *given);

/* Selects the kernels of --kernel, or all; and the problem of the options, or the published shapes, after the sweep if
   `sweep`, for timing: then kernels that are not timed on this machine are left out, or refused if they are named.
   A report has the library's default and the literal formula beside kernels of a plugin.
   Exits if no kernel can compute any of the shapes. */
run_request select_measured(const options *given, bool sweep);

/* Adds to the contracts of an accuracy record the files of plugins, and which kernels the page is about: those of
   --kernel, else those of plugins, if there are any. */
void describe_kernels(const options *given, const record_accuracy **record);

/* Exits if an emulator runs the program, whose times would look like those of a processor. `what` begins the message,
   "--keep: ", and `use` says what is not done with them. */
void refuse_emulator(const char *what, const char *use);

/* Exits if none of the shapes is a table, or a rope cache, of successive positions with an even dim, as the option
   needs. */
void require_tables(const options *given, const run_request *chosen, const char *option);

/* Exits if --kernel names a kernel, without a pattern, that can compute none of the shapes. */
void require_named(const options *given, const run_request *chosen);

/* Selects the kernels on the hard-to-round cases of these files. Exits if a file cannot be read, or if no kernel can
   compute any of the cases. */
run_request select_cases(const options *given, const char *const *files, size_t count);

/* Selects recipes on the tables that a report compares them on, with their error by position: on each table those that
   can compute it, on the second one those that cannot compute the first. Without items if --kernel is given. */
run_request select_recipes(const options *given);

/* Adds a kernel on all shapes, unless it is there. */
void add_kernel(run_request *chosen, const posenc_kernel *kernel);

/* Adds the recipes of select_recipes to a request that will be timed, on those of its shapes that are their tables. */
void add_recipes(const options *given, run_request *timed);

/* Returns the accuracy record, for record_free. Exits if it cannot be made. Kernels are asked by run_ask. */
const record_accuracy *measure_accuracy(run_request *asked);

/* Exits with the reason, from errno, why verify returned no record. */
__attribute__((noreturn)) void die_unmeasured(void);

/* Returns STATUS_FAILED_CHECK if a check of the record failed, else EXIT_SUCCESS. */
int accuracy_status(const record_accuracy *record);

/* Returns STATUS_FAILED_CHECK if a check of the record, or of that of encodings in it, failed, or one of them compared
   nothing; else EXIT_SUCCESS. A record may have encodings alone. */
int whole_status(const record_accuracy *record);

/* Returns STATUS_FAILED_CHECK if a timing record lacks kernels that crashed, hung or the like, with a line on stderr
   for each, unless the run that made the record has told; else EXIT_SUCCESS, as for null. */
int timed_status(const record_timing *record, bool told);

/* Sets the modes of every item. */
void select_modes(run_request *chosen, unsigned modes);

/* Sets the profile of all items. */
void select_profile(run_request *chosen, run_profile wanted);

/* Prints a timing record as one table for each mode. */
void print_timings(const record_timing *record, FILE *stream);

/* Prints a line if other processes used so much of the machine that the times are unreliable; else nothing. */
void print_unreliable(const record_timing *record, FILE *stream);

/* For a shard, returns the digests of this program and, if it is another file, of libposenc; null if they cannot be
   read. Version and commit do not tell builds of modified sources apart. To be called before a run, during which the
   files may be replaced. */
char *resume_build(const options *given);

/* Adds command and build, which may be null, to what a record has of its shard, if it is one. */
void resume_note(const options *given, const char *build, record_run_shard *part);

/* For --resume: returns whether the file of --output already is the record of this shard, by the same command, build
   and run, and sets *status to its exit status. Exits if the file is anything else, but for a shard that lacked memory,
   which is done again. */
bool resume_is_done(const options *given, const char *build, const run_request *asked, int *status);

/* ---- other encodings ------------------------------------------------------------------------------------- */

/* Encodings other than the sinusoidal table and RoPE, on the command line. */

/* Returns an encoding as bench times it: a kernel makes its rows, or what it adds to x. The shapes are those of the
   options, or some of usual sizes. Exits if there is no such encoding. */
run_request select_encoded(const options *given, const char *name);

/* Runs posenc write --encoding. */
void write_encoding(const options *given);

#endif
