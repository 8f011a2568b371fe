/* SPDX-License-Identifier: MIT */
/* Tests that files are complete or absent: a process that ends too early leaves none, and a child's exit removes
   none. */
#include "common/output.h"
#include "tests/tap.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char folder[] = "output.tests", path[] = "output.tests/file";

/* Counts the entries of the folder except . and .. */
static int count_files(void) {
  DIR *list = opendir(folder);
  int count = -2;
  while (list && readdir(list)) count++;
  if (list) closedir(list);
  return count;
}

/* Returns the exit status of a child process that does this work. */
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
  exit(4); /* as a library may do */
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

static mode_t mode_of(void) {
  struct stat found = {0};
  stat(path, &found);
  return found.st_mode & 07777;
}

/* Tests modes, which are those of a write in place: a new file has what the umask leaves, a replaced file keeps its
   mode. */
static void test_modes(void) {
  const mode_t before = umask(027);
  const bool made = output_write_file(path, "new", 3) && mode_of() == 0640,
             kept = chmod(path, 0604) == 0 && output_write_file(path, "newer", 5) && mode_of() == 0604;
  umask(before);
  ok(made, "a new file has the mode that the umask leaves");
  ok(kept, "a file that is replaced keeps its mode");
  ok(chmod(path, 06755) == 0 && output_write_file(path, "newest", 6) && mode_of() == 0755,
     "but not the bits of set-user-ID and set-group-ID");
  remove(path);
}

/* Replaces a file that may not be written. Root may write to any file, so it becomes another user first. */
static void replace_unwritable(void) {
  static const uid_t nobody = 65534;
  if (geteuid() == 0 && seteuid(nobody) != 0) _exit(9);
  _exit(output_write_file(path, "other", 5) ? 4 : 3); /* without the leak checker, which only root may run here */
}

static void test_unwritable(void) {
  const bool ready = output_write_file(path, "kept", 4) && chmod(path, 0444) == 0 && chmod(folder, 0777) == 0;
  const int status = status_of(replace_unwritable);
  ok(ready && status == 3, "a file that may not be written to is not replaced: status %d", status);
  remove(path);
}

static void test_temporary(void) {
  const int before = count_files();
  setenv("TMPDIR", folder, 1);
  FILE *file = output_temporary();
  char text[8] = "";
  const bool usable = file && fputs("kept", file) >= 0 && fseek(file, 0, SEEK_SET) == 0 && fgets(text, 8, file);
  ok(usable && strcmp(text, "kept") == 0 && count_files() == before, "a temporary file has no name");
  if (file) fclose(file);
  setenv("TMPDIR", "no/such/folder", 1);
  errno = 0;
  ok(!output_temporary() && errno == ENOENT, "and is in TMPDIR");
  unsetenv("TMPDIR");
}

int main(void) {
  char text[16] = "";
  remove(path); /* of an earlier run */
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
  test_modes();
  test_unwritable();
  test_temporary();
  rmdir(folder);
  return tap_done();
}
