#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library shows what posenc.h declares, and nothing else.
header=$srcdir/include/posenc.h library=.libs/libposenc.so
if [ ! -e "$library" ] || ! nm --version > /dev/null 2>&1; then
  echo "1..0 # SKIP no shared library, or no nm"
  exit 0
fi
declared=$(grep -o 'posenc_[a-z0-9_]*(' "$header" | tr -d '(' | sort -u | while read -r name; do
  grep -q "POSENC_API[^;]*[ *]$name(" "$header" && echo "$name"
done)
exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sed 's/@.*//' | grep -v -e '^_' -e '^__asan' -e '^__ubsan' | sort -u)
if [ -n "$declared" ] && [ "$declared" = "$exported" ]; then
  echo "ok 1 - $(printf '%s\n' "$declared" | wc -l) functions, declared and exported"
else
  echo "not ok 1 - declared and exported functions differ"
  printf '%s\n' "$declared" > exports.declared; printf '%s\n' "$exported" > exports.exported
  diff exports.declared exports.exported | sed 's/^/# /'; rm -f exports.declared exports.exported
fi
if ! readelf --version > /dev/null 2>&1; then
  echo "ok 2 - what it needs # SKIP no readelf"
else
  needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  more=$(echo "$needed" | grep -v -e '^libc\.' -e '^libm\.' -e '^libpthread\.' -e '^libgomp\.' -e '^libomp\.' -e '^ld-' -e 'san\.so' -e '^libgcc_s')
  if echo "$needed" | grep -q '^libc\.' && [ -z "$more" ]; then
    echo "ok 2 - it needs libc, libm and OpenMP's library at most"
  else
    echo "not ok 2 - it needs $(echo "$needed" | xargs)"
  fi
fi
echo "1..2"
