#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that the commands which failures print, run as printed from the same folder, fail again in the same way.
# Touched by: cli verify records common tests/mutants
# shellcheck disable=SC2086,SC2154 # lists of words; the environment comes from make
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

# ---- records
posenc verify --kernel naive --len 300 --dim 64 --format json --seed 5 >old.json
sed 's/"misrounded": [0-9]*/"misrounded": 0/' old.json >less.json
posenc compare less.json old.json >first
check 'what compare tells is a command that verifies the table' eval \
  'line=$(sed -n "s/^ *\(posenc verify .*\)/\1/p" first) && [ "$line" ] && eval "$line" >again && grep -q 300x64 again'

# ---- tables
posenc write --len 64 --dim 8 --base 9000 -o 'a table.npy'
posenc check 'a table.npy' --max-ulp 1 --format tap >first
check 'a wrong table fails' test $? -eq 1
check 'and again, by the command that is printed' eval \
  'line=$(sed -n "s/^# replay: //p" first | head -n 1) && [ "$line" ] && ! eval "$line --format tap" >again &&
   [ "$(grep "^not ok" first)" = "$(grep "^not ok" again)" ]'
plan
exit "$tap_failed"
