/* SPDX-License-Identifier: MIT */
#include "common/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

bool channel_key_make(channel_key *key) {
  return getrandom(key, sizeof *key, 0) == (ssize_t)sizeof *key;
}

/* ---- the code of a message ----------------------------------------------------------------------- */

static inline uint64_t rotated(uint64_t x, int bits) {
  return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], int count) {
  for (; count > 0; count--) {
    v[0] += v[1], v[2] += v[3];
    v[1] = rotated(v[1], 13) ^ v[0], v[3] = rotated(v[3], 16) ^ v[2];
    v[0] = rotated(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = rotated(v[1], 17) ^ v[2], v[3] = rotated(v[3], 21) ^ v[0];
    v[2] = rotated(v[2], 32);
  }
}

static void absorb(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  rounds(v, 2);
  v[0] ^= word;
}

/* Words are in the machine's byte order, as both ends are on one machine. The reference implementation uses little
   endian. */
uint64_t channel_code(const channel_key *key, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint64_t v[4] = {key->words[0] ^ UINT64_C(0x736f6d6570736575), key->words[1] ^ UINT64_C(0x646f72616e646f6d),
                   key->words[0] ^ UINT64_C(0x6c7967656e657261), key->words[1] ^ UINT64_C(0x7465646279746573)};
  uint64_t word, last = (uint64_t)count << 56;
  for (; count >= sizeof word; at += sizeof word, count -= sizeof word) {
    memcpy(&word, at, sizeof word);
    absorb(v, word);
  }
  for (size_t i = 0; i < count; i++) last |= (uint64_t)at[i] << 8 * i;
  absorb(v, last);
  v[2] ^= 0xff;
  rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t code_of(const channel_key *key, const message *m) {
  const size_t skipped = sizeof m->code;
  return channel_code(key, (const char *)m + skipped, MESSAGE_HEADER - skipped + m->length);
}

/* ---- both ends ----------------------------------------------------------------------------------- */

_Static_assert(offsetof(message, text) == MESSAGE_HEADER, "messages have no padding");

bool channel_send(sender *to, uint16_t kind, const void *text, size_t length) {
  message m = {.number = to->number++, .length = (uint16_t)length, .kind = kind};
  memcpy(m.text, text, length);
  m.code = code_of(&to->key, &m);
  const size_t all = MESSAGE_HEADER + length;
  ssize_t written;
  do {
    written = write(to->descriptor, &m, all);
  } while (written < 0 && errno == EINTR);
  return written == (ssize_t)all;
}

/* Reads until `wanted` bytes of the message are there, then returns RECEIVED. */
static reception fill(receiver *from, size_t wanted) {
  while (from->length < wanted) {
    const ssize_t got = read(from->descriptor, (char *)&from->next + from->length, wanted - from->length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? RECEIVED_NOTHING : RECEIVED_END;
    if (got == 0) return from->length ? RECEIVED_FORGERY : RECEIVED_END;
    from->length += (size_t)got;
  }
  return RECEIVED;
}

reception channel_receive(receiver *from) {
  message *m = &from->next;
  reception got = fill(from, MESSAGE_HEADER);
  if (got != RECEIVED) return got;
  if (m->length > MESSAGE_MOST || m->number != from->number) return RECEIVED_FORGERY;
  got = fill(from, MESSAGE_HEADER + m->length);
  if (got != RECEIVED) return got;
  if (m->code != code_of(&from->key, m)) return RECEIVED_FORGERY;
  m->text[m->length] = '\0';
  from->number++;
  from->length = 0;
  return RECEIVED;
}
