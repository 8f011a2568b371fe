/* SPDX-License-Identifier: MIT */
/* What machine, build and libraries a record was made with. */
#ifndef POSENC_COMMON_ENVIRONMENT_H
#define POSENC_COMMON_ENVIRONMENT_H

#include <jansson.h>

/*
 * A new object of strings, in this order: "posenc_version", "kernel_abi", "commit", "compiler", "cflags", "cpu",
 * "isa" (tiers detected), "cores", "l1d", "l2", "l3" (bytes of one instance, as decimal strings), "memory", "governor", "thp", "os",
 * "kernel_release", "libc", "mpfr", "openmp", "sleef", "benchmark" (versions, or "no"), "load", "date" (UTC, ISO 8601). What cannot be known is "unknown".
 */
json_t *environment_json(void);

/* Bytes of the data cache of that level (1, 2, 3), 0 if unknown. */
long environment_cache_bytes(int level);

#endif
