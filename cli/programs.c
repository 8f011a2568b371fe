/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/programs.h"

#include "cli/message.h"
#include "common/field.h"
#include "common/memory.h"
#include "common/output.h"
#include "common/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_NOT_STARTED = 127 };

__attribute__((noreturn, format(printf, 2, 3))) static void fail(const char *what, const char *format, ...) {
  char why[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  progress_clear();
  die("%s: %s", what, why);
}

/* Runs the program in the child. */
_Noreturn static void execute(char *const *arguments, pid_t parent, int printed, int told) {
  const int nothing = open("/dev/null", O_RDONLY);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent && dup2(nothing, STDIN_FILENO) >= 0 && dup2(told, STDERR_FILENO) >= 0 &&
      dup2(printed, STDOUT_FILENO) >= 0)
    execvp(arguments[0], arguments);
  dprintf(told, "it cannot be started: %s\n", strerror(errno));
  _exit(STATUS_NOT_STARTED);
}

/* Finds the last line of the file that is not empty, with "?" for what is no printable ASCII; "" if there is none. */
static void read_last_line(FILE *file, char *line, size_t size) {
  char text[400];
  *line = '\0';
  rewind(file);
  while (fgets(text, sizeof text, file)) {
    text[strcspn(text, "\n")] = '\0';
    if (*text) snprintf(line, size, "%.*s", (int)size - 1, text);
  }
  for (; *line; line++)
    if (*line < ' ' || *line > '~') *line = '?';
}

static void require_success(const char *what, int status, FILE *told) {
  char last[200];
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) return;
  read_last_line(told, last, sizeof last);
  const char *before = *last ? ": " : "";
  if (WIFSIGNALED(status)) fail(what, "it was killed by signal %d%s%s", WTERMSIG(status), before, last);
  if (WEXITSTATUS(status) == STATUS_NOT_STARTED && *last) fail(what, "%s", last);
  fail(what, "it ended with exit status %d%s%s", WEXITSTATUS(status), before, last);
}

/* Reads to the end, so that a program that still writes is not ended by SIGPIPE. */
static void read_rest(int file) {
  char text[4096];
  while (read(file, text, sizeof text) > 0) continue;
}

json_t *program_json(const char *what, char *const *arguments) {
  int printed[2];
  FILE *told = output_temporary();
  if (!told || pipe2(printed, O_CLOEXEC) != 0) fail(what, "%s", strerror(errno));
  fflush(NULL);
  const pid_t self = getpid(), child = fork();
  if (child == 0) execute(arguments, self, printed[1], fileno(told));
  if (child < 0) fail(what, "%s", strerror(errno));
  close(printed[1]);
  json_error_t error;
  json_t *json = json_loadfd(printed[0], JSON_REJECT_DUPLICATES, &error);
  read_rest(printed[0]);
  close(printed[0]);
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  require_success(what, status, told);
  fclose(told);
  if (!json) fail(what, "it printed no record: %s", error.text);
  return allocated(field_plain(json));
}
