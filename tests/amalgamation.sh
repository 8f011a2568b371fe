#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests "make amalgamation": one source file has the functions of posenc.h and no others, passes the tests of the
# library, and its kernels have the library's bits.
# Touched by: lib impls include tools/amalgamate.py
# shellcheck disable=SC2086,SC2154 # lists of words; make sets the environment
. "${srcdir:-.}/tests/command.sh"
diagnose() { { grep -v '^ok' out; cat err; } | tail -n 12 | cut -c1-300 | sed 's/^/# /'; }
for program in python3 nm; do command -v $program >/dev/null || skip_all "no $program here"; done
build=${abs_top_builddir:?}
tried() { # COMMAND...: runs it; its output is in out
  env -u MAKEFLAGS -u MFLAGS nice -n 5 "$@" >out 2>err </dev/null
}
check 'make amalgamation' tried make -C "$build" amalgamation
cp "$build/amalgamation/posenc.c" "$build/amalgamation/posenc.h" . || exit 99

# ---- compiled ----

rejected() { # FLAG...
  ! tried $CC "$@" -fsyntax-only posenc.c && grep -q 'without -ffast-math' err
}
check 'refused with -ffast-math' rejected -ffast-math
if ! $CC -ffast-math -dM -E -x c /dev/null | grep -q __ASSOCIATIVE_MATH__; then
  skip 'refused with -fassociative-math' 'the compiler has no macro for it, as clang'
else
  check 'refused with -fassociative-math' rejected -ffast-math -fno-finite-math-only
fi
warned='-Wall -Wextra -Werror'
check 'C17 without a warning' tried $CC -std=c17 $warned -fsyntax-only posenc.c
check 'cc -O2 -c posenc.c, without a warning' tried $CC -O2 $warned -fPIC -c posenc.c
check 'c++ -O2 -std=c++17 -x c++ -c posenc.c, without a warning' \
  tried $CXX -O2 -std=c++17 $warned -fPIC -x c++ -c posenc.c -o posenc++.o
check 'C++17 without a warning, with -fopenmp-simd' \
  tried $CXX -fsyntax-only -fopenmp-simd -std=c++17 $warned -x c++ posenc.c
if ! command -v clang++ >/dev/null; then skip 'clang++ without a warning' 'no clang++ here'; else
  check 'clang++ without a warning' tried clang++ -fsyntax-only -std=c++17 $warned -x c++ posenc.c
fi
check 'a shared library of that object' tried $CXX -shared posenc++.o -o posenc++.so -lm -pthread
if sanitized; then skip 'its symbols' 'a sanitizer adds some'; else
  sed -n 's/^POSENC_API.*[ *]\(posenc_[a-z0-9_]*\)(.*/\1/p' posenc.h | sort >declared
  nm -g --defined-only posenc.o | awk '{ print $3 }' | sort >defined
  check "the object defines the $(wc -l <declared) functions of posenc.h alone" cmp declared defined
  nm -D --defined-only posenc++.so | awk '$2 != "A" { print $3 }' | sort >defined
  check 'and that library exports them alone' cmp declared defined
fi

# ---- tests, linked with it ----

passed() { # TEST: whether it has points, and no failure
  tried ${EMULATOR-} "./$1" && grep -q '^ok' out && ! grep -q -e '^not ok' -e '^Bail out' out
}
linked() { # NAME SOURCE OBJECT LINKER...: the source is C
  name=$1 source=$2 object=$3
  shift 3
  tried $compiler -O1 -I. -I"$root" -c "$source" -o test.o && tried "$@" test.o $object -o $name -lm -pthread
}
tests() { # WHAT OBJECT LINKER...: of the tests in $names
  what=$1
  shift
  for name in $names; do
    check "$what: $name, compiled" linked $name "$root/tests/$name.c" "$@"
    check "$what: $name passes" passed $name
  done
}
compiler=$CC names='library axes plans arguments encoder'
tests C posenc.o $CC
tests C++ posenc++.o $CXX
check 'a C++17 program' tried $CXX -std=c++17 -I. -x c++ "$root/examples/table.c" -x none posenc.o -o table -lm -pthread
check 'runs' eval 'tried ${EMULATOR-} ./table && grep -q "PE\[1\] = 0.841470957 0.540302277" out'

# ---- C++ and musl have the same bits ----

cat >digests.c <<'END'
#include "posenc.h"
#include <stdio.h>
/* Prints a hash (FNV-1a) of a table by each reproducible kernel, and of that table as the x of rope. */
int main(void) {
  static unsigned char table[300 * 64 * 8];
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  for (size_t n = 0; n < 8 * count; n++) {
    posenc_problem problem = posenc_table(300, 64);
    posenc_options options = posenc_default_options();
    const posenc_slice rows = posenc_rows(0, 300);
    uint64_t hash = 0xcbf29ce484222325;
    posenc_plan *plan;
    options.kernel = kernels[n / 8];
    problem.dtype = (posenc_dtype)(n / 2 % 4);
    problem.op = n % 2 ? POSENC_ROPE : POSENC_TABLE;
    if (!options.kernel->reproducible || posenc_plan_create(&plan, &problem, &options) != POSENC_OK) continue;
    if (problem.op == POSENC_ROPE)
      posenc_apply(plan, &rows, table, table);
    else
      posenc_execute(plan, 0, 300, table);
    posenc_plan_destroy(plan);
    for (size_t i = 0; i < 300 * 64 * posenc_dtype_bytes(problem.dtype); i++) hash = (hash ^ table[i]) * 0x100000001b3;
    printf("%s %d %d %016llx\n", options.kernel->name, (int)problem.op, (int)problem.dtype, (unsigned long long)hash);
  }
}
END
digests() { # FILE OBJECT LINKER...
  file=$1
  shift
  linked digests digests.c "$@" && tried ${EMULATOR-} ./digests && [ -s out ] && mv out $file
}
check 'digests of the tables of C' digests of-c posenc.o $CC
check 'and C++' digests of-c++ posenc++.o $CXX
check 'are the same' cmp of-c of-c++
if emulated || ! command -v musl-gcc >/dev/null; then skip musl 'no musl-gcc for that machine'; else
  check 'musl-gcc -O2 -c posenc.c' tried musl-gcc -std=c17 -Wall -Wextra -Werror -O2 -c posenc.c -o musl.o
  # tests/plans defines aligned_alloc by posix_memalign, which in musl calls aligned_alloc.
  compiler=musl-gcc names='library axes arguments encoder'
  tests musl musl.o musl-gcc -static
  check 'digests of the tables of musl' digests of-musl musl.o musl-gcc -static
  compiler=$CC
  check 'are the same as those of glibc' cmp of-c of-musl
fi

# ---- bits of the command with this library instead of its own ----

command=$build/.libs/posenc
if [ ! -x "$command" ] || [ ! -e "$build/.libs/libposenc.so.0" ] || sanitized; then
  skip 'the same bits' 'no command with a shared library here, or one with a sanitizer'
else
  mkdir lib
  check 'a shared library' tried $CC -shared posenc.o -o lib/libposenc.so.0 -lm -pthread
  amalgamated() { tried env LD_LIBRARY_PATH="$work/lib" ${EMULATOR-} "$command" verify --brief "$@"; }
  ldd_of_it() { LD_LIBRARY_PATH=$work/lib ldd "$command" | grep -q "libposenc.so.0 => $work/lib/"; }
  if emulated; then skip 'which the command takes' 'no ldd of that machine'; else
    check 'which the command takes' ldd_of_it
  fi
  check "digests of the library's own tables" \
    digests of-library "$build/.libs/libposenc.so.0" $CC "-Wl,-rpath,$build/.libs"
  check 'are the same, of as many kernels' cmp of-c of-library
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
