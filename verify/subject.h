/* SPDX-License-Identifier: MIT */
/* One kernel on one problem: the properties that it must have, the rows that are compared, its plan, its contract for
   that problem, and calls of it. */
#ifndef POSENC_VERIFY_SUBJECT_H
#define POSENC_VERIFY_SUBJECT_H

#include "common/number.h"
#include "common/run.h"
#include "common/shapes.h"
#include "posenc.h"
#include "reference/accuracy.h"
#include "verify/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- properties ------------------------------------------------------------------------------------------ */

/* The properties listed in verify/properties.def, and the findings about one of them. */

#define PROPERTY(id, name, subjects, what) id,
typedef enum property {
#include "verify/properties.def"
  PROPERTIES
} property;
#undef PROPERTY

/* Subjects of properties: bits of posenc_op for kernels, and three more. */
enum {
  ADD = 1 << POSENC_ADD,
  ROPE = 1 << POSENC_ROPE,
  CACHE = 1 << POSENC_ROPE_CACHE,
  TABLES = 1 << POSENC_TABLE | CACHE,
  APPLIED = ADD | ROPE,
  KERNELS = TABLES | APPLIED,
  FILES = 1 << 8,
  RESULTS = 1 << 9, /* results of add and rope in files */
  ENCODINGS = 1 << 10
};

const char *property_name(property p);
unsigned property_subjects(property p);
const char *property_text(property p);

/* Whether a property is about problems and calls other than those of the shape (stress.h). */
bool property_is_beside(property p);

/* ---- bounds that follow from the bound of an element ---------------------------------------------------------- */

/*
 * Both elements of a pair are within e of a sin x and a cos x, where a is the attention factor. Slacks are for the
 * double arithmetic of the checks, whose unit roundoff is 2^-53.
 */

/* Returns the bound of |s² + c² - a²|: at most 2 a (|sin| + |cos|) e + 2 e² <= 2√2 a e + 2 e². Slack: the two squares,
   their sum, a² and the difference have four roundings of at most a² + a²/2 together, less than 2^-51 a²; 2^-50 a²
   leaves room for e. */
double allowed_norm(double attention, double e);

/* Returns the bound of the difference between row p + k and row p rotated by k, whose elements are within e_to and
   e_from: e_to + (|sin| + |cos|) e_from, for sine and cosine of that rotation. Slack: sine and cosine are known to
   2^-53, divided by a, and multiplied, and the sum is rounded: four roundings, relative to at most |s sin| + |c cos| <=
   a, in all 2^-51 a; 2^-50 a leaves room for e. */
double allowed_rotation(double attention, double e_from, double e_to, double sine, double cosine);

/* ---- findings --------------------------------------------------------------------------------------------- */

typedef struct check {
  int64_t compared; /* number of elements */
  int64_t broken;   /* number of these beyond the bound */
  double worst;     /* the deviation with the largest share of its bound; the largest if all are 0 */
  double bound;     /* the bound of `worst` */
  double share;     /* worst / bound */
  int64_t position; /* position of `worst` */
  int64_t index;    /* its frequency index; -1 if it has no single one */
  const char *skip; /* the reason why nothing could be compared, or null */
  char note[400];   /* a further explanation, or empty */
} check;

bool check_ok(const check *c);

/* Adds the deviation of one element, or of several with their largest deviation. index -1: no single frequency. */
void check_note(check *c, double deviation, double bound, int64_t position, int64_t index);
void check_note_all(check *c, int64_t elements, double deviation, double bound, int64_t position);

/* Adds the findings of another check of the same property. */
void check_merge(check *into, const check *from);

/* Adds all elements that were compared with the bound. The deviation is the ratio of error and bound, and the bound is
   1. */
void check_bound(check *c, const accuracy *found);

/* Compares elements of rows, of a table or of add and rope, that must have the same bits, and adds the result. */
void check_bits(check *c, const posenc_problem *problem, const unsigned char *a, const unsigned char *b,
                int64_t position, int64_t rows);

/* Continues a digest with `count` bytes, which must be whole elements of `element` bytes. It is the same in each byte
   order. */
#define DIGEST_START UINT64_C(14695981039346656037)
uint64_t digest_of(uint64_t digest, const unsigned char *bytes, size_t count, size_t element);

/* The number of elements and of bytes of a row of a result. */
static inline int64_t row_width(const posenc_problem *problem) {
  return problem->heads * problem->dim;
}

static inline size_t row_bytes(const posenc_problem *problem) {
  return (size_t)row_width(problem) * posenc_dtype_bytes(problem->dtype);
}

/* ---- rows that are compared ------------------------------------------------------------------------------ */

/* The rows of a shape that are compared: all, if the budget allows it, or a sample of them. */

/* Rows row to row + rows - 1. */
typedef struct window {
  int64_t row, rows;
} window;

/* The compared rows, as windows. */
typedef struct sampling {
  bool exhaustive; /* the windows contain each row once */
  int64_t windows; /* number of windows; 0 for a table without rows */
  int64_t rows;    /* rows of a window; only the last window of an exhaustive sampling may have fewer */
  int64_t all;     /* rows of the shape */
  int64_t width;   /* elements of a row */
  int64_t segments, windows_of_segment;
} sampling;

/* Returns range `number` of `count` ranges of about equal size, some of which are empty if there are fewer segments. */
static inline run_range sampling_range(const sampling *v, int64_t number, int64_t count) {
  return (run_range){v->segments * number / count, v->segments * (number + 1) / count, v->segments};
}

static inline bool range_is_whole(run_range r) {
  return r.to - r.from == r.of;
}

/* Window numbers of a range: [first, end). */
typedef struct window_numbers {
  int64_t first, end;
} window_numbers;
window_numbers sampling_windows(const sampling *v, run_range r);

/* Whether it is a table or a rope cache whose rows are not successive positions on one axis, or whose dim is odd
   (table-exam.h). */
static inline bool rows_are_special(const posenc_problem *problem) {
  if (problem->op == POSENC_ADD || problem->op == POSENC_ROPE) return false;
  return problem->positions || problem->axes || problem->dim % 2;
}

/* Returns the sampling of a valid problem of any operation. The budget is a number of pairs, at least 1. A table of a
   kernel that declares correct rounding gets all of it, everything else a share (subject.c). Two rows are compared
   with any budget. */
sampling sampling_of(const posenc_kernel *kernel, const posenc_problem *problem, int64_t budget);

/* Returns window `number`, below `windows`. Windows are in order if exhaustive; else they are the first rows, the last
   rows, and then random rows. Only random rows read and advance `random`, so they must be requested in order. */
window sampling_window(const sampling *v, int64_t number, uint64_t *random);

/* Advances `random` as if the windows before this one had been requested. */
void sampling_skip(const sampling *v, int64_t number, uint64_t *random);

/* Returns the number of elements in all windows of a range; an element in two windows counts twice. */
double sampling_elements(const sampling *v, run_range r);

/* ---- subject --------------------------------------------------------------------------------------------- */

typedef struct subject {
  const posenc_kernel *kernel;
  const shape *shape;
  const posenc_options *options;
  posenc_plan *plan;
  double attention;     /* the attention factor */
  posenc_bound bound;   /* the bound of this table, in its own positions */
  posenc_bound most;    /* the bound for posenc_bound_at, with the ulp of the largest values */
  posenc_bound applied; /* the bound for posenc_applied_bound_at, which includes the factor */
  bool shared;          /* several threads may compute its windows at the same time */
  int64_t origin;       /* position of row 0 of the reference's problem */
  accuracy found;
  bool measured;   /* its errors are measured, also if they break the bound: no check is left out for that */
  accuracy beside; /* errors in other problems that are checked beside this one, of those that propose_takes */
  uint64_t digest; /* of all windows, in order */
  check checks[PROPERTIES];
} subject;

/* Makes the plan. Returns null, or the reason why this kernel cannot make this shape, in static storage. */
const char *subject_open(subject *s, const posenc_kernel *kernel, const shape *of, const posenc_options *options);
void subject_close(subject *s);

/* Make further plans of the subject's kernel, whose memory is then read-only, and destroy them. subject_drop returns
   how many bytes the plan has left allocated. */
posenc_status subject_plan(const subject *s, const posenc_problem *problem, posenc_plan **plan);
size_t subject_drop(posenc_plan *plan);

/* ---- the contract --------------------------------------------------------------------------------------------- */

/* Returns the error that the contract allows for any element at a position of the table; without a bound, the least
   error that makes a value any value. */
double subject_allowed(const subject *s, int64_t position);

/* Whether the bound holds for this position. */
bool subject_is_bound(const subject *s, int64_t position);

/* Returns the reason why the bound holds for no value of this shape, or null. */
const char *subject_unbound(const subject *s);

bool is_padding_row(const posenc_problem *problem, int64_t position);

/* ---- calls ----------------------------------------------------------------------------------------------------- */

/* To be called before and after calls of the library, the last of which is for that position. subject_end_calls checks
   that they did not change the floating-point environment or write to a plan (ENVIRONMENT, READ_ONLY), and undoes their
   changes. */
void subject_begin_calls(void);
void subject_end_calls(subject *s, int64_t position);

/* subject_end_calls for calls of several threads. elsewhere: the result of fpenv_restore in another thread, or null. */
void subject_end_calls_of(subject *s, int64_t position, const char *elsewhere);

/* Whether a call, or the calls of a check, take longer than those of any kernel for real use. Kernels that need a tenth
   of a microsecond per element get fewer and smaller calls. */
bool subject_takes_long(double seconds);

/* Returns the rows of a window, at most 2 MiB, that are computed again: only the first CHECKED_ROWS if the window took
   long, about 200 ns per element. */
window subject_again(window w, double seconds);

/* Returns the bytes from the first element of a slice to the last one of its last sequence. */
size_t subject_extent(const posenc_problem *problem, const posenc_slice *slice);

/* Makes one unchecked call: rows of a table, or rows applied to x if it is not null. */
void subject_call(const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x, unsigned char *out);

/*
 * Make calls that are checked (MEMORY, ENVIRONMENT, READ_ONLY). The result stays in the arena until its next use;
 * flush: it ends at the guard pages. subject_run makes rows of a plan of the subject's kernel, subject_run_in_place in
 * place on a copy of x, subject_execute rows of a table.
 */
unsigned char *subject_run(subject *s, const posenc_plan *plan, const posenc_slice *slice, const unsigned char *x,
                           arena *to, bool flush);
unsigned char *subject_run_in_place(subject *s, const posenc_slice *slice, const unsigned char *x, arena *in);
const unsigned char *subject_execute(subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *to);

/* Checks MEMORY of a call whose result is in the arena: elements of the sequences that were not written, and elements
   between and beside them that were. */
void subject_check_memory(check *memory, const posenc_problem *problem, const posenc_slice *slice, const arena *at,
                          bool in_place);

/* Returns the pair of frequency index `index` in a row of a table that is computed alone. */
typedef struct table_pair {
  double sine, cosine;
} table_pair;
table_pair subject_pair(subject *s, const posenc_plan *plan, int64_t row, int64_t index, arena *a);

/* Allows several threads to compute windows of the subject at the same time, if it passed MEMORY and THREADS. */
void subject_share(subject *s);

/* ---- checks of any operation ---------------------------------------------------------------------------------- */

/* The number of rows for which the checks of threads and relations need room in an arena. */
enum { CHECKED_ROWS = 64 };

/* Checks DETERMINISM and EXTENSION: computes the window `whole`, of x if not null, again and in pieces. */
void subject_check_again(subject *s, window w, const unsigned char *x, const unsigned char *whole, arena *other,
                         uint64_t *random);

/* Checks THREADS (teams.c): compares rows from more threads than CPUs with those of one thread; with `again`, where
   another exam of the kernel does so for longer, in fewer rows and less time. `draw`, null for a table, sets x of some
   rows. */
typedef void draw_rows_of(void *argument, int64_t row, int64_t rows, unsigned char *x);
void subject_check_threads(subject *s, bool again, draw_rows_of *draw, void *argument);

/* Adds a failure in another problem, which the note describes. */
__attribute__((format(printf, 4, 5))) void check_break(check *c, const subject *s, const posenc_problem *problem,
                                                       const char *text, ...);

/* Gives each check that could not compare anything its reason. To be called last. */
void subject_finish(subject *s);

#endif
