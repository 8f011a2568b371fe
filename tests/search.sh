#!/bin/sh
# SPDX-License-Identifier: MIT
# The directed search finds what sampling does not, and finds it again: a kernel that is wrong only next to ties beyond 2^30.
# shellcheck disable=SC2086,SC2154 # options are lists of words; the environment comes from make
. "${srcdir:-.}/tests/tap.sh"
plugin=$abs_top_builddir/tests/mutants/.libs/ties.so
[ -e "$plugin" ] || { echo '1..0 # SKIP no shared objects in this build'; exit 0; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
cd "$work" || exit 99
diagnose() { cut -c1-300 tap err 2>/dev/null | sed 's/^/# /'; }

hunted() { # FILE STATUS OPTION...
  file=$1 status=$2
  shift 2
  "$POSENC" verify --brief --plugin "$plugin" "$@" >"$file" 2>err
  [ $? -eq "$status" ]
}
search_line() { grep -e '^[a-z ]*ok [0-9]* - [a-z-]* search ' "$1"; }

mutant='--kernel wrong-near-far-ties --dim 16'
# 40000 elements either way. One in 2^19 is next to a tie, so such a sample misses them all with a probability of 0.93.
check 'a sample far out finds nothing' hunted tap 0 $mutant --len 2500 --offset 1099511000000 --search 0
check 'no search, no finding' hunted tap 0 $mutant --len 64 --search 0
check 'which is told' grep -q '^ok [0-9]* - wrong-near-far-ties search 64x16 # SKIP not asked for$' tap
check 'the search finds it' hunted tap 1 $mutant --len 64 --search 20000
check 'as a broken search, and nothing else' test "$(grep '^not ok' tap | sed 's/.* - [a-z-]* \([a-z]*\) .*/\1/')" = search
search_line tap >first

check 'the same seed' hunted again 1 $mutant --len 64 --search 20000
search_line again >second
check 'finds the same' cmp first second
check 'another seed' hunted other 1 $mutant --len 64 --search 20000 --seed 2
search_line other >third
places() { grep -o 'p = [0-9]*' "$1"; }
differ() { [ "$(places first)" != "$(places third)" ]; }
check 'finds another place' differ

replay() { # the command of the first "# replay:" line, with the program under test
  eval "$(sed -n "s|^# replay: posenc |'$POSENC' |p" tap | head -n 1)" >replayed
  [ $? -eq 1 ] && search_line replayed | sed 's/ok [0-9]*/ok/' >fourth && sed 's/ok [0-9]*/ok/' first | cmp - fourth
}
check 'the replay command finds the same' replay

hunted json 1 $mutant --len 64 --search 20000 --format json
check 'the record says where, and how to see it' grep -q '"reach": 1099511627776' json
position=$(sed -n '/"search": {/,/"nearest"/s/.*"position": \([0-9]*\).*/\1/p' json | head -n 1)
seen() { # that row alone
  eval "$(sed -n '/"search": {/,/"nearest"/s/.*"replay": "posenc \(.*\)".*/\1/p' json | sed "s|^|'$POSENC' |")" >tap
  grep -q "^not ok [0-9]* - wrong-near-far-ties accuracy .*p = $position" tap
}
check 'a table of that row alone shows it' seen

far='--len 64 --dim 16 --search 500'
check 'every kernel that keeps its word' hunted tap 0 --kernel '[!w]*' $far
cp tap all
check 'one that walks from position 0 is not searched' grep -q '^ok [0-9]* - recurrence search .* # SKIP it walks' all
check 'positions go on where the bound does not' hunted tap 0 --kernel naive $far
largest=$(search_line tap | places /dev/stdin | sed 's/p = //' | sort -n | tail -n 1)
check 'but no further' test "${largest:-0}" -gt 0 -a "${largest:-0}" -lt 1000000000
check 'f64 and a base below 1' hunted tap 0 --kernel rotation-portable $far --dtype f64
hunted tap 0 --kernel naive $far --base 0.5
check 'of which nothing is promised' grep -q 'search .* # SKIP the bound is for base >= 1' tap
plan
