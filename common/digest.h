/* SPDX-License-Identifier: MIT */
/* Digests of bytes, for comparison: FNV-1a, 64 bits. */
#ifndef POSENC_COMMON_DIGEST_H
#define POSENC_COMMON_DIGEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define BYTES_DIGEST_START UINT64_C(14695981039346656037)

/* Continues a digest with `count` bytes. */
static inline uint64_t bytes_digest(uint64_t digest, const void *bytes, size_t count) {
  const unsigned char *each = (const unsigned char *)bytes;
  for (size_t i = 0; i < count; i++) digest = (digest ^ each[i]) * UINT64_C(1099511628211);
  return digest;
}

/* A digest in hexadecimal. */
typedef struct digest_text {
  char text[17];
} digest_text;

static inline digest_text digest_hex(uint64_t digest) {
  digest_text d;
  snprintf(d.text, sizeof d.text, "%016" PRIx64, digest);
  return d;
}

/* Computes the digest of a file. Returns false with errno set if the file cannot be read. */
static inline bool file_digest(const char *path, digest_text *digest) {
  unsigned char bytes[4096];
  FILE *file = fopen(path, "rb");
  uint64_t made = BYTES_DIGEST_START;
  if (!file) return false;
  for (size_t count; (count = fread(bytes, 1, sizeof bytes, file));) made = bytes_digest(made, bytes, count);
  const bool ok = !ferror(file);
  fclose(file);
  *digest = digest_hex(made);
  return ok;
}

#endif
