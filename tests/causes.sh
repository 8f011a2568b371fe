#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests that check and identify name one cause of a wrong array, in one way, and fail; that a right formula is told from
# a wrong one, with a tolerance that passes; and that code is not said to compute in a dtype that it does not.
# shellcheck disable=SC2086,SC2154 # options are words; the environment comes from make
. "${srcdir:-.}/tests/command.sh"

cat >plain.json <<'END'
{"model_type": "llama", "head_dim": 64, "rope_theta": 10000.0}
END
cat >llama3.json <<'END'
{"model_type": "llama", "head_dim": 64, "rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3", "factor": 8.0,
 "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}}
END
cat >yarn.json <<'END'
{"model_type": "llama", "head_dim": 64, "rope_theta": 500000.0, "rope_scaling": {"rope_type": "yarn", "factor": 8.0,
 "original_max_position_embeddings": 1024, "beta_fast": 32.0, "beta_slow": 1.0}}
END

told() { # FILE PREFIX CAUSE: whether the output has the whole line
  sed "s/^\($2\)  */\1/" "$1" | grep -qFx -e "$2$3"
}

one_cause() { # FILE CONFIG CAUSE OPTIONS...: all that is asked of it, by both commands, ends alike
  file=$1 config=$2 cause=$3
  shift 3
  ends 1 identify $file --config $config "$@" && told out config "DISAGREES: $cause" || return 1
  ends 1 check $file --config $config "$@" && told out 'FAIL: config: ' "$cause" || return 1
  ends 1 check $file --config $config --max-ulp 2 "$@" && told out 'likely cause' "$cause"
}

same_json() { # FILE CONFIG
  posenc identify $1 --config $2 --format json && [ $status -eq 0 ]
  grep -o '"cause": "the .*"' out | sort -u >of-identify
  posenc check $1 --config $2 --max-ulp 2 --format json
  grep -o '"cause": "the .*"' out | sort -u >of-check
  [ -s of-check ] && cmp -s of-check of-identify
}

positions() { # FIRST STEP LAST...: a list of them
  seq -s , $1 $2 $3
}

# ---- tables ---------------------------------------------------------------------------------------

# A config, options of write, and the cause. An exponent with half or twice its factor has two readings.
half='the exponent lacks its factor of 2 (i/dim instead of 2i/dim)'
twice='the exponent has its factor of 2 twice (4i/dim instead of 2i/dim)'
fast='beta_fast is 16, not 32 (14 to 20.9 fit)'
yarn='--base 500000 --scaling yarn,factor=8,original'
llama3='--base 500000 --scaling llama3,factor=8'
count=0
while IFS='|' read -r config options cause; do
  count=$((count + 1))
  "$POSENC" write --dim 64 $options -o wrong.npy
  check "$(echo "$config $options" | cut -c1-60)" one_cause wrong.npy $config.json "$cause"
done <<END
plain|--len 300 --base 100|$half, or the base is 100, not 10000
plain|--len 300 --base 100 --dtype f64|$half, or the base is 100, not 10000
plain|--len 300 --base 100 --dtype bf16|$half, or the base is 100, not 10000
plain|--len 300 --base 100 --offset 70 --layout split|$half, or the base is 100, not 10000
plain|--len 300 --base 100 --kernel recipe/hf-rope|$half, or the base is 100, not 10000
plain|--len 300 --base 1e8|$twice, or the base is 100000000, not 10000
plain|--len 300 --base 777|the base is 777, not 10000
plain|--len 300 --base 777 --dtype f64|the base is 777, not 10000
plain|--len 300 --base 500000|the base is 500000, not 10000
plain|--len 300 --shift 1|the shift is 1, not 0
plain|--len 300 --scale 0.25|the scale is 0.25, not 1
plain|--len 2000 $llama3|the scaling is llama3, not none
plain|--positions $(positions 299 -1 0)|rows are reversed
plain|--positions $(positions 0 1 149),$(positions 0 1 149)|rows come again after 150
plain|--positions $(positions 0 -1 -299)|the sines are negated
llama3|--len 2000 --base 500000|the scaling is left out
llama3|--len 2000 --base 500000 --scale 0.125|all frequencies are divided by the factor, 8
llama3|--len 2000 --base 707.10678118654752 --scaling llama3,factor=8|$half, or the base is 707.106781, not 500000
llama3|--len 2000 $llama3,low=2|low_freq_factor is 2, not 1
llama3|--len 2000 $llama3,high=8|high_freq_factor is 8, not 4
llama3|--len 2000 $llama3,original=4096|the original length is 4096, not 8192
llama3|--len 2000 --base 500000 --scaling llama3,factor=32|the factor is 32, not 8
yarn|--len 2048 $yarn=1024,high=16|$fast
yarn|--len 2048 $yarn=1024,high=17|$fast
yarn|--len 2048 $yarn=1024,high=64|beta_fast is 64, not 32 (47.7 to 71.7 fit)
yarn|--len 2048 $yarn=1024,low=4|beta_slow is 4, not 1 (2.7 to 4.06 fit)
yarn|--len 2048 $yarn=1024,low=4,high=16|$fast; beta_slow is 4, not 1 (2.7 to 4.06 fit)
yarn|--len 2048 $yarn=4096|the original length is 4096, not 1024 (3548 to 4442 fit)
yarn|--len 2048 $yarn=1024,truncate=no|the ends of the ramp are not rounded to whole numbers
yarn|--len 2048 --base 500000 --scaling yarn,factor=4,original=1024|the factor is 4, not 8
yarn|--len 2048 $yarn=1024,attention=1|the attention factor is left out
yarn|--len 2048 $yarn=1024,attention=1.5|the attention factor is 1.5, not 1.20794415
END
check 'these are all' test $count -eq 32
"$POSENC" write --len 300 --dim 64 --base 100 -o wrong.npy
check 'without a config, too' eval \
  'ends 1 check wrong.npy --max-ulp 2 && told out "likely cause" "$half, or the base is 100, not 10000"'
check 'in JSON, too' same_json wrong.npy plain.json
check 'of which two are possible, unless one is asked' eval 'ends 0 identify wrong.npy && contains out \
  "base 100 (as 10000 has in the first 64 of 128 columns, or with the exponent i/dim instead of 2i/dim)"'
check 'as here' ends 1 identify wrong.npy --expect base=10000

# Bytes of a right table are changed: rows of 64 numbers of 4 bytes follow a header of 128.
"$POSENC" write --len 300 --dim 64 -o right.npy
patched() { # ROW COLUMN BYTES: right.npy with this number, in wrong.npy
  at=$((128 + 4 * (64 * $1 + $2)))
  { head -c $at right.npy && printf "$3" && tail -c +$((at + 5)) right.npy; } >wrong.npy
}
patched 17 5 '\0\0\0\100'
check 'one element' one_cause wrong.npy plain.json '1 element is off, the first at row 17, column 5'
patched 17 5 '\0\0\300\177'
check 'NaN' one_cause wrong.npy plain.json '1 element is NaN or infinite, the first at row 17, column 5'

find_numpy
if [ -n "$numpy" ]; then
  "$numpy" - <<'END'
import math
import numpy as np
rows = np.arange(300.0)
def table(frequencies, positions=rows, amplitude=1.0):
    angles = positions[:, None] * frequencies
    return (amplitude * np.stack([np.sin(angles), np.cos(angles)], 2).reshape(len(positions), -1)).astype("f4")
def yarn(base, exponent, fast, slow, pairs=32, length=1024, factor=8.0):
    w = base ** -exponent
    first, last = (pairs * math.log(length / (2 * math.pi * turns)) / math.log(base) for turns in (fast, slow))
    part = np.clip((np.arange(pairs) - math.floor(first)) / (math.ceil(last) - math.floor(first)), 0, 1)
    return w * (1 - part) + w / factor * part
pair, column = np.arange(32) / 32, np.arange(64)
right = table(10000.0**-pair)
np.save("sign", table(10000.0**pair))
for name, exponent in (("column", column / 64), ("doubled", column / 32)):
    angles = rows[:, None] * 10000.0**-exponent
    np.save(name, np.where(column % 2, np.cos(angles), np.sin(angles)).astype("f4"))
np.save("negated", -right)
np.save("cosines-negated", right * np.where(column % 2, -1, 1).astype("f4"))
np.save("times", right * np.float32(0.7))
np.save("plus", right + np.float32(0.25))
dead = right.copy(); dead[:, 5] = 0; np.save("dead", dead)
moved = right.copy(); moved[:, [4, 20]] = moved[:, [20, 4]]; np.save("moved", moved)
long, attention = np.arange(2048.0), 0.1 * math.log(8) + 1
np.save("yarn-exponent", table(yarn(500000.0, pair / 2, 32, 1), long, attention))
np.save("yarn-betas", table(yarn(500000.0, pair, 1, 32), long, attention))
def changed(name, rows, values, columns=slice(None), of=table(10000.0**-pair, np.arange(512.0))):
    wrong = of.copy()
    wrong[rows, columns] = values(of)
    np.save(name, wrong)
changed("row-again", 100, lambda of: of[99])
changed("last-again", 511, lambda of: of[510])
changed("first-missing", 0, lambda of: of[1])
changed("two-rows", [100, 101], lambda of: of[[101, 100]])
changed("block", slice(100, 120), lambda of: of[:20])
changed("inserted", slice(101, 512), lambda of: of[100:511])
changed("few-zeros", slice(100, 125), lambda of: 0)
changed("negated-row", 100, lambda of: -of[100])
changed("zeros", slice(100, 110), lambda of: 0, slice(32))
changed("one-small", 100, lambda of: of[100, 62] + 0.004, 62)
far = table(10000.0**-pair, np.arange(6000.0))
changed("far-rows", [5000, 5001], lambda of: of[[5001, 5000]], of=far)
changed("unsampled", [1004, 1005], lambda of: of[[1005, 1004]], of=far[:4000])
positions = np.concatenate([np.arange(3000.0), np.arange(5000.0, 8001.0)])
listed = table(10000.0**-pair, positions)
np.savetxt("list", positions, "%d")
np.save("list-right", listed)
changed("list-element", 5500, lambda of: of[5500, 7] + 0.5, 7, listed)
changed("list-row", 5500, lambda of: np.random.default_rng(1).uniform(-1, 1, 64), of=listed)
changed("list-exchange", [5500, 5501], lambda of: of[[5501, 5500]], of=listed)
changed("list-zeros", 5500, lambda of: 0, of=listed)
def bf16(a):
    u = a.astype("f4").view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16 << 16).astype(np.uint32).view("f4")
def waves(angles):
    return np.stack([np.sin(angles), np.cos(angles)], 2).reshape(len(angles), -1)
def cache(frequencies, length=300):
    angles = np.arange(float(length))[:, None] * frequencies
    return np.stack([np.tile(np.cos(angles), 2), np.tile(np.sin(angles), 2)]).astype("f4")
for first, length in ((0, 2048), (70, 512)):
    angles = np.arange(first, first + length, dtype="f4")[:, None] * (10000.0**-pair).astype("f4")
    for name, rounded in (("bf16", bf16(angles)), ("f16", angles.astype("f2"))):
        np.save(f"angles-{name}-{first}", waves(rounded.astype("f8")).astype("f4"))
        np.save(f"angles-{name}-{first}-bf16", bf16(waves(rounded.astype("f8"))))
padded = cache(10000.0**-pair)
padded[:, 0] = 0
np.save("padded", padded)
padded[:, 0] = np.random.default_rng(1).standard_normal((2, 64))
np.save("unwritten", padded)
np.save("unscaled", cache(500000.0**-pair))
np.save("unscaled-gemma", cache(1000000.0**-pair))
for n in (1, 32, 33, 64, 500):
    wrong = far[:512].copy()
    some = np.random.default_rng(1).choice(wrong.size, n, replace=False)
    wrong.reshape(-1)[some] *= -1
    np.save(f"negated-{n}", wrong)
END
  while IFS='|' read -r name config cause; do
    check "$name" one_cause $name.npy $config.json "$cause"
  done <<END
sign|plain|the exponent lacks its minus sign
negated|plain|all values are negated
cosines-negated|plain|the cosines are negated
times|plain|all values are multiplied by 0.7, not by 1
plus|plain|0.25 is added to all values
dead|plain|column 5 is 0 in all rows
moved|plain|column 4 has what belongs to column 20
yarn-exponent|yarn|$half
yarn-betas|yarn|beta_fast and beta_slow are exchanged
row-again|plain|row 100 is at position 99, not at 100
last-again|plain|row 511 is at position 510, not at 511
first-missing|plain|row 0 is at position 1, not at 0
two-rows|plain|2 rows are at other positions, the first, row 100, at position 101, not at 100
unsampled|plain|2 rows are at other positions, the first, row 1004, at position 1005, not at 1004
block|plain|20 rows are at other positions, the first, row 100, at position 0, not at 100
few-zeros|plain|25 rows are all zeros, the first at position 100
negated-row|plain|64 elements are off, the first at row 100, column 0
zeros|plain|320 elements are off, the first at row 100, column 0
one-small|plain|1 element is off, the first at row 100, column 62
END
  for dtype in bf16 f16; do
    for stored in '' -bf16; do
      check "angles in $dtype $stored" one_cause angles-$dtype-0$stored.npy plain.json "the angles are rounded to $dtype"
      check 'from position 70' eval 'ends 1 identify angles-$dtype-70$stored.npy --config plain.json &&
        told out config "DISAGREES: the angles are rounded to $dtype"'
      check 'from position 70, asked' eval 'ends 1 check angles-$dtype-70$stored.npy --config plain.json --offset 70 &&
        told out "FAIL: config: " "the angles are rounded to $dtype"'
    done
  done
  check 'the formula is not told as one that it is' eval 'ends 1 identify angles-bf16-0.npy --config plain.json &&
    contains out "interleaved, but the angles are rounded to bf16"'
  check 'the first row of a cache is zeros' eval 'ends 1 check padded.npy --config plain.json &&
    told out "FAIL: config: " "the row of position 0 is all zeros"'
  check 'as padding is' eval 'ends 0 identify padded.npy --config plain.json && contains out "padding row at 0"'
  cause='row 0, column 32 is not the copy of another column that it is in other rows' # also said to stderr
  check 'nobody has written it' eval 'posenc identify unwritten.npy --config plain.json; [ $status -eq 1 ] &&
    told out config "DISAGREES: $cause" && posenc check unwritten.npy --config plain.json; [ $status -eq 1 ] &&
    told out "FAIL: config: " "$cause"'
  # Sliding layers have the formula without the scaling; so have others that lack it.
  cat >olmo.json <<'END'
{"model_type": "olmo3", "head_dim": 64, "rope_theta": 5e5, "max_position_embeddings": 65536,
 "layer_types": ["sliding_attention", "full_attention"],
 "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 8192}}
END
  cat >gemma.json <<'END'
{"model_type": "gemma3_text", "head_dim": 64, "rope_theta": 1e6, "rope_local_base_freq": 1e4,
 "max_position_embeddings": 131072, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}
END
  check 'layers that lack their scaling' one_cause unscaled.npy olmo.json \
    'the scaling is left out, or the rope is that of layers of sliding_attention' --layer-type full_attention
  check 'or sliding ones' eval 'ends 0 identify unscaled.npy --config olmo.json && told out config \
    "agrees: olmo.json, sliding_attention; if it is of layers of full_attention, the scaling is left out"'
  check 'sliding ones, asked for' eval 'ends 0 identify unscaled.npy --config olmo.json --layer-type sliding_attention &&
    told out config "agrees: olmo.json, sliding_attention"'
  check 'of another base' one_cause unscaled-gemma.npy gemma.json \
    'the scaling is left out, or that of layers of sliding_attention' --layer-type full_attention
  for n in 1 32 33 64 500; do
    [ $n = 1 ] && words='1 element is off' || words="$n elements are off"
    check "$n of 32768 elements are negated" eval 'ends 1 check negated-$n.npy --config plain.json &&
      contains out "FAIL: config: $words, the first at row " && ends 1 identify negated-$n.npy --config plain.json &&
      contains out "DISAGREES: $words, the first at row " && ends 1 check negated-$n.npy --max-ulp 1 &&
      contains out "likely cause    $words, the first at row "'
  done
  # What a config or options say is tried before anything is searched for, which would take four seconds. Processor time
  # does not depend on other processes; that of an emulator, or of a sanitizer, is no time of this processor.
  if [ -z "${EMULATOR-}" ] && [ "${ASAN_OPTIONS#*log_path}" = "$ASAN_OPTIONS" ]; then
    for asked in 'check negated-500.npy --max-ulp 1' 'identify negated-500.npy --config plain.json' \
      'check block.npy --config plain.json' 'identify yarn-betas.npy --config yarn.json'; do
      check "$asked, within 2 s" eval '(ulimit -t 2 && "$POSENC" $asked >out 2>err); [ $? -eq 1 ]'
    done
    check 'identify tells which formula is damaged' eval \
      '"$POSENC" identify negated-500.npy --config plain.json >out; contains out "interleaved, positions 0..511"'
  else
    skip 'causes within 2 s' 'the processor is not this one'
  fi
  "$POSENC" write --len 2048 --dim 64 $yarn=1024,low=2,high=24 -o usual.npy
  sed 's/32.0/24.0/; s/"beta_slow": 1.0/"beta_slow": 2.0/' yarn.json >betas.json
  check 'a ramp is told as the config has it' eval 'ends 0 identify usual.npy --config betas.json &&
    contains out "yarn scaling by 8 from 1024, low 2, high 24 (21 to 31.6 fit), attention"'
  check 'rows exchanged beyond those that are read first' eval 'ends 1 check far-rows.npy --config plain.json &&
    told out "FAIL: config: " "2 rows are at other positions, the first, row 5000, at position 5001, not at 5000"'
  cause='411 rows are at other positions, the first, row 101, at position 100, not at 101'
  check 'a row is inserted' eval 'ends 1 check inserted.npy --config plain.json && told out "FAIL: config: " "$cause"'
  check 'which makes two runs' eval 'ends 0 identify inserted.npy --config plain.json && contains out "in 2 runs"'
  # Rows of a list of positions, beyond those that are read first.
  while IFS='|' read -r name identified cause; do
    check "a list with $name" eval 'posenc identify list-$name.npy --config plain.json && [ $status -eq $identified ] &&
      { [ $status -eq 0 ] || told out config "DISAGREES: $cause"; } && ends 1 check list-$name.npy --positions @list &&
      told out "FAIL: formula: " "$cause" && ends 1 check list-$name.npy --positions @list --max-ulp 2 &&
      told out "likely cause" "$cause"'
  done <<END
element|1|1 element is off, the first at row 5500, column 7
row|1|1 row is of no position, the first is row 5500
exchange|0|2 rows are at other positions, the first, row 5500, at position 7501, not at 7500
zeros|0|1 row is all zeros, the first is row 5500
END
  check 'a right list' eval 'ends 0 identify list-right.npy --config plain.json && contains out "a list of 6001 positions"'
  check 'a sign is wrong, whatever is asked' eval \
    'ends 1 identify sign.npy && contains out "base 0.0001 (as 10000 has with the exponent 2i/dim instead of -2i/dim)"'
  for name in column doubled; do
    posenc identify $name.npy
    [ $name = column ] && factor=j || factor=2j
    cause=$(sed 's/^sines and cosines, interleaved, but //; 1q' out)
    check "$name" one_cause $name.npy plain.json "$cause"
    check 'which is the mistake' contains out "the exponents are $factor/dim of the column j"
  done
else
  skip "tables of NumPy" 'no NumPy here'
fi

# ---- what only check is asked: layout, part, positions --------------------------------------------

moved='150 rows are at other positions, the first, row 150, at position 500, not at 155'
two_runs=$(positions 5 1 154),$(positions 500 1 649)
next_runs=$(positions 6 1 155),$(positions 501 1 650)
rounded=$(awk 'BEGIN { for (p = 300; p < 600; p++) { # ties to even, in steps of 2 to 511, then of 4
  step = p < 511 ? 2 : 4; q = int(p / step); r = p - q * step
  printf("%s%d", (p > 300) ? "," : "", step * (q + (r > step / 2 || (r == step / 2 && q % 2)))) } }')
while IFS='|' read -r written options cause found; do
  "$POSENC" write --dim 64 $written -o wrong.npy
  for config in '' '--config plain.json'; do
    check "$(echo "$written, asked ${options:-nothing}" | cut -c1-60) $config" eval \
      'ends 1 check wrong.npy $options $config --max-ulp 2 && told out "likely cause" "$cause"'
  done
  check 'is a fact to identify' eval \
    'ends 0 identify wrong.npy --config plain.json && sed 1q out | grep -qF -e "$found"'
done <<END
--len 300|--layout split-cs|the layout is interleaved, not split-cs|, interleaved, 
--len 300|--part cos|the file has sines and cosines, not the cosines alone, as --part cos says|, interleaved, 
--len 300 --offset 1||positions are 1 more|positions 1..300
--len 300|--offset 1|positions are 1 less|positions 0..299
--len 300 --offset 70||positions are 70 more|positions 70..369
--positions $two_runs|--offset 5|$moved|a list of 300 positions
--positions $two_runs|--positions $next_runs|positions are 1 less|a list of 300 positions
--positions $rounded|--offset 300|positions are rounded to bf16|a list of 300 positions
--len 300 --padding 9||the row of position 9 is all zeros|padding row at 9
END

# A config has no layout of tables: the values show it, wherever cosines of slow columns are; options are held to it.
for layout in interleaved interleaved-cs split split-cs; do
  for offset in 0 5000 100000; do
    "$POSENC" write --dim 64 --len 300 --offset $offset --layout $layout -o shown.npy
    check "$layout from $offset on" eval 'ends 0 check shown.npy --config plain.json --offset $offset &&
      contains out "layout $layout, as the values show"'
    check 'of other positions' eval 'ends 1 check shown.npy --config plain.json --offset $((offset + 1)) &&
      told out "FAIL: config: " "positions are 1 less"'
  done
  case $layout in split*) other=interleaved ;; *) other=split ;; esac
  check 'another layout is asked' eval 'ends 1 check shown.npy --config plain.json --offset 100000 --layout $other &&
    told out "FAIL: config: " "the layout is $layout, not $other"'
done
"$POSENC" write --dim 64 --len 300 --layout split -o wrong.npy
check 'no config: tables of this program are interleaved' eval \
  'ends 1 check wrong.npy && told out "FAIL: formula: " "the layout is split, not interleaved"'

# Half a cache in a file of its own, and --part forgotten, or that of the other half.
for layout in duplicated interleaved split; do
  columns=64 option=" --layout $layout"
  [ $layout = split ] && columns=32
  [ $layout = duplicated ] && option=
  "$POSENC" write --op rope-cache --len 90 --dim 64 --layout $layout -o cache.npy
  size=$((90 * columns * 4))
  for part in cos sin; do
    from=$([ $part = cos ] && echo 129 || echo $((129 + size)))
    {
      sed "1s/(2, 90, $columns)/(90, $columns)   /" cache.npy | head -c 128
      tail -c +$from cache.npy | head -c $size
    } >half.npy
    [ $part = cos ] && other=sin words=cosines || other=cos words=sines
    cause="the file has $words alone: --part $part$option"
    check "a cache's $words, $layout" eval 'ends 1 check half.npy --max-ulp 2 && told out "likely cause" "$cause"'
    check 'with a config' eval \
      'ends 1 check half.npy --config plain.json && told out "FAIL: config: " "$cause"'
    check 'as the other part' eval \
      'ends 1 check half.npy --part $other --layout $layout --max-ulp 2 && told out "likely cause" "$cause"'
    check 'the options that are named pass' ends 0 check half.npy --part $part $option --max-ulp 2
  done
done

# ---- several axes ---------------------------------------------------------------------------------

runs='t=30+80:3:0+30:7,h=30+40:3:0+40:4:0+30:7,w=70+40:3+30:7'
mrope=$runs,pairs=8:12:12,frequencies=continued
cat >mrope.json <<'END'
{"model_type": "qwen2_vl", "head_dim": 64, "rope_theta": 1000000.0,
 "rope_scaling": {"type": "mrope", "mrope_section": [8, 12, 12]}}
END
sections='sections are of 12, 10 and 10 pairs, chunked, not of 8, 12 and 12 pairs, chunked'
while IFS='|' read -r written options cause; do
  "$POSENC" write --dim 64 $written -o wrong.npy
  check "$(echo "$written, asked $options" | cut -c1-60)" eval \
    'ends 1 check wrong.npy $options --max-ulp 2 && told out "likely cause" "$cause"'
done <<END
--grid h=9,w=12 --base 100|--grid h=9,w=12|$half, or the base is 100, not 10000
--grid h=9,w=12 --base 777 --dtype f64|--grid h=9,w=12|the base is 777, not 10000
--grid h=9,w=12 --scale 0.5|--grid h=9,w=12|the scale is 0.5, not 1
--grid h=9,w=12 --layout split|--grid h=9,w=12 --layout interleaved|the layout is split, not interleaved
--grid h=9,w=12,columns=wh|--grid h=9,w=12|axes h and w are exchanged
--grid h=12,w=9|--grid h=9,w=12|it is the grid h=12,w=9, not h=9,w=12
--grid h=9:1,w=12:1|--grid h=9,w=12|positions are 1 more
--grid h=9,w=12:1|--grid h=9,w=12|axis w: positions are 1 more
--grid h=9,w=12:2|--grid h=9,w=12|it is the grid h=9,w=12:2, not h=9,w=12
--grid h=9,w=12,frequencies=continued|--grid h=9,w=12|frequencies are continued
--grid h=9,w=12,grouped=yes --layout split|--grid h=9,w=12 --layout split|the layout is that of each axis
--len 108|--grid h=9,w=12|rows are the positions, on one axis
--len 108 --offset 3|--grid h=9,w=12|rows are the positions, on one axis
--grid h=9,w=12 --offset -1 --padding -1|--grid h=9,w=12 --offset -1|the row of position -1 is all zeros
--grid $mrope --base 1e3|--grid $mrope --base 1e6|$half, or the base is 1000, not 1000000
--grid $mrope --base 3e4|--grid $mrope --base 1e6|the base is 30000, not 1000000
--grid $runs,pairs=12:10:10,frequencies=continued|--grid $mrope|$sections
--grid $runs,pairs=8:12:12|--grid $mrope|frequencies are restarted on each axis
END
"$POSENC" write --dim 64 --grid h=9,w=12 --kernel recipe/hf-rope -o right.npy
check 'a right formula on axes' eval 'ends 1 check right.npy --grid h=9,w=12 --max-ulp 1 &&
  contains out "the formula agrees: the errors are those of angles in f32; --max-abs "'
check 'that passes' ends 0 check right.npy --grid h=9,w=12 --max-abs "$(sed -n 's/^likely.*abs \(.*\) passes/\1/p' out)"
"$POSENC" write --dim 64 --grid h=9,w=12 -o right.npy
patched 50 5 '\0\0\0\100'
check 'one element on axes' eval 'ends 1 check wrong.npy --grid h=9,w=12 --max-ulp 2 &&
  told out "likely cause" "1 element is off, the first at row 50, column 5"'
for base in 1e3 3e4; do
  "$POSENC" write --dim 64 --grid $mrope --base $base --layout split-cs -o wrong.npy
  [ $base = 1e3 ] && cause="$half, or the base is 1000, not 1000000" || cause='the base is 30000, not 1000000'
  check "M-RoPE of base $base" eval \
    'ends 1 identify wrong.npy --config mrope.json && told out config "DISAGREES: $cause" &&
      ends 1 check wrong.npy --config mrope.json --grid $mrope --layout split-cs && told out "FAIL: config: " "$cause"'
done
# A table of several axes, which a config has, is tried before one axis is ruled out, which took these 1 to 3 s.
if [ -z "${EMULATOR-}" ] && [ "${ASAN_OPTIONS#*log_path}" = "$ASAN_OPTIONS" ]; then
  for layout in interleaved split split-cs; do
    "$POSENC" write --dim 64 --grid $mrope --base 1e6 --layout $layout -o mrope-$layout.npy
  done
  seconds=$( (
    for layout in interleaved split split-cs; do
      "$POSENC" identify mrope-$layout.npy --config mrope.json
    done >out 2>err
    times
  ) | sed -n '2s/^0m\([0-9.]*\)s.*/\1/p')
  check "three tables of M-RoPE agree, within 0.5 s: ${seconds:=9}" eval '
    [ "$(grep -c "^config  *agrees" out)" -eq 3 ] && [ "$(echo "$seconds" | awk "{ print \$1 < 0.5 }")" = 1 ]'
else
  skip 'M-RoPE within 0.5 s' 'the processor is not this one'
fi

# Positions between whole ones, as videos have them, and far ones: of tables, of one part, in bf16, and of results.
cat >vl.json <<'END'
{"model_type": "qwen2_5_vl", "head_dim": 64, "rope_theta": 1000000.0,
 "rope_scaling": {"type": "mrope", "mrope_section": [8, 12, 12]}}
END
sed 's/"type": "mrope"/"mrope_interleaved": true/; s/\[8, 12, 12\]/[12, 10, 10]/' vl.json >cyclic.json
sed 's/"type": "mrope"/"type": "yarn", "factor": 4, "original_max_position_embeddings": 32768/' vl.json >vl-yarn.json
sed 's/"type": "mrope"/"type": "linear", "factor": 2/' vl.json >vl-linear.json
if [ -n "$numpy" ]; then
  "$numpy" - <<'END'
import math
import numpy as np
def bf16(a):
    u = a.astype("f4").view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16 << 16).astype(np.uint32).view("f4")
def video(step, first=0.0, texts=12, frames=4, height=3, width=5):
    rows = [(first + n,) * 3 for n in range(texts)]
    begin = first + texts
    places = [(k, i, j) for k in range(frames) for i in range(height) for j in range(width)]
    rows += [(begin + k * step, begin + i, begin + j) for k, i, j in places]
    end = math.floor(max(map(max, rows))) + 1
    return np.array(rows + [(end + n,) * 3 for n in range(texts)]).T
def frequencies(base):
    return base ** (-np.arange(32) / 32)
chunked, other = np.repeat([0, 1, 2], [8, 12, 12]), np.repeat([0, 1, 2], [12, 10, 10])
cyclic = np.array(([0, 1, 2] * 10 + [0, 0])[:32])
def save(name, positions, axes=chunked, w=frequencies(1e6), amplitude=1.0):
    angles = np.tile(positions[axes].T * w, 2)
    c, s = amplitude * np.cos(angles), amplitude * np.sin(angles)
    np.save(name, np.stack([c, s]).astype("f4"))
    np.save(name + "-cos", c.astype("f4"))
    np.save(name + "-sin", s.astype("f4"))
    np.save(name + "-bf16", bf16(np.stack([c, s])))
    x = np.random.default_rng(1).standard_normal((1, len(c), 2, 64)).astype("f4")
    for kind, of in (("", lambda a: a), ("-bf16", bf16)):
        q, cosine, sine = of(x), of(c)[None, :, None], of(s)[None, :, None]
        half = np.concatenate([-q[..., 32:], q[..., :32]], 3)
        np.save(name + "-x" + kind, q)
        np.save(name + "-turned" + kind, of((q * cosine + half * sine).astype("f4")))
third = video(1 / 3)
height = video(1.0)
height[1, 12:-12] *= 0.5
w = frequencies(1e6)
part = np.clip((np.arange(32) - 11) / (20 - 11), 0, 1)  # yarn's ramp from 32 turns in 32768 positions to 1
save("whole", video(1.0))
save("half", video(0.5))
save("third", third)
save("rounded", third.astype("f4").astype("f8"))
save("height", height)
save("far", video(2.5, 30000.0))
save("cyclic", video(0.4), cyclic)
save("linear", video(0.5), w=w / 2)
save("sections", video(0.5), other)
save("turns", video(0.5), cyclic)
save("base", video(0.5), w=frequencies(1e5))
save("unusual", video(0.5), w=frequencies(777777.0))
save("exponent", video(0.5), w=frequencies(1e3))
save("scale", 0.3 * video(1.0))
save("times", video(0.5), amplitude=1.3)
save("small", video(1.0), amplitude=0.3)
save("attention", video(0.5), w=w * (1 - part) + w / 4 * part)
save("yarn", video(0.5), w=w * (1 - part) + w / 4 * part, amplitude=0.1 * math.log(4) + 1)
# Times in no order; the last ones are before the first, as of pairs that are turned back.
draws = np.random.default_rng(7)
save("random", np.rint(draws.random((3, 90)) * 6000) / 3)
save("random-far", 16000 + 4000 * draws.random((3, 90)))
whole = draws.integers(0, 900, (3, 90)).astype("f8")
whole[:, 0], whole[:, -1] = 899, 0
save("random-whole", whole)
save("random-cyclic", whole / 4, cyclic)
save("one-random", np.stack([draws.random(90) * 90] * 3), w=frequencies(1e4))
save("one-third", np.stack([np.rint(draws.random(200) * 600) / 3] * 3), w=frequencies(1e4))
times = np.stack([np.random.default_rng(2).random(90) * 90] * 3)
save("equal", times)
save("times-equal", times, amplitude=1.3)
# vLLM's cache of a dynamic scaling: a length of 4097 x factor, which is no whole number, in as many rows; of the next
# whole length; of another one; without the scaling; and positions that are off by one.
for factor in 1.7, 1.0015:
    length = 4097 * factor
    places = np.arange(length)[:, None]
    for name, of, first in (("", length, 0), ("-next", np.ceil(length), 0), ("-less", length - 40, 0),
                            ("-plain", 4097, 0), ("-off", length, 1)):
        a = (places + first) * frequencies(1e4 * (factor * of / 4097 - factor + 1) ** (64 / 62))
        table = np.concatenate([np.cos(a), np.sin(a)], 1).astype("f4")
        np.save(f"vllm-{factor}{name}-f32", table)
        np.save(f"vllm-{factor}{name}-bf16", bf16(table))
        np.save(f"vllm-{factor}{name}-part", bf16(table)[200:400])
# The table of short sequences and that of long ones in one array, as Phi-3's.
short, long = (np.arange(rows)[:, None] * frequencies(1e4) / of for rows, of in ((512, 1.5), (2048, 6.0)))
a = np.concatenate([short, long])
attention = math.sqrt(1 + math.log(4) / math.log(512))
np.save("two-lengths", (attention * np.concatenate([np.cos(a), np.sin(a)], 1)).astype("f4"))
save("factor", video(0.5), w=w * (1 - part) + w / 4 * part, amplitude=1.25)
END
  while IFS='|' read -r name config verdict; do
    for of in $name $name-cos $name-bf16 "$name-turned --op rope --x $name-x" \
      "$name-turned-bf16 --op rope --x $name-x-bf16"; do
      [ "$verdict" = agrees ] && want=0 line="agrees: $config.json" || want=1 line="DISAGREES: $verdict"
      file=${of%% *}.npy options=${of#* }
      [ "$options" = "$of" ] && options= || options=$options.npy
      check "positions, $config: $of" eval 'ends $want identify $file $options --config $config.json &&
        told out config "$line"'
    done
  done <<END
whole|vl|agrees
half|vl|agrees
third|vl|agrees
rounded|vl|agrees
random|vl|agrees
random-far|vl|agrees
random-whole|vl|agrees
random-cyclic|cyclic|agrees
one-random|plain|agrees
one-third|plain|agrees
height|vl|agrees
far|vl|agrees
cyclic|cyclic|agrees
linear|vl-linear|agrees
yarn|vl-yarn|agrees
half|vl-linear|the scaling is left out
base|vl|the base is 100000, not 1000000
exponent|vl|the exponent lacks its factor of 2 (i/dim instead of 2i/dim), or the base is 1000, not 1000000
scale|vl|the scale is 0.3, not 1
attention|vl-yarn|the attention factor is left out
times|vl|all values are multiplied by 1.3, not by 1
small|vl|all values are multiplied by 0.3, not by 1
factor|vl-yarn|the attention factor is 1.25, not 1.13862944
END
  for factor in 1.7 1.0015; do
    cat >vllm.json <<END
{"model_type": "llama", "head_dim": 64, "rope_theta": 10000.0, "max_position_embeddings": 4097,
 "rope_scaling": {"type": "dynamic", "factor": $factor}}
END
    length=$(awk "BEGIN { printf \"%.12g\", 4097 * $factor }")
    whole=${length%.*}
    shown="agrees: vllm.json, in a sequence of $length positions, as the values show"
    for dtype in f32 bf16; do
      for of in check identify; do
        check "a length that is no whole number, $factor, $dtype, $of" eval \
          'ends 0 $of vllm-$factor-$dtype.npy --config vllm.json && told out config "$shown"'
        for context in $whole $((whole + 1)); do
          check "asked for $context" eval \
            'ends 0 $of vllm-$factor-$dtype.npy --config vllm.json --context $context && told out config "$shown"'
        done
        check 'but not for one more' ends 1 $of vllm-$factor-$dtype.npy --config vllm.json --context $((whole + 2))
        check 'the next length' eval \
          'ends 0 $of vllm-$factor-next-$dtype.npy --config vllm.json && told out config "agrees: vllm.json"'
        check 'a shorter one' eval 'ends 1 $of vllm-$factor-less-$dtype.npy --config vllm.json && contains out DISAGREES'
        check 'positions are off by one' eval \
          'ends 1 $of vllm-$factor-off-$dtype.npy --config vllm.json && contains out DISAGREES'
        check 'the scaling is left out' eval 'ends 1 $of vllm-$factor-plain-$dtype.npy --config vllm.json && contains out \
          "DISAGREES: the dynamic scaling is left out, as in sequences of at most 4097 positions"'
      done
    done
    check 'some of its rows' eval \
      'ends 0 identify vllm-$factor-part.npy --config vllm.json && told out config "$shown"'
    check 'at their positions' ends 0 check vllm-$factor-part.npy --config vllm.json --offset 200
  done
  cat >two.json <<END
{"model_type": "phi3", "head_dim": 64, "rope_theta": 10000.0, "max_position_embeddings": 2048,
 "original_max_position_embeddings": 512, "rope_scaling": {"type": "longrope",
 "short_factor": [$(yes 1.5 | head -32 | paste -s -d , -)], "long_factor": [$(yes 6.0 | head -32 | paste -s -d , -)]}}
END
  for context in 512 2048; do
    check "two tables in one array, of $context" ends 0 check two-lengths.npy --config two.json --context $context
  done
  # Times of a text, the same on all axes.
  for of in equal equal-cos equal-sin; do
    check "M-RoPE at times: $of" eval 'ends 0 identify $of.npy --config vl.json && told out config "agrees: vl.json"'
  done
  check 'as times, not as a list of one axis' eval 'ends 0 identify equal.npy --config vl.json &&
    contains out "; positions on 3 axes (thw), "'
  check 'times 1.3' eval 'ends 1 identify times-equal.npy --config vl.json &&
    told out config "DISAGREES: all values are multiplied by 1.3, not by 1"'
  check 'a base that no suspect has' eval 'ends 1 identify unusual.npy --config vl.json &&
    told out config "DISAGREES: the base is 777777, not 1000000"'
  for name in sections turns; do
    [ $name = turns ] && order=cyclic || order=chunked
    cause="sections are of 12, 10 and 10 pairs, $order, not of 8, 12 and 12 pairs, chunked"
    check "other sections, $order" eval 'ends 1 identify $name.npy --config vl.json &&
    told out config "DISAGREES: $cause"'
    check 'in a result' eval 'ends 1 identify $name-turned.npy --op rope --x $name-x.npy --config vl.json &&
      told out config "DISAGREES: $cause"'
    for of in $name-cos.npy $name-bf16.npy "$name-turned-bf16.npy --op rope --x $name-x-bf16.npy"; do
      check "of $of" ends 1 identify $of --config vl.json
    done
  done
else
  skip 'M-RoPE between whole positions' 'no NumPy here'
fi

# A scaling by the length of a sequence, at its end: --context tells the length, or else the positions that are found.
cat >dynamic.json <<'END'
{"model_type": "llama", "head_dim": 64, "rope_theta": 10000.0, "max_position_embeddings": 4096,
 "rope_scaling": {"type": "dynamic", "factor": 4.0}}
END
for dtype in f32 bf16; do
  "$POSENC" write --config dynamic.json --context 131072 --offset 130800 --len 272 --dtype $dtype -o end.npy
  check "the end of a long sequence, $dtype" eval 'ends 0 identify end.npy --config dynamic.json --context 131072 &&
    told out config "agrees: dynamic.json"'
  check 'of another length' ends 1 identify end.npy --config dynamic.json --context 100000
done
"$POSENC" write --config dynamic.json --context 131072 --offset 130800 --len 272 -o end.npy
check 'of another length, which the values show' eval 'ends 1 identify end.npy --config dynamic.json --context 100000 &&
  told out config "DISAGREES: the dynamic scaling is that of 131072 positions, not of 100000"'

# 64 rows in bf16, whose base has so many digits that they alone do not show it.
cat >far.json <<'END'
{"model_type": "llama", "head_dim": 64, "max_position_embeddings": 16384, "rope_theta": 500000.0,
 "rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}
END
"$POSENC" write --config far.json --context 16385 --offset 16321 --len 64 --dtype bf16 -o far.npy
check 'a few rows far out, of a stretched base' eval 'ends 0 identify far.npy --config far.json --context 16385 &&
  told out config "agrees: far.json"'
check 'whose length the values show' eval 'ends 0 identify far.npy --config far.json &&
  told out config "agrees: far.json, in a sequence of 16385 positions, as the values show"'
# The values show the length that no option gives: of a table before, at or beyond the end of what the model accepts.
cat >longrope.json <<END
{"model_type": "phi3", "head_dim": 64, "rope_theta": 10000.0, "max_position_embeddings": 131072,
 "original_max_position_embeddings": 4096, "rope_scaling": {"type": "longrope",
 "short_factor": [$(seq -s , 1 0.02 1.62)], "long_factor": [$(seq -s , 1 1.9 59.9)]}}
END
zeros=$(yes 0 | head -300 | paste -s -d , -)
while read -r dtype config context offset status verdict; do
  "$POSENC" write --positions "$zeros" --dim 64 --layout split-cs --dtype $dtype -o x.npy
  "$POSENC" write --config $config.json --context $context --offset $offset --len 300 --dtype $dtype \
    --kernel recipe/hf-rope --layout split-cs -o shown.npy
  [ $status -eq 0 ] && word="agrees: $config.json$verdict" || word="DISAGREES: $verdict"
  for of in '' '--op rope --x x.npy'; do
    check "$config of $context, $dtype from $offset on $of" eval \
      'ends $status identify shown.npy $of --config $config.json && told out config "$word"'
    [ -n "$of" ] && layout=split || layout=split-cs
    [ $status -eq 1 ] || check 'asked for' eval \
      'ends 0 check shown.npy $of --config $config.json --offset $offset --layout $layout &&
        contains out "PASS: config: $config.json"'
  done
done <<'END'
f32 dynamic 131072 100000 0 , in a sequence of 131072 positions, as the values show; not checked: the length of the sequence, 131072, read from the values
f16 dynamic 131072 100000 0 , in a sequence of 131072 positions, as the values show; not checked: the length of the sequence, 131072, read from the values
bf16 dynamic 98765 90000 0 , in a sequence of 98765 positions, as the values show; not checked: the length of the sequence, 98765, read from the values
f16 dynamic 2000000 1000000 0 , in a sequence of 1999996 to 2000004 positions, as the values show; not checked: the length of the sequence, 2000000, read from the values
f32 dynamic 4096 300 0
bf16 dynamic 4096 300 0
f32 dynamic 4096 50000 1 the dynamic scaling is left out, as in sequences of at most 4096 positions
f16 dynamic 16384 50000 1 the dynamic scaling is that of 16384 positions, before the last row
f32 longrope 131072 0 0 , in a sequence of 4097 positions or more, as the values show
bf16 longrope 131072 100000 0 , in a sequence of 4097 positions or more, as the values show
f16 longrope 131072 500000 0 , in a sequence of 4097 positions or more, as the values show
bf16 longrope 4096 3000 0
f32 longrope 4096 50000 1 the factors are those of sequences of at most 4096 positions, before the last row
END
for dtype in f32 bf16; do
  "$POSENC" write --dim 64 --base 500000 --len 300 --dtype $dtype -o usual.npy
  # In f32, no whole length is as near.
  [ $dtype = f32 ] && check "the base of other models, $dtype" eval 'ends 1 identify usual.npy --config dynamic.json &&
    told out config "DISAGREES: the base is 500000, not 10000"' || check "the base of other models, $dtype" is_refused \
    'the base is 500000, or the sequence has 48[0-9]* positions' identify usual.npy --config dynamic.json
  "$POSENC" write --dim 64 --scale 0.25 --len 300 --offset 50000 --dtype $dtype -o usual.npy
  check 'no length makes frequencies that are divided by the factor' eval \
    'ends 1 identify usual.npy --config dynamic.json && contains out "DISAGREES: all frequencies are divided by the factor, 4"'
done
# Another base makes the table of some length, which need not be whole, nor one that a model has. Of few rows in 16 bits
# the verdict tells that the length is not checked; a right table is not accused, as that of one more than 4096 positions.
while read -r dtype rows options status verdict; do
  "$POSENC" write --dim 64 $(echo $options | tr '|' ' ') --len $rows --dtype $dtype --layout split-cs -o base.npy
  [ $status -eq 0 ] && word="agrees: dynamic.json$verdict" || word="DISAGREES: $verdict"
  check "$dtype, $rows rows, $options" eval \
    'ends $status identify base.npy --config dynamic.json && told out config "$word"'
  [ $status -eq 0 ] && word="PASS: config: dynamic.json$verdict" || word="FAIL: config: $verdict"
  check 'in check' eval 'ends $status check base.npy --config dynamic.json && grep -qxF -e "$word" out'
done <<'END'
f32 300 --base=12345 1 the base is 12345, not 10000
f16 300 --base=12345 1 the base is 12345, not 10000
bf16 4096 --base=12345 1 the base is 12345, not 10000
f16 4096 --base=77777 1 the base is 77777, not 10000
bf16 300 --base=3e9 1 the base is 3000000000, not 10000
f32 300 --base=1e13 1 the base is 10000000000000, not 10000
bf16 300 --base=12345 0 , in a sequence of 4326 to 4330 positions, as the values show; not checked: the length of the sequence, 4328, read from the values
bf16 300 --config=dynamic.json|--context=4097 0 , in a sequence of 4097 to 4099 positions, as the values show; not checked: the length of the sequence, 4097, read from the values
bf16 4096 --config=dynamic.json|--context=4097 0 , in a sequence of 4097 positions, as the values show
bf16 4096 --config=dynamic.json|--context=5000 0 , in a sequence of 5000 positions, as the values show
bf16 4096 --config=dynamic.json 0
END
"$POSENC" write --dim 64 --base 7.3e6 --len 300 -o base.npy
check 'a base of two digits, or 149 times the length' is_refused \
  'the base is 7300000, or the sequence has 6114[0-9]* positions' identify base.npy --config dynamic.json
"$POSENC" write --config dynamic.json --context 131072 --positions 5,900,17,3,2000,41,77,8 --dim 64 -o few.npy
check 'few rows in no order do not tell the length' is_refused 'which the values do not show: --context gives it' \
  identify few.npy --config dynamic.json

# ---- a right formula ------------------------------------------------------------------------------

while IFS='|' read -r written errors; do
  "$POSENC" write --dim 64 $written -o right.npy
  ends 1 check right.npy --max-ulp 0.4
  prefix="the formula agrees: the errors are $errors; --max-abs "
  check "$written" eval 'sed "s/^likely cause *//" out | grep -qF -e "$prefix"'
  limit=$(sed -n 's/^likely cause.*--max-abs \([^ ]*\) passes$/\1/p' out)
  check 'a tolerance that passes' ends 0 check right.npy --max-abs "$limit"
  check 'and no much larger one' eval 'ends 1 check right.npy --max-abs "$(echo "$limit" | awk "{ print 0.9 * \$1 }")"'
  check 'identify agrees' ends 0 identify right.npy --config plain.json
done <<END
--len 300 --kernel recipe/hf-rope|those of angles in f32
--len 300 --kernel recipe/hf-rope --dtype f32|those of angles in f32
--len 300 --kernel naive-f64 --dtype f64|those of arithmetic in f64
--len 300|those of arithmetic in f64, rounded to f32
--len 300 --dtype bf16|those of arithmetic in f64, rounded to bf16
END
spaced=$(positions 1000 4 2196)
"$POSENC" write --dim 64 --positions $spaced --kernel recipe/hf-rope -o right.npy
check 'positions in steps of 4 are no scale' eval \
  'ends 1 check right.npy --positions $spaced --max-ulp 1 && contains out "the formula agrees: "'
"$POSENC" write --dim 64 --len 300 -o right.npy
check 'what passes has no cause' eval 'ends 0 check right.npy --max-ulp 1 && lacks out "likely cause"'
# Without a limit, a config or --expect, the formula of the options is what should be there.
while IFS='|' read -r status written options verdict; do
  "$POSENC" write --dim 64 $written -o plain.npy
  check "$written, asked ${options:-nothing}, no limit" eval \
    'ends $status check plain.npy $options && contains out "$verdict" && lacks out "no verdict"'
done <<END
1|--len 300 --base 777||FAIL: formula: the base is 777, not 10000
0|--len 300 --base 777|--base 777|PASS: formula: no error is larger than 2 ulp
1|--len 6000 --kernel recipe/hf-rope --padding 5000||FAIL: formula: the row of position 5000 is all zeros
1|--len 300 --kernel recipe/hf-rope|--padding 9|FAIL: formula: the row of position 9 is not all zeros
0|--len 300 --kernel recipe/hf-rope||PASS: formula: the errors are those of angles in f32
0|--len 1 --kernel recipe/hf-rope --offset 77|--offset 77|PASS: formula: 
0|--grid h=90,w=12 --kernel recipe/hf-rope|--grid h=90,w=12|PASS: formula: the errors are those of angles in f32
1|--grid h=90,w=12|--grid h=90,w=12:1|FAIL: formula: axis w: positions are 1 less
0|--len 5000 --dtype f64 --kernel naive-f64||PASS: formula: the errors are those of arithmetic in f64
END

# A column beside the formula, as the one of zeros of --odd pad, is looked at, too.
"$POSENC" write --dim 63 --odd pad --len 300 --kernel recipe/hf-rope -o pad.npy
check 'a column of zeros' ends 0 check pad.npy --odd pad
{ head -c $((128 + 4 * (63 * 200 + 62))) pad.npy && printf '\0\0\200\076' && tail -c +$((129 + 4 * (63 * 200 + 63))) pad.npy; } >one.npy
check 'is not only zeros' eval 'ends 1 check one.npy --odd pad &&
  contains out "FAIL: formula: the formula agrees, but errors are larger than those of code in f32"'

# ---- arrays ---------------------------------------------------------------------------------------

# x is (1, 0) in each pair, so rope of it is (cos, sin).
zeros=$(yes 0 | head -300 | paste -s -d , -)
for layout in split interleaved; do
  "$POSENC" write --positions "$zeros" --dim 64 --layout $layout-cs -o x-$layout.npy
done
while IFS='|' read -r config layout options cause; do
  "$POSENC" write --dim 64 --layout $layout-cs $options -o out.npy
  check "rope: $(echo "$config, $layout, $options" | cut -c1-60)" \
    one_cause out.npy $config.json "$cause" --op rope --x x-$layout.npy
done <<END
plain|split|--len 300 --base 100|$half, or the base is 100, not 10000
plain|split|--len 300 --base 777|the base is 777, not 10000
plain|interleaved|--len 300|pairs are neighbours, not halves
plain|split|--positions $(positions 0 -1 -299)|pairs are turned back
plain|split|--positions $zeros|nothing is turned
llama3|split|--len 300 --base 500000|the scaling is left out
yarn|split|--len 300 $yarn=1024,high=16|$fast
END
"$POSENC" write --dim 64 --len 300 --offset 1 --layout split-cs -o out.npy
check 'positions, without a config or a limit' eval 'ends 1 check out.npy --op rope --x x-split.npy --layout split &&
  told out "FAIL: formula: " "positions are 1 more"'
check 'what is expected is met' eval \
  'ends 1 check out.npy --op rope --x x-split.npy --layout split --expect base=10000 && contains out "expect          agrees" &&
  told out "FAIL: formula: " "positions are 1 more"'
check 'a limit' eval 'ends 1 check out.npy --op rope --x x-split.npy --layout split --max-ulp 2 &&
  told out "likely cause" "positions are 1 more"'
check 'a config' eval 'ends 1 check out.npy --op rope --x x-split.npy --config plain.json &&
  told out "FAIL: config: " "positions are 1 more" && lacks out PASS'
"$POSENC" write --dim 64 --len 300 --kernel recipe/hf-rope --layout split-cs -o out.npy
check 'a right formula in f32' eval 'ends 1 check out.npy --op rope --x x-split.npy --layout split --max-ulp 2 &&
  sed "s/^likely cause *//" out | grep -qF -e "the formula agrees: the errors are those of angles in f32; --max-abs "'
check 'agrees' ends 0 check out.npy --op rope --x x-split.npy --config plain.json

# Few rows: those that are all zeros are told, and what position 0 alone does not tell.
for length in 1 2 5 12; do
  posenc write --len $length --dim 64 --scale 0.5 -o few-x.npy
  ends 0 write --op rope --x few-x.npy --layout split -o few.npy
  check "$length rows" ends 0 check few.npy --op rope --x few-x.npy --config plain.json
  told='; not checked: whether x is turned, as position 0 leaves it'
  if [ $length -eq 1 ]; then
    check 'position 0 alone' contains out "$told"
    check 'is not known to be of a config' is_refused 'is not known: it is x, as it is at position 0' \
      identify few.npy --op rope --x few-x.npy --config plain.json
  else
    check 'others' lacks out "$told"
  fi
  # Of one row, the lengths of a scaling cannot be told apart, either.
  for config in plain longrope dynamic; do
    ends 0 write --op rope --x few-x.npy --config $config.json --offset 7 -o other.npy
    ends 0 check other.npy --op rope --x few-x.npy --config $config.json --offset 7
    check "$length rows of $config" eval "[ $status -eq 0 ] && if [ $length -lt 3 ]; then
      is_refused 'whether the table agrees is not known: ' identify other.npy --op rope --x few-x.npy --config $config.json
    fi"
  done
  { head -c 128 few.npy && head -c 256 /dev/zero && tail -c +385 few.npy; } >zero.npy
  check 'the first is zeros' eval 'ends 1 check zero.npy --op rope --x few-x.npy --config plain.json &&
    told out "FAIL: config: " "the row of position 0 is all zeros"'
done

# ---- who computed it ------------------------------------------------------------------------------

# The line of identify is a command with a verdict, of what the file was found to be and was asked to be.
"$POSENC" write --len 300 --dim 64 --kernel recipe/hf-rope -o "a table's.npy"
posenc identify "a table's.npy" --config plain.json
check 'the command that identify ends with' eval 'sed -n "s/ holds it to that.*//p" out >line &&
  grep -q " --max-abs " line && eval "$(cat line)" && contains out "PASS: --max-abs"'
posenc write --len 300 --dim 64 -o exact.npy
posenc identify exact.npy
check 'of a table that is rounded once' contains out 'posenc check exact.npy --max-ulp 1 holds it to that.'
posenc identify exact.npy --config llama3.json
check 'is left out if another one was asked' eval '[ $status -eq 1 ] && lacks out "holds it to that"'

"$POSENC" write --dim 64 --len 2048 $yarn=128 -o short.npy
"$POSENC" write --dim 64 --len 2048 $yarn=3000 -o other.npy
check 'usual turns with another length come before a usual length with other turns' eval 'ends 0 identify other.npy &&
  contains out "yarn scaling by 8 from 3000 (2949 to 3547 fit), low 1, high 32, attention"'
"$POSENC" write --dim 64 --len 2048 $yarn=4096,high=16 -o other.npy
check 'and behind a power of two' eval 'ends 0 identify other.npy && contains out " from 4096, low 1, high 16 (10.8 to"'
check 'usual parameters of a ramp come first, and a length has its range' eval 'ends 0 identify short.npy &&
  contains out "yarn scaling by 8 from 128 (111 to 167 fit), low 1, high 32, attention"'
"$POSENC" write --dim 64 --len 2048 $yarn=1024 -o short.npy
check 'a length that models have has none' eval 'ends 0 identify short.npy && contains out "from 1024, low 1, high 32,"'

if [ -n "$numpy" ]; then
  "$numpy" - <<'END'
import numpy as np
rows = np.arange(300.0)[:, None]
angles = rows * 10000.0 ** (-np.arange(32) / 32)
x = np.random.default_rng(1).standard_normal((300, 64)).astype("f4")
a, b, sine, cosine = x[:, :32].astype("f8"), x[:, 32:].astype("f8"), np.sin(angles), np.cos(angles)
np.save("q", x)
np.save("turned", np.concatenate([a * cosine - b * sine, b * cosine + a * sine], 1).astype("f4"))
heads = np.random.default_rng(2).standard_normal((1, 300, 3, 64)).astype("f4")
a, b = heads[..., :32].astype("f8"), heads[..., 32:].astype("f8")
sine, cosine = sine[:, None], cosine[:, None]
turned = np.concatenate([a * cosine - b * sine, b * cosine + a * sine], 3).astype("f4")
np.save("heads", heads)
np.save("exchanged", turned[:, :, [2, 1, 0]])
np.save("rotated", turned[:, :, [1, 2, 0]])
def table(angles, dtype):
    return np.stack([np.sin(angles), np.cos(angles)], 2).reshape(300, -1).astype(dtype)
for base in (10000.0, 9999.0, 12345.678):
    w = base ** (-np.arange(32) / 32)
    np.save(f"doubles-{base:.0f}", table(rows * w, "f8"))
    np.save(f"angles-{base:.0f}", table((rows.astype("f4") * w.astype("f4")).astype("f8"), "f8"))
END
  check 'rope in f64 is not of f32' eval \
    'ends 0 identify turned.npy --op rope --x q.npy && sed 1q out >first && lacks first "in f32"'
  check 'heads exchanged' one_cause exchanged.npy plain.json 'heads 0 and 2 of 3 are exchanged' \
    --op rope --x heads.npy
  check 'three heads are not two' eval 'ends 1 check rotated.npy --op rope --x heads.npy --config plain.json &&
    lacks out exchanged'
  check 'doubles pass without a limit' ends 0 check doubles-10000.npy
  check 'those of angles in f32 do not' eval 'ends 1 check angles-10000.npy && contains out \
    "FAIL: formula: the formula agrees, but errors are larger than those of code in f64: those of angles in f32; --max"'
  check 'nor does a dead column' eval 'ends 1 check dead.npy && contains out "FAIL: formula: column 5 is 0 in all rows"'
  for base in 10000 9999 12346; do
    posenc identify doubles-$base.npy
    check "doubles of base $base are not of f32, nor truncated" eval \
      'sed 1q out >first; lacks first f32 && lacks first trunc'
    posenc identify angles-$base.npy
    check 'those of angles in f32 are' eval \
      'sed 1q out >first; contains first "computed in f64 from angles in f32 by code that is not known"'
  done
else
  skip 'doubles' 'no NumPy here'
fi
plan
