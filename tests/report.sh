#!/bin/sh
# SPDX-License-Identifier: MIT
# What is in a report: made from a small run, looked at as text.
# shellcheck disable=SC2016,SC2086,SC2317
. "${srcdir:-.}/tests/tap.sh"
: "${POSENC:=${abs_top_builddir:-$PWD}/posenc}"
[ -x "$POSENC" ] || { echo "Bail out! no posenc command at $POSENC"; exit 1; }
export POSENC
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
contains() { # file, fixed text
  grep -qF -- "$2" "$1"
}

count_is() { # file, fixed text, number
  found=$(grep -oF -- "$2" "$1" | wc -l)
  [ "$found" -eq "$3" ] || { echo "# $found times '$2' in $1, not $3"; false; }
}

# No address that a browser follows, in whatever quotes, and no script but one that asks for nothing; the namespaces of SVG are names.
no_network() {
  ! { grep -oiE '<script[^>]+>' "$1"
    sed -n '/<script>/,/<\/script>/p' "$1" | grep -oiE 'fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import|https?:|\.src|location|open *\(|eval|innerHTML'
    grep -oiE '<(link|base|iframe|object|embed|meta +http-equiv)[ />][^>]*|@import[^;]*|url\( *[^# )][^)]*' "$1"
    grep -oiE '[[:space:]](src|srcset|href|xlink:href|action|data|poster)[[:space:]]*=[[:space:]]*("[^"]*"|'"'[^']*'"'|[^[:space:]>]+)' "$1" |
      grep -viE '= *["'\'']?(data:image/|#)'; } | grep .
}

asks_network() {
  ! no_network "$1" >/dev/null
}

balanced() { # file, element
  opened=$(grep -oE "<$2[ >]" "$1" | wc -l) closed=$(grep -oF "</$2>" "$1" | wc -l)
  [ "$opened" -gt 0 ] && [ "$opened" -eq "$closed" ]
}

ids_unique() {
  [ -z "$(grep -oE ' id="[^"]*"' "$1" | sort | uniq -d)" ]
}

# ---- from records written by hand: every figure is known ----

kernel() { # NAME DERIVED
  printf '{"name": "%s", "isa": "generic", "bound": {"ulp": 0.5, "abs": 0, "growth": 0, "max_position": 1024, "derived": %s}}' "$1" "$2"
}
result() { # KERNEL SHAPE ROWS MODE OK: on one shape, with one check
  printf '{"kernel": "%s", "shape": {"name": "%s", "rows": %s, "dim": 512, "first": 0, "base": 10000.0, "dtype": "f32"},
    "mode": "%s", "elements": 512, "of": 2048, "max_ulp": {"ulp": 0.5}, "max_abs": {"abs": 0.25}, "mean_ulp": 0.125,
    "misrounded": 3, "checks": [{"property": "accuracy", "ok": %s, "skipped": false}]}' "$1" "$2" "$3" "$4" "$5"
}
accuracy() { # OK FAILED: whether a check of naive held, and the total of those that did not
  printf '{"schema": "posenc-accuracy-1", "environment": {"cpu": "abacus"}, "kernels": [%s, %s],\n' "$(kernel quick true)" "$(kernel naive false)"
  printf '"records": [%s,\n%s,\n%s],\n' "$(result quick 64x512 64 exhaustive true)" "$(result naive 64x512 64 exhaustive "$1")" \
    "$(result quick long 1024 sampled true)"
  printf '"profile": [], "passed": %s, "failed": %s, "skipped": 0}\n' $((3 - $2)) "$2"
}
# Below, no repetitions come in rising or falling order, and no median is a mean.
repetition() { # KERNEL NS BYTES/S SHARE FILL PLAN-µS
  printf '{"name": "hot/64x512/%s/iterations:1", "run_type": "iteration", "real_time": 1, "time_unit": "ns", "ns_per_element": %s,
    "bytes_per_second": %s, "of_limit": %s, "limit_bytes_per_second": %s, "rows": 64, "dim": 512, "rows_timed": 64},
   {"name": "plan/64x512/%s/iterations:1", "run_type": "iteration", "real_time": %s, "time_unit": "us"}' "$1" "$2" "$3" "$4" "$5" "$1" "$6"
}
timing() {
  printf '{"context": {"posenc_schema": "posenc-bench-2", "l1d": "49152", "l2": "131072", "l3": "33554432"}, "benchmarks": [\n'
  printf '%s,\n' "$(repetition quick 2.25 2e9 0.5 4e9 7)" "$(repetition quick 8 1e9 0.125 8e9 5)" "$(repetition quick 2 2.5e9 0.625 5e9 6)"
  printf '%s,\n' "$(repetition naive 60 1e8 0.03125 16e9 1)" "$(repetition naive 40 4e8 0.0625 2e9 1)" "$(repetition naive 44 2e8 0.09375 6e9 1)"
  printf '%s,\n' '{"name": "hot/64x512/quick_mean", "run_type": "aggregate", "ns_per_element": 1}'
  printf '%s\n]}\n' "$(repetition naive 46 3e8 0.046875 6e9 1)"
}
accuracy true 0 >known-accuracy.json
timing >known-bench.json
"$POSENC" report --from known-accuracy.json --from known-bench.json -o known >out 2>err
status=$?
if grep -q gnuplot err; then
  echo '1..0 # SKIP no gnuplot here'
  exit 0
fi
sed 's/^/# /' err
check 'a report of records written by hand' test $status -eq 0
tr -d ' \n' <known/report.json >known.json
holds() { # WHAT TEXT: in the JSON without its spaces
  check "known figures: $1" contains known.json "$2"
}
holds 'least, median and most of three' '"ns_per_element":{"median":2.25,"min":2.0,"max":8.0}'
holds 'the median of four' '"ns_per_element":{"median":45.0,"min":40.0,"max":60.0}'
# 60, 40, 44 and 46 over 2.25, 8 and 2: between the 6th and 7th of 12 quotients; the outermost enclose all but 2/35.
holds 'speed-up over naive, with its interval' '"speed_up":{"estimate":19.777777777777779,"low":5.0,"high":30.0}'
holds 'the answer' '"budget":"half","kernel":"quick","next":null,"naive":{"estimate":19.777777777777779,"low":5.0,"high":30.0,"kernel":"naive"}'
holds 'where any error will do, naive is the next' '"budget":"any","kernel":"quick","next":{"estimate":19.777777777777779,"low":5.0,"high":30.0,"kernel":"naive"}'
# Of 2, 4, 5, 6, 6, 8 and 16 the middle half is from 4 to 8.
holds 'how steady the limit was' '"measured":7,"shapes":1,"typical":0.66666666666666663,"worst":0.66666666666666663,"shape":"64x512","drift":null'
holds 'bandwidth' '"bytes_per_second":{"median":2000000000.0,"min":1000000000.0,"max":2500000000.0}'
holds 'the share is the median of shares' '"of_limit":{"median":0.5,"min":0.125,"max":0.625}'
holds 'the fill limit beside the kernel' '"limit_bytes_per_second":{"median":5000000000.0,"min":4000000000.0,"max":8000000000.0}'
holds 'the fill limit of the shape' '"limit_bytes_per_second":{"median":6000000000.0,"min":2000000000.0,"max":16000000000.0}'
holds 'the plan, in units of its own' '"plan_ns":{"median":6000.0,"min":5000.0,"max":7000.0}'
holds 'repetitions' '"repetitions":3'
holds 'and four of them' '"repetitions":4'
holds 'shapes by mode' '"shapes":{"exhaustive":1,"sampled":1}'
sed "s/$(printf '\302\240')/ /g" known/report.md >known.md # no-break spaces
row='| `quick` | generic | 0.5000 |  | 0.125 | 0.250 | exhaustive (all 512) | 2.25‡ (2.00–8.00) | 2.00‡ (1.00–2.50) | 50.0‡ (12.5–62.5) | 19.8× (5.00–30.0) |'
check 'known figures: the row of the headline' contains known.md "$row"
check 'known figures: the answer' contains known.md 'at **2.00 GB/s**‡ (1.00–2.50), 50.0 %‡ (12.5–62.5) of what this machine can fill memory with, and `naive` takes 19.8 times (5.00–30.0) as long.'
row='| 1 ulp | reference 64x512 | `quick` | 2.00‡ (1.00–2.50) | 50.0‡ (12.5–62.5) |  | 19.8× (5.00–30.0) | 0.5 ulp'
check 'known figures: the row of the answer' contains known.md "$row"
check 'the answer comes first' test "$(grep -n '^> Take `quick`' known.md | cut -d: -f1)" -eq 3
check 'known figures: how steady the machine was' contains known.md 'beside 7 timings of 1 shapes'
check 'and no drift without turns' eval '! grep -q "last third" known.md'
# Early 4, 8 and 5, late 16, 2, 6 and 6: the middle of 12 quotients, and the outermost.
awk '/hot.64x512.quick/ { turn = 0 } /hot.64x512.naive/ { turn = 6 } { sub(/"rows_timed": 64/, "&, \"turn\": " turn); print }' known-bench.json >turned-bench.json
"$POSENC" report --from known-accuracy.json --from turned-bench.json -o turned >out 2>err
check 'known figures: its drift, with its interval' contains turned/report.md 'In the last third of the run it was 1.20 times (0.250–4.00) what it was in the first.'
{ timing | sed -n 1p; repetition quick 2 1e9 0.5 4e9 7; echo ']}'; } >single-bench.json
"$POSENC" report --from known-accuracy.json --from single-bench.json -o single >out 2>err
check 'one measurement tells no spread' eval 'grep -q "\"typical\":null,\"worst\":null,\"shape\":null" single/report.json && ! grep -q "middle half" single/report.md'
check 'the picture is valid XML' sh -c 'head -c 5 known/headline.svg | grep -qx "<?xml" && { ! command -v xmllint >/dev/null || xmllint --noout known/headline.svg; }'
for part in 'xmlns="http://www.w3.org/2000/svg"' '</svg>' prefers-color-scheme; do
  check "the picture: $part" count_is known/headline.svg "$part" 1
done
check 'the picture: a size of its own' grep -qE '^<svg .* width="640" height="[0-9]+" viewBox="' known/headline.svg
check 'the picture: a point for each kernel' sh -c 'for k in quick naive; do grep -q ">$k<" known/headline.svg || exit 1; done'
check 'what was timed hot alone has no other figures' sh -c '! grep -qE "^(Cold|Fresh):|In other states" known.md'
check 'known figures: the caption' contains known.md '128 KiB; fill limit 6.0 GB/s (median beside all kernels)'
check 'known figures: what was sampled, in the checks' contains known.md '| `quick` | 2 of 2 (1 exhaustive, 1 sampled) |'
check 'known figures: what was sampled, in the answer' contains known.md 'held in every check (shapes: 1 exhaustive, 1 sampled)'
check 'only caches on the axis are named' contains known.md 'cache: L2 128 KiB is 64 rows.'
check 'only caches on the axis are drawn' sh -c 'grep -qF ">L2<" known/index.html && ! grep -qE ">L(1d|3)<" known/index.html'

# A published shape, so that what it is need not be in the records.
sed 's|64x512/|llama2-rope/|; s|"rows": 64, "dim": 512|"rows": 4096, "dim": 128, "heads": 32|; s|"rows_timed": 64|"rows_timed": 4096|' known-bench.json >rope-bench.json
"$POSENC" report --from known-accuracy.json --from rope-bench.json -o rope >out 2>err
# What was not measured is not judged.
check 'claims: a condition' contains known/report.md '**holds only when** 0.00024 is not significant'
check 'claims: what no record tells' contains known/report.md '| Every position has a row of its own. | **not measured** |'
check 'claims: all 5' test "$(sed -n '/^## Claims/,/^## [^C]/p' known/report.md | grep -c '^| .*\. | \*\*')" -eq 5

check 'times of rope have a section' contains rope/report.md '## Added and rotated'
sed "s/$(printf '\302\240')/ /g" rope/report.md >rope.md # no-break spaces
check 'with x and its limit' contains rope.md '× 32 × 128, base 10000, interleaved, f32, 64 MiB; scale limit 6.0 GB/s'
check 'and a row' contains rope.md '| `quick` | 2.25‡ (2.00–8.00) | 2.00‡ (1.00–2.50) | 50.0‡ (12.5–62.5) | 19.8× (5.00–30.0) | '
cp known/headline.svg rope && "$POSENC" report --from known-accuracy.json --from rope-bench.json -o rope >out 2>err
check 'and no older picture is left' test ! -e rope/headline.svg
check 'but are no answer' contains rope/report.md 'No table of f32 was timed, but verified'
check 'and no picture' test ! -e rope/headline.svg
# The same times, cold: a figure and a table of their own. A machine that is steady has no marks.
{ sed '/^]}/d; $d' known-bench.json; echo ','; sed '1d; /^$/d; s|"name": "hot/|"name": "cold/|' known-bench.json; } >cold-bench.json
"$POSENC" report --from known-accuracy.json --from cold-bench.json -o cold >out 2>err
check 'times with cold caches' test $? -eq 0 -a ! -s err
check 'have a figure' count_is cold/index.html 'against length with cold caches' 1
check 'and a table' contains cold/report.md 'cold: 64'
sed 's/"ns_per_element": [0-9.]*/"ns_per_element": 2/; s/"bytes_per_second": [0-9.e]*/"bytes_per_second": 2e9/; s/"of_limit": [0-9.]*/"of_limit": 0.5/
  s/"limit_bytes_per_second": [0-9.e]*/"limit_bytes_per_second": 4e9/; s/"real_time": [0-9.]*/"real_time": 3/' known-bench.json >steady-bench.json
"$POSENC" report --from known-accuracy.json --from steady-bench.json -o steady >out 2>err
check 'a steady machine has no marks' sh -c '! grep -q "[0-9%]‡" steady/report.md && grep -q "[0-9]‡" known/report.md && grep -q "1.00× (1.00–1.00) not told apart" steady/report.md'
check 'without such times there is no such section' test "$(grep -c '^## Added' known/report.md)" -eq 0

accuracy false 1 >failed-accuracy.json
"$POSENC" report --from failed-accuracy.json --from known-bench.json -o failed >out 2>err
check 'a failed check is exit status 1' test $? -eq 1
check 'and told in the answer' contains failed/report.md '**Failed checks: 1**'

"$POSENC" report --len 0 --dim 4 --kernel naive -o empty >out 2>err
check 'an empty table has a page' test $? -eq 0 -a -s empty/index.html
check 'without times' contains empty/report.md 'Nothing was timed'

# ---- errors: where they come from, at which frequency, and what they spoil ----

has_sections() { # PAGE TITLES: those on errors, joined by commas
  test "$(sed -nE 's/^## (Error.*|Where.*|Kernels that.*)/\1/p' "$1" | paste -sd,)" = "$2"
}
check 'no errors, no sections on them' has_sections known/report.md ''
error_at() { # POSITION FREQUENCY PHASE TRIG STORE
  printf '{"position": %s, "rows": 16, "max_abs": 0.25, "relative": 0.5, "parts": {"frequency": %s, "phase": %s, "trig": %s, "store": %s}}' "$@"
}
points="$(error_at 1 1 0 0 3), $(error_at 2 6 4 0 0), $(error_at 4 3 1 0 0)"
scan='"rows": 1000, "columns": [{"index": 0, "max_abs": 0.0625, "position": 9}, {"index": 1, "max_abs": 0.125, "position": 7}],
  "passes": {"f32": 1, "f16": 7, "bf16": null}, "norm": {"worst": 0.75, "position": 8, "index": 1},
  "collisions": {"f32": null, "f16": [5, 6], "bf16": [3, 4]}'
tables='"tables": [{"dim": 128, "base": 10000.0, "points": [{"position": 512, "max_abs": 0.5}, {"position": 900, "max_abs": null}]},
  {"dim": 512, "base": 500000.0, "points": [{"position": 512, "max_abs": 0.25}, {"position": 900, "max_abs": 0.125}]}]'
profiled() { # POINTS-OF-NAIVE: naive was not scanned
  accuracy true 0 | sed '/"profile": /d'
  printf '"unique": {"dim": 4, "base": 10000.0, "rows": 1000, "distance": 0.5, "apart": 44},\n"profile": [\n'
  printf '{"kernel": "quick", "dim": 4, "base": 10000.0, "points": [%s],\n%s},\n' "$points" "$scan"
  printf '{"kernel": "naive", "dim": 4, "base": 10000.0, "points": [%s], "rows": null,\n%s}],\n' "$1" "$tables"
  accuracy true 0 | sed -n 's/"profile": \[\], //p'
}
profiled "$points" >errors-accuracy.json
"$POSENC" report --from errors-accuracy.json --from known-bench.json -o errors >out 2>err
check 'a report with errors in it' test $? -eq 0 -a ! -s err
sed "s/$(printf '\302\240')/ /g" errors/report.md >errors.md
says() { # WHAT TEXT
  check "errors: $1" contains errors.md "$2"
}
check 'errors: the sections' has_sections errors.md \
  'Error against position,Where the error comes from,Error against frequency,Where it stops being good enough,Kernels that claim nothing'
check 'errors: a figure for each of the first three' count_is errors/index.html '<svg' 6
check 'errors: all ids are unique' ids_unique errors/index.html
says 'kernels with the same parts are one, and the causes of a fifth or more are named where they are' \
  '- `quick`, `naive`: at 2^0 **frequency** (25 %) and **store** (75 %); from 2^1 to 2^2 **frequency** (60–75 %) and **phase** (25–40 %).'
check 'errors: a panel for both' contains errors/index.html 'quick, naive'
says 'the parts' '| `quick`, `naive` | 2^0 | 1.00 | 0.00 | 0.00 | 3.00 | 4.00 |'
says 'the worst frequency and its wavelength' '| `quick` | 1 | 628.3 | 0.125 | 7 |'
says 'where a format is passed, and rows collide' '| `quick` | 1 | 7 | none to 999 | none to 999 | 5, 6 | 3, 4 |'
says 'how much was looked at, against position' 'of the 16 rows from a position on of the f32 table of dim 4, base 10000: a sample, so a lower bound.'
says 'and against frequency' 'over every position below 1'
says 'what was not scanned is a dash' '| `naive` | – | – | – | – | – | – |'
says 'norm and relative' '| `quick` | 0.750 | p = 8, i = 1 | 0.500 | – | – | – | – |'
says 'other tables of kernels that claim nothing' '| kernel | position | d = 128, 10000 | d = 512, 500000 |'
says 'the error at a position' '| `naive` | 512 | 0.500 | 0.250 |'
says 'and where it is not done' '| `naive` | 900 | – | 0.125 |'
says 'a claim that is false, as rows collide' '| Every position has a row of its own. | **false** |'
says 'the closest exact rows' 'are **0.5000 apart**, at positions that differ by 44.'

profiled "$(error_at 1 0 0 0 2), $(error_at 4 0 0 1 0)" >other-accuracy.json
"$POSENC" report --from other-accuracy.json --from known-bench.json -o errors >out 2>err
check 'errors: kernels with other parts stand apart' contains errors/report.md '- `naive`: at 2^0 **store** (100'
profiled '{"position": 1, "rows": 16, "max_abs": 0.25, "parts": null}' >other-accuracy.json
"$POSENC" report --from other-accuracy.json --from known-bench.json -o errors >out 2>err
check 'errors: kernels without parts have no panel' sh -c 'grep -q "^- .quick.: at" errors/report.md && ! grep -q "^- .*naive.*: at" errors/report.md'

# ---- what frameworks ship, hard cases, histogram, worst cases ----

# naive's place is taken by a recipe, which is the fastest and is profiled without a scan.
recipes() { sed 's/"naive"/"recipe\/hand"/g; s|/naive/|/recipe/hand/|' "$1"; }
recipes errors-accuracy.json | sed 's/"rows": null,//; s/"max_abs": 0.25/"max_abs": 0.0625/' >recipe-accuracy.json
recipes known-bench.json | sed 's/"ns_per_element": \(4[046]\|60\)/"ns_per_element": 0.\1/' >recipe-bench.json
"$POSENC" report --from recipe-accuracy.json --from recipe-bench.json -o recipe >out 2>err
check 'a report with a recipe in it' test $? -eq 0 -a ! -s err
sed "s/$(printf '\302\240')/ /g" recipe/report.md >recipe.md # no-break spaces
section() { # FILE TITLE: from that heading to the next
  sed -n "/^## $2/,/^## /p" "$1"
}
in_section() { # FILE TITLE FIXED-TEXT
  section "$1" "$2" | grep -qF -- "$3"
}
check 'recipes have a section, with time and errors' in_section recipe.md 'What frameworks ship' \
  '| `recipe/hand` | 0.250 | 0.5000 | 0.125 | 0.586 % | – | – | – | 0.450 (0.400–0.600) | 64x512 |'
check 'a recipe is no answer, however fast' eval '! sed "/^## Headline/q" recipe.md | grep -q recipe/hand'
check 'the kernel is' eval 'sed "/^## Headline/q" recipe.md | grep -q "^| any |.*quick"'
check 'nor is a recipe in the table of kernels' eval '! in_section recipe.md Headline recipe/hand'
check 'nor among those that were scanned' eval '! in_section recipe.md "Where it stops" recipe/hand'
check 'its records are beside the page' eval '"$POSENC" report --from recipe/accuracy.json --from recipe/bench.json -o again >out && sed "s/--from [^ ]*//g; s/-o again/-o recipe/" again/report.md >again.md && sed "s/--from [^ ]*//g" recipe/report.md | cmp - again.md'
check 'its errors have a figure beside those of kernels' count_is recipe/index.html '<figcaption>Error against position' 2
check 'and a table' in_section recipe.md 'Error against position' '| position | recipe/hand |'
check 'without recipes there is no such section' test "$(grep -c '^## What frameworks ship' known/report.md)" -eq 0
sed '/"name": "quick"/s/"quick"/"recipe\/quick"/; s/"kernel": "quick"/"kernel": "recipe\/quick"/' recipe-accuracy.json >alone-accuracy.json
"$POSENC" report --from alone-accuracy.json --from recipe-bench.json -o alone >out 2>err
sed '/"kernel": "recipe.hand", "shape"/{n;s/exhaustive/sampled/;}' recipe-accuracy.json >part-accuracy.json
"$POSENC" report --from part-accuracy.json --from recipe-bench.json -o part >out 2>err
check 'a recipe of which a sample was looked at says so' in_section part/report.md 'What frameworks ship' '| 64x512 (sample) |'
check 'recipes alone are what the report is about' in_section alone/report.md Headline '| `recipe/hand` |'

bins='"histogram": [{"below": 0.5, "count": 1200}, {"below": 1, "count": 34}, {"below": 65536, "count": 5}, {"below": null, "count": 7}]'
place='"position": 21, "index": 3, "function": "cos", "exact": "0x1p-3", "got": "0x1.8p-3", "replay": "posenc verify --kernel quick"'
sed "s/\"misrounded\": 3,/& $bins, \"worst\": {\"ulp\": 0.25, \"abs\": 0.125, $place},/
  s/\"max_ulp\": {\"ulp\": 0.5}/\"max_ulp\": {\"ulp\": 0.5, \"abs\": 0.0625, ${place%, \"exact*}}/" known-accuracy.json >worst-accuracy.json
sed 's/"long", "rows": 1024/"hard.wc", "rows": 1024/; s/"mode": "sampled"/"replay": "posenc verify --cases hard.wc", "mode": "cases"/' worst-accuracy.json >hard-accuracy.json
"$POSENC" report --from hard-accuracy.json --from known-bench.json -o hard >out 2>err
check 'a report with hard cases and a histogram' test $? -eq 0 -a ! -s err
sed "s/$(printf '\302\240')/ /g; s/$(printf '\342\200\257')//g" hard/report.md >hard.md # no-break spaces and thin ones
check 'the histogram adds up' in_section hard.md 'How many elements' '| `quick` | 1200 | 1234 | 1234 | 1234 | 1234 | 1239 | 1239 | 1246 |'
check 'and is drawn' count_is hard/index.html 'aria-label="Line chart: number of elements by error' 1
check 'hard cases have a section' in_section hard.md 'The hardest cases' '| `quick` | 3 | 512 | 0.5000 | p = 21, i = 3, cos | `posenc verify --cases hard.wc` |'
check 'and are no shape among others' eval '! in_section hard.md "Every shape" hard.wc'
check 'nor counted as one' contains hard.md 'held in every check (shapes: 1 exhaustive, 0 sampled)'
"$POSENC" report --from worst-accuracy.json --from known-bench.json -o sampled >out 2>err
check 'a worst case of a sample says so' in_section sampled/report.md 'Every worst case' '| `quick` (sample) |'
check 'worst cases that are one have one row' in_section hard.md 'Every worst case' \
  '| `quick` | ulp, bound | 21 | 3, cos |'
awk '/hard.wc/ { hard = 1 } hard && /"ok": true/ { sub("\"ok\": true", "\"ok\": false") } { print }' hard-accuracy.json |
  sed 's/"passed": 3/"passed": 2/; s/"failed": 0/"failed": 1/' >missed-accuracy.json
"$POSENC" report --from missed-accuracy.json --from known-bench.json -o missed >out 2>err
check 'a hard case that is missed is a failed check' test $? -eq 1
check 'and takes the answer away' contains missed/report.md 'No kernel that was timed has a proved error bound'

# Figures of tables in a report that has none.
sed 's/"dtype": "f32"/"dtype": "f32", "op": "add"/' errors-accuracy.json >add-accuracy.json
"$POSENC" report --from add-accuracy.json --from known-bench.json -o add >out 2>err
check 'errors of tables beside add alone are said to be such' in_section add/report.md 'Error against position' 'not about what is added or rotated'
check 'and are not where tables are' eval '! grep -q "not about what is added" errors/report.md'

# ---- records that lie ----

refused() { # TEXT OPTION...: one line, status 2, and no file
  text=$1
  shift
  "$POSENC" report "$@" -o none >out 2>err
  status=$?
  check "refused: $text" test $status -eq 2 -a "$(wc -l <err)" -eq 1 -a ! -e none -a -n "$(grep -e "$text" err)"
}
lie() { # FILE SED-COMMAND TEXT
  other=known-accuracy.json
  [ $1 = known-bench.json ] || other=known-bench.json
  sed "$2" "$1" >lying.json
  refused "$3" --from lying.json --from $other
}
lie failed-accuracy.json 's/"failed": 1/"failed": 0/' 'failed is 0, but by the checks it is 1'
lie known-accuracy.json 's/"failed": 0/"failed": 1/' 'failed is 1, but by the checks it is 0'
lie known-accuracy.json 's/"passed": 3/"passed": 4/' 'passed is 4, but'
lie known-accuracy.json 's/"skipped": 0/"skipped": 2/' 'skipped is 2, but'
lie known-accuracy.json 's/"kernel": "naive"/"kernel": "ghost"/' "kernel is 'ghost', which is not in kernels"
lie known-accuracy.json 's/"rows": 64/"rows": -5/' 'rows is not an integer of 0 or more'
lie known-accuracy.json 's/"mode": "exhaustive"/"mode": "guessed"/' 'mode is not exhaustive, sampled or cases'
lie known-bench.json 's/"ns_per_element": 2.25/"ns_per_element": -1/' 'ns_per_element is not a number of 0 or more'
lie known-bench.json 's/"rows": 64/"rows": "64"/' 'rows is not'
long=$(printf %080d 0)
lie known-bench.json "s|/naive/|/$long/|" 'benchmarks\[6\].name has a part of 80 bytes'
lie known-bench.json "s|64x512/|$long/|" 'benchmarks\[0\].name has a part of 80 bytes'
lie errors-accuracy.json 's/"trig": 0, //' 'profile\[0\].points\[0\].parts.trig is missing'
lie errors-accuracy.json 's/"store": 3/"store": -3/' 'parts.store is not a number of 0 or more'
lie errors-accuracy.json 's/"rows": null/"rows": -1/' 'profile\[1\].rows is not an integer of 0 or more'
lie errors-accuracy.json 's/"index": 0/"index": 0.5/' 'columns\[0\].index is not an integer'
lie errors-accuracy.json 's/"bf16": null/"bf16": "never"/' 'passes.bf16 is not an integer of 0 or more, or null'
lie errors-accuracy.json 's/\[5, 6\]/[5]/' 'collisions.f16 is not two integers'
lie errors-accuracy.json 's/\[5, 6\]/[5, "6"]/' 'collisions.f16 is not two integers'
parts='{"frequency": 1, "phase": -2, "trig": 3, "store": 0}' # signed, but not of rows
sed "s/\"misrounded\": 3,/& \"explain\": {\"worst\": {\"position\": 1, \"index\": 0, \"function\": \"sin\", \"error\": 2, \"parts\": $parts}, \"rows\": []},/" \
  known-accuracy.json >explained-accuracy.json
"$POSENC" report --from explained-accuracy.json --from known-bench.json -o explained >out 2>err
check 'a record with explained errors is one' test $? -eq 0
witness='{"position": 999, "index": 3, "function": "cos"}'
searched() { # SHARE DISTANCE: each of the three has a search, which passed
  sed "s/\"misrounded\": 3,/& \"search\": {\"reach\": 1099511627776, \"worst\": $witness, \"nearest\": $witness, \"from_tie\": $2},/
    s/\"checks\": \[/&{\"property\": \"search\", \"ok\": true, \"skipped\": false, \"worst\": $1, \"compared\": 200}, /
    s/\"passed\": 3/\"passed\": 6/" known-accuracy.json
}
searched 0.75 0.125 >searched-accuracy.json
"$POSENC" report --from searched-accuracy.json --from known-bench.json -o searched >out 2>err
place='p = 999, i = 3, cos of 64x512'
check 'what searches of several tables found of a kernel' contains searched/report.md \
  "| \`quick\` | 400 | 2^40 | 0.7500 | $place | 0.125 | $place |"
searched 0.99999904 0.125 >searched-accuracy.json
"$POSENC" report --from searched-accuracy.json --from known-bench.json -o searched >out 2>err
check 'a share just below 1 is told apart from 1' contains searched/report.md '| 1 − 9.6e-07 |'
check 'no search, no section on it' eval '! grep -q "search finds" known/report.md'
lie worst-accuracy.json 's/"count": 34/"count": -34/' 'histogram\[1\].count is not an integer of 0 or more'
lie worst-accuracy.json 's/"worst": {"ulp": 0.25/"worst": {"ulp": -1/' 'worst.ulp is not a number of 0 or more'
lie explained-accuracy.json 's/"phase": -2, //' 'records\[0\].explain.worst.parts.phase is missing'
lie explained-accuracy.json "s/\"rows\": \[\]/\"rows\": [{\"position\": 1, \"parts\": $parts}]/" 'explain.rows\[0\].parts.phase is not a number of 0 or more'
lie errors-accuracy.json 's/"distance": 0.5, //' 'unique.distance is missing'
printf '{"schema": "posenc-accuracy-1", "records": 3}' >lying.json
refused 'environment is missing' --from lying.json --from known-bench.json
for option in '--len 5' '--kernel nope' '--seed 3' '--repetitions 9' '--isa generic'; do
  # shellcheck disable=SC2086 # an option and its value
  refused "$option: nothing would use it" --from known-accuracy.json --from known-bench.json $option
done
refused '--cases hard.wc: nothing would use it' --from known-accuracy.json --cases hard.wc
refused '--cases hard.wc: No such file' --from known-bench.json --kernel naive --cases hard.wc
refused '--repetitions 9: nothing would use it' --from known-bench.json --repetitions 9
refused '--budget 9: nothing would use it' --from known-accuracy.json --budget 9
refused '--search 9: nothing would use it' --from known-accuracy.json --search 9

cp -r known before
"$POSENC" report --from lying.json --from known-bench.json -o known >out 2>err
check 'and the old report stays as it was' diff -r before known

sed 's/"limit_bytes_per_second": [0-9e]*/"limit_bytes_per_second": 1e308/' known-bench.json >huge.json
"$POSENC" report --from known-accuracy.json --from huge.json -o huge >out 2>err
check 'figures near the end of doubles are no lack of memory' test $? -eq 0 -a ! -s err

# ---- from a small run ----

if ! "$POSENC" bench --kernel 'r*' --len 64 --dim 512 --repetitions 3 --min-time 0.001 --json bench.json >/dev/null 2>&1; then
  check 'no bench because the build has none' sh -c "\$POSENC bench --kernel naive --len 4 --dim 4 2>&1 | grep -q 'without Google Benchmark'"
  plan
  exit $tap_failed
fi
"$POSENC" verify --kernel 'r*' --len 64 --dim 512 --profile --format json -o accuracy.json || exit 99
"$POSENC" report --from accuracy.json --from bench.json -o page >out 2>err || { cat err; exit 99; }

html=page/index.html md=page/report.md json=page/report.json
check 'the path of the page is printed' test "$(cat out)" = page/index.html
check 'the page says its language' contains $html '<html lang="en">'
check 'the page fits a phone' contains $html 'width=device-width'
for drawn in 'chart: nanoseconds' 'chart: gigabytes' 'Points: largest absolute error against time' 'chart: largest absolute error against position'; do
  check "one figure is a ${drawn%%:*} of ${drawn#*: }" count_is $html "$drawn" 1
done
for element in html body svg table tr figure figcaption h2; do check "every $element is closed" balanced $html $element; done
check 'no two elements have the same id' ids_unique $html
check 'the page asks nothing of a network' no_network $html
for kernel in rotation-portable recurrence; do
  for file in $html $md $json; do check "$kernel is in ${file#page/}" contains $file "$kernel"; done
done
witness=$(grep -o '"replay": *"posenc verify --kernel rotation-portable [^"]*"' accuracy.json | sed 's/.*: *"//; s/"$//' | head -n 1)
check 'a worst case has its replay command in report.json' contains $json "${witness:-no witness}"
check 'the replay command runs' sh -c "\$POSENC ${witness#posenc } --format json -o replay.json"
exact() { grep -o '"exact": *"[^"]*"' "$1" | head -n 2; }
check 'and finds the same worst cases again' test -n "$(exact replay.json)" -a "$(exact replay.json)" = "$(exact accuracy.json)"
check 'light and dark' contains $html 'prefers-color-scheme'
check 'the environment is there' contains $md 'mpfr'
check 'and the command that makes it again' contains $md 'posenc report'

# The test itself: each of these would ask a network.
for bad in "<script src='http://a/b.js'></script>" '<script>fetch(1)</script>' '<script>new WebSocket(1)</script>' '<script type=module>1</script>' '<img src=http://a/b.png>' '<a HREF="https://a/">' \
  "<link rel=stylesheet href='//a/b.css'>" '<style>p{background:url(http://a/b.png)}</style>' '<style>@import "http://a/b.css";</style>'; do
  { cat $html; echo "$bad"; } >bad.html
  check "which would see $bad" asks_network bad.html
done

mkdir new
(sleep 0.7; ls new >seen) &
timeout -s INT 1.5 "$POSENC" report --from accuracy.json --len 20000 --dim 512 --kernel naive-f64 --min-time 60 -o new/page >out 2>err
check 'an interrupt leaves no empty folder' test $? -eq 124 -a -z "$(ls -A new)"
wait
check 'that it had made' test "$(cat seen)" = page

plan
exit $tap_failed
