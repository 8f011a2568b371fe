#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc identify: its findings as text and as JSON; tests/identify.c has the tables of every recipe.
# shellcheck disable=SC2016,SC2086,SC2154 # the environment comes from make
command=identify
. "${srcdir:-.}/tests/command.sh"
begins() { sed -n 1p out | grep -q -e "$1"; }

"$POSENC" write --len 300 --dim 64 -o plain.npy
check 'a table of ours' ends 0 plain.npy
names='exact or, which writes the same, xlm, flux, base 10000, interleaved, positions 0\.\.299'
check 'is exact' begins "^$names, rounded to f32, bit for bit; max 3e-08 from exact; would be 3e-08 "
check 'and checked by' says '^posenc check plain.npy --max-ulp 1 holds it to that'
set -- --base 5e5 --shift 1 --layout split-cs --offset 70 --padding 75
"$POSENC" write --len 300 --dim 64 "$@" --dtype bf16 -o other.safetensors
check 'another' ends 0 other.safetensors --tensor pe
check 'in a safetensors file' \
  begins 'base 500000, shift 1, split-cs, positions 70\.\.369, padding row at 75, .* bf16, bit for bit'
options=$(options_told)
check 'with options' test -n "$options"
check 'that check takes' eval '"$POSENC" check other.safetensors $options --max-ulp 0.50001 >out 2>err'
check 'JSON' ends 0 other.safetensors --format json -o x.json
for pair in '"verdict": "table"' '"base": 500000.0' '"shift": 1.0' '"layout": "split-cs"' '"offset": 70' \
  '"padding": 75' '"held": "bf16"' '"proved": true'; do
  check "has $pair" grep -q -e "$pair" x.json
done
"$POSENC" write --len 300 --dim 64 --op rope-cache -o cache.npy
check 'a rope cache' ends 0 cache.npy
check 'is known by both tables' begins 'each column twice; .*base 10000, split-cs, positions 0\.\.299'
for layout in duplicated interleaved split; do
  "$POSENC" write --len 300 --dim 64 --op rope-cache --layout $layout -o cache.npy
  ends 0 cache.npy
  options=$(options_told)
  check "a rope cache, $layout, is checked as is told" \
    eval '"$POSENC" check cache.npy $options --max-ulp 0.50001 >out 2>err'
done
"$POSENC" write --len 1000 --dim 128 --kernel recipe/hf-rope --base 1e6 --offset 4096 -o rope.npy
check 'a recipe' ends 0 rope.npy
names='hf-rope\(, base\| or, which writes the same, tensorrt-llm, base\) 1000000, interleaved, positions 4096\.\.5095'
check 'is named' begins "^$names, computed in f32, bit for bit; max 0\.000[0-9]* from exact; would be 3e-08 "
check 'and who comes next' eval "says '^recipe/hf-rope  *128000  *128000 .*<-\$' && says '^recipe/gemma-cpp '"

"$POSENC" write --len 20 --dim 64 --offset 1 --padding 8 -o short.npy
check 'a short table with a padding row amid it' ends 0 short.npy
check 'is one' begins '^exact .*positions 1\.\.20, padding row at 8, '
"$POSENC" write --len 300 --dim 64 --base 777 --kernel recipe/f16-positions --offset 4096 -o runs.npy
check 'positions that are rounded, so that rows are repeated' ends 0 runs.npy
check 'are found out' begins '^f16-positions, base 777, interleaved, positions 4096\.\.4395, '

# OPTIONS PATTERN: rope caches of every scaling are identified, with parameters, from either half.
scaled() { # options, pattern
  "$POSENC" write --op rope-cache --len 2048 --dim 64 $1 -o cache.safetensors
  for part in cos sin; do
    check "$1, $part" ends 0 cache.safetensors --tensor $part
    check 'is named' begins "$2"
    options=$(options_told)
    check 'with options that check takes' eval \
      '"$POSENC" check cache.safetensors --tensor $part --scaling none --scale 1 $options --max-ulp 0.51 >out 2>err'
  done
}
scaled '--base 500000 --scaling llama3' 'base 500000, llama3 scaling by 8 from 8192, low 1, high 4, duplicated'
scaled '--base 1e6 --scaling yarn,factor=4,original=32768' \
  'base 1000000, yarn scaling by 4 from 32768, .* attention 1\.13863 (0\.1 ln 4 + 1), duplicated'
scaled '--scaling dynamic,factor=2,original=4096,length=8192' \
  'base 31082[0-9.]* (NTK-aware, 10000 stretched by 3: dynamic scaling'
scaled '--scaling linear,factor=4' 'base 10000, scale 0\.25 (linear scaling by 4), duplicated'
factors=1:1.05:1.1:1.3:1.5:2:2.5:3:4:5:6:7:8:9:$(seq -s : 10 2 44)
scaled "--scaling longrope,factor=32,original=4096,factors=$factors" \
  'base 10000, longrope scaling by factors 1, 1\.05 \.\. 44, attention 1\.19024 (sqrt(1 + ln 32 / ln 4096)), duplicated'
"$POSENC" write --op rope-cache --len 1024 --dim 64 --base 500000 --scaling llama3,factor=32 -o cache.safetensors
check 'JSON of a scaling' ends 0 cache.safetensors --tensor cos --format json -o x.json
for pair in '"kind": "llama3"' '"factor": 32.0' '"original": 8192' '"low": 1.0' '"high": 4.0' \
  '"attention_factor": 1.0' '"damage": \[\]'; do
  check "has $pair" grep -q -e "$pair" x.json
done

# Bases and scales of many digits are printed as accurately as the table determines them.
digits() { # options, bound, pattern
  "$POSENC" write --len 1000 --dim 64 $1 -o digits.npy
  check "$1" ends 0 digits.npy
  check 'has all its digits' begins "base $3, interleaved, positions 0\.\.999, "
  options=$(options_told)
  check 'in the options, too' eval '"$POSENC" check digits.npy $options --max-abs '$2' >out 2>err'
}
digits '--scale 6.283185307179586 --dtype f64' 3e-15 '10000, scale 6\.2831[0-9]* (2 pi)'
digits '--scale 0.017453292519943295' 4e-8 '10000, scale 0\.017453[0-9]* (pi / 180)'
digits '--scale 1.718281828459045 --dtype f64' 3e-15 '10000, scale 1\.718281828459045'
digits '--scale 1.718281828459045' 8e-8 '10000, scale 1\.71828182[0-9]*'
digits '--base 3.1622776601683795 --dtype f16' 2.5e-4 '3\.1622[0-9]* (as 10000 has in the first 64 of 512 columns)'

find_numpy
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
for name, value in (("nan", n.nan), ("inf", n.inf)):
  broken = a.copy(); broken[17, 5] = value; n.save(name, broken)
dead = a.copy(); dead[:, 5] = 0; n.save("dead", dead)
moved = a.copy(); moved[:, [4, 20]] = moved[:, [20, 4]]; n.save("moved", moved)
n.save("columns", a[:, n.random.default_rng(1).permutation(64)])
n.save("noisy", (a + 1e-3 * n.random.default_rng(1).standard_normal(a.shape)).astype("f4"))
r = n.arange(300)
def waves(p, w):
  angles = p[:, None] * w
  return n.stack([n.sin(angles), n.cos(angles)], 2).reshape(len(p), -1).astype("f4")
n.save("rff", waves(r, n.random.default_rng(1).standard_normal(32)))
n.save("dft", waves(r, 2 * n.pi * n.arange(32) / 300))
n.save("nerf", waves(r, n.pi * 2.0 ** n.arange(8) / 300))
n.save("transposed", a.T)
p = n.arange(500)[:, None] / 10000.0 ** (n.arange(32) / 32)
n.save("double", n.concatenate([n.sin(p), n.cos(p)], 1))
n.save("one-row", a[:1])
n.save("affine", a * n.float32(0.5) + n.float32(0.25))
def table(p, base): return waves(p, base ** (-n.arange(32) / 32))
n.save("ntk", table(n.arange(300.), 1e4 * 4 ** (64 / 62)))
n.save("half-positions", table(n.arange(300) + 0.5, 1e4))
n.save("backwards", table(n.arange(300.)[::-1], 1e4))
n.save("far", waves(r[:32] + 123456, 10.0 ** -n.arange(4)))
n.save("measured", table(n.arange(300.), 12345.678))
n.save("complex", (a[:, 1::2] + 1j * a[:, ::2]).astype("c8"))
n.save("pairs", a.reshape(300, 1, 32, 2))
n.save("complex-f", n.asfortranarray(a[:, 1::2] + 1j * a[:, ::2]))
n.save("noise", n.random.default_rng(1).standard_normal((500, 64)).astype("f4"))
n.save("odd", n.concatenate([a, 0 * a[:, :1]], 1))
'
  for name in f-order big-endian middle-axis; do
    check "$name" ends 0 $name.npy
    check 'is the same table' begins '^exact .*base 10000, interleaved, positions 0\.\.299, rounded to f32, bit for bit'
  done
  check 'complex numbers' ends 0 complex.npy
  check 'are pairs, cosine first' begins '^exact .*base 10000, interleaved-cs, positions 0\.\.299, .*, bit for bit'
  check 'an axis of pairs' ends 0 pairs.npy
  check 'is columns' begins '^exact .*base 10000, interleaved, positions 0\.\.299, rounded to f32, bit for bit'
  refused 'complex-f.npy: its complex numbers are in Fortran.s order$' complex-f.npy
  "$POSENC" check complex.npy --layout interleaved-cs --max-ulp 0.6 >out 2>err
  check 'complex numbers are checked' test $? -eq 0
  check 'all of them' grep -q '^elements  *19200,' out
  check 'a learned scale' ends 0 scaled.npy
  check 'is told' begins 'interleaved, positions 0\.\.299, times 0.7,'
  check 'a last column of zeros' ends 0 odd.npy
  check 'is left out' begins '^exact .*base 10000, interleaved, '
  check "NumPy's doubles" ends 0 double.npy
  # NumPy's power has other last bits with AVX-512.
  check 'are doubles' \
    begins '^\(computed in f64 by code .*\|xlm\), base 10000, split, positions 0\.\.499, .* max 3\.5e-14 from exact'
  check 'a base for more positions' ends 0 ntk.npy
  check 'is told apart' \
    begins 'base 41829[0-9.]* (NTK-aware, 10000 stretched by 4: dynamic scaling, .*), interleaved, positions 0\.\.299'
  check 'positions between whole ones' ends 0 half-positions.npy
  check 'are told' begins 'base 10000, interleaved, positions from 0.5 on'
  check 'rows backwards' ends 1 backwards.npy
  check 'are told' begins 'base 10000, interleaved, positions 299\.\.0 (rows are reversed), '
  check 'a dead column' ends 0 dead.npy
  check 'is told' begins 'base 10000, interleaved, positions 0\.\.299, .*; but column 5 is 0 in all rows; '
  for name in nan inf; do
    check "one $name" ends 1 $name.npy
    check 'is told' begins 'base 10000, .*; but 1 element is NaN or infinite, the first at row 17, column 5; '
  done
  check 'exchanged columns' ends 0 moved.npy
  check 'are told' \
    begins 'base 10000, .*; but column 4 has what belongs to column 20, column 20 has what belongs to column 4; '
  check 'scaled and shifted' ends 0 affine.npy
  check 'is told' begins 'base 10000, interleaved, positions 0\.\.299, times 0\.5, plus 0\.25, '
  check 'few rows far out' ends 0 far.npy
  check 'are told' begins 'base 10000, interleaved, positions 123456\.\.123487'
  check 'a measured base' ends 0 measured.npy
  check 'has no more digits than it supports' begins 'base 12345\.678, '
  check 'sines with noise' ends 1 noisy.npy
  check 'are no encoding' begins '^sines and cosines, interleaved, but the values are only near a formula'
  check 'random features' ends 1 rff.npy
  check 'are none' begins '^sines and cosines, .*no base explains its frequencies'
  check 'rows of a Fourier transform' ends 1 dft.npy
  check 'are none' begins '^sines and cosines, .*multiples of one'
  check 'powers of two' ends 1 nerf.npy
  check 'are none' begins '^sines and cosines, .*twice its neighbour'
  check 'mixed columns' ends 1 columns.npy
  check 'noise' ends 1 noise.npy
  check 'is no table' begins '^not a sinusoidal table: '
  check 'a table on its side' ends 1 transposed.npy
  check 'is none' begins '^not a sinusoidal table: '
  check 'mixed rows' ends 0 permuted.npy
  check 'are a list' begins 'base 10000, interleaved, a list of 300 positions [0-9]'
  check 'one row' ends 1 one-row.npy
  check 'is too little' begins '^too few rows to tell$'
else
  skip 'tables of NumPy' 'no NumPy here'
fi

# x has pairs (1, 0), and zeros; add or rope is applied to it.
"$POSENC" write --positions "$(yes 0 | head -300 | paste -s -d , -)" --dim 64 --layout interleaved-cs -o units.npy
"$POSENC" write --len 300 --dim 64 --base 5e5 --offset 7 --layout interleaved-cs -o turned.npy
check 'rope of x' ends 0 turned.npy --op rope --x units.npy
check 'is told with its formula' begins 'base 500000, split-cs, positions 7\.\.306'
check 'pairs and columns' \
  says '^applied  *rope to units.npy, axes ld: columns 0 to 63 of 64, pairs are neighbours, turned forward$'
options=$(options_told)
check 'and options' test "$options" = '--op rope --x units.npy --layout interleaved --base 500000 --offset 7'
check 'that check takes, too' eval '"$POSENC" check turned.npy $options --max-ulp 0.51 >out 2>err'
check 'other axes' ends 0 turned.npy --op rope --x units.npy --axes ld
check 'that are usual are not told' eval '! says "posenc check .*--axes"'
python3 -c '
import numpy
for name in "units", "turned": numpy.save(name + "4.npy", numpy.load(name + ".npy")[None, None])' 2>/dev/null &&
  have_four=yes
if [ -n "${have_four-}" ]; then
  check 'heads before positions' ends 0 turned4.npy --op rope --x units4.npy --axes bhld
  check 'are told' \
    says '^posenc check turned4.npy --op rope --x units4.npy --axes bhld --layout interleaved '
else
  skip 'heads before positions' 'no NumPy here'
fi
check 'as JSON' ends 0 turned.npy --op rope --x units.npy --format json
for pair in '"op": "rope"' '"pairs": "interleaved"' '"axes": "ld"' '"start": 0' '"dim": 64' '"back": false'; do
  check "has $pair" says "$pair"
done
head -c 128 plain.npy >zeros.npy && head -c 76800 /dev/zero >>zeros.npy
check 'add to x' ends 0 plain.npy --op add --x zeros.npy
check 'is told' says '^applied  *add to zeros.npy, axes ld: columns 0 to 63 of 64$'
options=$(options_told)
check 'with options' test "$options" = '--op add --x zeros.npy'
"$POSENC" write --encoding binary --len 300 --dim 64 -o binary.npy
check 'no rope of x' ends 1 binary.npy --op rope --x units.npy
check 'with a reason' begins '^no rope of units.npy: it is not x with pairs of columns turned, neighbours or halves$'
check 'x itself' ends 1 units.npy --op rope --x units.npy --format json
check 'is none' says '"sentence": "no rope of units.npy: it is x"'
refused '--op rope: --x is missing' turned.npy --op rope
refused '--x units.npy: cannot be combined with --op table' turned.npy --x units.npy
refused '--axes lhd: 3 letters, and there are 2 axes' turned.npy --op rope --x units.npy --axes lhd
refused '--output units.npy: --x reads it' turned.npy --op rope --x units.npy -o units.npy

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
