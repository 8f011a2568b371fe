/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "inspect/files/mapping.h"

#include "common/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* All mapped files, for the signal handler. */
static mapping *mapped_files;

/* Prints the message about a file that was cut, and ends the process. Uses async-signal-safe calls only. */
static void tell_cut(int number, siginfo_t *info, void *context) {
  static const char words[] = ": it was cut while it was read\n";
  const unsigned char *at = info->si_addr;
  (void)context;
  for (const mapping *m = mapped_files; m; m = m->next)
    if (at >= m->bytes && at < m->bytes + m->size) {
      if (write(STDERR_FILENO, "posenc: ", 8) < 0 || write(STDERR_FILENO, m->path, strlen(m->path)) < 0 ||
          write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(2);
      _exit(2);
    }
  signal(number, SIG_DFL);
  raise(number);
}

static void handle_cuts(void) {
  static bool handled;
  if (handled) return;
  handled = true;
  struct sigaction action = {.sa_sigaction = tell_cut, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &action, NULL);
}

/* Returns the descriptor of a regular file, and its status; -1 with `why` set on failure. */
static int open_regular(const char *path, struct stat *status, fault *why) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* open(2) does not wait for a pipe */
  const bool ok = (file >= 0 && fstat(file, status) == 0) || fault_say(why, "%s", strerror(errno));
  if (ok && (S_ISREG(status->st_mode) || fault_say(why, "it is no regular file"))) return file;
  if (file >= 0) close(file);
  return -1;
}

FILE *regular_open(const char *path, fault *why) {
  struct stat status;
  const int file = open_regular(path, &status, why);
  FILE *stream = file >= 0 ? fdopen(file, "r") : NULL;
  if (file >= 0 && !stream) {
    fault_say(why, "%s", strerror(errno));
    close(file);
  }
  return stream;
}

static bool map_file(mapping *m, fault *why) {
  struct stat status;
  const int file = open_regular(m->path, &status, why);
  if (file < 0) return false;
  bool ok = (uint64_t)status.st_size <= PTRDIFF_MAX || fault_say(why, "it is larger than the address space");
  const size_t size = ok ? (size_t)status.st_size : 0;
  if (size > 0) {
    void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    ok = bytes != MAP_FAILED || fault_say(why, "%s", strerror(errno));
    m->bytes = ok ? bytes : NULL;
    m->size = ok ? size : 0;
  }
  close(file);
  return ok;
}

bool mapping_open(mapping *m, const char *path, fault *why) {
  *m = (mapping){.path = memory_copy_text(path)};
  handle_cuts();
  m->next = mapped_files;
  mapped_files = m;
  return map_file(m, why);
}

void mapping_close(mapping *m) {
  for (mapping **link = &mapped_files; *link; link = &(*link)->next)
    if (*link == m) {
      *link = m->next;
      break;
    }
  if (m->bytes) munmap((void *)m->bytes, m->size);
  free(m->path);
}
