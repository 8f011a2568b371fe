/* SPDX-License-Identifier: MIT */
/* The machine, build and libraries that a record was made with. */
#ifndef POSENC_COMMON_ENVIRONMENT_H
#define POSENC_COMMON_ENVIRONMENT_H

#include <jansson.h>

/*
 * A new object of strings, in this order: "posenc_version", "kernel_abi", "commit", "compiler", "cflags", "cpu",
 * "emulator" (that runs this program, or "no"), "isa" (tiers detected), "cores", "l1d", "l2", "l3" (bytes of one
 * instance), "memory", "governor", "thp", "os", "kernel_release", "libc", "mpfr", "openmp", "sleef", "benchmark"
 * (versions, or "no"), "load", "date" (UTC, ISO 8601). Unknown facts are "unknown".
 */
json_t *environment_json(void);

enum { ENVIRONMENT_TEXT = 256 };

/* The file name of the program that runs this one, as qemu's user mode and valgrind do; null if the processor does, or
   if that cannot be told: an emulator of a whole machine is not seen. `text` may hold the name. */
const char *environment_emulator(char text[ENVIRONMENT_TEXT]);

/* Bytes of the data cache of that level (1, 2, 3), 0 if unknown. */
long environment_cache_bytes(int level);

#endif
