#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that bench names every kernel whose time lies, by the checks that tests/mutants/expected-times lists for it, and
# no honest kernel of unusual habits. No time is compared: the lines of "no-gain" show theirs, for a reader.
# Touched by: bench common/isolate common/worker common/process tests/mutants
# The inner ring runs the first two lines of each part of the table, times-all.sh all of them.
# shellcheck disable=SC2086,SC2154 # options are lists of words; the environment comes from make
. "${srcdir:-.}/tests/tap.sh"
table=$srcdir/tests/mutants/expected-times modules=$abs_top_builddir/tests/mutants
set --
for name in times-replay times-work times-surroundings habits; do
  [ -e "$modules/$name.so" ] || skip_all 'no shared objects in this build'
  set -- "$@" --plugin "$modules/$name.so"
done
"$POSENC" bench --help >/dev/null 2>&1 || skip_all 'no Google Benchmark in this build'
emulated && skip_all 'no times of an emulator'
sanitized && skip_all 'a sanitizer has times and memory of its own'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work" /dev/shm/posenc-mutant-*' EXIT
trap 'exit 99' INT TERM

# Prints the checks that bench names for a kernel; survival for a process that ended otherwise.
named() { # KERNEL FILE
  sed -n "s/^posenc [a-z]*: $1 is left out: //p" "$2" |
    sed -e 's/^\([a-z-]*\): .*/\1/' -e '/[^a-z-]/s/.*/survival/'
}

time_of() { # KERNEL FILE: its median time, in ns
  sed -n "/\"name\": *\"[a-z]*\/[^\"]*\/$1_median\"/,/real_time/s/.*\"real_time\": *\([0-9.e+-]*\).*/\1/p" "$2"
}

run() { # NUMBER KERNEL OPTIONS PLUGIN-OPTION...
  run=$work/$1 kernel=$2 options=$3
  shift 3
  mkdir -p "$run"
  beside=slow-honest,$kernel
  [ "$kernel" = slow-honest ] && beside=$kernel
  for _ in 1 2; do # what is kept by one process serves the next
    TMPDIR=$run "$POSENC" bench "$@" --kernel "$beside" --repetitions 3 --min-time 0.01 --time-limit 5 $options \
      --format json >"$run/json" 2>"$run/err" </dev/null
    echo $? >"$run/status"
    case $kernel in plan-file | plan-shm) ;; *) break ;; esac
  done
}

judge() { # NUMBER KERNEL PROPERTIES OPTIONS
  run=$work/$1 kernel=$2 list=$3 options=$4
  found=$(named "$kernel" "$run/err" | sort -u)
  rest=$(grep -v "^posenc [a-z]*: $kernel is left out" "$run/err" | grep '^posenc [a-z]*: .* is left out')
  [ -z "$rest" ] || found="$found others"
  ok=no
  if [ -z "$found" ]; then
    case ,$list, in *,nothing,* | *,no-gain,* | *,open,*) [ "$(cat "$run/status")" -eq 0 ] && ok=yes ;; esac
  else
    case ,$list, in *,$found,*) [ "$(cat "$run/status")" -eq 1 ] && ok=yes ;; esac
  fi
  what="$kernel: $list: $options"
  if [ $ok = yes ]; then
    point ok "$what: ${found:-nothing}"
    [ -n "$found" ] || echo "#   $(time_of "$kernel" "$run/json") ns, slow-honest $(time_of slow-honest "$run/json") ns"
  else
    sed 's/^/# /' "$run/err"
    point 'not ok' "$what: ${found:-nothing}, status $(cat "$run/status")"
    echo "#   $(time_of "$kernel" "$run/json") ns, slow-honest $(time_of slow-honest "$run/json") ns"
  fi
  rm -rf "$run"
}

# All lines, those of honest kernels, those of the kernels in POSENC_TEST_TIMES, or some.
awk -v wanted=",${POSENC_TEST_TIMES-some}," '
  /^#|^$/ { part = 0; next }
  wanted == ",all," || index(wanted, "," $1 ",") || (wanted == ",some," && part++ < 2) ||
    (wanted == ",honest," && $2 == "nothing")
' "$table" >"$work/lines"
for _ in $(seq "${POSENC_TEST_RUNS:-1}"); do cat "$work/lines"; done >"$work/table"
line=0
while read -r kernel list options; do
  line=$((line + 1))
  run $line "$kernel" "$options" "$@"
  judge $line "$kernel" "$list" "$options"
done <"$work/table"

# choose leaves out each of these that must be named, and recommends another one: one that is honest, or defeated, and
# which of those leads is noise.
selection='slow-honest,replay-*,fill-*,plan-*,static-table,lazy-*'
"$POSENC" choose "$@" --kernel "$selection" --len 512 --dim 64 --max-abs 1e-6 --repetitions 3 \
  >"$work/out" 2>"$work/err" </dev/null
status=$?
must=$(awk '/^(replay|fill|plan|static|lazy)-.* --len 512 --dim 64 --mode hot$/ && !/--op/ &&
            $2 !~ /nothing|no-gain|open/ { print $1 }' "$table" | sort -u)
grep -o '^posenc [a-z]*: [a-z0-9-]* is left out: [a-z-]*: ' "$work/err" | cut -d ' ' -f 3 | sort >"$work/left"
missed=$(echo "$must" | comm -23 - "$work/left" | xargs)
taken=$(sed -n 's/^take \([a-z0-9-]*\).*/\1/p' "$work/out")
what="choose leaves out the $(echo "$must" | wc -l) that must be named, and takes another one"
if [ $status -eq 1 ] && [ "$must" ] && [ -z "$missed" ] && [ "$taken" ] && ! grep -qx "$taken" "$work/left"; then
  point ok "$what"
else
  sed 's/^/# /' "$work/out" "$work/err"
  point 'not ok' "$what: takes ${taken:-none}, status $status, not left out: ${missed:-none}"
fi
plan
