/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "records/compare.h"

#include "cli/files.h"
#include "cli/options.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/output.h"
#include "reports/report.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char usage[] = "Usage: posenc history FOLDER|FILE|refs/notes/NAME... [OPTION]...\n"
                            "Print since which commit a kernel is slower or less accurate, from records of\n"
                            "many commits: of posenc verify --format json, of posenc bench --format json, and\n"
                            "report.json of posenc report. Of a folder, all files FILE.json in it and in the\n"
                            "folders below are read; of git's notes, as refs/notes/NAME, all that the\n"
                            "repository in the current folder has. Nothing is printed if nothing has changed.\n";
static const char notes[] = "Each kernel and shape is a series for each CPU: machines are never mixed. A\n"
                            "point is a commit, or with --order date a date; its time is the median of all\n"
                            "its repetitions, as a share of the limit that was measured beside them, where\n"
                            "the record has one. Records of commits without a place in the order are left\n"
                            "out, with a line. Facts of the environment that changed at the same point are\n"
                            "told with a change.\n"
                            "\n"
                            "The commit of a note is that which it is of. That of another record is posenc's\n"
                            "own, or what POSENC_COMMIT was when the record was made: for plugins, that of\n"
                            "their repository.\n"
                            "\n"
                            "Accuracy is compared exactly, by the errors and bits of the same elements:\n"
                            "'bits' are other bits with the same errors. Times have change points, which\n"
                            "E-divisive finds (Matteson and James, 2014) and random orders of the points\n"
                            "test. The size is the median of the ratios of points after to points before,\n"
                            "with an interval of 95 %; p is corrected for the number of series. A change\n"
                            "takes four points on either side. Instructions, where a record has their\n"
                            "number, are told where it is another by a thousandth or more.\n"
                            "\n"
                            "Markdown has a table of the changes; HTML is a page, with a picture of each\n"
                            "series.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 if the newest points are no worse\n"
                            "  1                 if that of a series is worse than before a change told\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc history before after\n"
                            "  $ posenc history before after --since 2026-01-31 --format markdown\n"
                            "  $ posenc history before/bench.json after/bench.json --order date\n"
                            "  $ posenc history before after --format html -o history.html\n";

/* ---- git ---- */

enum { LINE = 200 };

/* The lines that a command of git prints. */
typedef struct lines {
  char **all;
  size_t count;
  bool ok; /* whether it succeeded */
} lines;

/* Opens what a command of git prints. */
static FILE *open_git(size_t count, const char *const *arguments) {
  char *shell_line = quoted_line("exec 2>/dev/null; git", count, arguments);
  fflush(NULL);
  FILE *printed = popen(shell_line, "r");
  if (!printed) die("git: %s", strerror(errno));
  free(shell_line);
  return printed;
}

static lines run_git(size_t count, const char *const *arguments) {
  FILE *printed = open_git(count, arguments);
  lines made = {0};
  char line[LINE];
  while (fgets(line, sizeof line, printed)) {
    line[strcspn(line, "\n")] = '\0';
    made.all = memory_grow(made.all, made.count + 1, sizeof(*made.all));
    made.all[made.count++] = memory_copy_text(line);
  }
  const int status = pclose(printed);
  made.ok = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
  return made;
}

static void discard(lines *of) {
  for (size_t i = 0; i < of->count; i++) free(of->all[i]);
  free(of->all);
}

/* Returns the commits of the repository, oldest first. */
static lines list_commits(void) {
  static const char *const arguments[] = {"rev-list", "--first-parent", "--reverse", "HEAD"};
  return run_git(sizeof arguments / sizeof *arguments, arguments);
}

/* Returns the commit that the repository calls so, or the text itself, as a new string. */
static char *full_commit(const char *text) {
  char wanted[LINE];
  snprintf(wanted, sizeof wanted, "%s^{commit}", text);
  lines found = run_git(5, (const char *const[]){"rev-parse", "--verify", "--quiet", "--end-of-options", wanted});
  char *commit = memory_copy_text(found.ok && found.count ? found.all[0] : text);
  discard(&found);
  return commit;
}

/* ---- records ---- */

/* The records that were read. */
typedef struct inputs {
  history *all;
  size_t count;
} inputs;

/* Takes a record over. */
static void add_record(inputs *in, const char *file, const char *commit, json_t *record) {
  char why[400];
  if (!record_is_utf8(file)) die("%s: its name is not UTF-8", file);
  if (!history_add(in->all, file, commit, record, why, sizeof why)) die("%s: %s", file, why);
  in->count++;
}

static void read_file(inputs *in, const char *path) {
  add_record(in, path, NULL, load_json(NULL, path, JSON_REJECT_DUPLICATES));
}

/* Whether a stream has anything but blanks before its end. */
static bool has_more(FILE *stream) {
  int c;
  do c = getc(stream);
  while (c == ' ' || c == '\n' || c == '\r' || c == '\t');
  return ungetc(c, stream) != EOF;
}

/* Reads the records of a note, one after the other, as git notes append leaves them. */
static void read_note(inputs *in, const char *object, const char *commit) {
  FILE *printed = open_git(3, (const char *const[]){"cat-file", "blob", object});
  json_error_t error;
  while (has_more(printed)) {
    json_t *record = record_load(printed, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
    if (!record) die("the note of commit %s: %s", commit, error.text);
    add_record(in, object, commit, record);
  }
  pclose(printed);
}

static bool is_notes(const char *operand) {
  return strncmp(operand, "refs/notes/", strlen("refs/notes/")) == 0;
}

static void read_notes(inputs *in, const char *ref) {
  lines list = run_git(4, (const char *const[]){"notes", "--ref", ref, "list"});
  for (size_t i = 0; i < list.count; i++) {
    char *object = list.all[i], *commit = strchr(object, ' ');
    if (!commit) continue;
    *commit++ = '\0';
    read_note(in, object, commit);
  }
  discard(&list);
}

static bool is_folder(const char *path) {
  struct stat of;
  return stat(path, &of) == 0 && S_ISDIR(of.st_mode);
}

static int is_visible(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

static void read_folder(inputs *in, const char *path) {
  struct dirent **entries;
  const int count = scandir(path, &entries, is_visible, alphasort);
  if (count < 0) die("%s: %s", path, strerror(errno));
  for (int i = 0; i < count; i++) {
    char inner[PATH_MAX];
    const size_t length = (size_t)snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
    if (length >= sizeof inner) die("%s: a name in it is too long", path);
    const char *dot = strrchr(entries[i]->d_name, '.');
    if (is_folder(inner))
      read_folder(in, inner);
    else if (dot && strcmp(dot, ".json") == 0)
      read_file(in, inner);
    free(entries[i]);
  }
  free(entries);
}

static inputs read_records(const options *given) {
  inputs in = {history_open(), 0};
  for (size_t i = 0; i < given->operand_count; i++) {
    const size_t before = in.count;
    const char *operand = given->operands[i];
    if (is_notes(operand))
      read_notes(&in, operand);
    else
      (is_folder(operand) ? read_folder : read_file)(&in, operand);
    if (in.count == before)
      die("%s: it has no records%s", operand, is_notes(operand) ? ", or there is no repository here" : ", FILE.json");
  }
  return in;
}

/* Puts the records in order. The commits must outlive the history. */
static void order(const options *given, inputs *in, const lines *commits) {
  const bool by_git = given->order ? strcmp(given->order, "git") == 0 : commits->ok;
  if (by_git && !commits->ok) die("--order git: there is no repository here, or no git");
  if (!history_order(in->all, by_git ? commits->all : NULL, commits->count))
    die(by_git ? "no record is of a commit of the repository here: see --order date" : "no record has a date");
}

/* ---- the command ---- */

static void note_left_out(const record_history *found) {
  const bool by_git = strcmp(found->order, "git") == 0;
  RECORD_EACH(one, found, left_out) {
    if (by_git)
      note("%s: left out, as its commit, %s, is not among the first parents here", one->file,
           *one->commit ? one->commit : "unknown");
    else
      note("%s: left out, as it has no date", one->file);
  }
}

static void print(const options *given, const record_history *found) {
  output *out = open_output("--output", given->output);
  FILE *stream = output_stream(out);
  if (format_is(given, "json"))
    record_print(record_write_history(found), stream);
  else if (format_is(given, "markdown"))
    history_write_markdown(found, stream);
  else if (!format_is(given, "html"))
    history_print_text(found, stream);
  else if (!history_write_html(found, stream))
    leave(STATUS_ERROR);
  close_output("--output", given->output, out);
}

static int run(options *given) {
  if (!is_given(given, OPTION_ALPHA)) given->alpha = HISTORY_DEFAULT_ALPHA;
  if (!(given->alpha > 0.0 && given->alpha < 1.0))
    die_value("--alpha", given->texts[OPTION_ALPHA], "not between 0 and 1");
  const char *refusal = format_is(given, "html") ? report_refusal() : NULL;
  if (refusal) die("--format html: %s", refusal);
  inputs in = read_records(given);
  lines commits = list_commits();
  order(given, &in, &commits);
  char *since = given->since && commits.ok ? full_commit(given->since) : NULL;
  const history_terms terms = {given->alpha, (uint64_t)given->seed, since ? since : given->since};
  record_memory memory = {NULL};
  record_history found;
  if (!history_find(in.all, &terms, &memory, &found))
    die_value("--since", given->since, "neither a date, as 2026-11-28, nor a commit in the order of the records");
  note_left_out(&found);
  print(given, &found);
  const int status = found.worse > 0 ? STATUS_FAILED_CHECK : EXIT_SUCCESS;
  record_release(&memory);
  history_close(in.all);
  discard(&commits);
  free(since);
  return status;
}

const command command_history = {
    .bit = HISTORY,
    .name = "history",
    .summary = "print since which commit a kernel is slower or less accurate",
    .usage = usage,
    .notes = notes,
    .operands_least = 1,
    .operands_most = INT_MAX,
    .operand_missing = "a folder of records, or records, are needed",
    .run = run,
};
