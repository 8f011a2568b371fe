#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests shards of a run, and the record that posenc merge makes of them.
# It takes half a minute: runs are made whole and in shards.
# shellcheck disable=SC2016,SC2059,SC2086,SC2154,SC2317
. "${srcdir:-.}/tests/command.sh"
export POSENC
cases=$root/reference/worst/base10000-d64.wc
leaves_nothing() { # PATTERN ARGUMENT...: refused, and no.json is not written
  rm -f no.json
  is_refused "$@" -o no.json && [ ! -e no.json ]
}
no_merge() { # NAME PATTERN FILE...: these records are refused
  merge_name=$1 merge_text=$2
  shift 2
  check "$merge_name" leaves_nothing "$merge_text" merge "$@"
}
one_shape='--kernel rotation-portable --len 16 --dim 8'
shards() { # N FOLDER ARGUMENTS...: of verify
  n=$1 folder=$2
  shift 2
  mkdir "$folder"
  "$POSENC" verify "$@" --format json -o "$folder/whole.json" || return
  for i in $(seq "$n"); do
    "$POSENC" verify "$@" --format json --shard "$i/$n" -o "$folder/$i.json" || return
  done
}
timeless() { # FILE
  grep -vE '^ *"(date|load)":' "$1"
}
same() { # FILE FILE
  timeless "$1" >one
  timeless "$2" >other
  cmp one other >out 2>err
}
numbers() { # KEY FILE...: prints the numbers of all shards
  key=$1
  shift
  cat "$@" | sed -n "/^    \"$key\": \\[/,/\\]/p" | grep -oE '[0-9]+' | sort -n | tr '\n' ' '
}

# ---- accuracy: the merged record is that of the whole run
what='--kernel naive,rotation-portable,cr-portable --op rope --budget 2000 --brief'
check 'three shards of what is published of rope' shards 3 published $what
check 'are merged in any order' ends 0 merge published/2.json published/3.json published/1.json -o merged.json
check 'into the record of the whole run' same merged.json published/whole.json
exams=$(grep -c '^      "kernel": ' published/whole.json)
check 'no exam is dealt twice or not at all' \
  test "$(numbers items published/[123].json)" = "$(seq 0 $((exams - 1)) | tr '\n' ' ')"
elements() { grep -oE '^      "elements": [0-9]+' "$1" | awk '{ sum += $2 } END { print sum }'; }
for i in 1 2 3; do elements published/$i.json; done | sort -n >sums
check 'no shard has twice the elements of another' test "$(tail -n 1 sums)" -lt $((2 * $(head -n 1 sums)))
check 'to standard output' ends 0 merge published/1.json published/2.json published/3.json
cp out standard.json
check 'it is the same' same standard.json published/whole.json
check 'a profile is dealt too' \
  shards 2 profiled --kernel rotation-portable --len 64 --dim 8 --profile --search 10 --brief
check 'and merged' ends 0 merge profiled/1.json profiled/2.json -o merged.json
check 'into the same' same merged.json profiled/whole.json
check 'it has rows and their distances' \
  test "$(grep -oE '"(apart|collisions)": ' merged.json | sort -u | wc -l)" -eq 2
check 'hard-to-round cases' shards 2 hard --kernel rotation-portable,cr-portable --cases "$cases"
check 'are merged' ends 0 merge hard/1.json hard/2.json -o merged.json
check 'into the same record' same merged.json hard/whole.json
cp "$cases" here.wc
mkdir there
cp "$cases" there/other.wc
verify_part() { # FILE I/N OPTION...
  shard_file=$1 shard_number=$2
  shift 2
  "$POSENC" verify "$@" --format json --shard "$shard_number" -o "$shard_file" 2>err
}
verify_part c1.json 1/2 --kernel rotation-portable,cr-portable --cases here.wc
verify_part c2.json 2/2 --kernel rotation-portable,cr-portable --cases there/other.wc
check 'cases of the same content, by another path' ends 0 merge c1.json c2.json -o merged.json
sed 's/^cases 100$/cases 99/; $d' "$cases" >here.wc
verify_part c2.json 2/2 --kernel rotation-portable,cr-portable --cases here.wc
no_merge 'of another content, by the same path' 'other cases' c1.json c2.json
# Plugins that differ only in a text that is not in any contract.
plugin() { # FILE TEXT
  printf '#include "%s/examples/plugin/kernel.c"\nconst char posenc_is_not_asked[] = "%s";\n' "$root" "$2" >plugin.c
  # shellcheck disable=SC2086
  $CC $CFLAGS -I"$root/include" -shared -fPIC plugin.c -o "$1" >log 2>&1
}
if [ -e "$abs_top_builddir/.libs/libposenc.so" ] && plugin there/one.so one && plugin two.so two; then
  cp there/one.so one.so
  name=$("$POSENC" list --plugin ./one.so --format names | tail -n 1)
  verify_part p1.json 1/2 --plugin ./one.so --kernel "$name,rotation-portable" --len 64 --dim 8 --search 0
  verify_part p2.json 2/2 --plugin there/one.so --kernel "$name,rotation-portable" --len 64 --dim 8 --search 0
  check 'a plugin of the same content, by another path' ends 0 merge p1.json p2.json -o merged.json
  cp two.so one.so
  verify_part p2.json 2/2 --plugin ./one.so --kernel "$name,rotation-portable" --len 64 --dim 8 --search 0
  no_merge 'of another content, by the same path' 'p1.json and p2.json: other plugins' p1.json p2.json
else
  skip 'plugins of shards' 'no shared library here'
fi
check 'more shards than work: some have nothing to do, and all is well' shards 3 few $one_shape --search 0 --brief
check 'they are merged' ends 0 merge few/3.json few/2.json few/1.json -o merged.json
check 'into the only one that has' same merged.json few/whole.json
check 'one shard of one' \
  ends 0 verify $one_shape --search 0 --brief --format json --shard 1/1 -o one.json
check 'is the whole' ends 0 merge one.json -o merged.json
check 'and the same' same merged.json few/whole.json
check 'a merged record is one for posenc compare' ends 0 compare few/whole.json merged.json

# ---- ranges of one table: two segments of 2^26 elements and half of one
if emulated; then skip 'ranges of one table' 'more than 2^29 elements take an emulator an hour'; else
  large='--len 163840 --dim 1024 --exhaustive --search 0 --brief'
  check 'one table in three shards' shards 3 ranges --kernel rotation-portable $large
  check 'is merged in any order' ends 0 merge ranges/2.json ranges/3.json ranges/1.json -o merged.json
  check 'into the record of the whole, to the last bit' same merged.json ranges/whole.json
  field() { sed -n "s/^      \"$1\": \([0-9]*\),*$/\1/p" "$2"; }
  check 'each shard has a segment' \
    test "$(for i in 1 2 3; do field elements ranges/$i.json; done | tr '\n' ' ')" = '67108864 67108864 33554432 '
  check 'a sample of a table, of two segments' \
    shards 2 sample --kernel rotation-portable --len 1073741824 --dim 512 --budget 2147483648 --search 0 --brief
  check 'is merged' ends 0 merge sample/1.json sample/2.json -o merged.json
  check 'into the same record' same merged.json sample/whole.json
  check 'of a range each' grep -q '"range"' sample/1.json
  check 'rope in two shards' \
    shards 2 turned --kernel rotation-portable --op rope --heads 64 --len 16384 --dim 128 --exhaustive --brief
  check 'is merged' ends 0 merge turned/1.json turned/2.json -o merged.json
  check 'into the same record' same merged.json turned/whole.json
  check 'of a range each' grep -q '"range"' turned/2.json
  sed 's/^        "from": 1,/        "from": 0,/' ranges/2.json >other.json
  no_merge 'rows twice' 'its ranges are not all rows, each once' ranges/1.json other.json ranges/3.json
  sed '/^      "segments": \[$/,/^      \]/c\      "segments": []' ranges/2.json >other.json
  no_merge 'a range without its sums' 'its ranges are not of one exam' ranges/1.json other.json ranges/3.json
  if ! command -v python3 >/dev/null; then skip 'ranges that ended early' 'no python3 here'; else
    ended() { # REFUSAL CHECKS PASSED FAILED SKIPPED RANGE: the record of a range whose kernel refused it or crashed
      python3 -c '
import json, sys
refusal, checks, *counts, file = sys.argv[1:]
record = json.load(open(file))
result = {key: value for key, value in record["records"][0].items() if key in ("kernel", "shape", "replay", "range")}
record["records"] = [result | {"refusal": json.loads(refusal), "checks": json.loads(checks)}]
record |= dict(zip(("passed", "failed", "skipped"), map(int, counts)))
json.dump(record, sys.stdout)' "$@"
    }
    ended '"out of memory"' '[]' 0 0 1 ranges/2.json >refused.json
    no_merge 'a range refused in one shard, and computed in others' \
      'refused.json: rotation-portable refused a range: out of memory; others computed theirs: do this shard again' \
      ranges/1.json refused.json ranges/3.json
    for i in 1 2 3; do ended '"out of memory"' '[]' 0 0 1 ranges/$i.json >refused$i.json; done
    check 'refused in all' ends 1 merge refused1.json refused2.json refused3.json -o merged.json
    check 'it is refused' grep -q '"refusal": "out of memory"' merged.json
    crash='[{"property": "crash", "ok": false, "skipped": false, "note": "SIGSEGV"}]'
    ended null "$crash" 0 1 0 ranges/3.json >crashed.json
    check 'a range that crashed' ends 1 merge ranges/1.json ranges/2.json crashed.json -o merged.json
    check 'is the result' grep -q '"note": "SIGSEGV"' merged.json
  fi
  # One element is beyond the bound, in the second shard only.
  awk '!done && /"ok": true/ { sub(/true/, "false"); done = 1 }
    !told && /"broken": 0/ { sub(/0/, 1); told = 1 }
    /^  "passed":/ { sub(/[0-9]+/, substr($2, 1, length($2) - 1) - 1) }
    /^  "failed":/ { sub(/0/, 1) } { print }' ranges/2.json >other.json
  check 'what one range breaks is broken' ends 1 merge ranges/1.json other.json ranges/3.json -o merged.json
  check 'and told' grep -q '"note": "1 of 167772160 beyond the bound' merged.json
fi

# A check that failed on one machine fails in the merged record.
awk '!done && /"ok": true/ { sub(/true/, "false"); done = 1 }
  /^  "passed":/ { sub(/[0-9]+/, substr($2, 1, length($2) - 1) - 1) }
  /^  "failed":/ { sub(/0/, 1) } { print }' published/1.json >broken.json
check 'a broken promise stays broken' ends 1 merge broken.json published/2.json published/3.json -o merged.json
check 'and counts' grep -q '^  "failed": 1,' merged.json

# The encodings other than the table have a record within that of the whole run.
with_encodings() { # FILE CHECK-IS-OK FAILED: prints the record with encodings that have one check
  encodings='{"encodings": [{"name": "alibi"}], "records": [{"kernel": "alibi", "shape": {"name": "all"},
    "mode": "exhaustive", "elements": 1, "of": 1, "checks": [{"property": "accuracy", "ok": %s, "skipped": false}]}],
    "passed": %d, "failed": %d, "skipped": 0}'
  encodings=$(printf "$encodings" "$2" $((1 - $3)) "$3" | tr -d '\n')
  sed "1s/{/{ \"encodings\": $encodings,/; s/\"encodings\": false/\"encodings\": true/" "$1"
}
with_encodings one.json true 0 >encoded.json
check 'a record with encodings' ends 0 merge encoded.json -o merged.json
check 'has them' grep -q '"alibi"' merged.json
with_encodings one.json false 1 >encoded.json
check 'broken promises of encodings' ends 1 merge encoded.json -o merged.json
with_encodings one.json false 0 >encoded.json
no_merge 'cannot be hidden' 'encodings.passed is 1, but by the checks it is 0' encoded.json
sed '1s/{/{ "encodings": {},/; s/^    "run": {/&"encodings": true,/' one.json >encoded.json
no_merge 'encodings that are none' 'encodings.encodings is missing' encoded.json

# ---- several machines
named() { # modified sources have no name, and these builds may be modified
  sed 's/"commit": ".*"/"commit": "0123456789ab"/'
}
for i in 1 2 3; do named <published/$i.json >n$i.json; done
sed 's/"cpu": ".*"/"cpu": "abacus"/' n2.json >cpu.json
check 'in any order' ends 0 merge cpu.json n3.json n1.json -o other.json
check 'kernels on libm on another CPU' "$POSENC" merge n1.json cpu.json n3.json -o merged.json
check 'the same record' cmp merged.json other.json
check 'which is told beside the other' grep -q '"cpu": ".* / abacus"' merged.json
for fact in libc sleef compiler cflags isa; do
  sed "s/\"$fact\": \".*\"/\"$fact\": \"other\"/" n3.json >other.json
  no_merge "but not with another $fact" "n1.json and other.json: $fact: " n1.json n2.json other.json
done
check 'with the kernel that it is about' grep -qF ', on which the bits of naive depend' err
shards 2 exact --kernel rotation-portable,cr-portable --len 64 --dim 8 --search 10
named <exact/1.json >e1.json
named <exact/2.json |
  sed 's/"\(libc\|compiler\)": ".*"/"\1": "other"/; s/"isa": "g.*"/"isa": "generic"/' >e2.json
check 'reproducible kernels merge all the same' ends 0 merge e1.json e2.json -o merged.json
check 'the libc is told' grep -q '"libc": ".* / other"' merged.json
for i in 1 2; do sed 's/"commit": ".*"/"commit": "0123456789ab, modified"/' e$i.json >m$i.json; done
no_merge 'unless the sources were modified' 'and their sources were modified' m1.json m2.json
for i in 1 2; do sed 's/"commit": ".*"/"commit": "unknown"/' e$i.json >m$i.json; done
no_merge 'or are unknown' 'or are unknown' m1.json m2.json
sed 's/"build": ".*"/"build": "0"/' m2.json >other.json
sed 's/"\(libc\|compiler\|isa\)": ".*"/"\1": "x"/' m1.json >m3.json
sed 's/"\(libc\|compiler\|isa\)": ".*"/"\1": "x"/' other.json >m4.json
no_merge 'other builds of such sources' 'm3.json and m4.json: build: .* and 0, and their sources were' m3.json m4.json
for fact in posenc_version commit kernel_abi; do
  sed "s/\"$fact\": \".*\"/\"$fact\": \"0\"/" e2.json >other.json
  no_merge "another $fact" "e1.json and other.json: $fact: " e1.json other.json
  for i in 1 2; do sed "/^    \"$fact\":/d" e$i.json >m$i.json; done
  no_merge "no $fact on either" "m1.json: no record: it does not tell $fact" m1.json m2.json
done
sed '/"name": "rotation-portable"/,/"refusal"/s/"refusal": null/"refusal": "needs an abacus"/' e2.json >other.json
no_merge 'a kernel that runs on one of them alone' 'rotation-portable promises something else, or runs on one' \
  e1.json other.json

# ---- records that do not belong together
no_merge 'a shard is missing' '1.json and others: shard 2 of 3 is missing' published/1.json published/3.json
check 'with the command that does it' \
  grep -qF "; to do shard 2: posenc verify --shard 2/3 -o FILE $what --format json" err
no_merge 'all but one' 'shards 2-3 of 3 are missing' published/1.json
no_merge 'a shard twice' 'shard 3 of 3 is missing; shard 1 of 3 is doubled (.*1.json, .*1.json)' \
  published/1.json published/1.json published/2.json
no_merge 'of another number' 'shards' published/1.json profiled/2.json
no_merge 'of another run' 'exact/1.json and profiled/2.json: ' exact/1.json profiled/2.json
for setting in seed budget search threads; do
  sed "s/\"$setting\": [0-9][0-9]*/\"$setting\": 77/" exact/2.json >other.json
  no_merge "another $setting" "exact/1.json and other.json: $setting: " exact/1.json other.json
done
sed 's/^  "budget": [0-9]*/  "budget": 77/' exact/2.json >other.json
no_merge 'a record that contradicts its shard' 'other.json: budget: ' exact/1.json other.json
for rule in row_rule x_rule; do
  sed "s/^  \"$rule\": [0-9]*/&9/" exact/2.json >other.json
  no_merge "another $rule" "exact/1.json and other.json: $rule: " exact/1.json other.json
done
sed 's/^        "rotation-portable",/        "cr-avx2",/' published/2.json >other.json
no_merge 'other kernels' 'other kernels' published/1.json other.json published/3.json
sed 's/"rows": 4096/"rows": 4097/' published/2.json >other.json
no_merge 'other shapes' 'other shapes' published/1.json other.json published/3.json
sed '0,/"modes": [0-9]*/s//"modes": 77/' published/2.json >other.json
no_merge 'other items' 'other modes or profiles' published/1.json other.json published/3.json
for list in kernel shape; do
  sed "0,/\"$list\": [0-9][0-9]*/s//\"$list\": 77/" published/2.json >other.json
  no_merge "an item of no $list" 'no record: an item is of no kernel or shape' published/1.json other.json published/3.json
done
sed '/^    "items": \[/,/^    \]/s/^      1\(,*\)$/      0\1/' exact/2.json >other.json
no_merge 'an exam twice' 'both have records 0, of ' exact/1.json other.json
sed '/^    "items": \[/,/^    \]/s/^      1\(,*\)$/      9\1/' exact/2.json >other.json
no_merge 'an exam that the run has not' 'but the run has 2' exact/1.json other.json
sed '/^    "items": \[/,/^    \]/s/^      1\(,*\)$/      1, 0/' exact/2.json >other.json
no_merge 'more exams than records' '1 records, but the shard says 2' exact/1.json other.json
sed '/^    "items": \[/,/^    \]/s/^      1\(,*\)$/      -1/' exact/2.json >other.json
no_merge 'a number below 0' 'shard.items is not an array of integers of 0 or more' exact/1.json other.json
sed -e '/^  "records": \[$/,/^  \]/c\  "records": [],' -e '/^    "items": \[/,/^    \]/c\    "items": [],' \
  -e 's/^  "\(passed\|failed\|skipped\)": [0-9]*/  "\1": 0/' exact/2.json >other.json
no_merge 'the last exam is nowhere' 'no file has records 1, of ' exact/1.json other.json
sed '/^  "records": \[$/,/^  \]/s/"rows": [0-9]*/"rows": 4097/' exact/2.json >other.json
no_merge 'a result of another shape' 'is not of the kernel and shape' exact/1.json other.json
sed 's/^      "kernel": "rotation-portable"/      "kernel": "cr-portable"/' exact/2.json >other.json
no_merge 'a result of another kernel' 'is not of the kernel and shape' exact/1.json other.json
no_merge 'a whole run' 'whole.json: not a shard, but a whole run' exact/whole.json
no_merge 'a whole run and a shard' 'one is a shard, the other a whole run' exact/1.json exact/whole.json
echo '{"x": 1}' >other.json
no_merge 'no record' 'other.json: no record: schema' exact/1.json other.json
no_merge 'no file' 'none.json' exact/1.json none.json
no_merge 'no files' 'records are missing'
check 'a report of a part' leaves_nothing 'posenc merge makes one record of all its shards' report --from exact/1.json
cp exact/1.json input.json
check 'an input as the output' \
  is_refused '--output input.json: it is the file to merge' merge input.json exact/2.json -o input.json
check 'and it is as it was' cmp input.json exact/1.json
check 'no place to write to' is_refused '--output' merge exact/1.json exact/2.json -o missing/no.json

# ---- --shard
for text in 0/3 4/3 1 1/ /3 1/0 -1/3 +1/3 1/3x ' 1/3' 1/10001 a/b ''; do
  check "--shard '$text'" leaves_nothing '--shard ' verify $one_shape --shard "$text"
done
saves_nothing() {
  is_refused '--save no.json: cannot be combined with --shard' verify $one_shape --shard 1/2 --save no.json &&
    [ ! -e no.json ]
}
check 'no --save of a part' saves_nothing
check 'no --encoding' leaves_nothing 'combined with --encoding' verify --encoding alibi --shard 1/2

# ---- timings
if "$POSENC" bench --kernel naive --len 8 --dim 4 2>&1 | grep -q 'without Google Benchmark'; then
  skip 'timings' 'without Google Benchmark'
  plan
  exit "$tap_failed"
fi
time_it() { # FILE ARGUMENTS...
  file=$1
  shift
  ends 0 bench --kernel naive,rotation-portable --repetitions 3 --min-time 0.0001 --format json -o "$file" "$@"
}
moved() { # FILE: with another load
  sed 's/"load\(_after\)*": ".*"/"load\1": "77.00 7.00 7.00"/' "$1"
}
names() { grep -hoE '^      "name": ".*"' "$@" | sort; }
check 'timings of a whole run' time_it whole.json --op rope-cache
check 'and of its two shards: the first' time_it b1.json --op rope-cache --shard 1/2
check 'and the second' time_it b2.json --op rope-cache --shard 2/2
check 'are merged' ends 0 merge b2.json b1.json -o merged.json
names merged.json >one
names whole.json >other
check 'with all benchmarks of the whole' cmp one other
families() { sed -n 's/^      "family_index": \([0-9]*\),*/\1/p' "$1" | sort -un; }
check 'and families counted from 0' test "$(families merged.json)" = "$(seq 0 $(($(families merged.json | wc -l) - 1)))"
sed 's/"family_index": [0-9]*/"family_index": 9223372036854775807/' b1.json >other.json
check 'whatever the files say' ends 0 merge b2.json other.json -o merged.json
check 'and so they are' test "$(families merged.json)" = "$(seq 0 $(($(families merged.json | wc -l) - 1)))"
moved b2.json >other.json
check 'the load may move' ends 0 merge b1.json other.json -o merged.json
grep -o '"turn": .*' merged.json | sort >one
sort -u one >other
check 'and no turn twice' eval \
  '[ -s one ] && cmp -s one other && [ "$(wc -l <one)" -eq "$(grep -c "\"run_type\": \"iteration\"" merged.json)" ]'
for i in 1 2; do names b$i.json | cut -d/ -f2 | sort -u; done | sort | uniq -d >shapes_twice
check 'each shape in one process' test ! -s shapes_twice
check 'a merged record is one for posenc compare' ends 0 compare merged.json merged.json
check 'a shard with nothing to time' time_it b3.json --len 16 --dim 8 --shard 2/2
check 'has no benchmarks' grep -q '"benchmarks": \[\]' b3.json
check 'beside the other' time_it b4.json --len 16 --dim 8 --shard 1/2
check 'it is merged' ends 0 merge b3.json b4.json -o merged.json
names merged.json >one
names b4.json >other
check 'and changes nothing' cmp one other
check 'which has the facts of Google Benchmark' grep -q '"num_cpus"' merged.json
for fact in cpu libc compiler commit memory governor host_name; do
  sed "s/\"$fact\": \".*\"/\"$fact\": \"abacus\"/" b2.json >other.json
  no_merge "timings with another $fact" \
    "b1.json and other.json: $fact: .* and abacus, and times belong to one machine and one build" b1.json other.json
done
sed 's/"build": ".*"/"build": "0"/' b2.json >other.json
no_merge 'timings of another build' 'b1.json and other.json: build: .* and 0, and times belong' b1.json other.json
for fact in cpu commit; do
  sed "/^    \"$fact\":/d" b1.json >other.json
  no_merge "timings without a $fact" "other.json: no record: it does not tell $fact" other.json b2.json
done
sed 's/"min_time": [0-9.e-]*/"min_time": 7/' b2.json >other.json
no_merge 'timings of another length' 'b1.json and other.json: min_time' b1.json other.json
no_merge 'a shard of timings is missing' 'shard 2 of 2 is missing' b1.json
sed 's/"number": 1/"number": 2/' b1.json >twice.json
no_merge 'an item twice' 'both have item ' b1.json twice.json
sed '/^  "benchmarks": \[$/,/^  \]/c\  "benchmarks": []' b2.json >other.json
no_merge 'a shard without its benchmarks' 'other.json: 0 benchmarks, but the shard says ' b1.json other.json
check 'no choice of some benchmarks' is_refused '--benchmark_filter=naive: cannot be combined with --shard' \
  bench --kernel naive --len 8 --dim 4 --shard 1/2 -- --benchmark_filter=naive
check 'flags of Google Benchmark' time_it flags.json --len 16 --dim 8 --shard 1/2 -- --benchmark_context=a=b
check 'follow the options that are told' \
  is_refused 'posenc bench --shard 2/2 -o FILE .* -- --benchmark_context=a=b$' merge flags.json
sed 's,hot/\([^/"]*\)/,hot/x\1/,' b1.json >other.json
no_merge 'benchmarks of another shape' 'other.json: hot/x.* is not of the shapes of the shard' other.json b2.json
sed 's,\(hot/.*\)/naive,\1/recipe/naive,' b1.json >other.json
no_merge 'and of another kernel' 'other.json: hot/.*/recipe/naive.* is not of the shapes' other.json b2.json
for i in 1 2; do time_it n$i.json --len 0 --dim 8 --shard $i/2; done
check 'nothing to time on either' ends 1 merge n1.json n2.json -o merged.json
no_merge 'accuracy and timings' 'one tells accuracy, the other speed' b1.json exact/2.json
check 'hot' time_it hot.json --len 16 --dim 8 --mode hot
check 'and plan' time_it plan.json --len 16 --dim 8 --mode plan
check 'are merged, as they are apart' ends 0 merge hot.json plan.json -o merged.json
check 'into both' test "$(names merged.json | cut -d/ -f1 | sort -u | tr -d ' \n')" = '"name":"hot"name":"plan'
check 'of other shapes' time_it wide.json --len 16 --dim 16 --mode hot
check 'they are merged, too' ends 0 merge hot.json wide.json plan.json -o merged.json
check "with the library's choice for each" test "$(grep -c '"all_threads"' merged.json)" -eq 2
check 'of a large table' time_it large.json --len 4096 --dim 1024 --mode plan --threads 2
chosen() { sed -n "s/^ *\"$1\": \"\(.*\)\",*\$/\1/p" large.json | head -n 1; }
check 'two choices, of which one has threads' \
  eval 'chosen kernel | grep -v -- -threads && chosen all_threads | grep -- -threads'
sed 's/"all_threads": ".*"/"all_threads": "naive"/' plan.json >other.json
no_merge 'two choices for one shape' 'other.json and files before it: the library chooses other kernels for ' \
  hot.json wide.json other.json
sed '/^    "governor":/d' hot.json >first.json
sed 's/"governor": ".*"/"governor": "abacus"/' plan.json >second.json
time_it cold.json --len 16 --dim 8 --mode cold
no_merge 'a fact that the first lacks' 'second.json and cold.json: governor: ' first.json second.json cold.json
no_merge 'what is in both is not' 'both have hot/' hot.json hot.json
check 'a report of a part of the timings' leaves_nothing 'posenc merge makes one record' report --from b1.json

plan
exit "$tap_failed"
