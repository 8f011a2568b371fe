/* SPDX-License-Identifier: MIT */
/* What options' values say. What cannot be is told, and ends the program. */
#ifndef POSENC_CLI_VALUES_H
#define POSENC_CLI_VALUES_H

#include "posenc.h"

int64_t parse_integer(const char *option, const char *text, int64_t least, int64_t most);

/* Finite. */
double parse_real(const char *option, const char *text);
double parse_positive(const char *option, const char *text);
/* Why a text is refused as a set of instruction sets. */
#define NOT_TIERS "no set of tiers (generic, avx2, avx512)"
unsigned parse_isa(const char *option, const char *text);

/* "5,10,-0.5", or, where files are allowed, the name of one, which a @ may stand before: *values is there until the program ends. How many. */
int64_t parse_numbers(const char *option, const char *text, const char *between, bool files, const double **values);

/* "KIND,key=value,..." of common/scaling.h. How many factors of longrope there are. */
int64_t parse_scaling(const char *option, const char *text, bool files, posenc_scaling *scaling);

#endif
