/* SPDX-License-Identifier: MIT */
#include "cli/files.h"
#include "inspect/files/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "Usage: posenc probe --len L --dim D [OPTION]... -o FILE\n"
                            "  or:  posenc probe --positions LIST --dim D [OPTION]... -o FILE\n"
                            "Write an array x to apply rope or add to, in a model or by a GPU kernel, so that\n"
                            "posenc check --op and posenc identify --op can tell what was applied. No element\n"
                            "is 0, and each is a number of bf16 and f16, so that x is the same in every\n"
                            "dtype. Its shape is (1, L, H, D).\n";
static const char notes[] = "Given a list, the positions are printed, to be given to the model. 'golden'\n"
                            "stands for those near which programs fail: they are rounded from 257 on in bf16\n"
                            "and from 2049 on in f16, and 32 bits end at 2^31.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 on success\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc probe --len 4096 --heads 8 --dim 128 -o x.npy\n"
                            "  $ posenc probe --len 4096 --dim 128 --axes bhld --dtype bf16 -o x.safetensors\n"
                            "  $ posenc probe --positions golden --dim 64 -o golden.npy\n";

/* ---- numbers ----------------------------------------------------------------------------------- */

typedef struct probe_request {
  const options *given;
  const char *axes;
  stored at;
} probe_request;

/* An element of a position, a head and a column: 1 + k/128 with either sign, by splitmix64's mixing. */
typedef struct number {
  unsigned k;
  bool negative;
} number;

static number number_at(uint64_t vector, uint64_t column) {
  uint64_t z = (vector * UINT64_C(0x9e3779b97f4a7c15) + column + 1) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (number){(unsigned)(z >> 32) % 128, z & 1};
}

static void store(posenc_dtype dtype, number n, void *out, int64_t at) {
  const double value = (n.negative ? -1.0 : 1.0) * (1.0 + n.k / 128.0);
  const uint16_t sign = n.negative ? 0x8000 : 0;
  switch (dtype) {
  case POSENC_F32:
    ((float *)out)[at] = (float)value;
    break;
  case POSENC_F64:
    ((double *)out)[at] = value;
    break;
  case POSENC_F16: /* 5 bits of exponent, 10 bits of fraction */
    ((uint16_t *)out)[at] = (uint16_t)(sign | 15 << 10 | n.k << 3);
    break;
  case POSENC_BF16: /* 8 and 7 bits */
    ((uint16_t *)out)[at] = (uint16_t)(sign | 127 << 7 | n.k);
    break;
  }
}

/* Writes vectors. A position and a head have the same vector in any order of axes. */
static const char *make_rows(const void *argument, int64_t row, int64_t rows, void *out) {
  const probe_request *p = argument;
  const char *const heads = strchr(p->axes, AXIS_HEADS);
  int64_t indices[STORED_AXES];
  for (int64_t r = 0; r < rows; r++) {
    const int64_t index = axes_index(p->axes, &p->at, row + r, indices), head = heads ? indices[heads - p->axes] : 0,
                  vector = index * p->given->problem.heads + head;
    for (int64_t c = 0; c < p->at.dim; c++)
      store(p->at.dtype, number_at((uint64_t)vector, (uint64_t)c), out, r * p->at.dim + c);
  }
  return NULL;
}

/* ---- options ----------------------------------------------------------------------------------- */

/* Exits unless the axes are those of an array. */
static void set_axes(probe_request *p) {
  enum { MOST = 5 }; /* axes that fit in the header of a .npy file */
  const posenc_problem *problem = &p->given->problem;
  fault why;
  p->axes = p->given->axes ? p->given->axes : "blhd";
  p->at = (stored){.dtype = problem->dtype, .rows = 1, .dim = problem->dim, .axis_count = strlen(p->axes)};
  if (p->at.axis_count > MOST) die("--axes %s: more than %d", p->axes, MOST);
  if (!axes_fit(p->axes, &p->at, &why)) die("--axes %s: %s", p->axes, why.text);
  if (problem->heads > 1 && !strchr(p->axes, AXIS_HEADS))
    die("--heads %" PRId64 ": --axes %s has no axis for them", problem->heads, p->axes);
  for (size_t n = 0; n < p->at.axis_count; n++) {
    const char axis = p->axes[n];
    p->at.axes[n] = 1;
    if (axis == AXIS_POSITIONS) p->at.axes[n] = problem->rows;
    if (axis == AXIS_HEADS) p->at.axes[n] = problem->heads;
    if (axis == AXIS_COLUMNS) p->at.axes[n] = problem->dim;
    if (axis != AXIS_COLUMNS && __builtin_mul_overflow(p->at.rows, p->at.axes[n], &p->at.rows)) p->at.rows = -1;
  }
  size_t bytes;
  if (p->at.rows < 0 || !stored_bytes(&p->at, &bytes)) die("the array: more elements than any file has");
}

static void require_positive(const options *given, enum option_code code, const char *name, int64_t value) {
  if (value < 1) die("--%s %s: not 1 or more", name, is_given(given, code) ? given->texts[code] : "");
}

static int run(options *given) {
  const posenc_problem *problem = &given->problem;
  probe_request p = {.given = given};
  if (!is_given(given, OPTION_OUTPUT)) die("--output is missing");
  if (!is_given(given, OPTION_LEN) && !problem->positions) die("--len is missing");
  if (!is_given(given, OPTION_DIM)) die("--dim is missing");
  require_positive(given, OPTION_LEN, "len", problem->rows);
  require_positive(given, OPTION_DIM, "dim", problem->dim);
  require_positive(given, OPTION_HEADS, "heads", problem->heads);
  set_axes(&p);
  file_content content = {.make = make_rows,
                          .argument = &p,
                          .rows = p.at.rows,
                          .elements = p.at.dim,
                          .element_bytes = posenc_dtype_bytes(p.at.dtype)};
  set_array_header(given, p.at.dtype, p.at.axes, p.at.axis_count, "probe", &content);
  write_file(given, &content);
  if (strcmp(given->output, "-") == 0) return EXIT_SUCCESS;
  for (int64_t n = 0; problem->positions && n < problem->rows; n++)
    printf("%.17g%s", problem->positions[n], n + 1 < problem->rows ? ", " : "\n");
  return EXIT_SUCCESS;
}

const command command_probe = {
    .bit = PROBE,
    .name = "probe",
    .summary = "write an array to apply add or rope to",
    .usage = usage,
    .notes = notes,
    .run = run,
};
