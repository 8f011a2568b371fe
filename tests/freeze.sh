#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that tools/freeze.sh says the same of the same program, and names what differs in another. It runs two parts of
# it with one kernel; "make freeze" runs all.
. "${srcdir:-.}/tests/command.sh"

for build in same changed; do
  mkdir -p $build/run
  printf '#!/bin/sh\n' >$build/run/posenc
done
cat >>changed/run/posenc <<'END'
case $* in
*'--offset 960 -o -') set -- "$@" --shift 1 ;;
'diff --help') exit 3 ;;
esac
END
for build in same changed; do
  echo "exec '$POSENC' \"\$@\"" >>$build/run/posenc
  chmod +x $build/run/posenc
done
freeze() { # BUILD FILE
  sh "$root/tools/freeze.sh" -b "$1" -r records -k naive -o "$2" tables help >out 2>err && [ ! -s out ] && [ ! -s err ]
}
check 'answers are written' freeze same before
check 'of tables in each dtype' test "$(grep -c '^table naive .* [02] [0-9a-f]\{32\}$' before)" -ge 100
check 'of each command' test "$(grep -c '^help .* 0 [0-9a-f]\{32\}$' before)" -ge 13
check 'of bad input' test "$(grep -c '^no such option of .* 2 ' before)" -ge 13
check 'once more' freeze same again
check 'they are the same' cmp before again
check 'of another program' freeze changed after
diff before after | sed -n 's/^> //p' | cut -d ' ' -f 1-3 >differ
check 'what differs is named' \
  test "$(tr '\n' , <differ)" = 'table naive f32,table naive f16,table naive bf16,help diff 3,'
refused() { # ARGUMENT...
  sh "$root/tools/freeze.sh" "$@" >out 2>err
  [ $? -eq 2 ] && [ ! -s out ] && [ -s err ]
}
mkdir -p gone/run && printf '#!/bin/sh\ncase $1 in list) echo naive ;; *) exit 127 ;; esac\n' >gone/run/posenc
chmod +x gone/run/posenc
check 'a program that is away meanwhile' refused -b gone tables
check 'which is told' grep -q 'table naive f32 .* cannot be run' err
check 'no such option' refused -x
check 'no such part' refused no-such-part
check 'no such build' refused -b nowhere
plan
exit "$tap_failed"
