# SPDX-License-Identifier: MIT
# Makes the table of the tests, their rings and their seconds from the table so far, which is the argument, and from
# what tests/driver.sh left in the build folder. A test that did not run, or skipped everything, keeps its row; one
# without a row has zeros.
# Variables: inner and outer, the tests of each ring; machine, a text.
/^(inner|outer) / { row[$6] = $2 " " $3 " " $4 " " $5 }

function seconds(minutes_and_seconds, parts) { # of "1m2.5s"
  split(minutes_and_seconds, parts, "[ms]")
  return 60 * parts[1] + parts[2]
}

function measured(test,    base, line, n, cpu, clock, passed, skipped) {
  base = test
  sub(/\.sh$/, "", base)
  while ((getline line < (base ".times")) > 0) {
    if (++n == 2) { # the first line is the driver's own
      split(line, of)
      cpu = seconds(of[1]) + seconds(of[2])
    }
    if (n == 3) clock = line
  }
  close(base ".times")
  while ((getline line < (base ".log")) > 0) {
    if (line ~ /^ok .*# SKIP/) skipped++
    else if (line ~ /^ok /) passed++
  }
  close(base ".log")
  if (n == 3 && passed) row[test] = sprintf("%d %.1f %d %d", clock, cpu, passed, skipped)
}

function ring(name, tests,    list, count, i, of, line) {
  count = split(tests, list)
  for (i = 1; i <= count; i++) {
    measured(list[i])
    split(list[i] in row ? row[list[i]] : "0 0.0 0 0", of, " ")
    line = sprintf("%s %6d %7.1f %6d %7d %s", name, of[1], of[2], of[3], of[4], list[i])
    print line | "LC_ALL=C sort -k 3,3nr -k 6"
    clock += of[1]
    cpu += of[2]
    points += of[3]
    left += of[4]
  }
  close("LC_ALL=C sort -k 3,3nr -k 6")
  printf "# %s: %d tests, %.0f s of processors, %d points, %d skipped\n", name, count, cpu, points, left
  clock = cpu = points = left = 0
}

END {
  print "# SPDX-" "License-Identifier: MIT" # in two parts: reuse takes a whole one for this file's
  print "# Ring (doc/building.md), seconds of the clock beside other tests, seconds of processors, points that passed,"
  print "# points that were skipped, and test. Made by \"make test-seconds\" after \"make check-all\" on:"
  print "# " machine
  ring("inner", inner)
  ring("outer", outer)
}
