#!/bin/sh
# SPDX-License-Identifier: MIT
# The figures in README.md are those of reports/published/, and nobody has typed one.
. "${srcdir:-.}/tests/tap.sh"
: "${abs_top_builddir:=$PWD}"
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
published=$abs_top_builddir/posenc-published
[ -x "$published" ] || { echo "Bail out! no posenc-published in $abs_top_builddir"; exit 1; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
cd "$work" || exit 99
diagnose() { head -n 20 out err | sed 's/^/# /'; }

folder=$srcdir/reports/published
for file in index.html report.md report.json accuracy.json bench.json headline.svg; do check "$file is published" test -s "$folder/$file"; done

"$published" "$folder" >section 2>err
check 'a section is made of them' test $? -eq 0
sed -n '/^<!-- published: begin/,/^<!-- published: end/p' "$srcdir/README.md" | sed '1,2d; $d' >shown
same() { diff section shown >out; }
check 'and is what README.md shows' same
rows() { [ "$(grep -c '^| `.* (.*–.*) ' section)" -ge 10 ]; }
check 'with a row for each kernel, and intervals' rows

# What make publish does around the measuring, in a source folder of its own with a posenc that brings a report along.
mkdir -p source/reports build
cp "$srcdir/README.md" source
ln -s "$published" build/posenc-published
cat >build/posenc <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
mkdir "$2" && cp "$known"/report.json "$2" && echo "$2/index.html"
END
chmod +x build/posenc
known=$work/known
export known
publish() { (cd build && srcdir=../source sh "$srcdir/reports/publish.sh") >out 2>err; }
mkdir known
sed 's/"commit":"[^"]*"/"commit":"0123456789ab"/g' "$folder/report.json" >known/report.json
check 'another report is published' publish
check 'README.md has its figures' grep -q 'commit 0123456789ab' source/README.md
kept() { sed '/^<!-- published: begin/,/^<!-- published: end/d' "$1"; }
kept "$srcdir/README.md" >ours
kept source/README.md >theirs
check 'and is otherwise as it was' cmp -s ours theirs
check 'nothing else is left' test "$(cd source && echo * reports/*)" = 'README.md reports reports/published'

echo '{}' >known/report.json
cp source/README.md before
check 'a report without kernels is not published' eval '! publish && grep -q "no kernel was timed" err'
check 'and changes nothing' eval 'cmp -s before source/README.md && grep -q 0123456789ab source/reports/published/report.json'
sed '/^<!-- published: end/d' before >source/README.md
cp "$folder/report.json" known
check 'a README.md without marks is refused' eval '! publish && grep -q "lacks its marks" err'
check 'and nothing is left of it' test "$(cd source && echo * reports/*)" = 'README.md reports reports/published'
"$published" nowhere >out 2>err
check 'a folder that is missing is named' test $? -eq 2 -a "$(grep -c nowhere/report.json err)" -eq 1
plan
exit "$tap_failed"
