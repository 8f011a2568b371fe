#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc probe: the array that it writes, and what check and identify find in results of it.
# shellcheck disable=SC2154 # the environment comes from make
command=probe
. "${srcdir:-.}/tests/command.sh"
mkdir empty

check 'positions' ends 0 --len 50 --dim 16 --heads 3 -o x.npy
check 'say nothing' test ! -s out
check 'other axes' ends 0 --len 50 --dim 16 --heads 3 --axes hld -o y.npy
check 'have the same size but for the header' test "$(wc -c <y.npy)" -eq "$(wc -c <x.npy)"
for dtype in f32 f64 f16 bf16; do
  check "$dtype" ends 0 --len 50 --dim 16 --dtype $dtype -o $dtype.safetensors
  check 'is taken for what it is' sh -c \
    '"$POSENC" check --op add --x $0.safetensors $0.safetensors --format json | grep -q "\"dtype\": \"$0\""' $dtype
done
check 'a list' ends 0 --positions golden --dim 16 -o golden.npy
check 'is printed' says '^0, 1, 2, 3, 255, 256, 257, .*2147483647, 2147483648, 2147483649$'
check 'but not into the array' ends 0 --positions 5,7 --dim 16 -o -
check 'which alone is written' test "$(wc -c <out)" -eq $((128 + 2 * 16 * 4))

refused '--output is missing' --len 5 --dim 4
refused '--len is missing' --dim 4 -o empty/x
refused '--dim is missing' --len 4 -o empty/x
refused '--len 0: not 1 or more' --len 0 --dim 4 -o empty/x
refused '--dim -2: not 1 or more' --len 4 --dim -2 -o empty/x
refused '--heads 0: not 1 or more' --len 4 --dim 2 --heads 0 -o empty/x
refused '--heads 2: --axes bld has no axis for them' --len 4 --dim 2 --heads 2 --axes bld -o empty/x
refused '--axes bd: l, the positions, is one axis' --len 4 --dim 2 --axes bd -o empty/x
refused '--axes bbblhd: more than 5' --len 4 --dim 2 --axes bbblhd -o empty/x
refused 'the array: more elements than any file has' --len 4 --dim 9223372036854775806 -o empty/x
check 'nothing is left of what is refused' nothing_written

# JSON cannot represent this name.
odd=$(printf 'caf\351.npy')
cp x.npy "$odd"
command=check
check 'a name that is not UTF-8' ends 1 --op rope --x "$odd" "$odd" --format json
check 'is told without it' says '"x": "caf?.npy"'
check 'as is the command' says '"replay": "posenc check .*caf?.npy'
command=identify
check 'likewise where nothing was applied' ends 1 --op rope --x "$odd" "$odd" --format json
check 'is told without it' says '"file": "caf?.npy"'

# NumPy does the same arithmetic.
if python3 -c 'import numpy' 2>/dev/null; then
  python3 - <<'EOF'
import numpy
golden = [int(p) for p in "0 1 2 3 255 256 257 2047 2048 2049 4095 4096 4097 32767 32768 32769 65535 65536 131071"
          " 131072 1048575 1048576 16777216 16777217 2147483647 2147483648 2147483649".split()]

def rope(x, positions, layout, base=10000.0):
    half = x.shape[-1] // 2
    exponents = -numpy.arange(half) / numpy.longdouble(half)
    angles = numpy.longdouble(positions)[:, None] * numpy.longdouble(base) ** exponents
    sine, cosine = numpy.sin(angles)[:, None], numpy.cos(angles)[:, None]
    a, b = (x[..., :half], x[..., half:]) if layout == "split" else (x[..., 0::2], x[..., 1::2])
    turned = a * cosine - b * sine, b * cosine + a * sine
    y = numpy.concatenate(turned, -1) if layout == "split" else numpy.stack(turned, -1).reshape(x.shape)
    return y.astype(x.dtype)

x = numpy.load("x.npy")
assert numpy.array_equal(x.transpose(0, 2, 1, 3)[0], numpy.load("y.npy")), "another order of axes"
assert (numpy.abs(x) >= 1).all() and (numpy.abs(x) < 2).all()
numpy.save("split.npy", rope(x, range(50), "split"))
numpy.save("pairs.npy", rope(x, range(50), "interleaved", 500000.0))
numpy.save("far.npy", rope(numpy.load("golden.npy"), golden, "split"))
numpy.save("int32.npy", rope(numpy.load("golden.npy"), numpy.array(golden).astype(numpy.int32), "split"))
rounded = [p if p < 256 else 256 * round(p / 256) for p in golden]
numpy.save("bf16.npy", rope(numpy.load("golden.npy"), rounded, "split"))
EOF
  command=check
  check 'halves' ends 0 --op rope --layout split --x x.npy split.npy --max-ulp 0.51
  check 'neighbours' ends 0 --op rope --base 500000 --x x.npy pairs.npy --max-ulp 0.51
  check 'hard positions' ends 0 --op rope --layout split --positions golden --x golden.npy far.npy --max-ulp 0.51
  check 'integers of 32 bits' ends 1 --op rope --layout split --positions golden --x golden.npy int32.npy --max-ulp 1
  check 'fail from 2^31 on' says '^FAIL: off by .* at b 0, l 2[56], h 0, d '
  check 'and are named' says '^likely cause  *positions are integers of 32 bits$'
  check 'rounded positions' ends 1 --op rope --layout split --positions golden --x golden.npy bf16.npy --max-ulp 1
  command=identify
  check 'pairs and base' ends 0 --op rope --x x.npy pairs.npy
  check 'are found' eval "says 'pairs are neighbours, turned forward' && says '^base  *500000,'"
else
  skip 'what NumPy makes of it' 'no NumPy here'
fi
plan
