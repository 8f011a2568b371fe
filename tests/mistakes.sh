#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that check accuses no right table and no right result of rope of a config, in f32, and in bf16 or f16 that was
# stored as f32, to positions of 131072; and that it fails wrong ones, with the cause. NumPy makes all of them.
# shellcheck disable=SC2086,SC2154 # options are words; the environment comes from make
. "${srcdir:-.}/tests/command.sh"

judged() { # STATUS WORDS FILE OPTIONS...: words may be one of two, with @@ between them
  status_wanted=$1 words=$2
  shift 2
  posenc check "$@"
  [ $status -eq "$status_wanted" ] || return 1
  if [ "$words" = - ]; then
    says '^PASS: config: ' && lacks out 'likely cause' && lacks out 'not checked: whether'
  elif [ "$expected" = 0 ]; then
    says "^PASS: config: .*$words" && lacks out 'likely cause'
  else
    ! says '^PASS' && sed -n '/^FAIL: /p' out | grep -qF -e "${words%%@@*}" -e "${words##*@@}"
  fi
}

find_numpy
if [ -n "$numpy" ]; then
  "$numpy" "$root/tests/mistakes.py" >cases
  check 'at least 80 of each' test "$(grep -c '^0|' cases)" -ge 80 -a "$(grep -c '^1|' cases)" -ge 80
  while IFS='|' read -r expected words options; do
    check "$(echo "$words: $options" | cut -c1-70)" judged $expected "$words" $options
  done <cases
else
  skip 'tables and results of rope' 'no NumPy here'
fi
plan
exit $tap_failed
