#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the package for CMake: programs find the header and the library of a prefix, also of one that was moved, and no
# version that they do not want.
# shellcheck disable=SC2154 # make sets the environment
. "${srcdir:-.}/tests/tap.sh"
header=$(cd "${srcdir:-.}" && pwd)/include/posenc.h build=${abs_top_builddir:?}
library=$build/.libs/libposenc.so archive=$build/.libs/libposenc.a
command -v cmake >/dev/null || skip_all 'no cmake here'
[ -e "$library" ] || skip_all 'no shared library in this build'
! emulated || skip_all 'built for another machine'
! nm -D "$library" | grep -q '__[at]san_init' || skip_all 'a library with a sanitizer'
# CMake's compiler must be one of the build's processor.
echo "int a[sizeof(void *) == $(sed -n 's/^SIZEOF_VOID_P = //p' "$build/Makefile") ? 1 : -1];" |
  cc -x c -c -o /dev/null - 2>/dev/null || skip_all 'a library of other pointers than those of cc'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
cd "$work" || exit 99
diagnose() { tail -n 20 out | sed 's/^/# /'; }

prefix=$work/to/usr
env -u MAKEFLAGS -u MFLAGS make -s -C "$build" install-data-local DESTDIR="$work/to" prefix=/usr \
  libdir=/usr/lib/c++ includedir=/usr/include >out 2>&1
mkdir -p "$prefix/include"
cp "$header" "$prefix/include"
cp "$library" "$prefix/lib/c++/libposenc.so"
cp "$library" "$prefix/lib/c++/libposenc.so.0"
cat >program.c <<'C'
#include <posenc.h>
#include <stdio.h>
int main(void) { return puts(posenc_version()) < 0; }
C
found() { # PREFIX VERSION [LINE]: builds the program with the package in this prefix, in the folder by-cmake
  mkdir -p by-cmake
  cat >by-cmake/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.13)
project(p C)
${3-}
find_package(posenc $2 REQUIRED PATHS $1/lib/c++/cmake/posenc NO_DEFAULT_PATH)
add_executable(p ../program.c)
target_link_libraries(p posenc::posenc)
END
  (cd by-cmake && env -u MAKEFLAGS -u MFLAGS -u CFLAGS -u CC -u CXX -u CMAKE_GENERATOR \
    sh -c 'cmake . && make VERBOSE=1') >out 2>&1
}
uses() { # PREFIX: what the program was made of, and that it runs
  grep -q -e "-isystem $1/include" out && [ "$(ldd by-cmake/p | sed -n 's/.*libposenc.* => \([^ ]*\) .*/\1/p')" = \
    "$1/lib/c++/libposenc.so.0" ] && by-cmake/p >out
}
check 'a program' found "$prefix" 0.1
check 'of that prefix' uses "$prefix"
mv "$prefix" "$work/away"
prefix=$work/away
check 'another folder, in the same folder of CMake' found "$prefix" 0.1
check 'of that one' uses "$prefix"
ranges='0.1...0.9 0.0.9...0.1.0 0...<1' none='0.2...0.9 0.0...<0.1'
if [ "$(printf '%s\n' 3.19 "$(cmake --version | sed -n 's/^cmake version //p')" | sort -V | head -n 1)" != 3.19 ]; then
  skip 'ranges of versions' 'CMake 3.19 has them'
  ranges='' none=''
fi
for version in '' 0.1.0 $ranges; do
  check "version '$version'" found "$prefix" "$version"
done
for version in 0.1.1 0.0 0.2 1 $none; do
  check "not version '$version'" eval '! found "$prefix" "$version" && grep -q "0.1.0" out'
done
ln -s "$work" link
root="set(CMAKE_FIND_ROOT_PATH $work/link)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)"
check 'seen through a link, which is the root of another system' found "$work/link/away" 0.1 "$root"
mkdir -p deep/data
mv "$prefix/lib" deep/data/
ln -s "$work/deep/data/lib" "$prefix/lib"
check 'whose folder of libraries is a link' found "$prefix" 0.1
if [ -e "$archive" ]; then
  mkdir -p static/lib/c++
  cp -R "$prefix/include" static
  cp -R "$prefix/lib/c++/cmake" "$archive" static/lib/c++
  rm -rf by-cmake
  check 'a static library alone' found "$work/static" 0.1
  check 'runs' by-cmake/p
else
  skip 'a static library alone' 'none in this build'
fi
rm -rf by-cmake
check 'not by a program of other pointers' \
  eval '! found "$prefix" 0.1 "set(CMAKE_SIZEOF_VOID_P 2)" && grep -q pointers out'
rm "$prefix/include/posenc.h"
check 'not without the header' \
  eval '! found "$prefix" 0.1 && tr -s " \n" " " <out | grep -q "no posenc.h in .*/include"'
plan
exit "$tap_failed"
