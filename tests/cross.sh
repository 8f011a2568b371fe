#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc for another machine, a row of tests/hosts.def, built by a cross compiler and run by qemu, or by this
# machine if it can: the tests of its core, and the bits of every published table compared with those of this machine.
# make copies this script to one of each machine, cross-MACHINE.sh. POSENC_TEST_SLOW=1 runs the whole suite on AArch64,
# for hours, what is slow on s390x, and the amalgamation on all.
# Touched by: configure.ac Makefile.am lib impls include reference inspect verify records common cli
# Touched by: tests/cross.sh tests/hosts.sh tests/hosts.def tests/tap.sh tests/Makefile.inc
# shellcheck disable=SC2046,SC2086,SC2154 # lists of words; make sets the environment
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/hosts.sh"
[ ! -e "$srcdir/config.status" ] || skip_all 'the source folder is configured'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
diagnose() { tail -n 20 out | sed 's/^/# /'; }

is_slow() { [ "${POSENC_TEST_SLOW-}" = 1 ]; }
slow() { # WORD...: printed if slow tests run
  ! is_slow || echo "$@"
}
members() { # TEST-OR-GROUP...
  for name; do
    case $name in
    files) echo axes models fuzz/drive ;;
    exact) echo angle arrays cr rounding split certificates oracle scaling encodings ;;
    *) echo $name ;;
    esac
  done
}
# Sets what is tested on a machine beside its row: flags of the amalgamation; options of configure; whether the two
# largest tables are made, which take minutes where scalar code is emulated.
describe() { # HOST
  describe_host $1 || { echo "Bail out! no machine '$1'"; exit 1; }
  suite=$(slow $slow_tests) flags='' large=yes switches=''
  tests="isa library format memory $(members $tests)"
  [ "$suite" = all ] || tests="$tests $(members $suite)"
  case $emulator,$kernels in ?*,*-portable*) large=$(slow yes) ;; esac
  if [ $1 = i386 ]; then # 32 bits, compiled without fused multiply-add
    flags='-msse2 -mfpmath=sse'
    is_slow || switches='--disable-avx2 --disable-avx512' # their code compiles for minutes with 8 registers
  fi
}
there() { # COMMAND...
  for_host "$@" >out 2>&1 </dev/null
}
passed() { # LOG: a test with points, and no failure
  grep -q '^ok' "$1" && grep -q '^1\.\.' "$1" && ! grep -q -e '^not ok' -e '^Bail out' "$1"
}
test_program() { # NAME
  there make "tests/$1.log"
  cp "tests/$1.log" out
  check "$machine: $1: $(grep -c '^ok' out) points" passed out
}
suite() { # all tests, in as many lanes as quickstart has
  check "$machine: make check" there env -u POSENC_TEST_SLOW make -k -j$(($(nproc) + 1)) check
  for log in tests/*.log tests/fuzz/*.log; do
    name=${log#tests/} name=${name%.log}
    cp "$log" out
    if grep -q '^1\.\.0 # SKIP' out; then
      skip "$machine: $name" "$(sed -n 's/^1\.\.0 # SKIP //p' out)"
    else
      check "$machine: $name: $(grep -c '^ok' out) points, $(grep -c '^ok.*# SKIP' out) skipped" passed out
    fi
  done
}
build() { # with -O1 and without -g, half the time of -g -O2
  check "configure for $machine" there "$srcdir/configure" --host=$host ${emulator:+EMULATOR=$emulator} \
    $switches CFLAGS=-O1 CXXFLAGS=-O1
  check 'make' there make -j2 posenc run/posenc $(printf 'tests/%s ' $tests)
}

# Every published table, by the kernels that both machines have. The files are the same, byte for byte.
digest() { # COMMAND OPTION...
  "$@" -o table.npy 2>out && cksum <table.npy
}
digest_here() { # OPTION...: made once, as machines and kernels have the same tables
  file=$work/digest-$(echo "$*" | cksum | tr ' ' -)
  [ -s "$file" ] || digest "$POSENC" write "$@" >"$file" || { rm -f "$file"; return 1; }
  cat "$file"
}
same_bits() { # KERNEL LIKE OPTION...
  there=$1 here=$2
  shift 2
  theirs=$(digest run/posenc write ${there:+--kernel "$there"} "$@") &&
    ours=$(digest_here --kernel "$here" "$@") && [ "$theirs" = "$ours" ]
}
compare_tables() { # NAME: lines of options on standard input
  while read -r options; do
    for kernel in $kernels; do
      check "$machine: $1$kernel: $options" same_bits $kernel ${kernel%-*}-portable $options
    done
  done
}
published() {
  cat <<'END'
--len 1000 --dim 128 --shift 1 --layout split
--len 256 --dim 512 --offset 4294967296
--len 256 --dim 512 --offset 1099511627776
--len 1026 --dim 512 --shift 1 --layout split --padding 1
--len 1024 --dim 768
--len 1500 --dim 768 --shift 1 --layout split
--len 5000 --dim 512 --dtype f16
--len 5000 --dim 512 --dtype bf16
--len 5000 --dim 512
--len 5000 --dim 512 --dtype f64
END
  [ -z "$large" ] || printf '%s\n' '--len 32768 --dim 4096' '--len 131072 --dim 1024'
}

# Files and records go from each machine to the other.
read_there() { # DTYPE FORMAT: a file of this machine
  "$POSENC" write --kernel cr-portable --len 50 --dim 12 --dtype $1 -o here.$2 2>out &&
    there run/posenc check here.$2 --max-ulp 0.5
}
same_file() { # OPTION...: of safetensors, with positions
  run/posenc write --kernel cr-portable "$@" -o there.safetensors 2>out &&
    "$POSENC" write --kernel cr-portable "$@" -o here.safetensors 2>out && cmp here.safetensors there.safetensors >out
}
record() { # COMMAND FILE
  $1 verify --kernel cr-portable --len 60 --dim 12 --search 0 --brief --format json -o $2 >out 2>&1
}
same_record() {
  record run/posenc there.json && record "$POSENC" here.json && "$POSENC" compare here.json there.json >out 2>&1 &&
    there run/posenc compare there.json here.json
}
digests_of() { # FILE
  grep -o '"digest": *"[0-9a-f]*"' "$1"
}
same_digests() {
  digests_of here.json >here.digests && digests_of there.json >there.digests && cmp here.digests there.digests >out
}
exchange() {
  for dtype in f32 f64 f16 bf16; do
    for format in npy safetensors; do
      check "$machine reads our $dtype in .$format" read_there $dtype $format
    done
    check "$machine writes the same safetensors: $dtype" same_file --positions 0,0.5,7,-3 --dim 8 --dtype $dtype
  done
  check "$machine: the record of accuracy is the same" same_record
  check "$machine: and digests are, in either byte order" same_digests
}

# The amalgamation must have the same bits as the library.
amalgamation() {
  check 'make amalgamation' there make amalgamation
  check 'which compiles there' \
    there $host-gcc -O1 $flags -fPIC -shared amalgamation/posenc.c -o .libs/libposenc.so.0.0.0 -lm
  rm -f tests/library.log tests/library.trs
  test_program library
  compare_tables 'amalgamated ' <<'END'
--len 1000 --dim 128 --shift 1 --layout split
--len 500 --dim 512 --dtype f16
--len 500 --dim 512 --dtype bf16
--len 500 --dim 512
--len 500 --dim 512 --dtype f64
END
}

# The kernels of a machine that has more than the portable ones.
runs_there() { # KERNEL
  there run/posenc list $1 && grep -q 'runs here *yes' out
}
vector_kernels() { # KERNEL...: those with vectors of the machine
  for kernel in $1; do check "$machine: $kernel runs" runs_there $kernel; done
  while read -r options; do
    check "every property: $options" there run/posenc verify --kernel "$(echo $kernels | tr ' ' ',')" --len 100 \
      --dim 44 $options
  done <<'END'
--search 100 --layout interleaved-cs
--search 100 --dtype f64 --layout split
--dtype f16
--op rope --dtype bf16 --heads 2
END
}

# What is tested on AArch64 alone: SVE of any length, and that times of an emulator are refused.
sve_and_times() {
  there run/posenc doctor
  check 'doctor knows the emulator' grep -q '^NO  processor .*qemu-aarch64 runs' out
  cat >length.c <<'END'
#include <stdio.h>
#include <sys/prctl.h>
int main(void) { return printf("%d bits\n", 8 * (prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK)) < 0; }
END
  check 'a program that prints the length of SVE' there $host-gcc length.c -o length
  for bits in 128 256 384 512 1024 2048; do
    sve_of $bits
  done
  without_sve
  emulated_times
}

# SVE's vectors have another length in each of these. The tables have certificates or none, columns that fill no vector,
# an attention factor, with base 2^40 an uncertain element in each row, and from 569086 on one that a recurrence without
# fused operations misrounds.
sve_of() { # BITS
  export QEMU_CPU="max,sve-default-vector-length=$(($1 / 8))"
  there $emulator ./length
  check "qemu has vectors of $1 bits" grep -qx "$1 bits" out
  check "every property with $1 bits" \
    there run/posenc verify --kernel cr-sve --len 70 --dim 74 --base 10001 --brief
  sve_tables $1 <<'END'
--len 300 --dim 512
--len 300 --dim 512 --dtype f16
--len 300 --dim 512 --dtype bf16
--len 100 --dim 74 --offset 12345 --layout split
--len 64 --dim 128 --offset 569086
--len 63 --dim 514 --base 1099511627776
--len 63 --dim 514 --base 1099511627776 --dtype f16 --layout interleaved-cs
--len 63 --dim 514 --base 1099511627776 --dtype bf16
--len 70 --dim 130 --base 777 --scaling linear,factor=2,attention=1.5
END
}
sve_tables() { # BITS: those of standard input
  export QEMU_CPU="max,sve-default-vector-length=$(($1 / 8))"
  while read -r options; do
    check "cr-sve with $1 bits: $options" same_bits cr-sve cr-portable $options
  done
  unset QEMU_CPU
}
without_sve() {
  export QEMU_CPU=cortex-a57
  there run/posenc list cr-sve
  check 'without SVE, cr-sve does not run' grep -q 'runs here *no: this CPU' out
  check 'and the rest does' same_bits '' cr-portable --len 70 --dim 74
  rm -f tests/isa.log tests/isa.trs
  test_program isa
  unset QEMU_CPU
}
refused() { # COMMAND...
  ! there "$@" -o page && grep -q 'not published' out && [ ! -e page/index.html ]
}
kept() { # COMMAND...
  ! there "$@" --keep wisdom && grep -q 'not kept' out && [ ! -e wisdom ]
}
emulated_times() {
  if grep -q '^#define HAVE_BENCHMARK 1$' config.h && command -v gnuplot >/dev/null; then
    check 'bench' there run/posenc bench --kernel cr-neon --len 8 --dim 64 --repetitions 3 --min-time 0.001 \
      --format json -o bench.json
    check 'choose keeps no times there' kept run/posenc choose --len 8 --dim 8
    check 'report times nothing there' refused run/posenc report
    check 'and takes no times of there' refused "$POSENC" report --from bench.json
  else
    skip 'no report of emulated times' 'no Google Benchmark for AArch64, or no gnuplot'
  fi
}

machine=${0##*/cross-} machine=${machine%.sh}
describe "$machine"
mkdir "$work/$machine" && cd "$work/$machine" || exit 99
missing_of_host >"$work/missing"
[ ! -s "$work/missing" ] || skip_all "$(head -n 1 "$work/missing")"
build
if [ "$suite" = all ]; then
  suite
else
  for name in $tests; do test_program $name; done
fi
vectors=$(printf '%s\n' $kernels | grep -v -e '-portable$')
[ -z "$vectors" ] || vector_kernels "$vectors"
exchange
if [ "$machine" = aarch64 ]; then sve_and_times; fi
published >lines
compare_tables '' <lines
if [ "$machine" = aarch64 ]; then
  # Vectors of another length than qemu's own, which have 512 bits; the two largest tables among the slow tests.
  large=$(slow yes)
  published >lines
  sve_tables 256 <lines
fi
if [ "$machine" = aarch64 ] || is_slow; then amalgamation; fi
plan
exit "$tap_failed"
