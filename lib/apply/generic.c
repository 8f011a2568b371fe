/* SPDX-License-Identifier: MIT */
#define TARGET
#define FLOATS 4
#define LOOPS apply_loops_generic
#include "lib/apply/vectors.h"
