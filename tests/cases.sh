#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc verify --cases: every kernel of the library on the hard-to-round cases; bad files are refused with their
# line.
# shellcheck disable=SC2086 # options are lists of words
command=verify
. "${srcdir:-.}/tests/command.sh"
worst=$root/reference/worst

counted() { # KERNEL FILE [CASES]
  says "^ok [0-9]* - $1 accuracy $2: ${3:-100} cases, [0-9]* misrounded; "
}

no_misrounding() { # FILE CASES
  says " cr-portable accuracy $1: $2 cases, 0 misrounded; " && ! grep -E " cr-.* accuracy $1: .* cases, [1-9]" out
}

count=0
for file in "$worst"/*.wc; do
  count=$((count + 1))
  name=${file##*/}
  ! is_left_out || continue
  # recurrence computes each position from 0, which takes half a minute for all files.
  kernels='[!r]*'
  case $name in *-d64*) kernels='*' ;; esac
  cases=100 of=naive-f64
  case $name in *f16.wc) cases=25 of=cr-portable ;; esac
  check "all kernels keep their promises on $name" ends 0 --cases "$file" --kernel "$kernels" \
    ${EMULATOR:+--time-limit 900} # instead of a minute
  check "$name has $cases cases" counted $of "$name" $cases
  check 'correctly rounded kernels round all of them' no_misrounding "$name" $cases
done
check 'eight files for each format' test $count -eq 24

rotation='--kernel rotation-portable' one=$worst/base10000-d64.wc two=$worst/base500000-d128.wc
check 'two files' ends 0 $rotation --cases "$one" --cases "$two"
check 'the first of two files' counted rotation-portable base10000-d64.wc
check 'the second of two files' counted rotation-portable base500000-d128.wc
cp "$one" copy.wc
check 'two files of one table' ends 0 $rotation --cases "$one" --cases copy.wc
check 'are both compared' test "$(grep -c 'rotation-portable accuracy base10000-d64.wc: 100 cases' out)" -eq 2
check 'JUnit' ends 0 $rotation --cases "$one" --format junit
check 'JUnit names the file' says '<testsuite name="rotation-portable on base10000-d64.wc" tests='
check 'JSON' ends 0 $rotation --cases "$one" --format json -o cases.json
check 'JSON has the mode' grep -q '"mode": "cases"' cases.json
check 'JSON has the replay command' \
  grep -q '"replay": "posenc verify --kernel rotation-portable --cases .*base10000-d64.wc"' cases.json
# Without --from, the report would time everything, which requires Google Benchmark.
timings=
"$POSENC" bench $rotation --len 64 --dim 16 --repetitions 3 --min-time 0.001 --format json -o bench.json 2>err &&
  timings='--from bench.json'
if "$POSENC" report --from cases.json $timings -o page >out 2>err || ! no_pages; then
  check 'a report of cases alone is made' test -s page/index.html
else
  skip 'a report of cases alone is made' "$why"
fi
cp "$one" "a file's name.wc"
check 'a name with a quote' ends 0 $rotation --cases "a file's name.wc" --format json -o quoted.json
check 'the name is quoted' grep -qF -- "--cases 'a file'\\\\''s name.wc'" quoted.json

refused_change() { # SED-COMMAND PATTERN
  sed "$1" "$one" >changed.wc
  refused "--cases changed.wc: $2" --cases changed.wc
}
refused_change '20s/ sin / tan /; 20s/ cos / tan /' "line 20: 'tan' is not sin or cos"
refused_change 20d 'line 111: the file ends after 99 cases'
refused_change '20s/^[0-9]*/2097152/' 'line 20: position 2097152 is not within 1 .. 1048575'
refused_change '20s/^\([0-9]*\) [0-9]* /\1 3 /' 'line 20: this is not what MPFR finds there'
refused_change 's/^base 10000/base 10001/' 'line 13: this is not what MPFR finds there'
refused_change 'd' 'the file ends before any case'
refused '--cases none.wc: No such file' --cases none.wc
refused '--cases \.: it is no regular file' --cases .
refused '--len 8: cannot be combined with --cases' --cases "$one" --len 8 --dim 4
refused '--base 5: cannot be combined with --cases' --cases "$one" --base 5
refused '--budget 5: cannot be combined with --cases' --cases "$one" --budget 5
refused '--search 5: cannot be combined with --cases' --search 5 --cases "$one"
refused '--exhaustive: cannot be combined with --cases' --cases "$one" --exhaustive
plan
