/* SPDX-License-Identifier: MIT */
#include "common/others.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(struct timeval time) {
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* The time of guests is already included in the first two numbers (proc_stat(5)). */
bool others_parse(others_mark *mark, const char *line, double own) {
  double user, nice, system, idle, waiting, interrupts, soft, stolen;
  if (sscanf(line, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &waiting, &interrupts, &soft,
             &stolen) != 8)
    return false;
  const double ticks = (double)sysconf(_SC_CLK_TCK), used = user + nice + system + interrupts + soft + stolen;
  *mark = (others_mark){used / ticks, (used + idle + waiting) / ticks, own};
  return true;
}

bool others_read(others_mark *mark) {
  char line[256];
  struct rusage own;
  FILE *file = fopen("/proc/stat", "r");
  if (!file) return false;
  const bool read = fgets(line, sizeof line, file) && getrusage(RUSAGE_SELF, &own) == 0;
  fclose(file);
  return read && others_parse(mark, line, seconds_of(own.ru_utime) + seconds_of(own.ru_stime));
}

double others_share(const others_mark *from, const others_mark *to) {
  const double all = to->all - from->all, others = to->used - from->used - (to->own - from->own);
  return all >= 0.1 ? fmin(fmax(others / all, 0.0), 1.0) : NAN;
}

double others_wait(double seconds) {
  const struct timespec while_asleep = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
  others_mark from, to;
  if (!others_read(&from)) return NAN;
  nanosleep(&while_asleep, NULL);
  return others_read(&to) ? others_share(&from, &to) : NAN;
}
