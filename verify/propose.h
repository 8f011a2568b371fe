/* SPDX-License-Identifier: MIT */
/* Proposes bounds for the contracts of kernels, from errors that were measured (verify --propose-bound). */
#ifndef POSENC_VERIFY_PROPOSE_H
#define POSENC_VERIFY_PROPOSE_H

#include "posenc.h"

#include <jansson.h>

/* Returns the bound to measure a kernel with: half an ulp, beyond which errors are measured (rests in request.h). Its
   domain is that of the contract, if it has one, as far as the search goes. */
posenc_bound propose_measuring(const posenc_kernel *kernel);

/* Whether the problem is one to measure: a table of successive positions. Factors of the positions or of the values
   would change the numbers of the bound, and contracts are for bases of 1 or more. */
bool propose_takes(const posenc_problem *problem);

/* Sets the kernel's bound to the one for all results that the record, made with rests and that seed, has of it. Returns
   the proposal of the record; with `why` and without a change if there is no bound to propose. Null if memory runs
   out. */
json_t *propose_bound(const json_t *record, posenc_kernel *kernel, uint64_t seed);

#endif
