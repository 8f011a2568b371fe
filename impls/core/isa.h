/* SPDX-License-Identifier: MIT */
#ifndef POSENC_IMPLS_CORE_ISA_H
#define POSENC_IMPLS_CORE_ISA_H

#include "posenc.h"

/* The tiers that these options (may be null) and the environment's POSENC_ISA allow, whether the CPU has them or not.
 */
posenc_status isa_allowed(const posenc_options *options, unsigned *isa);

#endif
