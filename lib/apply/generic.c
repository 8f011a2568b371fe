/* SPDX-License-Identifier: MIT */
#include "lib/simd/generic.h"

#include "lib/apply/vectors.h"
