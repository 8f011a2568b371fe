#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests what verify, bench and report print, write and refuse.
# It takes half a minute: it verifies with every property, and times.
# shellcheck disable=SC2016,SC2086
. "${srcdir:-.}/tests/command.sh"
unset POSENC_ISA
mkdir empty
refused() { check "refused: $(shift && echo "$*")" refused_unwritten "$@"; } # PATTERN ARGUMENT...

# ---- verify ----

posenc verify --kernel rotation-portable --len 64 --dim 16
check 'verify keeps to its exit status' test $status -eq 0
check 'verify prints TAP' grep -q '^ok 1 ' out
check 'verify prints a plan' grep -q '^1\.\.[1-9]' out
posenc verify --kernel 'naive*' --len 64 --dim 16 --format json -o accuracy.json
check 'verify --format json' grep -q '"schema": "posenc-accuracy-1"' accuracy.json
check 'verify -o leaves standard output alone' test ! -s out
posenc verify --kernel naive --len 300 --dim 16 --offset 100 --explain
check 'verify --explain tells what the largest error is made of' \
  test "$(grep -c '^# the largest error, .*: frequency .*, phase .*, trig .*, store ' out)" -eq 1
check 'and what errors are made of from the first position, and from each power of two' \
  test "$(sed -n 's/^# *\([0-9][0-9]*\)\( *[0-9.e+-]*\)\{4\}$/\1/p' out | tr '\n' ' ')" = '100 128 256 '
refused '--profile: only --format json holds it' verify --kernel naive --len 4 --dim 4 --profile
cases=$root/reference/worst/base10000-d64.wc
refused '--profile: .*--cases' verify --kernel naive --profile --format json --cases "$cases"
posenc verify --kernel naive --len 0 --dim 16 --explain
check 'an empty table has no error to explain' test "$(grep -cE 'mean size|no telling' out)" -eq 0
nothing='naive on 0x16: the table is empty'
check 'nor anything else' \
  eval "[ $status -eq 1 ] && grep -qx '# MISTRUSTED: $nothing, nothing was compared' out"
posenc verify --kernel naive --len 0 --dim 16 --format junit -o empty.xml
check 'which is a failure in JUnit' \
  eval "[ $status -eq 1 ] && grep -q '<testcase .*name=.trust.><failure message=.$nothing' empty.xml"
posenc verify --kernel naive --len 0 --dim 16 --format json
check 'and told beside JSON' eval "[ $status -eq 1 ] && grep -q '^posenc verify: $nothing' err"
rm empty.xml
for op in add rope; do
  for size in '' '--len 20 --dim 16'; do
    refused "--search 9: cannot be combined with --op $op\$" verify --op $op $size --search 9
    refused "--explain: cannot be combined with --op $op\$" verify --op $op $size --explain
  done
  posenc verify --kernel rotation-portable --op $op --len 20 --dim 16 --search 0
  check "no search is one of $op, too" test $status -eq 0
  posenc verify --kernel rotation-portable --op $op --len 20 --dim 16 --format json
  check 'and its replay asks for none' test "$(grep -c '"replay":' out)" -gt 0 -a "$(grep -c -e '--search' out)" -eq 0
done
posenc verify --kernel rotation-portable --op rope-cache --len 20 --dim 16 --search 9 --explain
check 'the tables of a rope cache are searched' \
  eval '[ $status -eq 0 ] && grep -q "search 20x16-rope-cache: .* 18 compared" out'
posenc verify --kernel naive --len 300 --dim 16 --offset 100
check 'not unless it is asked for' test "$(grep -c 'the largest error' out)" -eq 0
posenc verify --kernel naive --len 300 --dim 16 --explain --format junit
check 'JUnit has it as output of the accuracy case' eval 'tr -d "\n" <out |
  grep -q "name=.accuracy.><system-out>the largest error[^<]*</system-out></testcase>"'
posenc verify --kernel 'naive*' --len 300 --dim 16 --explain --format json -o explained.json
if has_perl_json; then
  # Parts are doubles: their sum is within 2^-50 of the largest.
  adds_up() {
    perl -MJSON::PP -e 'local $/; my $j = decode_json <STDIN>; exit 1 unless @{$j->{records}} == 2;
      for (map { $_->{explain} } @{$j->{records}}) {
        my ($sum, $most) = (0, 0);
        for (values %{$_->{worst}{parts}}) { $sum += $_; $most = abs if abs > $most }
        exit 1 unless abs($sum - $_->{worst}{error}) <= $most / 2 ** 50 && $_->{worst}{error};
        exit 1 unless join(" ", map { $_->{position} } @{$_->{rows}}) eq "0 1 2 4 8 16 32 64 128 256" }' <explained.json
  }
  check 'in JSON the parts of the largest error add up to it' adds_up
else
  skip 'the parts in JSON' 'perl has no JSON::PP'
fi
compared() { # BUDGET
  posenc verify --kernel cr-portable --len 100000 --dim 64 --budget "$1"
  elements=$(sed -n 's/^ok 1 .*: sampled \([0-9]*\);.*/\1/p' out)
  [ "${elements:-0}" -le $((2 * $1)) ] && [ "${elements:-0}" -ge $((19 * $1 / 10)) ]
}
for budget in 1000 70000 1000000; do check "a sample is as large as its budget, $budget" compared $budget; done

# ---- bench and report ----

if "$POSENC" bench --kernel naive --len 8 --dim 4 2>&1 | grep -q 'without Google Benchmark'; then
  refused 'without Google Benchmark' bench --kernel naive --len 8 --dim 4
  timings=
else
  timings='--from bench.json'
  brief='--repetitions 3 --min-time 0.001'
  small="--len 64 --dim 16 $brief"
  TMPDIR=no/such/folder posenc bench --kernel 'naive*' $small
  check 'bench prints a row for each kernel and mode' test "$(grep -c '^64x16 *naive' out)" -eq 4
  posenc bench --kernel naive --mode row $small
  check 'or of one mode' test "$(grep -c '^64x16 *naive' out)" -eq 1 -a "$(head -n 1 out | cut -d: -f1)" = row
  posenc bench --kernel naive $small --format json -o bench.json
  check 'bench -o prints nothing' test ! -s out
  refused '--output no/such/folder/x.json: No such file' bench --kernel naive $small --format json \
    -o no/such/folder/x.json
  # PERL: runs it on the timing record on standard input, with all repetitions in @all, and in @executed those that
  # write
  timings() {
    parse 'my @all = grep { $_->{run_type} eq "iteration" } @{$j->{benchmarks}};
      my @executed = grep { $_->{name} !~ /^plan/ } @all;
      sub near { my ($x, $y) = @_; abs($x - $y) <= 1e-9 * abs($y) }
      sub limit_of { my ($one, $all) = map { $_[0]{"${_}limit_bytes_per_second"} // 0 } "", "threads_";
        $all > $one ? $all : $one }
      exit 1 if !@executed;'"$1"
  }
  # Every figure of a repetition follows from one time and the fill limit. real_time is that of the whole table, or of a
  # row.
  consistent() { # FILE BYTES-OF-AN-ELEMENT: written; for add and rope, read and written
    timings 'for (@executed) {
      my $rows = $_->{name} =~ /^row/ ? $_->{rows_timed} : $_->{rows};
      my $bytes = '"$2"' * $rows * $_->{dim} * $_->{heads} * $_->{batch};
      exit 1 unless near($_->{bytes_per_second} * $_->{ns_per_element}, '"$2"' * 1e9) &&
        near($_->{of_limit} * limit_of($_), $_->{bytes_per_second}) &&
        near($_->{bytes_per_second} * $_->{real_time}, $bytes * 1e9) && $_->{time_unit} eq "ns";
    }' <"$1"
  }
  if has_perl_json; then
    is_timing_record() {
      parse 'exit !($j->{context}{posenc_schema} eq "posenc-bench-2" && @{$j->{benchmarks}})' <bench.json
    }
    check 'bench --format json is a timing record' is_timing_record
    check 'its figures agree with each other' consistent bench.json 4
    "$POSENC" bench --kernel naive-f64 $small --dtype f64 --format json -o double.json
    check 'and those of f64' consistent double.json 8
    modes=plan,row,first,fresh,cold,hot
    "$POSENC" bench --kernel 'naive*' --mode $modes --len 512 --dim 64 $brief --format json -o modes.json
    all_modes() { # FILE SHAPE MODES KERNELS: three repetitions of each, and no others
      timings 'my %seen; $seen{$_->{name}}++ for @all;
        for my $mode (qw('"$3"')) { for (qw('"$4"')) { exit 1 unless delete $seen{"$mode/'"$2"'/$_"} == 3 } }
        exit !!%seen' <"$1"
    }
    check 'every mode is timed' all_modes modes.json 512x64 'hot cold fresh first row plan' 'naive naive-f64'
    check 'and its figures agree' consistent modes.json 4
    whole() {
      timings 'for (@executed) {
        exit 1 unless $_->{rows_timed} == ($_->{name} =~ /^row/ ? 1 : $_->{rows}) }' <modes.json
    }
    check 'whole tables, but for rows' whole
    plan_share() {
      timings 'for (@all) { my $share = $_->{plan_share};
        exit 1 unless $_->{name} =~ /^first/ ? $share > 0 && $share < 1 : !defined $share }' <modes.json
    }
    check 'the share of the plan, where there is one' plan_share

    "$POSENC" bench --kernel naive,cached --mode $modes --op rope --len 64 --dim 64 --heads 3 --batch 2 $brief \
      --format json -o rope.json 2>err
    check 'rope is timed in every mode but one' \
      all_modes rope.json 64x64-rope3 'hot cold first row plan' 'naive cached'
    check 'whose absence is told, in one line' \
      test "$(grep -c 'fresh/64x64-rope3 is left out' err)" -eq 1 -a "$(wc -l <err)" -eq 1
    check 'and its figures agree: what is read, and written, of heads and sequences' consistent rope.json 8
    "$POSENC" bench --kernel naive --op add --dtype bf16 --len 64 --dim 64 $brief --format json -o add.json
    check 'and those of bf16' consistent add.json 4

    "$POSENC" bench --kernel naive-f64 --len 131072 --dim 256 --repetitions 3 --format json -o slow.json
    check 'a slow pass: figures agree' consistent slow.json 4
    "$POSENC" bench --kernel rotation-portable --len 131072 --dim 256 $brief --format json -o fast.json
    slow_if_sliced() { # FILE
      timings 'for (@executed) { exit 1 unless $_->{rows_timed} == $_->{rows} || $_->{real_time} > 5e7 }' <"$1"
    }
    for record in slow fast; do check "a pass in slices is a slow one: $record.json" slow_if_sliced $record.json; done

    "$POSENC" bench --kernel 'naive*' --len 64 --dim 16 --min-time 0.0001 --format json -o mixed.json
    # Each repetition has a different turn, and for some benchmarks they are not adjacent.
    interleaved() {
      timings 'my (%turns, $mixed);
        my @in_order = sort { $a <=> $b } map { $_->{turn} } @all;
        for my $i (0 .. $#in_order) { exit 1 unless $in_order[$i] == $i + 1 }
        push @{$turns{$_->{name}}}, $_->{turn} for @all;
        for (values %turns) { my @t = sort { $a <=> $b } @$_; $mixed = 1 if $t[-1] - $t[0] > $#t }
        exit !$mixed'
    }
    check 'repetitions are interleaved' interleaved <mixed.json
    for setting in BENCHMARK_FILTER=plan BENCHMARK_REPORT_AGGREGATES_ONLY=true BENCHMARK_REPETITIONS=1 \
      BENCHMARK_ENABLE_RANDOM_INTERLEAVING=false BENCHMARK_CONTEXT=posenc_schema=x BENCHMARK_OUT=made.json; do
      rm mixed.json
      env "$setting" "$POSENC" bench --kernel 'naive*' --len 64 --dim 16 --min-time 0.0001 --format json -o mixed.json
      ordinary() { interleaved <mixed.json && consistent mixed.json 4 && grep -q posenc-bench-2 mixed.json; }
      nine() { timings 'exit(@executed != 18)' <mixed.json; }
      check "$setting changes nothing" ordinary
      check 'nor how much is timed' nine
    done
  else
    skip 'what is in a timing record' 'perl has no JSON::PP'
  fi
  BENCHMARK_REPETITIONS=abc posenc list --format names
  check 'a wrong BENCHMARK_REPETITIONS is nothing to us' test $status -eq 0 -a ! -s err
  # Kernels that this CPU cannot run are listed first, a line each.
  nothing_to_time() {
    [ $status -eq 1 ] && grep -q 'nothing to time' err && [ ! -s out ] &&
      [ "$(grep -v -c 'is left out: \(this CPU\|it was left out when\|posenc was built without\)' err)" -eq 1 ]
  }
  posenc bench --len 0 --dim 4
  check 'of an empty table there is nothing to time' nothing_to_time
  posenc bench --kernel rotation-portable --len 0 --dim 4 --format json -o empty/none.json
  check 'and no record of that' eval 'nothing_to_time && nothing_written'
  posenc bench --kernel naive-f64 --mode cold,first --len 131072 --dim 1024
  check 'nor where a table takes too long' \
    test $status -eq 1 -a "$(grep -c 'left out: a pass takes' err)" -eq 2 -a ! -s out
  POSENC_ISA=generic posenc bench --kernel 'naive,rotation-avx*' --mode hot $small
  check 'a kernel that cannot run here is told of' grep -qx 'posenc bench: rotation-avx512 is left out: .*' err
  check 'in one line, and the others are timed' test "$(wc -l <err)" -eq 1 -a "$(grep -c '^64x16 ' out)" -eq 1
  refused '--kernel recurrence,naive,cached: recurrence cannot do this here: its recurrence begins at position 0' \
    bench --kernel recurrence,naive,cached --mode hot $small --offset -1
  posenc bench --kernel 'recurrence,naive' --mode hot $small --offset -1 --op add
  check 'not one that was named, which is an error' test $status -eq 2 -a "$(wc -l <err)" -eq 1 -a ! -s out
  for flag in report_aggregates_only=true display_aggregates_only=true enable_random_interleaving=false; do
    refused "--benchmark_$flag: bench sets this itself" bench --kernel naive $small -- --benchmark_$flag
  done
  refused '--benchmark_filter: .*zzz' bench --kernel naive $small -- --benchmark_filter=zzz
  posenc bench --kernel naive $small --format json -- --benchmark_context=colour=blue
  check 'flags of Google Benchmark reach it' grep -q '"colour": "blue"' out
fi

refused '--output is missing' report
refused '--from out: ' report --from out -o empty/page
printf '{"schema": "other"}' >other.json
refused '--from other.json: neither' report --from other.json -o empty/page
refused '--from accuracy.json: the second' report --from accuracy.json --from accuracy.json -o empty/page

posenc report --kernel naive --len 64 --dim 16 $timings -o page
if no_pages; then
  skip 'report' "$why"
else
  check 'report ends well' test $status -eq 0
  check 'report prints the path of the page' test "$(cat out)" = page/index.html
  check 'report writes page, Markdown and JSON' test -s page/index.html -a -s page/report.md -a -s page/report.json
  check 'report leaves its records beside the page, also what was given' \
    test -s page/accuracy.json -a "$([ -e page/bench.json ] && echo --from)" = "${timings%% *}"
  refused '--output no/such/folder: No such file' report -o no/such/folder
  refused '--output out: Not a directory' report -o out
  refused '--kernel zz: no such kernel' report --kernel zz -o empty/page
  [ -z "$timings" ] || refused '--full: cannot be combined' report --full $timings -o empty/page
  posenc report --from page/accuracy.json $timings -o again
  check 'report from saved records' test $status -eq 0 -a -s again/index.html
  if [ -n "$timings" ]; then
    posenc report --full --from page/accuracy.json --kernel naive $small -o full
    # The kernel and the default are timed on a table in eight modes.
    check 'report --full says before how long it will take' \
      grep -q '^posenc report: up to 48 timings, which take about 0 s;' err
    check 'and when it knows more' grep -q '^posenc report: 48 timings, which take about [0-9]* s$' err
    modes_are() { # FILE MODES
      [ "$(grep -o '"name":"[a-z]*/64x16/' "$1" | cut -d '"' -f 4 | cut -d / -f 1 | sort -u | paste -sd,)" = "$2" ]
    }
    check 'report --full times every mode' modes_are full/bench.json cold,first,fresh,hot,malloc,offset,plan,row
    check 'and shows those without a figure' grep -q 'first, 64x16' full/report.md
    check 'and has each state in times.csv' \
      test "$(sed 1d full/times.csv | cut -d, -f1 | sort -u | paste -sd,)" = cold,first,fresh,hot,malloc,offset,row
    posenc report --from page/accuracy.json --kernel naive $small -o short
    check 'report alone times four' modes_are short/bench.json cold,fresh,hot,plan
    check 'and says nothing but its progress' eval '! grep -qv ", [0-9]* %$" err'
  fi
  posenc report --kernel naive --len 0 --dim 16 -o none
  check 'a report of an empty table has no timings' test $status -eq 0 -a -s none/index.html -a ! -e none/bench.json
  passed=$(sed -n 's/.*"passed":\([0-9]*\).*/\1/p' page/accuracy.json)
  sed -e 's/"ok":true/"ok":false/' -e 's/"failed":0/"failed":1/' -e "s/\"passed\":$passed/\"passed\":$((passed - 1))/" \
    page/accuracy.json >failed.json
  posenc report --from failed.json $timings -o failed
  check 'a report of a broken promise is written, with exit status 1' test $status -eq 1 -a -s failed/index.html
fi

plan
