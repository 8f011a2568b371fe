#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests tables of several axes on the command line: --grid of write, check and verify, against NumPy and wrong grids.
# It takes half a minute: 179 calls of the command, and NumPy.
# shellcheck disable=SC2086,SC2154 # options are lists of words; the environment comes from make
. "${srcdir:-.}/tests/command.sh"
turn=6.283185307179586
close='--max-abs 1e-13'
find_numpy

# ---- the formulas of models ----

right() { # NAME OPTION...
  name=$1
  shift
  check "$name" ends 0 check $name.npy "$@" $close
}
wrong() { # WHAT NAME OPTION...
  what=$1 name=$2
  shift 2
  check "$what" ends 1 check $name.npy "$@" $close
}
if [ -n "$numpy" ]; then
  "$numpy" "$root/tests/grid.py" . || exit 99
  mae='--layout split --offset -1 --padding -1'
  right mae --grid h=5,w=7,columns=wh,grouped=yes $mae
  right timm --grid h=5,w=7 --layout split
  right timm-reversed --grid w=7,h=5 --layout split
  right width-first --grid h=5,w=7,columns=wh --layout split
  right detr --grid h=5:1/5.000001,w=7:1/7.000001 --scale $turn
  right diffusers --grid h=5:0:4/5,w=7:0:4/7,columns=wh,grouped=yes --layout split
  right video --grid t=3,h=4,w=5,columns=twh,pairs=4:6:6,grouped=yes --layout split
  dino='h=5:-4:2/5,w=7:-6:2/7'
  right dino --grid $dino --scale $turn --base 100 --part cos
  right pixtral --grid h=5,w=7,frequencies=dealt --part cos --layout split
  lists='t=@t.npy,h=@h.npy,w=@w.npy'
  right qwen2 --grid $lists,pairs=4:6:6,frequencies=continued --base 1e6 --part cos
  right qwen3 --grid $lists,pairs=6:5:5,frequencies=continued,order=cyclic --base 1e6 --part sin

  wrong 'height first' mae --grid h=5,w=7,grouped=yes $mae
  wrong 'one element' mae-one --grid h=5,w=7,columns=wh,grouped=yes $mae
  check 'is found at its place' says '^FAIL: off by 0\.5 at row 9, column 27:'
  wrong 'of all columns' mae --grid h=5,w=7,columns=wh $mae
  wrong 'other sizes' mae --grid h=7,w=5,columns=wh,grouped=yes $mae
  wrong 'without the first row' mae --grid h=5,w=7,columns=wh,grouped=yes --layout split
  wrong 'a first row of ones' mae-wrong --grid h=5,w=7,columns=wh,grouped=yes $mae
  check 'has all of its columns wrong' says '^ *--max-abs 1e-13: 32 of 1152 '
  wrong 'from 0 on' detr --grid h=5/5.000001,w=7/7.000001 --scale $turn
  wrong 'another divisor' diffusers --grid h=5:0:4/5,w=7:0:4/7.00000001,columns=wh,grouped=yes --layout split
  wrong 'equal pairs' qwen2 --grid $lists,pairs=6:5:5,frequencies=continued --base 1e6 --part cos
  wrong 'restarted frequencies' qwen2 --grid $lists,pairs=4:6:6 --base 1e6 --part cos
  wrong 'chunks' qwen3 --grid $lists,pairs=6:5:5,frequencies=continued --base 1e6 --part sin
  wrong 'exchanged lists' qwen2 \
    --grid t=@t.npy,h=@w.npy,w=@h.npy,pairs=4:6:6,frequencies=continued --base 1e6 --part cos
else
  skip 'formulas of models' 'no Python with NumPy'
fi

# ---- written and read ----

written() { # OPTION...
  ends 0 write "$@" -o x.safetensors && ends 0 check x.safetensors --max-ulp 0.5
}
check 'a video' written --grid t=2,h=3,w=4,columns=twh,pairs=2:3:3,grouped=yes --dim 16 --layout split-cs --dtype bf16
check 'a rope cache' ends 0 write \
  --grid h=3:-2:2/3,w=4:-3:2/4,frequencies=dealt --dim 16 --op rope-cache -o x.safetensors
check 'read again' ends 0 check x.safetensors --tensor sin --max-ulp 0.5
check 'rows before, in and behind the grid' written --grid h=3,w=4 --dim 8 --offset -3 --len 12 --padding -2
check 'rows that come again, as they should' written --grid h=3,w=3 --dim 8 --len 18
check 'rows that stay the same along an axis' ends 0 write --grid h=3,w=3:0:0 --dim 8 -o still.npy
check 'should not' ends 1 check still.npy --grid h=3,w=3 --max-ulp 0.5
check 'is told' says '^unique-rows .*6 of 9 equal one before; the first p = 0 and p = 1: FAILS'
check 'a scaling' \
  written --grid h=9,w=9,frequencies=continued,order=cyclic --dim 32 --scaling yarn,factor=4,original=64 --dtype f16
check 'one axis' written --grid l=50 --dim 8
posenc write --len 50 --dim 8 -o plain.npy
posenc write --grid l=50 --dim 8 -o one.npy
check 'is the plain table' cmp plain.npy one.npy
seq 5 >h
check 'lists' ends 0 write --grid h=@h,w=@h --dim 8 -o x.npy
check 'as runs' ends 0 write --grid h=1:1+4:2,w=5:1 --dim 8 -o runs.npy
check 'are the same' cmp x.npy runs.npy
tokens='t=3+8:3:0+3:7,h=3+4:3:0+4:4:0+3:7,w=7+4:3+3:7'
mrope=$tokens,pairs=4:6:6,frequencies=continued
check 'a text, a picture and a text' written --grid $mrope --dim 32 --base 1e6
check 'from files' written --grid h=@h,w=@h --dim 8
check 'which the file has as runs' contains x.safetensors '"options":"--len 5 --grid h=1:1+4:2,w=1:1+4:2 --dim 8"'
check 'behind a row of zeros' written --grid $mrope --dim 32 --offset -1 --padding -1
check 'rows amid them' written --grid $mrope --dim 32 --offset 2 --len 9
check 'fractions and exponents' written --grid h=2:1e+15:-0.5+1:.1+3:7,w=6:-3 --dim 8
check 'divided' written --grid h=2+3:9/8,w=5:2/4 --dim 8
check 'from 0 on, which are no steps of a grid' written --grid h=1+4:1,w=5 --dim 8
check 'which the file has as two runs each' contains x.safetensors '--grid h=1+4:1,w=1+4:1 --dim 8'
command=write
refused '--grid h=2+3:9,w=4: lists are of all axes' --grid h=2+3:9,w=4 --dim 8 -o y.npy
refused "--grid '*h=2+,w=5'*: a run is empty" --grid h=2+,w=5 --dim 8 -o y.npy
refused '--grid h=@h,w=3: lists are of all axes' --grid h=@h,w=3 --dim 8 -o y.npy
refused "--grid h=3: needs --dim too" --grid h=3 -o y.npy
refused "--grid x: not of parts LETTER=SIZE and KEY=VALUE" --grid x --dim 8 -o y.npy
refused "--grid h=3,h=4: an axis is given twice" --grid h=3,h=4 --dim 8 -o y.npy
refused "--grid a=1,b=1,c=1,d=1,e=1: more than 4 axes" --grid a=1,b=1,c=1,d=1,e=1 --dim 40 -o y.npy
refused "--grid grouped=yes: it has no axis" --grid grouped=yes --dim 8 -o y.npy
refused "--grid 0: not within 1" --grid h=0 --dim 8 -o y.npy
refused "--grid h=3:1:1e-17: its positions are not exact" --grid h=3:1:1e-17 --dim 8 -o y.npy
refused "--grid h=4:0:0.1: its positions are not exact" --grid h=4:0:0.1 --dim 8 -o y.npy
refused "no such key; keys are letters" --grid h=3,row=4 --dim 8 -o y.npy
refused "'x' is not chunked or cyclic" --grid h=3,w=4,order=x --dim 8 -o y.npy
refused "columns have a letter for each axis" --grid h=3,w=4,columns=hh --dim 8 -o y.npy
refused "pairs has a number for each axis" --grid h=3,w=4,pairs=4 --dim 8 -o y.npy
refused "the pairs of the axes must be dim/2 together" --grid h=3,w=4,pairs=2:3 --dim 8 -o y.npy
refused "the divisor of an axis must be within" --grid h=3/0.5 --dim 8 -o y.npy
refused "cannot be combined with --grid" --grid h=3 --positions 1,2 --dim 8 -o y.npy
check 'nothing is left of what is refused' test ! -e y.npy

# ---- identified ----

named() { # NAME PATTERN: identify finds the table, and prints its options
  "$POSENC" identify $1.npy >out 2>err && grep -q -e "$2" out || return 1
  options_told >options
  [ -s options ] && "$POSENC" check $1.npy $(cat options) $close >out 2>err
}
command=
if [ -n "$numpy" ]; then
  check 'MAE is' named mae \
    '^a grid of 5 x 7 places (hw), behind 1 row of zeros, columns in the order wh, as in MAE, DiT and '
  check 'timm is' named timm \
    '^a grid of 5 x 7 places (hw), columns in the order hw, as in timm; h: .*, base 10000, split,'
  check 'timm on its side is' named timm-reversed '^a grid of 7 x 5 places (hw), columns in the order hw, as in timm; '
  check 'the same of the width first is of no model' named width-first ' places (hw), columns in the order wh; w: '
  check 'DETR is' named detr 'columns in the order hw, as in DETR; h: .*, positions 1\.\.5,'
  check 'diffusers is' named diffusers 'columns in the order wh, as in MAE, DiT and diffusers; w: '
  check 'DINOv3 is' named dino 'as in DINOv3; h: .* base 100 '
  check 'Pixtral is' named pixtral 'as in Pixtral; h: .*, split (cos), positions 0\.\.4'
  check 'a learned scale is' named scaled '^a grid of .*, as in timm; h: .*, times 0.7, '
  check 'with the option for it' eval "grep -q -e '--scaling none,attention=0.7' options"
  check 'five axes are none' ends 1 identify five.npy
  check 'three axes are, one of which is short' ends 0 identify video.npy
  check 'which is said' says \
    '^a grid of 3 x 4 x 5 places (thw), columns in the order twh; t: too few rows to tell; w: .*; h: '
fi
grids() { # PATTERN OPTION...: of a table of posenc, in f32
  grid=$1
  shift
  "$POSENC" write "$@" -o x.npy && close='--max-ulp 0.5' && named x "$grid"
}
check 'of four axes' grids '^a grid of 4 x 5 x 6 x 7 places (tdhw), columns in the order tdhw; t: exact' \
  --grid t=4,d=5,h=6,w=7 --dim 64
check 'that begins elsewhere' \
  grids '^a grid of 6 x 8 places (hw), columns in the order hw, .* of Qwen2-VL; h: .*3\.\.8,' \
  --grid h=6:3,w=8:-2 --dim 32 --layout split-cs
check 'frequencies that go on' grids '^a grid of 6 x 8 places' \
  --grid h=6,w=8,frequencies=continued --dim 64 --op table --layout split
check 'as a recipe has it' grids 'columns in the order hw, as in DINOv3; h: ' \
  --grid h=14:-13:2/14,w=20:-19:2/20 --base 100 --scale $turn --dim 64 --layout split
check 'with another base' grids 'columns in the order hw; h: ' \
  --grid h=14:-13:2/14,w=20:-19:2/20 --scale $turn --dim 64 --layout split
check 'in bf16' grids '^a grid of 16 x 16 places (hw), columns in the order wh, as in MAE' \
  --grid h=16,w=16,columns=wh,grouped=yes --dim 256 --layout split --dtype bf16
"$POSENC" write --op rope-cache --grid h=9,w=14 --dim 64 -o x.safetensors
check 'sines, whose first row is zeros' ends 0 identify x.safetensors --tensor sin
check 'are a grid' says '^a grid of 9 x 14 places (hw), columns in the order hw, as in pictures of Qwen2-VL; h: exact'
posenc write --len 4 --dim 16 -o x.npy
posenc write --positions 0,1,2,3,0,1,2,3,0,1,2,3 --dim 32 -o y.npy
posenc identify y.npy
check 'rows that come again are no grid' says 'come again after 4 rows'

# ---- lists identified ----

check 'the lists of M-RoPE are' \
  grids '^positions on 3 axes (thw), sections of 4, 6 and 6 pairs, chunked, frequencies continu' \
  --grid $mrope --dim 32 --base 1e6
check 'again' ends 0 identify x.npy
check 'as in Qwen2-VL' says ', as in Qwen2-VL; exact .*, base 1000000, interleaved, bit for bit;'
check 'with each position' \
  says '; t: 0\.\.2, 8 x 3, 7\.\.9; h: 0\.\.2, 4 x 3, 4 x 4, 7\.\.9; w: 0\.\.6, 3\.\.9$'
check 'behind a row of zeros' grids ' (thw), behind 1 row of zeros, sections of 4, 6 and 6 pairs, chunked' \
  --grid $mrope --dim 32 --base 1e6 --offset -1 --padding -1
check 'of other bases' grids ', base 75000, split-cs, bit for bit' --grid $mrope --dim 32 --base 75000 --layout split-cs
check 'in turns' \
  grids 'sections of 6, 5 and 5 pairs, cyclic, frequencies continued, as in Qwen3-VL; exact .*, base 5000000, ' \
  --grid $tokens,pairs=6:5:5,order=cyclic,frequencies=continued --dim 32 --base 5e6
check 'also of places that are a grid' grids '^positions on 3 axes (thw), sections of 6, 5 and 5 pairs, cyclic, ' \
  --grid t=4,h=5,w=6,pairs=6:5:5,order=cyclic,frequencies=continued --dim 32 --base 5e6
blocks='h=2:0:0+2:1:0+2:0:0+2:1:0+2:2:0+2:3:0+2:2:0+2:3:0,w=2+2+2:2+2:2+2+2+2:2+2:2'
check 'a picture in blocks of four' \
  grids '^each column twice; positions on 2 axes (hw), sections of 8 and 8 pairs, .* as in pictures of Qwen2' \
  --grid $blocks --dim 32 --op rope-cache
check 'that is dealt' \
  grids ', frequencies dealt, as in Pixtral; ' --grid $blocks,frequencies=dealt --dim 32 --op rope-cache
for dtype in f64 f16 bf16; do
  check "in $dtype" \
    grids "^positions on 3 axes (thw), sections of 16, 24 and 24 pairs, .*; t: 0\.\.2, 8 x 3, 7\.\.9; h: " \
    --grid $tokens,pairs=16:24:24,frequencies=continued --dim 128 --base 1e6 --dtype $dtype
done
far='t=40+12:40:0+900:44,h=40+4:40:0+4:41:0+4:42:0+900:44,w=40+4:40+4:40+4:40+900:44'
check 'at large positions, where those of slow frequencies are equal in bf16' \
  grids '; w: 0\.\.43, 40\.\.43, 40\.\.943$' \
  --grid $far,pairs=16:24:24,frequencies=continued --dim 128 --base 1e6 --dtype bf16
"$POSENC" write --grid t=50,h=1+49:1,w=50,frequencies=continued,pairs=4:6:6 --dim 32 -o x.npy
check 'text alone is a table' ends 0 identify x.npy
check 'of one axis' says '^exact .*, base 10000, interleaved, positions 0\.\.49, '
cache() { # TENSOR BASE OPTION...: of a rope cache of a recipe
  tensor=$1 base=$2
  shift 2
  "$POSENC" write --op rope-cache --kernel recipe/hf-rope --base $base --dim 128 --grid "$@" -o x.safetensors &&
    ends 0 identify x.safetensors --tensor $tensor
}
picture='t=15+12:15:0+9:19,h=15+4:15:0+4:16:0+4:17:0+9:19,w=19+4:15+4:15+9:19'
for tensor in cos sin; do
  check "$tensor of Qwen2-VL" cache $tensor 1e6 $picture,pairs=16:24:24,frequencies=continued
  check 'is named' \
    says "^positions on 3 axes (thw), sections of 16, 24 and 24 pairs, chunked, .*, as in Qwen2-VL; hf-rope"
  check 'bit for bit' says "base 1000000, duplicated ($tensor), bit for bit; t: 0..14, 12 x 15, 19..27; h: "
  check "$tensor of Qwen3-VL" cache $tensor 5e6 $picture,pairs=24:20:20,order=cyclic,frequencies=continued
  check 'is named' \
    says "sections of 24, 20 and 20 pairs, cyclic, .*, as in Qwen3-VL; hf-rope.*, base 5000000, .*, bit for"
done
check 'as JSON' ends 0 identify x.safetensors --tensor cos --format json
for pair in '"sections": \[' '"order": "cyclic"' '"base": 5000000.0' '"runs": \['; do
  check "has $pair" says "$pair"
done
check 'as a config' ends 0 identify x.safetensors --tensor cos --as-config -o config.json
sed '1s/{/{"max_position_embeddings": 4096, /' config.json >long.json
check 'a config and a grid' eval \
  '"$POSENC" write --config long.json --grid t=4,h=2,w=2,pairs=24:20:20,frequencies=continued -o few.npy 2>err'
check 'the rows are those of the grid' grep -q "'shape': (16, 128)" few.npy
check 'with its sections' eval "tr -d ' \n' <config.json | \
  grep -q '\"rope_theta\":5000000,\"mrope_section\":\[24,20,20\],\"mrope_interleaved\":true'"
check 'which agrees' ends 0 identify x.safetensors --tensor cos --config config.json --expect base=5e6,dim=128
check 'and says so' says '^config  *agrees: config.json$'

sed 's/24/22/; s/20/21/; s/20/21/' config.json >similar.json
check 'where rounding hides the ends of sections, any do' \
  ends 0 identify x.safetensors --tensor cos --config similar.json
sed 's/24/16/; s/20/24/; s/20/24/' config.json >other.json
check 'others disagree' ends 1 identify x.safetensors --tensor cos --config other.json
check 'with both' says \
  '^config  *DISAGREES: sections are of 24, 20 and 20 pairs, cyclic, not of 16, 24 and 24 pairs, cyclic$'

# ---- recipes of axes ----

grids() { # PATTERN OPTION...: of a table of a recipe
  grid=$1
  shift
  "$POSENC" write "$@" -o x.npy && close='--max-abs 1e-5' && named x "$grid"
}
check 'DINOv3 itself is named' \
  grids '; h: dinov3, base 100 .*, computed in f32, bit for bit.*; w: dinov3, ' --kernel recipe/dinov3 \
  --grid h=14:-13:2/14,w=20:-19:2/20 --base 100 --scale $turn --dim 64 --layout split
check 'diffusers itself is named' \
  grids ', as in MAE, DiT and diffusers; w: diffusers-2d, .*, bit for bit; .*h: diffusers-2d, ' \
  --kernel recipe/diffusers-2d --grid h=24:0:16/24,w=40:0:16/40,columns=wh,grouped=yes --dim 64 --layout split
check 'also of equal sides' grids '; w: exact or, which writes the same, .*diffusers-2d.*, bit for bit; .*h: the same' \
  --kernel recipe/diffusers-2d --grid h=32/2,w=32/2,columns=wh,grouped=yes --dim 64 --layout split
check 'timm itself is named' \
  grids ', as in timm; h: hf-rope' --kernel recipe/hf-rope --grid h=14,w=14 --dim 64 --layout split

# ---- results of rope ----

applied() { # STATUS NAME OPTION...: with axes of two sections of 4, 6 and 6 pairs
  want=$1 name=$2
  shift 2
  ends $want check --op rope --x heads.npy $name.npy --base 1e6 --layout split --max-ulp 2 \
    --grid $lists,frequencies=continued,"$@"
}
if [ -n "$numpy" ]; then
  check 'chunked M-RoPE' applied 0 rope-chunked pairs=4:6:6
  check 'cyclic M-RoPE' applied 0 rope-cyclic pairs=6:5:5,order=cyclic
  check 'times alone' applied 1 rope-time pairs=4:6:6
  check 'are named' says 'all columns have the positions of axis t$'
  check 'exchanged axes' applied 1 rope-exchanged pairs=4:6:6
  check 'are named' says 'axes h and w are exchanged$'
  check 'rows' applied 1 rope-rows pairs=4:6:6
  check 'are named' says 'rows are the positions, on one axis$'
  check 'restarted frequencies' applied 1 rope-restarted pairs=4:6:6
  check 'are named' says 'frequencies are restarted on each axis$'
  check 'chunks' applied 1 rope-chunked pairs=4:6:6 --layout interleaved
  check 'add' ends 0 check --op add --x patches.npy add-mae.npy \
    --grid h=5,w=7,columns=wh,grouped=yes --layout split --max-ulp 1
  check 'of other groups' ends 1 check --op add --x patches.npy add-mae.npy \
    --grid h=5,w=7,columns=wh --layout split --max-ulp 1
  check 'is named' says 'the layout is that of each axis$'
fi

for layout in split split-cs interleaved interleaved-cs; do
  posenc write --grid h=5,w=7,columns=wh --dim 32 --layout $layout -o shown.npy
  check "a grid in the layout $layout" eval 'ends 0 check shown.npy --grid h=5,w=7,columns=wh &&
    says "^file  *layout $layout, as the values show; none is given$"'
done
check 'of which axes are exchanged' eval \
  'ends 1 check shown.npy --grid h=5,w=7 && says "^FAIL: formula: axes h and w are exchanged$"'

identified() { # NAME X OP PATTERN: and check accepts the options that are printed
  ends 0 identify --op $3 --x $2.npy $1.npy && says "$4" || return 1
  options_told >options
  [ -s options ] && ends 0 check $1.npy $(cat options) --max-ulp 2
}
if [ -n "$numpy" ]; then
  sections='^positions on 3 axes (thw), sections of .* pairs,'
  check 'chunked M-RoPE is found in what it was applied to' identified rope-chunked heads rope \
    "$sections chunked, .*, base 1000000, split-cs"
  check 'again' ends 0 identify --op rope --x heads.npy rope-chunked.npy
  check 'with x' says '^applied  *rope to heads.npy, axes lhd: columns 0 to 31 of 32, pairs are halves, turned forward$'
  check 'cyclic M-RoPE is' identified rope-cyclic heads rope "$sections cyclic, "
  check 'a picture is' identified rope-picture picture rope \
    '^a grid of 5 x 7 places (hw), columns in the order hw, as in pictures of Qwen2-VL; h: .*base 10000'
  check 'and added to patches' identified add-mae patches add '^a grid of 5 x 7 places (hw), columns in the order wh, '
fi

# ---- expectations ----

"$POSENC" write --grid h=8,w=8 --layout split --dim 64 -o eight.npy
echo '{"head_dim": 64, "rope_theta": 10000.0}' >plain.json
check 'a grid is what is expected' ends 0 identify eight.npy --expect base=10000,layout=split,dim=64
check 'a config of one axis' ends 1 identify eight.npy --config plain.json
check 'is no config of a grid' says \
  '^config  *DISAGREES: it has 2 axes, whose frequencies are restarted, and not continued$'
posenc identify eight.npy --as-config
check 'nor is any' test $status -eq 1
check 'with a reason' \
  grep -q 'no config makes it: its frequencies are restarted: configs have axes of continued ones' err
check 'or not' ends 1 identify eight.npy --expect base=5000,dim=32
check 'each difference is told' says '^expect  *DISAGREES: base is 10000, not 5000, dim is 64, not 32$'

# ---- kernels ----

command=verify
holds() { # ARGUMENT...
  ends 0 "$@" --format tap && grep -q '^ok .* accuracy .*misrounded' out
}
check 'all kernels' holds --grid h=7,w=9,columns=wh,grouped=yes --layout split --dim 32 --offset -1 --padding -1
check 'M-RoPE' holds --grid t=3,h=4,w=5,pairs=4:6:6,frequencies=continued --dim 32 --base 1e6 --op rope-cache
check 'divided' holds --grid h=7:-6:2/7,w=9:-8:2/9 --dim 32 --base 100 --scale $turn --kernel 'cr-*,rotation-*'
refused '--explain: cannot be combined with --grid' --grid h=3,w=4 --dim 8 --explain
refused '--search 9: cannot be combined with --grid' --grid h=3,w=4 --dim 8 --search 9
check 'rope on a video' holds --grid t=3,h=4,w=5,pairs=4:6:6,frequencies=continued --dim 32 --base 1e6 \
  --op rope --heads 2 --layout split
check 'depends on the differences on each axis' eval \
  "says '^ok .* naive relative ' && ! says '^ok .* naive relative .*# SKIP'"
check 'turned back, the axes in turn' holds --op rope --inverse --kernel cr-portable \
  --grid t=3,h=4,w=5,pairs=6:5:5,frequencies=continued,order=cyclic --dim 32
check 'far from 0' holds --op rope --kernel naive --grid h=7:-300000,w=9:2 --dim 32
check 'add, with a first row of zeros' holds --op add --grid h=7,w=9,frequencies=dealt --dim 32 --offset -1 --padding -1
for op in 'rope --heads 2 --layout split' 'add --layout split' 'rope-cache --layout duplicated'; do
  check "${op%% *} of grouped axes" holds --op $op --kernel naive --grid t=2,h=3,w=4,pairs=2:3:3,grouped=yes --dim 16
done
refused 'what is verified are whole positions of axes' --grid h=3:0:0.5,w=4 --dim 8 --op rope
refused 'are successive positions, on one or several axes' --positions 3,4 --dim 8 --op rope

# ---- records ----

long='--grid t=2,h=3,w=4,columns=wht,pairs=5:5:6,frequencies=continued --dim 32 --base 1e6 --scale 0.125 --layout split'
for dtype in f32 f64; do
  posenc verify $long --dtype $dtype --kernel cr-portable --brief --format json -o $dtype.json
done
check 'records have the axes' contains f32.json \
  '"grid": "t=2,h=3,w=4,columns=wht,pairs=5:5:6,frequencies=continued"'
shape() { # FILE: the name of its shape
  sed -n '/"shape": {/,/}/s/ *"name": "\(.*\)".*/\1/p' $1 | head -n 1
}
check 'names that are cut differ' test "$(shape f32.json)" != "$(shape f64.json)" -a "$(shape f32.json | wc -c)" -eq 80
command=compare
check 'such records are of other tables' is_refused 'they have nothing in common' f32.json f64.json
for part in 1 2; do
  for columns in hw wh; do
    "$POSENC" verify --grid h=3,w=4,columns=$columns --dim 16 --kernel 'rotation-portable,cr-portable' --brief \
      --format json --shard $part/2 -o $columns$part.json || exit 99
  done
done
command=merge
check 'parts of one grid' ends 0 hw1.json hw2.json -o hw.json
check 'are a record of it' contains hw.json '"grid": "h=3,w=4"'
check 'parts of two' is_refused ': other shapes' hw1.json wh2.json
command=
posenc bench $long --kernel cr-portable --repetitions 3 --min-time 0.001
if grep -q 'without Google Benchmark' err; then
  skip 'times' 'no Google Benchmark here'
else
  check 'times have the kernel behind a long name' says "^$(shape f32.json)  *cr-portable  *[0-9]"
  posenc bench $long --kernel cr-portable --repetitions 3 --min-time 0.001 --format json -o bench.json
  posenc choose --grid h=6,w=6 --dim 32 --op rope --heads 2 --kernel cr-portable --repetitions 3
  check 'a kernel for rope on axes is chosen' says '^take cr-portable'
  check 'one that cannot be verified is not' is_refused 'add and rope, what is verified are whole positions' \
    choose --grid h=6:0:0.5,w=6 --dim 32 --op add --repetitions 3
  posenc report --from f32.json --from bench.json -o page
  if no_pages; then
    skip 'a page' "$why"
  else
    check 'the page tells the axes' contains page/report.md \
      'scale 0.125, axes t=2,h=3,w=4,columns=wht,pairs=5:5:6,frequencies=continued, split, f32'
  fi
fi
plan
