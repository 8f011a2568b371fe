#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc check: correct tables pass, wrong ones fail, and files that are no tables are refused in one line.
# shellcheck disable=SC2016,SC2059,SC2086,SC2154 # the environment comes from make; bytes are printed as formats
command=check
. "${srcdir:-.}/tests/command.sh"

# ---- tables of posenc ----

for format in npy safetensors; do
  for dtype in f32 f64 f16 bf16; do
    # The best kernel for doubles is within 2^-44.
    limit='--max-ulp 0.50001'
    [ $dtype = f64 ] && limit='--max-abs 5.7e-14'
    "$POSENC" write --len 300 --dim 20 --dtype $dtype -o $dtype.$format
    check "ours passes: $dtype in .$format" ends 0 $dtype.$format $limit
    check 'which it says' says '^PASS: '
    check 'of all elements' says '^elements  *6000,'
  done
done
set -- --base 5e5 --offset -70 --shift 0.5 --padding -3 --layout split-cs
"$POSENC" write --len 100 --dim 12 "$@" -o all.npy
check 'every option' ends 0 all.npy "$@" --max-ulp 0.50001
check 'positions are told from the farthest below 0' says '^ *-70  *7 '
check 'other options, other table' ends 1 all.npy "$@" --layout split --max-ulp 1000
check 'no limit, and other options than were written' ends 1 all.npy
check 'is a failure with its cause' says '^FAIL: formula: the base is 500000, not 10000$'
check 'the same options' ends 0 all.npy "$@"
check 'pass a limit that is told' says '^PASS: formula: no error is larger than 2 ulp, the limit if none is given$'

"$POSENC" write --len 2000 --dim 64 --kernel naive --offset 100000 -o naive.npy
check 'an f32 recipe far out breaks one ulp' ends 1 naive.npy --offset 100000 --max-ulp 1
check 'which it says with a place' \
  says '^      --max-ulp 1: [0-9]* of 128000 beyond the bound; the worst at p = 10[0-9]*, i = '
check 'and so do rotations' says '^rotation .*FAILS'
check 'without a limit, that of code in f32 is taken' ends 0 naive.npy --offset 100000
check 'which is told' says \
  '^PASS: formula: the errors are those of angles in f32; the limit, as none is given, is that of code in f32$'
check 'but it is within 0.02' ends 0 naive.npy --offset 100000 --max-abs 0.02
"$POSENC" verify --kernel naive --len 2000 --dim 64 --offset 100000 --format json --search 0 -o verify.json
posenc check naive.npy --offset 100000 --format json
figures() { # of the record on standard input
  tr -d '\n' |
    sed 's/.*"records"//; s/,* *"\(row\|column\)": [0-9]*//g; s/"replay": "[^"]*"//g
    s/"worst".*"mean_ulp"/"mean_ulp"/; s/"by_position": *\[[^]]*\], *//; s/"search".*//; s/"checks".*//; s/"positions".*//
    s/.*"max_ulp"/"max_ulp"/; s/  *//g'
}
figures <verify.json >figures.verify
figures <out >figures.check
check 'its figures are those of verify' cmp -s figures.verify figures.check
check 'which are some' grep -q '"misrounded":[0-9]' figures.check

check 'TAP' ends 1 naive.npy --offset 100000 --max-ulp 1 --format tap
check 'a point for each property' test "$(grep -c '^ok\|^not ok' out)" -eq 5 -a "$(sed -n 2p out)" = 1..5
check 'and how to do it again' says "^# replay: posenc check naive.npy --offset 100000 --max-ulp 1 --format tap$"
check 'TAP without a limit' ends 0 naive.npy --offset 100000 --format tap
check 'skips' test "$(grep -c '# SKIP no limit' out)" -eq 5
refused '--output f32.npy: it is the file to check$' f32.npy -o f32.npy
ln f32.npy link.npy
refused '--output link.npy: it is the file to check$' f32.npy -o link.npy
check 'JUnit' ends 0 f32.npy --max-ulp 1 --format junit -o x.xml
check 'into a file' grep -q '<testsuites name="posenc" tests="5" failures="0" skipped="0">' x.xml
check 'JSON' ends 0 f32.safetensors --format json
check 'has a schema and the tensor' eval "says '\"schema\": \"posenc-check-1\"' && says '\"tensor\": \"pe\"'"
cp f32.npy "$(printf 't\303\251.npy')" && check 'a name in UTF-8' ends 0 "$(printf 't\303\251.npy')"
check 'is shown' says "^$(printf 't\303\251.npy'): "
cp f32.npy "$(printf 'a#\351.npy')" && check 'any name of a file' ends 0 "$(printf 'a#\351.npy')" --format json

# ---- where an element is wrong ----

for options in '--dim 8' '--dim 8 --layout split' '--dim 8 --layout interleaved-cs --offset -3' \
  '--dim 8 --layout split-cs --positions 5,-2.5,7,7,1e6,3,2,1' '--dim 7 --odd ceil' '--dim 7 --odd pad' \
  '--dim 7 --odd ceil --layout split'; do
  length='--len 8' columns=${options#--dim } columns=${columns%% *}
  case $options in *--positions*) length='' ;; esac
  "$POSENC" write $length $options -o whole.npy
  for column in 0 3 4 6; do
    at=$(($(wc -c <whole.npy) - 4 * columns * 8 + 4 * (columns * 5 + column)))
    { head -c $at whole.npy && printf '\0\0\0\100' && tail -c +$((at + 5)) whole.npy; } >broken.npy # 2
    check "column $column of $options" ends 1 broken.npy ${options#--dim ?} --max-abs 0.001
    check 'is told' says "^FAIL: off by [0-9.]* at row 5, column $column: 2 instead of "
  done
done
check 'and what to do' grep -qx '      posenc identify tells what this table is' out
check 'as the cause, too' says '^likely cause  *1 element is off, the first at row 5, column 6$'

# ---- cosines or sines alone ----

for layout in duplicated interleaved split; do
  set -- --base 5e5 --offset 7 --layout $layout
  "$POSENC" write --op rope-cache --len 200 --dim 64 --dtype bf16 "$@" -o cache.safetensors
  for part in cos sin; do
    check "cache of $part, $layout" ends 0 cache.safetensors --tensor $part --max-ulp 0.50001
    check 'which has so many elements' says "^elements  *$([ $layout = split ] && echo 6400 || echo 12800),"
    check 'pairs are not looked at' test "$(grep -c '^\(pair-norm\|rotation\)  *not looked at$' out)" -eq 2
    check 'told by options' ends 0 cache.safetensors --tensor $part --part $part "$@" --max-ulp 0.50001
    check 'identified' eval '"$POSENC" identify cache.safetensors --tensor $part >out 2>err'
    check 'as that' says "base 500000, $layout ($part), positions 7\.\.206, .* bf16, bit for bit"
    options=$(options_told)
    check 'with options for check' eval 'says "^posenc check cache.safetensors .*--part $part" &&
      ends 0 cache.safetensors --tensor $part $options --max-ulp 0.50001'
  done
  check 'the other part, another table' ends 1 cache.safetensors --tensor cos --part sin --max-ulp 1
  # The last element is in the last copy of its column.
  { head -c -2 cache.safetensors && printf '\0\0'; } >broken.safetensors
  check 'a broken element' ends 1 broken.safetensors --tensor sin --max-ulp 1
  wrong=$([ $layout = split ] && echo 31 || echo 63)
  check 'is told by its row and column' says "^FAIL: off by .* at row 199, column $wrong: 0 instead of "
  check 'is the only one' says '^      --max-ulp 1 of bf16: 1 of '
done
"$POSENC" write --len 9 --dim 7 --odd pad -o odd.npy
refused 'odd.npy: dim must be even; --odd pad or --odd ceil takes an odd one$' odd.npy
"$POSENC" write --len 9 --dim 8 -o told.safetensors
sed 's/"first":"0"/"first":"x"/' told.safetensors >lying.safetensors
refused 'lying.safetensors: its metadata, first x: not an integer' lying.safetensors
sed 's/"op":"table"/"op":"tablx"/' told.safetensors >lying.safetensors
refused 'lying.safetensors: its metadata, op tablx: not table or rope-cache' lying.safetensors
altered() { # FILE KEY JSON: changes a key of its metadata, to a value no longer than the old one, in lying.safetensors
  old=$(grep -a -o "\"$2\":\"[^\"]*\"" "$1" | head -1)
  sed "s/\"$2\":\"[^\"]*\"/$(printf '%-*s' ${#old} "\"$2\":$3")/" "$1" >lying.safetensors
}
altered told.safetensors op '""'
refused "lying.safetensors: its metadata, op '': not table or rope-cache$" lying.safetensors
for key in base scale shift first scaling padding odd layout; do
  altered told.safetensors $key '""'
  refused "lying.safetensors: its metadata, $key '': n" lying.safetensors
done
check 'an option takes its place' ends 0 lying.safetensors --layout interleaved --max-ulp 0.50001
altered told.safetensors base 10000
refused 'lying.safetensors: its metadata, base: not a string$' lying.safetensors
seq 1000 >positions.txt
"$POSENC" write --positions positions.txt --dim 8 -o list.safetensors
check 'a list in the file' ends 0 list.safetensors --max-ulp 0.50001
for shape in 'F32","shape":[2000]|dtype F32: not F64' 'F64","shape":[9,99]|shape of 2 axes: not of one' \
  'F64","shape":[ 999]|its shape and its data_offsets do not agree' \
  'F64","shape":[1001]|its shape and its data_offsets do not agree'; do
  sed "s/F64\",\"shape\":\[1000\]/${shape%|*}/" list.safetensors >lying.safetensors
  refused "lying.safetensors: its tensor positions, ${shape#*|}$" lying.safetensors --tensor pe
done
head -c -32 list.safetensors |
  sed 's/\[1000,8\],"data_offsets":\[8000,40000\]/[ 999,8],"data_offsets":[8000,39968]/' >lying.safetensors
refused 'lying.safetensors: it has 1000 positions for 999 rows$' lying.safetensors
sed 's/F64","shape":\[1000\]/F64","shape":[1001]/' list.safetensors >lying.safetensors
check 'an option takes its place, too' ends 0 lying.safetensors --tensor pe --positions positions.txt --max-ulp 0.50001
for layout in duplicated interleaved split; do
  for length in 1 90; do
    set -- --layout $layout --offset 3
    "$POSENC" write --op rope-cache --len $length --dim 16 "$@" -o cache.npy
    for part in cos sin; do
      check "half of a .npy cache: $part of $length, $layout" ends 0 cache.npy --part $part "$@" --max-ulp 0.50001
      check 'which has so many elements' says "^elements  *$((length * $([ $layout = split ] && echo 8 || echo 16))),"
    done
  done
done
"$POSENC" write --op rope-cache --len 90 --dim 16 -o cache.npy
check 'but not as rows of a learned table' eval '
  ! "$POSENC" write --encoding learned --table cache.npy --len 2 -o x.npy 2>err && contains err "its shape (2, 90, 16)"'
check 'both halves as one table' eval 'ends 0 cache.npy --max-ulp 1 && says "^elements  *1440,"'
{ head -c -2 cache.npy && printf '\0\0'; } >broken.npy
check 'a broken element is in the second half' ends 1 broken.npy --part sin --max-ulp 1
check 'and not in the first' ends 0 broken.npy --part cos --max-ulp 1
check 'it is no copy in both' eval '
  ! "$POSENC" check broken.npy --max-ulp 1 >out 2>err && contains err "row 89, column 31 is not the copy"'
{ head -c $((128 + 90 * 64)) cache.npy && tail -c +129 cache.npy | head -c $((90 * 64)); } >cosines.npy
check 'cosines in place of the sines' eval 'ends 1 cosines.npy --max-ulp 1 && ! "$POSENC" identify cosines.npy >out'
sed '1s/(2, 90, 16)/(90, 16)   /' cache.npy | head -c $((128 + 90 * 16 * 4)) >half.npy
check 'half a cache in a file of its own is duplicated, too' ends 0 half.npy --part cos --max-ulp 1
head -c -4 cache.npy >cut.npy
{ cat cache.npy && printf x; } >long.npy
for part in cos sin; do
  refused 'cut.npy: its 2 x 90 x 16 elements take 11520 bytes, and it has 11516' cut.npy --part $part
  refused 'long.npy: its 2 x 90 x 16 elements take 11520 bytes, and it has 11521' long.npy --part $part
done
refused '--part tan: not cos or sin' f32.npy --part tan
refused '--layout split-cs: with --part it is duplicated, interleaved or split' f32.npy --part cos --layout split-cs

# x has zeros and ones alone, which bf16 has, too. The limit is in ulp of the file.
"$POSENC" write --positions 0,0,0 --dim 8 --layout split-cs -o ones.npy
check 'whose ulp it is' eval 'ends 1 --op rope --x ones.npy ones.npy --layout split --max-ulp 2 &&
  says "^values  *all are numbers of [b]*f16, stored as f32: an ulp is that of f32$"'
check 'without a limit, too' eval 'ends 1 --op rope --x ones.npy ones.npy --layout split &&
  says "^values  *all are numbers of \([b]*f16\), stored as f32: judged as those of \1$"'

# ---- malformed files ----

length() { # TEXT: prints its length as two bytes, the lower one first
  printf "\\$(printf %o $((${#1} % 256)))\\$(printf %o $((${#1} / 256)))"
}
npy() { # FILE HEADER BYTES-OF-DATA: format version 1.0
  { printf '\223NUMPY\1\0'; length "$2"; printf %s "$2"; head -c "$3" /dev/zero; } >"$1"
}
header() { # DESCR ORDER SHAPE
  echo "{'descr': '$1', 'fortran_order': $2, 'shape': $3, }"
}
safetensors() { # FILE HEADER BYTES-OF-DATA
  { length "$2"; printf '\0\0\0\0\0\0'; printf %s "$2"; head -c "$3" /dev/zero; } >"$1"
}
tensor() { # DTYPE SHAPE FROM TO
  echo "{\"dtype\":\"$1\",\"shape\":$2,\"data_offsets\":[$3,$4]}"
}
# Zeros in files that are refused.
refused_npy() { # PATTERN DESCR SHAPE BYTES-OF-DATA
  npy x.npy "$(header "$2" False "$3")" "$4" && refused "x.npy: $1" x.npy
}
refused_safetensors() { # PATTERN HEADER BYTES-OF-DATA [ARGUMENT...]
  safetensors x.safetensors "$2" "$3"
  text=$1
  shift 3
  refused "x.safetensors: $text" x.safetensors "$@"
}
refused_tensor() { # PATTERN DTYPE SHAPE: of 32 bytes
  refused_safetensors "tensor a: $1" "{\"a\":$(tensor "$2" "$3" 0 32)}" 32
}

refused 'FILE is missing'
refused "extra operand 'f64.npy'" f32.npy f64.npy
refused "^posenc check: '': " ''
refused 'no-such.npy: No such file' no-such.npy
refused '^posenc check: \.: it is no regular file' .
mkfifo pipe && refused 'pipe: it is no regular file' pipe
: >empty && refused 'empty: it is empty' empty
echo 'position,sin,cos' >text && refused 'text: neither a .npy, a safetensors nor a GGUF file' text
printf 'PK\3\4and more' >x.npz && refused 'x.npz: an archive, of no kind that is known here' x.npz
refused '--max-ulp 0: not above 0' f32.npy --max-ulp 0
refused '--max-abs nan: not finite' f32.npy --max-abs nan
refused '--max-abs 1: cannot be combined with --max-ulp' f32.npy --max-ulp 1 --max-abs 1
refused '--format xml: ' f32.npy --format xml
refused '--tensor pe: f32.npy is a .npy file' f32.npy --tensor pe
refused "unrecognized option '--len'" f32.npy --len 3
refused '--shift 10: ' f32.npy --shift 10
refused '--offset 9223372036854775807: .*overflow' f32.npy --offset 9223372036854775807
refused '--output no/such/folder/x: No such file' f32.npy -o no/such/folder/x

printf '\223NUM' >x.npy && refused 'x.npy: neither' x.npy
printf '\223NUMPY' >x.npy && refused 'x.npy: it ends within its header' x.npy
for bytes in 7 8 9 60; do head -c $bytes f32.npy >x.npy && refused 'x.npy: it ends within its header' x.npy; done
printf '\223NUMPY\1\1    ' >x.npy && refused 'x.npy: format version 1.1 of .npy is not known' x.npy
npy x.npy "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }" 32 &&
  refused 'x.npy: its header is no dict' x.npy
printf '\223NUMPY\4\0    ' >x.npy && refused 'x.npy: format version 4.0 of .npy is not known' x.npy
printf '\223NUMPY\2\0\377\377\377\377' >x.npy && refused 'x.npy: its header of 4294967295 bytes is longer than' x.npy
head -c 24000 f32.npy >x.npy && refused 'x.npy: its 300 x 20 elements take 24000 bytes, and it has 23872' x.npy
{ cat f32.npy && printf x; } >x.npy && refused 'x.npy: its 300 x 20 elements take 24000 bytes, and it has 24001' x.npy
cat f32.npy f32.npy >x.npy && refused 'x.npy: its 300 x 20 elements take 24000 bytes, and it has 48128' x.npy
npy list.npy "$(header '<i4' False '(300,)')" 1204
refused 'list.npy: its 300 numbers take 4 bytes each, and it has 1204 in all$' f32.npy --positions list.npy
ones=$(seq 32 | sed 's/.*/1,/' | tr -d '\n')
for text in '' '{' '{}' '[]' "{'descr': '<f4'}" "$(header '<f4' Maybe '(2, 4)')" "$(header '<f4' False '(2, 4')" \
  "$(header '<f4' False '(2 4)')" "$(header '<f4' False '(-2, 4)')" "$(header '<f4' False '[2, 4]')" \
  "$(header '<f4' False '(2, 4)')}" "{'descr': '<f4', 'descr': '<f4'}" "$(header '<f4' False "($ones 2, 4)")"; do
  npy x.npy "$text" 32 && refused 'x.npy: its header is no dict' x.npy
done
npy x.npy "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 4), }" 32
refused 'x.npy: its elements are structures' x.npy
for descr in '|O' '<i4' '<f16' '<c4' '|S4' '<U1' '|V4' '' '<' 'f'; do
  refused_npy "its dtype '$descr' is not f2, f4, f8, c8, c16 or V2" "$descr" '(2, 4)' 64
done
refused_npy 'its shape () has no axis for positions' '<f4' '()' 4
refused_npy 'its shape (3, 2, 2, 3) is not (positions, columns)' '<f4' '(3, 2, 2, 3)' 144
refused_npy 'its shape (0, 4) has no elements' '<f4' '(0, 4)' 0
refused_npy 'its shape (4, 0) has no elements' '<f4' '(4, 0)' 0
refused_npy 'dim must be even' '<f4' '(2, 3)' 24
refused_npy 'its shape .* is larger than any file' '<f4' '(4294967296, 4294967296)' 24
refused_npy 'its shape .* is larger than any file' '<f8' '(9223372036854775807, 2)' 24
refused_npy 'its shape .* is larger than any file' '<f8' '(99999999999999999999, 2)' 24
refused_npy '262144 columns are more than' '<f2' '(2, 262144)' 1048576

good="\"a\":$(tensor F32 '[2,4]' 0 32),\"b\":$(tensor BF16 '[3,2]' 32 44),\"c\":$(tensor I8 '[4]' 44 48)"
safetensors x.safetensors "{$good}" 48
check 'one of several tensors' ends 1 x.safetensors --tensor a --max-ulp 1
escape=$(printf '\033')
safetensors y.safetensors "{\"\\u001b[2J\":$(tensor F32 '[2,4]' 0 32)}" 32
check 'a name that terminals would obey' ends 1 y.safetensors
check 'is not printed as it is' test "$(grep -c "$escape" out)" -eq 0
refused 'y.safetensors: no tensor x; it has ?\[2J$' y.safetensors --tensor x
refused 'x.safetensors: several of its tensors can be tables, --tensor chooses: a, b$' x.safetensors
refused 'x.safetensors: no tensor d; it has a, b, c$' x.safetensors --tensor d
refused 'x.safetensors: no tensor __metadata__; ' x.safetensors --tensor __metadata__
refused 'x.safetensors: tensor c: its dtype I8 is not F16' x.safetensors --tensor c
printf '\1\0\0\0\0\0\0\0{' >x.safetensors && refused 'x.safetensors: its header is not JSON' x.safetensors
printf '\377\377\377\377\377\377\377\377{' >x.safetensors
refused 'x.safetensors: its header of 18446744073709551615 bytes is longer' x.safetensors
printf '\377\377\0\0\0\0\0\0{' >x.safetensors && refused 'x.safetensors: it ends within its header' x.safetensors
printf '\1\0\0\1\0\0\0\0{' >x.safetensors
refused 'x.safetensors: its header of 16777217 bytes is longer than 16777216$' x.safetensors
head -c 100 f32.safetensors >x.safetensors && refused 'x.safetensors: it ends within its header' x.safetensors
head -c 24000 f32.safetensors >x.safetensors && refused 'x.safetensors: tensor pe ends at byte 24000 of ' x.safetensors
head -c -4 f32.safetensors >x.safetensors
refused 'x.safetensors: tensor pe ends at byte 24000 of 23996' x.safetensors
{ cat f32.safetensors && echo; } >x.safetensors
refused 'x.safetensors: its tensors take 24000 bytes, and it has 24001' x.safetensors
refused_safetensors 'none of its tensors can be a table; it has none' '{}' 0
refused_safetensors 'tensor a has no data_offsets' '{"a":1}' 0
for offsets in '0,-1' '8,0' '0' '0,1,2' '0.0,32' '"0",32' '0,1e400' '0,99999999999999999999'; do
  safetensors x.safetensors "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,4],\"data_offsets\":[$offsets]}}" 32
  refused 'x.safetensors: \(tensor a has no data_offsets\|its header is not JSON\)' x.safetensors
done
a="\"a\":$(tensor F32 '[2,4]' 0 32)"
refused_safetensors 'tensor b overlaps another' "{$a,\"b\":$(tensor F32 '[2,4]' 16 48)}" 48 --tensor a
refused_safetensors 'tensor b follows bytes that belong to none' "{$a,\"b\":$(tensor F32 '[2,4]' 40 72)}" 72
refused_safetensors 'tensor a ends at byte' "{\"a\":$(tensor F32 '[2,4]' 0 9000000000000000000)}" 32
refused_tensor 'its shape and its data_offsets do not agree' F32 '[2,5]'
refused_tensor 'its shape .* is larger' F32 '[4294967296,4294967296]'
refused_tensor 'its shape is not of numbers' F32 '[-2,-4]'
refused_tensor 'its shape and its data_offsets do not agree' F32 '[2,3]'
refused_tensor 'its dtype F8_E4M3' F8_E4M3 '[4,8]'
refused_safetensors 'tensor a: it has no dtype and shape' '{"a":{"data_offsets":[0,0]}}' 0
refused_safetensors 'its header is not JSON: .*' "{$a,$a}" 32

# NaN and infinities are compared like other elements, and are wrong.
{ head -c 12000 f32.npy; printf '\0\0\300\177\0\0\200\377'; tail -c +12009 f32.npy; } >nan.npy
check 'a NaN and an infinity' ends 1 nan.npy --max-abs 100
check 'fail without a limit, too' ends 1 nan.npy
check 'and are told' says '^FAIL: formula: 2 elements are NaN or infinite, the first at row '
check 'of |value| it is not said that it is inf' eval '! grep -q "|value| inf" out'
check 'are counted' says '^not finite  *2 '
check 'finite ones pass' ends 0 f32.npy

# A file is cut while it is read. It is larger than the limit on memory, and takes no space on the disk.
if npy big.npy "$(header '<f4' False '(67108864, 4)')" 0 && truncate -s +1G big.npy 2>/dev/null &&
  [ -r /proc/self/maps ]; then
  "$POSENC" diff big.npy big.npy >out 2>err &
  pid=$!
  until grep -q big.npy /proc/$pid/maps 2>/dev/null; do kill -0 $pid 2>/dev/null || break; done
  sleep 0.1 # reading takes about a second; it is stopped while the file is cut
  kill -STOP $pid 2>/dev/null
  truncate -s 4096 big.npy
  kill -CONT $pid 2>/dev/null
  wait $pid
  status=$?
else
  status=127
fi
if [ $status -eq 0 ] || [ $status -eq 127 ]; then
  skip 'a file that is cut while it is read' 'it was read before it was cut, or nobody tells when it is read'
else
  check 'a file that is cut while it is read' one_line '^posenc: big.npy: it was cut while it was read$'
fi

# ---- results of add and rope ----

# x has pairs (1, 0), which rope rotates to (cos, sin), and zeros, to which add adds the table.
"$POSENC" write --positions "$(yes 0 | head -100 | paste -s -d , -)" --dim 16 --layout interleaved-cs -o units.npy
"$POSENC" write --len 100 --dim 16 --layout interleaved-cs -o turned.npy
"$POSENC" write --len 100 --dim 16 -o added.npy
head -c 128 added.npy >zeros.npy && head -c 6400 /dev/zero >>zeros.npy
check 'add to zeros is the table' ends 0 added.npy --op add --x zeros.npy --max-ulp 0.51
check 'which passes' says '^PASS: --max-ulp 0.51$'
check 'of all elements' says '^elements  *1600,'
check 'rope of (1, 0) is (cos, sin)' ends 0 turned.npy --op rope --x units.npy --max-ulp 0.51
check 'in ulp of the length' says '; ulp of the length of a pair$'
check 'of x with these axes' says '^x  *units.npy, axes ld$'
check 'a part' ends 1 turned.npy --op rope --x units.npy --max-abs 3 --dim 8
check 'and the rest, which is not as in x' says '^FAIL: columns that rope leaves alone: [0-9]* of 800 differ from x, '
check 'wrong pairs' ends 1 turned.npy --op rope --x units.npy --max-ulp 0.51 --layout split
check 'are named' says '^likely cause  *pairs are neighbours, not halves$'
check 'with the place' says '^FAIL: off by [0-9.]* at l [0-9]*, d [0-9]*: '
check 'a wrong base' ends 1 turned.npy --op rope --x units.npy --max-abs 1e-6 --base 5e5
check 'is named' says '^likely cause  *the base is 10000, not 500000$'
check 'positions below 0' ends 1 turned.npy --op rope --x units.npy --max-abs 1e-6 --offset -50
check 'are told from the farthest on' says '^ *-50  *19 '
check 'without a limit, too' ends 1 turned.npy --op rope --x units.npy --base 5e5
check 'a mistake is a failure' says '^FAIL: formula: the base is 10000, not 500000$'
check 'without a mistake' ends 0 turned.npy --op rope --x units.npy
check 'there is a limit' says '^PASS: formula: no error is larger than 2 ulp'
check 'other positions' ends 0 turned.npy --op rope --x units.npy --max-ulp 0.51 \
  --positions "$(seq -s , 0 99)" --axes ld --start 0 --dim 16
check 'TAP' ends 1 turned.npy --op rope --x units.npy --max-ulp 0.51 --inverse --format tap
check 'two points' test "$(grep -c '^ok\|^not ok' out)" -eq 2 -a "$(sed -n 2p out)" = 1..2
check 'JSON' ends 1 turned.npy --op rope --x units.npy --max-ulp 0.51 --inverse --format json
check 'has x, axes and the cause' \
  eval "says '\"x\": \"units.npy\"' && says '\"axes\": \"ld\"' && says '\"cause\": \"pairs are turned forward\"'"
refused '--op rope: --x is missing, the file of what it was applied to, or --x-tensor, its name in turned.npy$' \
  turned.npy --op rope
refused '--x units.npy: cannot be combined with --op table$' turned.npy --x units.npy
refused '--inverse: cannot be combined with --op table$' turned.npy --inverse
refused '--part cos: cannot be combined with --op$' turned.npy --op rope --x units.npy --part cos
refused '--op rope-cache: ' turned.npy --op rope-cache
refused '--output units.npy: --x reads it' turned.npy --op rope --x units.npy -o units.npy
refused '--x missing.npy: No such file' turned.npy --op rope --x missing.npy
refused 'f64.npy: f64, and units.npy is f32$' f64.npy --op rope --x units.npy
refused 'f32.npy: its shape is not that of units.npy$' f32.npy --op rope --x units.npy
refused '--axes lhd: 3 letters, and there are 2 axes$' turned.npy --op rope --x units.npy --axes lhd
refused '--axes lx: b, l, h and d are axes$' turned.npy --op rope --x units.npy --axes lx
refused '--axes dl: d, the columns, is the last axis$' turned.npy --op rope --x units.npy --axes dl
refused '--axes hd: l, the positions, is one axis$' turned.npy --op rope --x units.npy --axes hd
refused '--dim 18: units.npy has 16 columns$' turned.npy --op rope --x units.npy --dim 18
refused '--start 16: units.npy has 16 columns$' turned.npy --op rope --x units.npy --start 16
refused '--dim 8: add has all columns of x$' added.npy --op add --x zeros.npy --dim 8
refused '--positions: there are 2 of them, and axis l has 100$' turned.npy --op rope --x units.npy --positions 1,2
refused '--positions: 0.5 is no whole number$' turned.npy --op rope --x units.npy --positions "$(seq -s , 0.5 99.5)"
refused '--layout split-cs: rope takes its pairs interleaved or split$' \
  turned.npy --op rope --x units.npy --layout split-cs
refused '--dim 7: rope turns an even number of columns$' turned.npy --op rope --x units.npy --dim 7
npy columns.npy "$(header '<f4' True '(100, 16)')" 6400
check 'a result in another order of memory' ends 1 columns.npy --op add --x zeros.npy
npy complex.npy "$(header '<c8' False '(100, 8)')" 6400
check 'complex numbers are pairs of columns' ends 1 complex.npy --op add --x zeros.npy
npy complex.npy "$(header '<c8' True '(100, 8)')" 6400
refused 'complex.npy: its complex numbers are in Fortran.s order$' complex.npy --op add --x zeros.npy
npy none.npy "$(header '<f4' False '(100, 0, 16)')" 0
refused '--x none.npy: its shape (100, 0, 16) has no elements$' added.npy --op add --x none.npy
npy one.npy "$(header '<f4' False '(16,)')" 64
refused 'added.npy: its shape is not that of one.npy$' added.npy --op add --x one.npy
{ head -c 6524 zeros.npy; printf '\0\0\300\177'; } >nan.npy
refused '--x nan.npy: not all numbers of row 99 are finite$' added.npy --op add --x nan.npy
check 'a result that is no number' ends 1 nan.npy --op add --x zeros.npy --max-ulp 1
check 'is counted' says '^not finite  *1 '

# ---- files larger than the memory ----

# Half a GiB of zeros in a sparse file, read by rows and by columns: only a fraction of it may be in memory at once.
small() { # FILE
  python3 -c '
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
sys.exit(status or resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 128 * 1024)' "$POSENC" diff $1 $1 >out 2>err
}
for order in False True; do
  npy half.npy "$(header '<f4' $order '(131072, 1024)')" 0
  truncate -s $(($(wc -c <half.npy) + 536870912)) half.npy
  if command -v python3 >/dev/null; then
    check "memory is bounded, fortran_order: $order" small half.npy
  else
    skip 'memory is bounded' 'no python3 here'
  fi
done
rm half.npy

# ---- tables of NumPy ----

find_numpy
names='f-order big-endian big-endian-f-order version-2 version-3 first-axis middle-axis half big-endian-half double'
if [ -n "${numpy:-}" ]; then
  "$POSENC" write --len 200 --dim 66 -o a.npy
  "$numpy" -c '
import numpy as n, json, struct
a = n.load("a.npy")
n.save("f-order", n.asfortranarray(a))
n.save("big-endian", a.astype(">f4"))
n.save("big-endian-f-order", n.asfortranarray(a.astype(">f4")))
for v in 2, 3:
  with open(f"version-{v}.npy", "wb") as f: n.lib.format.write_array(f, a, version=(v, 0))
n.save("first-axis", a[None, None])
n.save("middle-axis", n.asfortranarray(a[:, None, :]))
w = 10000.0 ** (-n.arange(33) / 33)
x = n.arange(200)[:, None] * w
t = n.stack([n.sin(x), n.cos(x)], 2).reshape(200, 66)
n.save("half", t.astype("<f2"))
n.save("big-endian-half", t.astype(">f2"))
n.save("double", t)
n.save("wrong", n.roll(a, 1, 0))
n.save("same", n.repeat(a[:1], 200, 0))
b = (a.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()  # cut, not rounded
tensor = {"dtype": "BF16", "shape": [1, 200, 66], "data_offsets": [0, len(b)]}
header = json.dumps({"x.pe": tensor, "__metadata__": {"format": "pt"}}).encode()
open("cut.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + b)'
  for name in $names; do
    limit='--max-ulp 0.51'
    [ $name = double ] && limit='--max-abs 1e-13'
    check "NumPy's: $name" ends 0 $name.npy $limit
  done
  check 'bf16 that was cut is within an ulp' ends 0 cut.safetensors --tensor x.pe --max-ulp 1.01
  check 'but not within half of one' ends 1 cut.safetensors --max-ulp 0.51
  check 'rows off by one' ends 1 wrong.npy --max-ulp 1
  check 'rows that are all the same' ends 1 same.npy --max-ulp 1
  check 'are told' says '^unique-rows  *199 of 200 equal one before; the first p = 0 and p = 1: FAILS'
  library=$abs_top_builddir/.libs/libposenc.so
  # A library with a sanitizer requires that its runtime is loaded first, which is clang's alone if it is linked to
  # programs, not to libraries. Python leaks.
  runtime=$(ldd "$library" 2>/dev/null | sed -n 's/.* => \(.*san\.so[^ ]*\) .*/\1/p' | tr '\n' ' ')
  if [ -z "$runtime" ] && nm -D "$library" 2>/dev/null | grep -q ' U __asan_init$'; then
    runtime=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")
  fi
  with_library() { # SCRIPT ARGUMENT...
    ${runtime:+env LD_PRELOAD="$runtime" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"} "$numpy" "$@"
  }
  if [ -e "$library" ] && ! emulated; then
    check 'ctypes fills an array' with_library "$root/examples/ctypes_table.py" "$library"
    check 'which is right' ends 0 table.npy --max-ulp 0.50001
    every_option() {
      with_library -c '
import sys
sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True
import numpy as n, ctypes_table as c
p = c.Posenc(sys.argv[2])
n.save("ct.npy", p.table(100, 12, first=-70, base=5e5, shift=0.5, padding=-3, layout=c.SPLIT_CS))
n.save("ch.npy", p.table(100, 12, dtype=n.float16))
try: p.table(3, 5)
except ValueError as e: print(e)
else: sys.exit(1)' "$root/examples" "$library" >out
    }
    check 'with every option, and what is no table is refused' every_option
    check 'as ours' cmp -s ct.npy all.npy
    "$POSENC" write --positions 5,-2.5,1e3 --dim 12 --scale 0.5 -o rows.npy
    "$POSENC" write --len 100 --dim 9 --odd ceil -o odd.npy
    "$POSENC" write --len 100 --dim 8 --scaling longrope,factors=1:1.5:2:3,factor=4,original=64 -o longrope.npy
    "$POSENC" write --op rope-cache --len 100 --dim 128 --base 5e5 --scaling llama3 -o cache.npy
    every_problem() {
      with_library -c '
import sys
sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True
import numpy as n, ctypes_table as c
p = c.Posenc(sys.argv[2])
def same(file, made): assert (n.load(file) == made).all() and n.load(file).shape == made.shape, file
same("rows.npy", p.rows_at([5, -2.5, 1e3], 12, scale=0.5))
same("odd.npy", p.table(100, 9, odd=c.ODD_CEIL))
same("longrope.npy", p.table(100, 8, scaling=c.scaling("longrope", factors=[1, 1.5, 2, 3], factor=4, original=64)))
llama3 = c.scaling("llama3", factor=8, original=8192, low=1, high=4)
same("cache.npy", p.rope_cache(100, 128, base=5e5, scaling=llama3))' \
        "$root/examples" "$library" >out 2>err
    }
    check 'and lists of positions, odd dims, scalings and rope caches' every_problem
    check 'and f16' ends 0 ch.npy --max-ulp 0.50001
  else
    skip 'ctypes' 'no shared library that Python could load'
  fi
else
  for name in $names 'bf16 that was cut' 'rows off by one' 'rows that are all the same' ctypes; do
    skip "NumPy's: $name" 'no numpy here'
  done
fi

plan
