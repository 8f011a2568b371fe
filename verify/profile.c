/* SPDX-License-Identifier: MIT */
#include "verify/exam.h"

#include "common/isolate.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/work.h"
#include "reference/fast.h"
#include "reference/oracle.h"
#include "reference/vectors.h"
#include "verify/checks.h"
#include "verify/subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- tables other than the profile's, at contexts that are in use ---------------------------------------------- */

/* The number of rows that are checked from each position on. */
enum { ROWS = 16 };

/* Returns the largest error of a few rows from a position on; NaN if the kernel cannot make them. */
static double largest_error(const posenc_kernel *kernel, const posenc_options *options, fast_oracle *reference,
                            posenc_problem problem, int64_t position, arena *rows) {
  problem.first = position;
  problem.rows = ROWS;
  const shape of = shape_of(&problem);
  accuracy found = {0};
  subject s;
  const bool lacks = subject_open(&s, kernel, &of, options);
  if (!lacks) fast_check(reference, position, ROWS, subject_execute(&s, s.plan, 0, ROWS, rows), NULL, &found);
  subject_close(&s);
  return lacks ? NAN : found.max_abs.abs;
}

static record_context_table context_of(const posenc_kernel *kernel, const posenc_options *options,
                                       posenc_problem problem, record_memory *in) {
  static const int64_t positions[] = {1 << 9, 1 << 12, 1 << 15, 1 << 17, 1 << 20};
  enum { POSITIONS = sizeof positions / sizeof *positions };
  problem.rows = positions[POSITIONS - 1] + ROWS;
  fast_oracle *reference = allocated(fast_create(&problem, 0));
  arena *rows = arena_create(ROWS * (size_t)problem.dim * sizeof(float));
  record_context_point *points = record_allocate(in, POSITIONS, sizeof *points);
  for (int n = 0; n < POSITIONS; n++)
    points[n] = (record_context_point){
        .position = positions[n], .max_abs = largest_error(kernel, options, reference, problem, positions[n], rows)};
  fast_destroy(reference);
  arena_destroy(rows);
  return (record_context_table){.dim = problem.dim, .base = problem.base, .points = points, .points_count = POSITIONS};
}

/* Adds the errors of tables with that shift. */
static void add_tables(record_profile *made, const posenc_kernel *kernel, const posenc_options *options, double shift,
                       record_memory *in) {
  static const int dims[] = {128, 512};
  static const double bases[] = {1e4, 5e5, 1e6};
  enum { DIMS = sizeof dims / sizeof *dims, BASES = sizeof bases / sizeof *bases };
  record_context_table *tables = record_allocate(in, DIMS * BASES, sizeof *tables);
  made->tables = tables;
  for (size_t d = 0; d < DIMS; d++)
    for (size_t b = 0; b < BASES; b++) {
      isolate_say("error of other tables", 0.5);
      posenc_problem problem = posenc_table(ROWS, dims[d]);
      problem.base = bases[b];
      problem.shift = shift;
      tables[made->tables_count++] = context_of(kernel, options, problem, in);
    }
}

enum { DIM = PROFILE_DIM, PAIRS = DIM / 2 };

/* The formats to which rows are rounded. */
enum { FORMATS = 3 };
static const format *const formats[FORMATS] = {&format_f32, &format_f16, &format_bf16};

/* Two positions with equal rows; none if q is 0. */
typedef struct collision {
  int64_t p, q;
} collision;

/* Returns the size of an error; infinity for NaN. */
static double size_of(double error) {
  return isnan(error) ? (double)INFINITY : fabs(error);
}

/* Rounds a row to the format, and replaces -0 by 0, as the two are equal. */
static void round_row(const format *f, const float *row, double *rounded) {
  const format to = *f;
#pragma omp simd
  for (int c = 0; c < DIM; c++) rounded[c] = format_nearest(&to, (double)row[c]) + 0.0;
}

/* Returns the shift of the exponent's denominator: the paper's, unless the kernel makes only that of Tensor2Tensor. */
static double shift_of(const posenc_kernel *kernel) {
  posenc_problem paper = posenc_table(1, DIM), other = paper;
  other.shift = 1.0;
  return kernel->can_do && kernel->can_do(&paper) && !kernel->can_do(&other) ? other.shift : paper.shift;
}

/* ---- points: a few rows from each power of two on ---------------------------------------------------------- */

enum { POINTS = 31, POINT_ROWS = 16 };

/* Memory and settings that all points share. */
typedef struct instruments {
  const posenc_kernel *kernel;
  const posenc_options *options;
  bool explain;      /* attribute errors, which takes most of the time */
  fast_oracle *fast; /* for the table that ends with the last point */
  oracle *exact;
  arena *rows;
  staged_pairs stages;
  double apart[POINT_ROWS];      /* Σ cos(k w_i) */
  collision collisions[FORMATS]; /* two rows of a point */
} instruments;

/* Computes Σ cos(k w_i), the exact product of two rows that are k positions apart. */
static void set_apart(instruments *with) {
  fast_pair pairs[PAIRS];
  for (int k = 0; k < POINT_ROWS; k++) {
    fast_row(with->fast, k, pairs);
    for (int i = 0; i < PAIRS; i++) with->apart[k] += pairs[i].cosine.high;
  }
}

static void instruments_make(instruments *with, const posenc_kernel *kernel, const posenc_options *options,
                             bool explain) {
  posenc_problem problem = posenc_table((INT64_C(1) << (POINTS - 1)) + POINT_ROWS, DIM);
  problem.shift = shift_of(kernel);
  *with = (instruments){.kernel = kernel, .options = options, .explain = explain};
  with->fast = allocated(fast_create(&problem, 0));
  with->exact = allocated(oracle_create(&problem));
  with->rows = arena_create(POINT_ROWS * DIM * sizeof(float));
  staged_pairs_create(&with->stages, POINT_ROWS * PAIRS);
  set_apart(with);
}

static void instruments_free(instruments *with) {
  fast_destroy(with->fast);
  oracle_destroy(with->exact);
  arena_destroy(with->rows);
  staged_pairs_free(&with->stages);
}

/* Returns the largest |PE[p]·PE[q] − Σ cos((p−q) w_i)|. Partial sums reach 64, half an ulp of which is 2^-47: the 192
   terms here are within 2^-39. */
static double relative_error(const instruments *with, const float *rows) {
  double worst = 0.0;
  for (int q = 1; q < POINT_ROWS; q++)
    for (int p = 0; p < q; p++) {
      double product = 0.0;
      for (int c = 0; c < DIM; c++) product += (double)rows[p * DIM + c] * (double)rows[q * DIM + c];
      worst = larger(worst, size_of(product - with->apart[q - p]));
    }
  return worst;
}

static bool same_row(const double *a, const double *b) {
  for (int c = 0; c < DIM; c++)
    if (a[c] != b[c]) return false;
  return true;
}

/* Returns the first two rows that are equal in the format. */
static collision collision_among(const format *f, const float *rows, int64_t position) {
  double rounded[POINT_ROWS][DIM];
  for (int q = 0; q < POINT_ROWS; q++) {
    round_row(f, rows + q * DIM, rounded[q]);
    for (int p = 0; p < q; p++)
      if (same_row(rounded[p], rounded[q])) return (collision){position + p, position + q};
  }
  return (collision){0, 0};
}

/* Returns the parts of a point's errors, which are not there if the kernel does not expose its stages. */
static record_parts point_parts(instruments *with, subject *s) {
  if (!staged_pairs_take(&with->stages, s, s->plan, 0, POINT_ROWS, with->rows)) return (record_parts){0};
  const split_parts mean = staged_pairs_mean(&with->stages, with->exact);
  return parts_record(&mean);
}

/* Returns the point of an open subject. */
static record_point point_of(instruments *with, subject *s, int64_t position) {
  accuracy found = {0};
  const float *rows = (const float *)(const void *)subject_execute(s, s->plan, 0, POINT_ROWS, with->rows);
  const double relative = relative_error(with, rows);
  fast_check(with->fast, position, POINT_ROWS, rows, NULL, &found);
  for (int n = 0; n < FORMATS; n++)
    if (!with->collisions[n].q) with->collisions[n] = collision_among(formats[n], rows, position);
  return (record_point){.position = position,
                        .rows = POINT_ROWS,
                        .max_abs = found.max_abs.abs,
                        .max_ulp = found.max_ulp.ulp,
                        .has_max_ulp = true,
                        .index = found.max_abs.index,
                        .has_index = true,
                        .relative = relative,
                        .has_relative = true,
                        .parts = with->explain ? point_parts(with, s) : (record_parts){0},
                        .has_parts = with->explain};
}

/* Adds all points. Each is a table of its own, so that only the points are missing that the kernel cannot make. */
static void add_points(record_profile *made, instruments *with, record_memory *in) {
  record_point *points = record_allocate(in, POINTS, sizeof *points);
  made->points = points;
  for (int n = 0; n < POINTS; n++) {
    posenc_problem problem = posenc_table(POINT_ROWS, DIM);
    problem.first = INT64_C(1) << n;
    problem.shift = shift_of(with->kernel);
    const shape of = shape_of(&problem);
    subject s;
    isolate_say("error against position", (double)n / (2 * POINTS));
    const bool lacks = subject_open(&s, with->kernel, &of, with->options);
    if (!lacks) points[made->points_count++] = point_of(with, &s, problem.first);
    subject_close(&s);
  }
}

/* ---- threads, each with a reference of its own ------------------------------------------------------------- */

typedef struct oracle_team {
  int parts;                /* done at the same time */
  fast_oracle **references; /* one per part */
} oracle_team;

static void team_free(oracle_team *t) {
  for (int part = 0; part < t->parts; part++) fast_destroy(t->references[part]);
  free(t->references);
}

static void team_make(oracle_team *t, double shift) {
  posenc_problem problem = posenc_table(PROFILE_ROWS, DIM);
  problem.shift = shift;
  *t = (oracle_team){.parts = 1};
#ifdef _OPENMP
  t->parts = omp_get_max_threads();
#endif
  t->references = memory_take((size_t)t->parts, sizeof(fast_oracle *));
#pragma omp parallel for schedule(static, 1)
  for (int part = 0; part < t->parts; part++) t->references[part] = fast_create(&problem, 0);
  for (int part = 0; part < t->parts; part++) allocated(t->references[part]);
}

/* ---- scan: all rows below 2^20 ----------------------------------------------------------------------------- */

/* Windows fit the caches. There are few, as some kernels compute each from position 0 on. */
enum { WINDOW_ROWS = 1 << 15 };

typedef struct place_of {
  double worst;
  int64_t position, index;
} place_of;

typedef struct findings {
  place_of columns[PAIRS], norm;
  int64_t passes[FORMATS]; /* first position with an error above half an ulp, or PROFILE_ROWS */
} findings;

typedef struct scan {
  oracle_team team;
  findings *found;           /* findings of each part */
  uint64_t weights[DIM];     /* random odd weights for hashing rows */
  uint64_t *hashes[FORMATS]; /* hashes of all rows */
} scan;

static void scan_free(scan *s) {
  team_free(&s->team);
  free(s->found);
  for (int n = 0; n < FORMATS; n++) free(s->hashes[n]);
}

static void scan_make(scan *s, double shift) {
  uint64_t random = 1;
  *s = (scan){.found = NULL};
  team_make(&s->team, shift);
  s->found = memory_take((size_t)s->team.parts, sizeof *s->found);
  for (int n = 0; n < FORMATS; n++) {
    s->hashes[n] = memory_take(PROFILE_ROWS, sizeof *s->hashes[n]);
    for (int part = 0; part < s->team.parts; part++) s->found[part].passes[n] = PROFILE_ROWS;
  }
  for (int c = 0; c < DIM; c++) s->weights[c] = random_below(&random, UINT64_MAX) | 1;
}

static void keep(place_of *known, double error, int64_t position, int64_t index) {
  if (error > known->worst) *known = (place_of){error, position, index};
}

static double error_of(float got, const fast_value *exact_value) {
  return size_of(((double)got - exact_value->high) - exact_value->low);
}

static void look_at_row(findings *f, int64_t position, const float *row, const fast_pair *exact_pairs) {
  double worst = 0.0;
  for (int i = 0; i < PAIRS; i++) {
    const double sine = (double)row[2 * i], cosine = (double)row[2 * i + 1];
    const double error =
        larger(error_of(row[2 * i], &exact_pairs[i].sine), error_of(row[2 * i + 1], &exact_pairs[i].cosine));
    keep(&f->columns[i], error, position, i);
    keep(&f->norm, size_of(sine * sine + cosine * cosine - 1.0), position, i);
    worst = larger(worst, error);
  }
  for (int n = 0; n < FORMATS; n++)
    if (position < f->passes[n] && worst > ldexp(0.5, -formats[n]->precision)) f->passes[n] = position;
}

/* Returns the hash of doubles that hold f32 numbers, whose lower 29 bits are 0. */
static uint64_t hash_of(const scan *s, const double *rounded) {
  uint64_t hash = 0;
  for (int c = 0; c < DIM; c++) {
    uint64_t bits;
    memcpy(&bits, &rounded[c], sizeof bits);
    hash += (bits >> 29) * s->weights[c];
  }
  return hash;
}

static void look_at_rows(const scan *s, int part, int64_t from, int64_t to, const float *rows) {
  fast_pair exact_pairs[PAIRS];
  double rounded[DIM];
  for (int64_t position = from; position < to; position++, rows += DIM) {
    fast_row(s->team.references[part], position, exact_pairs);
    look_at_row(&s->found[part], position, rows, exact_pairs);
    for (int n = 0; n < FORMATS; n++) {
      round_row(formats[n], rows, rounded);
      s->hashes[n][position] = hash_of(s, rounded);
    }
  }
}

/* Keeps the larger error; of equal ones the first. */
static void merge_place(place_of *into, const place_of *from) {
  if (from->worst > into->worst || (from->worst == into->worst && from->position < into->position)) *into = *from;
}

static findings findings_of(const scan *s) {
  findings all = s->found[0];
  for (int part = 1; part < s->team.parts; part++) {
    const findings *one = &s->found[part];
    for (int i = 0; i < PAIRS; i++) merge_place(&all.columns[i], &one->columns[i]);
    merge_place(&all.norm, &one->norm);
    for (int n = 0; n < FORMATS; n++)
      if (one->passes[n] < all.passes[n]) all.passes[n] = one->passes[n];
  }
  return all;
}

static void scan_rows(scan *s, subject *of, arena *rows) {
  for (int64_t row = 0; row < PROFILE_ROWS; row += WINDOW_ROWS) {
    isolate_say("all rows to 2^20", 0.5 + 0.5 * (double)row / PROFILE_ROWS);
    const float *out = (const float *)(const void *)subject_execute(of, of->plan, row, WINDOW_ROWS, rows);
#pragma omp parallel for schedule(static, 1)
    for (int part = 0; part < s->team.parts; part++) {
      const int64_t from = (int64_t)WINDOW_ROWS * part / s->team.parts,
                    to = (int64_t)WINDOW_ROWS * (part + 1) / s->team.parts;
      look_at_rows(s, part, row + from, row + to, out + from * DIM);
    }
  }
}

/* ---- collisions -------------------------------------------------------------------------------------------- */

/* Whether the rows of two positions are equal in the format. */
static bool collide(subject *of, arena *rows, const format *f, int64_t p, int64_t q) {
  double a[DIM], b[DIM];
  round_row(f, (const float *)(const void *)subject_execute(of, of->plan, p, 1, rows), a);
  round_row(f, (const float *)(const void *)subject_execute(of, of->plan, q, 1, rows), b);
  return same_row(a, b);
}

/* Finds the first row that is equal to an earlier one. All earlier rows differ, so it equals only one of them. A row
   with an equal hash that is not equal is kept too. */
static collision find_collision(const scan *s, int n, subject *of, arena *rows) {
  enum { SLOT_BITS = 21, SLOTS = 1 << SLOT_BITS }; /* half of the slots stay empty */
  const uint64_t *hashes = s->hashes[n];
  int32_t *slots = memory_take(SLOTS, sizeof *slots); /* positions + 1 */
  collision found = {0, 0};
  for (int32_t q = 0; q < PROFILE_ROWS && !found.q; q++) {
    size_t slot = hashes[q] >> (64 - SLOT_BITS);
    for (; slots[slot] && !found.q; slot = (slot + 1) % SLOTS) {
      const int32_t p = slots[slot] - 1;
      if (hashes[p] == hashes[q] && collide(of, rows, formats[n], p, q)) found = (collision){p, q};
    }
    slots[slot] = q + 1;
  }
  free(slots);
  return found;
}

/* ---- the record -------------------------------------------------------------------------------------------- */

static void set_columns(record_profile *made, const findings *f, record_memory *in) {
  record_column *columns = record_allocate(in, PAIRS, sizeof *columns);
  for (int i = 0; i < PAIRS; i++)
    columns[i] = (record_column){
        .index = i, .max_abs = f->columns[i].worst, .position = f->columns[i].position, .has_position = true};
  made->columns = columns;
  made->columns_count = PAIRS;
}

/* The order of the formats. */
enum { OF_F32, OF_F16, OF_BF16 };

static int64_t pass_of(const findings *f, int n) {
  return f->passes[n] < PROFILE_ROWS ? f->passes[n] : RECORD_NONE;
}

static record_collisions collisions_record(const collision *found, record_memory *in) {
  record_collisions made = {.there = true};
  const struct {
    const int64_t **pair;
    size_t *count;
  } to[FORMATS] = {[OF_F32] = {&made.f32, &made.f32_count},
                   [OF_F16] = {&made.f16, &made.f16_count},
                   [OF_BF16] = {&made.bf16, &made.bf16_count}};
  for (int n = 0; n < FORMATS; n++) {
    if (!found[n].q) continue;
    int64_t *pair = record_allocate(in, 2, sizeof *pair);
    pair[0] = found[n].p;
    pair[1] = found[n].q;
    *to[n].pair = pair;
    *to[n].count = 2;
  }
  return made;
}

/* Adds the findings in all rows of an open subject. */
static void add_scan(record_profile *made, subject *of, const collision *of_points, record_memory *in) {
  const size_t row_bytes = DIM * sizeof(float);
  arena *rows = arena_create(WINDOW_ROWS * row_bytes);
  collision collisions[FORMATS];
  scan s;
  scan_make(&s, of->shape->problem.shift);
  subject_check_threads(of, false, NULL);
  subject_share(of);
  scan_rows(&s, of, rows);
  of->shared = false;
  for (int n = 0; n < FORMATS; n++) {
    collisions[n] = find_collision(&s, n, of, rows);
    if (!collisions[n].q) collisions[n] = of_points[n];
  }
  const findings f = findings_of(&s);
  made->rows = PROFILE_ROWS;
  set_columns(made, &f, in);
  made->passes = (record_passes){
      .there = true, .f32 = pass_of(&f, OF_F32), .f16 = pass_of(&f, OF_F16), .bf16 = pass_of(&f, OF_BF16)};
  made->norm = (record_norm){.there = true, .worst = f.norm.worst, .position = f.norm.position, .index = f.norm.index};
  made->collisions = collisions_record(collisions, in);
  scan_free(&s);
  arena_destroy(rows);
}

static void look_at_all(record_profile *made, const posenc_kernel *kernel, const posenc_options *options,
                        const collision *of_points, record_memory *in) {
  posenc_problem problem = posenc_table(PROFILE_ROWS, DIM);
  problem.shift = shift_of(kernel);
  const shape of = shape_of(&problem);
  subject s;
  made->rows = RECORD_NONE;
  made->has_rows = true;
  if (!subject_open(&s, kernel, &of, options)) add_scan(made, &s, of_points, in);
  subject_close(&s);
}

record_profile profile_empty(const posenc_kernel *kernel) {
  return (record_profile){
      .there = true, .kernel = kernel->name, .dim = DIM, .base = posenc_table(0, DIM).base, .has_shift = true};
}

record_profile profile_of(const posenc_kernel *kernel, const posenc_options *options, bool in_full, record_memory *in) {
  instruments with;
  record_profile made = profile_empty(kernel);
  made.shift = shift_of(kernel);
  instruments_make(&with, kernel, options, in_full);
  add_points(&made, &with, in);
  if (in_full) look_at_all(&made, kernel, options, with.collisions, in);
  if (in_full && !kernel->bound.derived) add_tables(&made, kernel, options, made.shift, in);
  instruments_free(&with);
  return made;
}

/* ---- distances of exact rows -------------------------------------------------------------------------------- */

/* Returns |PE[p] − PE[q]|² = 4 Σ sin²((p−q) w_i / 2) = 2 Σ (1 − cos((p−q) w_i)). */
static double squared_distance(fast_oracle *reference, int64_t apart) {
  fast_pair pairs[PAIRS];
  double sum = 0.0;
  fast_row(reference, apart, pairs);
  for (int i = 0; i < PAIRS; i++) sum += (1.0 - pairs[i].cosine.high) - pairs[i].cosine.low;
  return 2.0 * sum;
}

typedef struct nearest {
  double squared;
  int64_t apart;
} nearest;

static nearest nearer(nearest a, nearest b) {
  return b.squared < a.squared || (b.squared == a.squared && b.apart < a.apart) ? b : a;
}

/* Finds the nearest rows that are [from, to) positions apart. */
static nearest nearest_of(fast_oracle *reference, int64_t from, int64_t to) {
  nearest found = {INFINITY, 0};
  for (int64_t apart = from; apart < to; apart++)
    found = nearer(found, (nearest){squared_distance(reference, apart), apart});
  return found;
}

record_unique profile_unique(void) {
  oracle_team t;
  isolate_say("distances of rows", 0.0);
  team_make(&t, 0.0);
  nearest *found = memory_take((size_t)t.parts, sizeof *found);
#pragma omp parallel for schedule(static, 1)
  for (int part = 0; part < t.parts; part++)
    found[part] = nearest_of(t.references[part], 1 + (PROFILE_ROWS - 1) * (int64_t)part / t.parts,
                             1 + (PROFILE_ROWS - 1) * (int64_t)(part + 1) / t.parts);
  for (int part = 1; part < t.parts; part++) found[0] = nearer(found[0], found[part]);
  const record_unique made = {.there = true,
                              .dim = DIM,
                              .base = posenc_table(0, DIM).base,
                              .rows = PROFILE_ROWS,
                              .distance = sqrt(found[0].squared),
                              .apart = found[0].apart};
  free(found);
  team_free(&t);
  return made;
}

/* ---- in processes of their own ----------------------------------------------------------------------------------- */

void unique_worker(void *argument) {
  (void)argument;
  const record_unique made = profile_unique();
  record_send(record_write_unique(&made));
}

void profile_worker(void *argument) {
  const profile_task *of = argument;
  const posenc_options options = run_options(of->request, NULL);
  record_memory memory = {NULL};
  arena_tell_faults();
  const record_profile made = profile_of(of->kernel, &options, of->wanted == RUN_SCAN, &memory);
  record_send(record_write_profile(&made));
  record_release(&memory);
}

double profile_elements(run_profile wanted) {
  static const double elements[] = {
      [RUN_NO_PROFILE] = 0.0, [RUN_POINTS] = 0x1p16, [RUN_SCAN] = (double)PROFILE_ROWS * PROFILE_DIM};
  return elements[wanted];
}
