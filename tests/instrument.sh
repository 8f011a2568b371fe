#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds posenc once more, so that faults are found which a plain build hides, in a folder named after the target, and
# runs tests there: "make sanitize", "make sanitize-threads", "make valgrind", "make fuzz" and "make analyze". TESTS=…
# selects tests, FUZZ_SECONDS is the time of all readers. Exits with status 1 if a test fails or anything is reported.
# See doc/building.md.
: "${srcdir:?make sets it}" "${MAKE:=make}" "${CC:=cc}" "${CXX:=c++}"
mode=$1 top=$(cd "$srcdir" && pwd) || exit 99
mkdir -p "$mode" && cd "$mode" || exit 99
say() { printf '%s: %s\n' "$mode" "$*"; }
stop() { say "$*" >&2; exit 1; }
needs() { command -v "$1" >/dev/null || stop "$1 is missing"; }

built() { # ARGUMENT...: configures the folder once, and builds
  [ -e Makefile ] || "$top/configure" -q "$@" >configure.log 2>&1 ||
    { rm -f Makefile; stop "configure fails: see $PWD/configure.log"; }
  "$MAKE" all >make.log 2>&1 || stop "the build fails: see $PWD/make.log"
}

found() { find found -type f -size +0; } # the reports: memcheck makes its file before it has any
renew() { rm -rf found && mkdir found && chmod 777 found; }

# Stops unless each of these faults of tests/faults.c is reported, and nothing without one.
proved() { # "COMPILER FLAG..." "CHECKER..." FAULT...
  $1 -o faults "$top/tests/faults.c" -pthread >faults.log 2>&1 || stop "see $PWD/faults.log"
  checker=$2
  shift 2
  for fault in none "$@"; do
    renew
    $checker ./faults "$fault" >faults.log 2>&1
    case $fault,$(found) in
    none,?*) stop "something is reported of ./faults $fault, in $PWD" ;;
    none, | *,?*) ;;
    *) stop "a fault is not reported: ./faults $fault, in $PWD" ;;
    esac
  done
}

# Reports are files in a folder, also those of processes whose output and exit status a test does not look at.
tested() { # TESTS VARIABLE=VALUE...: runs the tests, or those of the command line
  tests=$1
  shift
  case ${MAKEFLAGS-} in *TESTS=*) ;; *) set -- "$@" ${tests:+"TESTS=$tests"} ;; esac
  rm -f test-suite.log
  renew
  "$MAKE" check "$@" >check.log 2>&1
  [ -e test-suite.log ] || stop "no test ran: see $PWD/check.log"
  grep -e '^FAIL:' -e '^XPASS:' -e '^ERROR:' check.log
  found | sort | while read -r report; do say "reported: see $PWD/$report"; head -n 30 "$report"; done
  counted() { sed -n "s/^# $1: *//p; /^# ERROR:/q" test-suite.log; } # the totals, not what tests print after them
  wrong=$(($(counted FAIL) + $(counted XPASS) + $(counted ERROR))) reports=$(found | wc -l)
  say "$(counted PASS) passed, $wrong failed, $(counted SKIP) skipped, $reports reports"
  [ "$wrong" -eq 0 ] && [ "$reports" -eq 0 ] && [ "$(counted PASS)" -gt 0 ]
}

# ---- fuzz ----

# The readers have seeds.h, and what the command writes; what they find is kept in corpus/ for the next run.
ran() { "$@" || [ $? -eq 1 ]; } # a failed check is a record, too
write_seeds() {
  ./tests/fuzz/drive seeds && ./posenc write --len 4 --dim 8 -o seeds/table.npy &&
    ./posenc write --positions 3,0.5 --dim 8 -o seeds/table.safetensors &&
    ran ./posenc verify --kernel naive --len 3 --dim 4 --search 0 --format json -o seeds/accuracy.json &&
    ran ./posenc verify --kernel naive,naive-f64 --len 3 --dim 4 --search 0 --shard 2/2 --format json \
      -o seeds/shard.json &&
    { ! grep -q '^#define HAVE_BENCHMARK 1' config.h ||
      { ./posenc choose --len 8 --dim 8 --kernel naive --max-ulp 1 --repetitions 3 --keep seeds/wisdom >choice.log &&
        ./posenc bench --kernel naive --len 8 --dim 8 --repetitions 3 --min-time 0.001 --format json \
          -o seeds/times.json; }; }
}

# A reader of options leaks what it refuses, so that the process is started anew from time to time.
fuzzed() { # READER SECONDS: prints its executions and covered edges; leaves the input of a failure in failures/
  end=$(($(date +%s) + $2)) executions=0 edges=0
  mkdir -p "corpus/$1"
  while left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do
    FUZZ_READER=$1 ./tests/fuzz/files -runs=200000 -max_total_time=$left -max_len=16384 -rss_limit_mb=2048 \
      -malloc_limit_mb=512 -timeout=20 -print_final_stats=1 -artifact_prefix="failures/$1-" "corpus/$1" seeds \
      >"$1.log" 2>&1 || return 1
    executions=$((executions + $(sed -n 's/^stat::number_of_executed_units: *//p' "$1.log")))
    edges=$(sed -n 's/.*DONE *cov: \([0-9]*\).*/\1/p' "$1.log")
  done
  say "$1: $executions executions, $edges edges covered"
  [ "$executions" -gt 0 ]
}

# ---- analyze ----

# Warnings are rows "TOOL/WARNING FILE"; those of tests/analyze.txt are explained there.
gcc_rows() {
  sed -n 's|^\([^: ]*\):.*warning: .*\[-W\(analyzer-[a-z-]*\)\]$|gcc/\2 \1|p' "$1" | sed "s|$top/||" | sort -u
}
unexplained() { # FILE: prints the rows that no pattern of tests/analyze.txt matches
  while read -r row; do
    known=
    while read -r pattern; do
      # shellcheck disable=SC2254 # a pattern
      case $row in $pattern) known=yes ;; esac
    done <patterns
    [ -n "$known" ] || echo "$row"
  done <"$1"
}

# Tests on threads: the library's plans and teams, and what the references and verify do with OpenMP. Not
# tests/threads.sh, which counts threads: the sanitizer has one of its own.
threads='tests/plans tests/team tests/library tests/axes tests/encoder tests/oracle tests/fast tests/fast-statistics
  tests/worst tests/split tests/problems tests/applied tests/kernels tests/stopwatch tests/lists.sh
  tests/encodings-command.sh'
# Tests on memory: the library with its kernels, and what reads files.
memory='tests/library tests/axes tests/plans tests/team tests/encoder tests/arguments tests/memory tests/format
  tests/output tests/others tests/models tests/verdicts tests/fuzz/drive tests/lists.sh tests/diff.sh'

case $mode in
sanitize)
  # gcc's UndefinedBehaviorSanitizer writes no files beside AddressSanitizer.
  needs clang
  flags='-g -O1 -fsanitize=address,undefined -fno-omit-frame-pointer'
  built CC=clang CXX=clang++ CFLAGS="$flags" CXXFLAGS="$flags" LDFLAGS=-fsanitize=address,undefined
  ASAN_OPTIONS="log_path=$PWD/found/report ${ASAN_OPTIONS-}" # also of clang's UndefinedBehaviorSanitizer beside it
  export ASAN_OPTIONS
  proved "clang $flags" '' memory arithmetic crash
  tested ''
  ;;
sanitize-threads)
  # gcc's OpenMP library is not instrumented, and all that it orders looks like a race. LLVM's tells Archer, which
  # tells the sanitizer.
  needs clang
  archer=$(clang -print-resource-dir)/../../libarcher.so
  [ -e "$archer" ] || stop "LLVM's libarcher.so is missing (Debian: libomp-dev)"
  flags='-g -O1 -fsanitize=thread'
  built CC=clang CXX=clang++ CFLAGS="$flags" CXXFLAGS="$flags" LDFLAGS=-fsanitize=thread
  OMP_TOOL_LIBRARIES=$archer
  TSAN_OPTIONS="log_path=$PWD/found/report ignore_noninstrumented_modules=1 die_after_fork=0 ${TSAN_OPTIONS-}"
  OMP_NUM_THREADS=${OMP_NUM_THREADS:-3}
  export OMP_TOOL_LIBRARIES TSAN_OPTIONS OMP_NUM_THREADS
  proved "clang $flags" '' race
  tested "$threads"
  ;;
valgrind)
  needs valgrind
  built CC="$CC" CXX="$CXX" CFLAGS='-g -O1' CXXFLAGS='-g -O1' --disable-avx512 # valgrind 3.19 does not know AVX-512
  checker="valgrind -q --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite"
  checker="$checker --error-exitcode=9 --log-file=$PWD/found/%p --suppressions=$top/tests/valgrind.supp"
  printf '#!/bin/sh\nexport LD_LIBRARY_PATH="%s/.libs"\nexec %s "%s/.libs/posenc" "$@"\n' "$PWD" "$checker" "$PWD" \
    >checked-posenc
  chmod +x checked-posenc
  proved "$CC -g" "$checker" memory
  tested "$memory" LOG_COMPILER="$checker" run_posenc="$PWD/checked-posenc"
  ;;
fuzz)
  needs clang
  flags='-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined'
  built CC=clang CXX=clang++ CFLAGS="$flags" CXXFLAGS="$flags" LDFLAGS=-fsanitize=address,undefined
  "$MAKE" tests/fuzz/drive tests/fuzz/files >>make.log 2>&1 || stop "no libFuzzer: see $PWD/make.log"
  rm -rf seeds && mkdir -p seeds failures || exit 99
  write_seeds >seeds.log 2>&1 || stop "no seeds: see $PWD/seeds.log"
  readers=$(grep -o '{"[a-z]*", read_' "$top/tests/fuzz/files.c" | cut -d'"' -f2)
  count=$(echo "$readers" | wc -l) wrong=0
  for reader in $readers; do
    fuzzed "$reader" $((${FUZZ_SECONDS:-3600} / count + 1)) ||
      { say "$reader: see $PWD/$reader.log and $PWD/failures"; wrong=$((wrong + 1)); }
  done
  say "$count readers, $wrong failed"
  [ "$wrong" -eq 0 ]
  ;;
analyze)
  needs gcc
  needs cppcheck
  # Without tests: gcc 12 takes gigabytes for some.
  export LC_ALL=C
  [ ! -e Makefile ] || "$MAKE" clean >clean.log # only what is compiled has warnings
  built CC=gcc CXX=g++ CFLAGS='-g -O1 -fanalyzer' CXXFLAGS=-O0
  "$MAKE" maintainers >>make.log 2>&1 || stop "the build fails: see $PWD/make.log"
  gcc_rows make.log >rows
  (cd "$top" && cppcheck -q --std=c11 --library=posix,gnu --enable=warning,portability \
    --template='cppcheck/{id} {file}' \
    -DHAVE_CONFIG_H -D__x86_64__ -D__linux__ -D__GNUC__=12 -I include -I . -I "$OLDPWD" \
    --include=/usr/include/jansson.h common reference inspect records verify bench reports cli lib impls \
    tools) >cppcheck.log 2>&1
  sort -u cppcheck.log >>rows
  grep -e '^gcc/' -e '^cppcheck/' "$top/tests/analyze.txt" >patterns
  unexplained rows >left
  cat left
  say "$(wc -l <rows) warnings, $(wc -l <left) unexplained"
  [ ! -s left ] && [ -s rows ]
  ;;
*) stop 'no such target' ;;
esac
