#!/bin/sh
# SPDX-License-Identifier: MIT
# Every mutant is caught, and for what it does: tests/mutants/expected says by which properties.
# shellcheck disable=SC2086,SC2154 # options are lists of words; the environment comes from make
. "${srcdir:-.}/tests/tap.sh"
table=$srcdir/tests/mutants/expected modules=$abs_top_builddir/tests/mutants/.libs
set --
for name in values memory state survival ties apply; do
  [ -e "$modules/$name.so" ] || { echo '1..0 # SKIP no shared objects in this build'; exit 0; }
  set -- "$@" --plugin "$modules/$name.so"
done
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
# Properties that the TAP on standard input says are broken, one to a line.
broken() { sed -n "s/^not ok [0-9]* - $1 \([a-z-]*\) .*/\1/p" | sort; }

# Whether the broken properties in a file are those of the list, with or without the ones that have a ?.
as_expected() { # FILE LIST
  echo "$2" | tr , '\n' >"$work/expected"
  grep -v -e '^?' -e '^nothing$' "$work/expected" | sort >"$work/required"
  tr -d '?' <"$work/expected" | sort >"$work/allowed"
  [ -z "$(comm -23 "$work/required" "$1")" ] && [ -z "$(comm -13 "$work/allowed" "$1")" ]
}

verify() { # KERNEL BROKEN OPTIONS PLUGIN-OPTION...
  kernel=$1 list=$2 options=$3
  shift 3
  # What is wrong in every table, a search finds too: it is made only where a line says so.
  case $options in *--search* | *--cases*) ;; *) options="$options --search 0" ;; esac
  "$POSENC" verify "$@" --kernel "$kernel" $options >"$work/tap" 2>"$work/err"
  status=$?
  if [ $status -eq 2 ] && grep -q 'is one of x86$' "$work/err"; then
    skip "$kernel" 'it is one of x86'
    return
  fi
  broken "$kernel" <"$work/tap" >"$work/broken"
  # What dies of a fault may be reported by a sanitizer as well.
  case $list in *survival*) : >"$work/err" ;; esac
  want=1
  [ "$list" = nothing ] && want=0
  if [ $status -eq $want ] && [ ! -s "$work/err" ] && as_expected "$work/broken" "$list"; then
    point ok "$kernel breaks $list: $options"
  else
    cat "$work/tap" "$work/err" | sed 's/^/# /'
    point 'not ok' "$kernel breaks $list: $options (status $status; found: $(paste -sd, "$work/broken"))"
  fi
}

grep -v -e '^#' -e '^$' "$table" | sed "s|WORST|$srcdir/reference/worst|g" >"$work/table"
while read -r kernel list options; do
  verify "$kernel" "$list" "$options" "$@"
done <"$work/table"

# No mutant without a line, no line without a mutant.
"$POSENC" list --names >"$work/own"
"$POSENC" list --names "$@" | grep -vxFf "$work/own" | sort >"$work/mutants"
sed 's/ .*//' "$work/table" | sort -u >"$work/told"
if cmp "$work/mutants" "$work/told" >/dev/null; then
  point ok "$(wc -l <"$work/mutants") kernels in the plugins, each with its line"
else
  diff "$work/mutants" "$work/told" | sed 's/^/# /'
  point 'not ok' 'mutants and lines of the table are not the same'
fi
plan
