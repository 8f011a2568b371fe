/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/options.h"

#include "bench/bench.h"
#include "cli/grid.h"
#include "cli/shard.h"
#include "cli/values.h"
#include "common/memory.h"
#include "records/compare.h"
#include "verify/verify.h"

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

/* Reads a number of pairs, or a number of seconds with an s behind it. */
static void take_budget(options *given, const char *name, const char *text, bool from_file) {
  char *end;
  const double seconds = strtod(text, &end);
  (void)from_file;
  if (end == text || strcmp(end, "s") != 0) {
    given->budget = parse_integer(name, text, 1, INT64_MAX);
    return;
  }
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
static const char *const written_op_names[] = {
    [POSENC_TABLE] = "table", [POSENC_ADD] = "", [POSENC_ROPE] = "", [POSENC_ROPE_CACHE] = "rope-cache", NULL};

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

/* ---- help ---------------------------------------------------------------------------------------- */

typedef struct value_text {
  char text[96];
} value_text;

/* Returns the name of the option's value in the help: "FILE", or the words, as in "f32|f64". */
static value_text value_of(const option_row *row) {
  value_text v = {""};
  if (row->value) snprintf(v.text, sizeof v.text, "%s", row->value);
  for (const char *const *name = row->kind.names; name && *name; name++)
    if (**name) snprintf(v.text + strlen(v.text), sizeof v.text - strlen(v.text), "%s%s", *v.text ? "|" : "", *name);
  return v;
}

/* The columns where texts begin, in full and in short. */
enum { INDENT = 20, SHORT_INDENT = 24, WIDTH = 80 };

/* Returns a help text, with the folder of hard-to-round cases where it is installed, if the program is installed beside
   it. */
static char *placed(const char *text) {
  static const char in_tree[] = "reference/worst", installed[] = "share/posenc/worst";
  char program[4096 - sizeof installed] = "", folder[4096];
  const char *at = strstr(text, in_tree);
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  char *copy = NULL, *end = strstr(program, "/bin/posenc");
  if (!at || length < 0 || !end || strcmp(end, "/bin/posenc") != 0) return allocated(strdup(text));
  snprintf(folder, sizeof folder, "%.*s/%s", (int)(end - program), program, installed);
  if (access(folder, F_OK) != 0) return allocated(strdup(text));
  if (asprintf(&copy, "%.*s%s%s", (int)(at - text), text, folder, at + sizeof in_tree - 1) < 0) allocated(NULL);
  return copy;
}

/* Prints the text from the column `indent` on, in lines of WIDTH columns. */
static void print_wrapped(const char *text, int indent) {
  int column = indent;
  for (const char *word = text; *word; word += strspn(word, " ")) {
    const int length = (int)strcspn(word, " ");
    if (word > text && column + 1 + length > WIDTH) {
      printf("\n%*s", indent, "");
      column = indent;
    } else if (word > text) {
      putchar(' ');
      column++;
    }
    printf("%.*s", length, word);
    column += length;
    word += length;
  }
  putchar('\n');
}

typedef struct short_text {
  char text[400];
} short_text;

/* Returns the short text of an option, or the other one up to its first colon, semicolon or full stop outside of
   brackets, and what is in brackets at its end. */
static short_text shortened(const char *text) {
  short_text cut;
  const char *given = strchr(text, '\n'), *end = text, *last = strrchr(text, '(');
  int inside = 0;
  for (; !given && *end && (inside || !strchr(":;.", *end) || (end[1] && end[1] != ' ')); end++)
    inside += (*end == '(') - (*end == ')');
  const bool has_default = !given && last && last > end && text[strlen(text) - 1] == ')' && !strpbrk(last, ":;");
  if (given) end = given;
  snprintf(cut.text, sizeof cut.text, "%.*s%s%s", (int)(end - text), text, has_default ? " " : "",
           has_default ? last : "");
  return cut;
}

static const char *whole(const char *text) {
  const char *end = strchr(text, '\n');
  return end ? end + 1 : text;
}

/* Prints "  --dim D           number of columns", with further lines of the text aligned below it. */
static void print_option(const option_row *row, bool in_full) {
  const char letter = option_names[row->code].letter;
  const value_text value = value_of(row);
  const int indent = in_full ? INDENT : SHORT_INDENT;
  char head[128];
  char with_letter[] = "-?, ";
  with_letter[1] = letter;
  char *text = placed(in_full ? whole(row->help) : shortened(row->help).text);
  const int width = snprintf(head, sizeof head, "  %s--%s%s%s", letter ? with_letter : "", option_names[row->code].name,
                             *value.text ? " " : "", value.text);
  if (width <= indent - 2)
    printf("%-*s", indent, head);
  else if (!in_full && width + 2 + strlen(text) <= WIDTH)
    printf("%s  ", head);
  else
    printf("%s\n%*s", head, indent, "");
  print_wrapped(text, indent);
  free(text);
}

/* Prints the names of the options that posenc help problem explains. */
static void print_named(unsigned commands, bool in_full) {
  char names[ROWS * 24] = "";
  for (size_t i = 0; i < ROWS; i++)
    if (rows[i].commands & commands && rows[i].commands & PROBLEM)
      strcat(strcat(names, *names ? " --" : "--"), option_names[rows[i].code].name);
  if (!*names) return;
  printf("%sProblem, see posenc help problem:\n  ", in_full ? "\n" : "");
  print_wrapped(names, 2);
}

void options_print_help(unsigned commands, bool in_full) {
  const char *title = NULL; /* of a group of which nothing is printed yet */
  const bool is_page = commands & PROBLEM;
  if (commands != POSENC) puts("Defaults are in brackets, at the end.");
  if (!is_page) print_named(commands, in_full);
  for (size_t i = 0; i < ROWS; i++) {
    if (!rows[i].commands) title = rows[i].help;
    if (!(rows[i].commands & commands) || (rows[i].commands & PROBLEM && !is_page)) continue;
    if (title) printf("%s%s:\n", in_full ? "\n" : "", title);
    title = NULL;
    print_option(&rows[i], in_full);
  }
}

/* Prints the first examples of a command's notes. */
static void print_some_examples(const char *notes) {
  enum { SOME = 2 };
  static const char heading[] = "Examples:\n";
  const char *begin = strstr(notes, heading);
  if (!begin) return;
  const char *end = begin + sizeof heading - 1;
  for (int examples = 0; *end; end += strcspn(end, "\n") + 1) {
    examples += strncmp(end, "  $ ", 4) == 0;
    if (examples > SOME) break;
  }
  printf("%.*s", (int)(end - begin), begin);
}

/* Prints the exit statuses in a command's notes in short: the first case of each. */
static void print_statuses(const char *notes) {
  static const char heading[] = "Exit status:\n";
  enum { LENGTH = sizeof heading - 1 };
  char statuses[256] = "";
  const char *line = strstr(notes, heading);
  if (!line) return;
  for (line += LENGTH; *line == ' '; line += strcspn(line, "\n") + 1) {
    if (line[2] == ' ') continue; /* more about the same status */
    const char *text = line + 3 + strspn(line + 3, " "), *other = strstr(text, " or ");
    const size_t used = strlen(statuses), first = strcspn(text, ",;\n");
    const int length = (int)(other && other < text + first ? (size_t)(other - text) : first);
    snprintf(statuses + used, sizeof statuses - used, "%s%c %.*s", used ? ", " : "", line[2], length, text);
  }
  printf("%.*s ", LENGTH - 1, heading);
  print_wrapped(statuses, LENGTH);
}

__attribute__((noreturn)) static void print_help(const command *self, bool in_full) {
  printf("%s\n%s", self->usage, in_full ? "Options:\n" : "");
  options_print_help(self->bit, in_full);
  char *notes = placed(self->notes);
  putchar('\n');
  if (in_full) {
    fputs(notes, stdout);
  } else {
    print_statuses(notes);
    print_some_examples(notes);
  }
  free(notes);
  finish(EXIT_SUCCESS);
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* Exits with "not a, b or c", for the words "a|b|c". */
__attribute__((noreturn)) static void die_no_word(const char *name, const char *text, const char *words) {
  char reason[160] = "not ";
  while (*words) {
    const size_t length = strcspn(words, "|"), used = strlen(reason);
    const char *rest = words + length, *separator = !*rest ? "" : strchr(rest + 1, '|') ? ", " : " or ";
    snprintf(reason + used, sizeof reason - used, "%.*s%s", (int)length, words, separator);
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
    if (given->help || given->manual) print_help(given->self, given->manual);
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
