/* SPDX-License-Identifier: MIT */
/*
 * Messages through a pipe from a process that runs foreign code. Each has a number and a code made with a secret key,
 * so that bytes written by the foreign code are detected. The foreign code shares the sender's memory, however, and
 * could find the key there.
 */
#ifndef POSENC_COMMON_CHANNEL_H
#define POSENC_COMMON_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct channel_key {
  uint64_t words[2];
} channel_key;

/* Makes a random key. Returns false if the system has no random numbers. */
bool channel_key_make(channel_key *key);

/* Returns SipHash-2-4 of `count` bytes (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012). */
uint64_t channel_code(const channel_key *key, const void *bytes, size_t count);

/* A message is written by one call: writes of at most PIPE_BUF bytes, 4096 on Linux, are atomic on pipes. */
enum { MESSAGE_HEADER = 16, MESSAGE_MOST = 4096 - MESSAGE_HEADER };

typedef struct message {
  uint64_t code; /* the code of all that follows */
  uint32_t number;
  uint16_t length; /* length of the text */
  uint16_t kind;
  char text[MESSAGE_MOST + 1]; /* received texts end with a null byte */
} message;

typedef struct sender {
  channel_key key;
  int descriptor;
  uint32_t number; /* of the next message */
} sender;

/* Sends a message of at most MESSAGE_MOST bytes. Returns false if the pipe cannot be written. Async-signal-safe. */
bool channel_send(sender *to, uint16_t kind, const void *text, size_t length);

typedef struct receiver {
  channel_key key;
  int descriptor; /* non-blocking */
  uint32_t number;
  size_t length; /* received bytes of `next` */
  message next;
} receiver;

typedef enum reception {
  RECEIVED,         /* a message is in from->next, until the next call */
  RECEIVED_NOTHING, /* no complete message yet */
  RECEIVED_END,     /* the other end is closed */
  RECEIVED_FORGERY, /* the bytes are not a message of the sender */
} reception;

reception channel_receive(receiver *from);

#endif
