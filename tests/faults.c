/* SPDX-License-Identifier: MIT */
/* Faults that "make sanitize", "sanitize-threads" and "valgrind" must report, each named by the first argument. Nothing
   else is wrong: the exit status is 0 unless the checker sets it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static volatile int shared;

/* Reads the byte behind allocated memory. */
static void read_behind(void) {
  volatile char *memory = malloc(8);
  if (memory) shared = memory[8];
  free((void *)memory);
}

/* Shifts by the width of an int. */
static void shift(void) {
  shared = 32;
  shared = 1 << shared;
}

static void crash(void) {
  volatile int *volatile nowhere = NULL;
  *nowhere = 0;
}

static void *count(void *arg) {
  (void)arg;
  for (int i = 0; i < 1000; i++) shared++;
  return NULL;
}

/* Two threads change a number without any order. */
static void race(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, count, NULL) != 0) return;
  count(NULL);
  pthread_join(other, NULL);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*make)(void);
  } faults[] = {{"memory", read_behind}, {"arithmetic", shift}, {"crash", crash}, {"race", race}};
  for (size_t i = 0; argc > 1 && i < sizeof faults / sizeof *faults; i++)
    if (strcmp(argv[1], faults[i].name) == 0) faults[i].make();
  return 0;
}
