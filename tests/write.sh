#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests every problem that posenc write makes: rows, scales, scalings, odd columns and rope caches, against tables that
# must have the same bits, and against the exact values (posenc check); and invalid problems, which are refused in one
# line.
# shellcheck disable=SC2016,SC2086
. "${srcdir:-.}/tests/command.sh"

# The kernel is correctly rounded, so that half an ulp can be the tolerance.
write() { # FILE OPTION...: if it fails, the file is removed, and every check of it fails
  file=$1
  shift
  rm -f "$file"
  posenc write --max-ulp 0.5 "$@" -o "$file"
  [ $status -eq 0 ]
}
holds() { # FILE OPTION...: posenc check accepts it
  posenc check "$@" && [ ! -s err ] && grep -q '^PASS' out
}
alike() { # FILE FILE: bit for bit
  posenc diff "$1" "$2" && [ ! -s out ]
}
same() { # NAME OPTIONS OPTIONS: the tables are the same
  write one.npy $2
  write two.npy $3
  check "$1" alike one.npy two.npy
}
# Prints the elements, a row per line, as hexadecimal words, to compare them by bits.
rows() { # FILE COLUMNS [BYTES-OF-AN-ELEMENT]: .npy, format version 1.0
  length=$(od -An -tu2 -j8 -N2 "$1" | tr -d ' ')
  od -An -v -w$(($2 * ${3:-4})) -tx${3:-4} -j $((length + 10)) "$1"
}
header() { # FILE TEXT: the .npy header has it
  head -c 128 "$1" | grep -a -q -F -e "$2"
}
line() { # FILE N
  sed -n "$2p" "$1"
}

# ---- defaults: what posenc.h says is what the command does ----

default_of() { # PATTERN: prints the numbers or the word of "… by default" in posenc.h
  tr -s ' *\n' ' ' <"$root/include/posenc.h" | grep -oE "$1 by default" | sed -E 's/^[^0-9]*//; s/ by default//'
}
set -- $(default_of 'beta_fast, [0-9.]+ and [0-9.]+')
same "yarn: low $1 and high $3" '--len 9 --dim 64 --scaling yarn,factor=16,original=4096' \
  "--len 9 --dim 64 --scaling yarn,factor=16,original=4096,low=${1:-none},high=${3:-none},truncate=yes"
set -- $(default_of 'llama3 \([0-9.]+ and [0-9.]+' | sed 's/^3 (//')
same "llama3: low $1 and high $3" '--len 9 --dim 64 --base 500000 --scaling llama3,factor=4,original=512' \
  "--len 9 --dim 64 --base 500000 --scaling llama3,factor=4,original=512,low=${1:-none},high=${3:-none}"
check 'every default of a field in posenc.h is tested here or in tests/scaling: no other "by default"' \
  test "$(tr -s ' *\n' ' ' <"$root/include/posenc.h" | grep -o 'by default' | wc -l)" -eq 3

# ---- positions ----

write long.npy --len 1001 --dim 12 && rows long.npy 12 >long.rows
picked() { # prints the rows of the long table with these numbers
  for p in "$@"; do line long.rows $((p + 1)); done
}
write list.npy --positions 5,10,15,100,1000 --dim 12 && rows list.npy 12 >list.rows
picked 5 10 15 100 1000 >want
check 'rows of a list are those of the long table' cmp -s list.rows want
write list.npy --positions 1000,0,7,7,3 --dim 12 && rows list.npy 12 >list.rows
picked 1000 0 7 7 3 >want
check 'in any order, and twice' cmp -s list.rows want
same 'negative ones are those of --offset' '--positions -3,-2,-1 --dim 8' '--len 3 --offset -3 --dim 8'
same 'exponents and signs are read' '--positions +1e1,-2E0,.5,25e-1 --dim 8' '--positions 10,-2,0.5,2.5 --dim 8'
same '--scale 0.5 of 10 is 5' '--positions 10 --scale 0.5 --dim 64' '--positions 5 --dim 64'
same 'a fraction is the whole one at a smaller scale' \
  '--positions 1.5,-0.25 --dim 64' '--positions 6,-1 --scale 0.25 --dim 64'
printf '5 10\n15,100\t\n1000\n' >positions.txt
write list.npy --positions 5,10,15,100,1000 --dim 12
for way in positions.txt @positions.txt ./positions.txt; do
  write file.npy --positions $way --dim 12
  check "a text of them: $way" alike list.npy file.npy
done
printf ' 5 , 10,\n15\t,100 1000' >commas.txt
write file.npy --positions commas.txt --dim 12
check 'commas with white space about them' alike list.npy file.npy
cp positions.txt 1e3
write file.npy --positions @1e3 --dim 12
check 'a file whose name could be a list' alike list.npy file.npy
write file.npy --positions 1e3 --dim 12 && rows file.npy 12 >list.rows && picked 1000 >want
check 'which it is without the @' cmp -s list.rows want
npy() { # FILE DESCR SHAPE BYTES: format version 1.0
  text="{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
  { printf '\223NUMPY\1\0'; printf "\\$(printf %o ${#text})\\0"; printf %s "$text"; printf "$4"; } >"$1"
}
same_file() { # NAME
  write file.npy --positions @p.npy --dim 8
  check "a .npy file of them: $1" alike want.npy file.npy
}
write want.npy --positions 1,-2,3 --dim 8
npy p.npy '<i4' '(3,)' '\1\0\0\0\376\377\377\377\3\0\0\0' && same_file '<i4'
npy p.npy '>i2' '(3, 1)' '\0\1\377\376\0\3' && same_file '>i2, (3, 1)'
npy p.npy '|i1' '(1, 3)' '\1\376\3' && same_file '|i1, (1, 3)'
npy p.npy '<f8' '(3,)' '\0\0\0\0\0\0\360\77\0\0\0\0\0\0\0\300\0\0\0\0\0\0\10\100' && same_file '<f8'
npy p.npy '<f4' '(3,)' '\0\0\200\77\0\0\0\300\0\0\100\100' && same_file '<f4'
npy p.npy '>f2' '(3,)' '\74\0\300\0\102\0' && same_file '>f2'
write want.npy --positions 200,255 --dim 8
npy p.npy '|u1' '(2,)' '\310\377' && same_file '|u1'

# ---- scale and scalings ----

posenc write --positions 7,0.1,1000.3,-2.5,1e9,3.5 --scale 0.3 --dim 32 -o list.safetensors
check 'any fractions, beside any scale' holds list.safetensors --max-ulp 0.51
check 'have their positions in the file' grep -q '^ *1000.3 ' out
size='--len 99 --dim 64' small='--len 9 --dim 8'
same 'linear is a scale' "$size --scaling linear,factor=2" "$size --scale 0.5"
same 'dynamic within the length is no scaling' "$size --scaling dynamic,factor=4,original=4096,length=4096" "$size"
same 'longrope by one factor is linear' "$small --scaling longrope,factors=4:4:4:4" "$small --scaling linear,factor=4"
same 'llama3 has defaults' "$size --scaling llama3" "$size --scaling llama3,factor=8,low=1,high=4,original=8192"
same 'so has yarn' "$size --scaling yarn,factor=16,original=4096" \
  "$size --scaling yarn,original=4096,truncate=yes,high=32,low=1,factor=16"
same '--choose-base is a base' "$small --choose-base 512" "$small --base 814.8733086305042"
printf '1 1.5\n2,3\n' >factors.txt
same 'factors from a file' "$small --scaling longrope,factors=factors.txt" "$small --scaling longrope,factors=1:1.5:2:3"
# Without an attention factor, a table is rounded once. With one, its rows are those of a table of doubles, times the
# factor.
eight=factors=1:1.5:2:3:4:5:6:7
for problem in '--scale 0.3' '--scaling linear,factor=3' '--scaling dynamic,factor=2,original=4096,length=8192' \
  '--scaling llama3' '--scaling yarn,factor=16,original=4096,attention=1' \
  '--scaling yarn,factor=16,original=4096,truncate=no,attention=1' "--scaling longrope,$eight" \
  '--choose-base 512 --dtype bf16' '--scaling yarn,factor=16,original=4096' \
  "--scaling longrope,$eight,factor=4,original=4096" '--scaling none,attention=1.25'; do
  posenc write $problem --len 300 --dim 16 -o table.safetensors
  check "exact: $problem" holds table.safetensors --max-ulp 0.51
  posenc check table.safetensors --max-ulp 0.51 --scale 0.999
  check 'and it is not another' test $status -eq 1
done

# ---- odd numbers of columns ----

shape_is() { header "$1" "'shape': ($2)"; }
for layout in interleaved interleaved-cs split split-cs; do
  for policy in pad ceil; do
    write odd.npy --len 100 --dim 9 --odd $policy --layout $layout --padding 3
    check "--odd $policy, $layout: nine columns" shape_is odd.npy '100, 9'
    check 'and exact' holds odd.npy --odd $policy --layout $layout --padding 3 --max-ulp 0.50001
  done
  write odd.npy --len 100 --dim 9 --odd pad --layout $layout && rows odd.npy 9 >odd.rows
  write even.npy --len 100 --dim 8 --layout $layout && rows even.npy 8 | sed 's/$/ 00000000/' >even.rows
  check "pad is a column less, and zeros: $layout" cmp -s odd.rows even.rows
done
# With the shift that gives the same denominators, ten columns have the same frequencies.
write odd.npy --len 100 --dim 9 --odd ceil && rows odd.npy 9 >odd.rows
write even.npy --len 100 --dim 10 --shift 0.5 && rows even.npy 10 | sed 's/ [^ ]*$//' >even.rows
check 'ceil is a column more without its last cosine' cmp -s odd.rows even.rows
same 'an even dim has no use for a policy' '--len 9 --dim 8 --odd pad' '--len 9 --dim 8'

# ---- rope caches ----

write table.npy --len 40 --dim 8 --layout split-cs --base 5e5 && rows table.npy 8 >table.rows
half() { # FIRST: columns, from 1 on
  awk -v first="$1" '{ for (i = first; i < first + 4; i++) printf "%s%s", $i, i < first + 3 ? " " : "\n" }' table.rows
}
arranged() { # LAYOUT: of lines of four
  awk -v layout=$1 '{ if (layout == "interleaved") print $1, $1, $2, $2, $3, $3, $4, $4
    else if (layout == "split") print; else print $0, $0 }'
}
for layout in duplicated interleaved split; do
  width=8
  [ $layout = split ] && width=4
  write cache.npy --op rope-cache --len 40 --dim 8 --layout $layout --base 5e5
  check "rope cache, $layout: two tables" shape_is cache.npy "2, 40, $width"
  rows cache.npy $width | sed 's/^ *//' >cache.rows
  { half 1 | arranged $layout; half 5 | arranged $layout; } >want
  check 'of the columns of one' cmp -s cache.rows want
  write cache.safetensors --op rope-cache --len 40 --dim 8 --layout $layout --base 5e5
  tail -c $((2 * 40 * width * 4)) cache.safetensors >tensors
  tail -c $((2 * 40 * width * 4)) cache.npy >elements
  check 'and so in safetensors' cmp -s tensors elements
  grep -a -o '"cos":{"dtype":"F32","shape":\[40,'$width'\],"data_offsets":\[0,\|"sin":{' cache.safetensors >names
  check 'with the names cos and sin' test "$(sort -u names | wc -l)" -eq 2
done
same 'duplicated is the default' '--op rope-cache --len 9 --dim 8' '--op rope-cache --len 9 --dim 8 --layout duplicated'

# ---- metadata of safetensors files ----

yarn=yarn,factor=16,original=4096,truncate=no
posenc write -o told.safetensors --positions 3,-0.5 --dim 4 --base 5e5 --scale 0.25 --scaling $yarn --layout split
for word in '"op":"table"' '"scale":"0.25"' "\"scaling\":\"$yarn\"" '"odd":"refuse"' '"layout":"split"' \
  '"positions":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}' \
  '"pe":{"dtype":"F32","shape":[2,4],"data_offsets":[16,48]}' \
  "\"options\":\"--positions 3,-0.5 --dim 4 --base 500000 --scale 0.25 --scaling $yarn --layout split\""; do
  check "its metadata tell $word" grep -q -a -F -e "$word" told.safetensors
done
replay=$(grep -a -o '"options":"[^"]*"' told.safetensors | sed 's/"options":"//; s/"$//')
posenc write -o again.safetensors $replay
check 'which makes the same file again' cmp -s told.safetensors again.safetensors
check 'check takes it up' holds told.safetensors --max-ulp 1
check 'and says so' grep -q '^formula .*recorded' out
posenc check told.safetensors --max-ulp 1 --base 10000
check 'but for what options say' test $status -eq 1
posenc check told.safetensors --format json
check 'and in JSON' grep -q '"recorded": true' out
seq 0 0.5 100 >many.txt
write many.safetensors --positions many.txt --dim 4
check 'a list too long for words' grep -a -q -F -e '--positions @positions ' many.safetensors
check 'is in the file' holds many.safetensors --max-ulp 0.50001
sed 's/"base":"500000"/"base":"50000x"/' told.safetensors >lying.safetensors
lies() { # TEXT
  check "a file that lies: $1" is_refused "$1" check lying.safetensors
}
lies 'lying.safetensors: its metadata, base 50000x: not a number'
sed "s/\(\"scaling\":\"\)$yarn\"/\1longrope,factors=positions.txt          \"/" told.safetensors >lying.safetensors
lies 'its metadata, scaling longrope: factors positions.txt'

# ---- invalid problems ----

mkdir empty
refused() { # TEXT OPTION...
  text=$1
  shift
  check "refused: $*" refused_unwritten "$text" write "$@" -o empty/table.npy
}
few='--len 8 --dim 8'
refused '--output .*: the file takes 4.096e+06 GB, and .* GB are free there$' --len 1000000000000 --dim 1024
check 'a name of another format' refused_unwritten '--output empty/x.pt: not .npy or .safetensors; --format npy' \
  write $few -o empty/x.pt
check 'is taken where the format is told' ends 0 write $few --format npy -o told.pt
for scale in 0 -1; do refused "--scale $scale: scale must be positive" $few --scale $scale; done
for scale in nan inf; do refused "--scale $scale: not finite" $few --scale $scale; done
refused '--scale half: not a number' $few --scale half
refused "--scaling yarm,factor=2: no such scaling; did you mean 'yarn'?" $few --scaling yarm,factor=2
refused "--scaling '': no such scaling; posenc list --problems prints them$" $few --scaling ''
refused '--scaling foo: no such scaling; posenc list' $few --scaling foo
refused "--scaling linear: it takes no 'fator'; did you mean 'factor'?" $few --scaling linear,fator=2
refused "--scaling linear: it takes no 'low'" $few --scaling linear,factor=2,low=1
refused "--scaling linear: 'factor' is no key=value" $few --scaling linear,factor
refused '--scaling linear: factor two: not a number' $few --scaling linear,factor=two
refused "--scaling linear: factor '': not a number" $few --scaling linear,factor=
refused '--scaling linear: factor is given twice' $few --scaling linear,factor=2,factor=3
refused '--scaling linear: factor is missing' $few --scaling linear
refused '--scaling dynamic,factor=2,original=4096: length is missing' $few --scaling dynamic,factor=2,original=4096
refused '--scaling yarn,factor=2: original is missing' $few --scaling yarn,factor=2
refused '--scaling yarn: original 4e3: not an integer' $few --scaling yarn,factor=2,original=4e3
refused '--scaling yarn: truncate maybe: not yes or no' $few --scaling yarn,factor=2,original=4096,truncate=maybe
refused '--scaling linear,factor=0.5: the factor' $few --scaling linear,factor=0.5
refused '--scaling llama3,low=4,high=1: low and high' $few --scaling llama3,low=4,high=1
refused '--scaling llama3,attention=-1: an attention factor' $few --scaling llama3,attention=-1
refused '--scaling longrope: factors is missing' $few --scaling longrope
refused '--scaling longrope: 3 factors, and --dim 8 has 4 frequencies' $few --scaling longrope,factors=1:2:3
refused '--scaling longrope: factors 1::2:3: number 2' $few --scaling longrope,factors=1::2:3
refused '--scaling longrope: factors none.txt: neither a list of numbers nor a file' \
  $few --scaling longrope,factors=none.txt
refused '--scaling longrope: original is missing' $few --scaling longrope,factors=1:2:3:4,factor=4
refused '--scaling longrope,factors=1:2:3:0: the factors' $few --scaling longrope,factors=1:2:3:0
refused '--scaling llama3: scaling needs shift 0' $few --scaling llama3 --shift 1
refused '--choose-base 512: cannot be combined with --base' $few --choose-base 512 --base 10000
refused '--choose-base 0: not above 0' $few --choose-base 0
refused '--choose-base 1.7e308: there is no base' $few --choose-base 1.7e308
refused '--positions 1: needs --dim too' --positions 1
refused '--len 3: cannot be combined with --positions' --positions 1,2,3 --dim 8 --len 3
refused '--offset 3: cannot be combined with --positions' --positions 1,2,3 --dim 8 --offset 3
refused "--positions 1,,2: number 2, ''" --positions 1,,2 --dim 8
refused "--positions 1,: number 2, ''" --positions 1, --dim 8
refused '--positions 1-2: number 1' --positions 1-2 --dim 8
refused '--positions 1e999: number 1' --positions 1e999 --dim 8
refused '--positions 9007199254740993: number 1, .*no finite number that a double holds' \
  --positions 9007199254740993 --dim 8
refused '--positions 1e19: positions must be within' --positions 1e19 --dim 8
refused '--positions @none.txt: No such file' --positions @none.txt --dim 8
for list in none.txt nan , ''; do
  refused "--positions ${list:-''}: neither a list of numbers nor a file$" --positions "$list" --dim 8
done
for list in '1,2,,3' '1, ,3' '1,2,\n,3'; do
  printf "$list\n" >words && refused "--positions words: number [23], ''" --positions words --dim 8
done
echo ',1' >words && refused "--positions words: number 1, ''" --positions words --dim 8
printf '1,2,\n' >words && refused "--positions words: number 3, ''" --positions words --dim 8
: >none && refused '--positions none: there is no number in it' --positions none --dim 8
echo '1 2 three' >words && refused "--positions words: number 3, 'three'" --positions words --dim 8
printf '1 2\0 3' >words && refused '--positions words: number 2' --positions words --dim 8
echo '1 0x10' >words && refused "--positions words: number 2, '0x10'" --positions words --dim 8
refused '--positions empty: it is no regular file' --positions empty --dim 8
[ -c /dev/zero ] &&
  refused '--positions /dev/zero: it is no regular file' --positions /dev/zero --dim 8
refused_npy() { # TEXT DESCR SHAPE BYTES
  npy p.npy "$2" "$3" "$4"
  refused "--positions p.npy: $1" --positions p.npy --dim 8
}
refused_npy 'number 1 of it is no double' '<i8' '(1,)' '\1\0\0\0\0\0\40\0'
refused_npy 'number 1 of it is not finite' '<f8' '(1,)' '\0\0\0\0\0\0\370\177'
refused_npy 'its 2 numbers take 8 bytes each, and it has 8 in all' '<f8' '(2,)' '\0\0\0\0\0\0\0\0'
refused_npy "its dtype '<c8' is no integer" '<c8' '(1,)' '\0\0\0\0\0\0\0\0'
refused_npy 'it is no list' '<f4' '(2, 2)' '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
refused '--dim 7: dim must be even; --odd pad or --odd ceil takes an odd one$' --len 8 --dim 7
refused '--dim 7: needs --len too$' --dim 7
refused '--dim 9223372036854775806: .*overflow' --len 4 --dim 9223372036854775806
refused '--dim 7: dim must be even' --len 8 --dim 7 --odd refuse
refused '--odd ceiling: not refuse, pad or ceil' --len 8 --dim 7 --odd ceiling
refused '--dim 7: .*even dim' --len 8 --dim 7 --odd pad --op rope-cache
refused '\(--dim 7\|--scaling llama3\): scaling needs an even dim' --len 8 --dim 7 --odd pad --scaling llama3
refused '--op foo: not table, add, rope or rope-cache' $few --op foo
refused '--heads 4: needs --encoding alibi' $few --op rope-cache --heads 4
refused '--len 8: cannot be combined with --op add or rope' $few --op add
refused '--op rope: --x is missing' --op rope
refused '--op ropecache: not table, add, rope or rope-cache' $few --op ropecache
refused '--layout duplicated: only the tables of a rope cache' $few --layout duplicated
refused '--layout split-cs: the tables of a rope cache' $few --op rope-cache --layout split-cs
refused '--kernel naive: it follows no scale' $few --scale 0.5 --kernel naive
for option in '--positions 1' '--odd pad'; do
  posenc bench --dim 8 $option
  told() { [ $status -eq 2 ] && [ ! -s out ] && grep -q "unrecognized option '--" err; }
  check "bench has no $option" told
done
if [ -c /dev/full ]; then
  for options in '--op rope-cache' '--op rope-cache --format safetensors' '--scaling llama3'; do
    posenc write $few $options -o /dev/full
    check "a full disk: $options" one_line '--output /dev/full: No space'
  done
else
  skip 'a full disk' 'no /dev/full here'
fi

# ---- verify and bench ----

for problem in '--scale 0.5' '--scaling llama3' '--op rope-cache' \
  '--op rope-cache --layout interleaved --dtype bf16'; do
  posenc verify --kernel cr-portable --len 70 --dim 16 $problem
  check "verify $problem" test $status -eq 0
done
posenc verify --kernel rotation-portable --len 70 --dim 16 --op rope-cache --layout split --dtype f64
check 'and of doubles' test $status -eq 0
posenc verify --kernel cr-portable,naive --len 70 --dim 16 --op rope-cache
check 'a rope cache is held to its table' \
  test "$(grep -c '^ok .* rope-cache 70x16-rope-cache: worst 0, bound 0, 4480 compared' out)" -eq 2
check 'and that to the exact values' grep -q '^ok .*cr-portable accuracy 70x16-rope-cache: exhaustive 1120;' out

# ---- list --problems ----

posenc list --problems
listed() {
  for name in table add rope rope-cache interleaved interleaved-cs split split-cs duplicated \
    none linear dynamic yarn llama3 longrope refuse pad ceil f32 f64 f16 bf16; do
    grep -q "^  $name  *[^ ]" out || return 1
  done
}
check 'list --problems has every name' listed
check 'which is no JSON' is_refused '' list --problems --format json

plan
exit $tap_failed
