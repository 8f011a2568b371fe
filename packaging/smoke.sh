#!/bin/sh
# SPDX-License-Identifier: MIT
# The test of every package, also installed as share/posenc/smoke.sh: a program is compiled against the posenc that
# pkg-config finds, as C and, where there is a compiler, as C++; its table has the bits of the exact values. The command
# is tried where it is installed. CC, CXX and the flags may be several words, as for make. The program finds the library
# in a prefix that the dynamic linker does not know.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/smoke.c" <<'END'
#include <posenc.h>
#include <stdio.h>
int main(void) {
  posenc_problem problem = posenc_table(4, 4);
  posenc_plan *plan;
  float table[16];
  if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) return 1;
  const posenc_status status = posenc_execute(plan, 0, 4, table);
  printf("%s: %a %a\n", posenc_version(), (double)table[4], (double)table[5]);
  posenc_plan_destroy(plan);
  return status != POSENC_OK;
}
END
# sin 1 and cos 1, rounded to f32.
wanted="$(pkg-config --modversion posenc): 0x1.aed548p-1 0x1.14a28p-1"
try() { # LANGUAGE COMPILER...
  language=$1
  shift
  # shellcheck disable=SC2046,SC2086 # words
  "$@" ${CPPFLAGS-} $(pkg-config --cflags posenc) "$work/smoke.c" -o "$work/smoke" ${LDFLAGS-} \
    -Wl,-rpath,"$(pkg-config --variable=libdir posenc)" $(pkg-config --libs posenc)
  got=$("$work/smoke")
  [ "$got" = "$wanted" ] || { echo "smoke: $language: got '$got', want '$wanted'" >&2; exit 1; }
  echo "smoke: $language: ok"
}
# shellcheck disable=SC2086 # words
try C ${CC:-cc} ${CFLAGS-}
compiler=${CXX:-c++}
if command -v "${compiler%% *}" >/dev/null; then
  # shellcheck disable=SC2086 # words
  try C++ $compiler ${CXXFLAGS-} -x c++
else
  echo "smoke: C++: no compiler ${compiler%% *} here"
fi
command -v posenc >/dev/null || { echo 'smoke: no command here'; exit 0; }
posenc write --len 64 --dim 32 -o "$work/table.npy"
posenc check "$work/table.npy" --max-ulp 0.5
posenc verify --kernel 'cr-*' --len 64 --dim 32 --brief >"$work/out" || { cat "$work/out" >&2; exit 1; }
echo 'smoke: command: ok'
