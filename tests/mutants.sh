#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that every mutant is caught, by the properties that tests/mutants/expected lists for it.
# It takes more than a minute: some 240 exams, each of a kernel in processes of its own.
# shellcheck disable=SC2086,SC2154 # options are lists of words; the environment comes from make
. "${srcdir:-.}/tests/tap.sh"
table=$srcdir/tests/mutants/expected modules=$abs_top_builddir/tests/mutants
set --
for name in values memory state survival ties apply places calls constants surroundings slices parameters \
  ordinary-rows ordinary-slices; do
  [ -e "$modules/$name.so" ] || skip_all 'no shared objects in this build'
  set -- "$@" --plugin "$modules/$name.so"
done
export ASAN_OPTIONS="$ASAN_OPTIONS:log_path=stderr" # what mutants do is no fault of posenc's
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
# Prints the properties that failed according to the TAP on standard input, one per line.
broken() { sed -n "s/^not ok [0-9]* - $1 \([a-z-]*\) .*/\1/p" | sort; }

# Whether the failed properties in a file are those of the list, with or without those that have a ?.
as_expected() { # FILE LIST
  echo "$2" | tr , '\n' >"$1.expected"
  grep -v -e '^?' -e '^nothing$' "$1.expected" | sort >"$1.required"
  { tr -d '?' <"$1.expected" && echo domain; } | sort >"$1.allowed"
  [ -z "$(comm -23 "$1.required" "$1")" ] && [ -z "$(comm -13 "$1.allowed" "$1")" ]
}

verify() { # NUMBER KERNEL BROKEN OPTIONS
  run=$work/$1 kernel=$2 list=$3 options=$4
  plugin=$(sed -n "s|^$kernel ||p" "$work/plugins") # one, as fifteen take longer to load than some exams
  # On a busy machine, threads may not meet in a call.
  case $list in *threads*) tries=3 ;; *) tries=1 ;; esac
  # There is no search unless a line requests it: it would also find every fault that is in all tables.
  case $options in *--search* | *--cases*) ;; *) options="$options --search 0" ;; esac
  # An emulator beside other work takes longer than a minute between signs of life.
  ! emulated || options="--time-limit 600 $options"
  status=0
  while [ $status -eq 0 ] && [ $((tries -= 1)) -ge 0 ]; do
    "$POSENC" verify --plugin "$plugin" --kernel "$kernel" $options >"$run.tap" 2>"$run.err" </dev/null
    status=$?
  done
  echo $status >"$run.status"
}

hidden=
sanitized && hidden=yes # a sanitizer hides some faults
judge() { # NUMBER KERNEL BROKEN OPTIONS
  run=$work/$1 kernel=$2 list=$3 options=$4
  status=$(cat "$run.status")
  if [ "$status" -eq 2 ] && grep -q 'is one of x86$' "$run.err"; then
    skip "$kernel" 'it is one of x86'
    return
  fi
  broken "$kernel" <"$run.tap" >"$run.broken"
  if emulated; then
    # These break after more or larger calls than an emulator does in verify's fractions of a second.
    case $kernel in
    huge-call | rows-of-16-bits | worn-out | prepare-maps | execute-maps | large-call-loses)
      skip "$kernel" 'it takes more calls than an emulator does in the time'
      return
      ;;
    esac
    without_emulator "$run.err"
  fi
  if [ -n "$hidden" ]; then
    case $kernel,$list, in
    *,read-only,* | *,leak,* | cache-by-address,*)
      skip "$kernel" 'a sanitizer has an allocator of its own, which hides it'
      return
      ;;
    *,memory,*) list=?survival,$(echo "$list" | sed 's/memory/?memory/') ;; # it may end the process first
    esac
  fi
  # A sanitizer may also report the fault that ends a process.
  case $list in *survival*) : >"$run.err" ;; esac
  want=1
  [ "$list" = nothing ] && want=0
  if [ "$status" -eq $want ] && [ ! -s "$run.err" ] && as_expected "$run.broken" "$list"; then
    point ok "$kernel breaks $list: $options"
  else
    cat "$run.tap" "$run.err" | sed 's/^/# /'
    point 'not ok' "$kernel breaks $list: $options (status $status; found: $(paste -sd, "$run.broken"))"
  fi
}

grep -v -e '^#' -e '^$' "$table" | sed "s|WORST|$srcdir/reference/worst|g" >"$work/all"
while read -r row; do is_left_out || echo "$row"; done <"$work/all" >"$work/table"

"$POSENC" list --format names >"$work/own"
while [ $# -gt 0 ]; do # a plugin lists after posenc's own kernels
  "$POSENC" list --format names "$1" "$2" | grep -vxFf "$work/own" | sed "s|\$| $2|"
  shift 2
done >"$work/plugins"

# Two lines run at a time, as most of a line is one thread's work.
verify_every_second() { # REMAINDER
  line=0
  while read -r kernel list options; do
    line=$((line + 1))
    [ $((line % 2)) -ne "$1" ] || verify "$line" "$kernel" "$list" "$options"
  done <"$work/table"
}
verify_every_second 0 &
verify_every_second 1
wait
line=0
while read -r kernel list options; do
  line=$((line + 1))
  judge "$line" "$kernel" "$list" "$options"
done <"$work/table"

# Every mutant has a line, here or in the table of share.sh, and every line a mutant.
sed 's/ .*//' "$work/plugins" | sort >"$work/mutants"
{ sed 's/ .*//' "$work/all" && sed -e /^#/d -e 's/:.*//' "$srcdir/tests/mutants/share"; } | sort -u >"$work/told"
if cmp "$work/mutants" "$work/told" >/dev/null; then
  point ok "$(wc -l <"$work/mutants") kernels in the plugins, each with its line"
else
  diff "$work/mutants" "$work/told" | sed 's/^/# /'
  point 'not ok' 'mutants and lines of the table are not the same'
fi
plan
