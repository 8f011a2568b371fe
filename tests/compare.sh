#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc compare on records that differ in known ways.
command=compare
. "${srcdir:-.}/tests/command.sh"

# ---- accuracy
"$POSENC" verify --kernel rotation-portable,naive --len 200 --dim 64 --search 0 --format json > a.json 2> err
sed 's/"misrounded": 0/"misrounded": 1/' a.json > b.json
check 'a record and itself' ends 0 a.json a.json
check 'has nothing to tell but the sum' test "$(cat out)" = '0 worse, 0 better, 2 the same, 0 undecided'
check 'one more misrounded element is worse' ends 1 a.json b.json
check 'and is told, with the command that shows it' says '^worse  *rotation-portable/200x64 *misrounded 0 -> 1$'
check 'which is a command' says '^ *posenc verify --kernel rotation-portable --len 200 --dim 64'
check 'the other way round it is better' ends 0 b.json a.json
check 'and told' says '^better  *rotation-portable/200x64'
sed 's/"mode": "exhaustive"/"mode": "sampled"/' a.json > c.json
check 'other elements decide nothing' ends 0 a.json c.json
check 'and that is told' says 'undecided.*other elements were looked at'
# Of add and rope x is drawn too, so that a whole result depends on its seed; of a table it does not.
record() { # FILE OPTION...
  file=$1
  shift
  "$POSENC" verify --kernel rotation-portable --dim 64 --search 0 --brief --format json "$@" >"$file" 2>err
}
record x.json --len 40 --op add
record x2.json --len 40 --op add --seed 2
check 'x of another seed' ends 0 x.json x2.json
check 'is other elements' says 'undecided .*other elements were looked at'
record t2.json --len 200 --seed 2
sed 's/"misrounded": 0/"misrounded": 1/' t2.json >t3.json
check 'a whole table has none' ends 1 a.json t3.json
sed 's/_rule": [0-9]*/&9/' t3.json >t4.json
check 'nor is it drawn by rules' ends 1 a.json t4.json
record s.json --len 3000 --budget 3000
for drawn in 'seed x' 'budget s' 'row_rule s' 'x_rule x'; do
  file=${drawn#* }.json
  sed "s/^  \"${drawn% *}\": [0-9]*/&9/" "$file" >drawn.json
  check "by another ${drawn% *}" ends 0 "$file" drawn.json
  check 'other elements decide nothing' says '0 worse, 0 better, 0 the same, 1 undecided'
done
for drawn in 'budget x' 'row_rule x' 'x_rule s'; do
  file=${drawn#* }.json
  sed "s/^  \"${drawn% *}\": [0-9]*/&9/" "$file" >drawn.json
  check "another ${drawn% *} by which nothing was drawn" ends 0 "$file" drawn.json
  check 'the same elements' says '0 worse, 0 better, 1 the same, 0 undecided'
done
record searched.json --len 3000 --budget 3000 --search 10
check 'a search looks at others, beside the result' ends 0 s.json searched.json
check 'of the same elements' says '0 worse, 0 better, 1 the same, 0 undecided'
"$POSENC" verify --kernel naive --len 100 --dim 64 --search 0 --format json > d.json 2> err
check 'nothing in common' is_refused 'they have nothing in common' a.json d.json
check 'Markdown' ends 1 a.json b.json --format markdown
check 'has the row' says '^| worse | rotation-portable/200x64 | misrounded 0 -> 1 |  |$'
check 'JSON' ends 1 a.json b.json --format json
check 'has the counts' says '"worse": 1'

# ---- speed: five timings of one benchmark in Google Benchmark's JSON
timings() { # NAME NANOSECONDS...: prints a record
  name=$1
  shift
  printf '{"context": {"cpu": "%s"}, "benchmarks": [' "$name"
  comma=
  for time; do
    printf '%s{"name": "f", "run_name": "f", "run_type": "iteration", ' "$comma"
    printf '"real_time": %s, "time_unit": "ns"}' "$time"
    comma=,
  done
  printf ']}\n'
}
timings x 100 101 99 100.5 99.5 > fast.json
timings x 120 121 119 120.5 119.5 > slow.json
timings y 100 160 70 130 90 > wild.json
timings x 100 > single.json
timings x 100.2 101.1 99.2 100.4 99.6 > again.json
check 'twenty percent slower is worse' ends 1 fast.json slow.json
check 'ratio, interval, smallest difference and p' says '^worse  *f .* 1\.200  1\.184 to 1\.216  *1\.3%  p 0\.0079$'
check 'not if 30 % are allowed' ends 0 fast.json slow.json --slower 30
check 'and faster is better' ends 0 slow.json fast.json
check 'which is told' says '^better  *f '
check 'the same is the same' ends 0 fast.json again.json --all
check 'and told when asked for' says '^same  *f '
check 'what spreads is undecided' ends 0 fast.json wild.json
check 'with the reason' says 'the spread is too wide to tell: about [1-9][0-9]* more repetitions of each would decide$'
check 'the other machine is told' says '^cpu: x, now y$'
check 'unless that shall fail' ends 3 fast.json wild.json --fail-undecided
check 'which the same does not' ends 0 fast.json again.json --fail-undecided
check 'and worse is worse' ends 1 fast.json slow.json --fail-undecided
check 'one timing decides nothing' ends 0 fast.json single.json
check 'and says how many would' says 'too few repetitions to tell: about 3 more repetitions of each would decide$'
check '--seconds of records' is_refused '--seconds 3: it is for --run' fast.json slow.json --seconds 3
check 'at alpha 0.001 five timings decide nothing' ends 0 fast.json slow.json --alpha 0.001

sed '0,/"ok": true/s//"ok": false/' a.json > unkept.json
check 'a check that fails now, with the same errors, is worse' ends 1 a.json unkept.json
check 'with the reason' says 'a check fails that did not'
check 'one that failed before is not' ends 0 unkept.json unkept.json
timings x 0.0001 0.000101 0.000099 0.0001005 0.0000995 | sed 's/"ns"/"ms"/g' > milli.json
timings x 1e-7 1.01e-7 9.9e-8 1.005e-7 9.95e-8 | sed 's/"ns"/"s"/g' > whole.json
timings x 0.1 0.101 0.099 0.1005 0.0995 | sed 's/"ns"/"us"/g' > micro.json
for unit in micro milli whole; do
  check "times in other units: $unit" ends 0 fast.json $unit.json --all
  check 'are the same' says '^same  *f '
done
# Three of five are slower by a fifth, two are not: a ratio alone proves nothing.
timings x 120 121 98 119.5 98.5 > mixed.json
check 'a fifth slower on the whole, by chance: no failure' ends 0 fast.json mixed.json
check 'which is undecided' says '^undecided  *f .* p 0\.[1-9]'
# The interval has a large upper end, but not its lower end.
timings x 100 100.5 99.5 150 160 > late.json
check 'what may have become much slower' ends 0 fast.json late.json
check 'is not the same' says '^undecided  *f .*the spread is too wide to tell'
# The share of the limit is independent of the machine's other work, which affects both; half the share is twice the
# cost.
shares() { # SHARE...: of the limit, each in a time of 100 ns
  sep='{"benchmarks": ['
  for share; do
    printf '%s{"name": "f", "run_type": "iteration", "real_time": 100, "time_unit": "ns", ' "$sep"
    printf '"of_limit": %s}' "$share"
    sep=,
  done
  printf ']}\n'
}
shares 0.8 0.81 0.79 0.802 0.798 > large.json
shares 0.4 0.41 0.39 0.402 0.398 > small.json
check 'half the share of the limit is worse' ends 1 large.json small.json
check 'by two' says '^worse  *f .* 2\.0'
check 'twice the share is better' ends 0 small.json large.json
check 'which is told, too' says '^better  *f .* 0\.[45]'
check 'by time alone they are the same' ends 0 large.json small.json --by time --all
check 'as their times are' says '^same  *f '

# ---- text of foreign origin: facts and names may have what terminals obey, line ends, and HTML
foreign='\u001b[2J\u009b31m\n0 worse<script>|\u2028\u202e\u007f'
timings "x$foreign" 100 101 99 100.5 99.5 | sed "s/\"f\"/\"f$(printf '%s' "$foreign" | sed 's/[\\]/&&/g')\"/g" > foreign.json
sed 's/"cpu": "x/"cpu": "y/' foreign.json > stranger.json
plain='?\[2J?31m?0 worse<script>|???'
forbidden=$(printf '\033\n\302\233\n\342\200\250\n\342\200\256\n\177')
obeyed() { grep -q -e "$forbidden" out err; }
check 'a name that terminals would obey' ends 0 foreign.json stranger.json --all
check 'is printed without that, in one line' says "^cpu: x$plain, now y$plain\$"
check 'as names of benchmarks are' says "^same  *f$plain "
check 'without control characters' eval '! obeyed'
check 'in Markdown' ends 0 foreign.json stranger.json --format markdown
check 'it is text, too' says '^| cpu | x?\\\[2J?31m?0 worse\\<script\\>\\|??? | y'
check 'without control characters' eval '! obeyed'
check 'in the rows, too' ends 0 foreign.json stranger.json --all --format markdown
check 'it is text there' says '^| same | f?\\\[2J?31m?0 worse\\<script\\>\\|??? | '
check 'in JSON' ends 0 foreign.json stranger.json --format json
check 'it is plain, too' eval '! obeyed && ! grep -q -i -e "u00[01]" -e u009b -e u2028 out'

# ---- several benchmarks: Holm's correction
several() { # PERCENT: benchmarks a to j, of five timings each; those of a take that percentage of the others
  sep='{"benchmarks": ['
  for name in a b c d e f g h i j; do
    for time in 100 101 102 103 104; do
      [ "$name" != a ] || time=$((time * $1 / 100))
      printf '%s{"name": "%s", "run_type": "iteration", "real_time": %s, "time_unit": "ns"}' "$sep" "$name" "$time"
      sep=,
    done
  done
  printf ']}\n'
}
several 100 > ten.json
several 120 > slower.json
check 'ten benchmarks of which one is a fifth slower' ends 0 ten.json slower.json
check 'prove nothing with five timings each: p is ten times as large' says '^undecided  *a .* p 0\.0794'
check 'and too few are told' says '^undecided  *a .*too few repetitions to tell'
check 'they do at ten times the level' ends 1 ten.json slower.json --alpha 0.5
check 'the others are not worse for it' says '^1 worse, 0 better'

# ---- interrupted repetitions
repetitions() { # NAME FIELDS REAL:CPU...: of a record of posenc
  name=$1 fields=$2 sep=
  shift 2
  printf '{"context": {"posenc_schema": "posenc-bench-2"}, "benchmarks": ['
  for times; do
    printf '%s{"name": "%s", "run_type": "iteration", "time_unit": "ns", %s' "$sep" "$name" "$fields"
    printf '"real_time": %s, "cpu_time": %s}' "${times%:*}" "${times#*:}"
    sep=,
  done
  printf ']}\n'
}
busy='200:100 201:100 202:100 203:100'
alone='100:100 101:101 102:101 103:102'
repetitions hot/8x8/k '' $alone $alone > alone.json
repetitions hot/8x8/k '' $busy $busy > busy.json
repetitions hot/8x8/k '' $busy $alone > partly.json
repetitions hot/8x8/k '' $busy 100:100 101:101 102:101 > mostly.json
repetitions hot/8x8/k '' 104:100 104:100 104:100 104:100 104:100 > nearly.json
check 'repetitions that other processes interrupted' ends 0 alone.json busy.json
check 'decide nothing' says \
  '^undecided  *hot/8x8/k .* other processes interrupted 8 of 16 repetitions; 4 of each record are needed: see posenc'
check 'on whichever side' ends 0 busy.json alone.json
check 'as well' says '^undecided .*interrupted 8 of 16'
check 'four that were not are enough' ends 0 alone.json partly.json --all
check 'to be the same' says '^same  *hot/8x8/k'
check 'three are not' ends 0 alone.json mostly.json
check 'which is told' says '^undecided .*interrupted 4 of 15'
check 'of both records those are left out' ends 0 alone.json partly.json --format json
check 'and counted' test "$(tr -d ' \n' <out | sed 's/.*"samples":\([^a-z]*\),"interrupted":\([^a-z]*\),.*/\1 \2/')" = \
  '[8,4] [0,4]'
slow='120:120 121:121 122:122 123:123'
repetitions hot/8x8/k '"of_limit": 0.5, ' $alone $alone > one.json
repetitions hot/8x8/k '"of_limit": 0.4, ' $slow $slow > slow.json
repetitions hot/8x8/k '"of_limit": 0.4, ' $busy $slow > disturbed.json
check 'a fifth slower, undisturbed' ends 1 one.json slow.json
check 'is no evidence if half of the repetitions were interrupted' ends 0 one.json disturbed.json
check 'which is told' says \
  '^undecided  *hot/8x8/k .* p 0\.0[0-9]* .*interrupted too many repetitions: see posenc compare --run$'
with_plan() { # HOT... -- PLAN...: a record of both modes
  hot=
  while [ "$1" != -- ]; do hot="$hot $1" && shift; done
  shift
  repetitions plan/8x8/k '' "$@" | sed 's/\]}$/, /'
  repetitions hot/8x8/k '' $hot | sed 's/.*"benchmarks": \[//'
}
with_plan $alone $alone -- $alone $alone > one.json
with_plan $alone $alone -- $slow $slow > two.json
check 'a plan, which has no limit beside it' ends 1 one.json two.json
with_plan $busy $busy $alone -- $slow $slow > two.json
check 'is undecided if the machine was busy at other times of the run' ends 0 one.json two.json
check 'for that reason' says '^undecided  *plan/8x8/k .*interrupted too many repetitions'
check 'a clock that is read late is no interruption' ends 0 alone.json nearly.json --all
check 'of 4 %' says '^[a-z]*  *hot/8x8/k .* 1\.0[2-4]'
for name in cold/8x8/k fresh/8x8/k other; do
  repetitions $name '' $alone $alone > one.json
  repetitions $name '' $busy $busy > two.json
  check "$name: the CPU's time is no measure there" ends 1 one.json two.json
done
threaded='"threads_limit_bytes_per_second": 1e9, '
repetitions hot/8x8/k "$threaded" $alone $alone > one.json
repetitions hot/8x8/k "$threaded" $busy $busy > two.json
check 'nor of several threads' ends 1 one.json two.json
for file in alone busy; do sed 's/posenc_schema/schema/' $file.json >other-$file.json; done
check 'nor of other programs' ends 1 other-alone.json other-busy.json

sed '/"max_ulp": {/,/}/s/"ulp": [^,]*/"ulp": null/' a.json > none.json
check 'an error that is no number is worse than one that is' ends 1 a.json none.json
check 'and told as such' says '^worse  *rotation-portable/200x64'

# ---- bad input
printf '{"x": 1}\n' > other.json
printf '{"x": ' > broken.json
check 'two records are needed' is_refused 'OLD and NEW are needed: two records' a.json
check 'no third' is_refused "extra operand 'b.json'" a.json a.json b.json
check 'accuracy and speed' is_refused 'one tells accuracy, the other speed' a.json fast.json
check 'neither' is_refused 'neither an accuracy record' other.json a.json
one() { # FIELDS: prints a record of a benchmark x with these
  printf '{"benchmarks": [{"name": "x", %s}]}\n' "$1"
}
one '"real_time": "nan", "time_unit": "ns"' > bad.json
check 'a time that is none' is_refused 'bad.json: benchmarks\[0\], x: real_time is not a number' fast.json bad.json
check 'whichever record it is in' is_refused 'bad.json: benchmarks\[0\], x: real_time' bad.json fast.json
wrong_field() { # NAME FIELD FIELDS: a benchmark with these is refused because of FIELD
  one "$3" > bad.json
  check "$1" is_refused "bad.json: benchmarks\[0\], x: $2" bad.json bad.json
}
wrong_field 'no time' real_time '"time_unit": "ns"'
wrong_field 'a time below 0' real_time '"real_time": -1, "time_unit": "ns"'
wrong_field 'a unit that is none' time_unit '"real_time": 1, "time_unit": "fortnights"'
wrong_field 'no unit' time_unit '"real_time": 1'
printf '{"benchmarks": [{"real_time": 1, "time_unit": "ns"}]}\n' > bad.json
check 'no name' is_refused "bad.json: benchmarks\[0\], '': it has no name" bad.json bad.json
one '"error_occurred": true, "error_message": "no"' > failed.json
check 'no times at all' is_refused 'no benchmark has times in both' failed.json failed.json
one '"real_time": 0, "time_unit": "ns"' > zero.json
check 'times of 0 are none' is_refused 'no benchmark has times in both' zero.json zero.json
one '"real_time": 1, "time_unit": "ns"' > good.json
check 'what fails now has no times, and is worse' ends 1 good.json failed.json
check 'which is told' says 'fails now'
fit='{"name": "x_BigO", "run_name": "x", "big_o": "N", "real_coefficient": 1, "time_unit": "ns"}'
sed 's/}]}/}, '"$fit"', {"name": "x_RMS", "rms": 0.1}]}/' good.json > fit.json
check 'the fit of a complexity needs no times' ends 0 fit.json fit.json
check 'broken JSON' is_refused 'broken.json: ' broken.json a.json
check 'a missing file' is_refused 'missing.json: ' missing.json a.json
check '--alpha' is_refused "alpha.*2.*not between 0 and 1" a.json a.json --alpha 2
check '--slower' is_refused "slower.*-1" a.json a.json --slower -1
check '--format' is_refused 'format.*xml' a.json a.json --format xml
check '--by' is_refused 'by.*cpu' a.json a.json --by cpu
plan
exit "$tap_failed"
