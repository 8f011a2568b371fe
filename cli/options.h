/* SPDX-License-Identifier: MIT */
/* The options of all subcommands, which cli/options.def lists: reading them, and their help. */
#ifndef POSENC_CLI_OPTIONS_H
#define POSENC_CLI_OPTIONS_H

#include "common/run.h"
#include "common/shapes.h"
#include "common/work.h"
#include "inspect/models/model.h"
#include "posenc.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- messages -------------------------------------------------------------------------------------------- */

/* Messages, exits, quoting for a shell, and suggestions for unknown names. */

/* The value of a macro as text. */
#define TEXT_OF_EXPANDED(x) #x
#define TEXT_OF(x) TEXT_OF_EXPANDED(x)

/* Exit statuses, beside EXIT_SUCCESS. */
enum { STATUS_FAILED_CHECK = 1, STATUS_ERROR = 2 };

/* Must be called when a plugin is loaded: leave() then does not run destructors. */
void set_plugins(void);

/* Prints one line on stderr. */
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);

/* Prints one line on stderr and exits with STATUS_ERROR. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

/* Exits as die, with the value of an option or of an environment variable in the message. */
__attribute__((noreturn)) void die_value(const char *option, const char *value, const char *reason);

/* Exits with the status, or with STATUS_ERROR if standard output could not be written. */
__attribute__((noreturn)) void finish(int status);

/* Exits with the status, without destructors and exit handlers of plugins. */
__attribute__((noreturn)) void leave(int status);

/* Prints "PROGRAM (posenc) VERSION" and the license, as GNU programs do. */
void print_version(const char *program);

/* Prints the word, quoted so that a shell reads it as one word. */
void print_quoted(FILE *stream, const char *word);

/* Returns "FIRST WORD WORD", with the words quoted for a shell, as a new string; an empty FIRST is left out. */
char *quoted_line(const char *first, size_t count, const char *const *words);

/* Returns the name, a or b, at the smaller edit distance from `wanted`. a may be null; b is not considered if more than
   half of its letters differ. */
const char *nearer_name(const char *wanted, const char *a, const char *b);

/* Exits with "WHERE NAME: PROBLEM; did you mean 'NEAREST'?", or with "...; HINT" if nearest is null. A null `where` is
   left out. */
__attribute__((noreturn)) void die_unknown(const char *where, const char *name, const char *problem,
                                           const char *nearest, const char *hint);

/* ---- options --------------------------------------------------------------------------------------------- */

enum { THREADS_MAX = 1024, REPETITIONS_MIN = 3, REPETITIONS_MAX = 10000, BLOCKS_MIN = 1, BLOCKS_MAX = 1000 };

/* Defaults that help texts contain. */
#define DEFAULT_REPETITIONS 9
#define DEFAULT_MIN_TIME 0.01
#define CHOOSE_REPETITIONS 7
#define CHOOSE_THREADS 1
/* Defaults of compare --run. tools/timing-power.sh measures which slowdowns it finds with them. */
#define RUN_BLOCKS 16
#define RUN_REPETITIONS 15
#define RUN_MIN_TIME 0.001

/* ---- commands ---------------------------------------------------------------------------------- */

enum command_bit {
  LIST = 1 << 0,
  WRITE = 1 << 1,
  CHECK = 1 << 2,
  DIFF = 1 << 3,
  IDENTIFY = 1 << 4,
  VERIFY = 1 << 5,
  BENCH = 1 << 6,
  CHOOSE = 1 << 7,
  COMPARE = 1 << 8,
  MERGE = 1 << 9,
  REPORT = 1 << 10,
  DOCTOR = 1 << 11,
  PROBE = 1 << 12,
  HISTORY = 1 << 13,
  POSENC = 1 << 14, /* the program itself, before the name of a command */
  EVERY_COMMAND = (1 << 15) - 1,
  PROBLEM = 1 << 15, /* no command, but the page of options that describe a problem */
  TO_STDOUT = LIST | CHECK | DIFF | IDENTIFY | VERIFY | BENCH | CHOOSE | COMPARE | HISTORY | MERGE |
              DOCTOR, /* or to --output */
  HAS_FORMULA = WRITE | CHECK | VERIFY | BENCH | CHOOSE | REPORT,
};

typedef struct options options;

typedef struct command {
  unsigned bit; /* a bit of enum command_bit */
  const char *name;
  const char *summary; /* one line, for posenc --help */
  const char *usage;   /* the help text before the options, in the form that help2man reads */
  const char *notes;   /* the help text after the options */
  int operands_least, operands_most;
  const char *operand_missing; /* the message if there are fewer */
  int (*run)(options *given);  /* returns the exit status */
} command;

extern const command command_list, command_write, command_check, command_diff, command_identify, command_verify,
    command_bench, command_choose, command_compare, command_history, command_merge, command_report, command_doctor,
    command_probe;

/* ---- options ----------------------------------------------------------------------------------- */

enum option_code {
#define OPTION(code, letter, name, commands, kind, value, help) OPTION_##code,
#include "cli/options.def"
  OPTIONS
};

/* A set of options: their codes, with OPTIONS after the last. */
typedef const unsigned char *option_set;
#define ANY_OF(...) ((const unsigned char[]){__VA_ARGS__, OPTIONS})
_Static_assert(OPTIONS <= UCHAR_MAX, "a code of a set is a byte");

/* Parts of sets. */
#define SET(code) OPTION_##code
#define SIZE_SET SET(LEN), SET(DIM), SET(OFFSET), SET(POSITIONS), SET(DTYPE), SET(HEADS)
#define MODEL_SET SET(CONFIG), SET(LAYER_TYPE), SET(CONTEXT)
#define FORMULA_SET                                                                                                    \
  MODEL_SET, SET(BASE), SET(CHOOSE_BASE), SET(SCALE), SET(SCALING), SET(SHIFT), SET(PADDING), SET(ODD), SET(LAYOUT),   \
      SET(INVERSE), SET(GRID)
#define PROBLEM_SET SIZE_SET, FORMULA_SET
#define KERNEL_SET SET(KERNEL), SET(PLUGIN), SET(MAX_ULP), SET(MAX_ABS), SET(THREADS), SET(ISA), SET(STORES)
#define BUDGET_SET SET(BUDGET), SET(EXHAUSTIVE), SET(BRIEF), SET(SEARCH)
#define TIMING_SET SET(REPETITIONS), SET(MIN_TIME), SET(BATCH)

/* The values of an option that may be given several times, in order. */
typedef struct texts {
  const char **items;
  size_t count;
} texts;

struct options {
  const command *self;
  const char *command_line;  /* quoted for a shell */
  const char *shard_command; /* command_line without the shard and the output */
  char **operands;           /* ends with a null pointer */
  size_t operand_count;
  const char *texts[OPTIONS]; /* the value of each option as given, "" if it takes none; null if it is not given */
  int64_t factors;            /* number of factors of --scaling longrope */
  posenc_axes *grid;          /* problem.axes, whose pairs are 0 until dim is known */
  int64_t places;             /* number of places of the grid */
  bool is_grid_shown;         /* the grid is the one that the values show; none is given */
  model *model;               /* the files of --config, open until the program ends; or null */
  model_rope rope;            /* the rope of its layers of --layer-type */
  bool has_angles;            /* the file has angles or frequencies, which no attention factor multiplies */

  posenc_problem problem;
  const char *kernel;      /* globs, null if not given */
  double max_ulp, max_abs; /* 0 if not given */
  int threads;
  unsigned isa;
  posenc_stores stores;
  double silence;
  int64_t seed, budget, search;
  double seconds; /* time limit of a report or of compare --run, in seconds; 0: none */
  bool brief, explain, profile, propose_bound;
  int repetitions;
  double min_time;
  int64_t batch;
  int64_t rows, calls; /* of choose: rows of a call, and calls of a plan; 0 if not given */
  unsigned modes;      /* a set of 1 << bench_mode */
  shard only;
  double growth, slower, alpha;
  int blocks;
  bool run_programs, fail_undecided;
  bool resume, help, manual, version, problems, encodings, full, all, allow_new, allow_environment, as_config;
  const char *config, *layer_type, *expect;
  int64_t context;
  double shown_length; /* the length of the sequence that a file shows; 0: it is that of --context or of the rows */
  /* Words for a length that a file shows, for one that it does not show well enough to tell the base, for a wrong one,
     and for one that nothing tells; or "". */
  char length_shown[100], length_unchecked[100], length_cause[160], length_open[160];
  const char *x, *x_tensor, *axes;
  int64_t start;
  const char *output; /* "-" if not given */
  const char *format, *encoding, *table, *tensor, *part, *save, *baseline, *memory, *plot, *keep, *by, *order, *since,
      *github, *packages;
  texts plugins, tensors, cases, from, labels, beside;
};

options options_defaults(void);

/* Reads the command line of a subcommand; argv[0] is "posenc COMMAND". The program ends after --help, --version and any
   error. */
void options_read(options *given, int argc, char **argv);

static inline bool is_given(const options *given, enum option_code code) {
  return given->texts[code];
}

static inline bool format_is(const options *given, const char *word) {
  return given->format && strcmp(given->format, word) == 0;
}

/* Reads the value that a file's metadata have under `key` as a value of that option. Errors name file and key. */
void options_record(options *given, enum option_code code, const char *key, const char *text, const char *file);

/* Whether the command has the option. */
bool options_knows(const options *given, enum option_code code);

/* Sets an option's value to its default. */
void options_reset(options *given, enum option_code code);

/* Exits with "--dim 7: REASON OTHER" for an option that was given with 7. */
_Noreturn void options_die(const options *given, enum option_code code, const char *reason, const char *other);

bool option_set_has(option_set set, enum option_code code);

/* Returns the first option of the set that was given, in the order of options.def, or OPTIONS. */
enum option_code options_first_given(const options *given, option_set set);

/* Exits if an option of the set was given, because it has no effect together with `other`. */
void options_refuse(const options *given, option_set set, const char *other);

/* ---- help (help.c) ----------------------------------------------------------------------------- */

/* The name of an option's value in the help. */
typedef struct option_value {
  char text[96];
} option_value;

/* The words of the help for a row of cli/options.def: an option, or the title of a group, which is of no command. */
typedef struct option_help {
  unsigned commands;
  const char *name;
  char letter;        /* 0 if it has none */
  option_value value; /* "FILE", or its words, as in "f32|f64"; "" if it has none */
  const char *text;
} option_help;

/* Returns false behind the last row. */
bool options_told(size_t row, option_help *told);

/* Prints the options that the commands of these bits have, in groups: in full, or a line of each if it fits. */
void options_print_help(unsigned commands, bool in_full);

/* Prints all about a command, or its page in short, and exits. */
_Noreturn void options_print_page(const command *self, bool in_full);

/* ---- the problem ------------------------------------------------------------------------------- */

/* Whether a problem was described by more than its operation. Exits if the description is incomplete, or if it is
   invalid. */
bool options_have_table(const options *given);

/* Exits if the problem is invalid. Rows, columns and dtype come from the file of that path, which the message names. */
void options_require_table(const options *given, const char *path);

/* Returns the options of a plan with this kernel. With null, the library chooses the kernel. */
posenc_options options_of_plan(const options *given, const posenc_kernel *kernel);

/* Returns the reason why a plan with this kernel cannot be of the problem, or of any problem if it is null; null if
   there is none. */
const char *options_refusal(const options *given, const posenc_kernel *kernel, const posenc_problem *problem);

/* ---- values ---------------------------------------------------------------------------------------------- */

/* Parses the values of options. Each function exits with a message if the value is invalid. */

int64_t parse_integer(const char *option, const char *text, int64_t least, int64_t most);

/* Reads a finite number. */
double parse_real(const char *option, const char *text);
double parse_positive(const char *option, const char *text);
unsigned parse_isa(const char *option, const char *text);

/* Reads numbers, "5,10,-0.5", into *values, which is kept until the program ends. Returns how many. If files are
   allowed, the text may also be the name of a file, with or without a @ before it. */
int64_t parse_numbers(const char *option, const char *text, const char *between, bool files, const double **values);

/* Reads "KIND,key=value,...", see common/shapes.h. Returns the number of longrope's factors. */
int64_t parse_scaling(const char *option, const char *text, bool files, posenc_scaling *scaling);

/* Returns new axes, which stay until the program ends; axes without `pairs` have 0 pairs. *rows is the number of places
   of the grid, or the length of its lists. files: lists may be read. Exits if the text is invalid. */
posenc_axes *parse_grid(const char *option, const char *text, bool files, int64_t *rows);

/* Reads "I/N", or "auto" with an optional ":LAUNCHER" and "/N". With "auto", variables of the environment determine the
   shard. Exits with a message if they do not, or if they contradict each other. */
shard shard_read(const char *option, const char *text);

/* Returns the name of a file, with the number of the shard for each %I. It is valid until the program ends. */
const char *shard_output(shard part, const char *name);

/* Returns the words of a command line, without --shard, --output and --resume, quoted for a shell, as a new string. */
const char *shard_command(int argc, char **argv);

#endif
