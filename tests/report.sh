#!/bin/sh
# SPDX-License-Identifier: MIT
# What is in a report: made from a small run, looked at as text.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
point=0 failed=0

check() { # what, command
  what=$1; shift
  point=$((point + 1))
  if "$@"; then echo "ok $point - $what"; else echo "not ok $point - $what"; failed=1; fi
}

contains() { # file, fixed text
  grep -qF -- "$2" "$1"
}

count_is() { # file, fixed text, number
  found=$(grep -oF -- "$2" "$1" | wc -l)
  [ "$found" -eq "$3" ] || { echo "# $found times '$2' in $1, not $3"; false; }
}

# No address in attributes that a browser follows; the namespaces of SVG are names.
no_network() {
  ! grep -oE '(src|href|action|data)="[^"#][^"]*"|url\([^#)][^)]*\)|@import[^;]*' "$1" | grep -vE '^(src|href|xlink:href)="data:|^href="(report\.(md|json)|accuracy\.json|bench\.json)"' | grep . 
}

balanced() { # file, element
  opened=$(grep -oE "<$2[ >]" "$1" | wc -l) closed=$(grep -oF "</$2>" "$1" | wc -l)
  [ "$opened" -gt 0 ] && [ "$opened" -eq "$closed" ]
}

ids_unique() {
  [ -z "$(grep -oE ' id="[^"]*"' "$1" | sort | uniq -d)" ]
}

if ! "$POSENC" bench --kernel naive --len 4 --dim 4 --repetitions 3 --min-time 0.001 --json - > small.json 2> /dev/null; then
  echo '1..0 # SKIP this build has no bench'
  exit 0
fi
# two lengths, as a sweep needs
"$POSENC" bench --kernel 'r*' --len 64 --dim 512 --repetitions 3 --min-time 0.001 --json bench.json > /dev/null || exit 99
"$POSENC" verify --kernel 'r*' --len 64 --dim 512 --format json -o accuracy.json || exit 99
if ! "$POSENC" report --from accuracy.json --from bench.json -o page > out 2> err; then
  if grep -q gnuplot err; then echo '1..0 # SKIP no gnuplot here'; exit 0; fi
  cat err; exit 99
fi

html=page/index.html md=page/report.md json=page/report.json
check 'the path of the page is printed' test "$(cat out)" = page/index.html
check 'the page says its language' contains $html '<html lang="en">'
check 'the page fits a phone' contains $html 'width=device-width'
check 'four figures are in the page' count_is $html '<svg' 4
for element in html body svg table tr figure figcaption h2; do check "every $element is closed" balanced $html $element; done
check 'no two elements have the same id' ids_unique $html
check 'the page asks nothing of a network' no_network $html
for kernel in rotation recurrence; do
  for file in $html $md $json; do check "$kernel is in ${file#page/}" contains $file "$kernel"; done
done
witness=$(grep -o '"replay": *"posenc verify --kernel rotation [^"]*"' accuracy.json | sed 's/.*: *"//; s/"$//' | head -n 1)
check 'a worst case has its replay command in report.json' contains $json "${witness:-no witness}"
check 'the replay command runs' sh -c "\$POSENC ${witness#posenc } --format json -o replay.json"
exact() { grep -o '"exact": *"[^"]*"' "$1" | head -n 2; }
check 'and finds the same worst cases again' test -n "$(exact replay.json)" -a "$(exact replay.json)" = "$(exact accuracy.json)"
check 'light and dark' contains $html 'prefers-color-scheme'
check 'the environment is there' contains $md 'mpfr'
check 'and the command that makes it again' contains $md 'posenc report'

cp -r page before
printf '{"schema": "posenc-accuracy-1", "records": 3}' > lying.json
"$POSENC" report --from lying.json --from bench.json -o page > out 2> err
status=$?
check 'a malformed record is refused with status 2' test $status -eq 2
check 'in one line' test "$(wc -l < err)" -eq 1
check 'and the old report stays as it was' diff -r before page

echo "1..$point"
exit $failed
