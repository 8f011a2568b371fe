/* SPDX-License-Identifier: MIT */
#ifndef POSENC_LIB_API_ISA_H
#define POSENC_LIB_API_ISA_H

#include "posenc.h"

/* Sets *isa to the tiers that the options (may be null) and the environment's POSENC_ISA allow, whether the CPU has
   them or not. */
posenc_status isa_allowed(const posenc_options *options, unsigned *isa);

/* Returns the tiers that the options (may be null) allow and this CPU has; none if POSENC_ISA cannot be parsed. */
unsigned isa_usable(const posenc_options *options);

/* Returns the tiers of an x86-64 CPU with these CPUID registers, under a system that saves the register state xcr0. An
   instruction set whose registers the system does not save cannot be used. Other architectures ignore the arguments. */
unsigned isa_of(unsigned leaf1_ecx, unsigned leaf7_ebx, unsigned xcr0);

#endif
