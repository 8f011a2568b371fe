/* SPDX-License-Identifier: MIT */
/* Rotary embedding of queries with 8 heads: 16 positions of a prompt, then one position of decoding. */
#include <posenc.h>
#include <stdio.h>

enum { POSITIONS = 4096, HEADS = 8, DIM = 64, PROMPT = 16 };

int main(void) {
  static float queries[(PROMPT + 1) * HEADS * DIM];
  for (int i = 0; i < (PROMPT + 1) * HEADS * DIM; i++) queries[i] = 1;

  posenc_problem problem = posenc_rope(POSITIONS, HEADS, DIM);
  problem.base = 500000;
  problem.layout = POSENC_SPLIT; /* pairs are columns i and DIM/2 + i, as in GPT-NeoX and Llama */
  posenc_plan *plan;
  if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) return 1;

  posenc_slice prompt = posenc_rows(0, PROMPT), next = posenc_rows(PROMPT, 1);
  float *row = queries + PROMPT * HEADS * DIM;
  posenc_apply(plan, &prompt, queries, queries); /* in place */
  posenc_apply(plan, &next, row, row);
  posenc_plan_destroy(plan);

  printf("rope(1) at position 16 = %.7g ... %.7g ...\n", row[0], row[DIM / 2]);
  return 0;
}
