#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures everything on this machine, publishes the report in reports/published/ of the source, and puts its figures into README.md. Run by
# "make publish" in the build folder; $srcdir: the source folder. All of it appears at the end, or nothing does. $PUBLISH_OPTIONS: other
# options of posenc report, to try it in a minute.
set -eu
: "${srcdir:=.}" "${PUBLISH_OPTIONS:=}"
published=$srcdir/reports/published
trap 'rm -rf "$published.new" "$srcdir/README.new"' EXIT
trap 'exit 130' INT TERM

rm -rf "$published.new"
if [ -n "$PUBLISH_OPTIONS" ]; then
  # shellcheck disable=SC2086 # options
  set -- $PUBLISH_OPTIONS
else
  set -- --full
  for cases in "$srcdir"/reference/worst/*.wc; do set -- "$@" --cases "$cases"; done
fi
./posenc report "$@" -o "$published.new"
./posenc-published "$published.new" >"$published.new/section"
awk -v section="$published.new/section" '
  /^<!-- published: end -->$/ { inside = 0 }
  !inside { print }
  /^<!-- published: begin/ {
    print ""
    while ((getline line < section) > 0) print line
    inside = 1
    places++
  }
  END { exit places != 1 || inside }' "$srcdir/README.md" >"$srcdir/README.new" || {
  echo 'publish: README.md lacks its marks: <!-- published: begin … -->, <!-- published: end -->' >&2
  exit 2
}
rm "$published.new/section"

rm -rf "$published.old"
[ ! -e "$published" ] || mv "$published" "$published.old"
mv "$published.new" "$published"
mv "$srcdir/README.new" "$srcdir/README.md"
rm -rf "$published.old"
echo "$published/index.html"
