#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures everything that tools/targets.c has a target for, and prints the table. "make targets" runs it in the build
# folder; $srcdir: the source folder. It takes minutes, and shows the running command on a terminal.
set -eu
: "${srcdir:=.}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

if [ -t 2 ]; then
  say() { printf '\r\033[K%s\r' "$*" >&2; }
else
  say() { :; }
fi

# Runs a command whose standard output is the record NAME. A kernel that this machine cannot run is no error: the table
# has the reason.
record() { # NAME COMMAND...
  name=$1
  shift
  say "targets: $*"
  "$@" >"$work/$name" 2>"$work/error" && mv "$work/$name" "$work/$name.json" && return
  grep -q 'cannot do this' "$work/error" && return
  say ''
  cat "$work/error" >&2
}

bench() { # NAME OPTION...
  name=$1
  shift
  record "$name" ./posenc bench --format json "$@"
}

# Makes a timing record of entries, one per line.
entries() {
  printf '{"benchmarks": [\n%s\n]}\n' "$(sed '$!s/$/,/')"
}

# Times first calls, each in a process of its own, with the kernels in turn.
first_calls() { # LEN DIM KERNEL...
  len=$1 dim=$2
  shift 2
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31; do
    for kernel; do
      ./posenc-first "$len" "$dim" "$kernel" 2>"$work/first" || grep -q 'cannot do' "$work/first" ||
        cat "$work/first" >&2
    done
  done | entries
}

# The first python3 in $PATH may be another one than the system's, and then does not find the system's PyTorch.
python=python3
"$python" -c 'import torch' 2>/dev/null || [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3

threaded=
[ "$(nproc)" -eq 1 ] || threaded=,cr-threads
table='--len 131072 --dim 1024' cached='--len 4992 --dim 512'

record kernels ./posenc list --format json
# shellcheck disable=SC2086 # options
{
  bench large --mode hot,offset,malloc $table --threads 2 --kernel "cr-avx512,sleef-f64-*,libmvec-f64$threaded"
  bench large-avx2 $table --isa -avx512 --kernel cr-avx2
  bench wide --len 32768 --dim 4096 --kernel cr-avx512
  bench uncertified-large --base 10001 $table --kernel cr-avx512
  bench cached $cached --threads 2 --kernel "cr-avx512$threaded"
  bench first --mode first --len 5000 --dim 512 --kernel cr-avx512
  bench fresh --mode fresh $table --kernel cr-avx512
  bench add --op add $table --kernel cr-avx512,cached
  for layout in interleaved split; do
    bench rope-$layout --op rope --layout $layout --len 4096 --heads 32 --dim 128 --kernel cr-avx512
    bench rope-long-$layout --op rope --layout $layout --base 500000 --len 131072 --heads 8 --dim 128 --kernel cr-avx512
  done
  bench rope-cache --op rope-cache --base 500000 --len 131072 --dim 128 --kernel cr-avx512
  bench rope-row --op rope --offset 1000 --len 1 --heads 32 --dim 128 --kernel cr-avx512,naive
  bench rope-rows --op rope --mode row --len 4096 --heads 32 --dim 128 --kernel cr-avx512,naive
  for dtype in bf16 f16; do bench $dtype --dtype $dtype $table --kernel cr-avx512; done
  bench ours --mode hot,fresh,malloc --len 32768 --dim 1024 --kernel cr-avx512
  record torch "$python" "$srcdir/tools/pytorch.py" 32768 1024
  record processes first_calls 512 512 cr-avx512
}
say ''
./posenc-targets "$work"/*.json
