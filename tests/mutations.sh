#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that every mutation of tests/mutations/ applies to the sources at one place, and names tests that exist. "make
# mutation" runs them.
. "${srcdir:-.}/tests/tap.sh"
cd "${srcdir:-.}" || exit 99
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
diagnose() { sed 's/^/# /' "$work/out"; }

tables() { # WHAT
  "${AWK:-awk}" -v what="$1" -v tree=. -f tests/mutation.awk tests/mutations/*.txt >"$work/out"
}
check 'every mutation changes the sources at one place' tables check

tables list
check 'there are at least 151 mutations' test "$(wc -l <"$work/out")" -ge 151
sed 's/.* //' "$work/out" | tr , '\n' | sort -u | while read -r test; do
  [ -e "$test.c" ] || [ -e "$test.sh" ] || echo "no test $test"
done >"$work/missing"
mv "$work/missing" "$work/out"
check 'their tests exist' test ! -s "$work/out"
plan
