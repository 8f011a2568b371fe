/* SPDX-License-Identifier: MIT */
/* What belongs to the whole process, and so to the caller of a kernel: signals, folder, descriptors and the like. */
#ifndef POSENC_VERIFY_PROCESS_H
#define POSENC_VERIFY_PROCESS_H

#include <stdint.h>

typedef struct process_state process_state;

/* Now; null when memory runs out. */
process_state *process_read(void);
void process_free(process_state *s);

/* What differs, in a few words of static storage, or null. */
const char *process_difference(const process_state *before, const process_state *after);

/* Threads that run; 0 if the system does not tell. */
int64_t process_threads(void);

/* Bytes that the process has allocated, and its address space; 0 where the system does not tell. */
typedef struct process_memory {
  uint64_t allocated, mapped;
} process_memory;
process_memory process_memory_read(void);

#endif
