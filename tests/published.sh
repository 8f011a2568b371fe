#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that the figures in README.md are those of reports/published/, and not typed by hand.
. "${srcdir:-.}/tests/command.sh"
srcdir=$root
published=${POSENC%/*}/posenc-published
[ -x "$published" ] || { echo "Bail out! no $published"; exit 1; }
diagnose() { head -n 20 out err | sed 's/^/# /'; }

folder=$srcdir/reports/published
for file in report.md report.json bars.svg recipes.svg; do
  check "$file is published" test -s "$folder/$file"
  check "$file has less than 300 KB" test "$(wc -c <"$folder/$file")" -lt 300000
done
links_lead() { # to files that are there
  for link in $(grep -o '](\([^)#:]*\))' "$folder/report.md" | tr -d '()]'); do
    [ -e "$folder/$link" ] || return 1
  done
}
check 'the text names no file that is not there' links_lead
if [ ! -e "$srcdir/.git" ]; then skip 'git has no more of it' 'no checkout'; else
  check 'git has no more of it' test "$(git -C "$srcdir" ls-files reports/published | wc -l)" -eq 4
fi

"$published" "$folder" >section 2>err
check 'a section is made of them' test $? -eq 0
sed -n '/^<!-- published: begin/,/^<!-- published: end/p' "$srcdir/README.md" | sed '1,2d; $d' >shown
same() { diff section shown >out; }
check 'and is what README.md shows' same
check 'machines side by side, each with its date' \
  grep -q '^| table | .*, 20[0-9-]* | .*, 20[0-9-]* | .*, 20[0-9-]* |$' section
check 'five rows of processors and one of a GPU, each with share, time, error and kernel' \
  test "$(grep -c '^| [a-z].*% of the limit, [^,]*s[^,]*, \(correctly rounded\|error [0-9.e-]*\): `' section)" -eq 6
check 'packages with their versions' grep -q '^| torch [0-9.]* | table 5000x512 .* \*\*.* times\*\* (.*–.*) |$' section
tr -d '\n' <"$folder/report.json" | sed 's/{ *"label"/\n&/g' | grep '"source"' >unrecorded
sources() { # figures without a record stand in the document that is named
  while read -r machine; do
    document=$(echo "$machine" | sed 's/.*"source": "\([^"]*\)".*/\1/')
    elements=$(echo "$machine" | sed 's/.*"use": "device",[^}]*"rows": \([0-9]*\), *"dim": \([0-9]*\).*/\1 * \2/')
    nanoseconds=$(echo "$machine" | sed 's/.*"use": "device",[^}]*"median": \([0-9.e-]*\).*/\1/')
    told=$(awk "BEGIN { printf \"%.0f\", $nanoseconds * $elements / 1000 }")
    grep -q "| $told | " "$srcdir/$document" || return 1
  done <unrecorded
}
check 'figures without a record are those of their document' eval '[ -s unrecorded ] && sources'
figures_shown() { # prints those in README.md, which are files
  for figure in $(sed -n 's/^!\[.*\](\(.*\))$/\1/p' "$srcdir/README.md"); do
    [ -s "$srcdir/$figure" ] || return 1
  done
}
check 'figures of README.md are there' figures_shown

# Runs the steps of make publish before and after the measurements, in a source folder of its own, with a fake posenc
# that writes a ready report.
mkdir -p source/reports build
cp "$srcdir/README.md" source
ln -s "$published" build/posenc-published
cat >build/posenc <<'END'
#!/bin/sh
[ "$1" = report ] || { echo "{\"environment\": {\"commit\": \"$commit\"}}"; exit; }
asked=$*
echo "$asked" >>"$known/asked"
while [ "$1" != -o ]; do shift; done
echo "$2" >>"$known/measured"
mkdir "$2" && cp "$known"/report.json "$2" && echo "$asked" >"$2/index.html" || exit
printf '# A\n\n## Files\n\n[page](index.html)\n\n## B\n' >"$2/report.md"
echo x >"$2/accuracy.json" && echo "{\"context\":{\"others\":$others}}" >"$2/bench.json" || exit
echo "$2/index.html" && exit "$promises"
END
mkdir bin
cat >bin/mv <<'END'
#!/bin/sh
case $1 in "$stuck") exit 1 ;; esac
PATH=${PATH#*:}
exec mv "$@"
END
chmod +x build/posenc bin/mv
known=$work/known commit=0123456789ab promises=0 stuck= others=0.012 PUBLISH_MOST=100
export known commit promises stuck others PUBLISH_MOST
publish() { (cd build && PATH=$work/bin:$PATH srcdir=../source sh "$srcdir/tools/publish.sh") >out 2>err; }
mkdir known
sed 's/"commit": "[^"]*"/"commit": "0123456789ab"/g' "$folder/report.json" >known/report.json
PUBLISH_MOST=-1
check 'on a busy machine nothing is measured' \
  eval '! publish && grep -q "^publish: other processes used [0-9]* % of the processors before" err &&
    [ ! -e known/measured ]'
PUBLISH_MOST=100 others=1.5
check 'what was measured beside other work is not published' \
  eval '! publish && grep -q "^publish: other processes used 150 % of the processors during the timings$" err'
others=
check 'nor where nobody knows' eval '! publish && grep -q "does not tell" err && [ ! -e source/reports/published ]'
rm -rf source/reports/published.new known/measured
others=0.012
PUBLISH_SECONDS=300
export PUBLISH_SECONDS
check 'another report is published' publish
unset PUBLISH_SECONDS
check 'with how long it took' grep -qx '../source/reports/published/index.html, after [0-9]* s' out
check 'within a time, if one is given' grep -q -- '--cases .* --budget 300s -o' known/asked
check 'without the records that it was made from' \
  test "$(cd source/reports/published && echo *)" = 'index.html report.json report.md'
check 'and without the names of its files in the text' test "$(echo $(cat source/reports/published/report.md))" = '# A ## B'
check 'README.md has its figures' grep -q 'commit 0123456789ab' source/README.md
kept() { sed '/^<!-- published: begin/,/^<!-- published: end/d' "$1"; }
kept "$srcdir/README.md" >ours
kept source/README.md >theirs
check 'and is otherwise as it was' cmp -s ours theirs
check 'nothing else is left' test "$(cd source && echo * reports/*)" = 'README.md reports reports/published'

rm known/measured known/asked
PUBLISH_FROM=$work/known PUBLISH_LABEL='Zen 9' PUBLISH_PACKAGES=peers-times.json
export PUBLISH_FROM PUBLISH_LABEL PUBLISH_PACKAGES
check 'the page is made again of records' publish
check 'beside the machines of before, under its name, with packages' grep -q \
  -- '--label Zen 9 --packages peers-times.json --beside .*/reports/published/report.json -o' known/asked
page=source/reports/published/index.html
check 'the page names them without their folder' \
  eval 'grep -q -- "--from accuracy.json --from bench.json " $page && ! grep -qF "$work" $page'
unset PUBLISH_LABEL PUBLISH_PACKAGES
check 'which are given' grep -q 'published.new' known/measured
unset PUBLISH_FROM
echo '{}' >known/report.json
cp source/README.md before
check 'a report without kernels is not published' eval '! publish && grep -q "choice was not timed" err'
unchanged() { cmp -s before source/README.md && grep -q 0123456789ab source/reports/published/report.json; }
kept_alone() {
  [ "$(cd source && echo * reports/*)" = 'README.md reports reports/published reports/published.new' ] &&
    grep -q 'kept: .*reports/published.new$' err
}
check 'and changes nothing' unchanged
check 'but what was measured is kept, and named' kept_alone
cp "$folder/report.json" known
promises=1
check 'a page of a broken promise is not published' eval '! publish && grep -q "broken promise" err && unchanged'
check 'but kept' kept_alone
promises=2
check 'of a report that fails' eval '! publish && unchanged'
check 'nothing is left' test "$(cd source && echo * reports/*)" = 'README.md reports reports/published'
promises=0
for stuck in ../source/reports/published ../source/reports/published.new ../source/README.new; do
  check "where $stuck cannot be moved, nothing changes" eval '! publish && unchanged'
  check 'and what was measured is kept' kept_alone
done
stuck=
rm -r source/reports/published.new known/measured
commit='0123456789ab, modified'
check 'modified sources are refused' eval '! publish && grep -q "modified sources" err'
check 'before anything is measured' test ! -e known/measured
PUBLISH_OPTIONS=--short
export PUBLISH_OPTIONS
check 'but for a trial' publish
cp before source/README.md
unset PUBLISH_OPTIONS
commit=0123456789ab
rm known/measured
sed '/^<!-- published: end/d' before >source/README.md
check 'a README.md without marks is refused' eval '! publish && grep -q "lacks its marks" err'
check 'before anything is measured' test ! -e known/measured
check 'and nothing is left of it' test "$(cd source && echo * reports/*)" = 'README.md reports reports/published'
"$published" nowhere >out 2>err
check 'a folder that is missing is named' test $? -eq 2 -a "$(grep -c nowhere/report.json err)" -eq 1
plan
exit "$tap_failed"
