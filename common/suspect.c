/* SPDX-License-Identifier: MIT */
#include "common/suspect.h"

#include <stdarg.h>
#include <stdio.h>

void suspects_add(suspect_list *list, const posenc_problem *problem, const char *format, ...) {
  va_list arguments;
  if (list->count == SUSPECTS_MAX) return;
  suspect *one = &list->items[list->count++];
  one->problem = *problem;
  va_start(arguments, format);
  vsnprintf(one->text, sizeof one->text, format, arguments);
  va_end(arguments);
}
