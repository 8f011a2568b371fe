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
check 'with a line for each entry' test "$(wc -l <saved.json)" -eq "$(($(grep -c '"digest"' saved.json) + 11))"
check 'and the facts of the environment' grep -q '"cpu": ".*"libc": "[^"]*", "sleef": "' saved.json
verify $small --baseline saved.json
check 'the saved baseline holds' told 0 'rotation-portable baseline'
verify $small --base 5e5 --kernel rotation-portable
check 'the base is in the name of the shape' told 0 'accuracy 300x64-base500000:'

changed() { # NAME SED-SCRIPT STATUS TEXT [KERNEL [OPTION]]
  sed "$2" saved.json >changed.json
  verify $small --kernel "${5:-rotation-portable}" --baseline changed.json ${6:-}
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
changed 'a bound that has become loose' 's/"share": [0-9.e-]*/"share": 100.0/' 0 'the bound has become loose'
changed 'another bound' 's/"ulp": 0.5,/"ulp": 0.75,/' 0 'it has another bound'
changed 'a larger mean' 's/"mean_ulp": 0\.249/"mean_ulp": 0.248/' 1 '^not ok .* mean ulp grew from 0.248'
# An entry counts errors from 2^-4 ulp on; of rotation-portable's, none is 1/2 ulp or more.
changed 'more of the larger errors' 's/\({"below": 0.5, "count": \)[0-9]*/\195/' 1 \
  '^not ok .* errors of 0.25 ulp or more grew from 95 to'
changed 'a larger error in a range of positions' 's/\("from": 16, "max_ulp": 0\.49\)[0-9]*/\10/' 1 \
  '^not ok .* max ulp at positions from 16 grew from 0.49 to 0.49'
changed 'a larger absolute error there' 's/\("from": 16, "max_ulp": 0[0-9.]*, "max_abs": 2\.9\)[0-9]*/\10/' 1 \
  '^not ok .* max error at positions from 16 grew from 2.9e-08 to 2.9'
changed 'a range without errors' 's/{"from": 16, [^}]*}, //' 1 '^not ok .* max ulp at positions from 16 grew from 0 to'
changed 'an old baseline lacks them, and that is told' 's/"by_position": [^]]*], //; s/"histogram": [^]]*], //' 0 \
  '^ok .*: the baseline lacks the histogram: save it again; the baseline lacks errors by position: save it again$'

# ---- another environment ----
changed 'another libm: a kernel that depends on it is compared' "$libm" 0 \
  '^ok .* naive baseline 300x64: the environment differs: libc (was other)$' naive
halved='s/"max_abs": 1\.4[0-9]*e-5/"max_abs": 7.2e-6/'
changed 'and an error that has doubled is a failure, with the fact' "$libm; $halved" 1 \
  '^not ok .* libc (was other); --allow-environment makes allowance for it; max error grew from 7.2e-06 to 1.4' naive
changed 'of the same environment too, without one' "$halved" 1 '^not ok .* baseline 300x64; max error grew' naive
changed 'with --allow-environment as well' "$libm; $halved" 1 '^not ok .* max error grew' naive --allow-environment
changed 'which accepts what is equal' "$libm" 0 '^ok .* differs: libc (was other), for which allowance is made$' \
  naive --allow-environment
less='s/"max_abs": 1\.4[0-9]*e-5/"max_abs": 1.2e-5/'
changed 'and an error that is a fifth larger' "$libm; $less" 0 '^ok .* max error grew from 1.2e-05' naive \
  --allow-environment
changed 'only where the environment differs' "$less" 1 '^not ok .* max error grew from 1.2e-05' naive \
  --allow-environment
changed 'and for kernels that are not reproducible' "$libm; s/\"max_ulp\": 0\.[0-9]*/\"max_ulp\": 0.45/" 1 \
  '^not ok .* max ulp grew from 0.45' rotation-portable --allow-environment
for fact in compiler cflags sleef isa cpu emulator; do
  changed "another $fact is named" "s/\"$fact\": \"[^\"]*\"/\"$fact\": \"other\"/; $halved" 1 \
    "^not ok .* differs: $fact (was other); " naive
done
changed 'an old baseline tells libc alone' \
  's/"environment": {.*"libc": \("[^"]*"\).*/"libc": "other",/; '"$halved" 1 \
  '^not ok .* compiler (not told), .*libc (was other)' naive
# Of the errors above 2e-7, half is what they were: the mean grows by a tenth, the largest error does not.
verify $small --kernel naive --save naive.json
mean=$(sed -n 's/.*"mean_ulp": \([0-9.]*\).*/\1/p' naive.json)
partly="s/\"mean_ulp\": [0-9.]*/\"mean_ulp\": $(awk "BEGIN { print $mean * 767 / 841 }")/"
changed 'errors that have doubled in a part of the table' "$partly" 1 '^not ok .* mean ulp grew from' naive
changed 'with --allow-environment too' "$libm; $partly" 1 '^not ok .* mean ulp grew from' naive --allow-environment
slightly="s/\"mean_ulp\": [0-9.]*/\"mean_ulp\": $(awk "BEGIN { print $mean / 1.03 }")/"
changed 'a mean that is a thirtieth larger' "$libm; $slightly" 0 '^ok .* mean ulp grew from' naive --allow-environment
wrong=$(sed -n 's/.*"misrounded": \([0-9]*\).*/\1/p' naive.json)
misrounded() { echo "s/\"misrounded\": [0-9]*/\"misrounded\": $1/"; }
changed 'misrounded elements, a twentieth more' "$libm; $(misrounded $((wrong * 20 / 21)))" 0 '^ok .* misrounded grew' \
  naive --allow-environment
changed 'an eighth more' "$libm; $(misrounded $((wrong * 8 / 9)))" 1 '^not ok .* misrounded grew' naive \
  --allow-environment
changed 'another libm: compared for kernels that do not' "$libm" 0 '^ok [0-9]* - rotation-portable baseline 300x64$'
verify --len 301 --dim 64 --kernel rotation-portable --baseline saved.json
check 'another table: fails' told 1 '^not ok .* baseline .*the baseline has no such entry; --allow-new skips'
sed 's/"kernel": "\(naive\|div-term\)"/"kernel": "former"/' saved.json >changed.json
verify $small --kernel naive,div-term,rotation-portable --baseline changed.json --allow-new
check 'or is skipped, if asked for' told 0 'baseline .*SKIP the baseline has no such entry'

# ---- what was not compared ----
# Every skip has its reason, in every format.
skips() { # FORMAT TEXT
  posenc verify --brief $small --kernel naive,div-term,rotation-portable --baseline changed.json --allow-new \
    --format "$1"
  [ $status -eq 0 ] && says "$2"
}
check 'a skip has its reason as text' skips text \
  '^SKIP  div-term, baseline of 300x64 and 1 more: the baseline has no such entry$'
check 'in JUnit' skips junit '<testcase .*name="baseline"><skipped message="the baseline has no such entry"/>'
check 'and in JSON' skips json '^ *"note": "the baseline has no such entry"'
# ---- replay commands ----
# Each, run as it is printed, finds the same failure and ends with the same status.
replays() { # OPTION...
  posenc verify --brief "$@"
  [ $status -eq 1 ] || return
  sed -n '/^not ok/{s/^not ok [0-9]* - [^ ]* \([^ ]*\) [^ ;]*/\1/p;n;s/^# replay: posenc //p;}' out >pairs
  [ -s pairs ] || return
  while read -r failure && read -r command; do
    eval "\"\$POSENC\" $command" </dev/null >again 2>/dev/null
    [ $? -eq 1 ] && sed -n 's/^not ok [0-9]* - [^ ]* \([^ ]*\) [^ ;]*/\1/p' again | grep -q -F -x "$failure" || return
  done <pairs
}
sed 's/"mean_ulp": 0\.2/"mean_ulp": 0.1/' "$root/tests/baseline.json" >"a baseline.json"
check 'replays of published tables, whose names they lack' \
  replays --kernel rotation-portable --baseline "a baseline.json"
sed "$libm; s/\"max_abs\": [0-9]/\"max_abs\": 0/" saved.json >changed.json
check 'replays with --allow-environment' \
  replays $small --kernel naive,div-term --baseline changed.json --allow-environment
check 'replays without it' replays $small --kernel naive --baseline changed.json
check 'replays of a table that is new' replays --len 301 --dim 64 --kernel naive --baseline changed.json

sed "$libm" saved.json >changed.json
posenc verify --brief $small --kernel naive --baseline changed.json --format text
check 'text tells what a baseline has found' says '^NOTE  naive, baseline of 300x64: the environment differs: libc'
uncompared() { # KERNEL OPTION...: nothing of it was compared, which every format tells
  kernel=$1
  shift
  for format in tap text junit json; do
    posenc verify --brief --dim 64 --baseline changed.json "$@" --format $format
    told=out
    [ $format = json ] && told=err # which has the field "uncompared"
    [ $status -eq 1 ] && grep -q "the baseline has $kernel, of which nothing was compared with it" $told || return
  done
}
cp saved.json changed.json
check 'a kernel with new tables alone' uncompared rotation-portable --kernel rotation-portable --len 301 --allow-new
sed 's/"kernel": "rotation-portable"/"kernel": "rotation-former"/' saved.json >changed.json
check 'a kernel that is gone' uncompared rotation-former --kernel 'rotation-*' --len 300 --allow-new
verify $small --kernel rotation-portable --baseline changed.json --allow-new
check 'unless it is not selected' told 0 'baseline .*SKIP'
# recurrence refuses negative positions, on every CPU.
before='--offset -5 --len 300 --dim 64'
verify $before --kernel naive,rotation-portable --save before.json
sed 's/"kernel": "naive"/"kernel": "recurrence"/' before.json >same.json
sed "$libm" same.json >changed.json
refuses() { # OPTION...
  verify $before --kernel 'recurrenc*,rotation-portable' "$@"
}
refuses --baseline same.json
check 'a kernel refuses what it did: fails' told 1 '^not ok .* recurrence baseline .*; the baseline has it, but its rec'
check 'after the refusal' says '^ok .* recurrence 300x64-5 # SKIP its recurrence begins'
verify $before --kernel 'recurrenc*,rotation-portable' --baseline same.json --allow-environment
check 'with --allow-environment too' told 1 '^not ok .* recurrence baseline'
refuses --baseline changed.json
check 'unless the environment differs' told 1 'differs: libc (was other); --allow-environment skips it$'
refuses --baseline changed.json --allow-environment
check 'which must be allowed' told 0 '^ok .* recurrence baseline 300x64-5 # SKIP its recurrence begins'
check 'but something must be compared' uncompared recurrence --kernel 'recurrenc*,naive' --offset -5 --len 300 \
  --allow-environment --allow-new
refuses --baseline same.json --format json -o refused.json
posenc merge refused.json -o merged.json
check 'its totals are those of its checks' eval '! grep -q "by the checks it is" err'
posenc verify --brief $before --kernel 'recurrenc*,rotation-portable' --baseline same.json --format text
check 'text tells the refusal and the failure' eval \
  'says "^FAIL  recurrence, baseline of 300x64-5: the baseline has it" && says "^SKIP  recurrence, 300x64-5: its rec"'
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
check 'a baseline of another x is no comparison' told 1 \
  '^not ok .* the baseline is of other elements: use its --seed 1 and --budget 67108864$'
field() { # NAME VALUE: prints a script for sed that sets a field of the baseline
  printf 's/^  "%s": [0-9]*/  "%s": %s/' "$1" "$1" "$2"
}
value() { # NAME: prints a field of the saved baseline
  sed -n "s/^  \"$1\": \([0-9]*\),$/\1/p" saved.json
}
saved() { # OPTION...: saves the baseline of a run, and keeps its rules
  verify "$@" --save saved.json
  row_rule=$(value row_rule) x_rule=$(value x_rule)
  other_rows=$(field row_rule $((row_rule + 1))) other_x=$(field x_rule $((x_rule + 1)))
}
drawn() { # NAME SED-SCRIPT STATUS TEXT: of the saved baseline with other rules, and the run's options
  sed "$2" saved.json >changed.json
  verify $run --baseline changed.json
  check "$1" told "$3" "$4"
}
by() { # RULE NOW: prints what is told of another one
  echo "^not ok .* the baseline is of other elements, drawn with $1 $(($2 + 1)) and not $2: save it again\$"
}
greater='s/"max_ulp": 0\.[0-9]*/"max_ulp": 0.1/'
sample='--len 3000 --dim 64 --budget 3000 --kernel rotation-portable' run=$rope
saved $run
check 'a baseline has the rules by which rows and x are drawn' test "$row_rule" -ge 1 -a "$x_rule" -ge 1
drawn 'a baseline of x by another rule is told as such' "$other_x" 1 "$(by x_rule "$x_rule")"
drawn 'whole, it does not depend on the rule of rows' "$other_rows" 0 '^ok .* baseline 40x6-rope3-inverse$'
run=$sample
saved $run
drawn 'a sample of rows by another rule' "$other_rows" 1 "$(by row_rule "$row_rule")"
drawn 'is told as such, not as larger errors' "$other_rows; $greater" 1 "$(by row_rule "$row_rule")"
fewer='s/"mode": "sampled"/"mode": "exhaustive"/; s/"elements": [0-9]*/"elements": 64/'
drawn 'though it took more or fewer' "$other_rows; $fewer" 1 "$(by row_rule "$row_rule")"
drawn 'without x, it does not depend on its rule' "$other_x" 0 '^ok .* baseline 3000x64$'
verdict() { # prints what a baseline says of the run with such a field
  sed "$1" saved.json >changed.json
  verify $run --baseline changed.json
  grep -E '^(not )?ok .* baseline ' out
}
check 'a baseline before that field is of the first rule' test \
  "$(verdict '/^  "row_rule": /d')" = "$(verdict "$(field row_rule 1)")"
run="$sample --op rope"
saved $run
drawn 'a sample of rope depends on both: that of x' "$other_x" 1 "$(by x_rule "$x_rule")"
drawn 'and that of rows' "$other_rows" 1 "$(by row_rule "$row_rule")"
run=$sample
saved $run
verify $sample --budget 3001 --baseline saved.json
check 'a sample by another budget is no comparison' told 1 '^not ok .*: use its --seed 1 and --budget 3000$'
run="$small --kernel rotation-portable"
saved $run
drawn 'a whole table does not depend on the rules' "$other_rows; $other_x" 0 '^ok .* baseline 300x64$'
verify $small --kernel rotation-portable --seed 2 --budget 70000000 --baseline saved.json
check 'nor a seed' told 0 '^ok .* baseline 300x64$'

verify $rope --save saved.json
sed 's/"digest": "[0-9a-f]*"/"digest": "0"/' saved.json >changed.json
verify $rope --baseline changed.json
check 'the replay command has the operation' told 1 '^# replay: .* --op rope --heads 3 --inverse --seed'
"$POSENC" verify --brief $rope --format junit >rope.xml
check 'JUnit of rope: checks for tables alone are skipped' \
  grep -q 'name="search"><skipped message="the search is one of tables"/>' rope.xml

posenc verify --brief $rope --format text
check 'text tells why any check was skipped' says \
  '^SKIP  rotation-portable, search of 40x6-rope3-inverse: the search is one of tables$'

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
