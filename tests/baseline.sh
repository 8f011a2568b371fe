#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests baselines: the one in the tree agrees, and a change against one is reported with exit status 1. Also tests the
# formats for CI.
# shellcheck disable=SC2086 # options are lists of words
. "${srcdir:-.}/tests/command.sh"

verify() { # OPTION...: sets $status
  posenc verify --brief "$@"
}

told() { # STATUS TEXT: of the last verify
  [ $status -eq "$1" ] && says "$2"
}

# Bits and errors of the portable kernel, on all published tables, are the same on every machine.
verify --kernel rotation-portable --baseline "$root/tests/baseline.json"
check 'the kernels have the bits and errors of the baseline in the tree' test $status -eq 0
check 'every table of it was compared' test "$(grep -c '^ok [0-9]* - rotation-portable baseline' out)" -eq \
  "$(grep -c '"digest"' "$root/tests/baseline.json")"
check 'none was skipped' test "$(grep -c 'baseline.*# SKIP' out)" -eq 0

small='--len 300 --dim 64'
verify $small --save saved.json
check 'a baseline is saved' test $status -eq 0 -a -s saved.json
check 'with a line for each entry' test "$(wc -l <saved.json)" -eq "$(($(grep -c '"digest"' saved.json) + 9))"
verify $small --baseline saved.json
check 'the saved baseline holds' told 0 'rotation-portable baseline'
verify $small --base 5e5 --kernel rotation-portable
check 'the base is in the name of the shape' told 0 'accuracy 300x64-base500000:'

changed() { # NAME SED-SCRIPT STATUS TEXT
  sed "$2" saved.json >changed.json
    verify $small --kernel "${5:-rotation-portable}" --baseline changed.json
  check "$1" told "$3" "$4"
}
bits='s/"digest": "[0-9a-f]*"/"digest": "0123456789abcdef"/' libm='s/"libc": "[^"]*"/"libc": "other"/'
changed 'other bits' "$bits" 1 '^not ok .* bits changed, 0123456789abcdef to'
changed 'bits of a kernel that depends on libm are not compared' "$bits" 0 'baseline' naive
changed 'a larger error' 's/"max_ulp": 0\.[0-9]*/"max_ulp": 0.25/' 1 '^not ok .* max ulp grew from 0.25 to'
# rotation-portable's errors are 0.49999 and 2.97994e-8 here: an increase of a thousandth is a failure too.
changed 'a slightly larger error' \
  's/"max_ulp": 0\.4999[0-9]*/"max_ulp": 0.4995/' 1 '^not ok .* max ulp grew from 0.4995 to 0.4999'
changed 'a slightly larger absolute error' \
  's/"max_abs": 2.979[0-9]*e-8/"max_abs": 2.977e-8/' 1 '^not ok .* max error grew from 2.977e-08 to 2.979'
changed 'a smaller error is no failure' 's/"max_ulp": 0\.[0-9]*/"max_ulp": 0.75/' 0 'max ulp fell from 0.75 to'
changed 'more misrounded elements' 's/"misrounded": [0-9]*/"misrounded": -1/' 1 '^not ok .* misrounded grew from -1'
changed 'a claim that has become loose' 's/"share": [0-9.e-]*/"share": 100.0/' 0 'the claim has become loose'
changed 'another bound' 's/"ulp": 0.5,/"ulp": 0.75,/' 0 'another bound is claimed'
changed 'another libm: skipped for kernels that depend on it' "$libm" 0 'baseline .*SKIP it stands on libm' naive
changed 'another libm: compared for kernels that do not' "$libm" 0 '^ok [0-9]* - rotation-portable baseline 300x64$'
verify --len 301 --dim 64 --kernel rotation-portable --baseline saved.json
check 'another table: fails' told 1 '^not ok .* baseline .*the baseline has no such entry; --allow-new skips'
verify --len 301 --dim 64 --kernel rotation-portable --baseline saved.json --allow-new
check 'or is skipped, if asked for' told 0 'baseline .*SKIP the baseline has no such entry'
sed 's/"kernel": "rotation-portable"/"kernel": "another"/' saved.json >changed.json
verify $small --kernel rotation-portable --baseline changed.json
check 'another kernel: fails' told 1 '^not ok .* baseline .*the baseline has no such entry'
verify --len 3 --dim 4 --baseline "$root/README.md"
check 'a file that is no baseline: one line, status 2' test $status -eq 2 -a "$(wc -l <err)" -eq 1

"$POSENC" verify --brief --len 300 --dim 64 --kernel rotation-portable --baseline changed.json --format junit >good.xml
verify --len 300 --dim 64 --kernel rotation-portable --baseline changed.json
points=$(sed -n 's/^1\.\.//p' out)
check 'JUnit: one case for each property' \
  test "$(grep -c '<testcase classname="rotation-portable"' good.xml)" -eq "$points"
sed 's/"digest": "[0-9a-f]*"/"digest": "0"/' saved.json >changed.json
"$POSENC" verify --brief --len 300 --dim 64 --kernel rotation-portable --baseline changed.json --format junit >bad.xml
check 'JUnit: a failure, with its replay command' \
  grep -q '<failure message="bits changed, 0 to [0-9a-f]*">replay: posenc verify --kernel rotation-portable' bad.xml
# Sanitizers cannot make the memory of plans read-only; then that check is skipped.
check 'JUnit: counted' grep -q "<testsuites name=\"posenc\" tests=\"$points\" failures=\"1\" skipped=\"[01]\">" bad.xml

# The x of add and rope follows from the seed.
rope='--len 40 --dim 6 --op rope --heads 3 --inverse --kernel rotation-portable'
verify $rope --save saved.json
check 'a baseline of rope is saved' test $status -eq 0
verify $rope --baseline saved.json
check 'the baseline of rope holds' told 0 '^ok [0-9]* - rotation-portable baseline 40x6-rope3-inverse$'
verify $rope --seed 2 --baseline saved.json
check 'a baseline of another x is skipped' told 0 'baseline .*SKIP the baseline is of other elements'
sed 's/"digest": "[0-9a-f]*"/"digest": "0"/' saved.json >changed.json
verify $rope --baseline changed.json
check 'the replay command has the operation' told 1 '^# replay: .* --op rope --heads 3 --inverse --seed'
"$POSENC" verify --brief $rope --format junit >rope.xml
check 'JUnit of rope: checks for tables alone are skipped' \
  grep -q 'name="search"><skipped message="the search is one of tables"/>' rope.xml

verify --len 300 --dim 64
check 'the number of kernels that ran is printed' grep -q '^# [0-9]* of [0-9]* kernels ran' out
verify --kernel 'div-term' --len 4 --dim 4 --isa generic --offset 4
trusted() { [ $status -eq 0 ] && [ "$(grep -c MISTRUSTED out)" -eq 0 ]; }
check 'a check that compares something is trusted' trusted
# A record without compared elements is no success; tests/broken checks that TAP says so.
verify --kernel rotation-portable --len 300 --dim 64 --shard 1/1 --format json -o record.json
check 'a record' test $status -eq 0
sed 's/"elements": 19200/"elements": 0/' record.json >nothing.json
"$POSENC" merge nothing.json -o merged.json 2>err
check 'a record without a compared element is exit status 1' test $? -eq 1 -a ! -s err
"$POSENC" merge record.json -o merged.json 2>err
check 'a record with compared elements is exit status 0' test $? -eq 0 -a ! -s err
plan
