#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests what doc/adding-a-kernel.md says of a new instruction set: the example's rows are added to a copy of the tree as
# they stand there, but as instructions of this machine, under a name that no tier will ever have, with the next bit
# that is free, and behind the last rows, so that the example may be real. The copy builds, passes the tests that a tier
# must pass, and amalgamates; one whose question no code asks does not. It builds a tree, without the tiers of this
# machine.
# Touched by: doc/adding-a-kernel.md lib impls/cr impls/kernels.def include configure.ac tools/amalgamate.py
# Touched by: tests/certificates.c tests/isa.c tests/library.c tests/kernels.c tests/includes.sh
# shellcheck disable=SC2046,SC2086,SC2154 # lists of words; make sets the environment
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/hosts.sh"
for program in autoreconf patch python3; do command -v $program >/dev/null || skip_all "no $program here"; done
[ -e "$srcdir/.git" ] || skip_all 'no checkout'
! emulated || skip_all 'built for another machine'
case $(uname -m) in
x86_64) macro=__x86_64__ target='__attribute__((target("avx2,fma")))' flag='fma' ;;
aarch64) macro=__aarch64__ target='' flag='asimd' ;;
*) skip_all 'this machine is not known here' ;;
esac
grep -qw $flag /proc/cpuinfo || skip_all "no $flag here"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
cd "$work" || exit 99
diagnose() { tail -n 20 "$work/out" | cut -c1-300 | sed 's/^/# /'; }
there() { # COMMAND...
  env -u CC -u CXX -u CFLAGS -u MAKEFLAGS -u MFLAGS -u srcdir nice -n 5 "$@" >"$work/out" 2>&1 </dev/null
}

mkdir tree
git -C "$srcdir" ls-files -z --cached --others --exclude-standard >files
(cd "$srcdir" && xargs -0 sh -c 'for file; do [ ! -e "$file" ] || printf "%s\0" "$file"; done' - <"$work/files" |
  tar --null -T - -cf -) | tar -C tree -xf -
cd tree || exit 99
sed -n '/^<!-- file rvv.patch -->$/,/^```$/p' doc/adding-a-kernel.md | sed '1,2d; $d' >"$work/example.patch"
all=$(sed -n 's/^#define POSENC_ISA_ALL \([0-9]*\)u.*/\1/p' include/posenc.h)
last() { tail -n 1 "$1" | sed 's|[/&]|\\&|g'; }
sed -i -e "s/^ TIER(.*/ $(last lib/simd/tiers.def)/; s/^ KERNEL(.*/ $(last impls/kernels.def)/" \
  -e "s/^-\(#define POSENC_ISA_ALL \)[0-9]*/-\1$all/" \
  -e "s/^+\(#define POSENC_ISA_RVV \)[0-9]*/+\1$((all + 1))/" \
  -e "s/^+\(#define POSENC_ISA_ALL \)[0-9]*/+\1$((2 * all + 1))/" \
  -e "s/^+#if !defined(__riscv).*/+#if !defined($macro)/; s/^+#define TARGET .*/+#define TARGET $target/" \
  -e "/^+/ { s/__riscv/$macro/; s/RISCV(1ul << .*/EXAMPLE(0))/; s/RISCV(/EXAMPLE(/ }" \
  -e '/^+/ { s/rvv/example/g; s/RVV/EXAMPLE/g }' \
  "$work/example.patch"
check "the page's patch applies" there patch -p0 --no-backup-if-mismatch -i "$work/example.patch"
check 'in its place' eval '! grep -q -i -e fuzz -e fail "$work/out"'
others=$(tier_names . | grep -v -x -e generic -e example | sed 's/^/--disable-/')

mkdir build && cd build || exit 99
check 'autoreconf' there autoreconf -i ..
check 'the rules of includes are kept' eval '(cd .. && there sh tests/includes.sh)'
check 'configure takes the tier' eval 'there ../configure $others --without-benchmark --without-sleef \
  --without-libmvec --without-opencl --without-kissfft --without-arb CFLAGS=-O2 CXXFLAGS=-O2 &&
  grep -q "^#define HAVE_EXAMPLE 1$" config.h'
check 'and has its switch' eval '../configure --help | grep -q -e --disable-example'
names='isa library certificates kernels'
check 'it builds' there make -j"$(nproc)" $(printf 'tests/%s ' $names)
for name in $names; do
  # Of the longest, a quarter, as by an emulator.
  check "$name passes" eval 'there env EMULATOR=true tests/$name && ! grep -q "^not ok" "$work/out"'
  [ $name = library ] || check "$name tests the new tier" grep -q '^ok .*example' "$work/out"
done
check 'it amalgamates' there make amalgamation
check 'with the tier' eval 'there gcc -O0 -c amalgamation/posenc.c -o one.o && nm one.o | grep -q _example'

sed -i 's/EXAMPLE(0)/ZARCH(0)/' ../lib/simd/tiers.def
check 'a question that no code asks' eval '
  ! there python3 -B ../tools/amalgamate.py .. 0 posenc.c lib/api/isa.c -- && grep -q "example: .*ZARCH" "$work/out"'
plan
exit "$tap_failed"
