#!/bin/sh
# SPDX-License-Identifier: MIT
# posenc verify --cases: every kernel of the library on the hard-to-round cases; bad files are told by their line.
# shellcheck disable=SC2086,SC2154 # options are lists of words; the environment comes from make
. "${srcdir:-.}/tests/tap.sh"
worst=$(cd "$srcdir" && pwd)/reference/worst
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
cd "$work" || exit 99
diagnose() { cut -c1-300 out err | sed 's/^/# /'; }

verify() { # STATUS OPTION...
  want=$1
  shift
  "$POSENC" verify "$@" >out 2>err
  [ $? -eq "$want" ]
}
counted() { # KERNEL FILE: "100 cases" of it, the last line of TAP being right
  grep -q "^ok [0-9]* - $1 accuracy $2: 100 cases, [0-9]* misrounded; " out
}

count=0
for file in "$worst"/*.wc; do
  count=$((count + 1))
  name=${file##*/}
  # One that walks to each position from 0 takes half a minute for all files.
  kernels='[!r]*'
  case $name in *-d64.wc) kernels='*' ;; esac
  check "all kernels keep their promises on $name" verify 0 --cases "$file" --kernel "$kernels"
  check 'and are tried on a hundred cases each' counted naive-f64 "$name"
  check 'the correctly rounded one rounds all of them' grep -q " cr-portable accuracy $name: 100 cases, 0 misrounded; " out
done
check 'eight files' test $count -eq 8

one=$worst/base10000-d64.wc two=$worst/base500000-d128.wc
check 'two files' verify 0 --kernel rotation-portable --cases "$one" --cases "$two"
check 'the first' counted rotation-portable base10000-d64.wc
check 'the second' counted rotation-portable base500000-d128.wc
check 'JUnit' verify 0 --kernel rotation-portable --cases "$one" --format junit
check 'names the file' grep -q '<testsuite name="rotation-portable on base10000-d64.wc" tests=' out
check 'JSON' verify 0 --kernel rotation-portable --cases "$one" --format json -o cases.json
check 'says what was looked at' grep -q '"mode": "cases"' cases.json
check 'and how to do it again' grep -q '"replay": "posenc verify --kernel rotation-portable --cases .*base10000-d64.wc"' cases.json
# Or the report would time everything, which a build without Google Benchmark cannot.
timings=
"$POSENC" bench --kernel rotation-portable --len 64 --dim 16 --repetitions 3 --min-time 0.001 --json bench.json 2>err &&
  timings='--from bench.json'
if "$POSENC" report --from cases.json $timings -o page >out 2>err || ! grep -q gnuplot err; then
  check 'a report of cases alone is made' test -s page/index.html
else
  skip 'a report of cases alone is made' 'no gnuplot here'
fi
cp "$one" "a file's name.wc"
check 'a name with a quote' verify 0 --kernel rotation-portable --cases "a file's name.wc" --format json -o quoted.json
check 'is quoted' grep -qF -- "--cases 'a file'\\\\''s name.wc'" quoted.json

refused() { # TEXT OPTION...
  text=$1
  shift
  "$POSENC" verify "$@" >out 2>err
  if [ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -e "$text" err; then
    point ok "refused: $text"
  else
    point 'not ok' "refused: $text"
    diagnose
  fi
}
changed() { # SED-COMMAND: makes a file of it
  sed "$1" "$one" >changed.wc
}
refused '--cases none.wc: No such file' --cases none.wc
changed '20s/ sin / tan /; 20s/ cos / tan /'
refused "--cases changed.wc: line 20: 'tan' is not sin or cos" --cases changed.wc
changed 20d
refused '--cases changed.wc: line 111: the file ends after 99 cases' --cases changed.wc
changed '20s/^[0-9]*/2097152/'
refused '--cases changed.wc: line 20: position 2097152 is not within 1 .. 1048575' --cases changed.wc
changed '20s/^\([0-9]*\) [0-9]* /\1 3 /'
refused '--cases changed.wc: line 20: this is not what MPFR finds there' --cases changed.wc
changed 's/^base 10000/base 10001/'
refused '--cases changed.wc: line 13: this is not what MPFR finds there' --cases changed.wc
: >empty.wc
refused '--cases empty.wc: the file ends before any case' --cases empty.wc
refused '--cases .: Is a directory' --cases .
refused '--len 8: nothing would use it beside --cases' --cases "$one" --len 8 --dim 4
refused '--base 5: nothing would use it beside --cases' --cases "$one" --base 5
refused '--budget 5: nothing would use it beside --cases' --cases "$one" --budget 5
refused '--search 5: nothing would use it beside --cases' --search 5 --cases "$one"
refused '--exhaustive: nothing would use it beside --cases' --cases "$one" --exhaustive
plan
