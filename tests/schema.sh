#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that every kind of record that posenc writes is valid by the schema that the build prints, and is the same when
# it is read and written again.
# shellcheck disable=SC2086,SC2154 # lists of words; the environment comes from make
. "${srcdir:-.}/tests/command.sh"
schema=$abs_top_builddir/records/record.schema.json
[ -e "$schema" ] || schema=$root/records/record.schema.json
for validator in ${PYTHON:-} python3 /usr/bin/python3 ''; do
  [ -z "$validator" ] || "$validator" -c 'from jsonschema import Draft202012Validator' 2>/dev/null && break
done

fits() { # KIND FILE
  "$validator" "$root/tests/schema.py" "$schema" "$1" "$2" >out 2>err
}
is_written_again() { # FILE
  $EMULATOR "$abs_top_builddir/tests/records" "$1" >out 2>err
}
record() { # KIND FILE: two checks by themselves
  [ "$1" = encodings ] || check "$1: $2 written again" is_written_again "$2"
  if [ -n "$validator" ]; then
    check "$1: $2" fits "$1" "$2"
  else
    skip "$1: $2" 'no python3-jsonschema'
  fi
}
is_wrong() { # KIND FILE
  ! fits "$1" "$2" && grep -q "^$2: " out
}
wrong() { # KIND FILE SED-SCRIPT: a record that violates the schema
  sed "$3" "$2" >wrong.json
  if [ -n "$validator" ]; then
    check "$1: not $2 with $3" is_wrong "$1" wrong.json
  else
    skip "$1: not $2 with $3" 'no python3-jsonschema'
  fi
}

small='--kernel naive,rotation-portable --len 64 --dim 16'
verify() { # FILE OPTION...
  file=$1
  shift
  check "$file is written" ends 0 verify "$@" --format json -o "$file"
}
verify accuracy.json $small --explain --profile --search 100
verify rope.json --kernel naive --len 8 --dim 8 --op rope --heads 2
verify scaled.json --kernel rotation-portable --len 8 --dim 8 --scaling linear,factor=2
verify cases.json --kernel rotation-portable --cases "$root/reference/worst/base10000-d64.wc"
verify first.json $small --search 0 --shard 1/2
verify second.json $small --search 0 --shard 2/2
verify range.json --kernel rotation-portable --len 131072 --dim 1024 --exhaustive --search 0 --brief --shard 2/2
check 'of a range' grep -q '"range"' range.json
for file in accuracy rope scaled cases first second range; do record accuracy $file.json; done
check 'encodings.json is written' ends 0 verify --encoding integer --format json -o encodings.json
record encodings encodings.json
check 'list.safetensors is written' ends 0 write --positions 5,-2.5,5 --dim 16 -o list.safetensors
check 'list.json is written' ends 0 check list.safetensors --max-ulp 0.51 --format json -o list.json
check 'of equal rows' grep -q '"equal": 1' list.json
record file_check list.json
wrong file_check list.json 's/"compared": 3/"compared": -3/'
check 'x.npy is written' ends 0 write --len 8 --dim 16 -o x.npy
check 'turned.npy is written' ends 0 write --op rope --x x.npy -o turned.npy
check 'turned.json is written' ends 0 check --op rope --x x.npy turned.npy --max-ulp 2 --format json -o turned.json
record file_check turned.json
for file in list.safetensors turned.npy; do
  op=
  [ $file = list.safetensors ] || op='--op rope --x x.npy'
  posenc identify $op $file --format json
  cp out identified.json
  record identified identified.json
done
check 'scaled.npy is written' ends 0 write --len 64 --dim 16 --scaling llama3 -o scaled.npy
check 'its table is found' ends 0 identify scaled.npy --format json --expect scaling=llama3 -o identified.json
record identified identified.json
wrong identified identified.json 's/"verdict": ".*"/"verdict": "chair"/'
wrong identified identified.json 's/"base_error": [0-9.e+-]*/"base_error": null/'
check 'grid.npy is written' ends 0 write --grid h=8,w=8 --dim 32 -o grid.npy
check 'its axes are found' ends 0 identify grid.npy --format json -o identified.json
check 'each is a table' grep -q '"verdict": "table"' identified.json
record identified identified.json
check 'shards are merged' ends 0 merge first.json second.json -o merged.json
record merged_accuracy merged.json
wrong merged_accuracy first.json ''
wrong accuracy accuracy.json 's/"misrounded"/"rounded"/'
wrong accuracy accuracy.json 's/"elements": [0-9]*/"elements": -1/'
wrong accuracy accuracy.json 's/"posenc-accuracy-1"/"posenc-accuracy-2"/'
# What processes of verify tell each other is in no file.
wrong accuracy accuracy.json 's/"mode": /"rests": {"elements": 0, "farthest": 0, "reach": 0, "rests": []}, &/'
posenc verify $small --search 0 --save baseline.json
record baseline baseline.json
record baseline "$root/tests/baseline.json"
wrong baseline baseline.json 's/"share"/"part"/'
posenc compare accuracy.json merged.json --format json
cp out comparison.json
record comparison comparison.json
mkdir -p history
sed 's/"date": "2/"date": "1/; s/"misrounded": [1-9][0-9]*/"misrounded": 0/' accuracy.json >history/before.json
cp accuracy.json history/after.json
posenc history history --order date --format json
cp out history.json
check 'a history with a change' contains history.json '"verdict": "worse"'
record history history.json
wrong history history.json 's/"order": "date"/"order": "size"/'

if "$POSENC" bench --kernel naive --len 8 --dim 4 2>&1 | grep -q 'without Google Benchmark'; then
  skip 'timings' 'without Google Benchmark'
else
  bench() { # FILE OPTION...
    check "$1 is written" ends 0 bench $small --repetitions 3 --min-time 0.0001 --format json -o "$@"
  }
  bench timing.json
  bench shard.json --shard 1/1
  for file in timing shard; do record timing $file.json; done
  check 'timings are merged' ends 0 merge shard.json -o merged.json
  record merged_timing merged.json
  wrong merged_timing shard.json ''
  wrong timing timing.json 's/"kernel_abi.naive": ".*"/"kernel_failed.naive": null/'
  wrong timing timing.json 's/"real_time": [0-9.e+-]*/"real_time": "fast"/'
  posenc choose --len 64 --dim 16 --kernel naive,rotation-portable --format json
  cp out choice.json
  record choice choice.json
  record published "$root/reports/published/report.json"
  posenc compare timing.json timing.json --format json
  cp out comparison.json
  record comparison comparison.json
  posenc compare --run "$POSENC" "$POSENC" --blocks 1 --format json -- $small --repetitions 3 --min-time 0.0001
  cp out run.json
  record comparison run.json
  if "$POSENC" report --from accuracy.json --from timing.json -o one >out 2>err; then
    record report one/report.json
    sed 's/"cpu":"/&other /' one/report.json >other.json
    check 'machines are put side by side' ends 0 report one/report.json other.json -o both
    record machines both/report.json
  else
    skip 'reports' "$(cat err)"
  fi
fi
plan
exit "$tap_failed"
