#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests recipes on the command line, and against the frameworks' own operations if PyTorch and NumPy are installed.
. "${srcdir:-.}/tests/command.sh"

# ---- selection ----

posenc list --format names
check 'list has 24 recipes' test "$(grep -c '^recipe/' out)" -eq 24
posenc list
sed -n '/^recipe/,$p' out >shipped
check 'recipes are listed last' \
  test "$(grep -c '^recipe/' shipped)" -eq 24 -a "$(grep -c '^rotation-portable ' shipped)" -eq 0
kernels() { # prints those that verify compares
  "$POSENC" verify --len 3 --dim 8 --search 0 --brief --format json "$@" 2>err |
    sed -n 's/^      "kernel": "\(.*\)",$/\1/p' >out
}
kernels
check 'by default there is none' test "$(grep -c '^naive$' out)" -eq 1 -a "$(grep -c recipe out)" -eq 0
kernels --kernel '*'
check "'*' is no recipe" test "$(grep -c '^naive$' out)" -eq 1 -a "$(grep -c recipe out)" -eq 0
kernels --kernel 'recipe/*'
check "'recipe/*' is all of them, and nothing else" test "$(grep -c '^recipe/' out)" -eq 24 -a "$(wc -l <out)" -eq 24
posenc verify --kernel recipe/whisper --len 3 --dim 8
check 'one that divides by dim/2 - 1 says so' grep -q 'recipe/whisper cannot do this here: .*shift = 1$' err
posenc write --kernel recipe/f16-positions --len 2 --dim 8 --offset 65504 -o x.npy
check 'positions that f16 has not are refused' grep -q '65504' err
if "$POSENC" bench --kernel recipe/xlm --len 8 --dim 4 2>&1 | grep -q 'without Google Benchmark'; then
  skip 'bench' 'without Google Benchmark'
else
  posenc bench --kernel 'recipe/x*' --len 64 --dim 16 --repetitions 3 --min-time 0.0001
  check 'bench prints the whole name' grep -q '^64x16 *recipe/xlm  *[0-9]' out
fi
# shellcheck disable=SC2016 # bash's variables
bash -c '. "$1"; COMP_WORDS=(posenc verify --kernel recipe/x); COMP_CWORD=3; PATH=$(dirname "$2"):$PATH; _posenc
  echo "${COMPREPLY[*]}"' bash "$root/packaging/completions/posenc.bash" "$POSENC" >out 2>err
check 'completion knows them' grep -q '^recipe/xlm$' out

# ---- causes of errors ----

stages() { # COUNT OPTION...: the stages of COUNT recipes agree with their rows
  count=$1
  shift
  posenc verify --kernel 'recipe/*' --len 2000 --dim 32 --brief --explain "$@"
  [ "$(grep -c '^ok .* - recipe/[a-z0-9-]* stages ' out)" -eq "$count" ] && ! says '^not ok'
}
check 'stages hold' stages 19 --offset 60000
check 'stages hold where recipes divide by dim/2 - 1' stages 4 --shift 1 --padding 1

# ---- frameworks ----

for python in "${PYTHON:-python3}" /usr/bin/python3 none; do
  "$python" -c 'import numpy, torch' 2>/dev/null && break
done
if [ "$python" = none ]; then
  skip '148 comparisons with the frameworks themselves' 'no Python with PyTorch and NumPy'
else
  "$python" "$root/tests/frameworks.py" "$POSENC" >out 2>err
  check 'PyTorch and NumPy ran' test $? -eq 0
  cp out compared
  while read -r line; do
    case $line in
    not*) point 'not ok' "${line#not ok }" ;;
    *) point ok "${line#ok }" ;;
    esac
  done <compared
  check 'all 148 comparisons' test "$(wc -l <compared)" -eq 148
fi
plan
exit $tap_failed
