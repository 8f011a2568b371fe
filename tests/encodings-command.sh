#!/bin/sh
# SPDX-License-Identifier: MIT
# The encodings beside the table of sines on the command line: listed, held to their contracts, timed and written; and what cannot be, in one line.
# shellcheck disable=SC2086,SC2154 # the environment comes from make
. "${srcdir:-.}/tests/command.sh"

unwritten() { is_refused "$@" && [ ! -e no.npy ]; }
refused() { # PATTERN COMMAND-LINE...
  check "refused: $(shift && echo "$*")" unwritten "$@"
}
# Elements of a .npy file of ours, as od prints them, a row on each line.
rows() { # FILE OD-TYPE BYTES-OF-A-ROW
  length=$(od -An -tu2 -j8 -N2 "$1" | tr -d ' ')
  od -An -v -t$2 -w$3 -j $((length + 10)) "$1" | sed 's/  */ /g'
}
has() { # FILE TYPE BYTES LINE...
  file=$1 type=$2 bytes=$3
  shift 3
  printf ' %s\n' "$@" >want
  rows $file $type $bytes >out
  cmp -s out want
}
header() { head -c 128 "$1" | grep -a -q -F -e "$2"; }

# ---- list ----

ends 0 list
for name in sinusoidal rope integer binary learned alibi dropout; do
  check "list shows $name" grep -q "^$name: " out
done
check 'list --encodings' ends 0 list --encodings
check 'has no kernels' eval '! grep -q "^rotation-portable: " out'
check 'and says bounds' grep -q 'bound  *(0.5 + 2^-17) ulp' out
check 'list --encodings --json' ends 0 list --encodings --json
check 'has seven contracts' eval '[ $(grep -c "\"formula\":" out) -eq 7 ]'
refused '--encodings: nothing would use it beside --names' list --encodings --names

# ---- verify ----

check 'verify --encoding' ends 0 verify --encoding '*'
check 'holds all five' eval 'for name in integer binary learned alibi dropout; do grep -q "^ok [0-9]* - $name accuracy " out || exit 1; done'
check 'and nothing fails' eval '! grep -q "^not ok" out && grep -q "# [1-9][0-9]* passed, 0 failed" out'
check 'one of them' ends 0 verify --encoding 'bin*' --format json
check 'is all there is' eval '! grep -q "\"kernel\": \"alibi\"" out && grep -q "\"kernel\": \"binary\"" out'
check 'in JUnit' ends 0 verify --encoding integer --format junit
refused "--encoding binarry: no such encoding; did you mean 'binary'?" verify --encoding binarry
refused '--encoding rope: kernels compute it' verify --encoding rope
refused '--len 8: nothing would use it beside --encoding' verify --encoding alibi --len 8
refused '--kernel rotation-portable: nothing would use it beside --encoding' verify --encoding alibi --kernel rotation-portable
refused '--explain: nothing would use it beside --encoding' verify --encoding alibi --explain

# ---- write ----

check 'write binary' ends 0 write --encoding binary --len 2 --offset 199 --dim 9 --dtype f64 -o bits.npy
check '200 is 0 0 0 1 0 0 1 1, then nothing' has bits.npy f8 72 '1 1 1 0 0 0 1 1 0' '0 0 0 1 0 0 1 1 0'
check 'write integer' ends 0 write --encoding integer --positions 5,-7,16777217 --dim 2 --dtype f32 -o list.npy
check 'has positions, rounded' has list.npy f4 8 '5 5' '-7 -7' '16777216 16777216'
check 'write alibi' ends 0 write --encoding alibi --heads 2 --len 3 -o bias.npy
check 'of shape (H, L, L)' header bias.npy "'shape': (2, 3, 3)"
check 'has slopes 1/16 and 1/256' has bias.npy f4 12 '0 -0.0625 -0.125' '-0.0625 0 -0.0625' '-0.125 -0.0625 0' \
  '0 -0.00390625 -0.0078125' '-0.00390625 0 -0.00390625' '-0.0078125 -0.00390625 0'
check 'write alibi behind an offset' ends 0 write --encoding alibi --heads 1 --len 1 --offset 2 -o last.npy
check 'is what decoding asks for' has last.npy f4 12 '-0.0078125 -0.00390625 0'
check 'alibi of 3 heads' ends 0 write --encoding alibi --heads 3 --len 2 --dtype f64 -o three.npy
check 'has 2^-2 third' has three.npy f8 16 '0 -0.0625' '-0.0625 0' '0 -0.00390625' '-0.00390625 0' '0 -0.25' '-0.25 0'
check 'many blocks' ends 0 write --encoding alibi --heads 3 --len 1000 -o large.npy
check 'end as they begin' eval 'rows large.npy x4 4000 | tail -n 1000 | head -n 1 >a; ends 0 write --encoding alibi --heads 3 --len 1000 --format npy -o - && [ $(wc -c <out) -eq $(wc -c <large.npy) ] && cmp -s out large.npy'
check 'as safetensors' ends 0 write --encoding alibi --heads 2 --len 3 -o bias.safetensors
check 'with its name' eval 'head -c 200 bias.safetensors | grep -a -q "\"encoding\":\"alibi\".*\"shape\":\[2,3,3\]"'

"$POSENC" write --len 64 --dim 8 -o trained.npy && "$POSENC" write --len 64 --dim 8 -o trained.safetensors
"$POSENC" write --positions 5,10,5 --dim 8 -o want.npy
check 'write learned' ends 0 write --encoding learned --table trained.npy --positions 5,10,5 -o rows.npy
check 'gathers rows' cmp -s rows.npy want.npy
check 'of a safetensors file' ends 0 write --encoding learned --table trained.safetensors --tensor pe --positions 5,10,5 -o rows.npy
check 'too' cmp -s rows.npy want.npy
check 'in another dtype' ends 0 write --encoding learned --table trained.npy --len 2 --offset 62 --dtype bf16 -o rows.npy
check 'that is told' header rows.npy "'shape': (2, 8)"
check 'sinusoidal is the table' eval 'ends 0 write --encoding sinusoidal --len 64 --dim 8 -o same.npy && cmp -s same.npy trained.npy'

refused '--len is missing' write --encoding integer --dim 4 -o no.npy
refused '--dim is missing' write --encoding binary --len 4 -o no.npy
refused '--dim 0: not above 0' write --encoding binary --len 4 --dim 0 -o no.npy
refused '--len -1: negative' write --encoding integer --len -1 --dim 4 -o no.npy
refused '--offset: position -1: ' write --encoding binary --len 4 --offset -1 --dim 4 -o no.npy
refused '--positions: position -2: ' write --encoding binary --positions 1,-2 --dim 4 -o no.npy
refused '--positions: 0.5 is not a whole number' write --encoding integer --positions 1,0.5 --dim 4 -o no.npy
refused 'overflow' write --encoding integer --len 9223372036854775807 --dim 4 -o no.npy
refused 'overflows' write --encoding integer --len 2 --offset 9223372036854775807 --dim 4 -o no.npy
refused '--base 3: nothing would use it' write --encoding integer --len 4 --dim 4 --base 3 -o no.npy
refused '--layout split: nothing would use it' write --encoding integer --len 4 --dim 4 --layout split -o no.npy
refused '--heads 4: nothing would use it' write --encoding integer --len 4 --dim 4 --heads 4 -o no.npy
refused '--table trained.npy: nothing would use it' write --encoding integer --len 4 --dim 4 --table trained.npy -o no.npy
refused '--table trained.npy: nothing would use it' write --len 4 --dim 4 --table trained.npy -o no.npy
refused '--heads is missing' write --encoding alibi --len 4 -o no.npy
refused '--heads 0: not within' write --encoding alibi --heads 0 --len 4 -o no.npy
refused '--heads 2000000: not within' write --encoding alibi --heads 2000000 --len 4 -o no.npy
refused '--len 0: not above 0' write --encoding alibi --heads 1 --len 0 -o no.npy
refused '--dim 4: nothing would use it' write --encoding alibi --heads 1 --len 4 --dim 4 -o no.npy
refused '--positions 1,2: nothing would use it' write --encoding alibi --heads 1 --positions 1,2 -o no.npy
refused '--table is missing' write --encoding learned --len 4 -o no.npy
refused '--table gone.npy: No such file' write --encoding learned --table gone.npy --len 4 -o no.npy
refused '--len: position 64: the table has 0 .. 63' write --encoding learned --table trained.npy --len 65 -o no.npy
refused '--positions: position 64: the table has 0 .. 63' write --encoding learned --table trained.npy --positions 1,64 -o no.npy
refused '--dim 8: nothing would use it' write --encoding learned --table trained.npy --len 4 --dim 8 -o no.npy
refused '--encoding dropout: not sinusoidal' write --encoding dropout --len 4 --dim 8 -o no.npy
refused "--encoding '': not sinusoidal, integer" write --encoding '' --len 4 --dim 8 -o no.npy
refused '--encoding rop: not sinusoidal, integer, binary, learned or alibi, which can be written' write --encoding rop --len 4 --dim 8 -o no.npy
refused '--encoding onehot: not sinusoidal' write --encoding onehot --len 4 --dim 8 -o no.npy
refused '--output is missing' write --encoding integer --len 4 --dim 4
cp trained.npy own.npy
posenc write --encoding learned --table own.npy --len 4 -o own.npy
check 'the table is not overwritten' eval '[ $status -eq 2 ] && cmp -s own.npy trained.npy'

# ---- bench ----

if "$POSENC" bench --encoding integer --len 4 --dim 4 --repetitions 3 --min-time 0.0001 --mode hot >out 2>err; then
  for name in integer binary learned dropout; do
    check "bench $name" ends 0 bench --encoding $name --len 70 --dim 34 --repetitions 3 --min-time 0.0001 --mode hot,row
    check 'tells its share of the limit' grep -q "^70x34[a-z-]*  *$name .*%" out
  done
  check 'bench alibi' ends 0 bench --encoding alibi --heads 3 --len 18 --repetitions 3 --min-time 0.0001 --mode hot,row
  check 'by its shape' grep -q '^3x18x18  *alibi ' out
  refused '--encoding rope: kernels compute it' bench --encoding rope
  refused '--kernel rotation-portable: nothing would use it' bench --encoding alibi --kernel rotation-portable
  refused '--dim 4: nothing would use it' bench --encoding alibi --dim 4
  refused '--len 17: .*even' bench --encoding alibi --len 17
  refused '--dim 17: .*even' bench --encoding integer --dim 17
else
  skip 'bench' "$(cat err)"
fi
plan
