/* SPDX-License-Identifier: MIT */
#include "reports/sections/draw.h"

#include "reports/sections/answer.h"
#include "reports/sections/curves.h"
#include "reports/sections/lengths.h"

bool figures_make(const json_t *document, figures *made) {
  *made = (figures){{NULL}};
  const bool ok = answer_draw(document, made) && lengths_make(document, made) && curves_make(document, made);
  if (!ok) figures_free(made);
  return ok;
}
