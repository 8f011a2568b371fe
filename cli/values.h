/* SPDX-License-Identifier: MIT */
/* Parsers of the values of options. An invalid value ends the program with a message. */
#ifndef POSENC_CLI_VALUES_H
#define POSENC_CLI_VALUES_H

#include "posenc.h"

int64_t parse_integer(const char *option, const char *text, int64_t least, int64_t most);

/* Finite. */
double parse_real(const char *option, const char *text);
double parse_positive(const char *option, const char *text);
unsigned parse_isa(const char *option, const char *text);

/* Reads numbers, "5,10,-0.5", into *values, which stays until the program ends, and returns how many. Where files are
   allowed, the text may be the name of one, with or without a @ before it. */
int64_t parse_numbers(const char *option, const char *text, const char *between, bool files, const double **values);

/* Reads "KIND,key=value,...", see common/scaling.h; returns the number of longrope's factors. */
int64_t parse_scaling(const char *option, const char *text, bool files, posenc_scaling *scaling);

#endif
