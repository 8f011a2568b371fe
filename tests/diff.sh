#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc diff: which elements are equal, which differ, where and by how much; and permuted columns.
# shellcheck disable=SC2086 # names of files without spaces
command='diff'
. "${srcdir:-.}/tests/command.sh"
write() { # FILE OPTION...
  file=$1
  shift
  "$POSENC" write --len 300 --dim 20 "$@" -o $file
}
# shellcheck disable=SC2059 # bytes in octal
put() { # ELEMENT BYTES FILE OTHER: makes OTHER, which is FILE with other bytes in one element of f32
  { head -c $((128 + 4 * $1)) $3; printf "$2"; tail -c +$((128 + 4 * $1 + 5)) $3; } >$4
}
differ() { # NAME FILE FILE PATTERN...: says each of these
  name=$1
  check "$name: the files differ" ends 1 $2 $3
  shift 3
  for pattern; do check "$name: $pattern" says "$pattern"; done
}

for dtype in f32 f64 f16 bf16; do
  write $dtype.npy --dtype $dtype
  write $dtype.safetensors --dtype $dtype
  check "one table in two formats: $dtype" ends 0 $dtype.npy $dtype.safetensors
  check "one table in two formats: nothing is printed" test ! -s out
done

# Tables of 6000 elements; element 1003 is row 50, column 3.
put 1003 '\0\0\0\100' f32.npy one.npy
differ 'one element' f32.npy one.npy '^other values  *1 of 6000; other bits: 1$' \
  '^first  *row 50, column 3: -*[0-9.]* and 2, [0-9.]* apart, [0-9.e+]* ulp$'
# Row 0, column 2 is 0 and becomes 2^-20.
put 2 '\0\0\200\065' one.npy two.npy
differ 'two elements' f32.npy two.npy '^other values  *2 of 6000; other bits: 2$' \
  '^first  *row 0, column 2: 0 and 9.5[0-9]*e-07, 9.5[0-9]*e-07 apart, 8.39e+06 ulp$' '^largest  *row 50, column 3: ' \
  '^largest in ulp  *row 0, column 2: '
put 0 '\0\0\0\200' f32.npy minus.npy
differ 'minus zero' f32.npy minus.npy '^other values  *0 of 6000; other bits: 1$' \
  '^first  *row 0, column 0: 0 and -0, 0 apart, 0 ulp$'
put 0 '\0\0\300\177' f32.npy nan.npy
differ 'NaN' f32.npy nan.npy '^other values  *1 of 6000; other bits: 1$' \
  '^largest  *row 0, column 0: 0 and nan, inf apart, inf ulp$'
check 'NaN and itself' ends 0 nan.npy nan.npy
put 0 '\1\0\300\177' f32.npy other.npy
differ 'NaN of other bits' nan.npy other.npy '^other values  *0 of 6000; other bits: 1$'

differ 'dtypes' f32.npy f64.npy '^dtypes  *f32 and f64$' '^other values  *[0-9]* of 6000$'
write more.npy --len 400
differ 'more rows' f32.npy more.npy '^rows  *300 and 400; compared are 300$' \
  '^other values  *0 of 6000; other bits: 0$'
write wide.npy --dim 22
differ 'more columns' f32.npy wide.npy '^columns  *20 and 22$'
check 'more columns: nothing is compared' test "$(wc -l <out)" -eq 3

# Arrays of any axes; those of length 1 may be left out, and there may be more of the first.
alibi() { "$POSENC" write --encoding alibi --heads "$1" --len 16 -o "$2"; }
alibi 12 alibi.npy && alibi 12 again.npy && alibi 4 few.npy
check 'three axes: equal' ends 0 alibi.npy again.npy
put 1000 '\0\0\0\100' alibi.npy bent.npy
differ 'three axes' alibi.npy bent.npy '^A: 12x16x16 f32, ' \
  '^first  *at (3, 14, 8): -0.375 and 2, 2.38 apart, 9.96e+06 ulp$'
differ 'fewer slopes' alibi.npy few.npy '^rows  *192 and 64; compared are 64$'
"$POSENC" write --op rope-cache --len 16 --dim 16 -o cache.npy
differ 'other axes' alibi.npy cache.npy '^rows  *192 and 32; '
write long.npy --len 16 --dim 16
differ 'one axis less' alibi.npy long.npy '^axes  *not those of one another$'

for layout in interleaved-cs split split-cs; do
  write $layout.npy --layout $layout
  differ "$layout" f32.npy $layout.npy "^columns  *B is A with its columns from interleaved to $layout$"
  write naive.npy --layout $layout --kernel naive
  differ "$layout by another kernel" f32.npy naive.npy \
    "^columns  *from interleaved to $layout, those of A are within [0-9.e-]* of those of B"
done
differ 'a column with minus zero' minus.npy split.npy '^columns  *B is A with its columns from interleaved to split$'
differ 'swapped halves' split.npy split-cs.npy 'from split to split-cs$'
write other.npy --base 500000
differ 'another base' f32.npy other.npy
check 'another base: no order of columns' test "$(grep -c '^columns' out)" -eq 0

refused 'two FILEs are needed'
refused 'two FILEs are needed' f32.npy
refused "extra operand 'f16.npy'" f32.npy f64.npy f16.npy
refused 'no-such.npy: No such file' f32.npy no-such.npy
refused '^posenc diff: \.: it is no regular file' . f32.npy
refused '--tensor pe: neither file has names' f32.npy f64.npy --tensor pe
refused 'f32.safetensors: no tensor x; it has pe' f32.npy f32.safetensors --tensor x
refused '--tensor c: a third one' f32.npy f32.npy --tensor a --tensor b --tensor c
check 'a tensor by its name' ends 0 f32.npy f32.safetensors --tensor pe
check 'another tensor in each file' ends 0 f32.safetensors f32.safetensors --tensor pe --tensor pe

find_numpy
if [ -n "${numpy:-}" ]; then
  "$numpy" -c '
import numpy as n
a = n.load("f32.npy")
n.save("any", n.asfortranarray(a[:, ::-1]))
n.save("list", a[0]); n.save("bent", a[0] + n.eye(1, 20, 7, dtype="f4")[0]); n.save("one", a[None, :, None])
t = n.arange(24.0).reshape(2, 3, 4); n.save("deep", t); n.save("fortran", n.asfortranarray(t))
n.save("odd", a[:, :5]); n.save("odd2", a[:, [4, 0, 1, 2, 3]])'
  differ 'any order of columns' f32.npy any.npy \
    '^columns  *B has the columns of A in another order: 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 \.\.\.$'
  check 'axes of 1 are left out' ends 0 one.npy f32.npy
  check 'three axes in Fortran order' ends 0 deep.npy fortran.npy
  differ 'one axis' list.npy bent.npy '^A: 20 f32, ' '^first  *at (7): '
  differ 'an odd number of columns' odd.npy odd2.npy 'in another order: 4 0 1 2 3$'
else
  for name in 'any order of columns' 'axes of 1' 'Fortran order' 'one axis' 'an odd number of columns'; do
    skip "$name" 'no numpy here'
  done
fi
plan
