/* SPDX-License-Identifier: MIT */
/* Tables with a row per kernel of one shape. */
#ifndef POSENC_REPORTS_TABLES_H
#define POSENC_REPORTS_TABLES_H

#include "reports/page.h"

#include <jansson.h>

/* Which columns. Those of time are left out where nothing was timed. */
typedef enum table_kind {
  TABLE_HEADLINE, /* what most people want */
  TABLE_FULL,     /* everything */
  TABLE_TIMES,    /* time alone */
} table_kind;

void table_write(page *p, table_kind kind, const char *caption, const json_t *rows, bool timed);

#endif
