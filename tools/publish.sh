#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures everything on this machine, publishes the report in reports/published/ of the source folder, and puts its
# figures into README.md. "make publish" runs it in the build folder. The files are replaced at the end, all together;
# if that fails, the measurements stay in reports/published.new/. Variables of the environment:
#   srcdir           the source folder
#   PUBLISH_OPTIONS  other options of posenc report, for a trial that takes a minute
#   PUBLISH_FROM     a folder with the records of an earlier report, from which the page is made again
#   PUBLISH_SECONDS  how long it may measure: then memory that is in use alone, and as many shapes as fit, the reference
#                    table first; without it all, which took ten minutes on two cores of Zen 5
#   PUBLISH_LABEL    the machine's name beside others; its CPU's without it
#   PUBLISH_PACKAGES    peers-times.json of make time-peers, for the packages beside posenc; those of before without it
#   PUBLISH_MOST     the percentage of the processors' time that other processes may use
set -eu
export LC_ALL=C # mawk reads numbers as the locale writes them
: "${srcdir:=.}" "${PUBLISH_OPTIONS:=}" "${PUBLISH_FROM:=}" "${PUBLISH_MOST:=5}" \
  "${PUBLISH_SECONDS:=}" "${PUBLISH_LABEL:=}" "${PUBLISH_PACKAGES:=}"
published=$srcdir/reports/published
new=$published.new old=$published.old section=$published.section readme=$srcdir/README.new

fail() { # WHY
  echo "publish: $1" >&2
  exit 2
}

readme_with() { # SECTION
  awk -v mark=published -v text="$1" -f "${0%/*}/insert.awk" "$srcdir/README.md" ||
    fail 'README.md lacks its marks: <!-- published: begin … -->, <!-- published: end -->'
}

# Prints the used percentage of all processors' time in the next second; nothing if the system has no /proc/stat.
used_now() {
  { head -n 1 /proc/stat && sleep 1 && head -n 1 /proc/stat; } 2>/dev/null | awk '
    { used = $2 + $3 + $4 + $7 + $8 + $9; all = used + $5 + $6 }
    NR == 2 && all > all_before { printf "%.0f", 100 * (used - before) / (all - all_before) }
    { before = used; all_before = all }'
}

# Prints the percentage of all processors' time that other processes used during the timings of a record.
used_by_others() {
  grep -o '"others": *[0-9][0-9.e-]*' "$1" | awk -F : '{ printf "%.0f", 100 * $2; exit }'
}

require_quiet() { # PERCENTAGE WHEN
  [ -n "$1" ] || fail 'the system does not tell what other processes use'
  [ "$1" -le "$PUBLISH_MOST" ] || fail "other processes used $1 % of the processors $2 the timings"
}

begun=$(date +%s)
# These checks come first, because measuring takes minutes.
readme_with /dev/null >/dev/null
if [ -n "$PUBLISH_OPTIONS" ]; then
  # shellcheck disable=SC2086 # options
  set -- $PUBLISH_OPTIONS
elif [ -n "$PUBLISH_FROM" ]; then
  set -- --from "$PUBLISH_FROM/accuracy.json" --from "$PUBLISH_FROM/bench.json"
else
  commit=$(./posenc verify --kernel naive --len 1 --dim 2 --format json | sed -n 's/.*"commit": *"\([^"]*\)".*/\1/p')
  case $commit in
  '') fail 'posenc does not tell its commit' ;;
  *modified*) fail "posenc is of modified sources: $commit; commit them first, as figures are of a commit" ;;
  esac
  require_quiet "$(used_now)" before
  set --
  for cases in "$srcdir"/reference/worst/*.wc; do
    case $cases in *f16.wc) ;; *) set -- "$@" --cases "$cases" ;; esac # the page has the cases of f32
  done
  [ -z "$PUBLISH_SECONDS" ] || set -- "$@" --budget "${PUBLISH_SECONDS}s"
fi

# Other machines and packages stand beside this one, from the report of before.
[ -z "$PUBLISH_LABEL" ] || set -- "$@" --label "$PUBLISH_LABEL"
[ -z "$PUBLISH_PACKAGES" ] || set -- "$@" --packages "$PUBLISH_PACKAGES"
[ -e "$published" ] || [ ! -e "$old" ] || mv "$old" "$published" # left by a run that was killed
[ ! -e "$published/report.json" ] || set -- "$@" --beside "$published/report.json"

trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT TERM HUP
rm -rf "$new" "$old"
status=0
./posenc report "$@" -o "$new" || status=$?
[ $status -le 1 ] || exit $status
trap 'rm -f "$section" "$readme"; [ ! -e "$new" ] || echo "publish: not published, but kept: $new" >&2' EXIT
[ $status -eq 0 ] || {
  echo 'publish: the page tells of a broken promise' >&2
  exit 1
}
[ -n "$PUBLISH_OPTIONS" ] || require_quiet "$(used_by_others "$new/bench.json")" during
# Commands on the page name files of the top folder, and no folder of this machine.
name_in() { # FOLDER WITH: files of the folder are named with this before their names instead
  find "$new" -type f -exec sed -i "s|$(printf '%s' "$1" | sed 's/[]\.*^$|[]/\\&/g')/|$2|g" {} +
}
case $srcdir in /*) name_in "$srcdir" ./ ;; esac
case $PUBLISH_FROM in /*) name_in "$PUBLISH_FROM" '' ;; esac
sed -i '/^## Files$/,/^## /{/^## Files$/d;/^## /!d}' "$new/report.md" # they are in no repository
./posenc-published --brief "$new" || exit
./posenc-published "$new" >"$section"
rm -f "$new/accuracy.json" "$new/bench.json" # large, and the page does not need them
readme_with "$section" >"$readme"

# Signals are ignored from here on, so that either all files are replaced or none.
trap '' INT TERM HUP
put_back() {
  [ ! -e "$old" ] || mv "$old" "$published"
  fail 'cannot put the report in its place'
}
[ ! -e "$published" ] || mv "$published" "$old" || fail 'cannot put the old report aside'
mv "$new" "$published" || put_back
mv "$readme" "$srcdir/README.md" || {
  mv "$published" "$new"
  put_back
}
rm -rf "$old"
echo "$published/index.html, after $(($(date +%s) - begun)) s"
