#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc choose: its recommendation, the C code that it prints, and what it refuses.
# It takes a minute: each choice is timed.
command=choose
. "${srcdir:-.}/tests/command.sh"
posenc choose --len 8 --dim 8 --kernel naive --repetitions 3
if [ $status -ne 0 ] && grep -q 'without Google Benchmark' err; then
  skip_all 'no Google Benchmark here'
fi

compiles() { # compiles the C code in a program
  {
    printf '#include <posenc.h>\n#include <stdio.h>\n'
    printf 'static float table[100 * 64], x[100 * 64 * 4], cosines[100 * 64], sines[100 * 64];\nint main(void) {\n'
    sed -n '/^  posenc_problem/,$p' out
    printf '  fwrite(table, sizeof table, 1, stdout);\n'
    printf '  return table[0] != 0.0f || x[0] != 0.0f || (cosines[0] != 0.0f && sines[0] != 0.0f);\n}\n'
  } > program.c
  # shellcheck disable=SC2086
  $CC $CFLAGS -I"$root/include" program.c -o program $plugin "$library" -Wl,-rpath,"${library%/*}" > err 2>&1 &&
    ${EMULATOR-} ./program > made
}
library=$abs_top_builddir/.libs/libposenc.so plugin=
do_compile() { # NAME
  if [ -e "$library" ]; then
    check "$1" compiles
  else
    skip "$1" 'no shared library here'
  fi
}
quick='--dim 64 --repetitions 3'
has_made() { # OPTION...: of posenc write
  "$POSENC" write "$@" --dim 64 -o grid.npy && tail -c +129 grid.npy | cmp -n $(($(wc -c <grid.npy) - 128)) - made
}
grid() { # LINE OPTION...: the C code of a grid makes the table of posenc write
  line=$1
  shift
  check "a grid with $line" ends 0 "$@" $quick --kernel cr-portable,rotation-portable --max-ulp 0.5
  check 'has that line' says "$line"
  do_compile 'which compiles'
  [ ! -e "$library" ] || check 'to the same table' has_made "$@"
}

# shellcheck disable=SC2086
keep_times() {
  check 'times are kept' ends 0 --len 100 $quick --kernel rotation-portable,naive --keep kept
  check 'a line for each kernel' test "$(wc -l < kept)" -eq 3 -a "$(head -n 1 kept)" = 'posenc-wisdom 1'
  cp kept kept.before
  check 'those of another problem' ends 0 --len 200 $quick --kernel rotation-portable --keep kept
  check 'come beside them' test "$(wc -l < kept)" -eq 4 -a "$(head -n 3 kept | cksum)" = "$(cksum < kept.before)"
  check 'the same problem again' ends 0 --len 200 $quick --kernel rotation-portable,cr-portable --keep kept
  check 'takes their place' test "$(wc -l < kept)" -eq 5 -a "$(grep -c rotation-portable kept)" -eq 2
  echo precious > other
  check 'another file' is_refused 'keep other: not a file of' --len 100 $quick --keep other
  check 'is left alone' test "$(cat other)" = precious
  [ -e "$library" ] || return 0
  check 'a kernel of a plugin' \
    ends 0 --len 100 $quick --plugin ./costs.so --kernel fourfold,rotation-portable --keep own
  check 'is no kernel for the library to choose' test "$(cut -d ' ' -f 9 own | paste -sd,)" = ',rotation-portable'
}

sums() { # whether total us is us and plan us, with one call of a plan, by which the kernels are sorted
  sed 's/^[* ] //' out | awk '$1 == "dear" || $1 == "fourfold" {
      n++
      if ($2 < before || $2 < 0.99 * ($3 + $7) || $2 > 1.01 * ($3 + $7)) exit bad = 1
      before = $2
    }
    END { exit bad || n != 2 }'
}

# The kernels of costs.c: dear has a plan of 40 ms and rows of 40 us, fourfold a plan of some us and rows of 160 us.
# shellcheck disable=SC2086
workloads() {
  dear="--len 64 $quick --plugin ./costs.so --kernel dear,fourfold"
  check 'a plan for each row' ends 0 $dear --rows 1 --calls 1
  check 'is counted' \
    says '^for 1 call of 1 row with one plan, whose time is counted: total us is a call with its share of the plan$'
  check 'and in a column' says '^  kernel  *total us  *us  *spread '
  check 'that is the sum' sums
  check 'so a dear plan is not taken' \
    says '^take fourfold: .*; for more than [1-9][0-9]* calls of one plan, others such as dear take less$'
  check 'a pass over the table in decoding' ends 0 $dear --rows 1
  check 'has a plan for all its rows' says '^for 64 calls of 1 row with one plan, whose time is counted: '
  check 'too few for a dear one' says '^take fourfold: '
  check 'many calls of few rows' ends 0 $dear --rows 16 --calls 1000000
  check 'pay for it' \
    says '^take dear: .* us, so for fewer than [1-9][0-9]* calls of one plan, others such as fourfold '
  check 'and their C lines make so many' says '^  posenc_execute(plan, row, 16, table);$'
  check 'as all rows do, if plans do not count' ends 0 $dear
  check 'by the same limit' says '^take dear: .* calls of one plan, others such as fourfold take less'
  check 'a plan for each table' ends 0 $dear --calls 1
  check 'of all rows' says '^for 1 call of 64 rows with one plan, whose time is counted: '
  check 'a recipe that is faster' ends 0 --len 64 $quick --plugin ./costs.so --kernel fourfold,recipe/xlm
  check 'is told' says '; recipe/xlm, which is not in libposenc, takes 0\.0[0-9]* times as long'
  check 'a kernel without a dearer one' ends 0 --len 64 $quick --plugin ./costs.so --kernel fourfold --rows 1 --calls 1
  check 'holds for any number' says '; that holds for any number of calls of one plan$'
}

# A powf that is wrong, which recipes call and no kernel of the library that is accurate.
# shellcheck disable=SC2086
breaks() {
  echo 'float powf(float x, float y) { return 1.5f + 0.0f * (x + y); }' >powf.c
  $CC -shared -fPIC -fno-builtin powf.c -o powf.so
  with() { # choose with that powf
    LD_PRELOAD=$PWD/powf.so "$POSENC" choose --len 64 $quick --kernel "$1" >out 2>err
    status=$?
  }
  with cr-portable,recipe/hf-rope
  check 'a recipe that is wrong is told' contains err 'recipe/hf-rope is left out: '
  check 'and no failure' test $status -eq 0
  with cr-portable,naive
  check 'as a kernel that is' contains err 'naive is left out: '
  check 'would be' test $status -eq 1
}

# Decoding with rope, whose copies need a plan of the whole table.
# shellcheck disable=SC2086
decodes() {
  check 'one row of rope' \
    ends 0 --len 8192 --dim 128 --op rope --repetitions 3 --kernel cached,cr-portable --rows 1 --calls 1
  check 'is not copied from a table that is made for it' says '^take cr-portable: '
  posenc choose --len 64 $quick --op rope --scaling yarn,factor=4,original=32 --dtype bf16 --rows 1
  check 'with a scaling and bf16' test $status -eq 0
  check 'in C lines for a row' says '^  posenc_slice slice = posenc_rows(row, 1);$'
  check 'a kernel without scalings is told' contains err 'naive is left out: it follows no scale, no scaling'
  check 'transformers is compared with' says '^[* ] recipe/hf-rope '
}

# shellcheck disable=SC2086
{
  check 'a table' ends 0 --len 100 $quick
  check 'takes one kernel' says '^take [a-z0-9-]*: the fastest within the budget; of all 6400 elements '
  check 'beside competitors and recipes' \
    test "$(grep -c '^[* ] rotation-openmp ' out)" -eq 0 -a "$(grep -c '^[* ] recipe/hf-rope ' out)" -eq 1
  check 'which are not chosen, as recipe/xlm, which is accurate enough' says '^[* ] recipe/xlm .* not in libposenc$'
  check 'copies are no candidates' test "$(grep -c cached out)" -eq 0
  check 'plans do not count' test "$(grep -c 'whose time is counted\|total us' out)" -eq 0
  check 'some kernel is not to be bettered' says '^\* '
  do_compile 'the C lines compile and run'
  "$POSENC" choose --len 100 $quick --kernel cr-portable --max-ulp 0.5 -o told >out 2>err
  check '-o takes all of it' test $? -eq 0 -a ! -s out -a "$(grep -c 'posenc_plan' told)" -ge 3
  check 'correct rounding' ends 0 --len 100 $quick --max-ulp 0.5
  check 'is had from a kernel that misrounds nothing' \
    says '^take .* 0 are misrounded, none is wrong by more than 0\.4999[0-9]* ulp'
  check 'is asked for in the C lines' says '^  options.max_ulp = 0\.5;$'
  # A kernel of narrower vectors than the library takes.
  narrower=
  runs_here() { ! emulated && "$POSENC" list "$1" | grep -q 'runs here *yes'; }
  ! runs_here cr-avx2 || narrower=cr-portable
  ! runs_here cr-avx512 || narrower=cr-avx2
  if [ -n "$narrower" ]; then
    check 'a kernel that the library would not take' ends 0 --len 100 $quick --max-ulp 0.5 --kernel $narrower,naive
    check 'is asked for by its name' says "^  const posenc_kernel \\*fastest = posenc_kernel_find(\"$narrower\");\$"
    POSENC_ISA=generic do_compile 'and the lines run on a CPU of another kind'
  else
    for name in 'a kernel that the library would not take' 'is asked for by its name' \
      'and the lines run on a CPU of another kind'; do
      skip "$name" 'no AVX2 here'
    done
  fi
  POSENC_ISA=generic check 'one that it would take' ends 0 --len 100 $quick --max-ulp 0.5 --kernel cr-portable
  check 'is not' test "$(grep -c posenc_kernel_find out)" -eq 0
  check 'a budget that none is within' ends 1 --len 100 $quick --kernel naive,cr-portable --max-abs 1e-30
  check 'is said' says '^no kernel is within the budget$'
  check 'and there are no C lines then' test "$(grep -c posenc_plan out)" -eq 0
  check 'what is slow and wrong can be named' ends 0 --len 100 $quick --kernel naive --max-abs 1e-3
  check 'and chosen' says '^take naive: '
  check 'rope' ends 0 --len 100 $quick --op rope --heads 4 --kernel 'cr-portable,cached' --max-ulp 0.5
  check 'its lines apply' says '^  posenc_apply(plan, &slice, x, x);$'
  do_compile 'and compile'
  if [ -r /proc/stat ]; then
    pids=
    for busy in $(seq $(($(getconf _NPROCESSORS_ONLN) / 10 + 3))); do # a tenth of all
      while :; do :; done &
      pids="$pids $!"
    done
    check 'beside other work' ends 0 --len 100 --dim 64 --repetitions 20 --kernel rotation-portable,naive
    kill $pids && wait $pids 2>/dev/null
    check 'the times are said to be unreliable' \
      says '^unreliable: other processes used [0-9]* % of the processors during the timings$'
  else
    skip 'beside other work' 'no /proc/stat'
    skip 'the times are said to be unreliable' 'no /proc/stat'
  fi
  check 'a rope cache' \
    ends 0 --len 100 $quick --op rope-cache --scaling yarn,factor=4,original=64 --kernel rotation-portable
  check 'its lines make both tables' says '^  posenc_rope_cache(plan, 0, 100, cosines, sines);$'
  check 'and the scaling' says '^  problem.scaling.factor = 4;$'
  factors=$(seq -s : 1 32)
  check 'factors' ends 0 --len 100 $quick --scaling "longrope,factors=$factors" --kernel cr-portable,rotation-portable
  check 'are in the lines' says '^  static const double factors\[\] = {1, 2, 3, '
  do_compile 'which compile'
  grid '^  axes.grouped = true;$' --grid h=10:-9:2/9,w=10:0:3/7,columns=wh,grouped=yes --layout split --padding 3
  grid '^  axes.order = POSENC_AXES_CYCLIC;$' --grid t=4,h=4,w=6,pairs=12:10:10,order=cyclic,frequencies=continued
  printf '0 7 5 5' >here; printf '0 1 2 2' >there
  grid '^  static const double positions_0\[\] = {0, 7, 5, 5};$' --grid h=@here,w=@there,frequencies=dealt
  seq 2 100 | sed 50d >many
  check 'long lists' ends 0 --grid h=@many,w=@many $quick --kernel cr-portable
  check 'are of the program' says '^  extern const double positions_1\[98\]; // of each row$'
  check 'fresh memory' ends 0 --len 100 $quick --memory fresh --kernel rotation-portable
  check 'JSON' ends 0 --len 100 $quick --kernel rotation-portable,naive --format json
  check 'tells its candidates' says '"choice": "rotation-portable"'
  known=$(test ! -r /proc/stat || echo '[0-9][-0-9.e]*')
  check 'and what other processes used, where that is known' says "\"others\": \(${known:-null}\),"
  if command -v gnuplot > /dev/null; then
    check 'a plot' ends 0 --len 100 $quick --kernel rotation-portable,naive --plot front.svg
    check 'is SVG, with a point for each' test "$(head -c 5 front.svg)" = '<?xml' \
      -a "$(grep -c 'xmlns="http://www.w3.org/2000/svg"' front.svg)" -eq 1 -a "$(grep -c '</svg>' front.svg)" -eq 1
  else
    skip 'a plot' 'no gnuplot'
    skip 'is SVG, with a point for each' 'no gnuplot'
  fi
  if [ -e "$library" ]; then
    $CC $CFLAGS -I"$root/include" -shared -fPIC "$root/tests/costs.c" -o costs.so -lm
    plugin=./costs.so
    check 'if the fastest is a kernel of a plugin' ends 0 --len 100 $quick --plugin $plugin --kernel fourfold
    check 'it is taken' says '^take fourfold: '
    check 'from the list in its file' says '^  options.kernel = posenc_plugin_kernels\[1\];$'
    check 'which the program has to be linked with' says '^  // fourfold is a kernel of ./costs.so, '
    do_compile 'and these lines compile'
    plugin=
    workloads
    if emulated || sanitized; then
      skip 'a recipe that is wrong' 'no library can be put before others here'
    else
      breaks
    fi
  else
    skip 'kernels of a plugin' 'no shared library here'
  fi
  if emulated; then skip 'times are kept' 'those of an emulator are not'; else keep_times; fi
  check 'times of grids' is_refused '--keep other: cannot be combined with --grid' --grid h=8 $quick --keep other
  if command -v valgrind >/dev/null && ! sanitized && ! "$POSENC" doctor 2>&1 | grep -q '^NO  processor'; then
    valgrind -q --tool=none --trace-children=yes \
      "$POSENC" choose --len 8 --dim 8 --kernel naive --keep emulated >out 2>err # on an emulated processor
    status=$?
    not_kept() { one_line 'keep: .* emulates the processor: its times are not kept' && [ ! -e emulated ]; }
    if grep -q '^==[0-9]*== Valgrind: debuginfo reader' err; then # valgrind 3.19, of what clang 14 writes
      skip 'times of an emulator' 'valgrind cannot read the debugging information of this build'
    else
      check 'times of an emulator' not_kept
    fi
  else
    skip 'times of an emulator' 'no valgrind here, or a sanitizer, which it cannot run'
  fi
  decodes
  check 'more rows than there are' is_refused 'rows 9: more than --len' --len 8 $quick --rows 9
  check 'the most rows' is_refused 'rows 9223372036854775807: more than --len' --len 8 $quick --rows 9223372036854775807
  check 'the most calls' ends 0 --len 8 $quick --kernel naive,cr-portable --calls 9223372036854775807
  check 'are counted' says '^for 9223372036854775807 calls of 8 rows with one plan, '
  check 'no rows' is_refused 'rows.*0' --len 8 $quick --rows 0
  check 'no calls' is_refused 'calls.*0' --len 8 $quick --calls 0
  check 'rows in fresh memory' is_refused 'rows.*memory\|memory.*rows' --len 8 $quick --rows 1 --memory fresh
  check 'times of rows are not kept' is_refused 'rows.*keep\|keep.*rows' --len 8 $quick --rows 1 --keep other
  check 'nor those of calls' is_refused 'calls.*keep\|keep.*calls' --len 8 $quick --calls 1 --keep other
  check 'no table' is_refused 'len and --dim are needed' --repetitions 3
  check 'an empty one' is_refused 'len 0: an empty table takes no time' --len 0 $quick
  check 'fresh x' is_refused 'memory fresh: x is never in fresh memory' --len 8 $quick --op add --memory fresh
  check '--memory' is_refused 'memory.*cold.*touched or fresh' --len 8 $quick --memory cold
  check '--format' is_refused 'format.*xml' --len 8 $quick --format xml
  check '--max-ulp' is_refused 'max-ulp.*-1' --len 8 $quick --max-ulp -1
  check 'a competitor' is_refused "kernel.*recipe/xlm.*no kernel of libposenc" --len 8 $quick --kernel recipe/xlm
  check 'a plot that cannot be written' is_refused 'plot.*nowhere/x.svg' --len 8 $quick --plot nowhere/x.svg
}
plan
exit "$tap_failed"
