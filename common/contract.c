/* SPDX-License-Identifier: MIT */
#include "common/contract.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t kernel_name_length(const char *text) {
  size_t length = 0, part;
  do {
    part = strspn(text + length, "abcdefghijklmnopqrstuvwxyz0123456789-");
    const char after = text[length + part];
    if (part == 0 || (after && after != '/')) return length > 0 ? length - 1 : 0;
    length += part + 1;
  } while (text[length - 1] == '/');
  return length - 1;
}

const char *kernel_of_benchmark(const char *name) {
  const char *slash = strchr(name, '/');
  if (slash) slash = strchr(slash + 1, '/');
  return slash ? slash + 1 : NULL;
}

bool is_benchmark_of(const char *name, const char *kernel) {
  const char *begin = kernel_of_benchmark(name);
  const size_t length = strlen(kernel);
  return begin && kernel_name_length(begin) == length && strncmp(begin, kernel, length) == 0;
}

const char *kernel_of_failure(const char *key) {
  const size_t length = sizeof KERNEL_FAILED - 1;
  return strncmp(key, KERNEL_FAILED, length) == 0 ? key + length : NULL;
}

int width_with(int width, const char *name) {
  const size_t length = strlen(name);
  return length > (size_t)width ? (int)length : width;
}

const posenc_kernel *kernel_by_default(const posenc_problem *problem, const posenc_options *options) {
  posenc_plan *plan;
  if (posenc_plan_create(&plan, problem, options) != POSENC_OK) return NULL;
  const posenc_kernel *kernel = posenc_plan_kernel(plan);
  posenc_plan_destroy(plan);
  return kernel;
}

const char *kernel_isa(const posenc_kernel *kernel) {
  const char *name = posenc_isa_name(kernel->isa);
  return name ? name : "any";
}

bool bound_is_none(const posenc_bound *bound) {
  return !bound->derived && bound->ulp == 0.0 && bound->abs == 0.0 && bound->growth == 0.0;
}

/* Formats "2^-46" if that is exact and shorter than the decimals; otherwise three digits, or "(0.5 + 2^-17)" if the
   rest is a power of two. */
static void format_number(double value, char *text, size_t size) {
  int exponent;
  if (frexp(value, &exponent) == 0.5 && (exponent < -3 || exponent > 10))
    snprintf(text, size, "2^%d", exponent - 1);
  else {
    snprintf(text, size, "%.3g", value);
    const double rest = value - strtod(text, NULL);
    if (rest > 0.0 && frexp(rest, &exponent) == 0.5) snprintf(text, size, "(%.3g + 2^%d)", value, exponent - 1);
  }
}

size_t format_error(const posenc_bound *bound, char *text, size_t size) {
  const struct {
    double value;
    const char *unit;
  } terms[] = {{bound->ulp, " ulp"}, {bound->abs, ""}, {bound->growth, " per position"}};
  size_t used = 0;
  for (size_t i = 0; i < sizeof terms / sizeof *terms && used < size; i++) {
    if (terms[i].value == 0.0) continue;
    char number[32];
    format_number(terms[i].value, number, sizeof number);
    used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? " + " : "", number, terms[i].unit);
  }
  return used ? used : (size_t)snprintf(text, size, "exact");
}

void format_bound(const posenc_bound *bound, char *text, size_t size) {
  const char *before = bound->derived ? "" : "none derived; twice the measured error is ";
  char error[100], domain[32];
  if (bound_is_none(bound)) {
    snprintf(text, size, "none");
    return;
  }
  format_error(bound, error, sizeof error);
  format_number((double)bound->max_position, domain, sizeof domain);
  snprintf(text, size, "%s%s, |p| <= %s", before, error, domain);
}
