/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/checks.h"

#include "common/work.h"

#include "common/clock.h"
#include "reference/scaling.h"
#include "verify/fpenv.h"
#include "verify/seal.h"

#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operations that a property is checked of. */
enum {
  TABLES = 1 << POSENC_TABLE | 1 << POSENC_ROPE_CACHE,
  APPLIED = 1 << POSENC_ADD | 1 << POSENC_ROPE,
  ANY = TABLES | APPLIED
};

static const struct {
  const char *name;
  unsigned ops; /* 1 << posenc_op */
} properties[PROPERTIES] = {
    [ACCURACY] = {"accuracy", ANY},
    [MEMORY] = {"memory", ANY},
    [BOUNDED] = {"bounded", TABLES},
    [PAIR_NORM] = {"pair-norm", ANY & ~(1u << POSENC_ADD)},
    [ROTATION] = {"rotation", TABLES},
    [EXTRAPOLATION] = {"extrapolation", TABLES},
    [EXTENSION] = {"extension", ANY},
    [DETERMINISM] = {"determinism", ANY},
    [THREADS] = {"threads", ANY},
    [ENVIRONMENT] = {"environment", ANY},
    [READ_ONLY] = {"read-only", ANY},
    [PROCESS] = {"process", ANY},
    [FAR_POSITIONS] = {"positions", ANY},
    [WIDTHS] = {"widths", ANY},
    [HEAD_COUNTS] = {"heads", 1 << POSENC_ROPE},
    [ALIGNMENT] = {"alignment", ANY},
    [CALL_SIZE] = {"call-size", ANY},
    [DECODING] = {"decoding", ANY},
    [PLANS] = {"plans", ANY},
    [ENDURANCE] = {"endurance", ANY},
    [CPUS] = {"cpus", ANY},
    [LEAK] = {"leak", ANY},
    [SEARCH] = {"search", ANY}, /* of add and rope it is skipped, with its reason */
    [STAGES] = {"stages", TABLES},
    [ROPE_CACHE] = {"rope-cache", 1 << POSENC_ROPE_CACHE},
    [IN_PLACE] = {"in-place", APPLIED},
    [BATCH] = {"batch", APPLIED},
    [INDEX] = {"index", APPLIED},
    [INVERSE] = {"inverse", 1 << POSENC_ROPE},
    [RELATIVE] = {"relative", 1 << POSENC_ROPE},
    [PADDING] = {"padding", 1 << POSENC_ADD},
    [SPECIAL] = {"special", APPLIED},
    [SURVIVAL] = {"survival", ANY},
};

const char *property_name(property p) {
  return properties[p].name;
}

bool property_is_beside(property p) {
  return p >= FAR_POSITIONS && p <= LEAK;
}

bool property_is_of(property p, posenc_op op) {
  return properties[p].ops & 1u << op;
}

/* splitmix64 (Steele, Lea and Flood, 2014) */
static uint64_t random_next(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

uint64_t random_below(uint64_t *state, uint64_t limit) {
  const uint64_t biased = UINT64_MAX - UINT64_MAX % limit;
  uint64_t drawn;
  do drawn = random_next(state);
  while (drawn >= biased);
  return drawn % limit;
}

void check_note(check *c, double deviation, double bound, int64_t position, int64_t index) {
  const double share = deviation == 0.0 ? 0.0 : bound > 0.0 && !isnan(deviation) ? deviation / bound : INFINITY;
  if (!(deviation <= bound)) c->broken++;
  if (c->compared == 0 || share > c->share) {
    c->worst = deviation;
    c->bound = bound;
    c->share = share;
    c->position = position;
    c->index = index;
  }
  c->compared++;
}

static size_t row_bytes(const posenc_problem *problem) {
  return (size_t)(problem->heads * problem->dim) * posenc_dtype_bytes(problem->dtype);
}

/* One for each of OpenMP's threads and no more, since some kernels walk to each from position 0. */
int64_t subject_parts(const subject *s) {
#ifdef _OPENMP
  if (s->shared) return omp_get_max_threads();
#endif
  (void)s;
  return 1;
}

static void run_rows(const subject *s, const posenc_plan *plan, int64_t row, int64_t rows, unsigned char *out) {
  const size_t bytes = row_bytes(posenc_plan_problem(plan));
  const int64_t parts = subject_parts(s);
#pragma omp parallel for schedule(static) if (parts > 1)
  for (int64_t part = 0; part < parts; part++) {
    const int64_t from = rows * part / parts, to = rows * (part + 1) / parts;
    posenc_execute(plan, row + from, to - from, out + bytes * (size_t)from);
  }
}

static int64_t known_writes;

void subject_begin_calls(void) {
  known_writes = seal_writes();
}

void subject_check_conduct(subject *s, int64_t position) {
  const char *fault = fpenv_restore();
  const int64_t writes = seal_writes() - known_writes;
  isolate_go_on();
  check *environment = &s->checks[ENVIRONMENT], *unchanged = &s->checks[READ_ONLY];
  known_writes += writes;
  check_note(environment, fault ? 1.0 : 0.0, 0.0, position, -1);
  if (fault && !*environment->note)
    snprintf(environment->note, sizeof environment->note, "after a call for p = %lld: %s", (long long)position, fault);
  if (seal_works()) check_note(unchanged, (double)writes, 0.0, position, -1);
  if (writes && !*unchanged->note)
    snprintf(unchanged->note, sizeof unchanged->note, "a call for p = %lld wrote to what its plan had prepared",
             (long long)position);
}

void check_break(check *c, const subject *s, const posenc_problem *problem, const char *text, ...) {
  if (c->broken++ == 0 || !*c->note) {
    char what[240];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(what, sizeof what, text, arguments);
    va_end(arguments);
    char *options = problem_options(problem);
    snprintf(c->note, sizeof c->note, "%s; of: --kernel %s %s", what, s->kernel->name, options ? options : "");
    free(options);
  }
  c->worst = (double)c->broken;
  c->index = -1;
  c->position = problem->first;
}

/* Executes rows into poisoned memory and looks at what was written, what should not have been, and what else has changed. */
static unsigned char *execute(subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *a, bool flush) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  const size_t bytes = row_bytes(problem) * (size_t)rows, element = posenc_dtype_bytes(problem->dtype);
  unsigned char *out = arena_place(a, bytes, flush);
  subject_begin_calls();
  run_rows(s, plan, row, rows, out);
  subject_check_conduct(s, problem->first + row);
  check *memory = &s->checks[MEMORY];
  memory->index = -1;
  size_t first = 0;
  const int64_t missing = arena_untouched(out, bytes, element, &first), spilled = arena_spills(a);
  memory->compared += (int64_t)(bytes / element);
  if (!memory->broken && missing + spilled)
    memory->position = problem->first + row + (int64_t)(missing ? first / row_bytes(problem) : 0);
  memory->broken += missing + spilled;
  memory->worst = (double)memory->broken;
  return out;
}

const unsigned char *subject_execute(subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *a) {
  return execute(s, plan, row, rows, a, false);
}

/* ---- one kernel on one shape --------------------------------------------------------------------- */

/*
 * The contract is about positions in units of 1/scale. An attention factor multiplies a table of f64 and its errors; the factor and the
 * product are rounded to double, which is less than 2^-51 of them, and the result to the dtype.
 */
static void set_bounds(subject *s) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_bound *given = &s->kernel->bound;
  s->bound = *given;
  if (problem->scale != 1.0) {
    const double domain = (double)given->max_position / problem->scale;
    s->bound.growth *= problem->scale;
    s->bound.max_position = domain < 0x1p63 ? (int64_t)domain : INT64_MAX;
  }
  s->applied = s->most = s->bound;
  if (s->attention == 1.0) return;
  s->bound.abs = s->attention * (posenc_bound_at(given, POSENC_F64, 0) + 0x1p-51);
  s->bound.growth *= s->attention;
  s->bound.ulp = 0.5;
  s->most = s->bound;
  int exponent;
  frexp(s->attention, &exponent);
  s->most.ulp = ldexp(s->bound.ulp, exponent);
  if (problem->op != POSENC_ROPE) return;
  /* There the size of a result has the factor, and the table's error is a part of it. */
  s->most.ulp /= s->attention;
  s->most.abs /= s->attention;
  s->most.growth /= s->attention;
}

/* What nobody here asks for: what such results are made of is looked at. */
static const char *unseen(const posenc_problem *problem) {
  if (!op_is_applied(problem->op)) return NULL;
  if (problem->positions) return "of add and rope, what is verified are successive positions";
  if (problem->dim % 2) return "of add, what is verified are even dims";
  return NULL;
}

const char *subject_open(subject *s, const posenc_kernel *kernel, const shape *of, const posenc_options *options) {
  *s = (subject){.kernel = kernel, .shape = of, .options = options, .digest = DIGEST_START};
  posenc_options mine = *options;
  mine.kernel = kernel;
  isolate_say("can_do", 0.0);
  const char *why = posenc_kernel_refusal(kernel, &of->problem, &mine);
  if (!why) why = unseen(&of->problem);
  if (why) return why;
  if (!seal_works()) s->checks[READ_ONLY].skip = "this build cannot make the memory of plans read-only";
  s->attention = attention_of(&of->problem);
  set_bounds(s);
  s->origin = of->problem.first;
  isolate_say("making the plan", 0.0);
  const posenc_status status = subject_plan(s, &of->problem, &s->plan);
  return status == POSENC_OK ? NULL : posenc_status_message(status);
}

void subject_close(subject *s) {
  isolate_say("releasing the plan", 1.0);
  subject_drop(s->plan);
  s->plan = NULL;
}

posenc_status subject_plan(const subject *s, const posenc_problem *problem, posenc_plan **plan) {
  posenc_options options = *s->options;
  options.kernel = s->kernel;
  seal_begin();
  const posenc_status status = posenc_plan_create(plan, problem, &options);
  seal_end();
  return status;
}

size_t subject_drop(posenc_plan *plan) {
  const void *const inside = plan;
  seal_break(inside);
  posenc_plan_destroy(plan);
  return seal_release(inside);
}

/* What the contract allows any element of a position of the table. */
static double allowed(const subject *s, int64_t position) {
  return posenc_bound_at(&s->most, posenc_table_of(&s->shape->problem).dtype, position);
}

/* Distance of a position from 0; that of INT64_MIN is not to be had. */
static int64_t distance(int64_t position) {
  return position == INT64_MIN ? INT64_MAX : llabs(position);
}

bool subject_claims(const subject *s, int64_t position) {
  return s->shape->problem.base >= 1.0 && distance(position) <= s->bound.max_position;
}

/* The position nearest to 0, rounded away from it. */
static int64_t nearest_of(const posenc_problem *problem) {
  const int64_t first = problem->first, last = first + (problem->rows ? problem->rows - 1 : 0);
  if (!problem->positions) return first <= 0 && last >= 0 ? 0 : distance(first) < distance(last) ? first : last;
  double nearest = INFINITY;
  for (int64_t row = 0; row < problem->rows; row++) nearest = fmin(nearest, fabs(problem->positions[row]));
  return problem->rows ? (int64_t)ceil(nearest) : 0;
}

const char *subject_no_claim(const subject *s) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t nearest = nearest_of(problem);
  if (problem->base < 1.0) return "the bound is for base >= 1";
  if (!subject_claims(s, nearest)) return "beyond the positions that the bound is for";
  if (allowed(s, nearest) >= s->attention) return "so far out the bound allows any value";
  return NULL;
}

static bool is_padding(const posenc_problem *problem, int64_t position) {
  return problem->padding != POSENC_NO_PADDING && position == problem->padding;
}

/* The claim is for the positions of a part of the rows: all of them, but where the bound's domain ends. */
static void check_accuracy(subject *s, window w, fast_oracle *truth, const unsigned char *out) {
  const posenc_problem *problem = &s->shape->problem;
  const bool claims = !subject_no_claim(s);
  for (int64_t from = 0, to; from < w.rows; from = to) {
    const bool claimed = claims && subject_claims(s, problem->first + w.row + from);
    for (to = from + 1; to < w.rows && claimed == (claims && subject_claims(s, problem->first + w.row + to));) to++;
    fast_check(truth, problem->first - s->origin + w.row + from, to - from, out + row_bytes(problem) * (size_t)from,
               claimed ? &s->bound : NULL, &s->found);
  }
}

static inline __attribute__((always_inline)) row_norms
norms_of(const unsigned char *row, posenc_dtype dtype, posenc_columns at, int64_t step, int64_t pairs, double square) {
  double value = 0.0, norm = 0.0;
  for (int64_t i = 0; i < pairs; i++) {
    const double sine = format_element(dtype, row, at.sin + i * step),
                 cosine = format_element(dtype, row, at.cos + i * step);
    const double larger = fabs(sine) > fabs(cosine) ? fabs(sine) : fabs(cosine);
    const double off = fabs(sine * sine + cosine * cosine - square);
    value = larger > value ? larger : value;
    norm = off > norm || off != off ? off : norm; /* a NaN is taken, and stays */
  }
  return (row_norms){isnan(norm) ? (double)INFINITY : value, isnan(norm) ? (double)INFINITY : norm};
}

row_norms row_norms_of(const unsigned char *row, const posenc_problem *problem, posenc_columns at, double square) {
  const int64_t pairs = problem->dim / 2;
  switch (problem->dtype) {
  case POSENC_F32:
    return at.step == 2 ? norms_of(row, POSENC_F32, at, 2, pairs, square)
                        : norms_of(row, POSENC_F32, at, 1, pairs, square);
  case POSENC_F64:
    break;
  case POSENC_F16:
    return norms_of(row, POSENC_F16, at, at.step, pairs, square);
  case POSENC_BF16:
    return norms_of(row, POSENC_BF16, at, at.step, pairs, square);
  }
  return norms_of(row, POSENC_F64, at, at.step, pairs, square);
}

/*
 * A kernel that claims a bound must stay in [-1, 1]; one that claims none may pass it by its measured error. With an attention factor a it is
 * [-a, a], which any may pass by its error: a itself is rounded.
 * With both components within e of the exact ones: |s² + c² - a²| <= 2 a (|sin| + |cos|) e + 2 e² <= 2√2 a e + 2 e², and 2^-50 a² for these sums.
 * Row by row, since e is the row's: its elements are looked at one by one only where one of them breaks it.
 */
static void check_values(subject *s, window w, const unsigned char *out) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const bool claims = !subject_no_claim(s);
  check *bounded = &s->checks[BOUNDED], *pair_norm = &s->checks[PAIR_NORM];
  for (int64_t r = 0; r < w.rows; r++) {
    const int64_t position = problem->first + w.row + r;
    const unsigned char *row = out + row_bytes(problem) * (size_t)r;
    const double e = allowed(s, position), a = s->attention, square = a * a,
                 most = s->kernel->bound.derived && a == 1.0 ? 1.0 : a + e,
                 norm = 2.0 * sqrt(2.0) * a * e + 2.0 * e * e + 0x1p-50 * square;
    const bool held = claims && subject_claims(s, position) && !is_padding(problem, position);
    const row_norms found = row_norms_of(row, problem, at, square);
    if (found.value <= most && (!held || found.norm <= norm)) {
      check_note(bounded, found.value, most, position, -1);
      bounded->compared += problem->dim - 1;
      if (held) {
        check_note(pair_norm, found.norm, norm, position, -1);
        pair_norm->compared += problem->dim / 2 - 1;
      }
      continue;
    }
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const double sine = format_element(problem->dtype, row, at.sin + i * at.step);
      const double cosine = format_element(problem->dtype, row, at.cos + i * at.step);
      check_note(bounded, fabs(sine), most, position, i);
      check_note(bounded, fabs(cosine), most, position, i);
      if (held) check_note(pair_norm, fabs(sine * sine + cosine * cosine - square), norm, position, i);
    }
  }
}

/* Rows first: they hardly ever differ. `check_note` wants a deviation, so a difference is 1 where 0 is allowed. */
void check_bits(check *c, const posenc_problem *problem, const unsigned char *a, const unsigned char *b,
                int64_t position, int64_t rows) {
  const size_t element = posenc_dtype_bytes(problem->dtype), bytes = row_bytes(problem);
  const int64_t width = problem->heads * problem->dim;
  for (int64_t r = 0; r < rows; r++, a += bytes, b += bytes) {
    if (memcmp(a, b, bytes) == 0) {
      check_note(c, 0.0, 0.0, position + r, -1);
      c->compared += width - 1;
      continue;
    }
    for (size_t at = 0; at < bytes; at += element)
      check_note(c, memcmp(a + at, b + at, element) ? 1.0 : 0.0, 0.0, position + r, -1);
  }
}

/* Two to four pieces, each flush to the guard and so off alignment. */
static void check_extension(subject *s, window w, const unsigned char *whole, arena *pieces, uint64_t *random) {
  const posenc_problem *problem = &s->shape->problem;
  for (int64_t done = 0, left_pieces = 4; done < w.rows; left_pieces--) {
    const int64_t left = w.rows - done,
                  rows = left_pieces > 1 ? 1 + (int64_t)random_below(random, (uint64_t)left) : left;
    const unsigned char *out = execute(s, s->plan, w.row + done, rows, pieces, true);
    check_bits(&s->checks[EXTENSION], problem, whole + row_bytes(problem) * (size_t)done, out,
               problem->first + w.row + done, rows);
    done += rows;
  }
}

/* FNV-1a */
static inline uint64_t digest_word(uint64_t digest, const unsigned char *bytes, size_t count) {
  uint64_t word = 0;
  memcpy(&word, bytes, count);
  digest = (digest ^ word) * UINT64_C(1099511628211);
  return digest ^ digest >> 32; /* or high bits of a word would never reach the low ones */
}

uint64_t digest_of(uint64_t digest, const unsigned char *bytes, size_t count) {
  for (; count >= 8; bytes += 8, count -= 8) digest = digest_word(digest, bytes, 8);
  return count ? digest_word(digest, bytes, count) : digest;
}

void subject_check_window(subject *s, window w, fast_oracle *truth, arena *whole, arena *other, bool again,
                          uint64_t *random) {
  const posenc_problem *problem = &s->shape->problem;
  const unsigned char *out = execute(s, s->plan, w.row, w.rows, whole, false);
  s->digest = digest_of(s->digest, out, row_bytes(problem) * (size_t)w.rows);
  check_accuracy(s, w, truth, out);
  check_values(s, w, out);
  if (!again) return;
  const unsigned char *second = execute(s, s->plan, w.row, w.rows, other, false);
  check_bits(&s->checks[DETERMINISM], problem, out, second, problem->first + w.row, w.rows);
  if (w.rows > 1) check_extension(s, w, out, other, random);
}

static void *run_job(void *argument) {
  enum { LEAST_ROUNDS = 4 };
  /* Long enough for two threads to meet, unless the system lets them wait; and long enough for rounds that all meet. */
  const double seconds = 3e-3, enough = 0.1;
  job *mine = argument;
  const posenc_slice slice = posenc_rows(mine->row, mine->rows);
  int go;
  while (!(go = atomic_load(mine->go))) sched_yield();
  if (go < 0) return NULL;
  const double begin = clock_seconds();
  int rounds = 0;
  do {
    if (mine->x)
      posenc_apply(mine->plan, &slice, mine->x, mine->out);
    else
      posenc_execute(mine->plan, mine->row, mine->rows, mine->out);
    fpenv_restore(); /* others tell what it was */
    if (memcmp(mine->out, mine->want, mine->bytes) != 0) mine->wrong = true;
    rounds++;
  } while (!mine->wrong && clock_seconds() - begin < (rounds < LEAST_ROUNDS ? enough : seconds));
  return NULL;
}

int crowd_of_threads(void) {
  enum { FEWEST = 9, MOST = 33 };
  cpu_set_t cpus;
  const int all = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? 2 * CPU_COUNT(&cpus) + 1 : FEWEST;
  return all < FEWEST ? FEWEST : all > MOST ? MOST : all;
}

void check_together(check *c, const posenc_problem *problem, job *jobs, int count) {
  atomic_int go = 0;
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  int made = 0;
  for (int i = 0; i < count; i++) jobs[i].go = &go;
  while (threads && made < count - 1 && pthread_create(&threads[made], NULL, run_job, &jobs[made]) == 0) made++;
  const bool all = made == count - 1;
  atomic_store(&go, all ? 1 : -1);
  run_job(&jobs[made]);
  for (int i = 0; i < made; i++) pthread_join(threads[i], NULL);
  free(threads);
  if (!all) c->skip = "threads could not be had";
  for (int i = 0; i < count && all; i++) {
    check_note(c, jobs[i].wrong ? 1.0 : 0.0, 0.0, problem->first + jobs[i].row, -1);
    c->compared += jobs[i].rows * problem->heads * problem->dim - 1;
  }
}

/* Rows spread over the table, so that threads that get in each other's way write different things. */
void subject_check_threads(subject *s) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t rows = least(problem->rows / 2, CHECKED_ROWS);
  const int count = crowd_of_threads();
  /* What writes beside its rows, which MEMORY finds, does not get in the way of another thread. */
  const size_t bytes = row_bytes(problem) * (size_t)rows, apart = bytes + 64, all = (size_t)count * apart;
  check *c = &s->checks[THREADS];
  if (rows == 0) return;
  arena *alone = arena_create(all), *together = arena_create(all);
  job *jobs = calloc((size_t)count, sizeof *jobs);
  if (!alone || !together || !jobs) {
    c->skip = "threads could not be had";
  } else {
    unsigned char *want = arena_place(alone, all, false) + 64, *out = arena_place(together, all, false) + 64;
    for (int i = 0; i < count; i++) {
      jobs[i] = (job){.plan = s->plan,
                      .row = (problem->rows - rows) * i / (count - 1),
                      .rows = rows,
                      .out = out + (size_t)i * apart,
                      .want = want + (size_t)i * apart,
                      .bytes = bytes};
      subject_begin_calls();
      posenc_execute(s->plan, jobs[i].row, rows, want + (size_t)i * apart);
      subject_check_conduct(s, problem->first + jobs[i].row);
    }
    check_together(c, problem, jobs, count);
  }
  arena_destroy(alone);
  arena_destroy(together);
  free(jobs);
}

void subject_share(subject *s) {
  s->shared = !s->kernel->threaded && !s->checks[MEMORY].broken && !s->checks[THREADS].broken;
}

/*
 * PE[p+k] against M_k PE[p], M_k from the oracle, without the attention factor a: the deviation is at most
 * e(p+k) + (|cos kw| + |sin kw|) e(p), and 2^-50 a for the sum here.
 */
static void check_rotation(subject *s, const fast_pair *by, int64_t row, int64_t k, arena *one, arena *other) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t position = problem->first + row;
  if (is_padding(problem, position) || is_padding(problem, position + k)) return;
  if (!subject_claims(s, position) || !subject_claims(s, position + k)) return;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const unsigned char *from = execute(s, s->plan, row, 1, one, false),
                      *to = execute(s, s->plan, row + k, 1, other, true);
  const double e_from = allowed(s, position), e_to = allowed(s, position + k);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    const int64_t sin_column = at.sin + i * at.step, cos_column = at.cos + i * at.step;
    const double sine = format_element(problem->dtype, from, sin_column),
                 cosine = format_element(problem->dtype, from, cos_column);
    const double sin_k = by[i].sine.high / s->attention, cos_k = by[i].cosine.high / s->attention;
    const double bound = e_to + (fabs(sin_k) + fabs(cos_k)) * e_from + 0x1p-50 * s->attention;
    check_note(&s->checks[ROTATION],
               fabs(format_element(problem->dtype, to, sin_column) - (sine * cos_k + cosine * sin_k)), bound,
               position + k, i);
    check_note(&s->checks[ROTATION],
               fabs(format_element(problem->dtype, to, cos_column) - (cosine * cos_k - sine * sin_k)), bound,
               position + k, i);
  }
}

/* The same positions by another plan: the same bits where the contract says reproducible, else twice the error. */
static void check_extrapolation(subject *s, int64_t row, int64_t rows, arena *one, arena *other) {
  const posenc_problem *problem = &s->shape->problem;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  posenc_problem there = *problem;
  there.first += row;
  there.rows = rows;
  posenc_plan *plan;
  check *c = &s->checks[EXTRAPOLATION];
  const posenc_status status = subject_plan(s, &there, &plan);
  if (status != POSENC_OK) { /* it did the whole table: it must do a part of it */
    check_note(c, 1.0, 0.0, there.first, -1);
    return;
  }
  const unsigned char *a = execute(s, s->plan, row, rows, one, false), *b = execute(s, plan, 0, rows, other, true);
  if (s->kernel->reproducible) {
    check_bits(c, problem, a, b, there.first, rows);
  } else {
    for (int64_t r = 0; r < rows && subject_claims(s, there.first + r); r++)
      for (int64_t i = 0; i < problem->dim / 2; i++)
        for (int which = 0; which < 2; which++) {
          const int64_t column = r * problem->dim + (which ? at.cos : at.sin) + i * at.step;
          check_note(c, fabs(format_element(problem->dtype, a, column) - format_element(problem->dtype, b, column)),
                     2.0 * allowed(s, there.first + r), there.first + r, i);
        }
  }
  subject_drop(plan);
}

bool subject_check_relations(subject *s, fast_oracle *truth, arena *one, arena *other, uint64_t *random) {
  enum { DRAWS = 4, ROWS = 16 };
  const posenc_problem *problem = &s->shape->problem;
  if (problem->rows < 2) return true;
  fast_pair *by = calloc((size_t)problem->dim / 2, sizeof *by);
  if (!by) return false;
  for (int draw = 0; draw < DRAWS && !subject_no_claim(s); draw++) {
    const int64_t k = draw ? 1 + (int64_t)random_below(random, (uint64_t)problem->rows - 1) : 1;
    fast_row(truth, k, by);
    check_rotation(s, by, (int64_t)random_below(random, (uint64_t)(problem->rows - k)), k, one, other);
  }
  free(by);
  for (int draw = 0; draw < DRAWS && (s->kernel->reproducible || !subject_no_claim(s)); draw++) {
    const int64_t row = 1 + (int64_t)random_below(random, (uint64_t)problem->rows - 1), left = problem->rows - row;
    check_extrapolation(s, row, left < ROWS ? left : ROWS, one, other);
  }
  return true;
}

table_pair subject_pair(subject *s, const posenc_plan *plan, int64_t row, int64_t index, arena *a) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const unsigned char *out = execute(s, plan, row, 1, a, false);
  return (table_pair){format_element(problem->dtype, out, at.sin + index * at.step),
                      format_element(problem->dtype, out, at.cos + index * at.step)};
}

void check_bound(check *c, const accuracy *found) {
  c->compared = found->held;
  c->broken = found->beyond;
  c->worst = c->share = found->worst_share;
  c->bound = 1.0;
  c->position = found->worst.position;
  c->index = found->worst.index;
}

void subject_finish(subject *s) {
  const char *const empty = s->shape->problem.rows == 0 ? "the table is empty" : NULL;
  check_bound(&s->checks[ACCURACY], &s->found);
  s->checks[SURVIVAL].compared = 1; /* here it is */
  for (int p = 0; p < PROPERTIES; p++) {
    check *c = &s->checks[p];
    if (c->compared || c->broken || c->skip) continue;
    c->skip = empty ? empty : subject_no_claim(s) ? subject_no_claim(s) : "it takes two rows that are no padding";
  }
}

bool check_ok(const check *c) {
  return c->skip || c->broken == 0;
}
