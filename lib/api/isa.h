/* SPDX-License-Identifier: MIT */
#ifndef POSENC_LIB_API_ISA_H
#define POSENC_LIB_API_ISA_H

#include "posenc.h"

/* The tiers that these options (may be null) and the environment's POSENC_ISA allow, whether the CPU has them or
   not. */
posenc_status isa_allowed(const posenc_options *options, unsigned *isa);

/* The tiers that these options allow and this CPU has; none if POSENC_ISA cannot be parsed. */
unsigned isa_usable(const posenc_options *options);

/* The tiers of a CPU that answers CPUID so, under a system that saves the register state xcr0: a CPU may have an
   instruction set that it may not use. On other CPUs than x86-64 the arguments are ignored. */
unsigned isa_of(unsigned leaf1_ecx, unsigned leaf7_ebx, unsigned xcr0);

#endif
