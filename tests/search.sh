#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that the directed search finds, repeatably, an error that sampling misses: a kernel that is wrong only near
# midpoints beyond 2^30.
# shellcheck disable=SC2086 # options are lists of words
. "${srcdir:-.}/tests/command.sh"
plugin=$abs_top_builddir/tests/mutants/ties.so
[ -e "$plugin" ] || skip_all 'no shared objects in this build'
diagnose() { cut -c1-300 tap err 2>/dev/null | sed 's/^/# /'; }

hunted() { # FILE STATUS OPTION...
  file=$1 status=$2
  shift 2
  "$POSENC" verify --brief --plugin "$plugin" "$@" >"$file" 2>err
  [ $? -eq "$status" ]
}
search_line() { grep -e '^[a-z ]*ok [0-9]* - [a-z-]* search ' "$1"; }

mutant='--kernel wrong-near-far-ties --dim 16'
# A sample has 40000 elements at either position. One in 2^19 is near a midpoint, so a sample misses them all with
# probability 0.93.
check 'a sample far out finds nothing' hunted tap 0 $mutant --len 2500 --offset 1099511000000 --search 0
check 'no search, no finding' hunted tap 0 $mutant --len 64 --search 0
check 'a search that is not asked for is a skipped point' \
  grep -q '^ok [0-9]* - wrong-near-far-ties search 64x16 # SKIP not asked for$' tap
check 'the search finds it' hunted tap 1 $mutant --len 64 --search 20000
check 'the search fails, and nothing else' \
  test "$(grep '^not ok' tap | sed 's/.* - [a-z-]* \([a-z]*\) .*/\1/')" = search
search_line tap >first

check 'the same seed' hunted again 1 $mutant --len 64 --search 20000
search_line again >second
check 'the same seed finds the same' cmp first second
check 'another seed' hunted other 1 $mutant --len 64 --search 20000 --seed 2
search_line other >third
places() { grep -o 'p = [0-9]*' "$1"; }
differ() { [ "$(places first)" != "$(places third)" ]; }
check 'another seed finds another place' differ

replay() { # runs the command of the first "# replay:" line, with the tested program
  eval "$(sed -n "s|^# replay: posenc |'$POSENC' |p" tap | head -n 1)" >replayed
  [ $? -eq 1 ] && search_line replayed | sed 's/ok [0-9]*/ok/' >fourth && sed 's/ok [0-9]*/ok/' first | cmp - fourth
}
check 'the replay command finds the same' replay

hunted json 1 $mutant --len 64 --search 20000 --format json
check 'the record has the reach of the search' grep -q '"reach": 1099511627776' json
position=$(sed -n '/"search": {/,/"nearest"/s/.*"position": \([0-9]*\).*/\1/p' json | head -n 1)
seen() { # whether only that row is compared
  eval "$(sed -n '/"search": {/,/"nearest"/s/.*"replay": "posenc \(.*\)".*/\1/p' json | sed "s|^|'$POSENC' |")" >tap
  grep -q "^not ok [0-9]* - wrong-near-far-ties accuracy .*p = $position" tap
}
check 'a table of that row alone shows it' seen

far='--len 64 --dim 16 --search 500'
check 'every kernel within its bound' hunted tap 0 --kernel '[!w]*' $far
cp tap all
check 'a kernel whose recurrence begins at position 0 is not searched' \
  grep -q '^ok [0-9]* - recurrence search .* # SKIP its recurrence' all
check 'a bound of limited domain' hunted tap 0 --kernel naive $far
largest=$(search_line tap | places /dev/stdin | sed 's/p = //' | sort -n | tail -n 1)
check 'no position beyond the domain of the bound is searched' \
  test "${largest:-0}" -gt 0 -a "${largest:-0}" -lt 1000000000
check 'f64 and a base below 1' hunted tap 0 --kernel rotation-portable $far --dtype f64
hunted tap 0 --kernel naive $far --base 0.5
check 'a base below 1 has no bound and no search' grep -q 'search .* # SKIP the bound is for base >= 1' tap
plan
