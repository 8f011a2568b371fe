/* SPDX-License-Identifier: MIT */
#include "files/axes.h"

#include <string.h>

const char *axes_usual(posenc_op op, size_t count) {
  static const char *const usual[][5] = {{NULL, NULL, "ld", "bld", "blhd"}, {NULL, NULL, "ld", "lhd", "blhd"}};
  return count < 5 ? usual[op == POSENC_ROPE][count] : NULL;
}

bool axes_fit(const char *letters, const stored *at, fault *why) {
  const size_t length = strlen(letters);
  const char *const positions = strchr(letters, AXIS_POSITIONS), *const heads = strchr(letters, AXIS_HEADS);
  if (length != at->axis_count) return fault_say(why, "%zu letters, and there are %zu axes", length, at->axis_count);
  if (strspn(letters, "blhd") != length) return fault_say(why, "b, l, h and d are axes");
  if (strchr(letters, AXIS_COLUMNS) != letters + length - 1) return fault_say(why, "d, the columns, is the last axis");
  if (!positions || strchr(positions + 1, AXIS_POSITIONS)) return fault_say(why, "l, the positions, is one axis");
  if (heads && strchr(heads + 1, AXIS_HEADS)) return fault_say(why, "h, the heads, is one axis");
  return true;
}

int64_t axes_length(const char *letters, const stored *at) {
  return at->axes[strchr(letters, AXIS_POSITIONS) - letters];
}

int64_t axes_index(const char *letters, const stored *at, int64_t row, int64_t *indices) {
  int64_t found = 0;
  for (size_t axis = at->axis_count - 1; axis-- > 0; row /= at->axes[axis]) {
    const int64_t index = row % at->axes[axis];
    if (indices) indices[axis] = index;
    if (letters[axis] == AXIS_POSITIONS) found = index;
  }
  return found;
}

bool axes_agree(const stored *a, const stored *b) {
  return a->dtype == b->dtype && a->axis_count == b->axis_count &&
         memcmp(a->axes, b->axes, a->axis_count * sizeof *a->axes) == 0;
}
