#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc verify of lists of positions and of odd dims: correct kernels pass, kernels with an error in a few
# elements fail by name, and the reported command finds the error again.
# shellcheck disable=SC2086,SC2154 # options are lists of words; the environment comes from make
command=verify
. "${srcdir:-.}/tests/command.sh"

holds() { # ARGUMENT...: all kernels pass, and elements were compared
  ends 0 "$@" && grep -q '^ok .* accuracy .*misrounded' out
}
fractions=5,-2.5,0.1,1e9,7,8,9,-1e6,1000.3,0

# ---- correct kernels ----

# A kernel makes plain tables for lists and odd dims, so that one table of a dtype takes all kernels and properties.
some='--kernel cr-portable,rotation-portable,div-term --brief'
for dtype in f32 f64 f16 bf16; do
  is_left_out || check "a list, $dtype" holds --positions $fractions --dim 34 --dtype $dtype
  for odd in pad ceil; do
    for layout in interleaved split-cs; do
      is_left_out || check "$odd, $dtype, $layout" \
        holds $some --len 300 --offset -20 --dim 33 --odd $odd --dtype $dtype --layout $layout --padding 3
    done
    is_left_out || check "a list and $odd, $dtype" \
      holds $some --positions $fractions --dim 33 --odd $odd --dtype $dtype --layout split --padding 9
  done
done
check 'a scale' holds $some --positions $fractions --dim 32 --scale 0.3
check 'a scaling' holds $some --positions $fractions --dim 32 --scaling yarn,factor=16,original=4096
check 'an attention factor' holds --brief --positions $fractions --dim 33 --odd pad --scaling none,attention=1000
check 'a rope cache' holds --positions $fractions --dim 32 --op rope-cache --kernel rotation-portable
check 'whose tables are those columns' says '^ok .* rope-cache .*: worst 0, bound 0, 1280 compared'
check 'of whole positions, by a kernel without fractions' holds --positions 5,7,1000,3 --dim 32 --kernel naive
ranges_are() { # FROM...: of errors by position
  [ "$(grep -A1 '^ *{$' out | sed -n 's/^ *"from": \([0-9]*\),$/\1/p' | xargs)" = "$*" ]
}
check 'errors by position' ends 0 --positions 300.5,1000.25,-70000 --dim 33 --odd ceil --kernel cr-portable --brief \
  --format json
check 'are those of the positions, not of rows or of places' ranges_are 256 65536
check 'errors by position on axes' ends 0 --grid h=2,w=300 --dim 64 --kernel cr-portable --brief --format json
check 'are those of positions on them' ranges_are 0 16 256
# The first rows of this sum have the largest errors, which must not hide those of the others.
check 'errors by position of add' ends 0 --op add --offset -4000 --len 4016 --dim 64 --kernel cr-portable --brief \
  --format json
check 'are the largest of each range' eval 'grep -A1 "^ *\"from\": 16,$" out | grep -q "\"max_ulp\": 1493\.63"'
check 'beyond its domain' ends 0 --positions 1e9,2e9 --dim 32 --kernel naive
check 'it is held to nothing' says 'naive accuracy .*# SKIP so far out the bound allows any value'
check 'in part beyond it' holds --positions 2e9,3,3e9 --dim 32 --kernel recurrence,naive
check 'where it refuses or is held' says 'recurrence .*# SKIP its recurrence begins at position 0'
check 'more than the budget' holds --len 5000 --dim 33 --odd ceil --kernel rotation-portable --budget 544000
check 'is a sample, of the share that tables of other kinds get' says '^ok .*: sampled 33000;'

# ---- faulty kernels ----

if [ -e "$abs_top_builddir/.libs/libposenc.so" ]; then
  cat >liars.c <<'C'
#include <math.h>
#include <posenc.h>
static const posenc_kernel *base(void) { return posenc_kernel_find("cr-portable"); }
static const char *can_do(const posenc_problem *p) { return p->dtype != POSENC_F32 ? "f32 alone" : base()->can_do(p); }
static posenc_status prepare(const posenc_problem *p, const posenc_options *o, void **c) {
  return base()->prepare(p, o, c);
}
static void release(void *c) { if (base()->release) base()->release(c); }
#define LIAR(id, condition, column, ...)                                                                \
  static void make_##id(const void *c, const posenc_problem *p, int64_t row, int64_t rows, void *out) { \
    base()->execute(c, p, row, rows, out);                                                              \
    for (int64_t r = 0; r < rows; r++)                                                                  \
      if (condition) ((float *)out)[r * p->dim + (column)] += 0x1p-10f;                                 \
  }                                                                                                     \
  static const posenc_kernel liar_##id = {.abi = POSENC_KERNEL_ABI,                                     \
                                          .isa = POSENC_ISA_GENERIC,                                    \
                                          .name = "liar-" #id,                                          \
                                          .summary = "s",                                               \
                                          .algorithm = "a",                                             \
                                          .provenance = "p",                                            \
                                          .basis = "b",                                                 \
                                          .bound = {.ulp = 0.5, .derived = true, __VA_ARGS__},          \
                                          .reproducible = true,                                         \
                                          .scales = true,                                               \
                                          .can_do = can_do,                                             \
                                          .prepare = prepare,                                           \
                                          .release = release,                                           \
                                          .execute = make_##id}
LIAR(fraction, p->scale != 1.0 && p->first + row + r == 12864, 3, .max_position = INT64_C(1) << 40); /* 50.25 × 256 */
LIAR(negative, p->first + row + r < 0, 0, .max_position = INT64_C(1) << 40);
/* The last sine of 34 columns, which is the last column of 33. */
LIAR(last, 1, p->dim - 2, .max_position = INT64_C(1) << 40);
LIAR(plan, p->scale != 1.0 && p->first < 1000, 1, .max_position = INT64_C(1) << 40);
LIAR(growth, p->scale != 1.0 && p->first + row + r == 12864, 3, .growth = 4e-6, .max_position = INT64_C(1) << 40);
LIAR(far, p->scale == 1.0 && p->first + row + r > 1000, 1, .max_position = 1000);
static _Atomic int calls; /* of several threads */
LIAR(often, ++calls % 7 == 0, 2, .max_position = INT64_C(1) << 40);
POSENC_PLUGIN(&liar_fraction, &liar_negative, &liar_last, &liar_plan, &liar_often, &liar_growth, &liar_far);
C
  if ! $CC $CFLAGS -I"$root/include" -shared -fPIC liars.c -o liars.so >log 2>&1; then
    sed 's/^/# /' log
    echo 'Bail out! liars.so does not compile'
    exit 1
  fi
  caught() { # PROPERTY WITNESS LIAR ARGUMENT...
    property=$1 witness=$2 liar=$3
    shift 3
    posenc verify --plugin ./liars.so --kernel "liar-$liar" "$@"
    [ $status -eq 1 ] && grep -q "^not ok [0-9]* - liar-$liar $property .*$witness" out
  }
  check 'one wrong fraction' caught accuracy ' 16383.6 ulp at p = 50.25, i = 1, cos:' \
    fraction --positions 50.25,7,50.125,50.00390625,-50 --dim 34
  check 'is no fraction of another unit' ends 0 --plugin ./liars.so --kernel liar-fraction --positions 50.125,7 --dim 34
  check 'an error that grows with the position, not with the number of its unit' \
    caught accuracy 'p = 50.25' growth --positions 50.25 --dim 34
  check 'what lies beyond the domain is not judged' \
    ends 0 --plugin ./liars.so --kernel liar-far --positions 5,999.5,1001,2000 --dim 34
  check 'and told' says ' accuracy .* exhaustive 136; max 32768.5 ulp at p = 1001,'
  check 'negative positions of a list' caught accuracy 'p = -7' negative --positions 5,-7,9 --dim 32
  { seq 1000 && echo -7; } >long.txt
  at='[^;]* at p = -7,'
  check 'the last of a list beyond the budget' caught accuracy "sampled 320; max ${at}[^;]*; max abs ${at}[^;]*; $at" \
    negative --positions long.txt --dim 32 --budget 160
  check 'the column that only ceil has' caught accuracy 'p = [0-9]*, i = 16' last --len 50 --dim 33 --odd ceil
  check 'also of a list' caught accuracy 'p = 0.5, i = 16' last --positions 0.5 --dim 33 --odd ceil
  check 'what another plan makes otherwise' \
    caught extrapolation 'p = ' plan --positions "1.5,$(seq -s , 77.5 93.5)" --dim 32
  check 'what is made otherwise again' caught determinism '' often --len 30 --dim 33 --odd pad
else
  skip 'kernels that break their promises there' 'no shared library here'
fi

# ---- messages ----

seq 0.5 1 99.5 >"a list.txt"
check 'a list in a file' ends 0 --kernel rotation-portable --positions 'a list.txt' --dim 16 --format json
replay=$(sed -n 's/^ *"replay": "\(posenc verify .*\)",*$/\1/p' out | sort -u)
check 'the replay names the file' test "$replay" = \
  "posenc verify --kernel rotation-portable --positions 'a list.txt' --dim 16 --seed 1 --budget 67108864"
grep '"digest": "[0-9a-f]*",$' out >before
eval "\"\$POSENC\" ${replay#posenc} --format json" >out 2>err
grep '"digest": "[0-9a-f]*",$' out >after
check 'and does it again' eval '[ -s before ] && cmp -s before after'
check 'the positions are not whole in JSON' says '^ *"position": [0-9]*\.5,$'
short='--kernel rotation-portable --positions 1.5,2 --dim 16'
check 'JUnit and TAP' eval "ends 0 $short --format junit && ends 0 $short"

command=
check 'a message names it as it was given' \
  is_refused '^posenc write: --positions @a list.txt --dim 16 --base 0.5: no kernel' \
  write --positions '@a list.txt' --dim 16 --base 0.5 -o no.npy
command=verify
refused 'cannot be combined with --positions$' --positions 5 --dim 16 --search 9
refused '^posenc verify: --explain: cannot be combined with --positions$' --positions 5 --dim 16 --explain
refused '^posenc verify: --search 9: cannot be combined with --odd pad$' --len 5 --dim 15 --odd pad --search 9
refused '^posenc verify: --positions 5,7: of add and rope, ' --positions 5,7 --dim 16 --op add
refused '^posenc verify: --odd ceil: of add, what is verified are even dims' --len 5 --dim 15 --odd ceil --op add
refused '^posenc verify: --dim 15: dim must be even; --odd pad or --odd ceil takes an odd one$' --len 5 --dim 15
refused '^posenc verify: --len 5: cannot be combined with --positions$' --positions 1 --len 5 --dim 16
refused '^posenc verify: --positions no: neither a list' --positions no --dim 16
plan
