#!/bin/sh
# SPDX-License-Identifier: MIT
# posenc diff: what is the same, what differs, where and how much, and columns in another order.
# shellcheck disable=SC2086,SC2154 # the environment comes from make
command=diff
. "${srcdir:-.}/tests/command.sh"
write() { # FILE OPTION...
  file=$1
  shift
  "$POSENC" write --len 300 --dim 20 "$@" -o $file
}

for dtype in f32 f64 f16 bf16; do
  write $dtype.npy --dtype $dtype
  write $dtype.safetensors --dtype $dtype
  check "one table in two formats: $dtype" ends 0 $dtype.npy $dtype.safetensors
  check 'of which nothing is printed' test ! -s out
done

# Element 1003 of 6000: row 50, column 3.
{ head -c $((128 + 4 * 1003)) f32.npy; printf '\0\0\0\100'; tail -c +$((128 + 4 * 1004 + 1)) f32.npy; } >one.npy
check 'one element' ends 1 f32.npy one.npy
check 'is counted' says '^other values  *1 of 6000; other bits: 1$'
check 'and shown' says '^first  *row 50, column 3: -*[0-9.]* and 2, [0-9.]* apart$'
# And before it row 0, column 2, which is 0: by 2^-20.
{ head -c $((128 + 4 * 2)) one.npy; printf '\0\0\200\065'; tail -c +$((128 + 4 * 3 + 1)) one.npy; } >two.npy
check 'two elements' ends 1 f32.npy two.npy
check 'are both counted' says '^other values  *2 of 6000; other bits: 2$'
check 'the first is the smaller one' says '^first  *row 0, column 2: 0 and 9.5[0-9]*e-07, 9.5[0-9]*e-07 apart$'
check 'the largest is the other one' says '^largest  *row 50, column 3: '
{ head -c 128 f32.npy; printf '\0\0\0\200'; tail -c +133 f32.npy; } >minus.npy
check 'minus zero has other bits' ends 1 f32.npy minus.npy
check 'and the same value' says '^other values  *0 of 6000; other bits: 1$'
check 'which is shown' says '^first  *row 0, column 0: 0 and -0, 0 apart$'
{ head -c 128 f32.npy; printf '\0\0\300\177'; tail -c +133 f32.npy; } >nan.npy
check 'NaN is another value' ends 1 f32.npy nan.npy
check 'infinitely far' says '^largest  *row 0, column 0: 0 and nan, inf apart$'
check 'and the same as itself' ends 0 nan.npy nan.npy
{ head -c 128 f32.npy; printf '\1\0\300\177'; tail -c +133 f32.npy; } >other.npy
check 'another NaN has other bits' ends 1 nan.npy other.npy
check 'and is no other value' says '^other values  *0 of 6000; other bits: 1$'

check 'another dtype is a difference' ends 1 f32.npy f64.npy
check 'which is told' says '^dtypes  *f32 and f64$'
check 'values are compared, bits are not' eval "says '^other values  *[0-9]* of 6000$'"
write more.npy --len 400
check 'more rows' ends 1 f32.npy more.npy
check 'are told' says '^rows  *300 and 400; compared are 300$'
check 'and the others are the same' says '^other values  *0 of 6000; other bits: 0$'
write wide.npy --dim 22
check 'more columns' ends 1 f32.npy wide.npy
check 'are told, and no more' eval "says '^columns  *20 and 22$' && [ \$(wc -l <out) -eq 3 ]"

for layout in interleaved-cs split split-cs; do
  write $layout.npy --layout $layout
  check "columns from interleaved to $layout" ends 1 f32.npy $layout.npy
  check 'are found' says "^columns  *B is A with its columns from interleaved to $layout$"
  write naive.npy --layout $layout --kernel naive
  check 'and by another maker' ends 1 f32.npy naive.npy
  check 'nearly' says "^columns  *from interleaved to $layout, those of A are within [0-9.e-]* of those of B"
done
check 'one column with minus zero' ends 1 minus.npy split.npy
check 'is the same column' says '^columns  *B is A with its columns from interleaved to split$'
check 'swapped halves' ends 1 split.npy split-cs.npy
check 'are split to split-cs' says 'from split to split-cs$'
write other.npy --base 500000
check 'another base is no order of columns' ends 1 f32.npy other.npy
check 'of which nothing is told' test "$(grep -c '^columns' out)" -eq 0

refused 'two FILEs are needed'
refused 'two FILEs are needed' f32.npy
refused "extra operand 'f16.npy'" f32.npy f64.npy f16.npy
refused 'no-such.npy: No such file' f32.npy no-such.npy
refused '^posenc diff: \.: it is no regular file' . f32.npy
refused '--tensor pe: neither file has names' f32.npy f64.npy --tensor pe
refused 'f32.safetensors: no tensor x; it has pe' f32.npy f32.safetensors --tensor x
refused '--tensor c: a third one' f32.npy f32.npy --tensor a --tensor b --tensor c
check 'a tensor by its name' ends 0 f32.npy f32.safetensors --tensor pe
check 'in each file another' ends 0 f32.safetensors f32.safetensors --tensor pe --tensor pe

find_numpy
if [ -n "${numpy:-}" ]; then
  "$numpy" -c '
import numpy as n
a = n.load("f32.npy")
n.save("any", n.asfortranarray(a[:, ::-1]))
n.save("odd", a[:, :5]); n.save("odd2", a[:, [4, 0, 1, 2, 3]])'
  check 'any order of columns' ends 1 f32.npy any.npy
  check 'is found' says '^columns  *B has the columns of A in another order: 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 \.\.\.$'
  check 'an odd number of them' ends 1 odd.npy odd2.npy
  check 'too' says 'in another order: 4 0 1 2 3$'
else
  for name in 'any order of columns' 'an odd number of columns'; do skip "$name" 'no numpy here'; done
fi

plan
