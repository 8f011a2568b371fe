/* SPDX-License-Identifier: MIT */
#include "cli/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t npy_header(const posenc_problem *problem, char header[NPY_HEADER_MAX]) {
  static const char magic[8] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
  const size_t prefix = sizeof magic + 2; /* and the length of what comes next */
  /* NumPy has no bfloat16; that of ml_dtypes is saved as two bytes of raw data. */
  const char kind = problem->dtype == POSENC_BF16 ? 'V' : 'f';
  const char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
  char *text = header + prefix;
  size_t used =
      prefix + (size_t)snprintf(text, NPY_HEADER_MAX - prefix,
                                "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (%" PRId64 ", %" PRId64 "), }",
                                order, kind, posenc_dtype_bytes(problem->dtype), problem->rows, problem->dim);
  /* At least the newline has to fit behind it. */
  size_t total = (used + NPY_ALIGNMENT) / NPY_ALIGNMENT * NPY_ALIGNMENT;
  memset(header + used, ' ', total - used);
  header[total - 1] = '\n';
  memcpy(header, magic, sizeof magic);
  header[sizeof magic] = (char)((total - prefix) & 0xff);
  header[sizeof magic + 1] = (char)((total - prefix) >> 8);
  return total;
}
