/* SPDX-License-Identifier: MIT */
/* The posenc command: finds the subcommand and runs it. */
#include "cli/catalogue.h"
#include "cli/files.h"
#include "cli/identified.h"
#include "cli/model.h"
#include "cli/options.h"
#include "common/memory.h"
#include "common/terminal.h"
#include "verify/verify.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const command *const commands[] = {
    &command_list,    &command_write,  &command_check,  &command_diff,   &command_identify,
    &command_probe,   &command_verify, &command_bench,  &command_choose, &command_compare,
    &command_history, &command_merge,  &command_report, &command_doctor,
};
enum { COMMANDS = sizeof commands / sizeof *commands };
static const char problem_page[] = "problem"; /* taken as a command, though it is only a page of the help */

static void print_help(void) {
  fputs("Usage: posenc COMMAND [OPTION]...\n"
        "Sinusoidal positional encodings: write tables of them, compare tables and the\n"
        "kernels that compute them with the exact values, time kernels, and publish the\n"
        "results.\n"
        "\n"
        "Commands:\n",
        stdout);
  for (int i = 0; i < COMMANDS; i++) printf("  %-16s  %s\n", commands[i]->name, commands[i]->summary);
  printf("\nPages:\n  %-16s  the options that describe a table, or what is done with it\n\n", problem_page);
  options_print_help(POSENC, false);
  fputs("\n"
        "posenc help NAME, or posenc NAME --help, prints the page of a command, or of\n"
        "problem; posenc COMMAND --manual prints all about a command.\n"
        "\n"
        "Environment:\n"
        "  POSENC_ISA        instruction sets to use where --isa is not given\n"
        "  POSENC_COMMIT     the commit of the kernels of plugins, for records\n"
        "\n"
        "Exit status:\n"
        "  0                 on success\n"
        "  1                 if a check failed, or tables differ\n"
        "  2                 on bad input or any other error\n"
        "\n"
        "Examples:\n"
        "  $ posenc write --len 5000 --dim 512 -o table.npy\n"
        "  $ posenc check table.npy --max-ulp 1\n"
        "  $ posenc verify --kernel rotation-portable --len 4096 --dim 512\n"
        "  $ posenc report -o posenc-report\n",
        stdout);
}

/* Prints the page of the options that several commands have for a problem. */
static void print_problem(void) {
  fputs("Usage: posenc COMMAND [OPTION]...\n"
        "Options that describe a problem: a table of positional encodings, or what is\n"
        "done with it. Each command takes those that its --help names; some explain\n"
        "one there that is another thing for them.\n"
        "\n",
        stdout);
  options_print_help(PROBLEM, true);
  fputs("\n"
        "Examples:\n"
        "  $ posenc write --len 5000 --dim 512 --layout split -o table.npy\n"
        "  $ posenc write --len 64 --dim 128 --base 5e5 --scaling llama3,factor=8 \\\n"
        "      -o scaled.npy\n"
        "  $ posenc verify --op rope --len 64 --dim 64 --heads 4 --dtype bf16\n"
        "  $ posenc list --problems\n",
        stdout);
}

static void handle_options(int argc, char **argv) {
  static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                               {"manual", no_argument, NULL, 'h'},
                                               {"version", no_argument, NULL, 'V'},
                                               {NULL, 0, NULL, 0}};
  /* +: options after the command's name are the command's. */
  switch (getopt_long(argc, argv, "+hV", long_options, NULL)) {
  case 'h':
    print_help();
    finish(EXIT_SUCCESS);
  case 'V':
    print_version("posenc");
    finish(EXIT_SUCCESS);
  case '?':
    exit(STATUS_ERROR); /* getopt has printed the error */
  }
}

static bool asks_for_help(const char *argument) {
  return strcmp(argument, "-h") == 0 || strcmp(argument, "--help") == 0 || strcmp(argument, "--manual") == 0;
}

static const command *find_command(const char *name) {
  const char *nearest = nearer_name(name, NULL, problem_page);
  for (int i = 0; i < COMMANDS; i++) {
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
    nearest = nearer_name(name, nearest, commands[i]->name);
  }
  die_unknown(NULL, name, "no such command", nearest, "posenc --help lists them");
}

/* Checks POSENC_ISA. The library reads it only when it chooses a kernel, but an invalid value is an error of every
   command. */
static void check_environment(void) {
  const char *text = getenv("POSENC_ISA");
  if (text && *text) parse_isa("POSENC_ISA", text);
}

/* Makes waiting OpenMP threads sleep, because spinning threads would keep cores busy that other processes need. OpenMP
   reads its policy before main, so the program starts again. In commands that time kernels, or run commands that do,
   threads wait as in a user's program. */
static void wait_passively(const command *chosen, char **argv) {
  static const char variable[] = "OMP_WAIT_POLICY";
  if (chosen->bit & (BENCH | CHOOSE | COMPARE | REPORT) || getenv(variable)) return;
  if (setenv(variable, "passive", 0) == 0) execv("/proc/self/exe", argv); /* without /proc, threads spin */
}

int main(int argc, char **argv) {
  static char program[] = "posenc";
  memory_hold_json();
  if (argc == 0) die("a command is missing: posenc --help lists them");
  argv[0] = program; /* getopt's messages begin with it */
  handle_options(argc, argv);
  if (optind == argc) die("a command is missing: posenc --help lists them");
  static char help[] = "--help";
  if (strcmp(argv[optind], "help") == 0 && optind + 1 < argc) { /* "help CMD" means "CMD --help" */
    const bool says_how = optind + 2 < argc && asks_for_help(argv[optind + 2]);
    const int end = optind + 2 + says_how;
    if (end < argc) die("help: extra operand '%s'", argv[end]);
    if (says_how) {
      optind++;
    } else {
      argv[optind] = argv[optind + 1];
      argv[optind + 1] = help;
    }
  }
  if (strcmp(argv[optind], "help") == 0 || asks_for_help(argv[optind])) {
    print_help();
    finish(EXIT_SUCCESS);
  }
  if (strcmp(argv[optind], problem_page) == 0) {
    for (optind++; optind < argc; optind++)
      if (!asks_for_help(argv[optind])) die("%s: extra operand '%s'", problem_page, argv[optind]);
    print_problem();
    finish(EXIT_SUCCESS);
  }
  const command *chosen = find_command(argv[optind]);
  wait_passively(chosen, argv);

  char name[32];
  snprintf(name, sizeof name, "posenc %s", chosen->name);
  program_set(name);
  check_environment();
  argc -= optind;
  argv += optind;
  argv[0] = name;
  optind = 0; /* resets getopt */
  static options given;
  given = options_defaults();
  given.self = chosen;
  if (chosen->bit == VERIFY) given.silence = VERIFY_DEFAULT_SILENCE;
  options_read(&given, argc, argv);
  if (given.expect) expect_require("--expect", given.expect);
  take_model(&given);
  refuse_overwriting(&given);
  for (size_t i = 0; i < given.plugins.count; i++) catalogue_add(given.plugins.items[i], given.silence);
  rename_kernels(&given);
  finish(chosen->run(&given));
}
