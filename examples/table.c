/* SPDX-License-Identifier: MIT */
/* Computes a table of positional encodings in five lines. */
#include <posenc.h>
#include <stdio.h>

int main(void) {
  static float table[512 * 128];

  posenc_problem problem = posenc_table(512, 128);
  posenc_plan *plan;
  if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) return 1;
  posenc_execute(plan, 0, 512, table);
  posenc_plan_destroy(plan);

  printf("PE[1] = %.9g %.9g %.9g %.9g ...\n", table[128], table[129], table[130], table[131]);
  return 0;
}
