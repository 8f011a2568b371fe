/* SPDX-License-Identifier: MIT */
#include "lib/simd/generic.h"

#include "encodings/dropout-vectors.h"
