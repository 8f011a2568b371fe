/* SPDX-License-Identifier: MIT */
/* Calls the readers of options on lines "OPTION VALUE", as the command calls them on a file's metadata. They end the
   program when they refuse a value: the linker's --wrap=exit brings that back here. */
#include "config.h"

#include "cli/options.h"
#include "tests/fuzz/readers.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noreturn)) void __real_exit(int status);
__attribute__((noreturn)) void __wrap_exit(int status);
/* Functions of the leak sanitizer, or null: memory of a refused option is freed only when the command ends. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static jmp_buf refused;
static bool is_reading;

void __wrap_exit(int status) {
  if (!is_reading) __real_exit(status);
  if (status != 2) abort();
  longjmp(refused, 1);
}

static const char *const names[] = {
#define OPTION(code, letter, name, commands, kind, value, help) name,
#include "cli/options.def"
};

/* Whether a grid has lists of at most 1000 positions in a run: lists of millions take seconds. */
static bool is_short(const char *text) {
  size_t digits = 0;
  if (!strpbrk(text, ":+")) return true;
  for (; *text && digits < 4; text++) digits = isdigit((unsigned char)*text) ? digits + 1 : 0;
  return digits < 4;
}

static void read_lines(char *lines) {
  static const command self = {.name = "check", .bit = ~0u};
  options given = options_defaults();
  given.self = &self;
  for (char *line; (line = strsep(&lines, "\n"));) {
    char *value = strchr(line, ' ');
    if (!value) continue;
    *value++ = '\0';
    for (int code = 0; code < OPTIONS; code++) {
      if (strcmp(names[code], line) != 0 || (code == OPTION_GRID && !is_short(value))) continue;
      given.texts[code] = value;
      options_record(&given, (enum option_code)code, line, value, "a file");
    }
  }
  options_require_table(&given, "a file");
  if (posenc_problem_refusal(&given.problem)) abort();
}

void read_options(const uint8_t *bytes, size_t size) {
  FILE *const shown = stderr;
  static FILE *nowhere;
  if (!nowhere && !(nowhere = fopen("/dev/null", "w"))) abort();
  char *const lines = strndup((const char *)bytes, size);
  if (!lines) return;
  stderr = nowhere;
  is_reading = true;
  if (__lsan_disable) __lsan_disable();
  if (!setjmp(refused)) read_lines(lines);
  if (__lsan_enable) __lsan_enable();
  is_reading = false;
  stderr = shown;
  free(lines);
}
