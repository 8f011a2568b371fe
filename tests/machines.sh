#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests reports of several machines, made from records written by hand, so that every figure is known.
# shellcheck disable=SC2016,SC2086,SC2154,SC2317
command=report
. "${srcdir:-.}/tests/command.sh"
export POSENC
leaves_nothing() { # PATTERN ARGUMENT...: refused, and the folder is not made
  is_refused "$@" -o none && [ ! -e none ]
}
tells() { # TEXT: in the Markdown of `both`, with no-break spaces as blanks
  sed "s/$(printf '\302\240')/ /g" both/report.md >both.md
  grep -qF -- "$1" both.md
}

kernel() { # NAME REPRODUCIBLE
  printf '{"name": "%s", "isa": "generic", "reproducible": %s, ' "$1" "$2"
  printf '"bound": {"ulp": 0.5, "abs": 0, "growth": 0, "max_position": 65536, "derived": %s}}' "$2"
}
result() { # KERNEL SHAPE ROWS MODE ULP DIGEST; quick, which is correctly rounded, has no misrounded element
  printf '{"kernel": "%s", "shape": {"name": "%s", "rows": %s, "dim": 512, "first": 0, "base": 10000.0, "dtype": "f32",
      "op": "table"},
    "mode": "%s", "elements": 512, "of": 512, "max_ulp": {"ulp": %s}, "max_abs": {"abs": 0.25}, "mean_ulp": 0.125,
    "misrounded": %s, "digest": "%s", "checks": [{"property": "accuracy", "ok": true, "skipped": false}]}' \
    "$1" "$2" "$3" "$4" "$5" "$([ "$1" = quick ] && echo 0 || echo 3)" "$6"
}
accuracy() { # CPU DIGEST-OF-QUICK DIGEST-OF-ROUGH SEED
  printf '{"schema": "posenc-accuracy-1", "environment": {"posenc_version": "1", "commit": "abc", "cpu": "%s",
    "date": "2026-01-01T00:00:00Z", "l2": "1048576"},
    "seed": %s, "budget": 100, "kernels": [%s, %s],\n' "$1" "$4" "$(kernel quick true)" "$(kernel rough false)"
  printf '"records": [%s,\n%s,\n%s,\n%s],\n' \
    "$(result quick transformer-base 5000 exhaustive 0.5 "$2")" \
    "$(result rough transformer-base 5000 exhaustive 0.75 "$3")" \
    "$(result quick 64x512 64 sampled 0.5 cccc)" "$(result rough 64x512 64 sampled 2 dddd)"
  printf '"profile": [], "passed": 4, "failed": 0, "skipped": 0}\n'
}
repetition() { # SHAPE KERNEL BYTES/S SHARE
  printf '{"name": "hot/%s/%s", "run_type": "iteration", "real_time": 1, "time_unit": "ns", ' "$1" "$2"
  printf '"ns_per_element": %s, "bytes_per_second": %s, "of_limit": %s, ' \
    "$([ "$2" = quick ] && echo 2 || echo 1)" "$3" "$4"
  printf '"limit_bytes_per_second": 8e9, "rows": 64, "dim": 512, "rows_timed": 64}'
}
timing() { # CPU FACTOR
  printf '{"context": {"posenc_schema": "posenc-bench-2", "cpu": "%s", "l2": "1048576"}, "benchmarks": [\n' "$1"
  for shape in transformer-base 64x512; do
    printf '%s,\n' "$(repetition $shape quick 2.25e$2 0.5)" "$(repetition $shape quick 1e$2 0.125)" \
      "$(repetition $shape quick 2.5e$2 0.625)" "$(repetition $shape rough 4e$2 0.75)" \
      "$(repetition $shape rough 3e$2 0.5)"
    printf '%s%s\n' "$(repetition $shape rough 6e$2 1)" "$([ $shape = 64x512 ] || echo ,)"
  done
  printf ']}\n'
}
machine() { # FOLDER CPU DIGEST-OF-QUICK DIGEST-OF-ROUGH SEED FACTOR
  accuracy "$2" "$3" "$4" "$5" >accuracy.json
  timing "$2" "$6" >bench.json
  ends 0 --from accuracy.json --from bench.json -o "$1"
}

altered() { # FOLDER SED-SCRIPT: writes its report, with other facts, to other.json
  sed "$2" "$1/report.json" >other.json
}

machine one abacus aaaa bbbb 1 9
status=$?
! no_pages || skip_all "$why"
check 'one machine' test $status -eq 0
check 'another, of the same bits' machine two 'slide <rule>' aaaa bbbb 1 10
check 'side by side' ends 0 one/report.json two/report.json -o both
check 'the page is told' grep -qx both/index.html out
four_results='4 results, each a kernel on a shape'
check 'all results are the same' tells "All the same: $four_results"
check 'and the promise was kept' \
  tells '> All 2 results by kernels that promise the same bits everywhere, on machines of one version, are the same'
check 'labels are CPUs' tells '| kernel | abacus | slide \<rule\> |'
table='| reference | `transformer-base` (9.8 MiB)'
quick='`quick`, 2.25 GB/s‡ (1.00–2.50), 50.0 %‡ (12.5–62.5)'
check 'the reference, within half an ulp' \
  tells "$table | within 0.5 ulp | $quick | \`quick\`, 22.5 GB/s‡ (10.0–25.0), 50.0 %‡ (12.5–62.5) |"
check 'within one' tells "$table | within 1 ulp | $quick |"
check 'in cache' tells "| in cache | \`64x512\` (128 KiB) | within 1 ulp | $quick |"
check 'any error' tells '| in cache | `64x512` (128 KiB) | any | `rough`, 4.00 GB/s‡'
share='75.0 %‡ (50.0–100)'
check 'shares and GB/s of a kernel on both' \
  tells "| \`rough\` | $share, 4.00 GB/s‡ (3.00–6.00) | $share, 40.0 GB/s‡ (30.0–60.0) |"
check 'what can be compared is said' tells 'shares can be compared between machines. GB/s hardly can'
check 'environments are columns' tells '| cpu | abacus | slide \<rule\> |'
check 'figures, one for each shape' test "$(grep -c '<figure>' both/index.html)" -eq 2
check 'drawn' test "$(grep -oE 'role="img" aria-label="Marks with ranges' both/index.html | wc -l)" -eq 2
check 'nothing of a machine is markup' sh -c '! grep -q "<rule>" both/index.html'
check 'the JSON is one of machines' grep -q '"schema":"posenc-machines-1"' both/report.json
check 'the command is there' tells 'posenc report one/report.json two/report.json -o both'

check 'other bits of a kernel that promises none' machine three abacus aaaa eeee 1 9
sed -i 's/2026-01-01T/2026-01-02T/g' three/report.json
check 'are no failure' ends 0 one/report.json three/report.json -o both
errors='0.7500000 ulp, 0.2500, 3 misrounded'
check 'but told' tells "| \`rough\` | transformer-base | – | $errors, \`bbbb\` | $errors, \`eeee\` |"
check 'with how many are the same' tells "Of $four_results, 3 have the same errors and the same bits"
check 'two of one CPU are numbered' tells '| kernel | abacus (1) | abacus (2) |'
altered one 's/"misrounded":3/"misrounded":4/g; s/abacus/quipu/g'
check 'other errors alone' ends 0 one/report.json other.json -o both
check 'are told, too' tells '3 misrounded, `bbbb` | 0.7500000 ulp, 0.2500, 4 misrounded, `bbbb` |'
of_all=$(printf 'of 1\342\200\257024 misrounded') # with a narrow no-break space
check 'the errors of all tables of a dtype' \
  tells "| \`rough\` | f32 | 2.000 ulp, 0.250, 6 $of_all | 2.000 ulp, 0.250, 8 $of_all |"
check 'none where correct rounding is promised' tells "| \`quick\` | f32 | 0.5000 ulp, 0.250, 0 $of_all | 0.5000"
altered one 's/"misrounded":0/"misrounded":1/; s/abacus/quipu/g'
check 'one there' ends 1 one/report.json other.json -o both
check 'is wrong, and a failure' tells "| 0.5000 ulp, 0.250, 0 $of_all | **0.5000 ulp, 0.250, 1 $of_all** |"
check 'in red' contains both/index.html '<strong class="wrong">0.5000 ulp, 0.250, 1 of 1'
check 'said at the top, too' tells '> **Misrounded though the contract is correct rounding: 1**, in red in Accuracy.'

check 'other bits of one that promises them' machine four quipu ffff bbbb 1 9
check 'are a failure' ends 1 one/report.json four/report.json -o both
check 'said at the top' sh -c 'sed -n 3p both/report.md | grep -q "^> \*\*Failed checks: 1\*\*\. Of 2 results"'
errors='0.5000000 ulp, 0.2500, 0 misrounded'
check 'and listed' tells "| \`quick\` | transformer-base | **broken** | $errors, \`aaaa\` | $errors, \`ffff\` |"
check 'of three machines, one' ends 1 two/report.json one/report.json four/report.json -o both
altered four 's/"commit":"abc"/"commit":"def"/g'
check 'between versions it is none' ends 0 one/report.json other.json -o both
check 'nothing was held' tells 'nothing was compared for that promise'
for commit in 'abc, modified' unknown; do
  for name in one four; do sed "s/\"commit\":\"abc\"/\"commit\":\"$commit\"/g" $name/report.json >$name.json; done
  check "$commit: which sources, nobody knows" ends 0 one.json four.json -o both
  check 'nor was anything held to them' tells 'nothing was compared for that promise'
done
check 'a sample by another seed' machine five quipu aaaa bbbb 2 9
check 'is not compared' ends 0 one/report.json five/report.json -o both
check 'and that is told' \
  tells ' 2 were not compared between all machines: some looked at other elements, by another seed, budget or rule.'
check 'tables in full are' tells 'All the same: 2 results'
check 'nor by a third machine' ends 0 one/report.json two/report.json five/report.json -o both
in_part='have the same errors and the same bits on the machines that looked at the same elements'
check 'which is told, too' tells "All the same: $four_results, $in_part. 2 were not compared between all machines"
altered one 's/"budget":[0-9]*,//g; s/abacus/quipu/g'
check 'without a budget a sample is none' ends 0 one/report.json other.json -o both
check 'to compare with' tells ' 2 were not compared between all machines'
for rule in row_rule x_rule; do
  altered one "s/\"budget\":/\"$rule\":9,&/; s/abacus/quipu/g"
  check "a sample of tables and another $rule" ends 0 one/report.json other.json -o both
  cp both/report.md $rule.md
done
check 'is not compared by that of rows' contains row_rule.md '2 were not compared between all machines'
check 'but by that of x' lacks x_rule.md 'were not compared'
altered one 's/"failed":0/"failed":5/g; s/abacus/quipu/g'
check 'a failed check of one machine' ends 1 two/report.json other.json -o both
check 'is told with its label' tells '> **Failed checks on quipu: 5**, listed in its own report.'

altered one 's/"others":null/"others":0.25/; s/abacus/quipu/g'
check 'a busy machine beside another' ends 0 two/report.json other.json -o both
check 'is told first' tells '**A busy machine: on quipu other processes used 25 % of the processors,'
check 'and at every column of its times' tells '| kernel | slide \<rule\> | quipu, others 25 % |'
check 'all of them' eval '! grep -q "^| \(kernel\|within\|maximum\).*| quipu |" both.md'
check 'and in pictures' grep -q '>quipu, others 25.*%<' both/index.html
check 'the other machine is not called busy' lacks both.md 'rule\>, others'

check 'labels' ends 0 one/report.json two/report.json --label left --label 'right | side' -o both
check 'are columns' tells '| kernel | left | right \| side |'
check 'as many as one likes' ends 0 one/report.json two/report.json --label left -o both
check 'and CPUs for the rest' tells '| kernel | left | slide \<rule\> |'
echo '{"context": {"posenc_schema": "posenc-bench-2"}, "benchmarks": []}' >nothing.json
check 'a machine without times' ends 0 --from accuracy.json --from nothing.json -o untimed
check 'beside one with them' ends 0 one/report.json untimed/report.json -o both
check 'has no table' tells 'There is no shape that two machines timed.'
check 'and no fastest kernel' tells 'There is no table of f32 that all machines timed.'
check 'but is compared' tells 'results, each a kernel on a shape, have the same errors'

for name in one two; do sed 's/"of_limit":{[^}]*}/"of_limit":null/g' $name/report.json >$name.json; done
check 'no shares of a limit' ends 0 one.json two.json -o both
check 'are no figure' test "$(grep -c '<figure>' both/index.html)" -eq 0
rows() { # ROWS: of the reference
  for name in one two; do sed "s/\"rows\":5000/\"rows\":$1/g" $name/report.json >$name.json; done
  ends 0 one.json two.json -o both
}
check 'as many positions as are promised' rows 65537.0
check 'are within' tells 'within 0.5 ulp | `quick`'
check 'one more' rows 65538.0
check 'is not' tells '| reference | `transformer-base` (9.8 MiB) | within 0.5 ulp | none | none |'

# ---- beside a report
records_of() { # CPU DATE
  accuracy "$1" aaaa bbbb 1 | sed "s/2026-01-01/$2/" >accuracy.json
  timing "$1" 9 | sed "s/\"cpu\"/\"date\": \"$2T00:00:00Z\", &/" >bench.json
}
now=$(date -u +%Y-%m-%d)
records_of quipu "$now"
beside() { ends "$1" --from accuracy.json --from bench.json -o both "$2" "$3" "$4" "$5" $6 $7; }
check 'a machine beside another' beside 0 --beside one/report.json --label knots
check 'has a column, and its date' tells "| table | knots, $now | abacus, 2026-01-01 |"
use='50 % of the limit, 5.12 ms, correctly rounded: `quick`'
check 'with what is known of the reference' tells "| posenc, one thread: 5$(printf '\342\200\257')000 × 512, 9.8 MiB | $use | $use |"
check 'and of each machine' tells "- **knots**, $now: quipu."
records_of quipu 2026-02-03
check 'of an old date' beside 0 --beside both/report.json --label old
check 'the page has all three' tells "| table | old, 2026-02-03 | knots, $now | abacus,"
grey='<td class="prose old" data-of="old, 2026-02-03">'
check 'and the old one is grey' contains both/index.html "$grey"
check 'but no other' eval '! grep -q "class=\"prose old\" data-of=\"knots" both/index.html'
mkdir kept && cp both/report.json kept
records_of quipu 2026-02-04
check 'of one name, the latest' beside 0 --beside kept/report.json --label knots
check 'stays' tells "| table | knots, $now | old, 2026-02-03 | abacus,"
check 'of equal dates, that of the records' beside 0 --beside kept/report.json --label new
"${POSENC%/*}/posenc-published" --brief kept
check 'what is published has the machines alone' eval '[ $? -eq 0 ] && grep -q posenc-published-2 kept/report.json'
check 'and stands beside a report' beside 0 --beside kept/report.json --label new
check 'as before' tells "| table | new, 2026-02-04 | old, 2026-02-03 | knots, $now | abacus,"
peer() { # PACKAGE WAY THREADS ROWS MEDIAN
  printf '{"package": "%s", "way": "%s", "threads": %s, "op": "table", "rows": %s, "dim": 512, "error": 0.25,
    "problem": "a table", "beside": {"posenc": {"median": %s, "low": 2, "high": 8}}}' "$@"
}
{
  printf '{"schema": "posenc-peers-2", "date": "%sT00:00:00", "machine": "quipu", "processors": 2, "load": [9, 9],
    "busy": false, "versions": {"torch": "9.9", "jax": "8.8"}, "rows": [' "$now"
  echo "$(peer torch 'torch, compiled' 1 5000 4), $(peer torch 'torch, eager' 1 5000 5), $(peer jax jax 1 5000 3),"
  echo "$(peer jax jax 2 5000 2.5), $(peer jax jax 1 4999 3.6), $(peer jax posenc 1 5000 1),"
  echo "$(peer jax 'libposenc, cached' 1 5000 1)]}"
} >peers-times.json
check 'packages' beside 0 --beside one/report.json --packages peers-times.json
check 'with version, error and quotient' tells '| torch 9.9 | a table: torch, compiled | 0.2 | **4.00 times** (2.00–8.00) |'
check 'each by its fastest way, of that table, with one thread' test "$(grep -c '| a table: ' both.md)" -eq 2
check 'of a quiet machine' eval '! grep -q "while other processes ran" both.md'
cp both/report.json packages.json
check 'are kept' beside 0 --beside packages.json --label new
check 'for the next page' tells '| jax 8.8 | a table: jax | 0.2 | **3.00 times** (2.00–8.00) |'
sed -i 's/"busy": false/"busy": true/' peers-times.json
check 'packages of a busy machine' beside 0 --beside one/report.json --packages peers-times.json
check 'are called so' tells 'on one thread of quipu, while other processes ran'
check 'two reports have the machines first' ends 0 one/report.json two/report.json -o both
check 'with their figures' tells "9.8 MiB | $use | 50 % of"
error() { # PACKAGE ERROR
  printf '{"package": "%s", "function": "table", "dtype": "f32", "max_abs": %s, "at": "1033512", "first_wrong": "none",
    "command": "peers.py write 0 x.npy"}' "$@"
}
printf '{"schema": "posenc-peers-errors-1", "date": "%s", "machine": "quipu", "rows": [%s, %s]}' "$now" \
  "$(error 'torch 9.9' 0.039)" "$(error 'jax 8.8' null)" >peers.json
check 'the errors of packages' ends 0 one/report.json two/report.json --packages peers.json -o both
check 'with the command' tells '| torch 9.9 | table | f32 | 0.039 | 1033512 | none | `peers.py write 0 x.npy` |'
check 'of a function that failed there is none' tells '| jax 8.8 | table | f32 | – |'
check 'and in the record' grep -q '"packages": *{' both/report.json
with_records='--from accuracy.json --from bench.json'
check 'beside it, no report' leaves_nothing 'accuracy.json: not a report.json of posenc report or make publish' \
  $with_records --beside accuracy.json
sed 's/"machines"/"machine"/' kept/report.json >lacking.json
check 'nor what is published without machines' leaves_nothing 'machines is missing' $with_records --beside lacking.json
check 'nor packages' leaves_nothing "its schema is not 'posenc-peers-2'" $with_records --packages kept/report.json
check 'nor their times beside reports of several' leaves_nothing 'not a peers.json of make check-peers' \
  one/report.json two/report.json --packages peers-times.json
check 'nor two names' leaves_nothing '--label b: there is no machine for it' $with_records --label a --label b
check 'nor beside reports of several' leaves_nothing '--beside' one/report.json two/report.json --beside one/report.json

# ---- bad input
sed 's/"digest":"aaaa"/"digest":7/g' one/report.json >digest.json
sed 's/"median":2250000000.0/"median":"fast"/g' one/report.json >median.json
sed 's/posenc-report-1/posenc-report-9/' one/report.json >schema.json
sed 's/"environment":{"accuracy":{/"environment":{"accurate":{/' one/report.json >bare.json
echo '{"schema": "posenc-report-1"}' >empty.json
echo '{' >broken.json
pair='one/report.json two/report.json'
no_report='not a report.json of posenc report'
check 'the same run twice' leaves_nothing 'one/report.json and one/report.json: the same run of the same machine' \
  one/report.json one/report.json
check 'one alone' leaves_nothing 'one/report.json: one report alone; side by side takes two' one/report.json
check 'a record' \
  leaves_nothing "accuracy.json: $no_report: schema is not 'posenc-report-1'" one/report.json accuracy.json
check 'another schema' leaves_nothing "schema.json: $no_report: schema is not" one/report.json schema.json
check 'a page of machines' leaves_nothing 'both/report.json: not a report.json' one/report.json both/report.json
check 'an empty one' leaves_nothing "empty.json: $no_report: kernels is missing" one/report.json empty.json
check 'a digest that is none' leaves_nothing 'digest is not a string or null' one/report.json digest.json
check 'a time that is none' leaves_nothing 'median is not a number' one/report.json median.json
check 'no environment' leaves_nothing 'environment.accuracy is missing' one/report.json bare.json
check 'no JSON' leaves_nothing 'broken.json: ' one/report.json broken.json
check 'no file' leaves_nothing 'none.json: ' one/report.json none.json
check 'a label too many' leaves_nothing '--label c: there is no machine for it' $pair --label a --label b --label c
check 'a label that a CPU has' \
  leaves_nothing 'two/report.json: both are called slide <rule>' $pair --label 'slide <rule>'
cp one/report.json input.json
check 'an input as the output' is_refused '--output one: it would replace one/report.json' $pair -o one
check 'and it is as it was' cmp one/report.json input.json
check 'a label twice' leaves_nothing '--label a: another machine is called so' $pair --label a --label a
check 'no label' leaves_nothing '--label ' $pair --label ''
check 'records beside reports' leaves_nothing '--from accuracy.json: cannot be combined' $pair --from accuracy.json
check 'kernels beside reports' leaves_nothing '--kernel quick: cannot be combined' $pair --kernel quick
check 'no folder' sh -c '! "$POSENC" report one/report.json two/report.json 2>err && grep -q "output is missing" err'

plan
exit "$tap_failed"
