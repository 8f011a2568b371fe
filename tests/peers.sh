#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the table of packages, tools/peers.py and peers.txt, without any of them: the pins are well-formed, and each row
# names a recipe and a problem that posenc writes.
. "${srcdir:-.}/tests/command.sh"
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  skip 'the rows of tools/peers.py' 'no Python 3.10'
  plan
  exit
fi
peers() { # SOURCE-FOLDER ARGUMENT...
  folder=$1
  shift
  PYTHONDONTWRITEBYTECODE=1 "$python" "$folder/tools/peers.py" "$@" >out 2>err
}

check 'the rows are listed' peers "$root" rows
cp out rows
check 'of 20 functions and more' test "$(cut -f 2 rows | sort -u | wc -l)" -ge 20
check 'of 10 packages and more' test "$(cut -f 1 rows | sort -u | wc -l)" -ge 10
posenc list --format names
cp out names
while IFS="$(printf '\t')" read -r package function dtype recipe problem; do
  [ "$recipe" != none ] || continue
  check "$package, $function, $dtype: recipe/$recipe is there" grep -qx "recipe/$recipe" names
  case $problem in *--grid*) rows='' ;; *) rows='--len 4' ;; esac
  # shellcheck disable=SC2086 # lists of words
  check "and writes its problem" ends 0 write --layout split $problem $rows --kernel "recipe/$recipe" -o x.npy
done <rows

check 'the pins can be read' peers "$root" pins
check 'each row is of a package that is pinned' test -z "$(cut -f 1 rows | sort -u | grep -vxF -f out)"
check 'all packages that are wanted are pinned' lacks err wanted
mkdir -p wrong/tools
cp "$root/tools/peers.py" wrong/tools
sed 's/^\(torch==.* --hash=sha256:\)..../\1/' "$root/tools/peers.txt" >wrong/tools/peers.txt
peers wrong pins
check 'a hash that is cut off is refused' contains err 'neither a comment nor a pinned package: torch=='
sed '/^torch==/d' "$root/tools/peers.txt" >wrong/tools/peers.txt
peers wrong pins
check 'and a package that is wanted, but has no pin' contains err 'wanted, but not pinned: torch'
plan
exit "$tap_failed"
