#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests what doc/records.md says of a new counter of the timings: the page's patch is applied to a copy of the sources,
# and its row alone makes the field of a record, the figures of a report, and the columns of its tables and of times.csv;
# the files that the patch changes are compiled, and records/ and reports/, which are linked with what the build has.
# Touched by: doc/records.md records reports bench/benchmarks.c bench/serve.c bench/serve.h
# shellcheck disable=SC2086,SC2154 # lists of words; make sets the environment
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
. "$srcdir/tests/tap.sh"
command -v patch >/dev/null || skip_all 'no patch here'
! emulated || skip_all 'built for another machine'
! sanitized || skip_all 'built with a sanitizer, which the copy lacks'
built=${abs_top_builddir:-$PWD}
value() { # VARIABLE: of the build's make
  sed -n "s/^$1 = //p" "$built/Makefile"
}
compiler=$(value CC) flags="$(value JANSSON_CFLAGS) $(value MPFR_CFLAGS) $(value OPENMP_CFLAGS)"
libraries="$(value JANSSON_LIBS) $(value MPFR_LIBS) $(value LIBS)"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
cd "$work" || exit 99
diagnose() { tail -n 20 out | cut -c1-300 | sed 's/^/# /'; }

for folder in bench common include records reference reports; do cp -R "$srcdir/$folder" . || exit 99; done
chmod -R u+w . # a release that is tried cannot be written to
sed -n '/^<!-- file counter.patch -->$/,/^```$/p' "$srcdir/doc/records.md" | sed '1,2d; $d' >counter.patch
check "the page's patch applies" eval 'patch -p0 --no-backup-if-mismatch -i counter.patch >out 2>&1'
check 'in its place' eval '! grep -q -i -e fuzz -e fail out'
name=$(sed -n 's/^+SHOWN(\([a-z_]*\), .*/\1/p' counter.patch)
title=$(sed -n 's/^+SHOWN([a-z_]*, "[^"]*", "[^"]*", "\([^"]*\)".*/\1/p' counter.patch)
check 'it has a row' test -n "$name" -a -n "$title"

cat >shown.c <<'END'
#include "records/record.h"
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

static json_t *load(const char *path) {
  return json_load_file(path, 0, NULL);
}

int main(void) {
  record_fault fault = {""};
  const record_accuracy *accuracy = record_take_accuracy(load("accuracy.json"));
  const record_timing *timing = record_read_timing(load("timing.json"), &fault);
  char *figures[FIGURES] = {NULL};
  document made;
  page csv = {.format = &page_csv, .stream = stdout};
  page text = {.format = &page_markdown, .stream = stdout, .svg = figures};
  if (!timing) return fputs(fault.text, stderr), 1;
  document_make(&made, accuracy, timing, "");
  data_times(&csv, &made.of);
  write_shapes(&text, &made.of);
  json_t *shape = json_array_get(json_object_get(record_write_report(&made.of), "shapes"), 0);
  json_t *row = json_array_get(json_object_get(shape, "rows"), 0);
  json_dumpf(json_object_get(row, "timing"), stdout, JSON_COMPACT);
}
END
cat >accuracy.json <<'END'
{"schema": "posenc-accuracy-1", "environment": {}, "kernels": [], "records": [], "profile": [], "passed": 0,
 "failed": 0, "skipped": 0}
END
repetition() { # NUMBER
  printf '{"name": "hot/64x64/quick/iterations:1", "run_type": "iteration", "real_time": 1, "time_unit": "ns",
    "ns_per_element": 2, "rows": 64, "dim": 64, "rows_timed": 64, "%s": %s}' "$name" "$1"
}
printf '{"context": {"posenc_schema": "posenc-bench-2"}, "benchmarks": [%s, %s, %s]}\n' "$(repetition 7)" \
  "$(repetition 3)" "$(repetition 4)" >timing.json

# Compiles sources, as many at once as there are processors.
compile() { # SOURCE...
  printf '%s\n' "$@" | xargs -n 4 -P "$(nproc)" sh -c 'for file; do
    '"$compiler"' -std=gnu17 -O0 -DHAVE_CONFIG_H -I. -Iinclude -I'"$built $flags"' -c "$file" -o \
      "$(echo "$file" | tr / _).o" || exit 255; done' sh >out 2>&1
}
rm records/schema.c
check 'the changed sources compile' compile $(sed -n 's/^+++ \(.*\.c\)$/\1/p' counter.patch)
rm -f bench_*.o
check 'records and reports compile' compile records/*.c reports/*.c reports/*/*.c shown.c
check 'and are linked' eval \
  '$compiler $flags *.o "$built"/common/*.o -L"$built/.libs" -lposenc $libraries -o shown >out 2>&1'
LD_LIBRARY_PATH=$built/.libs ./shown >out 2>&1
check 'times.csv has the counter last, in three columns' grep -q "^state,.*,${name},${name}_least,${name}_most\$" out
check 'with its numbers' grep -q '^hot,64x64,.*,4,3,7$' out
check 'tables have its column last' grep -q "^| kernel |.* $title |\$" out
check 'with its figures' grep -q '^| `quick` |.* 4.00‡ (3.00–7.00) |$' out
check 'report.json has it' grep -q "\"$name\":{\"median\":4.0,\"min\":3.0,\"max\":7.0}" out
plan
exit "$tap_failed"
