#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that the commands which failures print, run as printed from the same folder, fail again in the same way; and
# that those in a report find its figures again.
# Touched by: cli verify records common reports/*.c reports/model reports/sections tests/mutants
# shellcheck disable=SC2016,SC2086,SC2154 # texts with backticks; lists of words; the environment comes from make
. "${srcdir:-.}/tests/tap.sh"
modules=$abs_top_builddir/tests/mutants
[ -e "$modules/values.so" ] || skip_all 'no shared objects in this build'
sanitized && skip_all 'what mutants do is no fault of posenc'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
mkdir "$work/bin" "$work/run" && cd "$work/run" || exit 99
printf '#!/bin/sh\nexec "%s" "$@"\n' "$POSENC" >../bin/posenc
chmod +x ../bin/posenc
PATH=$work/bin:$PATH
export PATH
cp "$modules/values.so" "a plugin.so" # a name that a shell must not divide
diagnose() { sed 's/^/# /' first again 2>/dev/null | head -n 20; }

# Each failure "KERNEL, PROPERTY of" of `first`, with the command below it.
failures_of() {
  sed -n -e 's/^FAIL  \([^,]*, [a-z-]* of\) .*/\1/p' -e 's/^ *again: /|/p' first | paste -d '\0' - - | sort -u
}

# Runs the commands of all failures of a run, each command once.
fails_again() { # OPTION...
  posenc verify --format text "$@" >first 2>&1 </dev/null
  [ $? -eq 1 ] || return 1
  failures_of >failures
  [ -s failures ] || return 1
  cut -d '|' -f 2- failures | sort -u >commands
  while read -r line; do
    eval "$line --format text" >again 2>&1 </dev/null
    [ $? -eq 1 ] || return 1
    grep -F "|$line" failures | cut -d '|' -f 1 | while read -r failure; do
      grep -qF "FAIL  $failure " again || exit 1
    done || return 1
  done <commands
}

some='scale-ignored,scaling-ignored'
check 'a plugin and a seed' fails_again --plugin './a plugin.so' --kernel $some --len 300 --dim 64 --seed 7
check 'the published shapes' fails_again --plugin './a plugin.so' --kernel scaling-ignored --brief
check 'a budget, a search seed, instruction sets and threads' fails_again --plugin './a plugin.so' --kernel $some \
  --len 40000 --dim 64 --budget 100000 --search 10 --isa generic --threads 2 --seed 3
for shard in 1 2; do
  check "shard $shard of 2" fails_again --plugin './a plugin.so' --kernel $some --len 300 --dim 64 \
    --shard $shard/2
done
cat >config.json <<'END'
{"model_type": "llama", "hidden_size": 512, "num_attention_heads": 4, "rope_theta": 500000.0,
 "max_position_embeddings": 2048, "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
 "high_freq_factor": 4.0, "original_max_position_embeddings": 512}}
END
check 'a config' fails_again --plugin './a plugin.so' --kernel $some --config config.json --len 128
check 'a list of positions' fails_again --plugin './a plugin.so' --kernel scale-ignored --positions 5,-1,300.5 \
  --dim 64 --scale 0.5
printf '5\n7000\n12\n' >'my positions'
check 'a file of them' fails_again --plugin './a plugin.so' --kernel scale-ignored --positions 'my positions' \
  --dim 64 --scale 0.5
check 'add and rope' fails_again --plugin './a plugin.so' --kernel scale-ignored --op rope --len 64 --dim 64 \
  --heads 3 --scale 0.5

posenc verify --kernel naive --len 300 --dim 64 --save saved.json >saving
sed 's/"misrounded": [0-9]*/"misrounded": 0/' saved.json >'a baseline.json'
check 'a baseline' fails_again --kernel naive --len 300 --dim 64 --baseline 'a baseline.json'
check 'a bound that is proposed' fails_again --plugin "$modules/memory.so" --kernel byte-before --len 300 --dim 64 \
  --propose-bound

# ---- records
posenc verify --kernel naive --len 300 --dim 64 --format json --seed 5 >old.json
sed 's/"misrounded": [0-9]*/"misrounded": 0/' old.json >less.json
posenc compare less.json old.json >first
check 'what compare tells is a command that verifies the table' eval \
  'line=$(sed -n "s/^ *\(posenc verify .*\)/\1/p" first) && [ "$line" ] && eval "$line" >again && grep -q 300x64 again'

# ---- reports
# Every witness in accuracy.csv of a report has a command that finds it again, and what failed there fails again; the
# page has one that makes the report again.
column() { # LINE: prints a field of CSV without its quotes
  printf '%s\n' "$1" | sed -e '/^".*"$/!b' -e 's/^"//; s/"$//; s/""/"/g'
}
finds_again() { # prints what was not found
  sed -e 1d -e 's/^"[^"]*"/shape/' page/accuracy.csv | cut -d, -f2,15- | sort -u | sort -t, -k4 -s >witnesses
  while IFS=, read -r kernel got exact line; do
    line=$(column "$line")
    [ "$line" = "$last" ] || eval "$line --format json -o again.json" >again 2>&1 </dev/null
    last=$line
    tr -d ' \n' <again.json | grep -qF "\"exact\":\"$exact\",\"got\":\"$got\"" || echo "# $kernel: $line"
  done <witnesses
}
fails_as_told() { # each row "kernel | shape | property | … | `command` |" under "What failed"
  sed -n '/^What failed/,/^## /s/^| `\(.*\)` |$/\1/p' page/report.md | sed 's/` | [^ ]* | /|/; s/ | .* | `/|/' >failures
  [ -s failures ] || return 1
  while IFS='|' read -r kernel property line; do
    eval "$line --format text" >again 2>&1 </dev/null
    [ $? -eq 1 ] && grep -q "^FAIL  $kernel, $property of " again || return 1
  done <failures
}
is_reported_again() { # STATUS OPTION...: the report, all its witnesses, and the report by its own command
  want=$1
  shift
  rm -rf page
  posenc report "$@" --brief --repetitions 3 --min-time 0.001 -o page >first 2>&1 </dev/null
  [ $? -eq "$want" ] || return 1
  finds_again >lost
  [ ! -s lost ] || { cat lost; return 1; }
  [ "$(wc -l <page/accuracy.csv)" -gt 2 ] || return 1
  [ "$want" -eq 0 ] || fails_as_told || return 1
  cp page/accuracy.csv once.csv
  line=$(sed -n '/^The command that makes this report again/,/^## /{/^posenc /p;}' page/report.md)
  eval "$line" >again 2>&1 </dev/null
  [ $? -eq "$want" ] && cmp once.csv page/accuracy.csv
}
posenc report -o /dev/null/none >err 2>&1 # is refused for its folder, after what forbids any page
if grep -q '/dev/null/none: ' err; then
  check 'a report of a sample' is_reported_again 0 --kernel rotation-portable --len 3000 --dim 16 --budget 500p
  check 'within a time, of rope, of a seed that is drawn' is_reported_again 0 --kernel cr-portable --budget 9s \
    --seed random --op rope --len 64 --dim 64 --heads 3 --scale 0.5
  check 'of a plugin, which fails' is_reported_again 1 --plugin './a plugin.so' --kernel $some --budget 9s \
    --len 300 --dim 64 --search 10 --scaling linear,factor=2 --threads 2 --isa generic
  check 'which is told first' grep -q '^> \*\*scale-ignored:\*\* .* Plugin: `\./a plugin\.so`$' page/report.md
  check 'with the default beside it' grep -q '^> \*\*Default, one thread:\*\* .*: `cr-portable`$' page/report.md
  check 'and why the literal formula is not' grep -q '^| [^|]* | `naive` | everything | it follows no scale' page/report.md
else
  skip 'reports' "$(head -n 1 err)"
fi

# ---- tables
posenc write --len 64 --dim 8 --base 9000 -o 'a table.npy'
posenc check 'a table.npy' --max-ulp 1 --format tap >first
check 'a wrong table fails' test $? -eq 1
check 'and again, by the command that is printed' eval \
  'line=$(sed -n "s/^# replay: //p" first | head -n 1) && [ "$line" ] && ! eval "$line --format tap" >again &&
   [ "$(grep "^not ok" first)" = "$(grep "^not ok" again)" ]'
posenc identify 'a table.npy' >first
check 'what identify tells is a command that holds the table to it' eval \
  'line=$(sed -n "s/^\(posenc check .*\) holds it to that\.$/\1/p" first) &&
   [ "$line" ] && eval "$line" >again && grep -q "^PASS" again'
plan
exit "$tap_failed"
