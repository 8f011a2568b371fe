/* SPDX-License-Identifier: MIT */
/* The posenc command: finds the subcommand and runs it. */
#include "cli/options.h"
#include "cli/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const command *const commands[] = {
    &command_list,  &command_write,  &command_check,   &command_diff,  &command_identify, &command_verify,
    &command_bench, &command_choose, &command_compare, &command_merge, &command_report,
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void) {
  fputs("Usage: posenc COMMAND [OPTION]...\n"
        "Sinusoidal positional encodings: write tables of them, hold tables of any maker\n"
        "and the kernels that compute them to the exact values, time these, and publish\n"
        "what was found.\n"
        "\n"
        "Commands:\n",
        stdout);
  for (int i = 0; i < COMMANDS; i++) printf("  %-16s  %s\n", commands[i]->name, commands[i]->summary);
  fputs("\n"
        "Options:\n" HELP_HELP "\n"
        "Each command has a --help of its own.\n"
        "\n"
        "Environment:\n"
        "  POSENC_ISA        instruction sets to use where --isa is not given\n"
        "\n"
        "Exit status:\n"
        "  0                 if all is well\n"
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

static void handle_options(int argc, char **argv) {
  static const struct option long_options[] = {HELP_OPTIONS};
  /* +: what follows the command's name is the command's business. */
  switch (getopt_long(argc, argv, "+hV", long_options, NULL)) {
  case 'h':
    print_help();
    finish(EXIT_SUCCESS);
  case 'V':
    print_version("posenc");
    finish(EXIT_SUCCESS);
  case '?':
    exit(STATUS_ERROR); /* getopt has told why */
  }
}

static const command *find_command(const char *name) {
  const char *nearest = NULL;
  for (int i = 0; i < COMMANDS; i++) {
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
    nearest = nearer_name(name, nearest, commands[i]->name);
  }
  die("%s: no such command%s", *name ? name : "''", hint_of(nearest, "posenc --help tells them").text);
}

/* The library reads it only where it chooses: a mistake in it should not wait for that. */
static void check_environment(void) {
  const char *text = getenv("POSENC_ISA");
  unsigned isa;
  if (text && *text && !posenc_isa_parse(text, &isa)) die_value("POSENC_ISA", text, NOT_TIERS);
}

/* Threads of OpenMP that wait for work would keep a core busy, which on a busy machine others need. Its library reads how to wait before main, so the
 * program starts again. What times kernels has their threads wait as a user's do. */
static void wait_passively(const command *chosen, char **argv) {
  static const char variable[] = "OMP_WAIT_POLICY";
  if (chosen == &command_bench || chosen == &command_choose || chosen == &command_report || getenv(variable)) return;
  if (setenv(variable, "passive", 0) == 0) execv("/proc/self/exe", argv); /* where there is none, they spin */
}

int main(int argc, char **argv) {
  static char program[] = "posenc";
  if (argc == 0) die("a command is missing: posenc --help lists them");
  argv[0] = program; /* getopt's messages begin with it */
  handle_options(argc, argv);
  if (optind == argc) die("a command is missing: posenc --help lists them");
  const command *chosen = find_command(argv[optind]);
  wait_passively(chosen, argv);

  char name[32];
  snprintf(name, sizeof name, "posenc %s", chosen->name);
  set_program(name);
  check_environment();
  argc -= optind;
  argv += optind;
  argv[0] = name;
  optind = 0; /* getopt starts anew */
  finish(chosen->run(argc, argv));
}
