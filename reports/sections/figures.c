/* SPDX-License-Identifier: MIT */
#include "reports/sections/figures.h"

#include <stdlib.h>

void figures_free(figures *made) {
  for (size_t i = 0; i < FIGURES; i++) free(made->svg[i]);
}
