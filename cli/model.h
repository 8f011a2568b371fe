/* SPDX-License-Identifier: MIT */
/* --config: takes the problem from a model's files. */
#ifndef POSENC_CLI_MODEL_H
#define POSENC_CLI_MODEL_H

#include "cli/options.h"
#include "inspect/files/table.h"
#include "records/record.h"

/* Opens the file of --config, prints notes on what a problem cannot contain, and sets what options have not set: base,
   columns, scaling, layout of rope, number of positions. Exits if there is no such rope. Does nothing without
   --config. */
void take_model(options *given);

/* Sets the scaling of --config for the length of the problem's rows, or for --context. */
void take_model_length(options *given);

/* Finds the length of the sequence for which a table was made, if the scaling of --config depends on that and no option
   gives it: with the words for what the values show, or the words for a length that is wrong.
   error: the largest error of the values. */
void take_shown_length(options *given, table_file *table, double error);

/* Exits if the grid is that of --config's own pictures, and a file has other than `rows` places. */
void require_places(const options *given, int64_t rows);

/* Leaves of a cache that has the rows of short sequences and, below them, those of long ones, those of --context. Exits
   if it is missing. Returns the words for that; null for other files. */
const char *take_model_rows(const options *given, table_file *table, const char *file);

/* Finds the tables of --config for a table in a file: one for each layer type, with its name; and known mistakes in the
   first of them. */
void model_problems(const options *given, const stored *at, suspect_list *expected, suspect_list *mistakes);

/* Whether the ropes of all layers that are asked for are known; otherwise writes the key that is not to `why`. */
bool model_is_known(const options *given, char *why, size_t size);

/* Whether the pairs, the first column and the direction of a rope that posenc identify has found are those of
   --config, as far as it describes them; otherwise writes the differences to `why`. */
bool model_applies(const options *given, const record_applied *applied, char *why, size_t size);

/* Prints the ropes of --config: those of --layer-type, or of all kinds of layers; and the layers without one. */
void explain_model(const options *given, FILE *stream);

#endif
