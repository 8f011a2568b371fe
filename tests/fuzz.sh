#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs libFuzzer on all readers at once, from the seeds, for POSENC_FUZZ_SECONDS (10); "make fuzz" runs it on each in
# turn, for longer. What refused options leave takes memory (tests/fuzz/options.c). tests/fuzz/drive needs no
# libFuzzer.
. "${srcdir:-.}/tests/tap.sh"
fuzz=${abs_top_builddir:-.}/tests/fuzz
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
diagnose() { tail -n 30 "$work/log" | sed 's/^/# /'; }

# libFuzzer writes an input that crashes into the folder in which it runs.
hunt() {
  mkdir "$work/seeds" && run_here "$fuzz/drive" "$work/seeds" &&
    (cd "$work" && "$fuzz/files" -seed=1 -max_len=4096 -rss_limit_mb=2048 -malloc_limit_mb=256 -timeout=10 \
      -max_total_time="${POSENC_FUZZ_SECONDS:-10}" seeds >log 2>&1)
}
if [ -x "$fuzz/files" ]; then
  check 'libFuzzer finds nothing' hunt
  sed -n 's/^Done \(.*\)/# \1/p' "$work/log"
else
  skip 'libFuzzer' 'this compiler has none'
fi
plan
