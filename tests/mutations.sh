#!/bin/sh
# SPDX-License-Identifier: MIT
# Every mutation of tests/mutations/ applies to the sources, once, and names tests that exist. make mutation runs them.
# shellcheck disable=SC2154 # the environment comes from make
. "${srcdir:-.}/tests/tap.sh"
: "${AWK:=awk}"
cd "${srcdir:-.}" || exit 99
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
diagnose() { sed 's/^/# /' "$work/out"; }

tables() { # WHAT
  "$AWK" -v what="$1" -v tree=. -f tests/mutation.awk tests/mutations/*.txt >"$work/out"
}
check 'every mutation changes the sources at one place' tables check

tables list
check 'there are some' test "$(wc -l <"$work/out")" -ge 151
tests=$(sed 's/.* //' "$work/out" | tr , '\n' | sort -u)
for test in $tests; do
  [ -e "$test.c" ] || [ -e "$test.sh" ] || echo "no test $test"
done >"$work/missing"
mv "$work/missing" "$work/out"
check 'their tests exist' test ! -s "$work/out"
plan
