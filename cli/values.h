/* SPDX-License-Identifier: MIT */
/* Parses the values of options. Each function exits with a message if the value is invalid. */
#ifndef POSENC_CLI_VALUES_H
#define POSENC_CLI_VALUES_H

#include "posenc.h"

int64_t parse_integer(const char *option, const char *text, int64_t least, int64_t most);

/* Reads a finite number. */
double parse_real(const char *option, const char *text);
double parse_positive(const char *option, const char *text);
unsigned parse_isa(const char *option, const char *text);

/* Reads numbers, "5,10,-0.5", into *values, which is kept until the program ends. Returns how many. If files are
   allowed, the text may also be the name of a file, with or without a @ before it. */
int64_t parse_numbers(const char *option, const char *text, const char *between, bool files, const double **values);

/* Reads "KIND,key=value,...", see common/scaling.h. Returns the number of longrope's factors. */
int64_t parse_scaling(const char *option, const char *text, bool files, posenc_scaling *scaling);

#endif
