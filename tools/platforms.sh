#!/bin/sh
# SPDX-License-Identifier: MIT
# Accuracy of kernels and recipes in every dtype on several platforms, as one table: platforms/all/index.html, .md and
# .json. "make accuracy-platforms" runs it in the build folder. A platform that this machine cannot run is skipped, with
# the reason; if an earlier run left its record, that is taken, and its date told. The exit status is 1 if an element is
# misrounded where the contract is correct rounding, or bits differ that must not. Variables of the environment:
#   srcdir     the source folder
#   PLATFORMS  some of the tiers of lib/simd/tiers.def, opencl, and the machines of tests/hosts.def, which are built; by
#              default all but those machines that need no emulator
#   KERNELS    patterns of kernels
#   ELEMENTS   how many elements of a table are compared, at most about
#   EMULATED   the same in an emulator, where a process takes half a second to start
#   KEPT       report.json of other machines, or of earlier runs, to stand beside these
#   PACKAGES   peers.json of make check-peers, for a table of the packages' own errors
set -eu
: "${srcdir:=.}" "${ELEMENTS:=20000}" "${EMULATED:=500}" "${KEPT:=}" "${PACKAGES:=}"
: "${KERNELS:=cr-*,rotation-*,naive,naive-f64,recipe/*}"
srcdir=$(cd "$srcdir" && pwd)
top=$PWD/platforms
mkdir -p "$top"
. "$srcdir/tests/hosts.sh"
tiers=$(tier_names)
: "${PLATFORMS:=$tiers opencl $(emulated_hosts)}"
echo '{"context": {"posenc_schema": "posenc-bench-2"}, "benchmarks": []}' >"$top/untimed.json"

skip() { # PLATFORM REASON
  echo "SKIP $1: $2"
}
fail() { # WHY
  echo "accuracy-platforms: $1" >&2
  exit 2
}
# Exit status 1 of either command tells of a failed check, which the page of all platforms shows.
at_most_one() { # COMMAND...
  "$@" && return
  [ $? -eq 1 ]
}
measure() { # PLATFORM KERNELS COMMAND...
  platform=$1 kernels=$2 folder=$top/$1
  shift 2
  mkdir -p "$folder"
  at_most_one "$@" verify --kernel "$kernels" --budget "$ELEMENTS" --search 0 --brief --format json \
    -o "$folder/accuracy.json" 2>"$folder/log" || fail "$platform: $(tail -n 1 "$folder/log")"
  at_most_one ./posenc report --from "$folder/accuracy.json" --from "$top/untimed.json" --label "$platform" \
    -o "$folder" >"$folder/log" 2>&1 || fail "$platform: $(tail -n 1 "$folder/log")"
  echo "ok   $platform"
}
# Prints why a kernel does not run here; nothing if it does.
refusal_of() { # KERNEL
  ./posenc list "$1" | sed -n 's/^  runs here  *no: //p'
}
tier() { # TIER: with the narrower ones, and with those before it that are of another architecture
  why=''
  [ "$1" = generic ] || why=$(refusal_of "cr-$1")
  if [ -n "$why" ]; then skip "$1" "$why"; else
    measure "$1" "$KERNELS" env "POSENC_ISA=$(echo "$tiers" | sed "/^$1\$/q" | paste -s -d , -)" ./posenc
  fi
}
emulated() { # MACHINE, which is described
  build=$top/$1/build
  mkdir -p "$build"
  cd "$build"
  why=$(missing_of_host | head -n 1)
  [ -n "$why" ] || [ ! -e "$srcdir/config.status" ] || why='the source folder is configured'
  if [ -z "$why" ]; then
    { [ -e config.status ] || for_host "$srcdir/configure" --host="$host" ${emulator:+"EMULATOR=$emulator"} \
      CFLAGS=-O1 CXXFLAGS=-O1; } >log 2>&1 && for_host make -j2 posenc run/posenc >>log 2>&1 ||
      fail "$1: not built: $build/log"
  fi
  cd "$top/.."
  if [ -n "$why" ]; then skip "$1" "$why"; else
    ELEMENTS=$EMULATED
    measure "$1" "$KERNELS" "$build/run/posenc"
  fi
}

for file in $KEPT $PACKAGES; do # a name that is wrong is told before the measurements, which take a quarter of an hour
  [ -r "$file" ] || fail "no file '$file'"
done
for platform in $PLATFORMS; do
  if echo "$tiers" | grep -q -x -e "$platform"; then
    tier "$platform"
    continue
  fi
  case $platform in
  opencl)
    why=$(refusal_of cr-opencl)
    if [ -n "$why" ]; then skip opencl "$why"; else measure opencl cr-opencl ./posenc; fi
    ;;
  *)
    describe_host "$platform" || fail "no platform '$platform'"
    (emulated "$platform")
    ;;
  esac
done

set --
for name in $PLATFORMS; do
  report=$top/$name/report.json
  [ -e "$report" ] || continue
  # What this run did not write is older than the file that it began with.
  [ "$report" -nt "$top/untimed.json" ] || echo "kept $name, of $(sed 's/.*"date":"\([^"T]*\).*/\1/' "$report")"
  set -- "$@" "$report"
done
labels() { # REPORT...: an option for each
  for report; do
    name=${report%/report.json}
    echo "--label ${name##*/}"
  done
}
[ $# -gt 0 ] || fail 'no platform has a record'
options=$(labels "$@")
for report in $KEPT; do set -- "$@" "$report"; done
[ $# -gt 1 ] || fail 'one platform alone: the table takes two'
[ -z "$PACKAGES" ] || set -- "$@" --packages "$PACKAGES"
# shellcheck disable=SC2086 # options
./posenc report "$@" $options -o "$top/all"
