/* SPDX-License-Identifier: MIT */
/* The reader of tables on bytes that no writer wrote: it must refuse them, or read what is there, and touch nothing else. For libFuzzer, or for
 * the driver beside this. */
#include "files/difference.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void no_progress(double done, double total) {
  (void)done;
  (void)total;
}

/* The first rows, the last ones, and, of a small table, what diff makes of it beside itself. */
static void use(table_file *t) {
  enum { ROWS = 3, ELEMENTS = 1 << 16 };
  const stored *at = table_stored(t);
  const int64_t rows = at->rows < ROWS ? at->rows : ROWS;
  if (at->dim > ELEMENTS) return;
  void *out = malloc((size_t)(rows * at->dim) * posenc_dtype_bytes(at->dtype));
  if (!out) return;
  table_rows(t, 0, rows, out);
  table_rows(t, at->rows - rows, rows, out);
  free(out);
  difference found;
  if (at->rows > ELEMENTS / at->dim || difference_find(t, t, no_progress, &found)) return;
  /* A table differs from itself in nothing. */
  if (found.values || found.bits) abort();
  difference_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const tensors[] = {NULL, "pe", "__metadata__"};
  /* Exactly so many bytes, so that a sanitizer sees one too many. */
  uint8_t *bytes = malloc(size ? size : 1);
  if (!bytes) return 0;
  memcpy(bytes, data, size);
  for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
    fault why = {""};
    table_file *t = table_open_memory(bytes, size, tensors[i], &why);
    if (t) use(t);
    /* It says why, and in one line that ends. */
    if (!t && (!*why.text || !memchr(why.text, '\0', sizeof why.text))) abort();
    table_close(t);
  }
  free(bytes);
  return 0;
}
