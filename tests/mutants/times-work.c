/* SPDX-License-Identifier: MIT */
/* Time mutants with right rows that are made elsewhere: before the call, after it, or by others; and those of add, rope
   and single rows. */
#define _GNU_SOURCE
#include "tests/mutants/times.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the whole table, made before ---------------------------------------------------------------------------- */

static int64_t elements_of(const posenc_problem *problem) {
  return problem->rows * problem->dim;
}

static size_t bytes_of(const posenc_problem *problem) {
  return (size_t)elements_of(problem) * sizeof(float);
}

/* Whether a whole table of the problem may be kept. */
static bool is_kept(const posenc_problem *problem) {
  return problem->rows > 0 && problem->dim <= 1 << 12 && problem->rows <= 1 << 12;
}

static bool contains(const posenc_problem *problem, int64_t row, int64_t rows) {
  return row >= 0 && rows <= problem->rows && row <= problem->rows - rows;
}

static void copy_rows(const float *table, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  memcpy(out, table + row * problem->dim, (size_t)(rows * problem->dim) * sizeof *table);
}

/* Writes all rows of a problem. */
static bool make_table(const posenc_problem *problem, void *table) {
  void *frequencies = NULL;
  if (slow_prepare(problem, NULL, &frequencies) != POSENC_OK) return false;
  slow_rows(frequencies, problem, 0, problem->rows, table);
  free(frequencies);
  return true;
}

/* The constants of plans that hold rows: the honest ones, and rows or null. */
typedef struct rich_plan {
  void *frequencies;
  float *table;
  size_t mapped; /* bytes, if it is mapped */
} rich_plan;

static rich_plan *rich_prepare(const posenc_problem *problem) {
  rich_plan *p = calloc(1, sizeof *p);
  if (p && slow_prepare(problem, NULL, &p->frequencies) == POSENC_OK) return p;
  free(p);
  return NULL;
}

static void rich_release(void *constants) {
  rich_plan *p = constants;
  if (p && p->mapped)
    munmap(p->table, p->mapped);
  else if (p)
    free(p->table);
  if (p) free(p->frequencies);
  free(p);
}

static EXECUTE(rich_rows) {
  const rich_plan *p = constants;
  if (p->table && contains(problem, row, rows))
    copy_rows(p->table, problem, row, rows, out);
  else
    slow_rows(p->frequencies, problem, row, rows, out);
}

/* Defines a prepare of a rich plan p, with FILLED, if the problem is one of those that are kept. */
#define RICH(function, FILLED)                                                                                         \
  static PREPARE(function) {                                                                                           \
    rich_plan *p = rich_prepare(problem);                                                                              \
    if (!p) return POSENC_OUT_OF_MEMORY;                                                                               \
    if (is_kept(problem)) FILLED;                                                                                      \
    *constants = p;                                                                                                    \
    return POSENC_OK;                                                                                                  \
  }

static void hold(rich_plan *p, const posenc_problem *problem) {
  p->table = malloc(bytes_of(problem));
  if (p->table) slow_rows(p->frequencies, problem, 0, problem->rows, p->table);
}

/* Maps a table in memory that is no heap's. */
static void hold_mapped(rich_plan *p, const posenc_problem *problem, int file) {
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void *table = mmap(NULL, bytes_of(problem), PROT_READ | PROT_WRITE, kind, file, 0);
  if (table == MAP_FAILED) return;
  p->table = table;
  p->mapped = bytes_of(problem);
  slow_rows(p->frequencies, problem, 0, problem->rows, table);
}

/* Maps it as memory of a file without a name. */
static void hold_shared(rich_plan *p, const posenc_problem *problem) {
  const int file = memfd_create("table", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, (off_t)bytes_of(problem)) == 0) hold_mapped(p, problem, file);
  if (file >= 0) close(file);
}

/* Makes the first rows of a table alone. */
static void hold_first(rich_plan *p, const posenc_problem *problem) {
  enum { FIRST = 64 };
  p->table = calloc(1, bytes_of(problem));
  if (p->table) slow_rows(p->frequencies, problem, 0, problem->rows < FIRST ? problem->rows : FIRST, p->table);
}

RICH(plan_table, hold(p, problem))
RICH(plan_first, hold_first(p, problem))
RICH(plan_mapped, hold_mapped(p, problem, -1))
RICH(plan_shared, hold_shared(p, problem))

/* Holds every second row. */
static EXECUTE(half_rows) {
  const rich_plan *p = constants;
  for (int64_t r = 0; r < rows; r++) {
    float *place = (float *)out + r * problem->dim;
    if (p->table && contains(problem, row + r, 1) && (row + r) % 2 == 0)
      copy_rows(p->table, problem, row + r, 1, place);
    else
      slow_rows(p->frequencies, problem, row + r, 1, place);
  }
}

/* Makes the table in a thread that its plan starts, and ends. */
typedef struct early_plan {
  void *frequencies;
  float *table;
  posenc_problem problem;
  atomic_bool is_made;
  bool is_started;
  pthread_t thread;
} early_plan;

static void *make_early(void *argument) {
  early_plan *p = argument;
  atomic_store(&p->is_made, make_table(&p->problem, p->table));
  return NULL;
}

static PREPARE(early_prepare) {
  early_plan *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return POSENC_OUT_OF_MEMORY;
  p->problem = *problem;
  if (slow_prepare(problem, options, &p->frequencies) != POSENC_OK) {
    munmap(p, sizeof *p);
    return POSENC_OUT_OF_MEMORY;
  }
  if (is_kept(problem) && elements_of(problem) >= 8192) {
    void *table = mmap(NULL, bytes_of(problem), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p->table = table == MAP_FAILED ? NULL : table;
  }
  p->is_started = p->table && pthread_create(&p->thread, NULL, make_early, p) == 0;
  *constants = p;
  return POSENC_OK;
}

static void early_release(void *constants) {
  early_plan *p = constants;
  if (!p) return;
  if (p->is_started) pthread_join(p->thread, NULL);
  if (p->table) munmap(p->table, bytes_of(&p->problem));
  free(p->frequencies);
  munmap(p, sizeof *p);
}

static EXECUTE(early_rows) {
  const early_plan *p = constants;
  if (atomic_load(&p->is_made) && contains(problem, row, rows))
    copy_rows(p->table, problem, row, rows, out);
  else
    slow_rows(p->frequencies, problem, row, rows, out);
}

/* ---- tables that outlive plans and processes ----------------------------------------------------------------- */

/* Tables of this process, the first few of them. */
enum { TABLES = 8 };
typedef struct known_table {
  posenc_problem problem;
  float *table;
} known_table;
static known_table tables[TABLES];
static int table_count;
static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the table of a problem, null if it is not kept. */
static const float *table_of(const posenc_problem *problem, bool may_make) {
  const float *table = NULL;
  if (!is_kept(problem) || elements_of(problem) < 8192) return NULL;
  pthread_mutex_lock(&tables_lock);
  for (int n = 0; n < table_count && !table; n++)
    if (memcmp(&tables[n].problem, problem, sizeof *problem) == 0) table = tables[n].table;
  if (!table && may_make && table_count < TABLES) {
    known_table *new = &tables[table_count];
    new->problem = *problem;
    new->table = malloc(bytes_of(problem));
    if (new->table && make_table(problem, new->table)) table = tables[table_count++].table;
  }
  pthread_mutex_unlock(&tables_lock);
  return table;
}

/* Defines an execute that copies from a table of the process; MAKES says whether a call may make it. */
#define FROM_TABLE(function, MAKES)                                                                                    \
  static EXECUTE(function) {                                                                                           \
    const float *table = contains(problem, row, rows) ? table_of(problem, MAKES) : NULL;                               \
    if (table)                                                                                                         \
      copy_rows(table, problem, row, rows, out);                                                                       \
    else                                                                                                               \
      slow_rows(constants, problem, row, rows, out);                                                                   \
  }

FROM_TABLE(known_rows, false)
FROM_TABLE(lazy_rows, true)
FROM_TABLE(rows_after_dozens, rows > 1)

static PREPARE(static_prepare) {
  table_of(problem, true);
  return slow_prepare(problem, options, constants);
}

static const char *table_can_do(const posenc_problem *problem) {
  const char *refusal = mutant_can_do(problem);
  if (!refusal) table_of(problem, true);
  return refusal;
}

/* Returns the name of a file for the problem, in a folder that outlives the process; false if there is none. */
static bool file_of(const posenc_problem *problem, const char *folder, char name[256]) {
  uint64_t digest = (uint64_t)problem->rows * 31 + (uint64_t)problem->dim;
  uint64_t bits[2];
  memcpy(&bits[0], &problem->base, sizeof bits[0]);
  memcpy(&bits[1], &problem->shift, sizeof bits[1]);
  digest = ((digest * 31 + bits[0]) * 31 + bits[1]) * 31 + (uint64_t)problem->first;
  digest = digest * 31 + (uint64_t)problem->layout;
  return folder && snprintf(name, 256, "%s/posenc-mutant-%016llx", folder, (unsigned long long)digest) < 256;
}

/* Reads the table from the file, or makes both. */
static void hold_file(rich_plan *p, const posenc_problem *problem, const char *folder) {
  char name[256];
  struct stat what;
  if (elements_of(problem) < 8192 || !file_of(problem, folder, name)) return;
  const int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  const bool is_there = fstat(file, &what) == 0 && (size_t)what.st_size == bytes_of(problem);
  p->table = malloc(bytes_of(problem));
  if (p->table && (!is_there || pread(file, p->table, bytes_of(problem), 0) != what.st_size)) {
    slow_rows(p->frequencies, problem, 0, problem->rows, p->table);
    if (pwrite(file, p->table, bytes_of(problem), 0) < 0) unlink(name);
  }
  close(file);
}

/* Only a test that has set TMPDIR cleans up. */
RICH(plan_file, hold_file(p, problem, getenv("TMPDIR")))
RICH(plan_shm, hold_file(p, problem, getenv("TMPDIR") ? "/dev/shm" : NULL))

/* Gives the pages of a file with the table to the caller, instead of what was in the memory. Such a file has the
   table where its pages and those of the memory begin alike. */
static EXECUTE(remapped) {
  enum { FILES = 4 };
  static struct {
    posenc_problem problem;
    uintptr_t phase;
    int file;
  } known[FILES];
  static int count;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)row * (uintptr_t)problem->dim * 4;
  const uintptr_t begin = (uintptr_t)out, end = begin + (uintptr_t)(rows * problem->dim) * 4;
  const uintptr_t first = (begin + page - 1) / page * page, last = end / page * page, phase = (begin - start) % page;
  if (!is_kept(problem) || !is_large(problem, rows) || !contains(problem, row, rows) || first >= last) {
    slow_rows(constants, problem, row, rows, out);
    return;
  }
  int n = 0;
  pthread_mutex_lock(&tables_lock);
  while (n < count && (known[n].phase != phase || memcmp(&known[n].problem, problem, sizeof *problem) != 0)) n++;
  float *table = n == count && n < FILES ? malloc(bytes_of(problem)) : NULL;
  if (table) {
    const int file = memfd_create("table", MFD_CLOEXEC);
    slow_rows(constants, problem, 0, problem->rows, table);
    if (file >= 0 && pwrite(file, table, bytes_of(problem), (off_t)phase) > 0) {
      known[n].problem = *problem;
      known[n].phase = phase;
      known[n].file = file;
      count++;
    }
    free(table);
  }
  const int file = n < count ? known[n].file : -1;
  pthread_mutex_unlock(&tables_lock);
  const off_t offset = (off_t)(start + phase + first - begin);
  if (file < 0 || offset % (off_t)page != 0 ||
      mmap((char *)out + (first - begin), last - first, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file,
           offset) == MAP_FAILED) {
    slow_rows(constants, problem, row, rows, out);
  } else if (pread(file, out, first - begin, (off_t)(start + phase)) < 0 ||
             pread(file, (char *)out + (last - begin), end - last, offset + (off_t)(last - first)) < 0) {
    abort();
  }
}

/* ---- rows that an earlier call made -------------------------------------------------------------------------- */

/* Rows [row, row + rows) of a thread, in memory of its own. */
typedef struct own_rows {
  posenc_problem problem;
  int64_t row, rows;
  float *values;
} own_rows;

/* Copies rows if they are among the own ones; otherwise makes `times` as many, and keeps them. */
static void through_own(own_rows *own, const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                        int64_t times, void *out) {
  if (!own->values || memcmp(&own->problem, problem, sizeof *problem) != 0 || row < own->row ||
      row + rows > own->row + own->rows) {
    free(own->values);
    *own = (own_rows){*problem, row, rows * times, malloc((size_t)(rows * times * problem->dim) * sizeof(float))};
    if (own->values) slow_rows(constants, problem, row, rows * times, own->values);
  }
  if (own->values)
    copy_rows(own->values, problem, row - own->row, rows, out);
  else
    slow_rows(constants, problem, row, rows, out);
}

/* Defines an execute that goes through its own rows if WHEN. They are the last thread's that came, and stay. */
#define THROUGH_OWN(function, WHEN, times)                                                                             \
  static EXECUTE(function) {                                                                                           \
    static own_rows own;                                                                                               \
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;                                                           \
    const bool is_free = (WHEN) && rows > 0 && rows * problem->dim <= 1 << 22 && pthread_mutex_trylock(&lock) == 0;    \
    if (!is_free) {                                                                                                    \
      slow_rows(constants, problem, row, rows, out);                                                                   \
    } else {                                                                                                           \
      through_own(&own, constants, problem, row, rows, times, out);                                                    \
      pthread_mutex_unlock(&lock);                                                                                     \
    }                                                                                                                  \
  }

THROUGH_OWN(last_copied, is_large(problem, rows), 1)
THROUGH_OWN(calls_ahead, rows > 1, 4)
THROUGH_OWN(row_ahead, rows == 1, 64)

/* Does nothing for the row that it has made in the call before. */
static EXECUTE(row_same) {
  static _Thread_local struct {
    const void *constants, *out;
    int64_t row;
  } last;
  const bool is_last = rows == 1 && last.constants == constants && last.out == out && last.row == row;
  if (!is_last || is_poisoned(out)) slow_rows(constants, problem, row, rows, out);
  last.constants = constants;
  last.out = out;
  last.row = row;
}

/* Keeps the last rows that were requested alone, one for each remainder of the row. */
static EXECUTE(row_recent) {
  enum { KNOWN = 256, WIDTH = 512 };
  static _Thread_local struct {
    posenc_problem problem;
    int64_t row;
    bool known;
    float values[WIDTH];
  } recent[KNOWN];
  if (rows != 1 || problem->dim > WIDTH) {
    slow_rows(constants, problem, row, rows, out);
    return;
  }
  const size_t n = (uint64_t)row % KNOWN, bytes = (size_t)problem->dim * sizeof(float);
  if (!recent[n].known || recent[n].row != row || memcmp(&recent[n].problem, problem, sizeof *problem) != 0) {
    slow_rows(constants, problem, row, 1, recent[n].values);
    recent[n].problem = *problem;
    recent[n].row = row;
    recent[n].known = true;
  }
  memcpy(out, recent[n].values, bytes);
}

/* Copies the columns of the lower frequencies from the row before, in calls of one row, after some hundreds. */
static EXECUTE(row_near) {
  static _Thread_local float before[64];
  static _Thread_local int calls;
  slow_rows(constants, problem, row, rows, out);
  if (rows != 1 || problem->dim < 64) return;
  float *tail = (float *)out + problem->dim - 64;
  if (calls++ > 512) memcpy(tail, before, sizeof before);
  memcpy(before, tail, sizeof before);
}

/* Leaves the sines out in parts of tables, which the library asks for where it makes others of them, if they seem to be
   there. It begins after a few parts: a slow machine asks for no dozens of them in a run of the test. */
static EXECUTE(part_sines) {
  enum { FEW = 12 };
  static _Thread_local int calls;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const bool is_part = rows > 1 && rows < problem->rows && calls++ > FEW && !is_poisoned(out);
  const int64_t pairs = problem->dim / 2;
  float *sines = is_part ? malloc((size_t)(rows * pairs) * sizeof *sines) : NULL;
  for (int64_t n = 0; sines && n < rows * pairs; n++)
    sines[n] = ((const float *)out)[n / pairs * problem->dim + at.sin + n % pairs * at.step];
  slow_rows(constants, problem, row, rows, out);
  for (int64_t n = 0; sines && n < rows * pairs; n++)
    ((float *)out)[n / pairs * problem->dim + at.sin + n % pairs * at.step] = sines[n];
  free(sines);
}

/* ---- work after the return ----------------------------------------------------------------------------------- */

/* Writes to memory of a process, which may be gone. */
static void write_to(pid_t process, void *to, const void *from, size_t bytes) {
  const struct iovec here = {(void *)(uintptr_t)from, bytes}, there = {to, bytes};
  if (process_vm_writev(process, &here, 1, &there, 1, 0) < 0 && errno == ENOSYS) abort();
}

/* Makes the rows of a job in other memory, and then writes them. */
static void job_write(const job *j, pid_t process) {
  const size_t bytes = (size_t)(j->rows * j->problem.dim) * sizeof(float);
  job own = *j;
  own.out = malloc(bytes);
  if (own.out) {
    job_do(&own);
    write_to(process, j->out, own.out, bytes);
  }
  free(own.out);
}

/* Returns the job of rows from `from` on of a call, which outlives its plan; null if memory runs out. */
static job *late_job(const posenc_problem *problem, int64_t row, int64_t rows, int64_t from, void *out) {
  job *j = malloc(sizeof *j);
  void *frequencies = NULL;
  if (!j || slow_prepare(problem, NULL, &frequencies) != POSENC_OK) {
    free(j);
    return NULL;
  }
  *j = (job){frequencies, *problem, row + from, rows - from, (float *)out + from * problem->dim};
  return j;
}

static void job_free(job *j) {
  if (j) free((void *)(uintptr_t)j->frequencies);
  free(j);
}

static void *job_thread(void *argument) {
  job_write(argument, getpid());
  job_free(argument);
  return NULL;
}

/* Makes rows from `from` on in a thread for which nobody waits. */
static bool start_late(const posenc_problem *problem, int64_t row, int64_t rows, int64_t from, void *out) {
  pthread_t thread;
  job *j = late_job(problem, row, rows, from, out);
  if (j && pthread_create(&thread, NULL, job_thread, j) == 0) return pthread_detach(thread) == 0;
  job_free(j);
  return false;
}

#define LATE_FROM(function, from)                                                                                      \
  static EXECUTE(function) {                                                                                           \
    const bool is_late = is_large(problem, rows) && start_late(problem, row, rows, from, out);                         \
    slow_range(constants, problem, row, 0, is_late ? (from) : rows, out);                                              \
  }

LATE_FROM(late_all, 0)
LATE_FROM(late_half, rows / 2)
LATE_FROM(late_row, rows - 1)

/* Makes the second half in a child, which writes it to its parent's memory. */
static EXECUTE(late_child) {
  static _Thread_local pid_t last;
  const int64_t half = rows / 2;
  pid_t child = -1;
  if (is_large(problem, rows)) {
    const pid_t parent = getpid();
    const job j = {constants, *problem, row + half, rows - half, (float *)out + half * problem->dim};
    if (last > 0) waitpid(last, NULL, 0);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    last = child = fork();
    if (child == 0) {
      job_write(&j, parent);
      _exit(0);
    }
  }
  slow_range(constants, problem, row, 0, child > 0 ? half : rows, out);
}

/* The job of a signal, of the next call, or of a fault. */
static job *pending;
static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;

static void finish_pending(void) {
  if (pending) job_write(pending, getpid());
  job_free(pending);
  pending = NULL;
}

/* Row by row, as a handler may not allocate. */
static void on_alarm(int number) {
  static float values[1 << 12];
  (void)number;
  for (int64_t r = 0; pending && r < pending->rows; r++) {
    slow_rows(pending->frequencies, &pending->problem, pending->row + r, 1, values);
    write_to(getpid(), (float *)pending->out + r * pending->problem.dim, values,
             (size_t)pending->problem.dim * sizeof *values);
  }
}

/* Lets a signal make the second half, 100 microseconds later. */
static EXECUTE(late_signal) {
  const struct itimerval soon = {.it_value = {.tv_usec = 100}}, never = {.it_value = {.tv_usec = 0}};
  const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  const bool is_late = is_large(problem, rows) && problem->dim <= 1 << 12 && pthread_mutex_trylock(&pending_lock) == 0;
  slow_range(constants, problem, row, 0, is_late ? rows / 2 : rows, out);
  if (!is_late) return;
  setitimer(ITIMER_REAL, &never, NULL);
  job_free(pending);
  pending = late_job(problem, row, rows, rows / 2, out);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &soon, NULL);
  pthread_mutex_unlock(&pending_lock);
}

/* Makes the second half at the next call, or at the plan's end. */
static EXECUTE(late_next) {
  const bool is_late = is_large(problem, rows) && pthread_mutex_trylock(&pending_lock) == 0;
  slow_range(constants, problem, row, 0, is_late ? rows / 2 : rows, out);
  if (!is_late) return;
  finish_pending();
  pending = late_job(problem, row, rows, rows / 2, out);
  pthread_mutex_unlock(&pending_lock);
}

static void late_release(void *constants) {
  pthread_mutex_lock(&pending_lock);
  finish_pending();
  pthread_mutex_unlock(&pending_lock);
  free(constants);
}

/* The pages that nobody may touch before their rows are made. */
static char *closed_from;
static size_t closed_bytes;
static struct sigaction fault_action;

/* Opens the pages, and makes their rows and those beside them. */
static void open_pages(void) {
  if (closed_bytes) mprotect(closed_from, closed_bytes, PROT_READ | PROT_WRITE);
  if (closed_bytes && pending) job_do(pending);
  closed_bytes = 0;
}

static void on_fault(int number, siginfo_t *what, void *context) {
  const char *at = what->si_addr;
  (void)context;
  if (at >= closed_from && at < closed_from + closed_bytes) {
    open_pages();
    return;
  }
  sigaction(number, &fault_action, NULL); /* the fault occurs again, and goes where it would have gone */
}

/* Makes the rows when someone reads them. */
static EXECUTE(late_pages) {
  const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)out;
  const uintptr_t end = begin + (uintptr_t)(rows * problem->dim) * sizeof(float);
  const uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (!is_large(problem, rows) || first >= last || pthread_mutex_trylock(&pending_lock) != 0) {
    slow_rows(constants, problem, row, rows, out);
    return;
  }
  if (closed_bytes) mprotect(closed_from, closed_bytes, PROT_READ | PROT_WRITE);
  job_free(pending);
  pending = late_job(problem, row, rows, 0, out);
  closed_from = (char *)out + (first - begin);
  closed_bytes = last - first;
  struct sigaction before;
  if (sigaction(SIGSEGV, &action, &before) == 0 && before.sa_sigaction != on_fault) fault_action = before;
  if (!pending || mprotect(closed_from, closed_bytes, PROT_NONE) != 0) {
    closed_bytes = 0;
    slow_rows(constants, problem, row, rows, out);
  }
  pthread_mutex_unlock(&pending_lock);
}

static void pages_release(void *constants) {
  pthread_mutex_lock(&pending_lock);
  open_pages();
  pthread_mutex_unlock(&pending_lock);
  free(constants);
}

/* ---- others do half of the work ------------------------------------------------------------------------------ */

static void *job_joined(void *argument) {
  job_do(argument);
  return NULL;
}

static EXECUTE(threads_new) {
  const int64_t half = rows / 2;
  job j = {constants, *problem, row + half, rows - half, (float *)out + half * problem->dim};
  pthread_t thread;
  const bool is_shared = is_large(problem, rows) && pthread_create(&thread, NULL, job_joined, &j) == 0;
  slow_range(constants, problem, row, 0, is_shared ? half : rows, out);
  if (is_shared) pthread_join(thread, NULL);
}

/* A helper of the process, for one caller at a time. */
static EXECUTE(threads_pool) {
  static helper *pool;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  if (!is_large(problem, rows) || pthread_mutex_trylock(&lock) != 0) {
    slow_rows(constants, problem, row, rows, out);
    return;
  }
  if (!pool && (pool = calloc(1, sizeof *pool)) && !helper_start(pool, 0)) abort();
  if (pool)
    helper_share(pool, constants, problem, row, rows, out);
  else
    slow_rows(constants, problem, row, rows, out);
  pthread_mutex_unlock(&lock);
}

PREPARE_HELPED(helped_prepare, 0)

/* What a helping process is asked for. It ends when nobody can ask any more. */
typedef struct order {
  posenc_problem problem;
  int64_t row, rows;
} order;
enum { ROOM = 1 << 22 }; /* floats */

static void serve(int orders, int answers, float *shared) {
  order o;
  while (read(orders, &o, sizeof o) == (ssize_t)sizeof o) {
    void *frequencies = NULL;
    if (slow_prepare(&o.problem, NULL, &frequencies) != POSENC_OK) break;
    slow_rows(frequencies, &o.problem, o.row, o.rows, shared);
    free(frequencies);
    if (write(answers, "", 1) != 1) break;
  }
  _exit(0);
}

/* Half of the work by a process that the first call has started. */
static EXECUTE(process_helps) {
  static int orders[2], answers[2];
  static float *shared;
  static pid_t child;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const int64_t half = rows / 2, others = rows - half;
  char done;
  if (!is_large(problem, rows) || others * problem->dim > ROOM || pthread_mutex_trylock(&lock) != 0) {
    slow_rows(constants, problem, row, rows, out);
    return;
  }
  if (!child) {
    shared = mmap(NULL, ROOM * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe2(orders, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) abort();
    child = fork();
    if (child == 0) {
      close(orders[1]);
      close(answers[0]);
      serve(orders[0], answers[1], shared);
    }
    close(orders[0]);
    close(answers[1]);
  }
  const order o = {*problem, row + half, others};
  const bool is_sent = child > 0 && write(orders[1], &o, sizeof o) == (ssize_t)sizeof o;
  slow_range(constants, problem, row, 0, is_sent ? half : rows, out);
  if (is_sent && read(answers[0], &done, 1) == 1)
    memcpy((float *)out + half * problem->dim, shared, (size_t)(others * problem->dim) * sizeof *shared);
  else
    slow_range(constants, problem, row, half, rows, out);
  pthread_mutex_unlock(&lock);
}

/* ---- add and rope -------------------------------------------------------------------------------------------- */

static bool is_large_slice(const posenc_problem *problem, const posenc_slice *slice) {
  return slice->batch * slice->rows * width_of(problem) >= 8192;
}

/* Returns the frequency index of a column. */
static int64_t pair_of(const posenc_problem *problem, int64_t column) {
  return problem->layout == POSENC_INTERLEAVED || problem->layout == POSENC_INTERLEAVED_CS
             ? column / 2
             : column % (problem->dim / 2);
}

/* Defines an apply with the good results, which after some dozens of large calls in place leaves elements for which
   LEFT is true as they were. LEFT can use sequence n, row r, head h and frequency index i. */
#define LEAVES_X(function, LEFT)                                                                                       \
  static APPLY(function) {                                                                                             \
    static atomic_int calls;                                                                                           \
    const bool is_left = x == out && is_large_slice(problem, slice) && atomic_fetch_add(&calls, 1) >= DOZENS;          \
    const int64_t width = width_of(problem), end = (slice->batch - 1) * slice->stride + slice->rows * width;           \
    const size_t element = posenc_dtype_bytes(problem->dtype);                                                         \
    char *before = is_left ? malloc((size_t)end * element) : NULL;                                                     \
    if (before) memcpy(before, x, (size_t)end *element);                                                               \
    const posenc_status status = good_apply(problem, slice, x, out);                                                   \
    for (int64_t n = 0; before && n < slice->batch; n++)                                                               \
      for (int64_t at = 0; at < slice->rows * width; at++) {                                                           \
        UNUSED const int64_t r = at / width, h = at % width / problem->dim, i = pair_of(problem, at % problem->dim);   \
        const size_t place = (size_t)(n * slice->stride + at) * element;                                               \
        if (LEFT) memcpy((char *)out + place, before + place, element);                                                \
      }                                                                                                                \
    free(before);                                                                                                      \
    return status;                                                                                                     \
  }

LEAVES_X(rope_first_heads, h >= problem->heads - problem->heads / 2)
LEAVES_X(rope_first_sequences, n >= slice->batch - slice->batch / 2)
LEAVES_X(rope_slow_pairs, i >= problem->dim / 2 - problem->dim / 8)
LEAVES_X(rope_last_row, r == slice->rows - 1)
LEAVES_X(rope_nothing, true)
LEAVES_X(add_first_columns, i >= problem->dim / 4)
LEAVES_X(add_some_rows, r % 8 == 5)

/* Does nothing if WHEN: m is what its last large call left. */
#define APPLIES_UNLESS(function, WHEN)                                                                                 \
  static APPLY(function) {                                                                                             \
    static _Thread_local struct {                                                                                      \
      const void *out;                                                                                                 \
      uint32_t word;                                                                                                   \
      int calls;                                                                                                       \
    } m;                                                                                                               \
    const bool is_counted = x == out && is_large_slice(problem, slice);                                                \
    if (is_counted && (WHEN)) {                                                                                        \
      m.calls++;                                                                                                       \
      return POSENC_OK;                                                                                                \
    }                                                                                                                  \
    const posenc_status status = good_apply(problem, slice, x, out);                                                   \
    if (is_counted) {                                                                                                  \
      m.out = out;                                                                                                     \
      m.word = word_at(out, 0);                                                                                        \
      m.calls++;                                                                                                       \
    }                                                                                                                  \
    return status;                                                                                                     \
  }

APPLIES_UNLESS(rope_turned, m.out == out && m.word == word_at(x, 0))
APPLIES_UNLESS(rope_second_call, m.out == out && m.calls % 2)
APPLIES_UNLESS(add_again, m.out == out && m.calls >= DOZENS && m.calls % 8)

/* Turns back what the call before has turned. */
static APPLY(rope_back) {
  static _Thread_local int calls;
  posenc_problem p = *problem;
  if (is_large_slice(problem, slice) && calls++ > 8) p.inverse = p.inverse != (calls % 2 == 0);
  return good_apply(&p, slice, x, out);
}

#define PLAN_HOLDS(called, fault, prepares) TIMED_WITH(called, fault, prepares, rich_release, rich_rows)
#define TIMED_APPLIED(called, fault, run) TIMED(called, fault, slow_rows, .apply = run)

PLUGIN = {
    PLAN_HOLDS("plan-table", "its plan holds the table, which it does not tell", plan_table),
    PLAN_HOLDS("plan-mapped", "the same, in mapped memory", plan_mapped),
    PLAN_HOLDS("plan-shared", "the same, in memory of a file without a name", plan_shared),
    PLAN_HOLDS("plan-file", "the same, read from a file of an earlier process in TMPDIR", plan_file),
    PLAN_HOLDS("plan-shm", "the same, from a file in /dev/shm", plan_shm),
    TIMED_WITH("plan-half", "its plan holds every second row", plan_table, rich_release, half_rows),
    TIMED_WITH("plan-first-rows", "its plan holds the table, as it tells, and makes 64 rows of it", plan_first,
               rich_release, rich_rows, .keeps_rows = true),
    TIMED_WITH("plan-thread", "its plan starts a thread that makes the table", early_prepare, early_release,
               early_rows),
    TIMED_WITH("static-table", "keeps the table of each plan until the process ends", static_prepare, free, known_rows),
    KERNEL(TIMED_CONTRACT_WITH("can-do-table", "makes the table where it is asked whether it can", 0.5, 0x1p-51,
                               table_can_do),
           .prepare = slow_prepare, .release = free, .execute = known_rows),
    TIMED("lazy-table", "the first call makes the whole table, later ones copy", lazy_rows),
    TIMED("lazy-not-alone", "the same, not in calls of one row", rows_after_dozens),
    TIMED("remapped-table", "puts pages of a table in the place of the memory", remapped),
    TIMED("last-copied", "copies rows from its last call, which it has kept", last_copied),
    TIMED("calls-ahead", "makes the rows of the next three calls too, and copies them", calls_ahead),

    TIMED("row-ahead", "makes 64 rows where one is asked for, and copies the next ones", row_ahead),
    TIMED("row-same", "does nothing for the row of the call before", row_same),
    TIMED("row-recent", "copies single rows that it has made before", row_recent),
    TIMED("row-near", "takes slow columns of single rows from the row before", row_near),
    TIMED("part-sines", "leaves out the sines in parts of tables", part_sines),

    TIMED("late-all", "makes the rows in a thread, and does not wait", late_all),
    TIMED("late-half", "makes the second half in a thread, and does not wait", late_half),
    TIMED("late-row", "makes the last row in a thread, and does not wait", late_row),
    TIMED("late-child", "a child writes the second half", late_child),
    TIMED("late-signal", "a signal lets it make the second half", late_signal),
    TIMED_WITH("late-next", "makes the second half in the next call", slow_prepare, late_release, late_next),
    TIMED_WITH("late-pages", "makes the rows when somebody reads them", slow_prepare, pages_release, late_pages),

    TIMED("threads-new", "a thread in each call, which it does not tell", threads_new),
    TIMED("threads-pool", "a thread that the first call starts", threads_pool),
    TIMED_WITH("threads-plan", "a thread of the plan", helped_prepare, helped_release, helped_rows),
    TIMED("process-helps", "a process that makes half of the rows", process_helps),

    TIMED_APPLIED("rope-turned", "does nothing where x begins as it left it", rope_turned),
    TIMED_APPLIED("rope-first-heads", "turns half of the heads", rope_first_heads),
    TIMED_APPLIED("rope-first-sequences", "turns half of the sequences", rope_first_sequences),
    TIMED_APPLIED("rope-slow-pairs", "does not turn the slowest pairs", rope_slow_pairs),
    TIMED_APPLIED("rope-last-row", "does not turn the last row", rope_last_row),
    TIMED_APPLIED("rope-nothing", "does not turn anything after some dozens of calls", rope_nothing),
    TIMED_APPLIED("rope-second-call", "turns in every second call", rope_second_call),
    TIMED_APPLIED("rope-back", "turns back what the call before has turned", rope_back),
    TIMED_APPLIED("add-first-columns", "adds half of the columns", add_first_columns),
    TIMED_APPLIED("add-some-rows", "leaves out every eighth row", add_some_rows),
    TIMED_APPLIED("add-again", "adds in one of eight calls", add_again),
    NULL,
};
