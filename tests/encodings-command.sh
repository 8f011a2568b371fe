#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the encodings other than the sinusoidal table on the command line: listed, verified, timed, written, and refused
# in one line.
# shellcheck disable=SC2086 # numbers and types
. "${srcdir:-.}/tests/command.sh"

unwritten() { # PATTERN OPTION...
  is_refused "$@" -o no.npy && [ ! -e no.npy ]
}
refused_write() { # PATTERN OPTION...
  text=$1
  shift
  check "refused: write $*: $text" unwritten "$text" write "$@"
}
# Prints elements of a .npy file of posenc as od does, a row per line.
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
header() { # FILE TEXT...
  head -c 200 "$1" >header
  shift
  for text; do grep -a -q -F -e "$text" header || return 1; done
}

# ---- list ----

check 'list --encodings' ends 0 list --encodings
for name in sinusoidal rope integer binary learned alibi dropout; do
  check "list --encodings shows $name" says "^$name: "
done
check 'list --encodings has no kernels' test "$(grep -c '^rotation-portable: ' out)" -eq 0
check 'list --encodings has bounds' says 'bound  *(0.5 + 2^-17) ulp'
check 'list --encodings --format json' ends 0 list --encodings --format json
check 'list --encodings --format json has seven contracts' test "$(grep -c '"formula":' out)" -eq 7
refused '--format names: not text or json' list --encodings --format names

# ---- verify ----

check 'verify --encoding' ends 0 verify --encoding '*'
for name in integer binary learned alibi dropout; do
  check "verify holds $name to its bound" says "^ok [0-9]* - $name accuracy "
done
check 'verify counts no failure' says '# [1-9][0-9]* passed, 0 failed'
check 'verify has no failure' test "$(grep -c '^not ok' out)" -eq 0
check 'verify one encoding' ends 0 verify --encoding 'bin*' --format json
check 'verify has this encoding alone' test "$(grep -c '"kernel": "alibi"' out)" -eq 0 -a \
  "$(grep -c '"kernel": "binary"' out)" -gt 0
check 'verify in JUnit' ends 0 verify --encoding integer --format junit
refused "--encoding binarry: no such encoding; did you mean 'binary'?" verify --encoding binarry
refused '--encoding rope: kernels compute it' verify --encoding rope
refused '--len 8: cannot be combined with --encoding' verify --encoding alibi --len 8
refused '--kernel naive: cannot be combined with --encoding' verify --encoding alibi --kernel naive
refused '--explain: cannot be combined with --encoding' verify --encoding alibi --explain

# ---- write ----

check 'write binary' ends 0 write --encoding binary --len 2 --offset 199 --dim 9 --dtype f64 -o bits.npy
check 'binary: 200 is 0 0 0 1 0 0 1 1, then 0' has bits.npy f8 72 '1 1 1 0 0 0 1 1 0' '0 0 0 1 0 0 1 1 0'
check 'write integer' ends 0 write --encoding integer --positions 5,-7,16777217 --dim 2 --dtype f32 -o list.npy
check 'integer: positions, rounded' has list.npy f4 8 '5 5' '-7 -7' '16777216 16777216'
check 'write alibi' ends 0 write --encoding alibi --heads 2 --len 3 -o bias.npy
check 'alibi: shape (H, L, L)' header bias.npy "'shape': (2, 3, 3)"
check 'alibi: slopes 1/16 and 1/256' has bias.npy f4 12 '0 -0.0625 -0.125' '-0.0625 0 -0.0625' '-0.125 -0.0625 0' \
  '0 -0.00390625 -0.0078125' '-0.00390625 0 -0.00390625' '-0.0078125 -0.00390625 0'
check 'write alibi with an offset' ends 0 write --encoding alibi --heads 1 --len 1 --offset 2 -o last.npy
check 'alibi with an offset: the row of decoding' has last.npy f4 12 '-0.0078125 -0.00390625 0'
check 'alibi of 3 heads' ends 0 write --encoding alibi --heads 3 --len 2 --dtype f64 -o three.npy
check 'alibi of 3 heads: 2^-2 is the third slope' has three.npy f8 16 '0 -0.0625' '-0.0625 0' \
  '0 -0.00390625' '-0.00390625 0' '0 -0.25' '-0.25 0'
check 'alibi of many blocks' ends 0 write --encoding alibi --heads 3 --len 1000 -o large.npy
check 'alibi on standard output' ends 0 write --encoding alibi --heads 3 --len 1000 --format npy -o -
check 'alibi on standard output: the same bytes' cmp -s out large.npy
check 'alibi as safetensors' ends 0 write --encoding alibi --heads 2 --len 3 -o bias.safetensors
check 'alibi as safetensors: encoding and shape' header bias.safetensors '"encoding":"alibi"' '"shape":[2,3,3]'

"$POSENC" write --len 64 --dim 8 -o trained.npy && "$POSENC" write --len 64 --dim 8 -o trained.safetensors
"$POSENC" write --positions 5,10,5 --dim 8 -o want.npy
check 'write learned' ends 0 write --encoding learned --table trained.npy --positions 5,10,5 -o rows.npy
check 'learned: the rows of positions' cmp -s rows.npy want.npy
check 'write learned from safetensors' \
  ends 0 write --encoding learned --table trained.safetensors --tensor pe --positions 5,10,5 -o rows.npy
check 'learned from safetensors: the rows of positions' cmp -s rows.npy want.npy
check 'write learned in another dtype' \
  ends 0 write --encoding learned --table trained.npy --len 2 --offset 62 --dtype bf16 -o rows.npy
check 'learned in another dtype: shape' header rows.npy "'shape': (2, 8)"
check 'write sinusoidal' ends 0 write --encoding sinusoidal --len 64 --dim 8 -o same.npy
check 'sinusoidal is the table' cmp -s same.npy trained.npy

refused_write '--len is missing' --encoding integer --dim 4
refused_write '--dim is missing' --encoding binary --len 4
refused_write '--dim 0: not above 0' --encoding binary --len 4 --dim 0
refused_write '--len -1: negative' --encoding integer --len -1 --dim 4
refused_write '--offset: position -1: ' --encoding binary --len 4 --offset -1 --dim 4
refused_write '--positions: position -2: ' --encoding binary --positions 1,-2 --dim 4
refused_write '--positions: 0.5 is not a whole number' --encoding integer --positions 1,0.5 --dim 4
refused_write 'overflow' --encoding integer --len 9223372036854775807 --dim 4
refused_write 'overflows' --encoding integer --len 2 --offset 9223372036854775807 --dim 4
refused_write '--base 3: cannot be combined' --encoding integer --len 4 --dim 4 --base 3
refused_write '--layout split: cannot be combined' --encoding integer --len 4 --dim 4 --layout split
refused_write '--heads 4: cannot be combined' --encoding integer --len 4 --dim 4 --heads 4
refused_write '--table trained.npy: cannot be combined' --encoding integer --len 4 --dim 4 --table trained.npy
refused_write '--table trained.npy: needs --encoding learned' --len 4 --dim 4 --table trained.npy
refused_write '--heads is missing' --encoding alibi --len 4
refused_write '--heads 0: not within' --encoding alibi --heads 0 --len 4
refused_write '--heads 2000000: not within' --encoding alibi --heads 2000000 --len 4
refused_write '--len 0: not above 0' --encoding alibi --heads 1 --len 0
refused_write '--dim 4: cannot be combined' --encoding alibi --heads 1 --len 4 --dim 4
refused_write '--positions 1,2: cannot be combined' --encoding alibi --heads 1 --positions 1,2
refused_write '--table is missing' --encoding learned --len 4
refused_write '--table gone.npy: No such file' --encoding learned --table gone.npy --len 4
refused_write '--len: position 64: the table has 0 .. 63' --encoding learned --table trained.npy --len 65
refused_write '--positions: position 64: the table has 0 .. 63' --encoding learned --table trained.npy --positions 1,64
refused_write '--dim 8: cannot be combined' --encoding learned --table trained.npy --len 4 --dim 8
refused_write '--encoding dropout: not sinusoidal' --encoding dropout --len 4 --dim 8
refused_write "--encoding '': not sinusoidal, integer" --encoding '' --len 4 --dim 8
refused_write '--encoding rop: not sinusoidal, integer, binary, learned or alibi' \
  --encoding rop --len 4 --dim 8
refused_write '--encoding onehot: not sinusoidal' --encoding onehot --len 4 --dim 8
refused '--output is missing' write --encoding integer --len 4 --dim 4
cp trained.npy own.npy
posenc write --encoding learned --table own.npy --len 4 -o own.npy
check 'writing over the table is refused' test $status -eq 2
check 'the table is not overwritten' cmp -s own.npy trained.npy

# ---- bench ----

short='--repetitions 3 --min-time 0.0001'
if "$POSENC" bench --encoding integer --len 4 --dim 4 $short --mode hot >out 2>err; then
  for name in integer binary learned dropout; do
    check "bench $name" ends 0 bench --encoding $name --len 70 --dim 34 $short --mode hot,row
    check "bench $name: share of the limit" says "^70x34[a-z-]*  *$name .*%"
  done
  check 'bench alibi' ends 0 bench --encoding alibi --heads 3 --len 18 $short --mode hot,row
  check 'bench alibi: its shape' says '^3x18x18  *alibi '
  refused '--encoding rope: kernels compute it' bench --encoding rope
  refused '--kernel naive: cannot be combined' bench --encoding alibi --kernel naive
  refused '--dim 4: cannot be combined' bench --encoding alibi --dim 4
  refused '--len 17: .*even' bench --encoding alibi --len 17
  refused '--dim 17: .*even' bench --encoding integer --dim 17
else
  skip 'bench' "$(cat err)"
fi
plan
