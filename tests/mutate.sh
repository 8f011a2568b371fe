#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the mutations of tests/mutations/ for "make mutation", one at a time, in a copy of the tree in ./mutation, and
# runs their tests until one fails. Before that, it says which do not apply, and ends if one does not. Results are kept
# in ./mutation/results: a mutation is tried again if its row, the function that it changes or one of its tests has
# changed. Prints a table by area at the end, also in ./mutation/table.md. Exits with status 1 if a mutation does not
# apply or does not build, or survives and is not marked open, or if a test fails without a mutation. MUTATIONS has
# names or patterns of the mutations, all by default. JOBS is that of make. GENERATED=N tries others instead: N that
# universalmutator makes of functions that have changed since the commit SINCE, in ./mutation/generated.txt. Those that
# do not build are no fault, as it changes characters without knowing C.
unset MAKEFLAGS MFLAGS # an inner make would take characters of descriptor 3, the list, for its caller's jobs
: "${srcdir:?make sets it}" "${AWK:=awk}" "${PYTHON:=python3}" "${MAKE:=make}" "${CC:=cc}" "${CXX:=c++}" "${JOBS:=2}"
source=$(cd "$srcdir" && pwd) || exit 99
mkdir -p mutation && cd mutation || exit 99
top=$PWD tree=$PWD/tree build=$PWD/build
mkdir -p tree build
touch results tests
say() { printf '%s\n' "$*"; }
stop() { say "mutation: $*" >&2; exit 1; }
mutation() { "$PYTHON" "$source/tests/mutation.py" "$@"; } # see there
made() { "$MAKE" -C "$build" -j"$JOBS" "$@" >"$top/make.log" 2>&1; }
digest() { cat "$@" | cksum | tr ' ' -; }

if [ "${GENERATED-}" ]; then
  command -v mutate >/dev/null || stop 'GENERATED takes universalmutator, a package of PyPI, in PATH'
  mutation generate "$GENERATED" "${SINCE:-HEAD~1}" >generated.new || stop 'nothing was generated'
  mv generated.new generated.txt
  MUTATION_TABLES=$top/generated.txt
  export MUTATION_TABLES
fi
set -f
# shellcheck disable=SC2086 # patterns, for mutation.py
mutation list ${MUTATIONS-} >chosen || { cat chosen; stop 'nothing was run'; }
set +f

# ---- a built copy of the tree: only files that differ are copied, so that make rebuilds no others ----

copy() { # FILE
  mkdir -p "$tree/$(dirname "$1")" && cp -p "$source/$1" "$tree/$1" && touch "$tree/$1"
}
put_back() { # restores the file that a mutation has changed
  [ ! -e "$top/changed" ] || { copy "$(cat "$top/changed")" && rm "$top/changed"; }
}
put_back || stop 'a file that was changed cannot be put back'
git -C "$source" ls-files --cached --others --exclude-standard >files || stop 'it takes a git work tree'
while read -r file; do
  [ ! -f "$source/$file" ] || cmp -s "$source/$file" "tree/$file" || copy "$file" || stop "cannot copy $file"
done <files
[ -e tree/configure ] || (cd tree && autoreconf -fi) >make.log 2>&1 || stop "autoreconf fails: see $top/make.log"
[ -e build/Makefile ] ||
  (cd build && ../tree/configure CC="$CC" CXX="$CXX" CFLAGS=-O2 CXXFLAGS=-O1) >make.log 2>&1 ||
  stop "configure fails: see $top/make.log"
{ made all && made for-scripts; } || stop "the tree does not build: see $top/make.log"

# ---- tests ----

runs() { # TEST SECONDS: 0 if it passes, 2 if it cannot be built, 124 if it takes longer; leaves its log
  if [ -e "$tree/$1.c" ]; then made "$1" || return 2; else { made all && made for-scripts; } || return 2; fi
  rm -f "$build/$1.log" "$build/$1.trs" ended
  (
    timeout -k 9 "$2" "$MAKE" -C "$build" "$1.log" >"$top/make.log" 2>&1 &
    echo $! >pid
    wait $!
    echo $? >ended
  ) 2>"$top/shell.log" &
  until [ -s ended ]; do # the first failure is enough
    sleep 0.2
    ! grep -q -s '^not ok' "$build/$1.log" || kill -s KILL -- "-$(cat pid)" 2>/dev/null # timeout leads a group
  done
  wait
  [ "$(cat ended)" -eq 0 ] || return "$(cat ended)"
  grep -q '^:global-test-result: \(PASS\|SKIP\)' "$build/$1.trs"
}

# Finds the seconds that a test took without a mutation, with the current sources and test.
sources=$(cd "$source" && grep -E -v '^(tests|doc|reports/published)/' "$top/files" | xargs cat | cksum | tr ' ' -)
seconds_of() { sed -n "s|^$1 $sources $(digest "$source/$1".[cps]*) ||p" tests; }
try_test() { # TEST
  [ -z "$(seconds_of "$1")" ] || return 0
  begun=$(date +%s)
  runs "$1" 900 || stop "$1 fails without a mutation: see $build/$1.log"
  took=$(($(date +%s) - begun))
  echo "$1 $sources $(digest "$source/$1".[cps]*) $took" >>tests
  say "$1 passes without a mutation, in $took s"
}

# ---- mutations ----

trap put_back EXIT
trap 'exit 99' INT TERM

verdict_of() { # TEST...: prints killed or survived, for the current tree
  for test; do
    runs "$test" $(($(seconds_of "$test") * 3 + 60))
    case $? in
    0) continue ;;
    2) echo "does-not-build see $test"; return ;;
    124) echo "killed by $test: it hangs"; return ;;
    esac
    grep -m 1 '^not ok' "$build/$test.log" | sed 's/^not ok [0-9]* *-* *//' | cut -c1-120 >why
    echo "killed by $test: $([ -s why ] && cat why || echo 'it ends without its plan')"
    return
  done
  echo survived
}

try() { # NAME FILE EXPECTED KEY TEST...
  name=$1 file=$2 expected=$3 key=$4
  shift 4
  case $expected in
  equivalent) return ;;
  needs:*) grep -q -w "${expected#needs:}" /proc/cpuinfo || return ;;
  esac
  ! grep -q "^$name $key " results || return
  for test; do try_test "$test"; done
  if mutation apply "$name" >changed.source; then
    echo "$file" >changed
    cp changed.source "$tree/$file"
    verdict=$(verdict_of "$@")
    put_back
  else
    verdict=does-not-apply
  fi
  sed "\\|^$name |d" results >results.new && echo "$name $key $verdict" >>results.new && mv results.new results
  say "$name: $verdict"
}

# Tests must not read the list from standard input.
while read -r name file expected key tests <&3; do
  # shellcheck disable=SC2046 # words
  try "$name" "$file" "$expected" "$key" $(echo "$tests" | tr , ' ') </dev/null
done 3<chosen

# ---- summary ----

rm -f left
# shellcheck disable=SC2016 # awk's variables
"$AWK" '
  FILENAME == "results" { result[$1] = $3; next }
  {
    area = $1
    sub(/\/.*/, "", area)
    if (!(area in rows)) order[++areas] = area
    rows[area]++
    got = $3 == "equivalent" ? $3 : $1 in result ? result[$1] : "not-run"
    if ($3 == "open" && got == "survived") got = $3
    if (area == "generated" && got == "does-not-build") got = "not-run"
    if (got !~ /^(killed|equivalent|open|not-run)$/) {
      print $1 ": " got >"left"
      got = "survived"
      status = 1
    }
    count[area, got]++
    count["all", got]++
  }
  function line(area, rows) {
    printf "| %s | %d | %d | %d | %d | %d | %d |\n", area, rows, count[area, "killed"], count[area, "equivalent"],
      count[area, "survived"], count[area, "open"], count[area, "not-run"]
  }
  END {
    print "| area | mutations | killed | equivalent | survived | open | not run here |"
    print "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for (n = 1; n <= areas; n++) {
      line(order[n], rows[order[n]])
      total += rows[order[n]]
    }
    line("all", total)
    killed = count["all", "killed"]
    tried = killed + count["all", "survived"]
    if (tried)
      printf "\nKilled: %.1f %% of those that ran and are not equivalent; counting the open ones, %.1f %%.\n",
        100 * killed / tried, 100 * killed / (tried + count["all", "open"])
    exit status
  }' results chosen >table.md
status=$?
cat table.md
[ ! -e left ] || cat left
exit $status
