#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the table of targets, from records with known figures.
. "${srcdir:-.}/tests/tap.sh"
: "${POSENC:=$PWD/posenc}"
targets=${POSENC%/*}/posenc-targets
[ -x "$targets" ] || { echo "Bail out! no $targets"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

row() { # TEXT: a row of the table, or the end of a row
  grep -qF -- "$1" out
}

repetitions() { # NAME MICROSECONDS...
  name=$1
  shift
  for time; do
    printf '{"name": "%s", "run_type": "iteration", "real_time": %s, "time_unit": "ns"},\n' "$name" "$(awk "BEGIN { print 1000 * $time }")"
  done
}
share() { # NAME SHARE
  printf '{"name": "%s", "run_type": "iteration", "of_limit": %s},\n' "$@"
}
{
  echo '{"context": {"cpu": "abacus", "cores": "1", "l1d": "49152", "load": "0.5"}, "benchmarks": ['
  for share in 0.9 0.96 0.99; do share hot/131072x1024/cr-avx512 $share; done
  share hot/32768x4096/cr-avx512 0.94
  repetitions process/512x512/cr-avx512 49 51 50
  repetitions hot/1x128+1000-rope32/cr-avx512 1.01 0.99 1.02
  # Quotients of pairs: 1.5, 2, 1.25, and one without a partner.
  repetitions hot/131072x1024-add/cr-avx512 10 10 20
  repetitions hot/131072x1024-add/cached 15 20 25 900
  printf '%s]}\n' "$(share hot/131072x128-base500000-rope-cache/cr-avx512 0.9 | sed 's/,$//')"
} >timings.json
echo '{"missing": {"torch": "no such module"}, "benchmarks": []}' >torch.json
echo '[{"name": "cr-avx2", "refusal": "this CPU has no AVX2"},
  {"name": "cr-threads", "threaded": true, "refusal": null}]' >kernels.json
"$targets" torch.json timings.json kernels.json >made
check 'records are taken in' test $? -eq 0
sed "s/$(printf '\302\240')/ /g" made >out # no-break spaces
check 'the machine is named' row '; cpu abacus; cores 1; l1d 48 KiB; load 0.5.'
check 'a share that is met' row '131072 × 1024 | ≥ 0.95 of the best fill | a large table costs no more than to write it | 0.960 (0.900–0.990) | met |'
check 'and one that is missed' row '32768 × 4096 | ≥ 0.95 of the best fill | a large table costs no more than to write it | 0.940 (0.940–0.940) | **missed** |'
check 'a time that is met, just' row '≤ 50 µs | a program that starts must not wait | 50.0 (49.0–51.0) | met |'
check 'and one that is missed' row '≤ 1 µs | each token waits for it, in each layer | 1.01 (0.990–1.02) | **missed** |'
check 'a ratio is that of pairs' row '≥ 1.3 times as fast as x += a table in memory | what frameworks do instead | 1.50 (1.25–2.00) | met |'
check 'a share with another reason' row '| what servers make when they start | 0.900 (0.900–0.900) | met |'
check 'what is not there is told' row '≥ 20 times as fast | what people run | not measured: no such module | – |'
check 'so is what cannot run' row '| not measured: cr-avx2: this CPU has no AVX2 | – |'
check 'and what has nothing to run on' row '| not measured: one core | – |'
counted() {
  met=$(grep -c '| met |' out) missed=$(grep -c 'missed\*\* |' out) unmeasured=$(grep -c 'not measured:' out)
  tail -n 1 out | grep -qx "$met met, $missed missed, $unmeasured not measured\."
}
check 'the last line counts' counted
check 'a quiet machine is no news' test "$(grep -c busy out)" -eq 0
sed 's/"load": "0.5"/"load": "1.5 1 1"/' timings.json >busy.json
"$targets" busy.json >out
check 'a busy one is' row 'The machine was busy'
"$targets" nowhere.json >out 2>err
check 'a file that is missing is named' test $? -eq 2 -a "$(grep -c nowhere.json err)" -eq 1
"$targets" >out 2>err
check 'no file is no use' test $? -eq 2 -a "$(wc -l <err)" -eq 1
plan
exit "$tap_failed"
