#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests --config, --layer-type, --context, --expect and --as-config of the command; tests/models.c has the configs.
# shellcheck disable=SC2016,SC2086,SC2154 # the environment comes from make
. "${srcdir:-.}/tests/command.sh"
begins() { sed -n 1p out | grep -q -e "$1"; }
succeeds() { posenc "$@" && [ $status -eq 0 ]; }
tells() { # PATTERN ARGUMENT...: succeeds with such a line on stderr
  text=$1
  shift
  posenc "$@"
  [ $status -eq 0 ] && grep -q -e "$text" err
}

cat >llama.json <<'EOF'
{"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32, "head_dim": 64,
 "max_position_embeddings": 4096, "rope_theta": 500000.0,
 "rope_scaling": {"factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                  "original_max_position_embeddings": 8192, "rope_type": "llama3"}}
EOF
cat >deepseek.json <<'EOF'
{"model_type": "deepseek_v3", "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "max_position_embeddings": 163840,
 "rope_theta": 10000, "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0,
 "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096, "type": "yarn"}}
EOF
cat >gemma.json <<'EOF'
{"text_config": {"model_type": "gemma3_text", "head_dim": 64, "rope_theta": 1000000, "rope_local_base_freq": 10000,
 "max_position_embeddings": 100, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}}
EOF
cat >phi.json <<'EOF'
{"model_type": "phi", "hidden_size": 2560, "num_attention_heads": 32, "partial_rotary_factor": 0.4,
 "max_position_embeddings": 2048, "rope_theta": 10000.0}
EOF
echo '{"head_dim": 64, "max_position_embeddings": 128, "rope_theta": 1e4,
 "rope_scaling": {"type": "dynamic", "factor": 4.0}}' >dynamic.json
echo '{"head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 64,
 "rope_scaling": {"type": "yarn", "factor": 4}}' >yarn.json
llama='--dim 64 --base 500000 --scaling llama3,factor=32'

# ---- the problem ---------------------------------------------------------------------------------

check 'write' ends 0 write --config llama.json -o config.npy
posenc write --len 4096 $llama -o options.npy
check 'writes what options describe, of all positions' cmp config.npy options.npy
check 'an option wins' ends 0 write --config llama.json --base 9 --scaling none --dim 8 --len 5 -o config.npy
posenc write --len 5 --dim 8 --base 9 -o options.npy
check 'over each of its parts' cmp config.npy options.npy
check 'a base for a length wins, too' ends 0 write --config llama.json --choose-base 512 --scaling none -o config.npy
posenc write --len 4096 --dim 64 --choose-base 512 -o options.npy
check 'over the base' cmp config.npy options.npy
check 'a list of positions' ends 0 write --config llama.json --positions 3,-1,7 -o config.npy
posenc write --positions 3,-1,7 $llama -o options.npy
check 'replaces all positions' cmp config.npy options.npy
check 'some columns of a head' ends 0 write --config phi.json -o config.npy
posenc write --len 2048 --dim 32 -o options.npy
check 'are the table' cmp config.npy options.npy
check 'layers' ends 0 write --config gemma.json --layer-type full_attention -o config.npy
posenc write --len 100 --dim 64 --base 1e6 --scaling linear,factor=8 -o options.npy
check 'of full attention have base and scaling' cmp config.npy options.npy
check 'others' ends 0 write --config gemma.json --layer-type sliding_attention -o config.npy
posenc write --len 100 --dim 64 -o options.npy
check 'have their own base' cmp config.npy options.npy
check 'dynamic' ends 0 write --config dynamic.json --len 256 -o config.npy
posenc write --len 256 --dim 64 --scaling dynamic,factor=4,original=128,length=256 -o options.npy
check 'depends on the rows' cmp config.npy options.npy
check 'or' ends 0 write --config dynamic.json --context 256 --len 100 -o config.npy
posenc write --len 100 --dim 64 --scaling dynamic,factor=4,original=128,length=256 -o options.npy
check 'on --context' cmp config.npy options.npy
posenc write --len 300 --dim 64 --scaling dynamic,factor=4,original=128,length=300 -o config.npy
check 'also in check' ends 0 check config.npy --config dynamic.json --max-ulp 0.51
check 'and identify' ends 0 identify config.npy --config dynamic.json
check 'which fails of another length' ends 1 identify config.npy --config dynamic.json --context 4096
for command in 'verify --brief --search 0 --kernel cr-portable' 'bench --min-time 0.001 --kernel cr-portable' \
  'choose --kernel cr-portable,rotation-portable'; do
  check "${command%% *}" succeeds $command --config llama.json --len 16 --format json
  check 'has its shape' says '"16x64-base500000-llama3,factor=32"\|"rows": 16'
done
unset command
check 'probe has all columns of a head' ends 0 probe --config phi.json --len 3 -o config.npy
check 'of the file' \
  eval 'refused_dim=$(head -c 128 config.npy | tr -d "\\0" | grep -c "(1, 3, 1, 80)"); [ "$refused_dim" = 1 ]'
echo '{"head_dim": 8, "rope_theta": 100, "rope_depth": 3}' >p.json
check 'what is not in a problem is told' tells 'p\.json: rope_depth 3 is not looked at' \
  write --config p.json --len 2 -o config.npy

run_here "${abs_top_builddir:-.}/tests/fuzz/drive" . || exit 99
gguf=$(grep -l '^GGUF' seed-*)
check 'a GGUF file' ends 0 write --config "$gguf" --len 10 -o config.npy
posenc write --len 10 --dim 8 --base 500000 --scaling longrope,factors=1:1.5:4:8 -o options.npy
check 'has base, columns, and factors of frequencies' cmp config.npy options.npy

refused '--config nowhere\.json: No such file' write --config nowhere.json -o x.npy
refused '--config gemma\.json: layers have several ropes, --layer-type chooses: full_attention, sliding_attention' \
  write --config gemma.json -o x.npy
refused '--config llama\.json: all layers have one rope' write --config llama.json --layer-type full_attention -o x.npy
refused '--layer-type full: needs --config' write --layer-type full --len 3 --dim 8 -o x.npy
refused '--context 5: needs --config' write --context 5 --len 3 --dim 8 -o x.npy
refused '--output llama\.json: --config reads it' write --config llama.json -o llama.json
refused '--expect bsae: no such key; did you mean .base' identify options.npy --expect bsae=1
refused 'is no key=value' check options.npy --expect base

# ---- a table and a config -------------------------------------------------------------------------

disagrees() { # CAUSE CONFIG OPTIONS OF WRITE...: the cause that identify finds for such a table
  cause=$1 config=$2
  shift 2
  "$POSENC" write --len 2000 "$@" -o theirs.npy
  ends 1 identify theirs.npy --config $config && says "^config  *DISAGREES: $cause\$"
}
check 'the scaling is left out' disagrees 'the scaling is left out' llama.json --dim 64 --base 500000
check 'the base' disagrees 'the base is 10000, not 500000' llama.json --dim 64
check 'linear' disagrees 'all frequencies are divided by the factor, 32' llama.json --dim 64 --base 500000 \
  --scale 0.03125
check "another model's factor" disagrees 'the factor is 8, not 32' llama.json --dim 64 --base 500000 --scaling llama3
check 'all columns' disagrees '80 columns are turned, not 32: all of a head' phi.json --dim 80
check 'frequencies' disagrees 'the frequencies are those of all 80 columns of a head' phi.json --dim 32 --shift -24
check 'other columns' disagrees '16 columns are turned, not 32' phi.json --dim 16
yarn=yarn,factor=40,original=4096
check 'mscale' disagrees "the attention factor is 0.1 ln factor + 1, not the config's" deepseek.json \
  --dim 64 --scaling $yarn
check 'the attention factor' disagrees 'the attention factor is 1.5, not 1' \
  deepseek.json --dim 64 --scaling $yarn,attention=1.5
check 'squared' disagrees 'the attention factor is squared' yarn.json --dim 64 \
  --scaling yarn,factor=4,original=64,attention=1.2964769927807806
check 'truncate' disagrees 'the ends of the ramp are not rounded to whole numbers' \
  deepseek.json --dim 64 --scaling $yarn,attention=1,truncate=no
check 'the original length' disagrees 'the original length is max_position_embeddings, 163840' \
  deepseek.json --dim 64 --scaling yarn,factor=40,original=163840,attention=1
"$POSENC" probe --len 300 --dim 64 -o noise.npy
check 'no table' ends 1 identify noise.npy --config llama.json
check 'is none of a config' says '^config  *DISAGREES: not a sinusoidal table'

agrees() { # NAME CONFIG OPTIONS OF WRITE...
  name=$1 config=$2
  shift 2
  "$POSENC" write --len 2000 "$@" -o theirs.npy
  ends 0 identify theirs.npy --config $config && says "^config  *agrees: $name\$"
}
for dtype in f32 f64 f16 bf16; do
  check "$dtype" agrees llama.json llama.json $llama --dtype $dtype
  check "$dtype, far away" agrees deepseek.json deepseek.json --dim 64 --scaling $yarn,attention=1 --dtype $dtype \
    --offset 30000
done
check 'a rope cache' eval \
  '"$POSENC" write --len 999 --op rope-cache $llama -o theirs.npy && ends 0 identify theirs.npy --config llama.json'
check 'a recipe of f32' agrees 'gemma\.json, sliding_attention' gemma.json --dim 64 --kernel recipe/hf-rope
check 'positions in bf16' agrees 'gemma\.json, sliding_attention' gemma.json --dim 64 --kernel recipe/bf16-positions
check 'and another base' disagrees 'the base is 500, not 10000' phi.json --dim 32 --base 500 \
  --kernel recipe/bf16-positions
echo '{"head_dim": 64, "rope_parameters": {"full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1e6,
 "rope_type": "warped"}, "sliding_attention": {"rope_theta": 1e4, "rope_type": "default"}}}' >gemma4.json
"$POSENC" write --len 200 --dim 64 -o sliding.npy
check 'and a near base' disagrees 'the base is 9900, not 10000' phi.json --dim 32 \
  --base 9900 --kernel recipe/bf16-positions
check 'layers without a table' tells 'gemma4\.json: full_attention: rope_p.*warped: that scaling' \
  identify sliding.npy --config gemma4.json
check 'beside others' says '^config  *agrees: gemma4\.json, sliding_attention$'
"$POSENC" write --len 200 --dim 64 --base 500 -o other.npy
posenc identify other.npy --config gemma4.json
check 'another one' test $status -eq 2
check 'may be theirs' grep -q 'whether the table agrees is not known: full_attention: .*warped' err
sed 's/warped/proportional/' gemma4.json >known.json
check 'if all are known' ends 1 identify other.npy --config known.json
check 'the verdict is known' says '^config  *DISAGREES'
sed 's/}}/}}, "rope_depth": 3/' known.json >unread.json
refused 'not known: full_attention: rope_depth 3 is not looked at' identify other.npy --config unread.json
check 'pairs that do not turn' ends 0 write --config known.json --layer-type full_attention --len 50 -o config.npy
posenc write --len 50 --dim 64 --base 1e6 -o options.npy \
  --scaling "longrope,attention=1,factors=1:1:1:1:1:1:1:1$(yes :inf | head -24 | tr -d '\n')"
check 'are those of a share' cmp config.npy options.npy

# ---- what a config says -------------------------------------------------------------------------

cat >layers.json <<'END'
{"model_type": "granite_swa", "head_dim": 4, "max_position_embeddings": 32768, "vocab_size": 9, "patch_size": 3,
 "rope_parameters": {"rope_type": "default", "rope_theta": 1e7}, "layer_rope_theta": [1e4, 0, 100, 1e4], "rope_a": 1}
END
check 'an explanation' ends 0 list --config layers.json
for line in 'layers\.json, 0$' '  layers        0 3$' '  inv_freq      1 0\.01$' '  inv_freq      1 0\.1$' \
  '  note          rope_a 1 is not looked at$' 'layers\.json, without rope: layer_rope_theta 0$' \
  '  layers        1$'; do
  check "says $line" says "^$line"
done
check 'of one layer' ends 0 list --config layers.json --layer-type 2 --format json
check 'has its frequencies' eval 'grep -A2 inv_freq out >some && grep -q "^ *0\.1" some && ! grep -q "0\.01" some'
refused 'layers of 1 have no rope: layer_rope_theta 0' list --config layers.json --layer-type 1
refused "--config: extra operand 'naive'" list naive --config layers.json
check 'yarn' ends 0 list --config deepseek.json
check 'has tolerances' says '^    bf16        [0-9.]* of a table, [0-9.]* of the length of a pair; '
check 'has its attention factor' says '^  attention     1$'
check 'and the value of --scaling' says '^  scaling       yarn,factor=40,original=4096,attention=1$'

# What code in f32 may be off: recipes are within it, and not a hundredth of it.
most() { # AT POSITION: largest p w u (8 + 3 |ln w| + 4 ln 2 i) of base 10000 and 64 columns, at most 1/8 or 4 u p
  awk -v p="$1" 'BEGIN { u = 2^-24; for (i = 0; i < 32; i++) { w = 10000^(-i / 32)
    e = p * w * u * (8 - 3 * log(w) + 4 * log(2) * i); if (e > m) m = e }
    top = 4 * u * p > 0.125 ? 4 * u * p : 0.125; printf "%.5g", m < top ? m : top }'
}
echo '{"model_type": "llama", "head_dim": 64, "rope_theta": 10000.0, "max_position_embeddings": 4096}' >short.json
for positions in 100 4096 131072 1048576; do
  posenc list --config short.json --context $positions --format json
  check "the error of an angle at positions below $positions" eval \
    '[ "$(grep -o "\"angle\": [0-9.e-]*" out | sed "s/.* //; 1q" | xargs printf %.5g)" = "$(most $((positions - 1)))" ]'
done
posenc list --config short.json --format json
limits=$(grep -o '"table": [0-9.e-]*' out | sed 's/.* //')
for dtype in f32 f64 f16 bf16; do
  limit=$(echo "$limits" | sed 1q) limits=$(echo "$limits" | sed 1d) kernel=recipe/hf-rope
  [ $dtype = f64 ] && kernel=naive-f64
  posenc write --config short.json --dtype $dtype --kernel $kernel -o made.npy
  check "code in f32 is within the tolerance of $dtype" ends 0 check made.npy --max-abs "$limit"
  check 'and not far below' ends 1 check made.npy --max-abs "$(echo "$limit" | awk '{ print $1 / 100 }')"
done

# ---- pictures -----------------------------------------------------------------------------------

echo '{"model_type": "dinov3_vit", "hidden_size": 384, "num_attention_heads": 6, "rope_theta": 100.0,
 "image_size": 224, "patch_size": 16}' >dino.json
refused 'a rope of the axes of a picture, which --grid h=14:-13:2/14,w=14:-13:2/14 gives' \
  write --config dino.json --len 4 -o config.npy
check 'with that' ends 0 write --config dino.json --grid h=14:-13:2/14,w=14:-13:2/14 --op rope-cache -o config.npy
posenc write --dim 64 --grid h=14:-13:2/14,w=14:-13:2/14 --op rope-cache --base 100 --scale 6.283185307179586 \
  -o options.npy
check 'its table' cmp config.npy options.npy
check 'another one' tells 'the axes of this model are --grid h=14' \
  write --config dino.json --grid h=14,w=14 --op rope-cache -o config.npy
check 'check takes that of image_size' tells 'dino.json: --grid h=14:-13:2/14,w=14:-13:2/14 is taken' \
  check options.npy --config dino.json
posenc write --dim 64 --grid h=14:-13:2/14,w=14:-13:2/14,columns=wh --op rope-cache --base 100 \
  --scale 6.283185307179586 -o exchanged.npy
posenc check exchanged.npy --config dino.json
check 'exchanged axes' test $status -eq 1
check 'are named' says '^FAIL: config: axes [hw] and [hw] are exchanged'
posenc write --dim 64 --grid h=7:-6:2/7,w=14:-13:2/14 --op rope-cache --base 100 --scale 6.283185307179586 -o other.npy
refused '14:-13:2/14 gives, of its image_size' check other.npy --config dino.json
refused 'a rope of the axes of a picture: posenc check --grid' identify options.npy --config dino.json

# Gemma 4's pictures: the columns of the width, then those of the height, each of halves of its own. Windows of SAM 3
# begin anew, and its global layers have positions in thirds. A row has 64 numbers of 4 bytes.
echo '{"model_type": "gemma4_vision", "head_dim": 64, "hidden_size": 768, "num_attention_heads": 12, "patch_size": 16,
 "rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}' >gemma4.json
echo '{"model_type": "sam3_vit_model", "hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 8,
 "image_size": 84, "patch_size": 14, "window_size": 2, "global_attn_indexes": [3, 7],
 "rope_parameters": {"rope_type": "axial", "rope_theta": 5000.0}}' >sam3.json
zeros() { yes 0 | head -"$1" | paste -s -d , -; }
for rows in 54 36 4; do
  "$POSENC" write --positions "$(zeros $rows)" --dim 64 --layout interleaved-cs -o x$rows.npy
done
grid=h=6,w=9,columns=wh,grouped=yes
refused 'which --grid h=H,w=W,columns=wh,grouped=yes gives, H and W for its height' \
  check --op rope --x x54.npy x54.npy --config gemma4.json
while IFS='|' read -r wanted written words; do
  posenc write --op rope --x x54.npy --layout split --base 100 --grid $written -o turned.npy
  check "gemma4: $written" eval 'posenc check --op rope --x x54.npy turned.npy --config gemma4.json --grid $grid
    [ $status -eq $wanted ] && says "$words"'
done <<END
0|$grid|^PASS: config: gemma4.json$
1|h=6,w=9,grouped=yes|^FAIL: config: axes w and h are exchanged
1|h=6,w=9,columns=wh|^FAIL: config: the layout is that of all columns
END
posenc write --op rope-cache --config gemma4.json --grid $grid -o cache.npy
posenc write --op rope-cache --base 100 --dim 64 --grid h=6,w=9,columns=wh -o plain.npy
for part in '' '--part cos' '--part sin'; do
  check "gemma4: a cache ${part:-of both}" ends 0 check cache.npy $part --config gemma4.json --grid $grid
  check 'is not one of all columns' eval 'ends 1 check plain.npy $part --config gemma4.json --grid $grid &&
    says "^FAIL: config: the layout is that of all columns"'
  check 'nor the other way round' eval 'ends 1 check cache.npy $part --base 100 --grid h=6,w=9,columns=wh \
    ${part:+--layout duplicated} && says "^FAIL: formula: the layout is that of each axis"'
done
check 'an explanation of axes' ends 0 list --config gemma4.json
check 'has the frequencies of one' \
  says '^  formula       angle\[i\] = position x w\[i\], w\[i\] = 100^(-2i/32) of each axis$'
check 'all of them' says '^  inv_freq      1 0\.74989[0-9]* 0\.56234[0-9]* .* 0\.0133352[0-9]*$'
check 'identify tells the grid' eval 'ends 0 identify cache.npy && says "^posenc check cache.npy --grid $grid "'
while IFS='|' read -r x layer written wanted words; do
  posenc write --op rope --x $x.npy --layout interleaved --base 5000 --grid $written -o turned.npy
  check "sam3, layer $layer: $written" eval 'posenc check --op rope --x $x.npy turned.npy --config sam3.json \
    --layer-type $layer; [ $status -eq $wanted ] && says "$words"'
done <<END
x36|7|h=6:0:2/6,w=6:0:2/6,columns=wh|0|^PASS: config: sam3.json
x36|7|h=6,w=6,columns=wh|1|^FAIL: config: it is the grid h=6,w=6,columns=wh, not h=6:0:2/6
x36|7|h=6:0:2/6,w=6:0:2/6|1|^FAIL: config: axes w and h are exchanged
x4|6|h=2,w=2,columns=wh|0|^PASS: config: sam3.json
x4|6|h=2,w=2|1|^FAIL: config: axes w and h are exchanged
END
refused 'which --grid h=2,w=2,columns=wh gives, of its image_size' \
  check --op rope --x x36.npy x36.npy --config sam3.json --layer-type 0
refused 'layers have several ropes, --layer-type chooses: full_attention, sliding_attention' \
  check --op rope --x x36.npy x36.npy --config sam3.json

check 'layers by name' eval '! ends 0 identify theirs.npy --config gemma.json --layer-type full_attention'

"$POSENC" write --len 2000 --dim 64 --base 500000 -o theirs.npy
check 'check: wrong values' ends 1 check theirs.npy --config llama.json --max-ulp 1
check 'have a cause' says '^likely cause  *the scaling is left out$'
check 'check without a limit' ends 1 check theirs.npy --config llama.json
check 'fails by the config' says '^FAIL: config: the scaling is left out$'
check 'in TAP' eval 'ends 1 check theirs.npy --config llama.json --format tap; says "^not ok 6 .* config .*left out"'
check 'in JUnit' \
  eval 'ends 1 check theirs.npy --config llama.json --format junit; says "name=.config.><failure message"'
check 'in JSON' \
  eval 'ends 1 check theirs.npy --config llama.json --max-ulp 1 --format json; says "\"cause\": \"the sca"'
check 'an option of the problem' ends 0 check theirs.npy --config llama.json --scaling none --max-ulp 1
"$POSENC" write --len 2000 $llama -o theirs.npy
check 'right values' ends 0 check theirs.npy --config llama.json --max-ulp 1
check 'need no config' eval '! says "^config"'
check 'and without a limit' ends 0 check theirs.npy --config llama.json
check 'agree' says '^PASS: config: llama\.json$'

# x is (1, 0) in each pair, so rope makes cosine and sine.
list=$(yes 0 | head -100 | paste -s -d , -)
"$POSENC" write --positions "$list" --dim 64 --layout split-cs -o x.npy
"$POSENC" write --len 100 $llama --layout split-cs -o turned.npy
check 'rope: the layout of the model' ends 0 check --op rope --x x.npy turned.npy --config llama.json --max-ulp 2
check 'is found, too' ends 0 identify --op rope --x x.npy turned.npy --config llama.json --expect layout=split,op=rope
"$POSENC" write --positions "$list" --dim 64 --layout interleaved-cs -o y.npy
"$POSENC" write --len 100 $llama --layout interleaved-cs -o pairs.npy
check 'pairs of another model' ends 1 identify --op rope --x y.npy pairs.npy --config llama.json
check 'are none of this one' says '^config  *DISAGREES: pairs are neighbours, not halves$'
check 'unless that is told' ends 0 check --op rope --x y.npy pairs.npy --config llama.json --layout interleaved
"$POSENC" write --len 100 --dim 64 --base 500000 --layout split-cs -o turned.npy
check 'without scaling' ends 1 check --op rope --x x.npy turned.npy --config llama.json --max-ulp 2
check 'has that cause' says '^likely cause  *the scaling is left out$'
check 'also without a limit' ends 1 check --op rope --x x.npy turned.npy --config llama.json
check 'and found' eval 'ends 1 identify --op rope --x x.npy turned.npy --config llama.json; says "^config .*left out"'
check 'nothing' ends 1 identify --op rope --x x.npy x.npy --config llama.json --expect base=1
check 'disagrees' says '^config  *DISAGREES: nothing is turned$'

# ---- --as-config and --expect ---------------------------------------------------------------------

back() { # CONFIG: the fragment that identify makes of its table makes the table again
  "$POSENC" write --config $1 --len 2000 -o theirs.npy 2>err
  posenc identify theirs.npy --as-config -o again.json
  [ $status -eq 0 ] && ends 0 check theirs.npy --config again.json --max-ulp 0.51
}
for config in llama.json deepseek.json phi.json; do check "$config and back" back $config; done
check 'of rope' ends 0 identify --op rope --x x.npy turned.npy --as-config
check 'with the head of x' says '"head_dim": 64'
"$POSENC" write --len 500 --dim 64 --shift 1 -o whisper.npy
posenc identify whisper.npy --as-config
check 'a shift' test $status -eq 1
check 'is in no config' grep -q 'whisper\.npy: no config makes it: configs have no shift' err
refused '--format json: cannot be combined with --as-config' identify whisper.npy --as-config --format json

check 'expected' ends 0 identify whisper.npy \
  --expect base=10000,shift=1,layout=interleaved,scaling=none,dtype=f32,offset=0
check 'is told' says '^expect  *agrees: base=10000,shift=1'
check 'not expected' ends 1 identify whisper.npy --expect shift=0,layout=split,dim=64
check 'is what differs' says '^expect  *DISAGREES: shift is 1, not 0, layout is interleaved, not split$'
check 'check' ends 1 check whisper.npy --shift 1 --max-ulp 1 --expect scaling=yarn,base=1e4
check 'fails, though values are right' says '^FAIL: expect: scaling is none, not yarn$'
check 'or passes' ends 0 check whisper.npy --shift 1 --max-ulp 1 --expect base=1e4,dim=64
"$POSENC" write --len 2000 --dim 64 --scaling yarn,factor=16,original=4096 -o yarn.npy
check 'keys of a scaling' ends 0 identify yarn.npy --expect scaling=yarn,factor=16,attention=1.277258872
check 'that differ' ends 1 identify yarn.npy --expect factor=8,attention=1
check 'with the attention factor' says 'factor is 16, not 8, attention is 1\.277258872, not 1'
plan
exit $tap_failed
