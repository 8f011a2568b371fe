#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that the command, or the library where there is none, builds, runs and lacks what it should with each switch of
# configure. Switches that change no flags of the compiler are tried one after the other in one folder, where make
# compiles only what depends on config.h.
# Touched by: configure.ac lib/simd/tiers.def Makefile.am bench/modes.c bench/bench.h bench/Makefile.inc
# Touched by: cli/Makefile.inc lib/Makefile.inc tests/hosts.sh
# Touched by: impls/kernels.am impls/peers impls/opencl tests/tap.sh tests/Makefile.inc
# shellcheck disable=SC2016,SC2086 # lists of words
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/hosts.sh"
[ ! -e "$srcdir/config.status" ] || skip_all 'the source folder is configured'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
cd "$work" || exit 99
diagnose() { tail -n 20 out | cut -c1-300 | sed 's/^/# /'; }
tried=''

there() { # COMMAND...
  env -u MAKEFLAGS -u MFLAGS "$@" >out 2>&1 </dev/null
}
configured() { # SWITCH...
  tried="$tried $*"
  there "$srcdir/configure" -C "$@" CFLAGS=-O0 CXXFLAGS=-O0
}
# The program must be new: make would leave the old one if nothing else had changed.
links() {
  rm -f posenc .libs/posenc .libs/libposenc.* libposenc.la
  there make -j"$(nproc)" posenc && ${EMULATOR-} ./posenc list --format names >names 2>out && [ -s names ]
}
try() { # SWITCH...
  check "$*: configure" configured "$@"
  check "$*: the command links and runs" links
}
undefined() { # MACRO...
  for macro; do ! grep "^#define $macro " config.h || return 1; done >out
}
macro_of() { # TIER
  echo "HAVE_$1" | tr a-z A-Z
}
times_nothing() {
  for words in 'bench --len 8 --dim 8' 'choose --len 8 --dim 8'; do
    ${EMULATOR-} ./posenc $words >out 2>err </dev/null
    [ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'without Google Benchmark' err || return 1
  done
}

# Each is tried alone that changes the language of the link or what others need.
mkdir tree && cd tree || exit 99
try --without-benchmark
check 'and times nothing' times_nothing
# Tiers whose header the compiler takes are left out one by one, so that each is once without the narrower ones; those
# of other architectures all at once.
others='' own=''
for tier in $(tier_names | grep -v -x generic); do
  if undefined $(macro_of $tier); then others="$others $tier"; else own="$own $tier"; fi
done
try --without-sleef --without-opencl --without-kissfft $(printf -- '--disable-%s ' $others)
check 'without what they name' undefined HAVE_SLEEF HAVE_OPENCL HAVE_KISSFFT
for tier in $own; do
  try --without-sleef --without-libmvec --without-arb --disable-$tier
  check 'without what they name' undefined HAVE_SLEEF HAVE_LIBMVEC HAVE_ARB $(macro_of $tier)
done
check '--with-bash-completion-dir' configured --with-bash-completion-dir=/nowhere
check 'is where make puts that completion' grep -q '^bashcompletiondir = /nowhere$' Makefile

mkdir ../single && cd ../single || exit 99
try --disable-openmp --enable-werror
check 'without its threads' undefined HAVE_OPENMP
check 'warnings are errors' grep -q '^WARN_CFLAGS = .*-Werror' Makefile

mkdir ../library && cd ../library || exit 99
check '--disable-tools --enable-static: configure' configured --disable-tools --enable-static
check 'the library builds' there make -j"$(nproc)"
check 'shared and static, without the command' eval '[ -e .libs/libposenc.so ] && [ -e libposenc.a ] && [ ! -e posenc ]'

# Every switch of configure itself was tried; the others are those of autoconf and libtool.
"$srcdir/configure" --help >help
listed=$(sed -n 's/^  --\(disable\|enable\|without\|with\)-\([a-z0-9-]*\).*/\2/p' help | sort -u)
foreign='FEATURE PACKAGE option-checking silent-rules dependency-tracking shared fast-install pic aix-soname gnu-ld'
foreign="$foreign sysroot libtool-lock pkgconfigdir"
for name in $listed; do
  case " $foreign " in *" $name "*) continue ;; esac
  check "a switch of $name is tried" eval 'case "$tried " in *"-$name "* | *"-$name="*) ;; *) false ;; esac'
done
plan
exit "$tap_failed"
