#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints which of the mutants that are wrong in ordinary ways verification detects, with which of SEEDS seeds (10), and
# the share of all:
#   share.sh [SEEDS [KERNEL...]]
# Each is verified on one small shape of an operation and dtype after the other, until it is detected: less than what
# "posenc verify --kernel KERNEL" does. One that the first two seeds detect is not verified with the others. It takes a
# quarter of an hour on two cores.
# The environment comes from make: POSENC, the command, and modules, the folder of the plugins.
set -u
seeds=${1:-10}
[ $# -eq 0 ] || shift
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM

"$POSENC" list --format names | sort >"$work/own"
for part in rows slices; do
  "$POSENC" list --format names --plugin "$modules/ordinary-$part.so" | sort | comm -23 - "$work/own" |
    sed "s/^/$part /"
done >"$work/all"
for kernel; do grep " $kernel\$" "$work/all"; done >"$work/some"
[ $# -eq 0 ] || mv "$work/some" "$work/all"

exams_of() { # PART
  if [ "$1" = rows ]; then
    for dtype in f32 f64 f16 bf16; do echo "--op table --dtype $dtype"; done
  else
    for dtype in f32 bf16; do
      echo "--op rope --heads 3 --dtype $dtype"
      echo "--op add --dtype $dtype"
    done
  fi
}

# Writes the properties that a kernel breaks, in the first exam where it breaks any.
try() { # PART KERNEL SEED
  : >"$work/$2.$3"
  exams_of "$1" | while read -r exam; do
    # shellcheck disable=SC2086 # a list of options
    broken=$("$POSENC" verify --plugin "$modules/ordinary-$1.so" --kernel "$2" --seed "$3" --len 300 --dim 96 $exam \
      2>/dev/null </dev/null | sed -n "s/^not ok [0-9]* - $2 \([a-z-]*\) .*/\1/p" | sort -u | paste -sd, -)
    [ -z "$broken" ] || {
      echo "$broken" >"$work/$2.$3"
      break
    }
  done
}

seed=1
while [ "$seed" -le "$seeds" ]; do
  lane=0
  while read -r part kernel; do
    if [ "$seed" -gt 2 ] && [ -s "$work/$kernel.1" -o -s "$work/$kernel.2" ]; then continue; fi
    try "$part" "$kernel" "$seed" &
    lane=$((lane + 1))
    [ $((lane % 2)) -ne 0 ] || wait
  done <"$work/all"
  wait
  seed=$((seed + 1))
done

while read -r part kernel; do
  found='' by=
  for seed in $(seq "$seeds"); do
    [ -s "$work/$kernel.$seed" ] || continue
    found="$found $seed"
    by=${by:-$(cat "$work/$kernel.$seed")}
  done
  echo "$kernel:${found:- none}${by:+ ($by)}"
done <"$work/all" >"$work/table"
cat "$work/table"
awk -v seeds="$seeds" '{ all++; one += / 1( |$)/; other += / 2( |$)/; two += / [12]( |$)/; most += !/: none/ }
  END { printf "# Of %d mutants, seed 1 detects %.3f, seed 2 %.3f, both %.3f, %d seeds %.3f.\n",
               all, one/all, other/all, two/all, seeds, most/all }' "$work/table"
