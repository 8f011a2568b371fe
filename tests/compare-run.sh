#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc compare --run with programs that print known records instead of timings.
# shellcheck disable=SC2016,SC2034 # scripts are written; command.sh uses the variable
command=compare
. "${srcdir:-.}/tests/command.sh"
mkdir old new

# Makes a program in old/ or new/ that prints a record of posenc bench. It runs the lines on standard input, which set
# $names, $time and $fields from $m, the number of earlier processes of its side, and $n, that of both sides. Of three
# repetitions of each benchmark, the second takes $time; other processes interrupted the others, which take several
# times as long. $first_fields are those of the first repetition, if they differ.
program() { # SIDE
  {
    printf '#!/bin/sh\nside=%s work=%s names=f fields= first_fields=\n' "$1" "$work"
    printf '%s\n' 'n=$(wc -l <"$work/order") m=$(grep -c "^$side " "$work/order")' 'echo "$side $*" >>"$work/order"'
    cat
    printf '%s\n' 'sep="{\"context\": {\"cpu\": \"$side\"}, \"benchmarks\": ["' 'for name in $names; do' \
      '  of=${first_fields:-$fields}' \
      '  for times in $((3 + n % 5)) 1 $((2 + n % 3)); do' \
      '    printf "%s" "$sep{\"name\": \"$name\", \"run_type\": \"iteration\", \"time_unit\": \"ns\", "' \
      '    printf "%s" "$of\"real_time\": $((time * times)), \"cpu_time\": $time}"' \
      '    sep=, of=$fields' '  done' 'done' 'echo "]}"'
  } >"$1/posenc"
  chmod +x "$1/posenc"
}
takes() { # SIDE TEXT: an expression with $n or $m
  echo "time=\$(($2))" | program "$1"
}
noise='(m * 7 % 11 - 5)' other='(m * m * 5 % 13 - 6)' # about -6 to 6, one for each side
run_ends() { # STATUS ARGUMENT...
  : >order
  want=$1
  shift
  ends "$want" --run old/posenc new/posenc "$@"
}
run_fails() { # PATTERN ARGUMENT...
  : >order
  text=$1
  shift
  is_refused "$text" --run old/posenc new/posenc "$@"
}

# ---- verdicts
takes old "100000 + 100 * $noise"
takes new "110000 + 110 * $other"
check 'ten percent more time is worse' run_ends 1 -- --kernel cr-portable --len 512 --dim 512
check 'by that ratio' says '^worse  *f  *100 us  *110 us  *1\.099  1\.09[0-9] to 1\.10[0-9]  *0\.[0-9]%  p 0\.0000$'
check 'the environments are compared' says '^cpu: old, now new$'
printf '%s\n' 'names=f\\u001b\\u009b time=1000' | program new
cp new/posenc old/posenc
check 'names that terminals would obey' run_ends 0 --blocks 4 --all
check 'are printed without that' says '^[a-z]*  *f??  '
takes old "100000 + 100 * $noise"
takes new "110000 + 110 * $other"
run_ends 1 -- --kernel cr-portable --len 512 --dim 512
check 'the summary has the blocks, and what all of them can tell' \
  says '^16 blocks of 4 processes; significant in every benchmark from a difference of [0-9.]*% on$'
check 'a block is two processes of each, one within the other' test "$(cut -d ' ' -f 1 order | paste - - - - |
  grep -c -v -x -e 'old	new	new	old' -e 'new	old	old	new')" -eq 0
check 'sixteen of them' test "$(wc -l <order)" -eq 64
arguments='bench --format json --repetitions 15 --min-time 0.001 --kernel cr-portable --len 512 --dim 512'
check 'each process is asked for the same' test "$(cut -d ' ' -f 2- order | sort -u)" = "$arguments"
check 'forty blocks' run_ends 1 --blocks 40
check 'are in both orders' test "$(awk 'NR % 4 == 1 { print $1 }' order | sort -u | wc -l)" -eq 2
check 'not worse if 20 % are allowed' run_ends 0 --slower 20 --all
check 'but the same' says '^same  *f '
check 'one block decides nothing' run_ends 0 --blocks 1
check 'and says how many would' says '^undecided .*too few blocks to tell: about 7 more blocks would decide$'
check 'eight decide' run_ends 1 --blocks 8
check 'with the p of all on one side' says 'p 0\.0078$'
printf '%s\n' 'names="f g"' "time=\$((100000 + 100 * $noise))" | program old
printf '%s\n' 'names="f g"' "time=\$((110000 + 110 * $other))" | program new
check 'one block' run_ends 0 --blocks 1
check 'needs more on two benchmarks than on one' says 'too few blocks to tell: about 8 more blocks would decide$'
check 'but not on two benchmarks: p is twice as large' run_ends 0 --blocks 8
check 'in both' test "$(grep -c '^undecided .* p 0\.0156 .*too few blocks to tell: about 1 more blocks' out)" -eq 2

takes new "90000 + 90 * $other"
takes old "100000 + 100 * $noise"
check 'ten percent less time' run_ends 0
check 'is better' says '^better  *f .* 0\.9[0-9]* '
takes new "100000 + 100 * $other"
check 'the same time' run_ends 0 --all
check 'is the same' says '^same  *f '
takes new "102000 + 100 * $other"
check 'two percent more' run_ends 0 --all
check 'are the same' says '^same  *f .* p 0\.0000'
check 'but worse if one is allowed' run_ends 1 --slower 1
takes old '100000 + 2000 * n'
takes new '100000 + 2000 * n'
check 'a drift of 2 % from process to process' run_ends 0 --all
check 'is on both sides alike' says '^same  *f '
takes old '100000 + m * 7919 % 60000'
takes new '100000 + m * 6007 % 61000'
check 'wild times' run_ends 0
check 'are undecided, with the blocks that it would take' \
  says '^undecided  *f .*the spread is too wide to tell: about [1-9][0-9]* more blocks would decide$'
check 'as JSON' run_ends 0 --format json
check 'has them, and the blocks' eval "says '\"more_blocks\": [1-9]' && says '\"blocks\": 16'"

for side in old new; do
  share=0.$((side_share = side_share + 4)) # 0.4, then 0.8
  printf '%s\n' time=100000 "fields='\"of_limit\": $share, '" | program $side
done
check 'twice the share of the limit' run_ends 0
check 'is better' says '^better  *f  *40.0% of limit  *80.0% of limit'
check 'by time alone' run_ends 0 --by time --all
check 'it is the same' says '^same '
check 'Markdown' run_ends 0 --format markdown
check 'has a column for each figure' \
  says '^| better | f |  *40.0% of limit |  *80.0% of limit |  0.500 | .* | p 0.0000 |  |$'

printf '%s\n' time=100000 "fields='\"of_limit\": 0.4, '" | program old
printf '%s\n' time=100000 "fields='\"of_limit\": 0.4, '" "first_fields='\"of_limit\": 0.8, '" | program new
check 'a limit that other processes made slow' run_ends 0 --all
check 'is left out' says '^same  *f  *40.0% of limit  *40.0% of limit'

# ---- until it can tell
takes old '100000 + m * 7919 % 60000'
takes new '100000 + m * 6007 % 61000'
check 'undecided, which shall fail' run_ends 3 --blocks 4 --fail-undecided
check 'more time lets more blocks tell' run_ends 0 --blocks 4 --seconds 600 --slower 20 --all --fail-undecided
check 'that it is the same, after twice as many once or more' \
  eval "says '^same  *f ' && says '^\\(8\\|16\\|32\\|64\\|128\\|256\\) blocks of 4 processes'"
takes old "100000 + 100 * $noise"
takes new "110000 + 110 * $other"
check 'one block and ten percent' run_ends 1 --blocks 1 --seconds 600
check 'take 16 blocks, as each look has half of the level before' says '^16 blocks of 4 processes'
check 'eight do not decide if there are more looks' run_ends 1 --blocks 8 --seconds 600
check 'but sixteen' says '^16 blocks of 4 processes'
check 'no time, one look' run_ends 3 --blocks 8 --seconds 0 --fail-undecided
check 'of eight blocks' says '^8 blocks of 4 processes'
takes old '100000 + m * 7919 % 60000'
echo 'sleep 0.1; time=$((100000 + m * 6007 % 61000))' | program new
check 'a time that ends' run_ends 3 --blocks 1 --seconds 1 --slower 0.001 --fail-undecided
check 'ends it after some blocks' says '^[2-7] blocks of 4 processes'
check 'a time that is none' run_fails '--seconds -1: not a time' --seconds -1

# ---- plugins
modules=$abs_top_builddir/tests/mutants
if [ -e "$modules/habits.so" ] && "$POSENC" bench --help >/dev/null 2>&1; then
  cp "$modules/habits.so" old/mine.so
  cp "$modules/habits.so" new/mine.so
  plugins() { # STATUS KERNEL OPTION...
    want=$1 kernel=$2
    shift 2
    ends "$want" --run old/mine.so new/mine.so "$@" -- --kernel "$kernel" --len 64 --dim 64 --mode hot \
      --repetitions 3 --min-time 0.0001
  }
  check 'two plugins are run by this posenc' plugins 3 written-twice --blocks 1 --fail-undecided
  check 'and their kernel compared' says '^undecided  *hot/64x64/written-twice '
  cp "$modules/times-replay.so" new/mine.so
  check 'a kernel that one does not have is told with its plugin' is_refused \
    '^posenc compare: new plugin new/mine.so: it ended with exit status 2: ' \
    --run old/mine.so new/mine.so --blocks 1 -- --kernel written-twice
else
  skip 'plugins' 'no shared objects, or no Google Benchmark, in this build'
fi

# ---- invalid records
takes old 100000
echo 'echo one >&2; echo "two	lines" >&2; exit 3' | program new
failed='^posenc compare: new program new/posenc: '
check 'a program that fails' run_fails "${failed}it ended with exit status 3: two?lines\$"
echo 'kill -9 $$' | program new
check 'that is killed' run_fails "${failed}it was killed by signal 9\$"
echo 'exit 0' | program new
check 'that prints nothing' run_fails "${failed}it printed no record: "
echo 'seq 100000; exit 0' | program new
check 'that prints something else' run_fails "${failed}it printed no record: "
echo 'echo "[]"; exit 0' | program new
check 'that prints no timings' run_fails 'it has timed nothing\|benchmark f is missing, which an earlier process had'
printf '%s\n' time=1 'names="f g"' | program new
check 'other benchmarks than the other program' run_fails 'benchmark [fg] is \(missing\|new\), which '
printf '%s\n' time=1 "fields='\"error_occurred\": true, '" | program new
check 'benchmarks that failed' run_fails "${failed}benchmark f failed, or has no time"
echo 'time=-1' | program new
check 'times that are none' run_fails "${failed}benchmarks\[0\], f: real_time is not a number"
: >new/posenc
chmod -x new/posenc
check 'a file that is no program' run_fails "${failed}it cannot be started: "
rm new/posenc
check 'a missing one' run_fails "${failed}it cannot be started: No such file"
check 'two are needed' is_refused 'OLD and NEW are needed' --run old/posenc
check '--blocks' run_fails "--blocks 0: " --blocks 0
check '--blocks of records' is_refused '--blocks 3: it is for --run' a.json b.json --blocks 3
check '--growth' run_fails '--growth 1: cannot be combined with --run' --growth 1
check '--format' run_fails '^posenc compare: --format: ' -- --format json
check '-o' run_fails '^posenc compare: -ox: ' -- -ox

# ---- crashes and interrupts
echo 'echo $$ >"$work/pid"; exec sleep 60' | program old
echo 'echo $$ >"$work/pid"; exec sleep 60' | program new
is_over() { # PID: it does not run, or is a zombie
  ! grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status" 2>/dev/null
}
interrupted() { # SIGNAL: the command and its program end, and no file is left
  rm -f pid
  before=$(ls -A)
  TMPDIR=$work perl -e '$SIG{INT} = $SIG{TERM} = "DEFAULT"; exec @ARGV' \
    "$POSENC" compare --run old/posenc new/posenc >out 2>err &
  running=$!
  within 60 test -s pid
  kill -s "$1" "$running"
  wait "$running"
  status=$?
  child=$(cat pid)
  rm -f pid
  [ "$status" -gt 128 ] && within 60 is_over "$child" && [ "$(ls -A)" = "$before" ]
}
: >out
: >err
if perl -e 1 2>/dev/null; then
  for signal in INT TERM; do check "SIG$signal ends both, and leaves no file" interrupted $signal; done
else
  skip 'signals' 'no perl'
fi
plan
exit "$tap_failed"
