#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that the pictures and figures of doc/sinusoids.md are those of the program, and correct.
. "${srcdir:-.}/tests/command.sh"
srcdir=$root
program=${POSENC%/*}/posenc-sinusoids
[ -x "$program" ] || { echo "Bail out! no $program"; exit 1; }
diagnose() { head -n 20 out err | sed 's/^/# /'; }

"$program" data >data 2>err
! grep -q 'without KISS FFT' err || skip_all 'no KISS FFT here'
block() { # NAME: prints the lines of that block
  sed -n "/^\\\$$1 << EOD/,/^EOD/p" data | grep '^[-0-9]'
}
# The figures are computed again by the formula, in awk.
similar() { # the mean of cosines
  block similarity | awk '
    { sum = 0; for (i = 0; i < 64; i++) sum += cos($1 * exp(-i / 64 * log(10000)))
      if ($2 - sum / 64 > 6e-7 || sum / 64 - $2 > 6e-7) { print $0 ", not " sum / 64; bad = 1 } }
    END { exit bad || NR < 100 || $1 != 4096 }' >out
}
waves() { # frequency, turn and wavelength
  block frequencies | awk '
    function off(x, exact) { return x / exact > 1 + 1e-7 || x / exact < 1 - 1e-7 }
    { w = exp(-$1 / 64 * log(10000)) }
    off($2, w) || off($3, w) || off($4, 8 * atan2(1, 1) / w) { print; bad = 1 }
    END { exit bad || NR != 64 }' >out
}
peaks() { # prints the largest amplitude of each column within a bin of the exact wavelength's
  block spectrum | awk '
    $3 > most[$1] { most[$1] = $3; peak[$1] = $2 }
    END {
      for (i in peak) {
        bin = 4096 / (8 * atan2(1, 1)) * exp(-i / 64 * log(10000)); count++
        if (peak[i] - bin >= 1 || bin - peak[i] >= 1) { print "index " i ": peak " peak[i] ", not " bin; bad = 1 }
      }
      exit bad || count != 5
    }' >out
}
table() { # sines in even columns, cosines in odd ones
  block table | awk '
    function off(x, exact) { return x - exact > 6e-5 || exact - x > 6e-5 }
    { for (i = 0; i < 64; i++) {
        angle = (NR - 1) * exp(-i / 64 * log(10000))
        if (off($(2 * i + 1), sin(angle)) || off($(2 * i + 2), cos(angle))) { print NR - 1, i; bad = 1 } } }
    END { exit bad || NR != 160 }' >out
}
check 'the table is the formula' table
check 'so are frequencies, turns and wavelengths' waves
check 'similarity is the mean of cosines' similar
check 'peaks of the spectrum' peaks

# The pictures are drawn if gnuplot has the version that drew those of the document.
PATH=${program%/*}:$PATH
pictures='circle columns heatmap similarity spectrum wavelength'
make_pictures() { (cd "${program%/*}" && srcdir=$srcdir sh "$srcdir/tools/pictures.sh" "$work/made") >out 2>err; }
drawn_by() { grep -h -o 'Produced by GNUPLOT [^<]*' "$1"; }
text_is_there() {
  "$program" text >text 2>err
  sed -n '/^<!-- computed: begin/,/^<!-- computed: end/p' "$srcdir/doc/sinusoids.md" | sed '1,2d; $d' | sed '$d' |
    diff text - >out
}
check 'the document has the figures that the program makes' text_is_there
check 'eight claims have a verdict' test "$(grep -c '| \*\*\(holds\|holds only when\|false\)\*\*' text)" -eq 8
check 'one of them is false at any dim' grep -q '^| Wavelengths run .* 60611.5 at dim 512.*| \*\*false\*\* |$' text
check 'and one has a condition' grep -q '\*\*holds only when\*\* an index is below 384 |$' text
if command -v gnuplot >/dev/null; then
  check 'pictures are made' make_pictures
  check 'with the document' cmp made/sinusoids.md "$srcdir/doc/sinusoids.md"
  for picture in $pictures; do
    ours=made/sinusoids/$picture.svg theirs=$srcdir/doc/sinusoids/$picture.svg
    if [ "$(drawn_by "$ours")" = "$(drawn_by "$theirs")" ]; then
      check "$picture is what the document shows" cmp "$ours" "$theirs"
    else
      skip "$picture is what the document shows" "that is $(drawn_by "$theirs")"
    fi
    check "the document shows $picture" grep -q "](sinusoids/$picture.svg)" "$srcdir/doc/sinusoids.md"
  done
else
  skip 'pictures are made' 'no gnuplot here'
fi
printf 'a\n<!-- x: begin -->\nold\n' >unmarked
insert() { awk -v mark=x -v text=text -f "$srcdir/tools/insert.awk" "$1" >out 2>err; }
check 'a document without marks is refused' eval '! insert unmarked'
"$program" >out 2>err
check 'no word is no use' test $? -eq 2 -a "$(wc -l <err)" -eq 1
plan
exit "$tap_failed"
