#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests each misdeed (tests/mutants/misdeeds.c) in each function of a kernel, in each command that runs kernels: only
# the kernel is named, with its misdeed; the others have their results; the command's output is complete; no process is
# left; the exit status is an error.
. "${srcdir:-.}/tests/command.sh"
# shellcheck disable=SC2154 # the environment comes from make
plugin=$abs_top_builddir/tests/mutants/misdeeds.so
[ -e "$plugin" ] || skip_all 'no shared objects in this build'
# A kernel that exits leaves posenc's memory. What these kernels do is no fault of posenc's.
export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0:log_path=stderr"
misdeeds='crash hang exit fork stdout stderr forge stop close'
# qemu refuses PR_SET_CHILD_SUBREAPER, by which posenc finds a process that has left its group.
emulated || misdeeds="$misdeeds session"
diagnose() { grep -v -e printed err | cut -c1-300 | sed 's/^/# /'; }

# Processes that posenc starts here have this in their environment.
export POSENC_TEST_RUN="$$-isolation"
processes() { # COUNT: whether there are that many or more; their environments are in $environments
  wanted=$1
  environments=$(env -u POSENC_TEST_RUN grep -s -l -z -x -e "POSENC_TEST_RUN=$POSENC_TEST_RUN" /proc/[0-9]*/environ)
  # shellcheck disable=SC2086 # a list of words
  set -- $environments
  [ $# -ge "$wanted" ]
}
nothing_left() { ! processes 1; }

words() { # MISDEED: prints the message about it
  case $1 in
  crash) echo 'killed by signal 11 ' ;;
  hang) echo 'no sign of life within the time limit' ;;
  exit) echo 'it ended the process with status 0' ;;
  fork | session) echo 'it left a process behind' ;;
  stdout | stderr) echo 'it printed more than a kernel may' ;;
  forge) echo 'a forged or damaged message' ;;
  stop) echo 'it stopped its process' ;;
  close) echo 'it closed descriptors' ;;
  esac
}

# Prints the kernels of these functions, for --kernel.
kernels() { # FUNCTION...
  for each in "$@"; do
    for misdeed in $misdeeds; do printf 'recipe/%s-%s,' "$each" "$misdeed"; done
  done
}

# Whether every kernel of these functions is on one line of `told`, with its own misdeed, and no other kernel is.
each_told() { # FUNCTION...
  count=0
  for function in "$@"; do
    for misdeed in $misdeeds; do
      count=$((count + 1))
      [ "$(grep -c -e "recipe/$function-$misdeed .*$(words "$misdeed")" told)" -eq 1 ] ||
        { echo "# recipe/$function-$misdeed: $(grep -e "recipe/$function-$misdeed " told)"; return 1; }
    done
  done
  [ "$(wc -l <told)" -eq $count ] || { echo "# $(wc -l <told) lines for $count kernels"; return 1; }
}

# Output of a flood is shown in part, as the kernel's own.
shown() {
  [ "$(grep -c -e 'printed: not ok 1 - {"flood": \[' err)" -ge 50 ] && grep -q -e 'printed more than 50 lines' err
}

# ---- verify ----

# Kernels that do not hang must not be silent for so long, also beside other work of the machine.
verified() { # OPERATION FUNCTION...
  op=$1
  shift
  posenc verify --plugin "$plugin" --kernel "$(kernels "$@")rotation-portable" --op "$op" --len 40 --dim 16 --search 0 \
    --time-limit 5
  check "verify of $op: exit status 1" test $status -eq 1
  grep -e '^not ok [0-9]* - recipe/[a-z-]* survival' out >told
  check "each misdeed is told by survival" each_told "$@"
  check "the honest kernel passes" test "$(grep -c -e '^ok [0-9]* - rotation-portable ' out)" -gt 3
  check 'TAP has its own lines alone' test -z \
    "$(grep -v -x -e 'TAP version 13' -e '1\.\.[0-9]*' -e '\(not \)*ok [0-9]* - .*' -e '# .*' out)"
  check "as many as it says" test "$(grep -c -e '^\(not \)*ok ' out)" -eq "$(sed -n 's/^1\.\.//p' out)"
  check 'the flood is told as theirs' shown
  check 'no process is left' nothing_left
}
verified table can-do prepare execute release stages
verified add apply
posenc verify --plugin "$plugin" --kernel 'recipe/execute-crash,recipe/can-do-stdout,rotation-portable' \
  --len 40 --dim 16 --format json
cp out verified.json
posenc compare verified.json verified.json
check 'JSON is whole' test $status -eq 0
posenc verify --plugin "$plugin" --kernel recipe/can-do-crash --len 40 --dim 16
check 'what does not survive can_do is told, and by can_do' \
  grep -q -e '^not ok 1 - recipe/can-do-crash survival .*at that time: can_do' out

# A kernel that hangs has its verdict within half a minute of a run of all published shapes, whichever function hangs;
# and every format tells what was left out because of it.
left_out='no sign of life within the time limit.*; [1-9][0-9]* other exams of the kernel were left out because of it'
hangs_soon() { # FUNCTION: writes its output and status to FUNCTION.out
  begun=$(date +%s)
  "$POSENC" verify --plugin "$plugin" --kernel "recipe/$1-hang" >"$1.out" 2>"$1.err"
  echo "# status $? after $(($(date +%s) - begun)) s" >>"$1.out"
}
judged_soon() { # FUNCTION: in half a minute, twice that beside other work; if each exam waited, it would be 280 s
  took=$(sed -n 's/^# status 1 after \([0-9]*\) s$/\1/p' "$1.out")
  [ "${took:-99}" -le 60 ] || { tail -n 1 "$1.out"; false; }
}
hanging() { # OPTION...
  posenc verify --plugin "$plugin" --kernel 'recipe/execute-hang,rotation-portable' --brief --search 0 --budget 100 \
    --time-limit 3 "$@"
  [ $status -eq 1 ]
}
if emulated; then
  skip 'a hang is judged soon' 'an emulator beside other work takes longer'
else
  for function in can-do prepare execute; do hangs_soon $function & done # at once, as they wait
  wait
  for function in can-do prepare execute; do
    check "a hang in $function has its verdict before other exams wait, too" judged_soon $function
    check 'which tells how many exams were left out' grep -q -e "^not ok .* survival .*$left_out\$" $function.out
  done
fi
check 'TAP of all published shapes' hanging --format tap
check 'tells it of one exam' test "$(grep -c -e "^not ok .*$left_out\$" out)" -eq 1
exams=$(grep -c -e 'rotation-portable survival' out)
skipped=$(grep -c -e '^ok .*recipe/execute-hang survival .* # SKIP left out, because the kernel hung on ' out)
check 'and names each exam that was left out' test "$skipped" -gt 20 -a \
  "$((skipped + $(grep -c -e '^not ok .*recipe/execute-hang survival ' out)))" -eq "$exams"
check 'the honest kernel has all of its exams' test "$(grep -c -e '^ok .* rotation-portable accuracy ' out)" -gt 20
check 'JUnit' hanging --format junit
check 'tells it, too' says "<failure message=\"$left_out\""
check 'and each exam' test "$(grep -c -e '<skipped message="left out, because the kernel hung on ' out)" -eq "$skipped"
check 'text' hanging --format text
check 'tells it, too' says "^FAIL  recipe/execute-hang, survival .*$left_out\$"
check 'JSON, and annotations' hanging --format json --github kernel.c:7
check 'tell it, too' says "\"note\": \"$left_out\""
check 'annotations, too' grep -q -e "^::error file=kernel.c,line=7.*$left_out" err
cp out hung.json
posenc compare hung.json hung.json
check 'the record is whole' test $status -eq 0

# ---- processes killed by others ----

for signal in TERM KILL; do
  "$POSENC" verify --plugin "$plugin" --kernel recipe/execute-hang --len 40 --dim 16 >out 2>err &
  within 60 processes 3
  kill -s $signal $!
  wait $!
  check "nothing outlives posenc after SIG$signal" within 60 nothing_left
done

# ---- plugins made here ----

build() { # NAME, the source on standard input
  # shellcheck disable=SC2086 # options are lists of words
  $CC $CFLAGS -w -I. -I"$root/include" -shared -fPIC -x c - -o "$1.so" 2>log || { sed 's/^/# /' log; return 1; }
}
cat >frame.h <<'END'
#include <posenc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef ROWS
#define ROWS
#endif
static void rows(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  ROWS
  memset(out, 0, (size_t)(rows * problem->dim) * sizeof(float));
}
static const posenc_kernel kernel = {.abi = POSENC_KERNEL_ABI, .isa = POSENC_ISA_GENERIC, .name = "mine", .summary = "",
                                     .algorithm = "", .provenance = "", .basis = "", .execute = rows};
POSENC_PLUGIN(&kernel);
END

# ---- bench ----

timed() { # OPERATION FUNCTION...
  op=$1
  shift
  posenc bench --plugin "$plugin" --kernel "$(kernels "$@")rotation-portable" --op "$op" --len 40 --dim 16 \
    --repetitions 3 --min-time 0.001 --time-limit 1 --format json -o timed.json
  check "bench of $op: exit status 1" test $status -eq 1
  grep -e ' is left out: ' err >told
  check 'each misdeed is told' each_told "$@"
  check 'the flood is told as theirs' shown
  check 'the honest kernel is in the record' \
    test "$(grep -c -e '"name": "hot/40x16[^"]*/rotation-portable"' timed.json)" -ge 3
  check 'and nobody else' test -z "$(grep -e '"name": "[a-z]*/40x16' timed.json | grep -v rotation-portable)"
  check 'who was left out, too' test "$(grep -c -e '"kernel_failed\.recipe/' timed.json)" -eq $count
  posenc compare timed.json timed.json
  check 'it is whole' test $status -eq 0
  check 'no process is left' nothing_left
}
posenc bench --kernel rotation-portable --len 4 --dim 2 --repetitions 3 --min-time 0.001
if grep -q 'without Google Benchmark' err; then
  skip 'bench' 'this build has no bench'
else
  timed table can-do prepare execute release
  timed rope apply
  posenc bench --plugin "$plugin" --kernel recipe/prepare-exit --len 40 --dim 16 --format json -o none.json
  alone() { [ $status -eq 1 ] && grep -q -e '"kernel_failed.recipe/prepare-exit"' none.json; }
  check 'where no kernel is left, the record tells' alone
  part="bench --plugin $plugin --kernel recipe/prepare-exit,rotation-portable --len 40 --dim 16 --repetitions 3
    --min-time 0.001 --format json --shard 1/2 -o part.json"
  lacks_kernel() { # HOW ARGUMENT...: its record lacks one, which it tells
    how=$1
    shift
    posenc "$@"
    [ $status -eq 1 ] && [ "$(grep -c ' is left out' err)" = 1 ] &&
      grep -q -e "recipe/[a-z]*-exit is left out$how\$" err
  }
  ended=': it ended the process with status 0' partly=' of some shapes or modes'
  # shellcheck disable=SC2086 # a list of words
  check 'a shard lacks a kernel' lacks_kernel "$ended" $part
  # shellcheck disable=SC2086 # a list of words
  check 'which --resume tells, too' lacks_kernel "$ended" $part --resume

  # ---- merge ----

  bench() { # FILE KERNEL ARGUMENT...
    file=$1 kernel=$2
    shift 2
    posenc bench --plugin "$plugin" --kernel "$kernel" --repetitions 3 --min-time 0.001 --format json -o "$file" "$@"
  }
  lost() { count_is "$1" '"kernel_failed.recipe/prepare-exit"' "$2"; }
  for i in 1 2; do bench $i.json recipe/prepare-exit,rotation-portable --op rope-cache --mode hot --shard $i/2; done
  check 'and once of two shards' lacks_kernel "$ended" merge 1.json 2.json -o all.json
  check 'in the record, too' lost all.json 1
  sed 's/it ended the process/it stopped/' 2.json >other.json
  check 'which lost it in two ways' lacks_kernel "$ended / it stopped with status 0" merge 1.json other.json -o all.json
  sed -e s/kernel_failed/kernel_abi/ -e 's,/rotation-portable,/recipe/prepare-exit,' 1.json >whole.json
  check 'or where one has it' lacks_kernel "$partly$ended" merge whole.json 2.json -o all.json
  check 'in any order' lacks_kernel "$partly$ended" merge 2.json whole.json -o all.json
  bench lost.json recipe/prepare-exit,rotation-portable --len 40 --dim 16 --mode hot,plan
  for mode in hot plan; do
    bench mode.json naive --len 40 --dim 16 --mode $mode
    sed 's,naive,recipe/prepare-exit,' mode.json >$mode.json
  done
  check 'merge tells it of a run of no other kernel' lacks_kernel "$ended" merge none.json -o all.json
  check 'merge tells it of a run' lacks_kernel "$ended" merge lost.json -o all.json
  check 'a run that repairs one mode' lacks_kernel "$partly$ended" merge lost.json hot.json -o all.json
  check 'is not enough' lost all.json 1
  check 'runs that repair all' ends 0 merge hot.json lost.json plan.json -o all.json
  check 'are' lost all.json 0
  sed 's/"kernel_abi.recipe/"kernel_failed.recipe/' plan.json >again.json
  check 'unless one lost it again' lacks_kernel "$partly.*" merge lost.json hot.json again.json -o all.json
  bench lost-shapes.json recipe/prepare-exit,rotation-portable --op rope-cache --mode hot
  bench one.json rotation-portable --op rope-cache --mode hot -- --benchmark_filter=hot/llama2
  sed 's,/rotation-portable,/recipe/prepare-exit,' one.json >one-shape.json
  check 'a run that repairs one shape is not enough' \
    lacks_kernel "$partly$ended" merge lost-shapes.json one-shape.json -o all.json
  posenc choose --plugin "$plugin" --kernel recipe/prepare-exit --len 40 --dim 16 --plot lost.svg -o chosen.txt
  check 'choose draws nothing where no kernel is left' \
    eval '[ $status -eq 1 ] && ! [ -e lost.svg ] && ! [ -e chosen.txt ]'

  # ---- report ----

  # A kernel that dies late has a profile made first, which takes time.
  posenc report --plugin "$plugin" \
    --kernel 'recipe/can-do-[ef]*,recipe/prepare-[ef]*,recipe/execute-exit,rotation-portable' \
    --len 40 --dim 16 --budget 100p --repetitions 3 --min-time 0.001 --time-limit 20 -o page
  if no_pages; then
    skip 'report' "$why"
  else
    check 'report: exit status 1' test $status -eq 1
    for kernel in can-do-exit can-do-fork prepare-exit prepare-fork execute-exit; do
      check "the page tells of $kernel" \
        grep -q -e "^| .recipe/$kernel. | 40x16 | survival .*$(words ${kernel##*-})" page/report.md
    done
    check 'and has the figures of the honest kernel' grep -q -e '^| .rotation-portable.' page/report.md
    check 'no process is left' nothing_left
    posenc verify --kernel rotation-portable --len 40 --dim 16 --format json -o verified.json
    check 'report tells what a given record lacks' \
      lacks_kernel "$ended" report --from verified.json --from lost.json -o page
    check 'on the page, too' grep -q '^> \*\*Left out of the times, all or some:\*\* .' page/report.md
    check 'but of no other' ends 0 report --from verified.json --from hot.json -o page
    printf '%s\n' '#define ROWS if (problem->rows == 131072) abort();' '#include "frame.h"' | build one-shape
    posenc report --plugin one-shape.so --kernel mine,rotation-portable --op rope-cache --budget 1000s --search 0 \
      --repetitions 3 --min-time 0.001 -o page
    check 'a kernel that dies on the last shape alone is told' grep -q ': mine is left out: killed by signal 6 ' err
    check 'once' test "$(grep -c 'mine is left out' err)" -eq 1
    check 'and in the record' grep -q '"kernel_failed.mine":"killed by signal 6 ' page/bench.json
    check 'which has its other times' eval '[ "$(grep -o "/mine\"" page/bench.json | wc -l)" -ge 6 ]'
  fi
fi

# ---- identify ----

posenc write --kernel naive --len 60 --dim 16 -o table.npy
posenc identify table.npy --format json
grep -v -e '"file"' out >alone.json
posenc identify table.npy --format json --plugin "$plugin" --time-limit 1
check 'identify: exit status 1' test $status -eq 1
grep -e ' is left out: ' err >told
check 'each misdeed is told' each_told can-do prepare release stages
check 'the flood is told as theirs' shown
check 'the answer is the same' test "$(grep -e sentence out)" = "$(grep -e sentence alone.json)"
if emulated; then
  skip 'no process is left' 'some have left their groups, and identify runs all kernels'
  # shellcheck disable=SC2046 # a list of words
  processes 1 && kill -s KILL $(echo "$environments" | tr -c -d '0-9\n')
else
  check 'no process is left' nothing_left
fi

# ---- loading ----

constructor() { # BODY
  printf '%s\n' '#include "frame.h"' "__attribute__((constructor)) static void load(void) { $1 }" | build loading
}
refused_for() { # WORDS
  without_emulator err
  [ $status -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -e "--plugin loading.so: $1" err
}
loads() { # BODY WORDS
  constructor "$1"
  for subcommand in 'list --time-limit 1' 'verify --time-limit 1' 'bench --time-limit 1'; do
    # shellcheck disable=SC2086 # words of a command
    posenc $subcommand --plugin loading.so
    check "$subcommand of a plugin whose constructor has $1: $2" refused_for "$2"
  done
  check 'no process is left' nothing_left
}
loads 'signal(SIGSEGV, SIG_DFL); raise(SIGSEGV);' 'killed by signal 11'
loads '_exit(0);' 'it ended the process with status 0'
loads 'for (;;) pause();' 'no sign of life'
loads 'if (fork() == 0) for (;;) pause();' 'it left a process behind'
constructor 'puts("spoilt"); atexit(abort);'
posenc list --format names --plugin loading.so
quiet() { [ $status -eq 0 ] && ! grep -q spoilt out && [ "$(cat err)" = 'posenc list: loading.so printed: spoilt' ]; }
check 'what a constructor prints is shown once, and what it does at the end is left out' quiet
plan
exit $tap_failed
