#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that the shared library exports the functions of posenc.h and no others, and needs only libc and libm.
. "${srcdir:-.}/tests/tap.sh"
header=${srcdir:-.}/include/posenc.h library=.libs/libposenc.so
if [ ! -e "$library" ] || ! nm --version >/dev/null 2>&1; then
  skip_all 'no shared library, or no nm'
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
diagnose() { sed 's/^/# /' "$work/out"; }

grep -o 'posenc_[a-z0-9_]*(' "$header" | tr -d '(' | sort -u | while read -r name; do
  grep -q "POSENC_API[^;]*[ *]$name(" "$header" && echo "$name"
done >"$work/declared"
symbols() { nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }'; }
symbols | sed 's/@.*//' | grep -v -e '^_' -e '^__asan' -e '^__ubsan' |
  sort -u >"$work/exported"
diff "$work/declared" "$work/exported" >"$work/out"
check "$(wc -l <"$work/declared") functions are declared and exported" test -s "$work/declared" -a ! -s "$work/out"

if grep -q '^LIBRARY_EXPORTS = .*version-script' Makefile; then
  symbols | grep '^posenc_' | grep -v '@@POSENC_[0-9.]*$' >"$work/out"
  check 'every one has a version' test ! -s "$work/out"
else
  skip 'every one has a version' 'the linker takes no version script'
fi

if readelf --version >/dev/null 2>&1; then
  readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$work/needed"
  grep -v -e '^libc\.' -e '^libm\.' -e '^libpthread\.' -e '^ld-' -e 'san\.so' \
    -e '^libgcc_s' "$work/needed" >"$work/out"
  check 'it needs libc' grep -q '^libc\.' "$work/needed"
  check "it needs no library but libc and libm" test ! -s "$work/out"
else
  skip 'the libraries that it needs' 'no readelf'
fi
plan
