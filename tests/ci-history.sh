#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests examples/ci/history.sh in a repository with a remote one that are made here, of a plugin: with commits that
# change nothing, make it slower, undo that, and change its bits.
# Touched by: examples/ci/history.sh examples/ci/instructions.py action.yml cli/history.c records/history.c
# shellcheck disable=SC2016,SC2154,SC2086 # text for other shells; the environment comes from make
. "${srcdir:-.}/tests/command.sh"
command -v git >/dev/null || skip_all 'no git'
! sanitized && ! emulated || skip_all 'a sanitizer, or an emulator'
! "$POSENC" bench --kernel naive --len 8 --dim 4 2>&1 | grep -q 'without Google Benchmark' ||
  skip_all 'no Google Benchmark'
[ -e "$abs_top_builddir/.libs/libposenc.so" ] || skip_all 'no shared library, which plugins need'
command -v valgrind >/dev/null && counted=yes || counted=
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_CEILING_DIRECTORIES="$work"
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
mkdir bin && ln -s "$POSENC" bin/posenc
PATH=$work/bin:$PATH LD_LIBRARY_PATH=$abs_top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH LD_LIBRARY_PATH

git init -q --bare -b main remote.git && git clone -q remote.git local 2>/dev/null && cd local || exit 99
changed() { # MESSAGE SED-SCRIPT: commits the kernel, changed, and builds it
  sed "$2" "$root/examples/plugin/kernel.c" >kernel.c
  git add kernel.c && git commit -q --allow-empty -m "$1" || exit 99
  $CC -O2 -I"$root/include" -shared -fPIC kernel.c -o kernel.so -L"$abs_top_builddir/.libs" -lposenc -lm || exit 99
}
told() { # STATUS KEEP: the script ends so
  POSENC_KEEP=$2 GITHUB_STEP_SUMMARY=summary sh "$root/examples/ci/history.sh" --plugin ./kernel.so \
    --kernel long-double --len 64 --dim 16 >out 2>err
  status=$?
  [ $status -eq "$1" ] && [ -s posenc-history/changes.md ]
}
row() { grep -q "$1" posenc-history/changes.md; }
no_rows() { ! grep -q '^| ' posenc-history/changes.md; }
head_of() { git rev-parse "$1" | cut -c1-12; }
noted() { test "$(git -C ../remote.git notes --ref posenc list | wc -l)" -eq "$1"; }

changed 'one' '' && git push -q origin main
check 'the first commit' told 0 true
check 'has nothing to tell' no_rows
check 'and its records at the remote repository' noted 1
check 'of this commit' grep -q "\"measured_commit\": \"$(git rev-parse HEAD)\"" posenc-history/times.json
changed 'two' 's/^#include <float.h>$/\/* nothing *\/&/'
check 'a commit that changes nothing' told 0 true
check 'is quiet' no_rows

if [ -n "$counted" ] && ! grep -q 'instructions.py: .* is left out' err; then
  # a tenth more instructions, by calls whose results are not used
  changed 'slow' 's/^  for (int64_t r = 0; r < rows; r++) {$/&\n    for (volatile int wait = 0; wait < 40; wait++) {}/'
  slow=$(head_of HEAD) before=$(head_of HEAD~1)
  check 'a pull request with a slower kernel' told 1 ''
  check 'says so, of its own commit' \
    row "^| \*\*worse\*\* | hot/64x16/long-double | instructions .* | $slow .* | $before "
  check 'and keeps nothing' noted 2
  check 'nor is it kept here' test "$(git notes --ref posenc list | wc -l)" -eq 2
  check 'merged' told 1 true
  check 'it is known' row "instructions .* | $slow .* | $before .* | 1 |"
  check 'in the summary, too' grep -q "$slow" summary
  changed 'undone' ''
  check 'undone' told 0 true
  check 'it is told as a step down' row "^| better | .* | $(head_of HEAD) .* | $slow "
else
  skip 'instructions' "callgrind: $(tail -n 1 err)"
fi
changed 'bits' 's/(float)value/(float)(value * (1 + 1e-7L))/'
check 'other bits with larger errors' told 1 true
check 'are told' row "^| \*\*worse\*\* | long-double/64x16 | .*misrounded .* | $(head_of HEAD) "
if command -v gnuplot >/dev/null; then
  check 'there is a page' grep -q '</html>' posenc-history/index.html
  check 'with a picture of each series' test "$(grep -c '<figure>' posenc-history/index.html)" -ge 2
else
  skip 'there is a page' 'no gnuplot'
fi
plan
exit $tap_failed
