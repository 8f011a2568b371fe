#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures how often posenc compare errs, and which slowdowns it finds. "make timing-power" runs it in the build folder.
# A program is compared with itself, and with one in which four of five kernels are slower by 2, 5, 10 and 20 %
# (tools/slowed.c), on the machine as it is and beside as many busy processes as it has cores. Every result is appended
# to ./timing-power.log as a line; the printed table is made from all lines, those of earlier runs included.
# RUNS: the number of runs of each comparison; a run takes 40 s. BLOCKS: the number of blocks of compare --run.
# LOAD: 0 or 1 for one state of the machine alone.
set -eu
export LC_ALL=C # mawk reads numbers as the locale writes them
: "${RUNS:=4}" "${BLOCKS:=16}" "${LOAD:=0 1}"
work=$(mktemp -d)
busy=
rest() { for process in $busy; do kill "$process"; done; busy=; }
trap 'rest; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
plugin=$PWD/tools/slowed.so
options="--plugin $plugin --kernel slowed-* --mode hot --len 3200 --dim 16 --offset 65552"

say() { # WORDS...: shows the progress on a terminal
  [ ! -t 2 ] || printf '\r\033[K%s\r' "$*" >&2
}

# Appends lines "STATE COMPARISON KERNEL'S-PERCENT VERDICT RATIO RUN" of the JSON on standard input; RUN is the time.
log() { # STATE COMPARISON "PERCENT..."
  perl -MJSON::PP -0777 -e '
    my ($state, $what, $percents, $run) = @ARGV;
    my @names = qw(naive div-term naive-f64 rotation-portable cr-portable);
    my %by; @by{map "hot/3200x16+65552/slowed-$_", @names} = split / /, $percents;
    for my $row (@{decode_json(<STDIN>)->{rows}}) {
      printf "%s %s %s %s %.4f %s\n", $state, $what, $by{$row->{name}}, $row->{verdict}, $row->{ratio}, $run
    }' "$1" "$2" "$3" "$(date +%s)" >>timing-power.log
}

none='0 0 0 0 0'
slow() { # RUN: prints the percentages; each kernel has each of them once in five runs
  set -- "$1" 0 2 5 10 20
  turn=$(($1 % 5))
  shift
  while [ "$turn" -gt 0 ]; do
    first=$1 turn=$((turn - 1))
    shift
    set -- "$@" "$first"
  done
  echo "$*"
}

# shellcheck disable=SC2086 # options are words
compare_programs() { # STATE COMPARISON "PERCENT..."
  say "timing-power: $1, $2 $3"
  printf '#!/bin/sh\nSLOWED_BY="%s" exec "%s" "$@"\n' "$3" "$PWD/posenc" >"$work/new"
  chmod +x "$work/new"
  set -f
  ./posenc compare --run ./posenc "$work/new" --blocks "$BLOCKS" --format json -- $options >"$work/json" ||
    [ $? -eq 1 ]
  set +f
  log "$1" "$2" "$3" <"$work/json"
}

# shellcheck disable=SC2086
compare_records() { # STATE: compares the records of two processes with 15 repetitions each
  set -f
  for file in old new; do ./posenc bench $options --repetitions 15 --format json -o "$work/$file.json"; done
  set +f
  ./posenc compare "$work/old.json" "$work/new.json" --format json >"$work/json" || [ $? -eq 1 ]
  log "$1" records "$none" <"$work/json"
}

for load in $LOAD; do
  state=quiet
  if [ "$load" = 1 ]; then
    state=busy
    for _ in $(seq "$(nproc)"); do
      sh -c 'while :; do :; done' &
      busy="$busy $!"
    done
  fi
  for run in $(seq "$RUNS"); do
    compare_records $state
    compare_programs $state same "$none"
    compare_programs $state slower "$(slow "$((run + $(date +%s)))")"
  done
  rest
done
say ''

awk '
  { state[$1]; runs[$1, $2, $6] = 1; total[$1, $2, $3]++ }
  { count[$1, $2, $3, $4]++; sum[$1, $2, $3] += $5 }
  $3 == 0 && $4 ~ /worse|better/ { alarms[$1, $2, $6] = 1 }
  function share(n, of) { return sprintf("%d of %d", n, of) }
  END {
    for (key in runs) { split(key, k, SUBSEP); all[k[1], k[2]]++ }
    for (key in alarms) { split(key, k, SUBSEP); false_ones[k[1], k[2]]++ }
    printf "| machine | comparison | slower by | found worse | found better | the same | undecided | mean ratio |"
    print " runs with a false alarm |"
    print "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    split("quiet busy", states); split("records same slower", whats); split("0 2 5 10 20", bys)
    for (s = 1; s <= 2; s++) for (w = 1; w <= 3; w++) for (b = 1; b <= 5; b++) {
      n = total[states[s], whats[w], bys[b]]
      if (!n) continue
      i = states[s] SUBSEP whats[w] SUBSEP bys[b]
      printf "| %s | %s | %d %% | %d of %d | %d | %d | %d | %.3f | %s |\n", states[s], whats[w], bys[b],
        count[i, "worse"], n, count[i, "better"], count[i, "same"], count[i, "undecided"], sum[i] / n,
        bys[b] == 0 ? share(false_ones[states[s], whats[w]], all[states[s], whats[w]]) : ""
    }
  }' timing-power.log
