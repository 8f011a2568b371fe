/* SPDX-License-Identifier: MIT */
#include "verify/array-request.h"

int64_t array_number(const array_request *request, int64_t row, int64_t *indices) {
  const stored *at = table_stored(request->x);
  int64_t number = 0;
  for (size_t axis = at->axis_count - 1; axis-- > 0; row /= at->axes[axis]) {
    const int64_t index = row % at->axes[axis];
    if (indices) indices[axis] = index;
    if (request->axes[axis] == ARRAY_POSITIONS) number = index;
  }
  return number;
}

int64_t array_position(const array_request *request, int64_t number) {
  const posenc_problem *problem = &request->problem;
  return problem->positions ? (int64_t)problem->positions[number] : problem->first + number;
}
