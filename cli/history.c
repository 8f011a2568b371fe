/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "records/history.h"

#include "cli/files.h"
#include "cli/message.h"
#include "cli/options.h"
#include "common/field.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/output.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char usage[] = "Usage: posenc history FOLDER|FILE... [OPTION]...\n"
                            "Print since which commit a kernel is slower or less accurate, from records of\n"
                            "many commits: of posenc verify --format json, of posenc bench --format json, and\n"
                            "report.json of posenc report. Of a folder, all files FILE.json in it and in the\n"
                            "folders below are read. Nothing is printed if nothing has changed.\n";
static const char notes[] = "Each kernel and shape is a series for each CPU: machines are never mixed. A\n"
                            "point is a commit, or with --order date a date; its time is the median of all\n"
                            "its repetitions, as a share of the limit that was measured beside them, where\n"
                            "the record has one. Records of commits without a place in the order are left\n"
                            "out, with a line. Facts of the environment that changed at the same point are\n"
                            "told with a change.\n"
                            "\n"
                            "Accuracy is compared exactly, by the errors and bits of the same elements:\n"
                            "'bits' are other bits with the same errors. Times have change points, which\n"
                            "E-divisive finds (Matteson and James, 2014) and random orders of the points\n"
                            "test. The size is the median of the ratios of points after to points before,\n"
                            "with an interval of 95 %; p is corrected for the number of series. A change\n"
                            "takes four points on either side.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 if the newest points are no worse\n"
                            "  1                 if that of a series is worse than before a change told\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc history before after\n"
                            "  $ posenc history before after --since 2026-01-31 --format markdown\n"
                            "  $ posenc history before/bench.json after/bench.json --order date\n";

/* ---- git ---- */

enum { LINE = 200 };

/* The lines that a command of git prints. */
typedef struct lines {
  char **all;
  size_t count;
  bool ok; /* whether it succeeded */
} lines;

static lines run_git(size_t count, const char *const *words) {
  char *shell_line = quoted_line("exec 2>/dev/null; git", count, words), line[LINE];
  fflush(NULL);
  FILE *printed = popen(shell_line, "r");
  if (!printed) die("git: %s", strerror(errno));
  lines made = {0};
  while (fgets(line, sizeof line, printed)) {
    line[strcspn(line, "\n")] = '\0';
    made.all = memory_grow(made.all, made.count + 1, sizeof(*made.all));
    made.all[made.count++] = memory_copy_text(line);
  }
  const int status = pclose(printed);
  made.ok = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
  free(shell_line);
  return made;
}

static void discard(lines *of) {
  for (size_t i = 0; i < of->count; i++) free(of->all[i]);
  free(of->all);
}

/* Returns the commits of the repository, oldest first. */
static lines list_commits(void) {
  static const char *const words[] = {"rev-list", "--first-parent", "--reverse", "HEAD"};
  return run_git(sizeof words / sizeof *words, words);
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

/* The records that were read, and their files' names. */
typedef struct inputs {
  history *all;
  json_t *records, *files;
} inputs;

static void read_file(inputs *in, const char *path) {
  char why[400];
  json_t *record = load_json(NULL, path, JSON_REJECT_DUPLICATES), *name = json_string(path);
  if (!name) die("%s: its name is not UTF-8", path);
  field_append(in->records, record);
  field_append(in->files, name);
  if (!history_add(in->all, json_string_value(name), record, why, sizeof why)) die("%s: %s", path, why);
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
  inputs in = {history_open(), json_array(), json_array()};
  for (size_t i = 0; i < given->operand_count; i++) {
    const size_t before = json_array_size(in.records);
    (is_folder(given->operands[i]) ? read_folder : read_file)(&in, given->operands[i]);
    if (json_array_size(in.records) == before) die("%s: it has no records, FILE.json", given->operands[i]);
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

static void note_left_out(const json_t *found) {
  const json_t *list = json_object_get(found, "left_out");
  const bool by_git = strcmp(field_string(found, "order"), "git") == 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *one = json_array_get(list, i);
    const char *commit = field_string(one, "commit");
    if (by_git)
      note("%s: left out, as its commit, %s, is not among the first parents here", field_string(one, "file"),
           *commit ? commit : "unknown");
    else
      note("%s: left out, as it has no date", field_string(one, "file"));
  }
}

static void print(const options *given, const json_t *found) {
  output *out = open_output("--output", given->output);
  if (format_is(given, "json"))
    field_print(found, output_stream(out));
  else
    (format_is(given, "markdown") ? history_print_markdown : history_print_text)(found, output_stream(out));
  close_output("--output", given->output, out);
}

static int run(options *given) {
  if (!is_given(given, OPTION_ALPHA)) given->alpha = HISTORY_DEFAULT_ALPHA;
  if (!(given->alpha > 0.0 && given->alpha < 1.0))
    die_value("--alpha", given->texts[OPTION_ALPHA], "not between 0 and 1");
  inputs in = read_records(given);
  lines commits = list_commits();
  order(given, &in, &commits);
  char *since = given->since && commits.ok ? full_commit(given->since) : NULL;
  const history_terms terms = {given->alpha, (uint64_t)given->seed, since ? since : given->since};
  json_t *found = history_find(in.all, &terms);
  if (!found)
    die_value("--since", given->since, "neither a date, as 2026-11-28, nor a commit in the order of the records");
  note_left_out(found);
  print(given, found);
  const int status = field_integer(found, "worse") > 0 ? STATUS_FAILED_CHECK : EXIT_SUCCESS;
  json_decref(found);
  history_close(in.all);
  json_decref(in.records);
  json_decref(in.files);
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
