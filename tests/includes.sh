#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that includes follow the rules of doc/design.md. $srcdir is the source folder.
# shellcheck disable=SC2086 # lists of folders
. "${srcdir:-.}/tests/tap.sh"
. "${srcdir:-.}/tests/hosts.sh"
cd "${srcdir:-.}" || exit 99

# Each rule is a folder, and the folders or files that the sources in it, without those below it, may include from;
# posenc.h and config.h always.
rules='include: none
lib/exact: lib/exact lib/api/kernel.h
lib/simd: lib/simd lib/exact
lib/apply: lib/apply lib/api lib/exact lib/simd
lib/api: lib/api lib/exact/round.h lib/apply/apply.h lib/simd/tiers.def impls/kernels.def
impls: impls impls/cr impls/rotation lib/api lib/apply lib/exact lib/simd
impls/cr: impls/cr impls/rotation lib/api lib/apply lib/exact lib/simd
impls/rotation: impls/rotation lib/api lib/exact lib/simd
impls/recipes: impls/recipes
impls/opencl: impls/opencl impls/cr lib/exact
impls/peers: impls/peers
impls/encodings: impls/encodings lib/api lib/apply lib/exact lib/simd
reference: reference
common: common
records: records common
inspect/files: inspect/files reference common
verify: verify inspect/models inspect/files reference records common
inspect/models: inspect/models inspect/files reference common
inspect/identify: inspect/identify inspect/models inspect/files reference records common
bench: bench reference records common
reports/page: reports/page records common
reports/model: reports/model reports/page records common
reports/sections: reports/sections reports/model reports/page records common
reports: reports reports/sections reports/model reports/page records common
tools: tools impls/cr lib/api records reports reports/sections reports/model reports/page common
cli: cli inspect/models verify inspect/identify inspect/files bench records reports reports/model reports/page impls/opencl/opencl.h impls/peers impls/recipes impls/cr/families.h common'

# Headers of the system that the library may include: libc with threads, advice on memory and the CPU's features; libm;
# and what the headers of tiers include, intrinsics.
system='cpuid.h float.h inttypes.h limits.h math.h pthread.h sched.h signal.h stdatomic.h stdbool.h'
system="$system stddef.h stdint.h stdio.h stdlib.h string.h sys/mman.h sys/auxv.h"
system="$system sys/platform/x86.h time.h unistd.h"

for tier in $(tier_names .); do
  system="$system $(sed -n 's/^#include <\(.*\)>.*/\1/p' lib/simd/$tier.h | tr '\n' ' ')"
done

sources() { # prints the sources in a folder, without those below it
  find "$1" -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 -name '*.cc' -o -maxdepth 1 -name '*.def'
}

# Prints "file:line: name" for every include in the files on standard input.
includes() {
  while IFS= read -r file; do
    sed -n '/^[[:space:]]*#[[:space:]]*include/{=;s/^[[:space:]]*#[[:space:]]*include[[:space:]]*//p;}' "$file" |
      while read -r line && read -r name; do echo "$file:$line: $name"; done
  done
}

# WORD LIST: whether it is one of the words
among() {
  case " $2 " in *" $1 "*) ;; *) false ;; esac
}

result() { # WHAT OFFENDERS
  if [ -z "$2" ]; then
    point ok "$1"
  else
    point 'not ok' "$1"
    printf '%s\n' "$2" | sed 's/^/# /'
  fi
}

while IFS=: read -r folder allowed; do
  bad=$([ -n "$(sources "$folder")" ] || echo "no sources in $folder"
  sources "$folder" | includes | while read -r where name; do
    case $name in
      '<'*) continue ;;
      '"posenc.h"'* | '"config.h"'*) continue ;;
    esac
    path=${name#\"} path=${path%%\"*}
    among "${path%/*}" "$allowed" || among "$path" "$allowed" || echo "$where $name"
  done)
  result "$folder includes from:$allowed" "$bad"
done <<EOF
$rules
EOF

# The rows of the table in doc/design.md are | `FOLDER` | what it holds | `FOLDER OR FILE` ... or – |.
pairs_of() { # of "FOLDER: NAME...", without what every folder may include
  awk -F: '{
    n = split($2, names, " ")
    gsub(/ /, "", $1)
    for (i = 1; i <= n; i++) if (names[i] != $1 && names[i] != "none") print $1 ": " names[i]
    if ($1 != "") print $1 ":"
  }' | sort
}
result 'doc/design.md has a row for each of these, and the same names' "$(
drawn=$(sed -n '/^| folder /,/^$/s/^| `\([^`]*\)` |.*| \([^|]*\) |$/\1: \2/p' doc/design.md | tr -d '`–' | pairs_of)
ruled=$(printf '%s\n' "$rules" | pairs_of)
{ printf '%s\n' "$drawn" | sed 's/^/only there: /'; printf '%s\n' "$ruled" | sed 's/^/only here: /'; } |
  sort -t : -k 2 | awk -F ': ' '{ key = $2 ": " $3 } key == last { last = ""; line = ""; next }
    { if (line != "") print line; last = key; line = $0 }
    END { if (line != "") print line }')"

folders='include lib impls reference common records verify inspect bench reports tools cli'
result 'every folder of sources has its row above' "$(for top in $folders; do
  find $top -name '*.[ch]' -o -name '*.cc'
done | sed 's|/[^/]*$||' | sort -u | while read -r folder; do
  printf '%s\n' "$rules" | grep -q "^$folder:" || echo "$folder"
done)"

library='lib/api lib/apply lib/exact lib/simd impls impls/cr impls/rotation impls/encodings'
result 'the library takes only libc, libm and intrinsics from the system' "$(for folder in $library; do
  sources $folder
done | includes | while read -r where name; do
  case $name in '<'*) ;; *) continue ;; esac
  path=${name#<}
  among "${path%%>*}" "$system" || echo "$where $name"
done)"

# A unit is NAME.c with NAME.h.
units() {
  find $folders -name '*.[ch]' |
    includes | sed -n 's/^\([^:]*\)\.[ch]:[0-9]*: "\([^"]*\)\.h".*/\1 \2/p' | awk '$1 != $2' | sort -u
}
result 'no two units include each other, nor by way of others' "$(units | tsort 2>&1 >/dev/null)"

rows=$(sed -n 's/^KERNEL(\([a-z0-9_]*\), *\([^,]*\),.*)$/\1 \2/p' impls/kernels.def)
result 'a row in kernels.def for every file in impls, and a contract for every row' "$([ -n "$rows" ] || echo 'no rows'
printf '%s\n' "$rows" | while read -r symbol file; do
  grep -q "^const posenc_kernel posenc_kernel_$symbol = {" "impls/$file" ||
    echo "impls/$file does not end with the contract of $symbol"
done
for file in impls/*.c $(grep -l '^const posenc_kernel posenc_kernel_' impls/cr/*.c impls/rotation/*.c); do
  printf '%s\n' "$rows" | grep -q " ${file#impls/}\$" || echo "$file has no row in kernels.def"
done)"

result 'no program and script of the tests have one log' "$(for script in tests/*.sh; do
  [ ! -e "${script%.sh}.c" ] || echo "$script"
done)"

timed=$(awk '/^(inner|outer) / { print $6 }' tests/seconds) listed=$(awk '
  /^(test_programs|test_scripts|outer_scripts) =/ { inside = 1 }
  inside { for (i = 1; i <= NF; i++) if ($i ~ /^tests\//) print $i }
  !/\\$/ { inside = 0 }' tests/Makefile.inc)
crossed=$(sed '/^#/d; s| .*|.sh|; s|^|tests/cross-|' tests/hosts.def)
result 'tests/seconds has a row for every test: .ci/run takes the outer ring from there' "$(
for test in $listed; do among "$test" "$(echo $timed)" || echo "no row for $test"; done
for test in $timed; do among "$test" "$(echo $listed $crossed)" || echo "no test $test"; done)"

result 'the weekly workflow runs every test of the outer ring' "$(
if [ -d .github ]; then
  outer=$(.ci/run outer)
  for test in $(awk '/^outer / { print $6 }' tests/seconds) $crossed; do
    name=${test#tests/}
    case $outer in '['*\""${name%.sh}"\"*']') ;; *) echo "$test" ;; esac
  done
  grep -q 'names=$(.ci/run outer)' .github/workflows/machines.yml || echo "machines.yml has another list"
fi)"

result 'a list of the build files has every header, so that releases have it too' "$(
listed=$(cat Makefile.am */Makefile.inc */*/Makefile.inc lib/tiers.am | tr -s '[:space:]' '\n')
find $folders tests -name '*.h' -o -name '*.def' | grep -v -x -F -e "$listed")"

# Names that files of several folders have, of one idea each (doc/design.md). Of instruction sets: the tiers.
shared='answer apply axes bench compare cr encodings front history identify machines merge model portable record report'
shared="$shared rope shapes stages timings vectors verify $(
tier_names . | tr '\n' ' ')"
result 'no other files of two folders have one name' "$(
find $folders -name '*.[ch]' | sed 's|/\([^/]*\)\.[ch]$| \1|' | sort -u | awk '{ print $2 }' | sort | uniq -d |
while read -r name; do among "$name" "$shared" || find $folders -name "$name.[ch]"; done)"

result 'lines have at most 120 columns' "$(
find $folders tests python packaging examples \( -name '*.[ch]' -o -name '*.cc' -o -name '*.def' -o -name '*.py' \
  -o -name Makefile.inc \) -exec env LC_ALL=C.UTF-8 grep -Hn '.\{121\}' {} + | cut -d : -f 1,2)"

# Prints FILE:LINE of each ?: in an operand of another. At each depth of brackets, own tells that the expression there
# has had a ?, inner that brackets in it have had one; a comma, an assignment or the end of a statement begins another.
# The condition of a statement is no operand.
nested='
function begin() { own[depth] = inner[depth] = 0 }
function question(at) {
  for (at = 0; at <= depth && !own[at]; at++) continue
  if (at <= depth || inner[depth]) print FILENAME ":" FNR
  own[depth] = 1
}
function open(is_head) {
  head[++depth] = is_head
  begin()
}
function close_one(had) {
  had = (own[depth] || inner[depth]) && !head[depth]
  if (depth) depth--
  if (had) inner[depth] = 1
}
FNR == 1 { in_comment = in_macro = depth = 0; begin() }
/^[ \t]*#/ { in_macro = 1; depth = 0; begin() }
{
  for (rest = $0; rest != "";) {
    if (in_comment && !(end = index(rest, "*/"))) break
    if (in_comment) rest = substr(rest, end + 2)
    in_comment = 0
    if (!match(rest, /\/\*|\/\/|"([^"\\]|\\.)*"|\047([^\047\\]|\\.)+\047|[A-Za-z_0-9]+|[=<>!]=|[^ \t]/)) break
    token = substr(rest, RSTART, RLENGTH)
    rest = substr(rest, RSTART + RLENGTH)
    if (token == "//") break
    in_comment = token == "/*"
    if (token == "?") question()
    if (token ~ /^[([{]$/) open(before ~ /^(if|for|while|switch)$/)
    if (token ~ /^[])}]$/) close_one()
    if (token ~ /^[,;}]$/ || (token == "=" && !own[depth])) begin()
    before = token
  }
}
in_macro && !/\\$/ { in_macro = depth = 0; begin() }'
result 'a ?: in an operand of another is found, over lines, in brackets and in macros' "$(
found=$(awk "$nested" - <<'C' | cut -d : -f 2 | tr '\n' ' '
int a = b ? c : d ? e : f;
int g = b ? f(c ?
                d : e) : h; /* ? : */
int i = (b ? c : d) ? e : f, j = b ? c : d, k = f(b ? "?" : "b", c ? '?' : d);
#define M(a, b) a ? b : \
  (b ? a : 1)
if (b ? c : d) a = b ? c : d;
x[b ? c : d] = b ? c : d;
int l[] = {b ? c : d, b ? c : d};
C
)
[ "$found" = '1 2 4 6 ' ] || echo "in lines $found")"
result 'no ?: is in an operand of another' "$(find $folders tests python examples \( -name '*.[ch]' -o -name '*.cc' \
  -o -name '*.def' -o -name '*.cl' \) -exec awk "$nested" {} +)"

plan
exit $tap_failed
