#!/bin/sh
# SPDX-License-Identifier: MIT
# posenc identify: what it says of files, in words and as JSON; tests/identify.c has the tables of every recipe.
# shellcheck disable=SC2016,SC2086,SC2154 # the environment comes from make
command=identify
. "${srcdir:-.}/tests/command.sh"
begins() { sed -n 1p out | grep -q -e "$1"; }

"$POSENC" write --len 300 --dim 64 -o plain.npy
check 'a table of ours' ends 0 plain.npy
check 'is exact' begins '^exact or, which writes the same, xlm, flux, base 10000, interleaved, positions 0\.\.299, rounded to f32, bit for bit; max 3e-08 from exact; would be 3e-08 '
check 'and checked by' says '^posenc check FILE holds it to that'
set -- --base 5e5 --shift 1 --layout split-cs --offset 70 --padding 75
"$POSENC" write --len 300 --dim 64 "$@" --dtype bf16 -o other.safetensors
check 'another' ends 0 other.safetensors --tensor pe
check 'in a safetensors file' begins 'base 500000, shift 1, split-cs, positions 70\.\.369, padding row at 75, .* bf16, bit for bit'
options=$(sed -n 's/^posenc check FILE \(.*\) holds it to that\.$/\1/p' out)
check 'with options' test -n "$options"
check 'that check takes' eval '"$POSENC" check other.safetensors $options --max-ulp 0.50001 >out 2>err'
check 'JSON' ends 0 other.safetensors --format json -o x.json
for pair in '"verdict": "table"' '"base": 500000.0' '"shift": 1.0' '"layout": "split-cs"' '"offset": 70' '"padding": 75' '"held": "bf16"' '"proved": true'; do
  check "has $pair" grep -q -e "$pair" x.json
done
"$POSENC" write --len 1000 --dim 128 --kernel recipe/hf-rope --base 1e6 --offset 4096 -o rope.npy
check 'a recipe' ends 0 rope.npy
check 'is named' begins '^hf-rope, base 1000000, interleaved, positions 4096\.\.5095, computed in f32, bit for bit; max 0\.000[0-9]* from exact; would be 3e-08 '
check 'and who comes next' eval "says '^recipe/hf-rope  *128000  *128000 .*<-\$' && says '^recipe/gemma-cpp '"

for python in ${PYTHON:-} python3 /usr/bin/python3; do
  if "$python" -c 'import numpy' 2>/dev/null; then
    numpy=$python
    break
  fi
done
if [ -n "${numpy:-}" ]; then
  "$numpy" -c '
import numpy as n
a = n.load("plain.npy")
n.save("f-order", n.asfortranarray(a))
n.save("big-endian", a.astype(">f4"))
n.save("middle-axis", a[:, None, :])
n.save("scaled", a * n.float32(0.7))
n.save("padded", n.concatenate([a[:, :63], 0 * a[:, :2]], 1))
n.save("permuted", n.random.default_rng(1).permutation(a))
n.save("transposed", a.T)
p = n.arange(500)[:, None] / 10000.0 ** (n.arange(32) / 32)
n.save("double", n.concatenate([n.sin(p), n.cos(p)], 1))
n.save("one-row", a[:1])
def table(p, base): return n.stack([n.sin(p[:, None] * base ** (-n.arange(32) / 32)), n.cos(p[:, None] * base ** (-n.arange(32) / 32))], 2).reshape(len(p), 64).astype("f4")
n.save("ntk", table(n.arange(300.), 1e4 * 4 ** (64 / 62)))
n.save("half-positions", table(n.arange(300) + 0.5, 1e4))
n.save("backwards", table(n.arange(300.)[::-1], 1e4))
n.save("noise", n.random.default_rng(1).standard_normal((500, 64)).astype("f4"))
n.save("odd", n.concatenate([a, 0 * a[:, :1]], 1))
'
  for name in f-order big-endian middle-axis; do
    check "$name" ends 0 $name.npy
    check 'is the same table' begins '^exact .*base 10000, interleaved, positions 0\.\.299, rounded to f32, bit for bit'
  done
  check 'a learned scale' ends 0 scaled.npy
  check 'is told' begins 'interleaved, positions 0\.\.299, times 0.7,'
  check 'a last column of zeros' ends 0 odd.npy
  check 'is left out' begins '^exact .*base 10000, interleaved, '
  check "NumPy's doubles" ends 0 double.npy
  check 'are doubles' begins '^computed in f64; nearest: .*base 10000, split, positions 0\.\.499, '
  check 'a base for more positions' ends 0 ntk.npy
  check 'is told apart' begins 'base 41829\.[0-9]* (NTK-aware, 10000 stretched by 4), interleaved, positions 0\.\.299'
  check 'positions between whole ones' ends 0 half-positions.npy
  check 'are told' begins 'base 10000, interleaved, positions from 0.5 on'
  check 'rows backwards' ends 0 backwards.npy
  check 'are no table, but waves' begins '^sines and cosines, '
  check 'noise' ends 1 noise.npy
  check 'is no table' begins '^not a sinusoidal table: '
  check 'a table on its side' ends 1 transposed.npy
  check 'is none' begins '^not a sinusoidal table: '
  check 'nor are mixed rows' ends 1 permuted.npy
  check 'one row' ends 1 one-row.npy
  check 'is too little' begins '^too few rows to tell$'
else
  skip 'tables of NumPy' 'no NumPy here'
fi

refused 'FILE is missing'
refused "extra operand 'rope.npy'" plain.npy rope.npy
refused 'no-such.npy: No such file' no-such.npy
refused '--tensor pe: plain.npy is a .npy file' plain.npy --tensor pe
refused 'no tensor x; it has pe' other.safetensors --tensor x
refused '--format tap: not text or json' plain.npy --format tap
refused '--output no/such/x: No such file' plain.npy -o no/such/x
refused '--output plain.npy: it is the file to identify' plain.npy -o plain.npy
head -c 1000 plain.npy >cut.npy && refused 'cut.npy: its 300 x 64 elements take' cut.npy
plan
