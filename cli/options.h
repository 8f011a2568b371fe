/* SPDX-License-Identifier: MIT */
/* Options that several subcommands take, and their values. */
#ifndef POSENC_CLI_OPTIONS_H
#define POSENC_CLI_OPTIONS_H

#include "cli/message.h"
#include "common/isolate.h"
#include "common/shapes.h"
#include "common/shard.h"
#include "posenc.h"

#include <getopt.h>
#include <stdio.h>

/* ---- commands ---------------------------------------------------------------------------------- */

typedef struct command {
  const char *name;
  const char *summary;       /* one line, for posenc --help */
  const char *help;          /* all of COMMAND --help, in the form that help2man reads */
  const char *short_options; /* as for getopt */
  const struct option *long_options;
  bool operands;                     /* takes operands; any other command refuses them */
  int (*run)(int argc, char **argv); /* argv[0] is "posenc COMMAND"; the exit status */
} command;

extern const command command_list, command_write, command_check, command_diff, command_identify, command_verify,
    command_bench, command_choose, command_compare, command_merge, command_report;

/* ---- options that several commands have -------------------------------------------------------- */

enum option_code {
  OPTION_LEN = 256, /* above any short option */
  OPTION_DIM,
  OPTION_BASE,
  OPTION_CHOOSE_BASE,
  OPTION_OFFSET,
  OPTION_SCALE,
  OPTION_SCALING,
  OPTION_SHIFT,
  OPTION_PADDING,
  OPTION_ODD,
  OPTION_POSITIONS,
  OPTION_LAYOUT,
  OPTION_DTYPE,
  OPTION_HEADS,
  OPTION_INVERSE,
  OPTION_OP,
  OPTION_KERNEL,
  OPTION_MAX_ULP,
  OPTION_MAX_ABS,
  OPTION_PLUGIN,
  OPTION_THREADS,
  OPTION_ISA,
  OPTION_STORES,
  OPTION_SEED,
  OPTION_BUDGET,
  OPTION_EXHAUSTIVE,
  OPTION_BRIEF,
  OPTION_SEARCH,
  OPTION_TIME_LIMIT,
  OPTION_REPETITIONS,
  OPTION_MIN_TIME,
  OPTION_BATCH,
  OPTION_SHARD,
  OPTION_OWN, /* the first code that a command may use for itself */
};

/* What the help tells. */
#define DEFAULT_REPETITIONS 9
#define DEFAULT_MIN_TIME 0.01
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/* Rows of a command's long_options, and the lines of its help. The table ends with HELP_OPTIONS. */
/* clang-format off */
#define FORMULA_OPTIONS \
  {"base", required_argument, NULL, OPTION_BASE}, \
  {"choose-base", required_argument, NULL, OPTION_CHOOSE_BASE}, \
  {"offset", required_argument, NULL, OPTION_OFFSET}, \
  {"scale", required_argument, NULL, OPTION_SCALE}, \
  {"scaling", required_argument, NULL, OPTION_SCALING}, \
  {"shift", required_argument, NULL, OPTION_SHIFT}, \
  {"padding", required_argument, NULL, OPTION_PADDING}, \
  {"layout", required_argument, NULL, OPTION_LAYOUT}
#define FORMULA_HELP \
  "  --base B          base of the frequencies, above 0 (10000)\n" \
  "  --choose-base L   the base for sequences of about L positions, 10 L / 2 pi\n" \
  "  --offset P        first position (0)\n" \
  "  --scale S         of positions: 0.5 has twice as many in the same angles (1)\n" \
  "  --scaling KIND[,KEY=VALUE]...\n" \
  "                    of RoPE frequencies: linear, dynamic, yarn, llama3 or longrope;\n" \
  "                    posenc list tells their keys (none)\n" \
  "  --shift S         the exponent is i/(D/2 - S): 0 in the paper, 1 in fairseq\n" \
  "                    and Whisper (0)\n" \
  "  --padding P       position whose row is all zeros (none)\n" \
  "  --layout NAME     interleaved, interleaved-cs, split or split-cs (interleaved); of\n" \
  "                    a rope cache duplicated, interleaved or split (duplicated)\n"

/* Of what the library makes of kernels' tables: no kernel has them. */
#define ROWS_OPTIONS \
  {"positions", required_argument, NULL, OPTION_POSITIONS}, \
  {"odd", required_argument, NULL, OPTION_ODD}
#define ROWS_HELP \
  "  --positions LIST  positions of the rows in any order, with commas, negative and\n" \
  "                    fractional ones too; or a file of them, .npy or text. They say\n" \
  "                    how many rows there are, and where they begin\n" \
  "  --odd POLICY      of an odd number of columns: refuse, pad (the last one is zeros)\n" \
  "                    or ceil (one more sine than cosine) (refuse)\n"

#define TABLE_OPTIONS \
  {"len", required_argument, NULL, OPTION_LEN}, \
  {"dim", required_argument, NULL, OPTION_DIM}, \
  FORMULA_OPTIONS, \
  {"dtype", required_argument, NULL, OPTION_DTYPE}
#define TABLE_HELP_OF(columns) \
  "  --len L           positions, 0 or more\n" \
  "  --dim D           " columns "\n" FORMULA_HELP \
  "  --dtype NAME      f32, f64, f16 or bf16 (f32)\n"
#define TABLE_HELP TABLE_HELP_OF("columns, even")

#define OP_OPTIONS \
  {"op", required_argument, NULL, OPTION_OP}, \
  {"heads", required_argument, NULL, OPTION_HEADS}, \
  {"inverse", no_argument, NULL, OPTION_INVERSE}
#define OP_HELP \
  "  --op NAME         table; add: x + the table; rope: pairs of x turned by their\n" \
  "                    angles; or rope-cache: the tables of cosines and of sines that\n" \
  "                    are kept for it (table; without --len and --dim, all)\n" \
  "  --heads H         of rope: vectors of D elements at each position (1)\n" \
  "  --inverse         of rope: turn back\n"

#define KERNEL_OPTIONS {"kernel", required_argument, NULL, OPTION_KERNEL}
#define KERNEL_HELP "  --kernel GLOBS    only the kernels of these names; several with commas; 'recipe/*' is\n" \
  "                    how shipped frameworks compute it, which is no default (*)\n"

#define CHOICE_OPTIONS {"max-ulp", required_argument, NULL, OPTION_MAX_ULP}
#define CHOICE_HELP \
  "  --max-ulp U       without --kernel: largest error in ulp, above 0; 0.5 is correct\n" \
  "                    rounding (one ulp just below 1; 2^-44 for f64)\n"

#define LIMIT_OPTIONS \
  {"max-ulp", required_argument, NULL, OPTION_MAX_ULP}, \
  {"max-abs", required_argument, NULL, OPTION_MAX_ABS}
#define LIMIT_HELP \
  "  --max-ulp U       largest error allowed, in ulp of the exact value\n" \
  "  --max-abs E       or in absolute terms\n"

#define PLUGIN_OPTIONS {"plugin", required_argument, NULL, OPTION_PLUGIN}
#define PLUGIN_HELP \
  "  --plugin FILE     also the kernels of this shared object, see POSENC_PLUGIN in\n" \
  "                    posenc.h; may be given several times\n"

#define ISA_OPTIONS {"isa", required_argument, NULL, OPTION_ISA}
#define ISA_HELP \
  "  --isa TIERS       instruction sets to use: generic, avx2, avx512; several with\n" \
  "                    commas; -TIER for all but that one (POSENC_ISA, or all)\n"

#define RUN_OPTIONS \
  {"threads", required_argument, NULL, OPTION_THREADS}, ISA_OPTIONS, {"stores", required_argument, NULL, OPTION_STORES}
#define RUN_HELP \
  "  --threads N       threads of threaded kernels, 0 for as many as OpenMP gives (0)\n" ISA_HELP \
  "  --stores WAY      through the caches or past them: auto, regular or streaming;\n" \
  "                    for kernels that have both ways (auto)\n"

#define VERIFY_OPTIONS \
  {"seed", required_argument, NULL, OPTION_SEED}, \
  {"budget", required_argument, NULL, OPTION_BUDGET}, \
  {"exhaustive", no_argument, NULL, OPTION_EXHAUSTIVE}, \
  {"brief", no_argument, NULL, OPTION_BRIEF}, \
  {"search", required_argument, NULL, OPTION_SEARCH}
#define VERIFY_HELP \
  "  --seed N          seed of what is sampled, and of x (" TEXT(VERIFY_DEFAULT_SEED) ")\n" \
  "  --budget N        sine-cosine pairs of a table that are compared, if the kernel\n" \
  "                    promises correct rounding, else a 16th; of add and rope a 32nd,\n" \
  "                    of a rope cache a 256th; beyond, a sample\n" \
  "                    (" TEXT(VERIFY_DEFAULT_BUDGET) ")\n" \
  "  --exhaustive      every element, however large the table\n" \
  "  --brief           the shapes alone: no other positions, dims, alignments, sizes and\n" \
  "                    numbers of calls\n" \
  "  --search N        sine-cosine pairs, at positions up to 2^40, that a directed\n" \
  "                    search for the worst case looks at; 0 for none; tables\n" \
  "                    alone (" TEXT(VERIFY_DEFAULT_SEARCH) ")\n"

/* Of commands that run kernels, which they do in processes of their own. */
#define PATIENCE_OPTIONS {"time-limit", required_argument, NULL, OPTION_TIME_LIMIT}
#define PATIENCE_HELP \
  "  --time-limit S    seconds that a kernel may go without a sign of life; before a\n" \
  "                    --plugin, also for loading it (" TEXT(ISOLATE_DEFAULT_SILENCE) ")\n"

#define BENCH_OPTIONS \
  {"repetitions", required_argument, NULL, OPTION_REPETITIONS}, \
  {"min-time", required_argument, NULL, OPTION_MIN_TIME}, \
  {"batch", required_argument, NULL, OPTION_BATCH}
#define BENCH_HELP \
  "  --repetitions N   timings of each benchmark, 3 or more (" TEXT(DEFAULT_REPETITIONS) ")\n" \
  "  --min-time S      seconds of one timing, about (" TEXT(DEFAULT_MIN_TIME) ")\n" \
  "  --batch B         of add and rope: sequences of x (1)\n"

#define SHARD_OPTIONS {"shard", required_argument, NULL, OPTION_SHARD}
#define SHARD_HELP \
  "  --shard I/N       of N shards of the run this one alone, 1 to N; posenc merge makes\n" \
  "                    one record of all\n"

#define HELP_OPTIONS \
  {"help", no_argument, NULL, 'h'}, \
  {"version", no_argument, NULL, 'V'}, \
  {NULL, 0, NULL, 0}
#define HELP_HELP \
  "  -h, --help        print this help, then exit\n" \
  "  -V, --version     print the version, then exit\n"
/* clang-format on */

/* The values of these options. */
typedef struct options {
  posenc_problem problem;
  bool tables_alone;  /* set by a command of tables alone: --op takes no other operations */
  bool takes_odd;     /* set by a command that has --odd */
  const char *kernel; /* globs, null if not given */
  double max_ulp;     /* 0 if not given */
  double max_abs;     /* likewise */
  int threads;
  unsigned isa;
  posenc_stores stores;
  int64_t seed;
  int64_t budget;
  int64_t search;
  bool brief;
  double silence;
  int repetitions;
  double min_time;
  int64_t batch;
  shard only;
  int64_t factors;                            /* of longrope, how many were given */
  const char *texts[OPTION_OWN - OPTION_LEN]; /* as given on the command line, null if not given */
} options;

options options_defaults(void);

/* The next option that is the command's own, with its value in optarg; -1 at the end. Options that commands share
   are taken in, --help and --version end the program, and so does anything wrong. */
int options_next(options *given, const command *self, int argc, char **argv);

/* Takes in the value of an option of a problem that a file says of itself, under that key. */
void options_record(options *given, int code, const char *key, const char *text, const char *file);

/* Whether a problem was described, by more than its operation. Exits if it was described in part, or if there is no such problem. */
bool options_have_table(const options *given);

/* The same where the file of that path says how many rows and columns there are, of which dtype, and the problem has them already. Exits if
   there is no such problem. */
void options_require_table(const options *given, const char *path);

/* Exits if an option of the codes `from` to `to` was given, which nothing would use beside the option `beside`. */
void options_refuse(const options *given, int from, int to, const char *beside);

/* The kernels that --kernel selects, as a new array. Exits if there are none. */
const posenc_kernel **options_kernels(const options *given, size_t *count);

/* Whether --kernel has it by its name, and not by a pattern. */
bool options_name_kernel(const options *given, const posenc_kernel *kernel);

/* What the library is told for this kernel; null lets the library choose. */
posenc_options options_of_plan(const options *given, const posenc_kernel *kernel);

/* The kernel of exactly this name. Exits if there is none. */
const posenc_kernel *find_kernel(const char *name);

#endif
