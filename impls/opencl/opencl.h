/* SPDX-License-Identifier: MIT */
/* The kernel on an OpenCL device: part of the posenc command, not of libposenc, which needs libc and libm only. */
#ifndef POSENC_IMPLS_OPENCL_OPENCL_H
#define POSENC_IMPLS_OPENCL_OPENCL_H

#include "posenc.h"

#include <stdbool.h>
#include <stddef.h>

/* The contract. `absent` is set if it was built without OpenCL, and by the command if there is no device. */
extern posenc_kernel opencl_cr;

/* The result of opening the device in a process. */
typedef struct opencl_reply {
  const char *refusal; /* why the kernel cannot run here, or null */
  const char *device;  /* its name */
  bool is_gpu;
} opencl_reply;

/* Opens the device and compiles the kernel for it: in a worker, as a process with an open device must not fork. */
opencl_reply opencl_ask(void);

/* Functions of the device for times (bench/bench.h). After opencl_stay all rows of a call are made by one command, and
   x and the results stay in the device: x as it was when its memory was allocated. False if the device tells no
   times. */
bool opencl_stay(void);

/* Returns the seconds that kernels have taken on the device, by its clock, since the last call. */
double opencl_busy(void);

/* Returns the bytes per second at which the device fills so many bytes of its memory with a number or, if `scales`,
   multiplies as many into another part, both counted: the best of some passes. */
double opencl_rate(bool scales, size_t bytes);

#endif
