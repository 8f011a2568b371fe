/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/memory.h"

#include "common/output.h"
#include "common/terminal.h"
#include "common/work.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void memory_end(void) {
  enum { STATUS = 2 };
  if (isolate_inside()) isolate_fail("out of memory");
  progress_clear();
  fprintf(stderr, "%s: out of memory\n", program_name());
  fflush(NULL);
  output_end();
  _exit(STATUS); /* exit handlers, of plugins too, may need memory */
}

void *allocated(void *memory) {
  if (!memory) memory_end();
  return memory;
}

void *memory_take(size_t count, size_t size) {
  return allocated(calloc(count ? count : 1, size));
}

void *memory_grow(void *array, size_t count, size_t size) {
  return allocated(reallocarray(array, count ? count : 1, size));
}

char *memory_copy_text(const char *text) {
  return allocated(strdup(text));
}

char *memory_print(const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  const int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  return allocated(length < 0 ? NULL : text);
}

static void *take_bytes(size_t size) {
  return allocated(malloc(size));
}

void memory_hold_json(void) {
  json_set_alloc_funcs(take_bytes, free);
}
