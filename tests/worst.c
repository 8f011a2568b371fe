/* SPDX-License-Identifier: MIT */
/* Tests hard-to-round cases: the files agree with MPFR, a scan finds what MPFR finds in all elements, and bad files are
   refused. */
#include "reference/worst.h"
#include "tests/exact.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether two cases are the same. Distances may differ by a little more than the file's seven digits. */
static bool is_same(const worst_case *a, const worst_case *b) {
  return a->position == b->position && a->index == b->index && a->cosine == b->cosine && a->exact == b->exact &&
         a->rounded == b->rounded && fabs(a->distance - b->distance) <= 1e-6 * a->distance;
}

static bool are_same(const worst_cases *a, const worst_cases *b) {
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++)
    if (!is_same(&a->cases[i], &b->cases[i])) return false;
  return true;
}

static void test_file(const char *folder, double base, int64_t dim, posenc_dtype dtype) {
  const bool is_f32 = dtype == POSENC_F32;
  const size_t count = is_f32 ? 100 : 25;
  char path[1000], fault[200];
  worst_cases w;
  snprintf(path, sizeof path, "%s/reference/worst/base%.0f-d%d%s%s.wc", folder, base, (int)dim, is_f32 ? "" : "-",
           is_f32 ? "" : worst_dtype_name(dtype));
  FILE *stream = fopen(path, "r");
  if (!ok(stream != NULL, "%s is there", path)) return;
  const char *wrong = worst_read(stream, &w, fault, sizeof fault);
  fclose(stream);
  if (!ok(!wrong, "it can be read: %s", wrong ? wrong : "")) return;
  ok(w.count == count && w.problem.rows == 1 << 20 && w.problem.base == base && w.problem.dim == dim &&
         w.problem.dtype == dtype,
     "%d cases of base %.0f, dim %d, positions below 2^20", (int)count, base, (int)dim);
  oracle *reference = oracle_create(&w.problem);
  const worst_case *refuted = worst_refuted(&w, reference);
  ok(!refuted, "MPFR confirms every line%s", refuted ? ", but not all" : "");
  /* Twice as many as a uniform distribution has: only the order of magnitude does not depend on chance. */
  const double elements = (double)w.problem.rows * (double)dim, expected = 0.5 * (double)count / elements,
               farthest = w.cases[w.count - 1].distance;
  ok(farthest > 0.5 * expected && farthest < 2.0 * expected, "the last is %.2g ulp from a tie", farthest);
  oracle_destroy(reference);
  if (w.problem.dim == 64) {
    worst_cases again;
    ok(worst_scan(&w.problem, w.count, &again) && are_same(&w, &again), "a scan of its 2^26 elements finds the same");
    worst_free(&again);
  }
  worst_free(&w);
}

static int by_distance(const void *a, const void *b) {
  const worst_case *x = a, *y = b;
  return x->distance < y->distance ? -1 : x->distance > y->distance;
}

/* Returns the cases among all elements of the positions from 1 on, by MPFR. */
static worst_case *look_at_all(posenc_problem problem) {
  const format *f = format_of(problem.dtype);
  const size_t pairs = (size_t)problem.dim / 2, count = (size_t)(problem.rows - 1) * pairs;
  problem.first = 1;
  problem.rows--;
  exact_pair *values = exact_table(&problem);
  worst_case *all = calloc(2 * count, sizeof *all);
  if (!all) abort();
  for (size_t n = 0; n < 2 * count; n++) {
    const exact *value = n % 2 ? &values[n / 2].cosine : &values[n / 2].sine;
    const double apart = fabs((value->rounded - value->high) - value->low);
    all[n] = (worst_case){.position = 1 + (int64_t)(n / 2 / pairs),
                          .index = (int64_t)(n / 2 % pairs),
                          .cosine = n % 2,
                          .exact = value->high,
                          .rounded = value->rounded,
                          .distance = 0.5 - apart / format_ulp(f, value)};
  }
  qsort(all, 2 * count, sizeof *all, by_distance);
  free(values);
  return all;
}

static bool is_among(const worst_case *one, const worst_case *all, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_same(one, &all[i])) return true;
  return false;
}

/* Tests a scan. Bases whose columns repeat each other have equal distances, in any order. */
static void test_scan(double base, int64_t rows, size_t count, posenc_dtype dtype) {
  posenc_problem problem = posenc_table(rows, 64);
  problem.base = base;
  problem.dtype = dtype;
  worst_case *all = look_at_all(problem);
  worst_cases found;
  if (!ok(worst_scan(&problem, count, &found), "a scan of base %g", base)) return;
  size_t last = count;
  while (all[last].distance <= all[count - 1].distance * (1.0 + 1e-9)) last++;
  bool same = found.count == count;
  for (size_t i = 0; i < found.count; i++) {
    same = same && is_among(&found.cases[i], all, last);
    same = same && fabs(found.cases[i].distance - all[i].distance) <= 1e-9 * all[i].distance;
    same = same && (i == 0 || memcmp(&found.cases[i], &found.cases[i - 1], sizeof *found.cases) != 0);
  }
  ok(same, "base %g, p < %d, %s: the scan finds the %zu that MPFR finds among all", base, (int)rows,
     worst_dtype_name(dtype), count);
  worst_free(&found);
  free(all);
}

/* Tests fewer elements than requested cases. */
static void test_few(void) {
  posenc_problem problem = posenc_table(3, 4);
  worst_cases found;
  ok(worst_scan(&problem, 100, &found) && found.count > 0 && found.count <= 8,
     "a small table: as many cases as it has");
  worst_free(&found);
}

#define HEAD "base 10000\ndim 64\npositions 4096\ncases 2\n"
#define ONE "3675 1 sin -0x1.43b71affffa6fp-1 -0x1.43b71ap-1 2.653581e-06\n"
#define TWO "2316 31 sin 0x1.3740890000bccp-2 0x1.37408ap-2 5.624967e-06\n"

static const char *read_text(const char *text, worst_cases *w, char *fault, size_t size) {
  FILE *stream = tmpfile();
  if (!stream) abort();
  fputs(text, stream);
  rewind(stream);
  const char *wrong = worst_read(stream, w, fault, size);
  fclose(stream);
  return wrong;
}

static void test_reading(void) {
  static const struct {
    const char *text, *fault;
  } bad[] = {
      {"", "the file ends before any case"},
      {HEAD, "line 4: the file ends after 0 cases"},
      {HEAD ONE, "line 5: the file ends after 1 cases"},
      {HEAD ONE TWO TWO, "line 7: more than 2 cases"},
      {HEAD TWO ONE, "line 6: distance 2.653581e-06 is not in order"},
      {ONE, "line 1: a case before base, dim, positions and cases"},
      {"base 10000\nbase 10000\n", "line 2: 'base' is not base, dim, dtype, positions or cases, or is there twice"},
      {"colour 3\n", "line 1: 'colour' is not base, dim, dtype, positions or cases, or is there twice"},
      {"dtype f32\ndtype f16\n", "line 2: 'dtype' is not base, dim, dtype, positions or cases, or is there twice"},
      {"dtype f64\n", "line 1: dtype 'f64' is not f32, f16 or bf16"},
      {"base -1\n", "line 1: base -1 is not above 0"},
      {"base nan\n", "line 1: base nan is beyond 1.79769e+308"},
      {"dim 7\n", "line 1: dim 7 is odd"},
      {"dim x\n", "line 1: dim 'x' is not an integer"},
      {"positions 99999999999999999999\n", "line 1: positions 99999999999999999999 is not within 2 .. 1099511627777"},
      {"# a comment\n\ndim\n", "line 3: less than a case has"},
      {HEAD "1 2 sin 0.5 0.5 0 0\n", "line 5: more than a case has"},
      {HEAD "0 2 sin 0.5 0.5 0\n", "line 5: position 0 is not within 1 .. 4095"},
      {HEAD "4096 2 sin 0.5 0.5 0\n", "line 5: position 4096 is not within 1 .. 4095"},
      {HEAD "1 32 sin 0.5 0.5 0\n", "line 5: index 32 is not within 0 .. 31"},
      {HEAD "1 2 tan 0.5 0.5 0\n", "line 5: 'tan' is not sin or cos"},
      {HEAD "1 2 sin 1.5 0.5 0\n", "line 5: value 1.5 is beyond 1"},
      {HEAD "1 2 sin 0.5 0x1.0000001p-1 0\n", "line 5: 0x1.0000001p-1 is no f32 number"},
      {"dtype f16\n" HEAD ONE, "line 6: -0x1.43b71ap-1 is no f16 number"},
      {HEAD "1 2 sin 0.5 0.5 -1e-9\n", "line 5: distance -1e-9 is not in order"},
      {HEAD ONE "dim 64\n", "line 6: dim after the first case"},
  };
  char fault[200];
  worst_cases w;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *wrong = read_text(bad[i].text, &w, fault, sizeof fault);
    if (!ok(wrong && strcmp(wrong, bad[i].fault) == 0, "refused: %s", bad[i].fault))
      printf("# %s\n", wrong ? wrong : "read");
  }
  ok(!read_text(HEAD ONE TWO, &w, fault, sizeof fault) && w.count == 2, "two cases are read");
  oracle *reference = oracle_create(&w.problem);
  ok(!worst_refuted(&w, reference), "and are MPFR's");
  const worst_case right = w.cases[1];
  w.cases[1].rounded = 0x1.374088p-2;
  ok(worst_refuted(&w, reference) == &w.cases[1] && w.cases[1].line == 6, "a wrong rounding is refuted, by its line");
  w.cases[1] = right;
  w.cases[1].exact = nextafter(right.exact, 1.0);
  ok(worst_refuted(&w, reference) == &w.cases[1], "and so is a value one unit off");
  w.cases[1] = right;
  w.cases[1].distance *= 1.00001;
  ok(worst_refuted(&w, reference) == &w.cases[1], "and a distance");
  oracle_destroy(reference);
  worst_free(&w);
}

static void test_round_trip(posenc_dtype dtype) {
  char fault[200];
  posenc_problem problem = posenc_table(500, 34);
  problem.base = 0.1 + 1e6;
  problem.dtype = dtype;
  worst_cases made, read;
  FILE *stream = tmpfile();
  if (!stream || !worst_scan(&problem, 50, &made)) abort();
  worst_write(&made, "as before", stream);
  rewind(stream);
  ok(!worst_read(stream, &read, fault, sizeof fault) && read.problem.base == problem.base &&
         read.problem.dtype == dtype && are_same(&made, &read),
     "what is written is read, %s", worst_dtype_name(dtype));
  fclose(stream);
  worst_free(&made);
  worst_free(&read);
}

int main(void) {
  static const int64_t dims[] = {64, 128, 256, 512, 768, 1024, 4096};
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F16, POSENC_BF16};
  const char *folder = getenv("srcdir");
  for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++) {
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
      test_file(folder ? folder : ".", 10000.0, dims[i], dtypes[t]);
    test_file(folder ? folder : ".", 500000.0, 128, dtypes[t]);
    test_scan(10000.0, 4096, 100, dtypes[t]);
    test_scan(500000.0, 4096, 100, dtypes[t]);
    test_scan(10000.0, 70, 700, dtypes[t]);
    test_round_trip(dtypes[t]);
  }
  test_few();
  test_reading();
  return tap_done();
}
