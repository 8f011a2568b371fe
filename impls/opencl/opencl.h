/* SPDX-License-Identifier: MIT */
/* The kernel on an OpenCL device: part of the posenc command, not of libposenc, which needs libc and libm only. */
#ifndef POSENC_IMPLS_OPENCL_OPENCL_H
#define POSENC_IMPLS_OPENCL_OPENCL_H

#include "posenc.h"

/* The contract. `absent` is set if it was built without OpenCL, and by the command if there is no device. */
extern posenc_kernel opencl_cr;

/* The result of opening the device in a process. */
typedef struct opencl_answer {
  const char *refusal; /* why the kernel cannot run here, or null */
  const char *device;  /* its name */
  bool is_gpu;
} opencl_answer;

/* Opens the device and compiles the kernel for it: in a worker, as a process with an open device must not fork. */
opencl_answer opencl_ask(void);

/* For times: functions of the device that bench/bench.h describes. */
bool opencl_stay(void);
double opencl_busy(void);
double opencl_rate(bool scales, size_t bytes);

#endif
