/* SPDX-License-Identifier: MIT */
#include "reference/worst.h"
#include "reference/fast.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void worst_free(worst_cases *w) {
  free(w->cases);
  *w = (worst_cases){.cases = NULL};
}

static const struct {
  posenc_dtype dtype;
  const char *name;
} dtypes[] = {{POSENC_F32, "f32"}, {POSENC_F16, "f16"}, {POSENC_BF16, "bf16"}};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

const char *worst_dtype_name(posenc_dtype dtype) {
  int n = 0;
  while (n < DTYPES - 1 && dtypes[n].dtype != dtype) n++;
  return dtypes[n].name;
}

bool worst_dtype(const char *name, posenc_dtype *dtype) {
  for (int n = 0; n < DTYPES; n++)
    if (strcmp(dtypes[n].name, name) == 0) {
      *dtype = dtypes[n].dtype;
      return true;
    }
  return false;
}

/* ---- scanning ------------------------------------------------------------------------------------ */

typedef struct scan {
  oracle *reference;
  double within;
  worst_cases *kept;
  size_t room;
  bool enough_memory;
} scan;

static worst_case case_of(const oracle *reference, place at, bool cosine, const exact *value) {
  return (worst_case){.position = at.position,
                      .index = at.index,
                      .cosine = cosine,
                      .exact = value->high,
                      .rounded = value->rounded,
                      .distance = format_from_midpoint(oracle_format(reference), value)};
}

static bool make_room(scan *s) {
  const size_t room = s->room ? 2 * s->room : 256;
  worst_case *larger = realloc(s->kept->cases, room * sizeof *larger);
  if (!larger) return false;
  s->kept->cases = larger;
  s->room = room;
  return true;
}

static void keep(scan *s, const worst_case *found) {
  if (!(found->distance <= s->within)) return;
  s->enough_memory = s->enough_memory && (s->kept->count < s->room || make_room(s));
  if (s->enough_memory) s->kept->cases[s->kept->count++] = *found;
}

/* Adds a place that the fast reference has found, with MPFR's distance. */
static void confirm(place at, void *argument) {
  scan *s = argument;
  const exact_pair pair = oracle_pair(s->reference, at.position, at.index);
  const worst_case sine = case_of(s->reference, at, false, &pair.sine),
                   cosine = case_of(s->reference, at, true, &pair.cosine);
  keep(s, &sine);
  keep(s, &cosine);
}

static int compare(const void *a, const void *b) {
  const worst_case *x = a, *y = b;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  if (x->position != y->position) return x->position < y->position ? -1 : 1;
  if (x->index != y->index) return x->index < y->index ? -1 : 1;
  return x->cosine - y->cosine;
}

/* Distances from midpoints are nearly uniform in 0 to 1/2, so `within` = 2 count / elements finds about four times the
   wanted number. The cases within a distance are found completely; if there are too few, a wider scan follows. */
bool worst_scan(const posenc_problem *problem, size_t count, worst_cases *w) {
  *w = (worst_cases){.problem = *problem};
  oracle *reference = oracle_create(problem);
  fast_oracle *fast = fast_create(problem, 0);
  scan s = {.reference = reference, .kept = w, .enough_memory = reference && fast};
  const double elements = (double)problem->rows * (double)problem->dim;
  for (double within = 2.0 * (double)count / elements; s.enough_memory; within *= 4.0) {
    s.within = fmin(within, 0.25);
    w->count = 0;
    fast_near_midpoints(fast, 1, problem->rows - 1, s.within, confirm, &s);
    if (w->count >= count || s.within == 0.25) break;
  }
  fast_destroy(fast);
  oracle_destroy(reference);
  if (!s.enough_memory) {
    worst_free(w);
    return false;
  }
  if (w->count) qsort(w->cases, w->count, sizeof *w->cases, compare);
  if (w->count > count) w->count = count;
  return true;
}

const worst_case *worst_refuted(const worst_cases *w, const oracle *reference) {
  for (size_t i = 0; i < w->count; i++) {
    const worst_case *told = &w->cases[i];
    const place at = {told->position, told->index};
    const exact_pair pair = oracle_pair(reference, at.position, at.index);
    const worst_case is = case_of(reference, at, told->cosine, told->cosine ? &pair.cosine : &pair.sine);
    /* The file has seven digits of the distance. */
    if (told->exact != is.exact || told->rounded != is.rounded ||
        !(fabs(told->distance - is.distance) <= 1e-6 * is.distance))
      return told;
  }
  return NULL;
}

/* ---- writing ------------------------------------------------------------------------------------- */

void worst_write(const worst_cases *w, const char *command, FILE *stream) {
  const posenc_problem *problem = &w->problem;
  const char *dtype = worst_dtype_name(problem->dtype);
  const bool is_f32 = problem->dtype == POSENC_F32;
  fprintf(stream,
          "# SPDX-License-Identifier: MIT\n"
          "# Hard-to-round cases: the elements of this table nearest to a midpoint of two neighbouring %s "
          "numbers.\n"
          "# All %" PRId64 " elements of positions 1 .. %" PRId64 " were looked at; position 0 is exact.\n"
          "# Found by the fast reference of posenc %s, whose values are within 2^-98; every line is MPFR %s's.\n"
          "# To make it again: %s\n"
          "#\n"
          "# position, frequency index, function, exact value rounded to double, exact value rounded to %s,\n"
          "# distance of the exact value from the midpoint in ulp of %s; nearest first\n"
          "base %.17g\n"
          "dim %" PRId64 "\n"
          "%s%s%spositions %" PRId64 "\n"
          "cases %zu\n",
          dtype, (problem->rows - 1) * problem->dim, problem->rows - 1, posenc_version(), mpfr_get_version(), command,
          dtype, dtype, problem->base, problem->dim, is_f32 ? "" : "dtype ", is_f32 ? "" : dtype, is_f32 ? "" : "\n",
          problem->rows, w->count);
  for (size_t i = 0; i < w->count; i++) {
    const worst_case *c = &w->cases[i];
    fprintf(stream, "%" PRId64 " %" PRId64 " %s %a %a %.6e\n", c->position, c->index, c->cosine ? "cos" : "sin",
            c->exact, c->rounded, c->distance);
  }
}

/* ---- reading ------------------------------------------------------------------------------------- */

enum { CASE_WORDS = 6, CASES_MAX = 1000000 };

typedef struct reader {
  worst_cases *w;
  int64_t cases; /* as the header says; -1 before that */
  bool has_dtype;
  int line;
  char *fault;
  size_t size;
} reader;

/* Writes the fault, with the line number if a line was read; returns false. */
__attribute__((format(printf, 2, 3))) static bool wrong(const reader *r, const char *why, ...) {
  const int used = r->line ? snprintf(r->fault, r->size, "line %d: ", r->line) : 0;
  va_list arguments;
  va_start(arguments, why);
  vsnprintf(r->fault + used, r->size - (size_t)used, why, arguments);
  va_end(arguments);
  return false;
}

static bool read_integer(const reader *r, const char *what, const char *text, int64_t least, int64_t most,
                         int64_t *value) {
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  if (*end) return wrong(r, "%s '%.40s' is not an integer", what, text);
  if (errno || *value < least || *value > most)
    return wrong(r, "%s %.40s is not within %" PRId64 " .. %" PRId64, what, text, least, most);
  return true;
}

/* Parses a finite number of size 0 to `most`, of either sign. */
static bool read_real(const reader *r, const char *what, const char *text, double most, double *value) {
  char *end;
  *value = strtod(text, &end);
  if (*end) return wrong(r, "%s '%.40s' is not a number", what, text);
  if (!(fabs(*value) <= most)) return wrong(r, "%s %.40s is beyond %g", what, text, most);
  return true;
}

static bool is_complete(const reader *r) {
  return r->w->problem.base > 0.0 && r->w->problem.dim && r->w->problem.rows && r->cases >= 0;
}

/* Parses a line of the header, such as "base 10000". */
static bool read_key(reader *r, const char *key, const char *text) {
  posenc_problem *problem = &r->w->problem;
  if (r->w->count) return wrong(r, "%.40s after the first case", key);
  if (strcmp(key, "base") == 0 && problem->base == 0.0) {
    if (!read_real(r, key, text, 0x1.fffffffffffffp1023, &problem->base)) return false;
    return problem->base > 0.0 || wrong(r, "base %.40s is not above 0", text);
  }
  if (strcmp(key, "dim") == 0 && !problem->dim) {
    if (!read_integer(r, key, text, 2, INT64_C(1) << 32, &problem->dim)) return false;
    return problem->dim % 2 == 0 || wrong(r, "dim %.40s is odd", text);
  }
  if (strcmp(key, "dtype") == 0 && !r->has_dtype) {
    r->has_dtype = true;
    return worst_dtype(text, &problem->dtype) || wrong(r, "dtype '%.40s' is not f32, f16 or bf16", text);
  }
  if (strcmp(key, "positions") == 0 && !problem->rows)
    return read_integer(r, key, text, 2, (INT64_C(1) << 40) + 1, &problem->rows);
  if (strcmp(key, "cases") == 0 && r->cases < 0) return read_integer(r, key, text, 1, CASES_MAX, &r->cases);
  return wrong(r, "'%.40s' is not base, dim, dtype, positions or cases, or is there twice", key);
}

static bool read_case(reader *r, char **word) {
  worst_cases *w = r->w;
  worst_case c = {.line = r->line};
  if (!is_complete(r)) return wrong(r, "a case before base, dim, positions and cases");
  if (w->count == (size_t)r->cases) return wrong(r, "more than %" PRId64 " cases", r->cases);
  if (!read_integer(r, "position", word[0], 1, w->problem.rows - 1, &c.position) ||
      !read_integer(r, "index", word[1], 0, w->problem.dim / 2 - 1, &c.index))
    return false;
  c.cosine = strcmp(word[2], "cos") == 0;
  if (!c.cosine && strcmp(word[2], "sin") != 0) return wrong(r, "'%.40s' is not sin or cos", word[2]);
  if (!read_real(r, "value", word[3], 1.0, &c.exact) || !read_real(r, "rounded value", word[4], 1.0, &c.rounded) ||
      !read_real(r, "distance", word[5], 0.5, &c.distance))
    return false;
  if (format_nearest(format_of(w->problem.dtype), c.rounded) != c.rounded)
    return wrong(r, "%.40s is no %s number", word[4], worst_dtype_name(w->problem.dtype));
  if (c.distance < (w->count ? w->cases[w->count - 1].distance : 0.0))
    return wrong(r, "distance %.40s is not in order", word[5]);
  w->cases[w->count++] = c;
  return true;
}

static bool read_line(reader *r, char *text) {
  char *word[CASE_WORDS + 1], *state = NULL;
  int words = 0;
  if (*text == '#') return true;
  for (char *next = strtok_r(text, " \t\r\n", &state); next && words <= CASE_WORDS;
       next = strtok_r(NULL, " \t\r\n", &state))
    word[words++] = next;
  if (words == 0) return true;
  if (words == CASE_WORDS) return read_case(r, word);
  if (words != 2) return wrong(r, "%s than a case has", words < CASE_WORDS ? "less" : "more");
  if (!read_key(r, word[0], word[1])) return false;
  if (is_complete(r) && !r->w->cases) {
    const char *refusal = posenc_problem_refusal(&r->w->problem);
    if (refusal) return wrong(r, "no such table: %s", refusal);
    r->w->cases = calloc((size_t)r->cases, sizeof *r->w->cases);
    if (!r->w->cases) return wrong(r, "out of memory");
  }
  return true;
}

const char *worst_read(FILE *stream, worst_cases *w, char *fault, size_t size) {
  char text[512];
  reader r = {.w = w, .cases = -1, .fault = fault, .size = size};
  bool fine = true;
  *w = (worst_cases){.problem = posenc_table(0, 0)};
  w->problem.base = 0.0;
  while (fine && fgets(text, sizeof text, stream)) {
    r.line++;
    fine = strchr(text, '\n') || feof(stream) ? read_line(&r, text) : wrong(&r, "too long");
  }
  if (fine && ferror(stream)) fine = wrong(&r, "%s", strerror(errno));
  if (fine && (r.cases < 0 || w->count < (size_t)r.cases))
    fine = wrong(&r, r.cases < 0 ? "the file ends before any case" : "the file ends after %zu cases", w->count);
  if (fine) return NULL;
  worst_free(w);
  return fault;
}
