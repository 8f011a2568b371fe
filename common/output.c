/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
  FILE *stream;
  char *target;    /* null if written in place */
  char *temporary; /* null if written in place */
};

/* ---- removal at an early end -------------------------------------------------------------------- */

enum { PENDING_MAX = 32 };
static char *volatile pending[PENDING_MAX];
static const char *volatile made_folder;

static const int interrupts[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM};
enum { INTERRUPTS = sizeof interrupts / sizeof *interrupts };

/* Removes pending files and the folder. rmdir fails, as intended, if something is in the folder. */
static void remove_unfinished(void) {
  for (int i = 0; i < PENDING_MAX; i++)
    if (pending[i]) unlink(pending[i]);
  if (made_folder) rmdir(made_folder);
}

/* The process that registered the handlers. A child has a copy of the list, but removes nothing. */
static pid_t owner;

/* Runs at every exit, including one by a library. */
void output_end(void) {
  if (getpid() == owner) remove_unfinished();
}

/* Handles a signal that ends the process; uses async-signal-safe calls only. The signal is blocked here, so the raised
   one ends the process on return. The default action is restored here and not by SA_RESETHAND: with that, a second
   signal (timeout(1) sends two) could end the process between the reset and the first instruction of the handler. */
static void remove_pending(int number) {
  remove_unfinished();
  signal(number, SIG_DFL);
  raise(number);
}

/* Installs the handlers once; returns false if memory runs out. */
static bool handle_ends(void) {
  if (owner) return true;
  if (atexit(output_end) != 0) return false;
  owner = getpid();
  struct sigaction action = {.sa_handler = remove_pending};
  sigfillset(&action.sa_mask);
  for (int i = 0; i < INTERRUPTS; i++) {
    struct sigaction old;
    if (sigaction(interrupts[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(interrupts[i], &action, NULL);
  }
  /* Exceeding a file size limit then makes write(2) fail, like a full disk. */
  signal(SIGXFSZ, SIG_IGN);
  return true;
}

static void block_interrupts(sigset_t *before) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < INTERRUPTS; i++) sigaddset(&set, interrupts[i]);
  pthread_sigmask(SIG_BLOCK, &set, before);
}

static void restore_signals(const sigset_t *before) {
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, before, NULL);
  errno = error;
}

static bool pending_replace(char *old, char *new) {
  for (int i = 0; i < PENDING_MAX; i++) {
    if (pending[i] == old) {
      pending[i] = new;
      return true;
    }
  }
  errno = EMFILE;
  return false;
}

/* ---- the temporary file ------------------------------------------------------------------------ */

/* Writes six random characters at `place`. */
static bool randomize(char *place) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  unsigned char noise[6];
  if (getrandom(noise, sizeof noise, 0) != sizeof noise) return false;
  for (size_t i = 0; i < sizeof noise; i++) place[i] = letters[noise[i] % (sizeof letters - 1)];
  return true;
}

/* Creates ".NAME.XXXXXX" beside the target, with the mode that open(2) would give the target; mkstemp(3) would make it
   private. Returns its descriptor, or -1. */
static int create_beside(const char *target, char **path) {
  const char *slash = strrchr(target, '/');
  const char *name = slash ? slash + 1 : target;
  const size_t directory = (size_t)(name - target);
  const int shown = NAME_MAX - (int)sizeof "..XXXXXX";
  const size_t size = directory + NAME_MAX + 1;
  *path = malloc(size);
  if (!*path) return -1;
  const int length = snprintf(*path, size, "%.*s.%.*s.XXXXXX", (int)directory, target, shown, name);
  int file = -1;
  do {
    if (!randomize(*path + length - 6)) break;
    file = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) {
    free(*path);
    *path = NULL;
  }
  return file;
}

/* Opens a new temporary file, which is removed on interrupts. It has the mode of the file that it replaces, without the
   bits of set-user-ID and set-group-ID, which a write in place clears, too: what was trusted was the old content. */
static bool open_temporary(output *out, const struct stat *existing) {
  sigset_t before;
  block_interrupts(&before);
  const int file = create_beside(out->target, &out->temporary);
  bool ok = file >= 0 && (!existing || fchmod(file, existing->st_mode & 01777) == 0);
  ok = ok && (out->stream = fdopen(file, "w")) && pending_replace(NULL, out->temporary);
  if (!ok && file >= 0) {
    const int error = errno;
    unlink(out->temporary);
    if (out->stream)
      fclose(out->stream);
    else
      close(file);
    errno = error;
  }
  restore_signals(&before);
  return ok;
}

/* ---- interface --------------------------------------------------------------------------------- */

static void output_free(output *out) {
  const int error = errno;
  free(out->target);
  free(out->temporary);
  free(out);
  errno = error;
}

/* Returns the path that `path` leads to through links, as a new string, because rename(2) would replace the link.
   Unlike realpath(3), this does not need a file at the end. */
static char *follow_links(const char *path) {
  enum { HOPS_MAX = 40 };
  char *target = strdup(path);
  for (int hops = 0; target; hops++) {
    char link[PATH_MAX], *joined = NULL;
    const ssize_t length = readlink(target, link, sizeof link);
    if (length < 0) return target;
    const char *slash = *link == '/' ? NULL : strrchr(target, '/');
    const int folder = slash ? (int)(slash - target) + 1 : 0;
    errno = ELOOP;
    if (hops < HOPS_MAX && asprintf(&joined, "%.*s%.*s", folder, target, (int)length, link) < 0) joined = NULL;
    free(target);
    target = joined;
  }
  return NULL;
}

static bool open_target(output *out, const char *path) {
  if (strcmp(path, "-") == 0) {
    out->stream = stdout;
    return true;
  }
  struct stat status;
  const bool exists = stat(path, &status) == 0;
  if (!exists && (errno != ENOENT || !*path)) return false;
  if (exists && (!S_ISREG(status.st_mode) || status.st_nlink == 0)) {
    out->stream = fopen(path, "we");
    return out->stream;
  }
  /* rename(2) needs permission for the folder only, but a file that is not writable must not be replaced. */
  if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) return false;
  out->target = follow_links(path);
  return out->target && open_temporary(out, exists ? &status : NULL);
}

output *output_open(const char *path) {
  output *out = handle_ends() ? calloc(1, sizeof *out) : NULL;
  if (!out) return NULL;
  if (open_target(out, path)) return out;
  output_free(out);
  return NULL;
}

bool output_is(const char *path, const char *file) {
  struct stat a, b;
  return strcmp(path, "-") != 0 && stat(path, &a) == 0 && stat(file, &b) == 0 && S_ISREG(a.st_mode) &&
         a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

FILE *output_stream(output *out) {
  return out->stream;
}

/* Flushes the stream; returns false with errno set on failure. errno is that of an earlier failed write if the caller
   has made no other call before the commit. */
static bool finish_stream(FILE *stream) {
  const bool ok = fflush(stream) == 0 && !ferror(stream);
  const int error = errno ? errno : EIO;
  if (stream == stdout) {
    errno = error;
    return ok;
  }
  const bool closed = fclose(stream) == 0;
  if (!ok) errno = error;
  return ok && closed;
}

/* Renames the temporary file into place if `ok`, otherwise removes it. Returns false, with errno kept or set, if the
   file is not in place. */
static bool end_temporary(output *out, bool ok) {
  sigset_t before;
  if (!out->temporary) return ok;
  block_interrupts(&before);
  ok = ok && rename(out->temporary, out->target) == 0;
  const int error = errno;
  if (!ok) unlink(out->temporary);
  errno = error;
  pending_replace(out->temporary, NULL);
  restore_signals(&before);
  return ok;
}

bool output_commit(output *out) {
  const bool ok = end_temporary(out, finish_stream(out->stream));
  output_free(out);
  return ok;
}

void output_abandon(output *out) {
  if (!out) return;
  end_temporary(out, false);
  if (out->stream != stdout) fclose(out->stream);
  output_free(out);
}

bool output_make_folder(const char *path) {
  if (!handle_ends()) return false;
  sigset_t before;
  block_interrupts(&before);
  const bool made = mkdir(path, 0777) == 0;
  if (made) made_folder = path;
  restore_signals(&before);
  return made || errno == EEXIST;
}

bool output_write_file(const char *path, const char *text, size_t length) {
  output *out = output_open(path);
  if (!out) return false;
  fwrite(text, 1, length, out->stream);
  return output_commit(out);
}

FILE *output_temporary(void) {
  const char *folder = getenv("TMPDIR");
  char path[PATH_MAX];
  errno = ENAMETOOLONG;
  if (snprintf(path, sizeof path, "%s/posenc.XXXXXX", folder && *folder ? folder : "/tmp") >= (int)sizeof path)
    return NULL;
  const int file = mkostemp(path, O_CLOEXEC);
  if (file < 0) return NULL;
  unlink(path);
  FILE *stream = fdopen(file, "w+");
  if (!stream) close(file);
  return stream;
}
