#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures cr-opencl on a GPU, PyTorch beside it, and the errors of tables that the GPU makes: the figures of "On a GPU"
# in doc/notebook.md and of doc/recipes.md. "make gpu" runs it. It needs an OpenCL driver of the GPU, and for the
# peers PyTorch, NumPy and CuPy. POSENC: the command.
set -eu
: "${srcdir:=.}" "${POSENC:=./posenc}" "${PYTHON:=python3}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

bench() { # OPTION...: a line of a table, after the first one with its head
  "$POSENC" bench --kernel cr-opencl --mode hot "$@" >"$work/times"
  sed "${headed:+1,2d}" "$work/times"
  headed=yes
}
headed=
for size in '8192 512' '1048576 128' '1048576 512'; do bench --len "${size% *}" --dim "${size#* }"; done
bench --len 1048576 --dim 512 --layout split
for dtype in f32 bf16; do
  for batch in 1 8; do
    bench --op rope --len 4096 --heads 32 --dim 128 --layout split --dtype $dtype --batch $batch
  done
  bench --op rope --len 4096 --heads 32 --dim 128 --dtype $dtype --batch 8
  bench --op add --len 131072 --dim 4096 --dtype $dtype
done
bench --op rope --len 1 --offset 4095 --heads 32 --dim 128 --dtype bf16

"$PYTHON" -c 'import torch' || exit
printf '\n'
"$PYTHON" "$srcdir/tools/gpu.py" "$work"
printf '\nerrors of tables made on the GPU\n'
for table in eager compiled; do
  printf 'PyTorch, %s: ' $table
  "$POSENC" check --offset 983040 "$work/$table.npy" | sed -n '/^largest error .* ulp /d; s/^largest error  *//p'
done
for table in "$work"/*-*.npy; do
  [ -e "$table" ] || continue # no CuPy
  name=$(basename "$table" .npy) base=${table##*-}
  recipe=${name%-*} base=${base%.npy}
  per=$("$POSENC" list "recipe/$recipe" | sed -n 's/.* \([0-9.e-]*\) per position.*/\1/p')
  "$POSENC" write --len 131072 --dim 128 --base "$base" -o "$work/exact.npy"
  printf '%s, base %s: share of the bound ' "$recipe" "$base"
  "$PYTHON" "$srcdir/tools/gpu.py" --share "$table" "$work/exact.npy" "$per"
  "$POSENC" identify "$table" | head -n 1
done
