#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the command with cr-opencl: without a device it is listed and skipped with the reason; with one it is verified,
# and not timed unless that is a GPU. tests/opencl.c compares its bits.
. "${srcdir:-.}/tests/command.sh"

without() { # ARGUMENT...: where no driver is installed
  OCL_ICD_VENDORS=$work/none "$POSENC" "$@" >out 2>err
  status=$?
}
lacks_device() { # REASON
  without list cr-opencl && says "runs here     no: $1" &&
    without verify --kernel cr-opencl --len 8 --dim 8 && one_line "cr-opencl cannot do this here: $1" &&
    without verify --kernel cr-opencl,naive --brief --len 8 --dim 8 && says "^ok .* - cr-opencl 8x8 # SKIP $1"
}

if "$POSENC" list cr-opencl | grep -q 'runs here  *no: posenc was built without OpenCL'; then
  check 'left out of the build' lacks_device 'posenc was built without OpenCL'
  plan
  exit 0
fi
check 'no driver' lacks_device 'there is no OpenCL platform here'

posenc list cr-opencl
if says '^  runs here     no: there is no OpenCL'; then
  skip 'with a device' 'OpenCL has none here'
  plan
  exit 0
fi
check 'it is listed' says '^  runs here     yes$'
holds() { # ARGUMENT...: every property, and no element is misrounded
  ends 0 verify --kernel cr-opencl "$@" && says '^ok .* accuracy .* exhaustive' && ! grep '^ok .* accuracy .*SKIP' out
}
check 'a table' holds --len 1000 --dim 66
check 'rope' holds --len 200 --dim 64 --heads 2 --op rope --layout split
check 'add, bf16' holds --len 200 --dim 34 --op add --dtype bf16
check 'a table at large positions' holds --len 64 --dim 32 --offset 4611686018427387000
for file in "$root"/reference/worst/base*0-d*[0-9].wc; do
  case $file in *16.wc) continue ;; esac
  check "hard cases: ${file##*/}" eval 'ends 0 verify --kernel cr-opencl --cases "$file" &&
    says "accuracy .* 0 misrounded"'
done
posenc verify --len 8 --dim 8 --brief
check 'without a name it is not selected' eval '[ $status -eq 0 ] && ! says cr-opencl'

if grep -q 'define HAVE_BENCHMARK 1' "$abs_top_builddir/config.h"; then
  posenc bench --kernel cr-opencl --len 8 --dim 8 --mode hot --repetitions 3 --min-time 0.001
  if [ $status -eq 0 ]; then
    skip 'no times of a processor' 'the device is a GPU'
  else
    check 'bench takes no times of a processor' one_line 'cr-opencl is not timed: its OpenCL device is no GPU'
    check 'nor does report' is_refused 'cr-opencl is not timed' report --kernel cr-opencl,naive --len 8 --dim 8 -o page
    posenc bench --kernel 'cr-[op]*' --len 8 --dim 8 --mode hot --repetitions 3 --min-time 0.001
    check 'a pattern leaves it out' eval \
      '[ $status -eq 0 ] && says cr-portable && ! says cr-opencl && grep -q "cr-opencl is not timed" err'
  fi
else
  skip 'times' 'no Google Benchmark'
fi
plan
