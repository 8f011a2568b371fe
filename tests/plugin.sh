#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc --plugin: kernels of plugins are listed, verified, timed and reported like the library's own, and other
# files are refused in one line.
# It takes half a minute: plugins are compiled, verified with every property, timed and reported.
# shellcheck disable=SC2086,SC2154 # CC, CFLAGS and options are lists of words
. "${srcdir:-.}/tests/command.sh"
srcdir=$root
[ -e "$abs_top_builddir/.libs/libposenc.so" ] || skip_all 'no shared library'
build() { # NAME: NAME.so from C on standard input
  $CC $CFLAGS -I"$srcdir/include" -I. -shared -fPIC -x c - -o "$1.so" 2>log && return
  sed 's/^/# /' log
  echo "Bail out! $1.so does not compile"
  exit 1
}

# ---- files that are no plugins ----

refused() { # FILE PATTERN
  check "refused: $2" is_refused "^posenc list: --plugin $2" list --plugin "$1"
}
mkdir folder
echo text >text.so
refused missing.so 'missing.so: cannot open.*No such file'
refused libm.so.6 'libm.so.6: cannot open.*No such file'
refused '' "'': "
refused folder 'folder: '
refused text.so 'text.so: '
refused 'a
b.so' 'a?b.so: .*control characters'
refused "$(printf 'a\377.so')" '.*UTF-8'

cat >kernel.h <<'EOF'
#include <posenc.h>
static void zeros(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants, (void)row;
  for (int64_t i = 0; i < rows * problem->dim; i++) ((float *)out)[i] = 0.0f;
}
#define NAMELESS \
  .abi = POSENC_KERNEL_ABI, .isa = POSENC_ISA_GENERIC, .summary = "zeros", .algorithm = "zeros", .provenance = "here", \
  .basis = "none", .bound = {.ulp = 0.5, .max_position = 1 << 20, .derived = true}
#define ZEROS NAMELESS, .name = "zeros", .execute = zeros
EOF
build no-symbol <<EOF
int x;
EOF
refused no-symbol.so 'no-symbol.so: no plugin: .*posenc_plugin_abi'
# The pointer is invalid, so it must not be read.
build other-version <<EOF
#include <posenc.h>
#undef POSENC_KERNEL_ABI
#define POSENC_KERNEL_ABI 99u
POSENC_PLUGIN((const posenc_kernel *)1);
EOF
refused other-version.so 'other-version.so: .*version 99 of the kernel interface'
build no-list <<EOF
#include <posenc.h>
const uint32_t posenc_plugin_abi = POSENC_KERNEL_ABI;
EOF
refused no-list.so 'no-list.so: .*posenc_plugin_kernels'
build empty <<EOF
#include <posenc.h>
POSENC_PLUGIN(NULL);
EOF
refused empty.so 'empty.so: .*empty'
build undefined <<EOF
#include "kernel.h"
void nowhere(void *);
static const posenc_kernel kernel = {ZEROS, .release = nowhere};
POSENC_PLUGIN(&kernel);
EOF
refused undefined.so 'undefined.so: undefined symbol: nowhere'

refused_kernel() { # MEMBERS TEXT-OF-THE-LINE
  build kernel <<EOF
#include <math.h>
#include "kernel.h"
static const posenc_kernel kernel = {$1};
POSENC_PLUGIN(&kernel);
EOF
  refused kernel.so "kernel.so: $2"
}
refused_kernel 'ZEROS, .abi = 99' 'kernel 1: .*POSENC_KERNEL_ABI'
refused_kernel NAMELESS 'kernel 1 has no name'
refused_kernel 'NAMELESS, .name = ""' "kernel '': a name is"
refused_kernel 'NAMELESS, .name = "Upper"' 'kernel Upper: a name is'
refused_kernel 'NAMELESS, .name = "of-thirty-two-characters-exactly"' 'kernel of-.*: a name is'
refused_kernel 'NAMELESS, .name = "rotation-portable"' 'kernel rotation-portable: another kernel has that name'
refused_kernel 'NAMELESS, .name = "idle"' 'kernel idle: .*no execute'
for member in summary algorithm provenance basis; do
  refused_kernel "ZEROS, .$member = 0" "kernel zeros: .*no $member"
done
refused_kernel 'ZEROS, .summary = "\377"' 'kernel zeros: .*UTF-8'
for member in '.ulp = -1' '.abs = NAN' '.growth = INFINITY' '.max_position = -1'; do
  refused_kernel "ZEROS, .bound = {$member}" 'kernel zeros: its bound'
done

# ---- files that are plugins ----

build zeros <<EOF
#include "kernel.h"
static const posenc_kernel all = {ZEROS}, absent = {NAMELESS, .name = "absent", .absent = "it was left out"};
POSENC_PLUGIN(&all, &absent);
EOF
cp zeros.so "it's.so"
build long-double <"$srcdir/examples/plugin/kernel.c"
"$POSENC" list --format names >own
posenc list --format names --plugin long-double.so --plugin "$work/zeros.so"
printf 'long-double\nzeros\nabsent\n' | cat own - >all
check 'list has the plugins behind the library' cmp all out
posenc list --plugin zeros.so --plugin zeros.so
check 'a plugin twice is refused' grep -q 'zeros.so: kernel zeros: another kernel has that name' err
posenc list absent --plugin zeros.so
check 'an absent kernel is listed with its reason' grep -q '^  runs here     no: it was left out$' out

posenc verify --plugin long-double.so --kernel long-double --len 64 --dim 16
check 'a good kernel passes' test $status -eq 0
# A build that cannot protect or count memory skips two checks.
unseen=$(grep -c -e ' read-only .*# SKIP this build cannot' -e ' leak .*# SKIP a sanitizer' out)
check 'in all properties' grep -q "^# [1-9][0-9]* passed, 0 failed, $unseen skipped" out
posenc verify --plugin zeros.so --plugin long-double.so --kernel '[nz]*' --len 64 --dim 16
names=$(sed -n 's/^.*ok [0-9]* - \([a-z0-9-]*\) accuracy .*/\1/p' out | tr '\n' ' ')
check 'a glob selects among all kernels' test "$names" = 'naive naive-f64 zeros '
posenc verify --plugin zeros.so --plugin long-double.so --kernel '[lz]*' --len 64 --dim 16 --explain
check 'whether a kernel tells its stages is its own affair' \
  grep -q '^ok .* zeros stages 64x16 # SKIP it does not expose' out
check 'but then no one can tell where its error comes from' \
  grep -q '^# no telling where its error comes from: it does not expose' out
check 'of one that does, it is told' grep -q '^# the largest error, .* frequency .*, phase .*, trig .*, store ' out
posenc verify --plugin zeros.so --kernel zeros --len 64 --dim 16
check 'a broken promise is exit status 1' test $status -eq 1
check 'and named' grep -q '^not ok [0-9]* - zeros accuracy' out
posenc verify --kernel zeros --plugin "it's.so" --len 64 --dim 16
replay=$(sed -n 's/^# replay: posenc //p' out | head -n 1)
cp out first
eval "posenc $replay"
check 'its replay command finds the same' cmp first out
posenc verify --plugin zeros.so --kernel zeroes
check 'the nearest name may be of a plugin' grep -q "did you mean 'zeros'" err
posenc bench --plugin long-double.so --kernel long-double --len 64 --dim 16 --repetitions 3 --min-time 0.001
if grep -q 'without Google Benchmark' err; then
  skip 'bench times it' 'this build has no bench'
else
  check 'bench times it' grep -q '^64x16 *long-double' out
fi
posenc report --plugin long-double.so --kernel 'long*' --len 64 --dim 16 --repetitions 3 --min-time 0.001 -o page
if no_pages; then
  skip 'report has it' "$why"
else
  check 'report has it' grep -q 'long-double' page/report.md
  check 'and the command that makes it again' grep -q 'posenc report --plugin long-double.so' page/report.md
fi

$CXX $CFLAGS -I"$srcdir/include" -shared -fPIC -x c++ - -o c++.so 2>log <<EOF
#include <posenc.h>
static void execute(const void *, const posenc_problem *, int64_t, int64_t, void *) {}
static const posenc_kernel kernel = {POSENC_KERNEL_ABI, POSENC_ISA_GENERIC, "from-c-plus-plus", "", "", "", {}, "",
                                     false, false, false, false, false, nullptr, nullptr, nullptr, execute, nullptr};
POSENC_PLUGIN(&kernel);
EOF
posenc list --format names --plugin c++.so
check 'a plugin in C++' grep -qx from-c-plus-plus out

plan
