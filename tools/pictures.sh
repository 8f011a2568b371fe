#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes sinusoids.md with newly computed figures, and its pictures in sinusoids/, in a folder. "make pictures" runs it
# in the build folder, for $srcdir/doc; tests/sinusoids.sh runs it and compares its output with $srcdir/doc.
#
#     pictures.sh FOLDER
set -eu
: "${srcdir:=.}"
folder=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
./posenc-sinusoids data >"$work/script"
./posenc-sinusoids text >"$work/text"
echo >>"$work/text"
awk -v mark=computed -v text="$work/text" -f "$srcdir/tools/insert.awk" "$srcdir/doc/sinusoids.md" >"$work/sinusoids.md"
cat "$srcdir/tools/sinusoids.gp" >>"$work/script"
mkdir -p "$folder/sinusoids"
gnuplot -d -e "folder='$work'" "$work/script"
for picture in "$work"/*.svg; do # attributes with their default values are removed
  sed 's/ stroke-linecap="butt" stroke-linejoin="miter"//' "$picture" >"$folder/sinusoids/${picture##*/}"
done
mv "$work/sinusoids.md" "$folder/sinusoids.md"
