/* SPDX-License-Identifier: MIT */
/*
 * Mutates the seeds for POSENC_FUZZ_SECONDS, and at least LEAST times, as libFuzzer does, which not every compiler has.
 * Every run draws the same numbers. Writes TAP. Given a folder, writes the seeds there, from which libFuzzer starts;
 * given a number, too, as many mutations of them, for tests/wasm.sh.
 */
#include "tests/fuzz/seeds.h"
#include "tests/numbers.h"
#include "tests/tap.h"

#include "common/clock.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t below(uint64_t limit) {
  return random_bits() % limit;
}

/* Words of the formats, and numbers at the ends of their ranges. */
static const char words[] =
    "descr shape fortran_order True '<f8' '<V2' '>f2' ( ) , { } ' [ ] \" \"dtype\":\"F64\" "
    "\"shape\":[1,1] \"data_offsets\":[0,64] __metadata__ 0 1 4 -1 1.5 null 4294967296 "
    "\"rope_type\":\"llama3\" \"alpha\":3 \"rope_parameters\": GGUF .rope.scaling.type yarn longrope "
    "9223372036854775807 18446744073709551616 4611686018427387904";
enum { ROOM = 4096, LEAST = 2000 /* mutations, where a machine is slow */ };

/* Returns one of the words. */
static const char *draw_word(size_t *length) {
  const char *word = words + below(sizeof words - 1);
  while (word > words && word[-1] != ' ') word--;
  *length = strcspn(word, " ");
  return word;
}

/* Replaces `gone` bytes by `count` others, if there is room. */
static size_t splice(uint8_t *bytes, size_t size, size_t at, size_t gone, const void *with, size_t count) {
  if (gone > size - at) gone = size - at;
  if (size - gone + count > ROOM) return size;
  memmove(bytes + at + count, bytes + at + gone, size - at - gone);
  memcpy(bytes + at, with, count);
  return size - gone + count;
}

static size_t mutate(uint8_t *bytes, size_t size) {
  const size_t at = (size_t)below(size + 1), head = size < 16 ? size : 16;
  uint8_t some[16];
  switch (below(8)) {
  case 0: /* a bit */
    if (at < size) bytes[at] ^= (uint8_t)(1u << below(8));
    return size;
  case 1: /* a byte, often of a length at the start */
    if (at < size) bytes[below(2) ? at : below(head)] = (uint8_t)below(256);
    return size;
  case 2: /* cut */
    return at;
  case 3: /* some bytes removed */
    return splice(bytes, size, at, (size_t)below(16), some, 0);
  case 4: { /* some bytes repeated */
    if (at + sizeof some > size) return size;
    memcpy(some, bytes + at, sizeof some);
    for (uint64_t times = below(4) ? 1 : below(64); times > 0; times--)
      size = splice(bytes, size, at, 0, some, sizeof some);
    return size;
  }
  case 5: { /* a digit changed */
    for (size_t i = at; i < size; i++)
      if (bytes[i] >= '0' && bytes[i] <= '9') {
        bytes[i] = (uint8_t)('0' + below(10));
        break;
      }
    return size;
  }
  default: { /* a word inserted */
    size_t length;
    const char *word = draw_word(&length);
    return splice(bytes, size, at, (size_t)below(8), word, length);
  }
  }
}

/* Makes a seed with up to six mutations; returns its size. */
static size_t draw_input(uint8_t bytes[ROOM]) {
  seed s;
  seed_make((int)below(SEEDS), &s);
  memcpy(bytes, s.bytes, s.size);
  size_t size = s.size;
  for (uint64_t left = 1 + below(6); left > 0; left--) size = mutate(bytes, size);
  return size;
}

static bool write_input(const char *folder, const char *kind, long number, const uint8_t *bytes, size_t size) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s-%02ld", folder, kind, number);
  FILE *file = fopen(path, "wb");
  const bool is_written = file && fwrite(bytes, 1, size, file) == size;
  if (file && fclose(file) == 0 && is_written) return true;
  fprintf(stderr, "%s: %s\n", path, strerror(errno));
  return false;
}

int main(int argc, char **argv) {
  static uint8_t bytes[ROOM];
  seed s;
  if (argc > 1) {
    for (int number = 0; number < SEEDS; number++) {
      seed_make(number, &s);
      if (!write_input(argv[1], "seed", number, s.bytes, s.size)) return 2;
    }
    const long mutations = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    for (long number = 0; number < mutations; number++) {
      const size_t size = draw_input(bytes);
      if (!write_input(argv[1], "mutation", number, bytes, size)) return 2;
    }
    return 0;
  }
  const char *seconds = getenv("POSENC_FUZZ_SECONDS");
  const double limit = seconds ? strtod(seconds, NULL) : 3.0, begin = clock_seconds();
  for (int number = 0; number < SEEDS; number++) {
    seed_make(number, &s);
    for (size_t size = 0; size <= s.size; size++) LLVMFuzzerTestOneInput(s.bytes, size);
  }
  ok(true, "every seed, and every prefix of it");
  long tried = 0;
  for (; tried < LEAST || clock_seconds() - begin < limit; tried++) {
    const size_t size = draw_input(bytes);
    LLVMFuzzerTestOneInput(bytes, size);
  }
  ok(tried >= LEAST, "%ld mutations", tried);
  return tap_done();
}
