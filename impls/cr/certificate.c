/* SPDX-License-Identifier: MIT */
#include "impls/cr/certificate.h"

#include <stddef.h>

/* And one behind all: a list may be empty. */
static const uint32_t misrounded[] = {
#include "impls/cr/misrounded.def"
    UINT32_MAX};

static const struct {
  uint64_t digest;
  int64_t count; /* entries of `misrounded`, after those of the certificates before */
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
