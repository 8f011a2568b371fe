#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc for AArch64, built by a cross compiler and run by qemu: the tests of its core, and the bits of every
# published table compared with those of this machine. As it takes minutes, it runs only if POSENC_TEST_CROSS is 1, as
# in CI.
# shellcheck disable=SC2086,SC2154 # lists of words; make sets the environment
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
. "$srcdir/tests/tap.sh"
host=aarch64-linux-gnu emulator=qemu-aarch64 libraries=/usr/lib/aarch64-linux-gnu/pkgconfig
nothing() { # WHY
  echo "1..0 # SKIP $1"
  exit 0
}
[ "${POSENC_TEST_CROSS-}" = 1 ] || nothing 'it takes minutes; POSENC_TEST_CROSS=1 runs it'
for program in $host-gcc $host-g++ $emulator pkg-config; do
  command -v $program >/dev/null || nothing "no $program here"
done
PKG_CONFIG_LIBDIR=$libraries pkg-config --exists mpfr jansson || nothing "no MPFR and jansson for $host"
[ ! -e "$srcdir/config.status" ] || nothing 'the source folder is configured'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
cd "$work" || exit 99
diagnose() { tail -n 20 out | sed 's/^/# /'; }

# CC and CXX of this build are not those of the cross build.
there() { # COMMAND...
  env -u CC -u CXX -u CFLAGS -u MAKEFLAGS -u MFLAGS PKG_CONFIG_LIBDIR=$libraries "$@" >out 2>&1 </dev/null
}
tests='isa library angle cr rounding split format memory plans certificates'
programs=$(for name in $tests; do printf 'tests/%s ' "$name"; done)
passed() { # LOG: a test with points, and no failure
  grep -q '^ok' "$1" && grep -q '^1\.\.' "$1" && ! grep -q -e '^not ok' -e '^Bail out' "$1"
}
check 'configure for AArch64' there "$srcdir/configure" --host=$host EMULATOR=$emulator --disable-static
check 'the compiler takes NEON' grep -q '^#define HAVE_NEON 1$' config.h
check 'make' there make -j2 posenc emulated/posenc $programs
for name in $tests; do
  there make "tests/$name.log"
  cp "tests/$name.log" out
  check "$name: $(grep -c '^ok' out) points" passed out
done

there emulated/posenc doctor
check 'doctor knows the emulator' grep -q '^NO  processor .*qemu-aarch64 runs' out
while read -r options; do
  check "every property: $options" there emulated/posenc verify --kernel 'cr-neon,rotation-neon' --len 100 --dim 44 \
    $options
done <<'END'
--search 100 --layout interleaved-cs
--search 100 --dtype f64 --layout split
--dtype f16
--op rope --dtype bf16 --heads 2
END
if grep -q '^#define HAVE_BENCHMARK 1$' config.h && command -v gnuplot >/dev/null; then
  check 'bench' there emulated/posenc bench --kernel cr-neon --len 8 --dim 64 --repetitions 3 --min-time 0.001 \
    --format json -o bench.json
  refused() { # COMMAND...
    ! there "$@" -o page && grep -q 'not published' out && [ ! -e page/index.html ]
  }
  kept() { # COMMAND...
    ! there "$@" --keep wisdom && grep -q 'not kept' out && [ ! -e wisdom ]
  }
  check 'choose keeps no times there' kept emulated/posenc choose --len 8 --dim 8
  check 'report times nothing there' refused emulated/posenc report
  check 'and takes no times of there' refused "$POSENC" report --from bench.json
else
  skip 'no report of emulated times' 'no Google Benchmark for AArch64, or no gnuplot'
fi

# Every published table, by the kernels that both machines have.
digests() { # COMMAND OPTION...
  "$@" -o table.npy 2>out && cksum <table.npy
}
same_bits() { # KERNEL LIKE OPTION...
  there=$1 here=$2
  shift 2
  theirs=$(digests emulated/posenc write --kernel "$there" "$@") &&
    ours=$(digests "$POSENC" write --kernel "$here" "$@") && [ "$theirs" = "$ours" ]
}
while read -r options; do
  check "cr-neon: $options" same_bits cr-neon cr-portable $options
  check "rotation-neon: $options" same_bits rotation-neon rotation-portable $options
done <<'END'
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
--len 32768 --dim 4096
--len 131072 --dim 1024
END

# The amalgamation must have the same bits as the library.
check 'make amalgamation' there make amalgamation
check 'which compiles there' there $host-gcc -O2 -fPIC -shared amalgamation/posenc.c -o .libs/libposenc.so.0.0.0 -lm
rm -f tests/library.log tests/library.trs
there make tests/library.log
check "its tests: $(grep -c '^ok' tests/library.log) points" passed tests/library.log
while read -r options; do
  check "amalgamated cr-neon: $options" same_bits cr-neon cr-portable $options
  check "amalgamated rotation-neon: $options" same_bits rotation-neon rotation-portable $options
done <<'END'
--len 1000 --dim 128 --shift 1 --layout split
--len 500 --dim 512 --dtype f16
--len 500 --dim 512 --dtype bf16
--len 500 --dim 512
--len 500 --dim 512 --dtype f64
END
plan
exit "$tap_failed"
