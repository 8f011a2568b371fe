#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles the example, as C and as C++, against the installed library, shared and static, and checks what it prints; then
# the plugin, which the installed command must list and verify. $1: folder of examples.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PKG_CONFIG_LIBDIR=$DESTDIR$libdir/pkgconfig
export PKG_CONFIG_LIBDIR
[ -z "$DESTDIR" ] || { PKG_CONFIG_SYSROOT_DIR=$DESTDIR; export PKG_CONFIG_SYSROOT_DIR; }
want='PE[1] = 0.841470957 0.540302277 0.761720419 0.647905886 ...'

try() { # name, command that makes $work/table
  name=$1; shift
  "$@"
  got=$(LD_LIBRARY_PATH=$DESTDIR$libdir "$work/table")
  [ "$got" = "$want" ] || { echo "installcheck: $name: got '$got', want '$want'" >&2; exit 1; }
  echo "installcheck: $name: ok"
}

# Unquoted on purpose: these are lists of words.
cflags=$(pkg-config --cflags posenc)
libs=$(pkg-config --libs posenc)
for shared in "$DESTDIR$libdir"/libposenc.so; do
  [ ! -e "$shared" ] || try "C, shared" $CC $CFLAGS $cflags "$1/table.c" -o "$work/table" $LDFLAGS $libs
  [ ! -e "$shared" ] || try "C++, shared" $CXX $CFLAGS $cflags -x c++ "$1/table.c" -x none -o "$work/table" $LDFLAGS $libs
done
[ ! -e "$DESTDIR$libdir/libposenc.a" ] ||
  try "C, static" $CC $CFLAGS $cflags "$1/table.c" -o "$work/table" $LDFLAGS "$DESTDIR$libdir/libposenc.a" $(pkg-config --static --libs posenc | sed 's/-lposenc//')
[ -x "$DESTDIR$bindir/posenc" ] || exit 0

posenc() { # the installed one
  LD_LIBRARY_PATH=$DESTDIR$libdir "$DESTDIR$bindir/posenc" "$@"
}
posenc --version > /dev/null
if [ -e "$DESTDIR$libdir/libposenc.so" ]; then
  cp "$1/plugin/kernel.c" "$1/plugin/Makefile" "$work"
  cd "$work"
  make CC="$CC" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" > make.log 2>&1 || { cat make.log >&2; exit 1; }
  posenc list --plugin kernel.so | grep -q '^long-double: ' || { echo "installcheck: plugin: not listed" >&2; exit 1; }
  posenc verify --plugin kernel.so --kernel long-double --len 64 --dim 16 > tap || { cat tap >&2; exit 1; }
  echo "installcheck: plugin: ok"
fi
