/* SPDX-License-Identifier: MIT */
/*
 * The OpenCL device of this process, and the commands that the kernel gives it. It is opened once and stays open until
 * the process ends, as the threads of drivers do. A process that has opened it must not fork workers.
 */
#ifndef POSENC_IMPLS_OPENCL_DEVICE_H
#define POSENC_IMPLS_OPENCL_DEVICE_H

#include "impls/opencl/pair.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens the first GPU that has what cr.cl needs or, without one, the first such device, and compiles cr.cl for it.
   Returns null, or the reason why there is none, which has static storage. Thread-safe. */
const char *device_open(void);

/* Returns the largest number of elements that the device can hold, of which a row may have no more. */
int64_t device_most(void);

/* Returns the largest number of elements that are made by one command, unless a single row has more. */
int64_t device_elements(void);

/* Starts and ends the use of the device, by one thread at a time. The functions below are called in between; if a
   command fails, they print its name and end the process by abort. */
void device_begin(void);
void device_end(void);

/* Copies the frequencies to the device, the two halves of floor(2^128 × turn), unless those of this owner are there.
   The owner is a number that no other plan of this process has. */
void device_set_turns(uint64_t owner, int64_t pairs, const uint64_t *high, const uint64_t *low);

/* Make rows of a table, in f32, or apply rows of one to x, at these positions if request->listed. Return how many
   numbers of elements or pairs are uncertain, as an array that is valid until device_end. The result stays in the
   device. */
int64_t device_make_rows(const pair_request *request, const uint32_t **uncertain);

/* One sequence of x after the other, each `bytes` long and `apart` bytes after the one before. */
typedef struct device_sequences {
  size_t bytes, apart;
} device_sequences;
int64_t device_apply_rows(const pair_request *request, const int64_t *positions, device_sequences of, const void *x,
                          const uint32_t **uncertain);

/* Applies the uncertain pairs again; each has its exact sine and cosine, rounded to f32. */
void device_apply_pairs(const pair_request *request, int64_t count, const float (*exact)[2]);

/* Copies the result of the last command into memory. */
void device_read(void *out, device_sequences of, int64_t sequences);

/* Replaces an element of a table of f32 in the result. */
void device_write(int64_t element, float value);

/* Whether opencl_stay has taken effect (opencl.h); device_read does nothing then. */
bool device_stays(void);

#endif
