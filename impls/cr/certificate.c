/* SPDX-License-Identifier: MIT */
#include "impls/cr/cr.h"

#include <stddef.h>

/* The last entry is a sentinel, since the list may be empty. */
static const uint32_t misrounded[] = {
#include "impls/cr/misrounded.def"
    UINT32_MAX};

static const struct {
  uint64_t digest;
  int64_t count; /* entries in `misrounded`, in the order of the certificates */
} certificates[] = {
#define CERTIFICATE(digest, count) {digest, count},
#include "impls/cr/certificates.def"
#undef CERTIFICATE
};

certificate certificate_find(uint64_t digest) {
  const uint32_t *list = misrounded;
  for (size_t n = 0; n < sizeof certificates / sizeof *certificates; list += certificates[n++].count)
    if (certificates[n].digest == digest) return (certificate){list, certificates[n].count};
  return (certificate){NULL, 0};
}
