#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the command for WebAssembly, with the libraries that it needs from Debian's sources, and the page that
# computes. Usage: build.sh SOURCES PAGE, in the folder to build in. Takes emscripten, dpkg-dev and a network, and
# minutes; what is there already is not built again.
# shellcheck disable=SC2086 # $compiler, $from and $link are lists of words
set -eu
sources=$(cd "$1" && pwd) page=$2 here=$PWD own=$(cd "$1" && pwd)/doc/site/wasm
NODE_PATH=/usr/share/nodejs # Debian's modules, also for a node that is not Debian's
export NODE_PATH
say() { echo "  WASM     $*"; }

for tool in emcc node dpkg-source apt-get; do
  command -v $tool >/dev/null || {
    echo "make wasm: $tool is missing (Debian: emscripten, nodejs, dpkg-dev)" >&2
    exit 2
  }
done
# emcc is a script that starts this compiler with these flags: without it, compiling takes a third of the time.
clang=$(em-config LLVM_ROOT)/clang-$(em-config CLANG_ADD_VERSION 2>/dev/null || :)
compiler=emcc
[ ! -x "$clang" ] || compiler="$clang $(emcc --cflags)"
prefix=$here/prefix

# ---- the sources of Debian 12's packages, with apt's check of their signatures ----

list=$here/apt/sources.list
from="-o Dir::Etc::SourceList=$list -o Dir::Etc::SourceParts=- -o Dir::State::Lists=$here/apt/lists
  -o Dir::Cache=$here/apt/cache -o APT::Sandbox::User=$(id -un)"
fetch() { # PACKAGE: its source in the folder PACKAGE
  [ ! -d "$1" ] || return 0
  if [ ! -f apt/updated ]; then
    mkdir -p apt/lists/partial apt/cache/archives/partial
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb-src [signed-by=$key] https://deb.debian.org/debian bookworm main" >"$list"
    apt-get $from update >apt/log 2>&1
    : >apt/updated
  fi
  say "source of $1"
  (cd apt && apt-get $from source --download-only "$1" && rm -rf "$1" && dpkg-source --no-check -x "$1"_*.dsc "$1") \
    >>apt/log 2>&1
  mv "apt/$1" "$1"
}

library() { # PACKAGE FOLDER SWITCH...: builds the C library in FOLDER of the package
  package=$1 folder=$2
  shift 2
  [ ! -f "built/$package" ] || return 0
  fetch "$package"
  say "$package"
  # Debian leaves GMP's manual out, whose Makefile.in its configure wants.
  mkdir -p "made/$package" built "$package/doc"
  [ -e "$package/doc/Makefile.in" ] || echo 'all install:' >"$package/doc/Makefile.in"
  (
    cd "made/$package"
    [ -x "../../$package/configure" ] || (cd "../../$package" && autoreconf -i)
    emconfigure "../../$package/configure" --host=none --disable-shared --prefix="$prefix" CFLAGS=-O2 LDFLAGS=-O0 "$@"
    emmake make -C "$folder" CC="$compiler" install
    emmake make CC="$compiler" SUBDIRS= install
  ) >"made/$package.log" 2>&1 || {
    tail -5 "made/$package.log" >&2
    exit 1
  }
  : >"built/$package"
}

library gmp . --disable-assembly
library mpfr4 src --with-gmp="$prefix" --disable-thread-safe
library jansson src

# ---- what glibc does otherwise than emscripten's musl: sines and cosines, and messages of options ----

fetch glibc
mkdir -p glibc-empty objects
for header in math_private math-barriers libm-alias-float nan-high-order-bit fenv_private math-underflow \
  libm-alias-double config gettext; do
  : >glibc-empty/$header.h
done
ieee=sysdeps/ieee754
for file in $ieee/flt-32/s_sinf $ieee/flt-32/s_cosf $ieee/flt-32/s_sincosf_data $ieee/dbl-64/s_sin \
  $ieee/dbl-64/branred $ieee/dbl-64/sincostab posix/getopt posix/getopt1; do
  $compiler -std=gnu17 -O2 -ffp-contract=off -w -include "$own/glibc.h" -Iglibc-empty -Iglibc/$ieee/flt-32 \
    -Iglibc/$ieee/dbl-64 -c "glibc/$file.c" -o "objects/${file##*/}.o"
done
$compiler -std=gnu17 -O2 -Wall -D_GNU_SOURCE -I"$prefix/include" -c "$own/system.c" -o objects/system.o

# ---- posenc ----

mkdir -p posenc
cd posenc
if [ ! -f config.status ] || [ "$sources/configure" -nt config.status ]; then
  say 'configure'
  emconfigure env PKG_CONFIG_LIBDIR="$prefix/lib/pkgconfig" PKG_CONFIG_PATH="$prefix/lib/pkgconfig" \
    "$sources/configure" --host=wasm32-unknown-emscripten --disable-shared --disable-openmp --without-benchmark \
    --without-sleef --without-libmvec --without-opencl --without-kissfft --without-arb CFLAGS=-O2 LDFLAGS=-O0 \
    CPPFLAGS="-include $own/system.h" >configure.log 2>&1 || {
    tail -5 configure.log >&2
    exit 1
  }
fi
say 'posenc'
make -s V=0 CC="$compiler -std=gnu17" AR=emar RANLIB=emranlib libcommand.a libimpls.a cli/main.o
cd ..

link="-sMODULARIZE=1 -sEXPORT_NAME=posenc -sEXIT_RUNTIME=1 -sINVOKE_RUN=0 -sALLOW_MEMORY_GROWTH=1
  -sFORCE_FILESYSTEM=1 -sEXPORTED_RUNTIME_METHODS=FS,WORKERFS,callMain -lworkerfs.js
  -sNODEJS_CATCH_EXIT=0 -sNODEJS_CATCH_REJECTION=0"
say 'link'
emcc -O2 posenc/cli/main.o objects/*.o posenc/libcommand.a posenc/libimpls.a -L"$prefix/lib" -ljansson -lmpfr -lgmp \
  $link -o posenc.js
say "$page"
node "$own/pack.js" "$own" "$here" "$page"
