#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests times from end to end: kernels of known cost are timed, and every figure of a time in bench, report, compare and
# choose must be the one that tests/known-costs.py expects. Records with made-up times are tested in the same way.
# shellcheck disable=SC2034,SC2086,SC2154 # lists of words; the environment comes from make
. "${srcdir:-.}/tests/command.sh"
for python in ${PYTHON:-} python3 /usr/bin/python3 none; do
  "$python" -c 'import json, math; math.comb' 2>/dev/null && break
done
posenc report -o /dev/null/none # is refused for its folder, after what forbids any page
[ "$python" != none ] || skip_all 'no Python'
[ -e "$abs_top_builddir/.libs/libposenc.so" ] || skip_all 'no shared library'
! no_pages || skip_all "$why"
posenc bench --kernel naive --len 8 --dim 4 --repetitions 3 --min-time 0.0001
! grep -q 'without Google Benchmark' err || skip_all 'no Google Benchmark'
build() { # NAME FLAG...: NAME.so
  name=$1
  shift
  $CC $CFLAGS "$@" -I"$root/include" -shared -fPIC "$root/tests/costs.c" -o "$name.so" -lm 2>log && return
  sed 's/^/# /' log
  echo "Bail out! $name.so does not compile"
  exit 1
}
build costs
build half -DROW=20e-6
expect() { # WHAT FILE...: the differences are in err
  "$python" "$root/tests/known-costs.py" "$@" >out 2>err
}
makes() { # FILE WHAT ...
  file=$1
  shift
  expect "$@" && cp out "$file"
}
# Other processes can disturb all repetitions, so there are five attempts.
attempt() { # FUNCTION
  for n in 1 2 3 4 5; do "$1" && return; done
  false
}

# ---- a record of kernels of known cost ----

bench() { # PLUGIN FILE OPTION...
  plugin=$1 file=$2
  shift 2
  "$POSENC" bench --plugin $plugin.so --repetitions 15 --min-time 0.0001 "$@" --format json -o $file >out 2>err
}
timed() { # PLUGIN FILE: in all modes whose cost is known
  bench "$1" table.json --len 16 --dim 512 --kernel waits,fourfold,plans,tenth,naive --mode hot,plan &&
    bench "$1" first.json --len 16 --dim 512 --kernel plans --mode first &&
    bench "$1" rope.json --op rope --heads 4 --batch 3 --len 16 --dim 64 --kernel waits --mode hot &&
    bench "$1" fills.json --len 512 --dim 128 --kernel fills,fills-thrice --mode hot,plan &&
    makes "$2" join table.json first.json rope.json fills.json
}
known() { timed costs record.json && expect known record.json; }
known_at_last() { attempt known || expect known record.json last; }
check 'kernels that wait by the clock, or fill memory so many times, have the times that they take' known_at_last
verify() { # FILE OPTION...
  file=$1
  shift
  "$POSENC" verify --plugin costs.so --search 0 --brief --format json -o $file "$@" >out 2>err
}
accurate() {
  verify table.json --len 16 --dim 512 --kernel waits,fourfold &&
    verify rope.json --op rope --heads 4 --len 16 --dim 64 --kernel waits &&
    makes accuracy.json join table.json rope.json
}
check 'they are verified' accurate

# ---- results of that record, and of a record with made-up times ----

check 'made-up times' makes made.json made record.json 0
check 'and others' makes other.json made record.json 1
for record in record made other; do
  check "$record: a report" ends 0 report --from accuracy.json --from $record.json -o $record
  check "$record: all figures of its pages are as expected" expect report $record.json accuracy.json $record
done
check 'a page of two machines' ends 0 report made/report.json other/report.json -o machines
check 'has their figures' expect machines made.json other.json machines

compared() { # OLD NEW OPTION...: in each format
  old=$1 new=$2
  shift 2
  for format in text markdown json; do
    "$POSENC" compare $old.json $new.json --all --format $format "$@" >comparison.$format 2>err
    status=$?
    [ $status -le 1 ] || return
  done
}
for by in limit time; do
  check "made-up records are compared by $by" compared made other --by $by
  check 'some are worse, some better, the same and undecided' \
    grep -q '^[1-9][0-9]* worse, [1-9][0-9]* better, [1-9][0-9]* the same, [1-9][0-9]* undecided$' comparison.text
  check 'and the exit status says that some are worse' test $status -eq 1
  check 'each verdict, ratio, interval and p is as expected' \
    expect compare made.json other.json $by comparison.text comparison.markdown comparison.json
done

# Waits of half the time. If too many repetitions are interrupted, they are timed again.
says_of() { grep -q "^$1" comparison.text; }
told_twice() { [ $status -eq 1 ] && says_of 'worse  *hot/16x512/waits .* us  *\(1\.[89]\|2\.[012]\)[0-9]* '; }
twice() { timed half fast.json && timed costs record.json && compared fast record --by time && told_twice; }
if attempt twice || ! says_of 'undecided  *hot/16x512/waits'; then
  check 'waits of twice the time take twice the time' told_twice
else
  skip 'waits of twice the time take twice the time' 'other processes interrupt them'
fi
check 'and all that is told of it is as expected' \
  expect compare fast.json record.json time comparison.text comparison.markdown comparison.json

for side in half costs; do
  printf '#!/bin/sh\nexec "%s" "$@" --plugin "%s.so"\n' "$POSENC" "$work/$side" >$side
  chmod +x $side
done
in_turn() {
  ends 1 compare --run ./half ./costs --blocks 8 --by time -- --kernel waits --len 16 --dim 512 --mode hot &&
    says '^worse  *hot/16x512/waits .* us  *\(1\.9\|2\.0\)[0-9]* '
}
check 'and so do programs that are run in turn' attempt in_turn

# ---- tables of bench and choose ----

size='--plugin costs.so --len 16 --dim 512'
check 'a table of bench' \
  ends 0 bench $size --kernel waits,fourfold,plans --mode hot --repetitions 3 --min-time 0.0001
cp out table
check 'has their costs' expect text table
candidates="$size --kernel waits,fourfold,plans,rotation-portable --max-ulp 0.5"
check 'one of choose' ends 0 choose $candidates
cp out table
check 'has them, too' expect text table
chosen() { ends 0 choose $candidates --format json && cp out choice.json && expect choice choice.json; }
check 'and so does its JSON, whose choice and ratio follow from them' attempt chosen
plan
exit "$tap_failed"
