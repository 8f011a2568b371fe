/* SPDX-License-Identifier: MIT */
#include "common/program.h"

static const char *program = "posenc";

void program_set(const char *name) {
  program = name;
}

const char *program_name(void) {
  return program;
}
