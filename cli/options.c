/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/options.h"

#include "bench/bench.h"
#include "common/memory.h"
#include "records/compare.h"
#include "verify/verify.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- how values are read ----------------------------------------------------------------------- */

typedef void read_value(options *given, const char *name, const char *text, bool from_file);

typedef struct value_kind {
  enum {
    READ_FLAG,
    READ_TEXT,
    READ_TEXTS, /* all values of an option that may be given several times */
    READ_WORD,  /* one of the words of the row's value */
    READ_NAME,  /* one of `names`, stored as its number */
    READ_INTEGER,
    READ_REAL,
    READ_POSITIVE,
    READ_SHARE, /* a number of at least 0 */
    READ_BY_CALL
  } how;
  size_t offset, size;      /* of the member of struct options */
  int64_t least, most;      /* of an integer: the range */
  const char *const *names; /* words of an enum, by number, up to a null pointer; "" for a value without a word */
  read_value *call;
} value_kind;

#define KIND(reader, member) .how = reader, .offset = offsetof(options, member), .size = sizeof(((options *)0)->member)
#define FLAG(member)                                                                                                   \
  { KIND(READ_FLAG, member) }
#define TEXT(member)                                                                                                   \
  { KIND(READ_TEXT, member) }
#define TEXTS(member)                                                                                                  \
  { KIND(READ_TEXTS, member) }
#define WORD(member)                                                                                                   \
  { KIND(READ_WORD, member) }
#define NAME(member, list)                                                                                             \
  { KIND(READ_NAME, member), .names = list }
#define INTEGER(member, smallest, largest)                                                                             \
  { KIND(READ_INTEGER, member), .least = smallest, .most = largest }
#define REAL(member)                                                                                                   \
  { KIND(READ_REAL, member) }
#define POSITIVE(member)                                                                                               \
  { KIND(READ_POSITIVE, member) }
#define SHARE(member)                                                                                                  \
  { KIND(READ_SHARE, member) }
#define CALL(function, member)                                                                                         \
  { KIND(READ_BY_CALL, member), .call = function }

static void take_sequence(options *given, const char *name, const char *text, bool from_file) {
  (void)from_file;
  given->problem.base = posenc_base_for(parse_positive(name, text));
  if (!isfinite(given->problem.base)) die_value(name, text, "there is no base for it");
}

static void take_scaling(options *given, const char *name, const char *text, bool from_file) {
  given->factors = parse_scaling(name, text, !from_file, &given->problem.scaling);
}

/* Positions near which programs fail: bf16 rounds positions from 257 on, and f16 from 2049 on; tables of models end at
   powers of two; 32-bit integers end at 2^31. */
static const double golden[] = {0,       1,        2,        3,          255,        256,       257,
                                2047,    2048,     2049,     4095,       4096,       4097,      32767,
                                32768,   32769,    65535,    65536,      131071,     131072,    1048575,
                                1048576, 16777216, 16777217, 2147483647, 2147483648, 2147483649};

static void take_positions(options *given, const char *name, const char *text, bool from_file) {
  if (strcmp(text, "golden") == 0) {
    given->problem.positions = golden;
    given->problem.rows = sizeof golden / sizeof *golden;
    return;
  }
  given->problem.rows = parse_numbers(name, text, ",", !from_file, &given->problem.positions);
}

static void take_grid(options *given, const char *name, const char *text, bool from_file) {
  given->problem.axes = given->grid = parse_grid(name, text, !from_file, &given->places);
}

static void take_place(options *given, const char *name, const char *text, bool from_file) {
  (void)from_file;
  if (!*text || *text == ':') die_value(name, text, "not FILE or FILE:LINE");
  given->github = text;
}

static void take_isa(options *given, const char *name, const char *text, bool from_file) {
  (void)from_file;
  given->isa = parse_isa(name, text);
}

/* Reads a number of pairs with a p behind it, or of seconds with an s. A number alone could be meant as either. */
static void take_budget(options *given, const char *name, const char *text, bool from_file) {
  char *end;
  (void)from_file;
  errno = 0;
  const long long pairs = strtoll(text, &end, 10);
  if (end != text && strcmp(end, "p") == 0) {
    if (pairs < 1 || errno != 0) die_value(name, text, "not within 1p .. 9223372036854775807p");
    given->budget = pairs;
    return;
  }
  const double seconds = strtod(text, &end);
  if (end == text || strcmp(end, "s") != 0) die_value(name, text, "neither pairs, as 4096p, nor seconds, as 45s");
  if (!(seconds > 0 && isfinite(seconds))) die_value(name, text, "not a positive time");
  given->seconds = seconds;
}

static void take_seed(options *given, const char *name, const char *text, bool from_file) {
  uint32_t drawn; /* which is short enough to be read out */
  (void)from_file;
  if (strcmp(text, "random") != 0)
    given->seed = parse_integer(name, text, 0, INT64_MAX);
  else if (getrandom(&drawn, sizeof drawn, 0) == sizeof drawn)
    given->seed = drawn;
  else
    die_value(name, text, "the system draws no number");
}

static void take_exhaustive(options *given, const char *name, const char *text, bool from_file) {
  (void)name, (void)text, (void)from_file;
  given->budget = INT64_MAX;
}

static void take_modes(options *given, const char *name, const char *text, bool from_file) {
  (void)from_file;
  if (!bench_modes_parse(text, &given->modes))
    die_value(name, text, "not of hot, cold, fresh, malloc, offset, first, row and plan");
}

static void take_shard(options *given, const char *name, const char *text, bool from_file) {
  (void)from_file;
  given->only = shard_read(name, text);
}

/* ---- the rows of cli/options.def ----------------------------------------------------------------- */

static const char *const checked_op_names[] = {
    [POSENC_TABLE] = "table", [POSENC_ADD] = "add", [POSENC_ROPE] = "rope", NULL};

static const struct {
  const char *name;
  char letter;
} option_names[OPTIONS] = {
#define OPTION(code, letter, name, commands, kind, value, help) {name, letter},
#include "cli/options.def"
};

typedef struct option_row {
  enum option_code code;
  unsigned commands;
  value_kind kind;
  const char *value, *help;
} option_row;

static const option_row rows[] = {
#define OPTION(code, letter, name, commands, kind, value, help) {OPTION_##code, commands, kind, value, help},
#define VARIANT(code, commands, kind, value, help) {OPTION_##code, commands, kind, value, help},
#define GROUP(title) {.help = title}, /* of no command */
#include "cli/options.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct {
  unsigned commands;
  enum option_code code;
  option_set refused;
} conflicts[] = {
#define CONFLICT(commands, code, ...) {commands, OPTION_##code, ANY_OF(__VA_ARGS__)},
#include "cli/options.def"
};

static const option_row *find_row(const command *self, enum option_code code) {
  for (size_t i = 0; i < ROWS; i++)
    if (rows[i].code == code && rows[i].commands & self->bit) return &rows[i];
  return NULL;
}

options options_defaults(void) {
  return (options){
      .problem = posenc_table(0, 2),
      .seed = VERIFY_DEFAULT_SEED,
      .budget = VERIFY_DEFAULT_BUDGET,
      .search = VERIFY_DEFAULT_SEARCH,
      .silence = ISOLATE_DEFAULT_SILENCE,
      .repetitions = DEFAULT_REPETITIONS,
      .min_time = DEFAULT_MIN_TIME,
      .batch = 1,
      .modes = BENCH_DEFAULT_MODES,
      .growth = COMPARE_DEFAULT_GROWTH,
      .slower = COMPARE_DEFAULT_SLOWER,
      .alpha = COMPARE_DEFAULT_ALPHA,
      .blocks = RUN_BLOCKS,
      .output = "-",
  };
}

/* ---- what the help says of each row ------------------------------------------------------------------ */

/* Returns the name of the option's value in the help: "FILE", or the words, as in "f32|f64". */
static option_value value_of(const option_row *row) {
  option_value v = {""};
  if (row->value) snprintf(v.text, sizeof v.text, "%s", row->value);
  for (const char *const *name = row->kind.names; name && *name; name++)
    if (**name) snprintf(v.text + strlen(v.text), sizeof v.text - strlen(v.text), "%s%s", *v.text ? "|" : "", *name);
  return v;
}

bool options_told(size_t row, option_help *told) {
  if (row >= ROWS) return false;
  const option_row *of = &rows[row];
  *told = (option_help){.commands = of->commands, .text = of->help};
  if (!of->commands) return true;
  told->name = option_names[of->code].name;
  told->letter = option_names[of->code].letter;
  told->value = value_of(of);
  return true;
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* Exits with "not a, b or c", for the words "a|b|c". */
__attribute__((noreturn)) static void die_no_word(const char *name, const char *text, const char *words) {
  char reason[160] = "not ";
  while (*words) {
    const size_t length = strcspn(words, "|"), used = strlen(reason);
    const char *rest = words + length, *separator = *rest && strchr(rest + 1, '|') ? ", " : " or ";
    snprintf(reason + used, sizeof reason - used, "%.*s%s", (int)length, words, *rest ? separator : "");
    words = rest + (*rest == '|');
  }
  die_value(name, text, reason);
}

static const char *parse_word(const char *name, const char *text, const char *words) {
  const size_t length = strlen(text);
  for (const char *word = words; length > 0 && word; word = strchr(word, '|')) {
    word += *word == '|';
    if (strncmp(word, text, length) == 0 && (word[length] == '|' || word[length] == '\0')) return text;
  }
  die_no_word(name, text, words);
}

static int parse_name(const char *name, const char *text, const option_row *row) {
  for (int i = 0; row->kind.names[i]; i++)
    if (*text && strcmp(row->kind.names[i], text) == 0) return i;
  die_no_word(name, text, value_of(row).text);
}

static void append_text(texts *list, const char *text) {
  list->items = allocated(reallocarray(list->items, list->count + 1, sizeof(*list->items)));
  list->items[list->count++] = text;
}

static void store_integer(void *member, size_t size, int64_t value) {
  const int narrow = (int)value;
  memcpy(member, size == sizeof narrow ? (const void *)&narrow : (const void *)&value, size);
}

/* Sets the member of the option to the value in `text`; messages call the option `name`. If the value comes from a
   file, it must not name another file. */
static void take_value(options *given, const option_row *row, const char *name, const char *text, bool from_file) {
  const value_kind *kind = &row->kind;
  void *member = (char *)given + kind->offset;
  switch (kind->how) {
  case READ_FLAG:
    *(bool *)member = true;
    break;
  case READ_TEXT:
    *(const char **)member = text;
    break;
  case READ_TEXTS:
    append_text(member, text);
    break;
  case READ_WORD:
    *(const char **)member = parse_word(name, text, row->value);
    break;
  case READ_NAME:
    store_integer(member, kind->size, parse_name(name, text, row));
    break;
  case READ_INTEGER:
    store_integer(member, kind->size, parse_integer(name, text, kind->least, kind->most));
    break;
  case READ_REAL:
    *(double *)member = parse_real(name, text);
    break;
  case READ_POSITIVE:
    *(double *)member = parse_positive(name, text);
    break;
  case READ_SHARE:
    *(double *)member = parse_real(name, text);
    if (!(*(double *)member >= 0.0)) die_value(name, text, "not 0 or more");
    break;
  case READ_BY_CALL:
    kind->call(given, name, text, from_file);
    break;
  }
}

typedef struct option_name {
  char text[32];
} option_name;

static option_name name_of(enum option_code code) {
  option_name name;
  snprintf(name.text, sizeof name.text, "--%s", option_names[code].name);
  return name;
}

void options_record(options *given, enum option_code code, const char *key, const char *text, const char *file) {
  char name[160];
  snprintf(name, sizeof name, "%.120s: its metadata, %s", file, key);
  take_value(given, find_row(given->self, code), name, text, true);
}

enum { FIRST_CODE = 256 }; /* getopt's number of the first option, above all letters */

/* Returns the next option of the command line, with its value in optarg; null at the end. */
static const option_row *next_option(const command *self, int argc, char **argv) {
  struct option long_options[OPTIONS + 1] = {{0}};
  char letters[2 * OPTIONS + 1] = "";
  size_t count = 0, length = 0;
  for (size_t i = 0; i < ROWS; i++) {
    if (!(rows[i].commands & self->bit)) continue;
    const enum option_code code = rows[i].code;
    const bool has_value = rows[i].kind.how != READ_FLAG && (rows[i].value || rows[i].kind.names);
    long_options[count++] = (struct option){option_names[code].name, has_value, NULL, FIRST_CODE + (int)code};
    if (!option_names[code].letter) continue;
    letters[length++] = option_names[code].letter;
    if (has_value) letters[length++] = ':';
  }
  const int found = getopt_long(argc, argv, letters, long_options, NULL);
  if (found == -1) return NULL;
  for (size_t i = 0; i < ROWS; i++)
    if (rows[i].commands & self->bit &&
        (FIRST_CODE + (int)rows[i].code == found || option_names[rows[i].code].letter == found))
      return &rows[i];
  leave(STATUS_ERROR); /* getopt has printed the error */
}

static void take_operands(options *given, int argc, char **argv) {
  const command *self = given->self;
  const int count = argc - optind;
  if (count < self->operands_least) die("%s", self->operand_missing);
  if (count > self->operands_most) die("extra operand '%s'", argv[optind + self->operands_most]);
  given->operands = argv + optind;
  given->operand_count = (size_t)count;
}

static void reject_conflicts(const options *given) {
  for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++)
    if (conflicts[i].commands & given->self->bit && is_given(given, conflicts[i].code))
      options_refuse(given, conflicts[i].refused, name_of(conflicts[i].code).text);
}

void options_read(options *given, int argc, char **argv) {
  const option_row *row;
  given->command_line =
      quoted_line(argv[0], (size_t)argc - 1, (const char *const *)argv + 1); /* before getopt sorts it */
  given->shard_command = shard_command(argc, argv);
  while ((row = next_option(given->self, argc, argv))) {
    const char *text = optarg ? optarg : "";
    given->texts[row->code] = text;
    take_value(given, row, name_of(row->code).text, text, false);
    if (given->help || given->manual) options_print_page(given->self, given->manual);
    if (given->version) {
      char name[32];
      snprintf(name, sizeof name, "posenc-%s", given->self->name);
      print_version(name);
      finish(EXIT_SUCCESS);
    }
  }
  take_operands(given, argc, argv);
  reject_conflicts(given);
  if (is_given(given, OPTION_SHARD))
    given->output = shard_output(given->only, given->output);
  else if (options_knows(given, OPTION_SHARD) && strstr(given->output, "%I"))
    options_die(given, OPTION_OUTPUT, "%I is for --shard", "");
  if (!is_given(given, OPTION_LAYOUT)) given->problem.layout = layout_default(given->problem.op);
  if (given->grid && !is_given(given, OPTION_LEN) &&
      __builtin_sub_overflow(given->places, given->problem.first, &given->problem.rows))
    options_die(given, OPTION_OFFSET, "too far before the grid's places", "");
}

bool options_knows(const options *given, enum option_code code) {
  return find_row(given->self, code);
}

void options_reset(options *given, enum option_code code) {
  const value_kind *kind = &find_row(given->self, code)->kind;
  const options plain = options_defaults();
  memcpy((char *)given + kind->offset, (const char *)&plain + kind->offset, kind->size);
  if (code == OPTION_LAYOUT) given->problem.layout = layout_default(given->problem.op);
}

/* ---- errors -------------------------------------------------------------------------------------- */

void options_die(const options *given, enum option_code code, const char *reason, const char *other) {
  const char *text = given->texts[code];
  die("--%s%s%s: %s%s", option_names[code].name, *text ? " " : "", text, reason, other);
}

bool option_set_has(option_set set, enum option_code code) {
  while (*set != OPTIONS && *set != code) set++;
  return *set == code;
}

enum option_code options_first_given(const options *given, option_set set) {
  int code = 0;
  while (code < OPTIONS && !(is_given(given, code) && option_set_has(set, code))) code++;
  return code;
}

void options_refuse(const options *given, option_set set, const char *other) {
  const enum option_code first = options_first_given(given, set);
  if (first < OPTIONS) options_die(given, first, "cannot be combined with ", other);
}

/* ---- the problem that they describe, and which option is at fault if it is invalid ----------------- */

/* Returns a copy of the problem with the option's default. */
static posenc_problem without(const options *given, enum option_code code) {
  options changed = *given;
  options_reset(&changed, code);
  return changed.problem;
}

/* Exits with the refusal if this option was given, and the problem would be valid without it. */
static void blame(const options *given, enum option_code code, const char *refusal) {
  if (!is_given(given, code)) return;
  const posenc_problem other = without(given, code);
  if (!posenc_problem_refusal(&other)) options_die(given, code, refusal, "");
}

/* Exits with the refusal and the first given option without which the problem would be valid. --len and --dim are not
   tried. */
static void blame_formula(const options *given, const char *refusal) {
  const option_set suspects = ANY_OF(PROBLEM_SET);
  for (int code = 0; code < OPTIONS; code++)
    if (code != OPTION_LEN && code != OPTION_DIM && option_set_has(suspects, code)) blame(given, code, refusal);
}

/* Whether the number of columns is odd, where the command has --odd, and the problem is valid otherwise. */
static bool is_only_odd(const options *given) {
  posenc_problem other = given->problem;
  other.odd = POSENC_ODD_PAD;
  return options_knows(given, OPTION_ODD) && given->problem.odd == POSENC_ODD_REFUSED &&
         !posenc_problem_refusal(&other);
}

/* Sets equal numbers of pairs for axes that have none. */
static void fill_pairs(const options *given) {
  for (int a = 0; given->grid && a < given->grid->count; a++)
    if (given->grid->axis[a].pairs == 0) given->grid->axis[a].pairs = given->problem.dim / (2 * given->grid->count);
}

/* Returns the reason why the problem is invalid, or null. */
static const char *refusal_of(const options *given) {
  fill_pairs(given);
  const posenc_problem *problem = &given->problem;
  if (problem->scaling.factors && given->factors != problem->dim / 2)
    die("--scaling longrope: %" PRId64 " factors, and --dim %" PRId64 " has %" PRId64 " frequencies", given->factors,
        problem->dim, problem->dim / 2);
  const char *refusal = posenc_problem_refusal(problem);
  return refusal && is_only_odd(given) ? "dim must be even; --odd pad or --odd ceil takes an odd one" : refusal;
}

bool options_have_table(const options *given) {
  const bool len = is_given(given, OPTION_LEN) || is_given(given, OPTION_POSITIONS) || given->grid,
             dim = is_given(given, OPTION_DIM);
  if (!len || !dim) {
    const char *missing = dim ? "--len too" : "--len and --dim too";
    const enum option_code first = options_first_given(given, ANY_OF(PROBLEM_SET));
    if (first < OPTIONS) options_die(given, first, "needs ", len ? "--dim too" : missing);
    return false;
  }
  const char *refusal = refusal_of(given);
  if (!refusal) return true;
  blame_formula(given, refusal);
  /* If rows × dim overflows, the message names the larger of the two. */
  const bool wide = given->problem.dim > given->problem.rows;
  blame(given, wide ? OPTION_DIM : OPTION_LEN, refusal);
  blame(given, wide ? OPTION_LEN : OPTION_DIM, refusal);
  const char *all = problem_options_listed(&given->problem, given->texts[OPTION_POSITIONS]);
  die("%s: %s", all ? all : "the problem", refusal);
}

void options_require_table(const options *given, const char *path) {
  const char *refusal = refusal_of(given);
  if (!refusal) return;
  blame_formula(given, refusal);
  die("%s: %s", path, refusal);
}

posenc_options options_of_plan(const options *given, const posenc_kernel *kernel) {
  posenc_options plan = posenc_default_options();
  plan.kernel = kernel;
  plan.max_ulp = given->max_ulp;
  plan.threads = given->threads;
  plan.isa = given->isa;
  plan.stores = given->stores;
  return plan;
}

const char *options_refusal(const options *given, const posenc_kernel *kernel, const posenc_problem *problem) {
  const posenc_options how = options_of_plan(given, kernel);
  return posenc_kernel_refusal(kernel, problem, &how);
}
