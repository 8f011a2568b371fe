#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc history on made records of commits of a repository that is made here.
# shellcheck disable=SC2154 # command.sh sets work
command=history
. "${srcdir:-.}/tests/command.sh"
command -v git >/dev/null || skip_all 'no git'
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_CEILING_DIRECTORIES="$work"
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b

# ---- a repository of 24 commits, of which `commit N` prints the name; `side` is on a branch that is merged last
mkdir repository && cd repository || exit 99
git init -q -b main . && git commit -q --allow-empty -m 1 && git checkout -q -b side &&
  git commit -q --allow-empty -m side && side=$(git rev-parse HEAD) && git checkout -q main || exit 99
n=1
while [ $((n += 1)) -lt 24 ]; do git commit -q --allow-empty -m $n; done
git merge -q --no-ff -m 24 side && git tag v12 HEAD~12 || exit 99
git rev-list --first-parent --reverse HEAD >../commits
cd "$work" || exit 99
commit() { sed -n "$1p" commits; }
short() { commit "$1" | cut -c1-12; }

# ---- records: of times, five repetitions with noise of up to 0.3 % in a pattern that does not repeat
timing() { # COMMIT DATE CPU COST...: prints a record with a benchmark k0, k1 ... of each cost
  commit=$1 date=$2 cpu=$3
  shift 3
  printf '{"context": {"posenc_schema": "posenc-bench-2", "commit": "%s", "date": "%s", "cpu": "%s", "libc": "glibc 2.36"},' \
    "$commit" "$date" "$cpu"
  printf ' "benchmarks": ['
  echo "$*" | awk -v seed="$date" '{
    for (i = 1; i <= length(seed); i++) state = (state * 31 + index("0123456789", substr(seed, i, 1))) % 65521
    for (k = 1; k <= NF; k++) for (r = 0; r < 5; r++) {
      state = (state * 17364 + 1) % 65521
      time = 100 * $k * (1 + 0.003 * state / 65521)
      printf "%s{\"name\": \"hot/8x8/k%d\", \"run_type\": \"iteration\", \"time_unit\": \"ns\", \"cpu_time\": %.4f, ", \
        (k + r > 1 ? ", " : ""), k - 1, time
      printf "\"real_time\": %.4f, \"of_limit\": %.6f}", time, 50 / time
    }
    print "]}"
  }'
}
day() { printf '2026-01-%02dT10:00:00+00:00' "$1"; }
series() { # FOLDER CPU COMMAND: a record of each commit N, with the costs that COMMAND N prints
  mkdir -p "$1"
  for n in $(seq 24); do
    # The dates run against the commits, so that the two orders differ.
    # shellcheck disable=SC2046
    timing "$(short "$n")" "$(day $((31 - n)))" "$2" $($3 "$n") >"$1/$2-$n.json"
  done
}
stepped() { [ "$1" -ge 15 ] && echo 1 1.05 || echo 1 1; }
level() { echo 1 1; }
in_repository() { # STATUS ARGUMENT...: as ends, but in the repository
  cd repository || return
  ends "$@"
  result=$?
  mv out err .. && cd ..
  return $result
}
in_order() { # FILE TEXT...: these are in it, one after the other
  file=$1 line=0
  shift
  for text; do
    next=$(grep -nF -- "$text" "$file" | cut -d : -f 1 | awk -v after="$line" '$1 >= after' | head -n 1)
    [ -n "$next" ] || { echo "# no '$text' after line $line"; return 1; }
    line=$next
  done
}
lines_are() { test "$(wc -l <out)" -eq "$1"; }

series steps x stepped
check 'a step of 5 % in the order of commits' in_repository 1 ../steps
check 'is told with its size and interval, p, and the two commits' says \
  "^worse  *hot/8x8/k1  *+[45]\.[0-9]%  +[45]\.[0-9]% to +5\.[0-9]%  p 0\.0010  since $(short 15) (2026-01-16), after $(short 14) (2026-01-17)  x\$"
check 'and nothing but the sum' lines_are 2
check 'which counts the series' says '^1 of 2 series worse now$'
check 'git is asked for' in_repository 1 ../steps --order git
check 'in a folder without a repository the order is that of dates' ends 0 steps
check 'in which the step is one down' \
  says "^better  *hot/8x8/k1  *-[45]\.[0-9]%.* since $(short 14) (2026-01-17), after $(short 15)"
cp out by-date
check 'as asked for in the repository' in_repository 0 ../steps --order date
check 'too' cmp -s out by-date
check 'files are named one by one' in_repository 1 "$work"/steps/x-*.json
check 'with the same answer' says "^worse  *hot/8x8/k1 .* since $(short 15) "
mkdir -p nested/inner && cp steps/*.json nested/inner && echo '{' >nested/note.txt
check 'or lie in an inner folder, beside other files' in_repository 1 ../nested
mkdir twice && cp steps/* twice
for n in $(seq 24); do
  sed "s/$(day $((31 - n)))/$(day $((31 - n)) | sed 's/T10/T11/')/" steps/x-$n.json >twice/y-$n.json
done
check 'two records of each commit' in_repository 1 ../twice --format json
check 'are one point' test "$(grep -c '"of_limit"' out)" -eq 48
posenc history steps --order date --seed 7 && cp out seed
check 'equal seeds find equal changes' ends 0 steps --order date --seed 7
check 'with the same p' cmp -s out seed

# ---- JSON and Markdown
check 'JSON' in_repository 1 ../steps --format json
if has_perl_json; then
  parse 'my ($c) = @{$j->{changes}};
    printf "%s %s %s %d %s %s %s %d %d %.2f %d\n", $j->{schema}, $j->{order}, $c->{verdict}, $c->{commits}, $c->{last_good}{commit},
      $c->{first_bad}{commit}, $c->{measure}, scalar(@{$j->{series}}), scalar(@{$j->{series}[0]{points}}),
      $j->{series}[0]{points}[0]{of_limit}, $c->{low} < $c->{ratio} && $c->{ratio} < $c->{high} && $c->{p} <= 0.01' <out >read
  check 'is read back' test "$(cat read)" = \
    "posenc-history-1 git worse 1 $(short 14) $(short 15) limit 2 24 0.50 1"
else
  skip 'is read back' 'no JSON::PP here'
fi
check 'Markdown' in_repository 1 ../steps --format markdown
check 'has the row' \
  says "^| \*\*worse\*\* | hot/8x8/k1 | +[45].* | $(short 15) (2026-01-16) | $(short 14) (2026-01-17) | 1 | x |  |\$"
check 'and the sum' says '^> \*\*1 of 2 series worse now\*\*\.'

# ---- the page
in_repository 1 ../steps --format html -o ../page.html >/dev/null
if grep -q gnuplot err; then
  skip 'the page' 'no gnuplot'
else
  check 'is one page' contains page.html '</html>'
  check 'with a picture of each series' count_is page.html '<svg ' 2
  check 'apart by whether it has changed' in_order page.html 'id="series-that-have-changed"' 'hot/8x8/k1, x: 4' \
    'id="series-without-a-change"' 'hot/8x8/k0, x: 4'
  check 'an upright line at the change' count_is page.html '#d55e00' 1
  check 'two levels beside it, one elsewhere' count_is page.html '#0072b2' 3
  tr '\n' ' ' <page.html | grep -oE "#0072b2' +d='M[0-9.]+,[0-9.]+ L[0-9.]+" | sed 's/.*M//; s/,.* L/ /' >levels
  check 'the second begins where the first ends' awk 'NR == 1 { end = $2 } NR == 2 { exit $1 != end }' levels
  check 'its ids are unique' ids_unique page.html
  mkdir refused
  "$POSENC" verify --kernel cr-avx512,cr-neon,cr-portable --len 16 --dim 8 --format json -o refused/record.json 2>err
  check 'a kernel that was refused in all records' ends 0 refused --order date --format html -o page.html
  check 'has no picture, but the others' contains page.html 'cr-portable/16x8'
  check 'whatever the machine' sh -c '! grep -q ": nan" page.html'
fi

# ---- no change, noise, and what became of it later
series none x level
check 'no change' in_repository 0 ../none
check 'is quiet' test ! -s out
check 'in Markdown there is the sum' in_repository 0 ../none --format markdown
check 'and no table' test "$(grep -c '^|' out)" -eq 0 -a "$(grep -c '^> \*\*0 of 2 series worse now' out)" -eq 1
back() { [ "$1" -ge 8 ] && [ "$1" -lt 16 ] && echo 1.05 || echo 1; }
series back x back
check 'a step and a step back' in_repository 0 ../back
check 'are two changes' test "$(sed -n 's/^\(better\|worse\) .*/\1/p' out | tr '\n' ' ')" = 'worse better '
half() { if [ "$1" -lt 8 ]; then echo 1; elif [ "$1" -lt 16 ]; then echo 1.1; else echo 1.05; fi; }
series half x half
check 'a step back of half its size' in_repository 1 ../half
check 'leaves it worse' says '^1 of 1 series worse now$'
check 'since the step back it is better' in_repository 0 ../half --since "$(short 10)"
check 'and the first step is not told' test "$(grep -c '^worse' out)" -eq 0

# ---- since
check '--since a later commit' in_repository 0 ../steps --since "$(short 16)"
check 'leaves the step out' test ! -s out
check '--since the commit itself, by its whole name' in_repository 1 ../steps --since "$(commit 15)"
check 'does not' says '^worse '
check '--since a tag before' in_repository 1 ../steps --since v12
check 'tells it' says '^worse '
check '--since a later day' in_repository 0 ../steps --since 2026-01-17
check '--since its day' in_repository 1 ../steps --since 2026-01-16
check '--since a commit in the order of dates' ends 0 steps --since "$(short 13)"
check 'likewise' test ! -s out
check '--since a time of a day, in a zone' in_repository 1 ../steps --since 2026-01-16T11:30:00+02:00
check 'or later' in_repository 0 ../steps --since 2026-01-16T10:30:00Z
check '--since of neither' \
  is_refused "--since yesterday: neither a date, as 2026-11-28, nor a commit" steps --since yesterday

# ---- records without a place, and gaps
mkdir gaps && cp steps/*.json gaps && rm gaps/x-13.json gaps/x-14.json
timing "$(echo "$side" | cut -c1-12)" "$(day 1)" x 9 9 >gaps/side.json
timing "$(short 3)-modified" "$(day 2)" x 9 9 >gaps/modified.json
left_out() { # STATUS: the command has told of the two
  [ $status -eq "$1" ] && [ "$(wc -l <err)" -eq 2 ] && grep -q "gaps/side.json: left out, as its commit, .* first parents" err &&
    grep -q "gaps/modified.json: left out, as its commit, .*-modified, is not among the first parents" err
}
(cd repository && posenc history ../gaps; mv out err .. && echo "$status" >../status)
status=$(cat status)
check 'records of a branch and of modified sources are left out, with a line' left_out 1
check 'a gap is told as the commits it has' says \
  "^worse  *hot/8x8/k1 .* since $(short 15) (2026-01-16), after $(short 12) (2026-01-19), one of 3 commits  x\$"
mkdir upgraded && cp steps/*.json upgraded
for n in $(seq 15 24); do sed 's/glibc 2.36/glibc 2.41/' steps/x-$n.json >upgraded/x-$n.json; done
check 'what changed beside the sources' in_repository 1 ../upgraded
check 'is told' says '^worse .*  x  libc: glibc 2\.36, then glibc 2\.41$'

# ---- plugins of the repository here, measured by one posenc of another
foreign() { # FOLDER SED-SCRIPT: a copy of the records, with another commit of posenc's
  cp -r steps "$1"
  for n in $(seq 24); do sed -i "$(eval "echo \"$2\"")" "$1/x-$n.json"; done
}
foreign unnamed 's/\"commit\": \"[^\"]*/\"commit\": \"0123456789ab/'
(cd repository && posenc history ../unnamed; mv out err .. && echo "$status" >../status)
status=$(cat status)
check 'records of another commit have no place' one_line 'no record is of a commit of the repository here'
foreign named 's/\"commit\": \"[^\"]*/\"measured_commit\": \"$(commit $n)\", \"commit\": \"0123456789ab/'
sed -i 's/0123456789ab/ba9876543210/' named/x-1[5-9].json named/x-2?.json
check 'records with the commit that was measured do' in_repository 1 ../named
check 'and another posenc is told' says "^worse .* since $(short 15) .*  commit: 0123456789ab, then ba9876543210\$"
for n in $(seq 24); do
  git -C repository notes --ref posenc add -f -F "../unnamed/x-$n.json" "$(commit "$n")" 2>/dev/null
done
check 'so do notes, by what they are of' in_repository 1 refs/notes/posenc
check 'with the same answer' says "^worse  *hot/8x8/k1 .* since $(short 15) "
sed 's/hot/cold/' unnamed/x-1.json >more.json
git -C repository notes --ref posenc append -F ../more.json "$(commit 1)" 2>/dev/null
check 'a note may have several records' in_repository 1 refs/notes/posenc --format json
check 'that are all read' contains out '"name": "cold/8x8/k0"'
echo '{' >>more.json
git -C repository notes --ref posenc append -F ../more.json "$(commit 1)" 2>/dev/null
(cd repository && posenc history refs/notes/posenc; mv out err .. && echo "$status" >../status)
status=$(cat status)
check 'broken ones are refused' one_line "the note of commit $(commit 1): "
check 'notes elsewhere' is_refused 'refs/notes/posenc: it has no records, or there is no repository here' refs/notes/posenc
POSENC_COMMIT=$(commit 7)
export POSENC_COMMIT
"$POSENC" verify --kernel naive --len 8 --dim 4 --search 0 --format json >named.json 2>err
check 'POSENC_COMMIT is in a record' grep -q "\"measured_commit\": \"$(commit 7)\"" named.json
unset POSENC_COMMIT

# ---- instructions
mkdir counted
for n in 1 2 3 4 5 6; do
  count=$((n < 4 ? 100000 + n : 100200 + n))
  sed "s/\"real_time\"/\"instructions\": $count, \"real_time\"/" none/x-$n.json >counted/$n.json
done
check 'more instructions' in_repository 1 ../counted
check 'are told at their commit' says \
  "^worse  *hot/8x8/k0  *instructions 100001 -> 100204  since $(short 4) (2026-01-27), after $(short 3) (2026-01-28)  x\$"
check 'with no others' lines_are 2
for n in 1 2 3 4 5 6; do sed -i "s/1002\(0.\)/1000\1/" counted/$n.json; done
check 'fewer than one in a thousand' in_repository 0 ../counted
check 'are not' test ! -s out

# ---- machines: one three times as slow, of which the records begin with a later commit
series both x level
tripled() { [ "$1" -ge 12 ] && echo 3 3 || echo 1 1; }
series mixed x tripled
for n in $(seq 12 24); do sed 's/"cpu": "x"/"cpu": "y"/' mixed/x-$n.json >both/y-$n.json && rm both/x-$n.json; done
check 'another machine from one commit on is no change' in_repository 0 ../both
check 'in any format' test ! -s out
check 'as it would be in one series' in_repository 1 ../mixed
cp steps/*.json both
for n in $(seq 24); do sed 's/"cpu": "x"/"cpu": "z"/' none/x-$n.json >both/z-$n.json; done
check 'a change on one of several machines' in_repository 1 ../both
check 'is told of it alone' test "$(sed -n 's/^worse .*  \([a-z]\)$/\1/p' out)" = x

# ---- accuracy
"$POSENC" verify --kernel naive,rotation-portable --len 64 --dim 16 --search 0 --format json >record.json 2>err
exact() { # FILE COMMIT DAY SED-SCRIPT: a record, changed
  sed "s/\"commit\": \"[^\"]*\"/\"commit\": \"$(short "$2")\"/; s/\"date\": \"[^\"]*\"/\"date\": \"$(day "$3")\"/; $4" \
    record.json >"$1"
}
mkdir exact
for n in 1 2 3 4 5 6; do exact exact/$n.json $n $n ''; done
check 'equal results' in_repository 0 ../exact
check 'are quiet' test ! -s out
first_digest=$(sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' record.json | head -n 1)
for n in 4 5 6; do exact exact/$n.json $n $n "s/\"misrounded\": 0/\"misrounded\": 1/"; done
check 'one more misrounded element' in_repository 1 ../exact
check 'is told, with the commit' says \
  "^worse  *rotation-portable/64x16  *misrounded 0 -> 1  since $(short 4) (2026-01-04), after $(short 3) (2026-01-03)  "
check 'once' lines_are 2
exact exact/6.json 6 6 ''
check 'that is gone again' in_repository 0 ../exact
check 'is told twice' test "$(sed -n 's/^\(better\|worse\) .*/\1/p' out | tr '\n' ' ')" = 'worse better '
for n in 4 5 6; do exact exact/$n.json $n $n "s/$first_digest/0123456789abcdef/"; done
check 'other bits with the same errors' in_repository 0 ../exact
check 'are told, too' says "^bits .* since $(short 4) .*the same errors, other bits$"
check 'in Markdown' in_repository 0 ../exact --format markdown
check 'as well' says "^| bits | .* | $(short 4) (2026-01-04) | $(short 3) (2026-01-03) | 1 | "

# ---- reports have both
mkdir reports
"$POSENC" bench --kernel naive,rotation-portable --len 64 --dim 16 --mode hot --repetitions 3 --min-time 0.0001 \
  --format json >bench.json 2>err
if "$POSENC" report --from record.json --from bench.json -o page >out 2>err; then
  # ten commits, of which the last four are slower by half
  for n in $(seq 10); do
    C=$(short "$n") S=$((n > 6 ? 2000000 + n : 3000000 + n)) N=$n perl -MJSON::PP -0777 -ne 'my $j = decode_json($_);
      for my $e (values %{$j->{environment}}) { $e->{commit} = $ENV{C}; }
      for my $t (@{$j->{shapes}}) { for my $r (@{$t->{rows}}) {
        $r->{timing}{of_limit}{median} = $r->{kernel} eq "naive" ? $ENV{S} / 1e7 : 0.5 + $ENV{N} / 1e7 if $r->{timing};
        $r->{misrounded} += 1 if $ENV{N} > 8 && $r->{kernel} eq "naive"; } }
      print JSON::PP->new->canonical->encode($j)' <page/report.json >reports/$n.json
  done
  check 'report.json' in_repository 1 ../reports --alpha 0.2
  check 'has times' says "^worse  *hot/64x16/naive  *+50\.0%.* since $(short 7) "
  check 'and accuracy' says "^worse  *naive/64x16 .*misrounded .* since $(short 9) "
  check 'of the two kernels' says '^2 of 4 series worse now$'
else
  skip 'report.json' "$(cat err)"
fi

# ---- samples: those by another rule are no regression
"$POSENC" verify --kernel rotation-portable --len 3000 --dim 16 --budget 9999 --search 0 --brief --format json \
  >record.json 2>err
more='s/"misrounded": [0-9]*/"misrounded": 99/' other='s/^\(  "row_rule": [0-9]*\)/\19/'
mkdir drawn
exact drawn/1.json 1 1 ''
exact drawn/2.json 2 2 "$more"
check 'a sample with more misrounded elements' in_repository 1 ../drawn
exact drawn/2.json 2 2 "$more; $other"
check 'by another rule' in_repository 0 ../drawn
check 'is of other elements' says '^undecided .*other elements were looked at'
report_of() { # N: makes page N of a sample and of times at a commit
  sed "s/\"commit\": \"[^\"]*\"/\"commit\": \"$(short "$1")\"/" bench.json >times.json
  "$POSENC" report --from "drawn/$1.json" --from times.json -o "page$1" >out 2>err
}
if report_of 1 && report_of 2; then
  mkdir drawn-reports
  cp page1/report.json drawn-reports/1.json
  cp page2/report.json drawn-reports/2.json
  check 'of reports, too' in_repository 0 ../drawn-reports
  check 'it is told' says '^undecided .*other elements were looked at'
else
  skip 'samples of reports' "$(cat err)"
fi

# ---- bad input
mkdir empty bad
printf '{"x": 1}\n' >bad/other.json
check 'operands are needed' is_refused 'a folder of records, or records, are needed'
check 'a folder without records' is_refused 'empty: it has no records' empty
check 'a folder that is not there' is_refused 'missing: ' missing
check 'JSON of something else' is_refused 'bad/other.json: neither an accuracy record, a timing record nor a report' bad
sed 's/"misrounded": 0/"misrounded": "none"/' record.json >bad/other.json
check 'a record with a wrong field' is_refused 'bad/other.json: records\[[0-9]*\]\.misrounded is not' bad
sed 's/"real_time": [0-9.]*/"real_time": -1/' steps/x-1.json >bad/other.json
check 'a time below 0' is_refused 'bad/other.json: .*real_time' bad
printf '{"x": ' >bad/other.json
check 'broken JSON' is_refused 'bad/other.json: ' bad
check '--order git without a repository' is_refused '--order git: there is no repository here' steps --order git
check '--order' is_refused "order.*size" steps --order size
check '--alpha' is_refused 'alpha.*2.*not between 0 and 1' steps --alpha 2
sed -i 's/"date": "[^"]*"/"date": "unknown"/' both/*.json
check 'no dates' is_refused 'no record has a date' both --order date
sed 's/"commit": "[^"]*"/"commit": "unknown"/' steps/x-1.json >bad/other.json
(cd repository && posenc history ../bad; mv out err .. && echo "$status" >../status)
status=$(cat status)
check 'no commit of the repository' one_line 'no record is of a commit of the repository here: see --order date'
plan
exit "$tap_failed"
