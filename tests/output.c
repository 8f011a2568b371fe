/* SPDX-License-Identifier: MIT */
/* Files that appear whole or not at all: a process that ends too early leaves none, and a child's exit removes none. */
#include "common/output.h"
#include "tests/tap.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char folder[] = "output.tests", path[] = "output.tests/file";

/* Entries of the folder but . and .. */
static int count_files(void) {
  DIR *list = opendir(folder);
  int count = -2;
  while (list && readdir(list)) count++;
  if (list) closedir(list);
  return count;
}

/* The exit status of a child process that does this work. */
static int status_of(void (*work)(void)) {
  int status = -1;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    work();
    exit(3);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void begin_and_exit(void) {
  static output *out; /* static, or the leak checker would report it */
  out = output_open(path);
  if (!out || count_files() != 1) _exit(9);
  fputs("half", output_stream(out));
  exit(4); /* as a library may */
}

static void exit_at_once(void) {
  exit(5);
}

static void outlive_a_child(void) {
  output *out = output_open(path);
  if (!out || status_of(exit_at_once) != 5 || count_files() != 1) _exit(9);
  fputs("whole", output_stream(out));
  exit(output_commit(out) ? 6 : 9);
}

static void make_a_folder(void) {
  rmdir(folder);
  exit(output_make_folder(folder) && status_of(exit_at_once) == 5 && count_files() == 0 ? 7 : 9);
}

int main(void) {
  char text[16] = "";
  remove(path); /* of a run before */
  rmdir(folder);
  const int made = status_of(make_a_folder);
  ok(made == 7 && access(folder, F_OK) != 0,
     "an empty folder is removed when the process that made it exits, and not before");
  if (!ok(mkdir(folder, 0777) == 0, "a folder")) return tap_done();
  ok(status_of(begin_and_exit) == 4 && count_files() == 0, "an exit in the middle leaves no file");
  const int outlived = status_of(outlive_a_child);
  FILE *file = fopen(path, "r");
  if (file && !fgets(text, sizeof text, file)) *text = '\0';
  if (file) fclose(file);
  ok(outlived == 6 && strcmp(text, "whole") == 0 && count_files() == 1, "the exit of a child removes nothing: %d, %s",
     outlived, text);
  remove(path);
  rmdir(folder);
  return tap_done();
}
