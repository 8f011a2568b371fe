/* SPDX-License-Identifier: MIT */
/* Tables with a row per kernel of one shape. */
#ifndef POSENC_REPORTS_SECTIONS_TABLES_H
#define POSENC_REPORTS_SECTIONS_TABLES_H

#include "reports/page/page.h"

#include <jansson.h>

/* Which columns. Those of time are left out where nothing was timed. */
typedef enum table_kind {
  TABLE_HEADLINE, /* what most people want */
  TABLE_FULL,     /* everything */
  TABLE_TIMES,    /* time alone */
} table_kind;

/* What a table is of: "5 000 × 512, first position 4 294 967 296, base 10000, interleaved, f32, 9.8 MiB; fill limit 44.9 GB/s (…)", or, of an x of 32 heads,
   "rope, 4 096 × 32 × 128, …, 64 MiB; scale limit …" */
typedef struct table_description {
  char text[400];
} table_description;
table_description table_describe(const json_t *table);

void table_write(page *p, table_kind kind, const char *caption, const json_t *rows, bool timed);

#endif
