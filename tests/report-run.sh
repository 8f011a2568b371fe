#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests a report of a small run: its files, their links, and that the page uses no network.
# shellcheck disable=SC2016,SC2086,SC2154
command=report
. "${srcdir:-.}/tests/command.sh"
! emulated || skip_all 'times of an emulator are not published'
export POSENC

mkdir empty
refused() { check "refused: $1" refused_unwritten "$@" -o empty/page; } # PATTERN OPTION...

# The page must have no address that a browser loads by itself, in any quotes, and no script with network access. The
# namespaces of SVG are names, and links to files beside the page are for readers.
asking='fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import|https?:|\.src|location|open *\(|eval|innerHTML'
value="(\"[^\"]*\"|'[^']*'|[^[:space:]>]+)"
no_network() { # PAGE
  ! { grep -oiE '<script[^>]+>' "$1"
    sed -n '/<script>/,/<\/script>/p' "$1" | grep -oiE "$asking"
    grep -oiE '<(link|base|iframe|object|embed|meta +http-equiv)[ />][^>]*|@import[^;]*|url\( *[^# )][^)]*' "$1"
    sed -E 's/<a href="[a-z-]+\.(html|md|json|csv|svg)">//g' "$1" |
      grep -oiE "[[:space:]](src|srcset|href|xlink:href|action|data|poster)[[:space:]]*=[[:space:]]*$value" |
      grep -viE '= *["'\'']?(data:image/|#)'; } | grep .
}

asks_network() {
  ! no_network "$1" >/dev/null
}

balanced() { # FILE ELEMENT
  opened=$(grep -oE "<$2[ >]" "$1" | wc -l) closed=$(grep -oF "</$2>" "$1" | wc -l)
  [ "$opened" -gt 0 ] && [ "$opened" -eq "$closed" ]
}

posenc bench --kernel 'r*' --len 64 --dim 512 --repetitions 3 --min-time 0.001 --format json -o bench.json
if [ $status -ne 0 ]; then
  check 'no bench because the build has none' contains err 'without Google Benchmark'
  plan
  exit $tap_failed
fi
"$POSENC" verify --kernel 'r*' --len 64 --dim 512 --profile --format json -o accuracy.json || exit 99
posenc report --from accuracy.json --from bench.json -o page
! no_pages || skip_all "$why"
[ $status -eq 0 ] || { cat err; exit 99; }

html=page/index.html md=page/report.md json=page/report.json
check 'the path of the page is printed' test "$(cat out)" = page/index.html

# Witnesses of a list may be between integer positions.
"$POSENC" verify --kernel rotation-portable --positions 3,-0.5,0.25 --dim 16 --format json -o lists.json || exit 99
check 'a record of a list' eval 'posenc report --from lists.json --from bench.json -o listed && [ $status -eq 0 ]'
check 'quotes what has commas' grep -q ',"posenc verify .* --positions 3,-0.5,0.25 .*"$' listed/accuracy.csv
check 'has its fractions' grep -q ',-\{0,1\}0\.[25]*,,[0-7],' listed/accuracy.csv

for text in '<html lang="en">' width=device-width prefers-color-scheme; do
  check "the page: $text" contains $html "$text"
done
for drawn in 'Points: largest absolute error against time' 'Line chart: nanoseconds' 'Bars: nanoseconds'; do
  check "one figure is a ${drawn%%:*} of ${drawn#*: }" count_is $html "$drawn" 1
done
check 'one figure of the details is a chart of errors against position' \
  count_is page/details.html 'chart: largest absolute error against position' 1
for each in $html page/details.html; do
  for element in html body svg table tr figure figcaption h2; do
    check "$each: every $element is closed" balanced $each $element
  done
  check "$each: no two elements have the same id" ids_unique $each
  check "$each asks nothing of a network" no_network $each
done
linked() { # PAGE: prints the files to which it has links
  grep -oE '<a href="[a-z]+[^"]*"' "$1" | sed 's/.*="//; s/"$//'
}
all_there() {
  for file in $(linked $html); do [ -s "page/$file" ] || { echo "# no $file"; return 1; }; done
}
check 'the page has links to its data and figures' test "$(linked $html | wc -l)" -ge 10
check 'and what they lead to is there' all_there
check 'powers of two are raised' contains page/details.html '0.5 ulp + 2⁻⁴⁵, |p| &lt;= 2⁶²'
check 'everywhere' lacks page/details.html '2^-45'
for kernel in rotation-portable recurrence; do
  for file in $html $md $json page/times.csv page/accuracy.csv; do
    check "$kernel is in ${file#page/}" contains $file "$kernel"
  done
done
replay='"replay": *"posenc verify --kernel rotation-portable[^"]*"'
witness=$(grep -o "$replay" accuracy.json | sed 's/.*: *"//; s/"$//; 1q')
check 'a worst case has its replay command in report.json' contains $json "${witness:-no witness}"
check 'the replay command runs' sh -c "\$POSENC ${witness#posenc } --format json -o replay.json"
exact() { grep -o '"exact": *"[^"]*"' "$1" | head -n 2; }
check 'and finds worst cases' test -n "$(exact replay.json)"
check 'which are the same' test "$(exact replay.json)" = "$(exact accuracy.json)"
for text in mpfr 'posenc report'; do check "the text: $text" contains $md "$text"; done

# A published report has a brief record, with what README.md shows.
cp -r page brief
check 'a brief page' "${POSENC%/*}/posenc-published" --brief brief
check 'is the same' cmp brief/index.html $html
check 'its record has no profile' lacks brief/report.json '"profile"'

# Each of these must be found as network access.
while read -r bad; do
  { cat $html; echo "$bad"; } >bad.html
  check "which would see $bad" asks_network bad.html
done <<'END'
<script src='http://a/b.js'></script>
<script>fetch(1)</script>
<script>new WebSocket(1)</script>
<script type=module>1</script>
<img src=http://a/b.png>
<a HREF="https://a/">
<link rel=stylesheet href='//a/b.css'>
<style>p{background:url(http://a/b.png)}</style>
<style>@import "http://a/b.css";</style>
END

"$POSENC" report --len 16777216 --dim 512 --exhaustive --kernel cr-portable -o lines >out 2>err &
told_lines() { [ "$(grep -c '^verify.*, [0-9]* %$' err)" -ge 2 ]; }
check 'long work is told in lines, where there is no terminal' within 60 told_lines
kill $!
wait $!

# With --budget, the reference table is always timed, then what fits.
posenc report --budget 0.1s --kernel cr-portable,naive --search 0 --repetitions 3 --min-time 0.001 -o budget
check 'a report within a budget' test $status -eq 0
timed_shapes() { sed 1d budget/times.csv | cut -d, -f1,2 | sort -u; }
check 'has the reference table, of hot memory' test "$(timed_shapes)" = hot,transformer-base
check 'all of it' grep -q '^transformer-base,cr-portable,exhaustive,2560000,2560000,' budget/accuracy.csv
check 'the choice of the library' grep -q '"shape":"transformer-base","kernel":"' budget/report.json
left_out='of time, 0.1 s: cold caches, fresh memory, plans, and 16x512, 64x512'
check 'the default beside the kernels that were selected' grep -q 'Default, one thread:' budget/report.md
check 'which is none of them' test "$(grep -o '"selected":true' budget/report.json | wc -l)" -eq 2
check 'and names what it left out' in_section budget/report.md 'Left out' "$left_out"
check 'scalings, too' in_section budget/report.md 'Left out' 'longrope-scaling'
for budget in 0s -1s 45x s 4ss 0p -1p p 4pp 4.5p 9223372036854775808p; do
  refused "--budget $budget: " --kernel naive --budget $budget
done
# A number without a unit could be meant as seconds, and would run for minutes.
for budget in 1 45 0 -1; do refused "--budget $budget: neither pairs, as 4096p, nor seconds, as 45s" --budget $budget; done
refused '--budget 45s: cannot be combined with --full' --budget 45s --full
refused '--budget 45s: cannot be combined with' --budget 45s --from accuracy.json
refused '--budget 45s: cannot be combined with --from' --budget 45s --from bench.json

mkdir new
"$POSENC" report --from accuracy.json --len 20000 --dim 512 --kernel naive-f64 --min-time 60 -o new/page >out 2>err &
check 'the folder of a report is made at once' within 60 test -d new/page
kill $!
wait $!
check 'an interrupt leaves no empty folder' test $? -gt 128 -a -z "$(ls -A new)"

plan
exit $tap_failed
