#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles the examples, as C and as C++, against the installed library, shared and static, and checks their output;
# a C++ program, by itself and with CMake; then the plugin, which the installed command must list and verify. $1: folder
# of the examples. What cannot run here is counted as skipped.
set -eu
work=$(mktemp -d)
skipped=0
trap 'rm -rf "$work"' EXIT
PKG_CONFIG_LIBDIR=$DESTDIR$libdir/pkgconfig
export PKG_CONFIG_LIBDIR
[ -z "$DESTDIR" ] || { PKG_CONFIG_SYSROOT_DIR=$DESTDIR; export PKG_CONFIG_SYSROOT_DIR; }

wanted() {
  case $1 in
  main)
    echo 'PE[-2.5] = -0.5984721 -0.8011436 ...'
    echo 'rope cache at 4096 = 0.7875894 -0.6162004 ...'
    echo '4 x 7: dim must be even'
    ;;
  table) echo 'PE[1] = 0.841470957 0.540302277 0.761720419 0.647905886 ...' ;;
  rope) echo 'rope(1) at position 16 = -0.6697562 ... -1.245563 ...' ;;
  esac
}

try() { # example, how, command that builds $work/EXAMPLE
  example=$1 how=$2; shift 2
  "$@"
  got=$(LD_LIBRARY_PATH=$DESTDIR$libdir "$work/$example")
  if [ "$got" != "$(wanted "$example")" ]; then
    echo "installcheck: $example: $how: got '$got', want '$(wanted "$example")'" >&2
    exit 1
  fi
  echo "installcheck: $example: $how: ok"
}

# Used without quotes: these are lists of words.
cflags=$(pkg-config --cflags posenc)
libs=$(pkg-config --libs posenc)
shared=$DESTDIR$libdir/libposenc.so static=$DESTDIR$libdir/libposenc.a
static_libs="$static $(pkg-config --static --libs posenc | sed 's/-lposenc//')"

# With the shared and the static library, as far as these are installed.
compile() { # example, language, compiler and source
  program=$1 language=$2; shift 2
  [ ! -e "$shared" ] || try "$program" "$language, shared" "$@" -o "$work/$program" $LDFLAGS $libs
  [ ! -e "$static" ] || try "$program" "$language, static" "$@" -o "$work/$program" $LDFLAGS $static_libs
}
for example in table rope; do
  compile $example C $CC $CFLAGS $cflags "$1/$example.c"
  compile $example C++ $CXX $CFLAGS $cflags -x c++ "$1/$example.c" -x none
done
compile main C++17 $CXX $CFLAGS -std=c++17 $cflags "$1/cmake/main.cpp"

by_cmake() { # builds $work/main
  mkdir "$work/build"
  (cp "$1/cmake/CMakeLists.txt" "$1/cmake/main.cpp" "$work" && cd "$work/build" &&
    CXX=$CXX CXXFLAGS=$CFLAGS cmake -Dposenc_DIR="$DESTDIR$libdir/cmake/posenc" .. && cmake --build .) \
    > "$work/cmake.log" 2>&1 ||
    { cat "$work/cmake.log" >&2; exit 1; }
  mv "$work/build/table" "$work/main"
}
if ! command -v cmake > /dev/null; then
  echo "installcheck: main: CMake: skipped, no cmake here"
  skipped=$((skipped + 1))
else
  try main "C++17, CMake" by_cmake "$1"
fi
echo "installcheck: $skipped skipped"
[ -x "$DESTDIR$bindir/posenc" ] || exit 0

posenc() { # the installed command
  LD_LIBRARY_PATH=$DESTDIR$libdir "$DESTDIR$bindir/posenc" "$@"
}
posenc --version > /dev/null
if [ -e "$DESTDIR$libdir/libposenc.so" ]; then
  cp "$1/plugin/kernel.c" "$1/plugin/Makefile" "$work"
  cd "$work"
  make CC="$CC" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" > make.log 2>&1 || { cat make.log >&2; exit 1; }
  posenc list long-double --plugin kernel.so | grep -q '^long-double: ' ||
    { echo "installcheck: plugin: not listed" >&2; exit 1; }
  posenc verify --plugin kernel.so --kernel long-double --len 64 --dim 16 > tap || { cat tap >&2; exit 1; }
  echo "installcheck: plugin: ok"
fi
