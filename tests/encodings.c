/* SPDX-License-Identifier: MIT */
/* Tests the encodings other than the table: their contracts, their exact values, the library's results compared with
   these, and mutants that must be caught. */
#include "posenc.h"
#include "reference/applied.h"
#include "tests/tap.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- contracts ---------------------------------------------------------------------------------- */

static void check_contracts(void) {
  static const char *const wanted[] = {"sinusoidal", "rope", "integer", "binary", "learned", "alibi", "dropout"};
  size_t count;
  const posenc_encoding *const *all = posenc_encodings(&count);
  bool whole = count == sizeof wanted / sizeof *wanted;
  for (size_t i = 0; i < count && whole; i++) {
    const posenc_encoding *e = all[i];
    whole = strcmp(e->name, wanted[i]) == 0 && posenc_encoding_find(wanted[i]) == e && *e->summary && *e->formula &&
            strncmp(e->call, "posenc_", 7) == 0 && *e->provenance && *e->basis &&
            (e->by_kernels || (e->bound.derived && e->bound.max_position > 0));
  }
  ok(whole, "%zu encodings, each with a whole contract", count);
  ok(!posenc_encoding_find("learnt") && !posenc_encoding_find(NULL), "and no others");
}

/* ---- exact values ---------------------------------------------------------------------------------- */

/* Tests kat_vectors of Random123, philox4x32 10: counter, key, and the result. */
static void check_philox(void) {
  static const uint32_t answers[][10] = {
      {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
       0x6d5451fd},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
       0x24126ea1},
  };
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    uint32_t counter[4];
    memcpy(counter, answers[i], sizeof counter);
    encodings_philox(counter, answers[i] + 4);
    ok(memcmp(counter, answers[i] + 6, sizeof counter) == 0, "known answer %zu of Philox4x32-10", i + 1);
  }
}

/* Tests the slopes of 12 heads as the authors' code prints them: 2^-1 … 2^-8, then 2^-0.5, 2^-1.5 … */
static void check_slopes(void) {
  static const double exponents[] = {1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5};
  bool near = true;
  mpfr_t slope;
  mpfr_init2(slope, ENCODINGS_PRECISION);
  for (int head = 0; head < 12; head++) {
    const posenc_sum own = posenc_alibi_slope(12, head);
    encodings_slope(12, head, slope);
    near = near && fabs(mpfr_get_d(slope, MPFR_RNDN) - exp2(-exponents[head])) <= 0x1p-53;
    mpfr_sub_d(slope, slope, own.high, MPFR_RNDN);
    mpfr_sub_d(slope, slope, own.low, MPFR_RNDN);
    near = near && fabs(mpfr_get_d(slope, MPFR_RNDN)) <= 0x1p-97;
  }
  ok(near, "slopes of 12 heads: 2^-1 … 2^-8, 2^-0.5, 2^-1.5, 2^-2.5, 2^-3.5");
  bool within = true;
  for (int64_t heads = 1; heads <= 1 << 20; heads += 1 + heads / 3) {
    const int64_t head = heads - 1;
    const posenc_sum own = posenc_alibi_slope(heads, head);
    encodings_slope(heads, head, slope);
    const double whole = mpfr_get_d(slope, MPFR_RNDN);
    mpfr_sub_d(slope, slope, own.high, MPFR_RNDN);
    mpfr_sub_d(slope, slope, own.low, MPFR_RNDN);
    within = within && own.high == whole && fabs(mpfr_get_d(slope, MPFR_RNDN)) <= 0x1p-97 * whole;
  }
  ok(within, "slopes are within 2^-97 for up to 2^20 heads");
  ok(isnan(posenc_alibi_slope(8, 8).high) && isnan(posenc_alibi_slope(8, -1).high) &&
         isnan(posenc_alibi_slope(0, 0).high) && isnan(posenc_alibi_slope((1 << 20) + 1, 0).high),
     "no such head is NaN");
  mpfr_clear(slope);
}

/* Tests distances at which the product of two doubles does not decide which of two f32 is nearer: denominators of
   convergents, with an odd numerator, of twice the slope in units of the f32 there. */
static void check_ties(void) {
  enum { KEYS = 16 };
  static const struct {
    int64_t heads, head, distance;
  } cases[] = {{12, 8, INT64_C(19802636454165)},    {12, 8, INT64_C(997878026138279)},
               {12, 9, INT64_C(39605272908330)},    {12, 9, INT64_C(1726265345348277)},
               {24, 17, INT64_C(2675351766754877)}, {24, 20, INT64_C(8201485561)},
               {24, 20, INT64_C(10313235793)},      {24, 20, INT64_C(2467658834241893)}};
  int wrong = 0, deceptive = 0;
  mpfr_t slope;
  mpfr_init2(slope, ENCODINGS_PRECISION);
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    float bias[KEYS];
    posenc_alibi alibi = posenc_alibi_of(cases[n].heads, 1);
    alibi.head = cases[n].head;
    alibi.count = 1;
    alibi.query = cases[n].distance;
    alibi.keys = KEYS;
    if (posenc_alibi_bias(&alibi, bias) != POSENC_OK) wrong += KEYS;
    encodings_slope(cases[n].heads, cases[n].head, slope);
    for (int key = 0; key < KEYS; key++)
      wrong += (double)bias[key] != encodings_alibi(slope, cases[n].distance - key, POSENC_F32).rounded;
    const double product = posenc_alibi_slope(cases[n].heads, cases[n].head).high * (double)cases[n].distance;
    deceptive += (double)(float)-product != encodings_alibi(slope, cases[n].distance, POSENC_F32).rounded;
  }
  mpfr_clear(slope);
  ok(wrong == 0 && deceptive == sizeof cases / sizeof *cases,
     "alibi next to ties: %d biases wrong, where %d would be by products of doubles", wrong, deceptive);
}

/* Tests thresholds: an element with the word u is dropped if u < q 2^32 rounded to nearest, half up. */
static void check_thresholds(void) {
  static const struct {
    double above; /* q 2^32 less u */
    bool kept;
  } cases[] = {{-1.0, true}, {0.0, true}, {0.25, true}, {0.5, false}, {0.75, false}, {1.0, false}};
  const uint64_t seed = UINT64_C(0x123456789abcdef0);
  int wrong = 0;
  for (int64_t position = 0; position < 50; position++) {
    uint32_t counter[4] = {0, 3, (uint32_t)position, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    encodings_philox(counter, key);
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
      posenc_dropout dropout = posenc_dropout_of(((double)counter[0] + cases[n].above) * 0x1p-32, seed);
      const posenc_slice at = posenc_rows(position, 1);
      unsigned char keep = 9;
      dropout.sequence = 3;
      wrong += posenc_dropout_mask(&dropout, &at, 1, &keep) != POSENC_OK || keep != cases[n].kept;
    }
  }
  ok(wrong == 0, "dropout rounds its thresholds to nearest: %d elements wrong", wrong);
}

/* Tests that each row is the same if rows are added and dropped in pieces, by their numbers, and alone. */
static void check_pieces(void) {
  enum { ROWS = 300, DIM = 1024 };
  static float x[ROWS * DIM], all[ROWS * DIM], one[DIM];
  static int64_t index[ROWS];
  const posenc_problem problem = posenc_add(ROWS, DIM);
  const posenc_dropout dropout = posenc_dropout_of(0.25, 5);
  posenc_slice slice = posenc_rows(0, ROWS);
  posenc_plan *plan;
  for (int64_t r = 0; r < ROWS; r++) index[r] = r * 7 % ROWS;
  for (int64_t at = 0; at < (int64_t)ROWS * DIM; at++) x[at] = (float)(at % 251);
  slice.index = index;
  bool same = posenc_plan_create(&plan, &problem, NULL) == POSENC_OK &&
              posenc_apply_dropout(plan, &slice, &dropout, x, all) == POSENC_OK;
  for (int64_t r = 0; r < ROWS && same; r++) {
    const posenc_slice alone = posenc_rows(index[r], 1);
    same = posenc_apply_dropout(plan, &alone, &dropout, x + r * DIM, one) == POSENC_OK &&
           memcmp(one, all + r * DIM, sizeof one) == 0;
  }
  ok(same, "dropout of rows by number, in pieces");
  posenc_plan_destroy(plan);
}

/* Tests values that can be checked by hand. */
static void check_examples(void) {
  static const float bits[] = {0, 0, 0, 1, 0, 0, 1, 1};
  float row[8];
  posenc_slice at = posenc_rows(200, 1);
  ok(posenc_binary(&at, 8, POSENC_F32, row) == POSENC_OK && memcmp(row, bits, sizeof bits) == 0,
     "binary 200 is 0 0 0 1 0 0 1 1");
  ok(posenc_integer(&at, 8, POSENC_F32, row) == POSENC_OK && row[0] == 200.0f && row[7] == 200.0f,
     "integer 200 is 200 200 …");
  /* The value is 1 from a midpoint of f32, which a double cannot represent. */
  posenc_slice far = posenc_rows((INT64_C(1) << 60) + (INT64_C(1) << 36) + 1, 1);
  ok(posenc_integer(&far, 1, POSENC_F32, row) == POSENC_OK && row[0] == 0x1p60f + 0x1p37f, "integers are rounded once");
  far.row = -far.row;
  ok(posenc_integer(&far, 1, POSENC_F32, row) == POSENC_OK && row[0] == -0x1p60f - 0x1p37f, "and below 0");
  static const double ones[2] = {1.0, 1.0};
  const float infinite[2] = {-INFINITY, INFINITY};
  posenc_learned_table table = {.size = sizeof table, .rows = ones, .count = 1, .dim = 2, .dtype = POSENC_F64};
  const posenc_slice first = posenc_rows(0, 1);
  ok(posenc_learned(&table, &first, POSENC_F32, infinite, row) == POSENC_OK && row[0] == -INFINITY &&
         row[1] == INFINITY,
     "infinities stay what they are");
  float bias[2][3][3];
  const posenc_alibi alibi = posenc_alibi_of(2, 3);
  ok(posenc_alibi_bias(&alibi, bias) == POSENC_OK && bias[0][2][0] == -2 * 0x1p-4f && bias[1][0][1] == -0x1p-8f &&
         bias[0][1][1] == 0.0f && !signbit(bias[0][1][1]),
     "alibi of 2 heads has slopes 1/16 and 1/256");
}

/* ---- the library and mutants -------------------------------------------------------------------- */

static const record_accuracy *verified(const encoders *by, const char *name) {
  const posenc_encoding *encoding = posenc_encoding_find(name);
  run_request request = {.silence = 60,
                         .exam = {.seed = 1, .encodings = &encoding, .encoding_count = 1, .encoders = by}};
  return verify_run(&request);
}

/* Whether that property, and no other, is broken in at least one shape. */
static bool breaks(const record_encodings *record, const char *property, const char *also) {
  bool broken = false, others = false;
  RECORD_EACH(one, record, records)
    RECORD_EACH(check, one, checks) {
      if (check->ok) continue;
      if (strcmp(check->property, property) == 0)
        broken = true;
      else if (!strstr(also, check->property))
        others = true;
      printf("# %s breaks %s in %s: %s\n", one->kernel, check->property, one->shape.name, check->note);
    }
  return broken && !others;
}

static void check_library(void) {
  size_t count;
  const posenc_encoding *const *all = posenc_encodings(&count);
  for (size_t i = 0; i < count; i++) {
    if (all[i]->by_kernels) continue;
    const record_accuracy *of_run = verified(&encoders_library, all[i]->name);
    const record_encodings *record = &of_run->encodings;
    int64_t misrounded = 0, elements = 0;
    breaks(record, "", "");
    RECORD_EACH(one, record, records) {
      misrounded += one->misrounded;
      elements += one->elements;
    }
    const int64_t passed = record->passed;
    ok(record->failed == 0 && passed > 0 && elements > 1000,
       "%s keeps its contract: %" PRId64 " checks, %" PRId64 " elements", all[i]->name, passed, elements);
    if (strcmp(all[i]->name, "dropout") != 0 && strcmp(all[i]->name, "learned") != 0)
      ok(misrounded == 0, "and rounds correctly");
    record_free(of_run);
  }
}

/* Writes the most significant of eight bits first. */
static posenc_status binary_backwards(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out) {
  const posenc_status status = posenc_binary(positions, dim, dtype, out);
  const size_t element = posenc_dtype_bytes(dtype);
  for (int64_t r = 0; status == POSENC_OK && dim >= 8 && r < positions->rows; r++)
    for (int64_t j = 0; j < 4; j++) {
      char *a = (char *)out + (size_t)(r * dim + j) * element, *b = (char *)out + (size_t)(r * dim + 7 - j) * element,
           kept[8];
      memcpy(kept, a, element);
      memcpy(a, b, element);
      memcpy(b, kept, element);
    }
  return status;
}

/* Goes by way of f32, which has 24 bits. */
static posenc_status integer_in_f32(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out) {
  const posenc_status status = posenc_integer(positions, dim, dtype, out);
  for (int64_t i = 0; status == POSENC_OK && dtype == POSENC_F64 && i < positions->rows * dim; i++)
    ((double *)out)[i] = (double)(float)((double *)out)[i];
  return status;
}

/* Uses 2^(-8h/H) for any number of heads. */
static posenc_status alibi_one_formula(const posenc_alibi *bias, void *out) {
  const posenc_status status = posenc_alibi_bias(bias, out);
  int64_t at = 0;
  if (status != POSENC_OK || bias->dtype != POSENC_F64 || (bias->heads & (bias->heads - 1)) == 0) return status;
  for (int64_t h = bias->head; h < bias->head + bias->count; h++)
    for (int64_t i = bias->query; i < bias->query + bias->queries; i++)
      for (int64_t j = bias->key; j < bias->key + bias->keys; j++)
        ((double *)out)[at++] = -exp2(-8.0 * (double)(h + 1) / (double)bias->heads) * fabs((double)(i - j));
  return status;
}

/* Takes the nearest row for a position that has none. */
static posenc_status learned_unchecked(const posenc_learned_table *table, const posenc_slice *positions,
                                       posenc_dtype dtype, const void *x, void *out) {
  posenc_slice mine = *positions;
  int64_t *clamped = malloc((size_t)positions->rows * sizeof *clamped);
  if (!clamped) return POSENC_OUT_OF_MEMORY;
  for (int64_t r = 0; r < positions->rows; r++) {
    const int64_t p = positions->index ? positions->index[r] : positions->row + r;
    clamped[r] = p < table->count ? p : table->count - 1;
    if (p < 0) clamped[r] = 0;
  }
  mine.index = clamped;
  const posenc_status status = posenc_learned(table, &mine, dtype, x, out);
  free(clamped);
  return status;
}

/* Draws by the number of the row in the slice. */
static posenc_status dropout_by_slice(const posenc_plan *plan, const posenc_slice *slice, const posenc_dropout *dropout,
                                      const void *x, void *out) {
  posenc_dropout mine = *dropout;
  mine.seed += (uint64_t)(slice->index ? 0 : slice->row);
  return posenc_apply_dropout(plan, slice, &mine, x, out);
}

/* Omits 1/(1-q). */
static posenc_status dropout_unscaled(const posenc_plan *plan, const posenc_slice *slice, const posenc_dropout *dropout,
                                      const void *x, void *out) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  const posenc_status status = posenc_apply_dropout(plan, slice, dropout, x, out);
  if (status != POSENC_OK || problem->dtype != POSENC_F32 || dropout->first != dropout->last) return status;
  for (int64_t i = 0; i < slice->rows * problem->dim; i++) ((float *)out)[i] *= (float)(1.0 - dropout->first);
  return status;
}

/* Copies every other pair's columns from the one before. */
static posenc_status mask_in_pairs(const posenc_dropout *dropout, const posenc_slice *positions, int64_t dim,
                                   unsigned char *keep) {
  const posenc_status status = posenc_dropout_mask(dropout, positions, dim, keep);
  for (int64_t i = 0; status == POSENC_OK && i + 1 < positions->batch * positions->rows * dim; i += 4)
    keep[i + 1] = keep[i];
  return status;
}

static void check_mutant(const encoders *by, const char *name, const char *fault, const char *property,
                         const char *also) {
  const record_accuracy *record = verified(by, name);
  ok(breaks(&record->encodings, property, also), "%s that %s breaks %s", name, fault, property);
  record_free(record);
}

/* Writes far behind the rows. */
static posenc_status integer_beyond(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out) {
  const posenc_status status = posenc_integer(positions, dim, dtype, out);
  const size_t bytes = (size_t)(positions->rows * dim) * posenc_dtype_bytes(dtype);
  if (status == POSENC_OK) memset((char *)out + bytes, 1, 1 << 12);
  return status;
}

static posenc_status learned_dead(const posenc_learned_table *table, const posenc_slice *positions, posenc_dtype dtype,
                                  const void *x, void *out) {
  (void)table, (void)positions, (void)dtype, (void)x, (void)out;
  abort();
}

#define MUTANT(field, function, name, fault, property, also)                                                           \
  do {                                                                                                                 \
    encoders by = encoders_library;                                                                                    \
    by.field = function;                                                                                               \
    check_mutant(&by, name, fault, property, also);                                                                    \
  } while (0)

int main(void) {
  check_contracts();
  check_philox();
  check_slopes();
  check_ties();
  check_pieces();
  check_thresholds();
  check_examples();
  check_library();
  MUTANT(binary, binary_backwards, "binary", "has the most significant bit first", "accuracy", "");
  MUTANT(integer, integer_in_f32, "integer", "goes by way of f32", "accuracy", "");
  MUTANT(alibi_bias, alibi_one_formula, "alibi", "has one formula for all numbers of heads", "accuracy", "");
  MUTANT(learned, learned_unchecked, "learned", "reads some row for a position that is none", "refusal", "");
  MUTANT(integer, integer_beyond, "integer", "writes beyond its rows", "memory", "");
  MUTANT(learned, learned_dead, "learned", "dies", "survival", "");
  MUTANT(apply_dropout, dropout_by_slice, "dropout", "draws by slice", "extension", "threads");
  MUTANT(apply_dropout, dropout_unscaled, "dropout", "forgets to scale", "accuracy",
         "in-place,threads,extension,index,memory");
  MUTANT(dropout_mask, mask_in_pairs, "dropout", "repeats columns", "statistics", "mask,known-answers");
  return tap_done();
}
