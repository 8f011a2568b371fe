/* SPDX-License-Identifier: MIT */
/* The processes that isolate() creates, watcher and worker, and their messages. */
#ifndef POSENC_COMMON_WORKER_H
#define POSENC_COMMON_WORKER_H

#include "common/work.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Messages through a pipe from a process that runs foreign code. Each has a number and a code made with a secret key,
 * so that bytes written by the foreign code are detected. The foreign code shares the sender's memory, however, and
 * could find the key there.
 */
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

/* Kinds of the worker's messages. SAYS_DOING is a sign of life; the reported activity is in shared memory. */
enum { SAYS_DOING, SAYS_PROGRESS, SAYS_LINE, SAYS_RESULT, SAYS_FAILURE, SAYS_ORPHANS, SAYS_REPLY, SAYS_END };

/* Exit statuses of the worker's own code, which foreign code could only guess. */
enum { EXIT_ORDERLY = 86, EXIT_MUTE = 87 };

typedef struct worker_end {
  int status;    /* the worker's, from waitpid */
  bool orphans;  /* a process that the worker started has outlived it */
  bool littered; /* files were left in its folder */
} worker_end;

/* The pipes between the three processes. Closing `release` makes the watcher kill the worker. */
typedef struct pipes {
  int messages[2], output[2], release[2], verdicts[2];
  int orders[2]; /* sockets: the caller's and the worker's */
} pipes;

/* Shared memory for values that need not wake the caller. */
typedef struct shared {
  pid_t worker;                           /* the worker's number, set before foreign code runs */
  _Atomic size_t at_work;                 /* the number of the kernel at work, from 1 on, or 0 */
  double share;                           /* the part of the work that is done */
  char doing[sizeof((isolated){0}.last)]; /* the current activity */
} shared;

/* Returns the number of a kernel in how->kernels, from 1 on; 0 if it is null or not among them. */
size_t number_of_kernel(const isolation *how, const posenc_kernel *kernel);

/* Forks the worker, waits for it, writes the verdict, and ends. Runs in the watcher. */
_Noreturn void worker_watch(void (*work)(void *), void *argument, const isolation *how, const pipes *p,
                            const channel_key *key, shared *with);

#endif
