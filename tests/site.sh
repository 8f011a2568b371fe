#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the examples of the library's functions, and the site that make site makes: that nothing is missing in it, that
# no link is dead, and that a browser asks nobody else for a part of it.
# shellcheck disable=SC2154 # command.sh and make set variables
. "${srcdir:-.}/tests/command.sh"
header=$root/include/posenc.h examples=$root/examples/functions.c

# ---- examples: the program is built beside the tests

grep -o '/\* prints .* \*/' "$examples" | sed 's|/\* prints \(.*\) \*/|\1|' >wanted
run_here "$abs_top_builddir/examples/functions" >out 2>err
diff wanted out >differ
check "the examples print what they say, $(wc -l <wanted) lines" test -s wanted -a ! -s differ
grep -oE '^(POSENC_API|static inline) [^{;]*\bposenc_[a-z0-9_]*\(' "$header" | grep -o 'posenc_[a-z0-9_]*($' |
  tr -d '(' | sort -u >functions
while read -r name; do grep -q "\b$name(" "$examples" || echo "$name"; done <functions >out
check "there is an example of each of $(wc -l <functions) functions" test -s functions -a ! -s out

# ---- the site, with made records of nine days, and of two machines where a page can be made

missing=''
for tool in "${PYTHON:-python3}" "${CMARK_GFM:-cmark-gfm}" "${DOXYGEN:-doxygen}" "${MANDOC:-mandoc}"; do
  command -v "$tool" >/dev/null || missing="$missing $tool"
done
manuals=$(ls "$root"/cli/posenc*.1 "$abs_top_builddir"/cli/posenc*.1 2>/dev/null)
[ -n "$manuals" ] || missing="$missing help2man"
if [ -n "$missing" ]; then
  skip 'the site' "missing:$missing"
  plan
  exit "$tap_failed"
fi
site() { PYTHONUTF8=1 "${PYTHON:-python3}" "$root/doc/site/site.py" "$@" >out 2>err; }
makes() { site "${2:-$root}" "${3:-$abs_top_builddir}" "$work/$1" && [ ! -s err ]; }

mkdir days && for day in 1 2 3 4 5 6 7 8 9; do
  printf '{"context": {"posenc_schema": "posenc-bench-2", "commit": "c%s", "date": "2026-01-0%sT10:00:00+00:00",
    "cpu": "x"}, "benchmarks": [{"name": "hot/8x8/k", "run_type": "iteration", "time_unit": "ns", "cpu_time": 10%s,
    "real_time": 10%s, "of_limit": 0.5%s}]}' $day $day $day $day $day >days/$day.json
done
echo '{"context": {"posenc_schema": "posenc-bench-2"}, "benchmarks": []}' >untimed.json
"$POSENC" verify --kernel 'r*' --len 64 --dim 16 --format json -o here.json || exit 99
with=with
"$POSENC" report --from here.json --from untimed.json -o here >out 2>err
if no_pages; then
  with=without
  skip 'the pages of machines and of the history' "$why"
else
  sed 's/"cpu":"/&other /' here/report.json >there.json
  export MACHINES='here/report.json there.json' HISTORY='days --order date'
fi
check "the site is made, $with pages of machines and of the history, and all links lead somewhere" makes made
if [ $with = with ]; then
  if [ -e "$abs_top_builddir/doc/site/compute.html" ]; then
    check 'it lacks nothing, and says nothing' test ! -s out
  else
    check 'it says what it lacks' says '^site: without the page that computes (make wasm)$'
  fi
  check 'it has the machines' contains made/machines/index.html '<h1 id="posenc-machines">'
  check 'it has the history' contains made/history/index.html '<h1 id="posenc-history">'
  # A source folder in which make publish has left a page, and a build folder in which make wasm has.
  mkdir tree && ln -s "$root"/* tree/ && rm tree/reports && mkdir tree/reports || exit 99
  ln -s "$root"/reports/* tree/reports/ && rm tree/reports/published && cp -r here tree/reports/published &&
    cp "$root"/reports/published/*.svg tree/reports/published/ || exit 99
  mkdir -p built/doc/site && ln -s "$abs_top_builddir/run" "$abs_top_builddir/cli" built/
  rm tree/doc && cp -r "$root"/doc tree/ && printf '\n## Twice\n\n## Twice\n' >>tree/doc/timing.md || exit 99
  policy='<meta http-equiv="Content-Security-Policy" content="default-src none">'
  page="<html><head><title>x</title>$policy</head><body><main><h1>x</h1></main></body></html>"
  echo "$page" >built/doc/site/compute.html
  sed -i 's|</main>|<h2 id="several-machines">Several machines</h2>&|' tree/reports/published/index.html
  alone() { (unset MACHINES HISTORY && makes "$@"); }
  check 'or with pages of make publish and make wasm alone' alone published "$work/tree" "$work/built"
  check 'and says in a line why there is no history' test "$(cat out)" = "site: without history: git has no notes here \
(git fetch origin refs/notes/posenc:refs/notes/posenc), and HISTORY names no records"
  check 'two headings of one text have two anchors' eval 'contains published/doc/timing.html "id=\"twice\"" &&
    contains published/doc/timing.html "id=\"twice-1\""'
  check 'machines are those of the report' contains published/README.html 'href="index.html#several-machines"'
  check 'which is the front page' contains published/index.html 'href="details.html"'
  for page in details compute; do
    check "with the navigation: $page" contains published/$page.html 'href="posenc.h.html"'
  done
  check 'and the style' contains published/details.html 'href="style.css"'
  check 'in the page, if its policy allows no file' eval '! grep -q "href=\"style.css\"" published/compute.html &&
    sed -n "/<style>/,/<\/style>/p" published/compute.html | grep -q "^nav"'
fi

# ---- nothing is missing

for page in $(cd made && find . -name '*.html'); do
  up=$(dirname "$page" | sed 's|^\./*||; s|[^/][^/]*|..|g; s|.$|&/|')
  grep -q 'nav aria-label="Site"' "made/$page" && grep -qF "href=\"${up}posenc.h.html\"" "made/$page" || echo "$page"
done >out
check "all $(find made -name '*.html' | wc -l) pages have the navigation" test ! -s out
for document in "$root"/doc/*.md; do
  page=made/doc/$(basename "$document" .md).html
  pictures=$(grep -c '^!\[' "$document")
  ! grep -q '│' "$document" || grep -q 'class="drawn"' "$page" || echo "$page"
  [ "$(grep -c '^<h1' "$page")" -eq 1 ] && [ "$(grep -o '<img ' "$page" | wc -l)" -eq "$pictures" ] || echo "$page"
done >out
check 'all documents are there, with their pictures and drawings' test ! -s out
check 'so is the front page, with its pictures' test "$(grep -c '<figure>' made/index.html)" -ge 2
options_of() { # ARGUMENTS: of the help
  # shellcheck disable=SC2086
  "$POSENC" $1 | sed -n -e '/^Problem, see/,/^$/d' -e 's/^  \(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\)\( [^-].*\)\{0,1\}$/\2/p'
}
: >options
for page in $("$POSENC" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1.1/p') problem.7; do
  case $page in problem.7) help='help problem' ;; *) help="${page%.1} --manual" ;; esac
  options_of "$help" | while read -r option; do
    echo "$page $option" >>options
    tr '\n' ' ' <"made/man/posenc-$page.html" | grep -qE "<dt id=\"[^\"]*\"><a [^>]*>(<b>-.</b>, *)?<b>$option</b>" ||
      echo "$page $option"
  done
done >out
check "all $(wc -l <options) options of all commands are there" test "$(wc -l <options)" -gt 100 -a ! -s out
sed -nE 's/^#define (POSENC_[A-Z0-9_]+) .*|^  (POSENC_[A-Z0-9_]+)( = [0-9]+)?,.*|^} (posenc_[a-z_0-9]+);/\1\2\4/p
  s/^typedef struct (posenc_[a-z_]+) posenc_[a-z_]+;/\1/p' "$header" >types
cat functions types | while read -r name; do
  grep -qE "<(code|dt) id=\"$name\">" made/posenc.h.html || echo "$name"
done | grep -v -e POSENC_API -e POSENC_PLUGIN_EXPORT >out
check "all functions are in the manual, and $(wc -l <types) types and constants" test -s types -a ! -s out
cat >comments.py <<'E2'
import html, re, sys
header, page = (open(name, encoding='utf-8').read() for name in sys.argv[1:])
def letters(text):
    return re.sub(r'[\s`-]', '', re.sub(r'^ *\* ?', '', text, flags=re.M))
told, comments = letters(html.unescape(re.sub('<[^>]*>', '', page))), re.findall(r'/\*(.*?)\*/', header, re.S)
told += 'SPDXLicenseIdentifier:MITPOSENC_H'
for comment in comments:
    if letters(comment) not in told:
        print(comment)
print(len(comments) if len(comments) > 100 else 'too few comments', file=sys.stderr)
E2
"${PYTHON:-python3}" comments.py "$header" made/posenc.h.html >out 2>err
check "so is the text of all $(cat err) comments of posenc.h" test ! -s out -a "$(cat err)" -gt 100

# ---- what is wrong is found

finds() { # TEXT HTML: with the HTML on a page
  cp -r made broken && sed "s|</main>|$2&|" made/doc/timing.html >broken/doc/timing.html
  site --check broken
  found=$?
  rm -r broken
  [ "$found" -eq 1 ] && [ "$(wc -l <out)" -eq 1 ] && grep -qF "site: doc/timing.html: $1" out
}
check 'a dead link' finds 'a link leads nowhere: none.html' '<a href="none.html">x</a>'
check 'a link out of the folder' finds 'a link leads nowhere: ../../days/1.json' '<a href="../../days/1.json">x</a>'
check 'a dead anchor' finds 'a link leads to no part of its page: ../README.html#no' '<a href="../README.html#no">x</a>'
check 'an id that is there twice' finds 'two things have the id main' '<b id="main"></b>'
for thing in '<img src="https://example.org/x.png">' '<script src="https://example.org/x.js"></script>' \
  '<link rel="stylesheet" href="//example.org/x.css">' '<p style="background: url(https://example.org/x.png)">' \
  '<style>@import "https://example.org/x.css";</style>' '<img srcset="https://example.org/x.png 2x">' \
  '<form action="https://example.org/"></form>' '<iframe src="http://example.org/"></iframe>'; do
  check "what is asked for elsewhere: $thing" finds 'is not of this folder: ' "$thing"
done
check 'but a link may be followed' finds '' '<a href="https://example.org/">x</a><img src="https://example.org/x.png">'

# ---- one line if something is missing

lacks_tool() { # VARIABLE PACKAGE
  ! (export "$1=/none" && site "$root" "$abs_top_builddir" "$work/none") &&
    [ "$(cat err)" = "site: what is missing: apt-get install $2" ] && [ ! -s out ] && [ ! -e none ]
}
for tool in CMARK_GFM:cmark-gfm DOXYGEN:doxygen MANDOC:mandoc; do
  check "without ${tool#*:}" lacks_tool "${tool%:*}" "${tool#*:}"
done
plan
exit "$tap_failed"
