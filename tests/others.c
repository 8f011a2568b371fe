/* SPDX-License-Identifier: MIT */
/* Tests the share of the machine that other processes use (common/environment.h), on known counts. */
#include "common/environment.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { USER, NICE, SYSTEM, IDLE, WAITING, SOFT, STOLEN, COUNTS };

/* Returns a mark from counts in seconds. */
static others_mark mark_of(const int seconds[COUNTS], double own) {
  const int tick = (int)sysconf(_SC_CLK_TCK);
  int count[COUNTS];
  char line[200];
  others_mark mark;
  for (int n = 0; n < COUNTS; n++) count[n] = seconds[n] * tick;
  snprintf(line, sizeof line, "cpu  %d %d %d %d %d 0 %d %d 77 88\n", count[USER], count[NICE], count[SYSTEM],
           count[IDLE], count[WAITING], count[SOFT], count[STOLEN]);
  ok(others_parse(&mark, line, own), "%.40s", line);
  return mark;
}

static void is_share(others_mark from, others_mark to, double known, const char *what) {
  const double share = others_share(&from, &to);
  ok(fabs(share - known) < 1e-12 || (isnan(share) && isnan(known)), "%s: %g", what, share);
}

int main(void) {
  const others_mark start = mark_of((int[]){100, 10, 20, 1000, 5, 1, 3}, 7.0);
  others_mark mark;
  is_share(start, mark_of((int[]){110, 10, 20, 1010, 5, 1, 3}, 17.0), 0.0, "all that is used is our own");
  is_share(start, mark_of((int[]){110, 10, 20, 1010, 5, 1, 3}, 7.0), 0.5, "none of it is");
  is_share(start, mark_of((int[]){101, 12, 23, 1090, 9, 2, 3}, 7.5), 6.5 / 101.0, "waiting for a disk is no use");
  is_share(start, mark_of((int[]){100, 10, 20, 1030, 5, 1, 13}, 7.0), 0.25, "what the hypervisor took is");
  is_share(start, mark_of((int[]){101, 10, 20, 1009, 5, 1, 3}, 9.0), 0.0, "our own is counted more finely");
  is_share(start, start, NAN, "no time has passed");
  ok(!others_parse(&mark, "cpu 1 2 3", 0.0), "a line without all counts tells nothing");
  ok(!others_parse(&mark, "intr 1 2 3 4 5 6 7 8 9", 0.0), "nor does another line");
  const double now = others_wait(0.2);
  ok(isnan(now) || (now >= 0.0 && now <= 1.0), "a share of this machine, or nothing: %g", now);
  return tap_done();
}
