/* SPDX-License-Identifier: MIT */
/* The machine, build and libraries that a record was made with, and what other processes take of the machine. */
#ifndef POSENC_COMMON_ENVIRONMENT_H
#define POSENC_COMMON_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tells the facts of facts.def, in their order. The values are texts of any encoding, null or empty if unknown. */
typedef void environment_listener(void *to, const char *key, const char *value);
void environment_tell(environment_listener *tell, void *to);

/* The decisions that a fact of a record takes part in. A record tells every fact. */
typedef enum environment_use {
  FACT_SOURCES = 1,  /* records of other ones are of other sources, and cannot be parts of one run */
  FACT_BITS = 2,     /* the bits of kernels that are not reproducible depend on it, on every CPU with the same tiers */
  FACT_BASELINE = 4, /* baselines have it, beside those of bits */
  FACT_COMPARED = 8, /* posenc compare tells where it differs */
  FACT_OF_PAGE = 16, /* a report tells where it differs between accuracy and times */
  FACT_PASSING = 32  /* it may differ between runs on one machine: it changes from one moment to the next, is of the
                        run's shapes, or comes from Google Benchmark although the record has a better one */
} environment_use;

/* Returns the key of fact `number`, from 0 on, of those with any of the uses; null beyond the last. */
const char *environment_key(unsigned uses, size_t number);

/* The number of all facts. */
enum {
  ENVIRONMENT_FACTS = 0
#define FACT(key, value, uses) +1
#define FACT_OF(key, uses) +1
#include "common/facts.def"
};

enum { ENVIRONMENT_TEXT = 256 };

/* Returns the file name of the emulator that runs this program, such as qemu's user mode or valgrind; null if there is
   none or it cannot be detected, as with an emulator of a whole machine. `text` may hold the name. */
const char *environment_emulator(char text[ENVIRONMENT_TEXT]);

/* Returns the number of processors that this process may use, at least 1. */
int environment_processors(void);

/* Returns how many bytes of memory can be used without swapping, or the size of the memory if that is not known, or if
   a container's limit is smaller; 0 if neither is known. */
uint64_t environment_available_memory(void);

/* Returns the size of the data cache of a level (1, 2, 3) in bytes; 0 if unknown. */
long environment_cache_bytes(int level);

/* The share of the machine that other processes use while this one measures. */

/* Processor time in seconds: of all processors together since the machine's start, and of this process. */
typedef struct others_mark {
  double used, all; /* used by processes or other virtual machines; total */
  double own;
} others_mark;

/* Reads the first line of /proc/stat. own: the processor time of this process in seconds. Returns false for another
   line. */
bool others_parse(others_mark *mark, const char *line, double own);

/* Reads the current times; returns false where the system does not provide them. */
bool others_read(others_mark *mark);

/* Returns the share of all processors' time between two marks, 0 … 1, that was not used by this process or idle. NaN if
   less than a tenth of a second has passed, as the system counts in hundredths. */
double others_share(const others_mark *from, const others_mark *to);

/* Sleeps for some seconds and returns others_share of that time; NaN if it is unknown. */
double others_wait(double seconds);

/* The smallest share at which timings are reported as unreliable. */
#define OTHERS_MOST 0.05

#endif
