#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests "make amalgamation": one source file has the functions of posenc.h and no others, passes the tests of the
# library, and its kernels have the library's bits.
# shellcheck disable=SC2086,SC2154 # lists of words; make sets the environment
. "${srcdir:-.}/tests/command.sh"
diagnose() { { grep -v '^ok' out; cat err; } | tail -n 12 | cut -c1-300 | sed 's/^/# /'; }
nothing() { # WHY
  echo "1..0 # SKIP $1"
  exit 0
}
for program in python3 nm; do command -v $program >/dev/null || nothing "no $program here"; done
build=${abs_top_builddir:?}
tried() { # COMMAND...: runs it; its output is in out
  env -u MAKEFLAGS -u MFLAGS nice -n 5 "$@" >out 2>err </dev/null
}
check 'make amalgamation' tried make -C "$build" amalgamation
cp "$build/amalgamation/posenc.c" "$build/amalgamation/posenc.h" . || exit 99

# ---- compiled ----

syntax='-fsyntax-only -Wall -Wextra -Werror posenc.c'
check 'C17 without a warning' tried $CC -std=c17 $syntax
check 'refused with -ffast-math' eval '! tried $CC -ffast-math $syntax && grep -q "without -ffast-math" err'
check 'refused with -fassociative-math' eval '! tried $CC -ffast-math -fno-finite-math-only $syntax'
check 'refused as C++' eval '! tried $CXX -x c++ $syntax && grep -q "posenc.c is C" err'
check 'cc -O2 -c posenc.c' tried $CC -O2 -fPIC -c posenc.c
if sanitized; then skip 'its symbols' 'a sanitizer adds some'; else
  sed -n 's/^POSENC_API.*[ *]\(posenc_[a-z0-9_]*\)(.*/\1/p' posenc.h | sort >declared
  nm -g --defined-only posenc.o | awk '{ print $3 }' | sort >defined
  check "it defines the $(wc -l <declared) functions of posenc.h alone" cmp declared defined
fi

# ---- tests, linked with it ----

passed() { # TEST: whether it has points, and no failure
  tried "./$1" && grep -q '^ok' out && ! grep -q -e '^not ok' -e '^Bail out' out
}
for name in library axes plans arguments encoder; do
  check "$name, compiled" tried $CC -O1 -I. -I"$root" "$root/tests/$name.c" posenc.o -o $name -lm -pthread
  check "$name passes" passed $name
done
check 'a C++17 program' tried $CXX -std=c++17 -I. -x c++ "$root/examples/table.c" -x none posenc.o -o table -lm -pthread
check 'runs' eval 'tried ./table && grep -q "PE\[1\] = 0.841470957 0.540302277" out'

# ---- bits of the command with this library instead of its own ----

command=$build/.libs/posenc
if [ ! -x "$command" ] || [ ! -e "$build/.libs/libposenc.so.0" ] || sanitized; then
  skip 'the same bits' 'no command with a shared library here, or one with a sanitizer'
else
  mkdir lib
  check 'a shared library' tried $CC -shared posenc.o -o lib/libposenc.so.0 -lm -pthread
  amalgamated() { tried env LD_LIBRARY_PATH="$work/lib" "$command" verify --brief "$@"; }
  ldd_of_it() { LD_LIBRARY_PATH=$work/lib ldd "$command" | grep -q "libposenc.so.0 => $work/lib/"; }
  check 'which the command takes' ldd_of_it
  check 'rotation-portable: every published table' amalgamated --kernel rotation-portable \
    --baseline "$root/tests/baseline.json"
  while read -r options; do
    "$POSENC" verify --brief $options --save saved.json >/dev/null 2>&1
    check "every kernel: $options" eval 'amalgamated $options --baseline saved.json &&
      [ "$(grep -c "^ok .*baseline" out)" -gt 5 ]'
  done <<'END'
--len 1000 --dim 128
--len 300 --dim 66 --layout split --dtype f64
--len 300 --dim 64 --dtype bf16
--len 300 --dim 64 --dtype f16 --layout interleaved-cs
--len 300 --dim 64 --op add
--len 300 --dim 64 --op rope --heads 2 --dtype bf16
--len 300 --dim 64 --op rope-cache --scaling yarn,factor=4,original=64
END
fi
plan
exit "$tap_failed"
