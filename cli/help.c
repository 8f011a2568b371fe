/* SPDX-License-Identifier: MIT */
/* The help of commands, in full and in short, from the rows of cli/options.def and the notes of commands. */
#include "config.h"

#include "cli/options.h"
#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The columns where texts begin, in full and in short. */
enum { INDENT = 20, SHORT_INDENT = 24, WIDTH = 80 };

/* Returns a help text, with the folder of hard-to-round cases where it is installed, if the program is installed beside
   it. */
static char *placed(const char *text) {
  static const char in_tree[] = "reference/worst", installed[] = "share/posenc/worst";
  char program[4096 - sizeof installed] = "", folder[4096];
  const char *at = strstr(text, in_tree);
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  const char *end = strstr(program, "/bin/posenc");
  if (!at || length < 0 || !end || strcmp(end, "/bin/posenc") != 0) return memory_copy_text(text);
  snprintf(folder, sizeof folder, "%.*s/%s", (int)(end - program), program, installed);
  if (access(folder, F_OK) != 0) return memory_copy_text(text);
  return memory_print("%.*s%s%s", (int)(at - text), text, folder, at + sizeof in_tree - 1);
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
static void print_option(const option_help *row, bool in_full) {
  const char letter = row->letter;
  const int indent = in_full ? INDENT : SHORT_INDENT;
  char head[128];
  char with_letter[] = "-?, ";
  with_letter[1] = letter;
  char *text = placed(in_full ? whole(row->text) : shortened(row->text).text);
  const int width = snprintf(head, sizeof head, "  %s--%s%s%s", letter ? with_letter : "", row->name,
                             *row->value.text ? " " : "", row->value.text);
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
  char names[OPTIONS * 24] = "";
  option_help row;
  for (size_t i = 0; options_told(i, &row); i++)
    if (row.commands & commands && row.commands & PROBLEM) strcat(strcat(names, *names ? " --" : "--"), row.name);
  if (!*names) return;
  printf("%sProblem, see posenc help problem:\n  ", in_full ? "\n" : "");
  print_wrapped(names, 2);
}

void options_print_help(unsigned commands, bool in_full) {
  const char *title = NULL; /* of a group of which nothing is printed yet */
  const bool is_page = commands & PROBLEM;
  if (commands != POSENC) puts("Defaults are in brackets, at the end.");
  if (!is_page) print_named(commands, in_full);
  option_help row;
  for (size_t i = 0; options_told(i, &row); i++) {
    if (!row.commands) title = row.text;
    if (!(row.commands & commands) || (row.commands & PROBLEM && !is_page)) continue;
    if (title) printf("%s%s:\n", in_full ? "\n" : "", title);
    title = NULL;
    print_option(&row, in_full);
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

void options_print_page(const command *self, bool in_full) {
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
