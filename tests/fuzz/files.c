/* SPDX-License-Identifier: MIT */
/* Calls readers on arbitrary bytes: they must refuse the bytes, or read what they contain, and access no other memory.
   For libFuzzer, or for the driver in this folder. FUZZ_READER names one reader, all by default. */
#include "inspect/files/formats.h"
#include "inspect/files/table.h"
#include "inspect/models/model.h"
#include "tests/fuzz/readers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void no_progress(double done, double total) {
  (void)done;
  (void)total;
}

void read_numbers(const uint8_t *bytes, size_t size) {
  double *values;
  int64_t count = 0;
  fault why = {""};
  const bool ok = npy_is(bytes, size) ? npy_numbers(bytes, size, &values, &count, &why)
                                      : numbers_parse((const char *)bytes, size, ", \n", &values, &count, &why);
  if (ok ? count < 0 || (size_t)count > size : !*why.text) abort();
  if (ok) free(values);
}

/* Leaves out copies of columns, and reads the last row. */
static void fold(table_file *t) {
  posenc_layout layout;
  int blocks;
  if (!table_fold(t, &layout, &blocks)) return;
  const stored *at = table_stored(t);
  void *row = malloc((size_t)at->dim * posenc_dtype_bytes(at->dtype));
  if (row) table_rows(t, at->rows - 1, 1, row);
  free(row);
}

/* Reads the first and the last rows, and compares a small table with itself as diff does. */
static void use(table_file *t, size_t size) {
  enum { ROWS = 3, ELEMENTS = 1 << 16 };
  const stored *at = table_stored(t);
  double *positions;
  int64_t count;
  size_t bytes;
  fault why = {""};
  char *value;
  if (!table_metadata(t, "made_by", &value) && value) abort();
  free(value);
  if (!table_positions(t, &positions, &count, &why) && !*why.text) abort();
  if (positions && (count < 0 || (size_t)count > size)) abort();
  free(positions);
  if (at->rows < 1 || at->dim < 1 || !stored_bytes(at, &bytes) || at->begin > size) abort();
  if (at->halved) bytes = (size_t)((at->rows - 1) * at->stride + at->dim) * posenc_dtype_bytes(at->dtype);
  if (bytes > size - at->begin) abort();
  if ((size_t)at->rows > size || (size_t)at->dim > size) abort(); /* the product may have wrapped */
  const int64_t rows = at->rows < ROWS ? at->rows : ROWS;
  if (at->dim > ELEMENTS) return;
  void *out = malloc((size_t)(rows * at->dim) * posenc_dtype_bytes(at->dtype));
  if (!out) return;
  table_rows(t, 0, rows, out);
  table_rows(t, at->rows - rows, rows, out);
  free(out);
  fold(t);
  difference found;
  if (at->rows > ELEMENTS / at->dim || difference_find(t, t, no_progress, &found)) return;
  /* A table must be equal to itself. */
  if (found.values || found.bits) abort();
  difference_free(&found);
}

/* Each rope of a model is a problem that the library accepts, or is refused with a reason. */
void read_models(const uint8_t *bytes, size_t size) {
  static suspect_list list;
  fault why = {""};
  model *m = model_open_memory(bytes, size, &why);
  if (!m && !*why.text) abort();
  for (size_t n = 0; m && n <= model_layers(m); n++) {
    const char *layer = n < model_layers(m) ? model_layer(m, n) : NULL;
    model_rope rope;
    why = (fault){""};
    if (!model_rope_of(m, layer, NULL, NULL, &rope, &why)) {
      if (!*why.text) abort();
      continue;
    }
    posenc_problem problem = posenc_table(1, rope.has_dim ? rope.dim : 2 * (rope.factor_count + 1));
    problem.base = rope.base;
    problem.scaling = model_scaling(&rope, 5);
    if (rope.has_dim && posenc_problem_refusal(&problem)) abort();
    list.count = 0;
    model_suspects(m, layer, &rope, 5, &problem, &list);
    if (rope.has_dim) json_decref(model_fragment(&problem, &why));
  }
  model_close(m);
}

/* Copies the bytes before pages without access: reading one byte too many ends the process, with or without
   sanitizer. */
static const uint8_t *place(const uint8_t *data, size_t size) {
  enum { ROOM = 1 << 16 };
  static uint8_t *guarded;
  if (!guarded) {
    void *mapped = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || mprotect((uint8_t *)mapped + ROOM, ROOM, PROT_NONE) != 0) abort();
    guarded = mapped;
  }
  return size <= ROOM ? memcpy(guarded + ROOM - size, data, size) : data;
}

void read_tables(const uint8_t *bytes, size_t size) {
  static const char *const tensors[] = {NULL, "pe", "__metadata__"};
  enum { HALVES = TABLE_JOINED - TABLE_ARRAY + 1 };
  for (size_t i = 0; i < HALVES * sizeof tensors / sizeof *tensors; i++) {
    fault why = {""};
    table_file *t = table_open_memory(bytes, size, tensors[i / HALVES], TABLE_ARRAY + (int)(i % HALVES), &why);
    if (t) use(t, size);
    /* A refusal has a reason, a text that is terminated. */
    if (!t && (!*why.text || !memchr(why.text, '\0', sizeof why.text))) abort();
    table_close(t);
  }
}

static const struct {
  const char *name;
  fuzz_reader *read;
} readers[] = {{"tables", read_tables}, {"numbers", read_numbers}, {"models", read_models}, {"wisdom", read_wisdom},
               {"cases", read_cases},   {"records", read_records}, {"memory", read_memory}, {"options", read_options}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *only = getenv("FUZZ_READER");
  const uint8_t *bytes = place(data, size);
  bool found = false;
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
    if (only && strcmp(only, readers[i].name) != 0) continue;
    readers[i].read(bytes, size);
    found = true;
  }
  if (!found) abort(); /* no such reader */
  return 0;
}
