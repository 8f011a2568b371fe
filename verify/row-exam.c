/* SPDX-License-Identifier: MIT */
/* Rows of any origin: read, judged and recorded block by block, with their errors by the size of positions. */
#include "verify/exam.h"

#include "common/memory.h"
#include "common/number.h"
#include "common/terminal.h"

#include <stdio.h>
#include <stdlib.h>

/* The size of a block of rows, which fits a cache. */
enum { BLOCK_BYTES = 1 << 23 };

const unsigned char *rows_of_file(void *from, int64_t row, int64_t rows, unsigned char *room) {
  table_rows(from, row, rows, room);
  return room;
}

unsigned char *row_exam_block(const row_exam *e) {
  return memory_grow(NULL, e->room < BLOCK_BYTES ? BLOCK_BYTES : e->room, 1);
}

void row_exam_open(row_exam *e, table_part part) {
  e->bytes = (size_t)e->width * posenc_dtype_bytes(e->problem.dtype);
  e->most = INT64_MAX;
  if (!column_map_find(&e->columns, &e->problem, part)) memory_end();
}

void row_exam_allocate(row_exam *e, size_t room) {
  e->room = e->bytes < room ? room : e->bytes;
  e->most = e->room < BLOCK_BYTES ? BLOCK_BYTES / (int64_t)e->room : 1;
  if (e->source.most) e->most = least(e->source.most, e->most);
  e->room_of_rows = row_exam_block(e);
  if (e->of_x.read) e->room_of_x = row_exam_block(e);
}

void row_exam_close(row_exam *e) {
  column_map_free(&e->columns);
  free(e->room_of_rows);
  free(e->room_of_x);
}

bool row_exam_look(row_exam *e, window w) {
  const int64_t end = w.row + w.rows;
  for (window now = w; now.row < end; now.row += now.rows) {
    now.rows = least(e->most, end - now.row);
    if (e->name)
      progress_show("check", e->name, (double)now.row * (double)e->width, (double)end * (double)e->width, "elements");
    if (e->of_x.read) e->x = e->of_x.read(e->of_x.from, now.row, now.rows, e->room_of_x);
    e->rows = e->source.read(e->source.from, now.row, now.rows, e->room_of_rows);
    if (!e->judge(e, now)) return false;
  }
  return true;
}

const char *row_exam_figures(const accuracy *found, char *text, size_t size) {
  snprintf(text, size, "no limit was given; max %.6g ulp, max abs %.3g", found->max_ulp.ulp, found->max_abs.abs);
  return text;
}

file_result row_exam_record(row_exam *e, const row_findings *r, const file_exam *of, unsigned subjects,
                            place_teller *tell) {
  file_result found = {.memory = {NULL}};
  record_file *made = &found.of;
  record_memory *in = &found.memory;
  const witness *const from[] = {&r->found.max_ulp, &r->found.max_abs, &r->found.worst};
  record_check *checks = file_begin(&found, of, PROPERTIES);
  record_witness *const to[] = {&made->max_ulp, &made->max_abs, &made->worst};
  made->checks_count = 0;
  for (property p = 0; p < PROPERTIES; p++)
    if (property_subjects(p) & subjects)
      checks[made->checks_count++] = check_record(property_name(p), &r->checks[p], in);
  made->not_finite = r->not_finite;
  for (int n = 0; n < (of->limit ? 3 : 2); n++) {
    *to[n] = witness_record(from[n], of->command, in);
    to[n]->has_row = to[n]->has_column = true;
    tell(e, from[n], to[n], in);
  }
  octaves_record(made, &r->by_size, e->problem.positions, in);
  return found;
}

/* ---- errors by the size of positions --------------------------------------------------------------------------- */

octave *octaves_at(octaves *all, int64_t position) {
  const uint64_t size = position < 0 ? -(uint64_t)position : (uint64_t)position;
  return &all->of[(position < 0 ? 0 : OCTAVES) + (size ? 64 - __builtin_clzll(size) : 0)];
}

void octaves_sum(const octaves *all, accuracy *found) {
  for (int n = 0; n < 2 * OCTAVES; n++) accuracy_merge(found, &all->of[n].found);
}

void octaves_record(record_file *found, const octaves *all, const double *positions, record_memory *in) {
  record_octave *made = record_allocate(in, 2 * OCTAVES, sizeof *made);
  found->positions = made;
  for (int n = 0; n < 2 * OCTAVES; n++) {
    const octave *one = &all->of[n < OCTAVES ? OCTAVES - 1 - n : n];
    const accuracy *a = &one->found;
    if (one->rows == 0) continue;
    made[found->positions_count++] = (record_octave){.position = positions ? record_number_of(positions[one->first])
                                                                           : (record_number){one->first, 0.0},
                                                     .rows = one->rows,
                                                     .max_ulp = a->max_ulp.ulp,
                                                     .max_abs = a->max_abs.abs,
                                                     .mean_abs = a->sum_abs / (double)a->elements,
                                                     .misrounded = a->misrounded};
  }
}
