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
  grep -q '^ok .* zeros stages 64x16 # SKIP it exposes no stages' out
check 'but then no one can tell where its error comes from' \
  grep -q '^# no telling where its error comes from: it exposes no stages' out
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

# ---- a bound to propose ----

cat >measured.c <<EOF
#include <posenc.h>

#include <math.h>
#ifndef TERMS
#define TERMS .bound = {.max_position = INT64_MAX}, .basis = "none yet"
#endif
/* Sines of angles in f32, whose errors grow with the position. */
static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  float *table = (float *)out;
  (void)constants;
  for (int64_t r = 0; r < rows; r++, table += problem->dim)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const double x = -(double)i / ((double)problem->dim / 2 - problem->shift);
      const float angle = (float)(problem->first + row + r) * (float)pow(problem->base, x);
      table[at.sin + i * at.step] = sinf(angle) + WRONG;
      table[at.cos + i * at.step] = cosf(angle);
    }
}
static const char *can_do(const posenc_problem *problem) {
  return problem->dtype == POSENC_F32 ? 0 : "it writes f32 only";
}
static const posenc_kernel kernel = {.abi = POSENC_KERNEL_ABI, .isa = POSENC_ISA_GENERIC, .name = "narrow",
                                     .summary = "", .algorithm = "", .provenance = "", TERMS, .can_do = can_do,
                                     .execute = execute};
POSENC_PLUGIN(&kernel);
EOF
measured() { # NAME WRONG: makes the plugin with the contract in terms.h
  printf '#define WRONG %s\n' "$2" >"$1.c"
  [ ! -e terms.h ] || printf '#include "terms.h"\n' >>"$1.c"
  cat measured.c >>"$1.c"
  $CC $CFLAGS -I"$srcdir/include" -I. -shared -fPIC "$1.c" -o "$1.so" -L"$abs_top_builddir/.libs" -lposenc -lm 2>log
}
size='--len 600 --dim 32'
measured unbound 0
posenc verify --plugin unbound.so --kernel narrow $size
check 'a kernel without a bound is not trusted' test $status -eq 1
check 'but breaks no contract' grep -q '^# [1-9][0-9]* passed, 0 failed, ' out
unjudged='not judged: the contract has no bound, which posenc verify --propose-bound measures'
for property in accuracy pair-norm rotation search; do
  check "its $property is not judged" grep -q "^ok .* narrow $property 600x32 # SKIP $unjudged\$" out
done
check 'which is told' grep -qx "# MISTRUSTED: narrow on 600x32: its errors were $unjudged" out
posenc verify --plugin unbound.so --kernel narrow $size --format json -o unbound.json
check 'of JSON on stderr' eval "[ $status -eq 1 ] && contains err 'narrow on 600x32: its errors were $unjudged'"
posenc list narrow --plugin unbound.so
check 'list says that there is none' grep -qx '  bound         none' out
posenc verify --plugin unbound.so --kernel narrow $size --propose-bound --format text
check 'but a bound can be proposed, which it keeps' test $status -eq 0
{ echo '#define TERMS \' && sed -n 's/^    \(\.b[a-z]* = .*\)/\1 \\/p' out | sed '$s/, \\$//'; } >terms.h
proposed=$(sed -n 's/^ *\(\.bound = .*\)/\1/p' out)
check 'marked as measured' grep -q '\.bound = {\.ulp = 1\.0, .*, \.derived = false}, \\$' terms.h
check 'of which the basis tells how' \
  grep -q '\.basis = "measured by .*: twice the errors up to position [0-9]*; .* of f32 up to .*, seed 1"$' terms.h
check 'which is that of the domain' \
  eval 'm=$(sed -n "s/.*max_position = \([0-9]*\).*/\1/p" terms.h) && grep -q "up to position $m;" terms.h'
posenc verify --plugin unbound.so --kernel narrow $size --propose-bound
check 'TAP has it, too' grep -qxF "#     $proposed" out
if has_perl_json; then
  posenc verify --plugin unbound.so --kernel narrow $size --propose-bound --format json
  check 'and JSON, where the contract is the proposed one' parse '
    my $p = $j->{proposals}[0]; my $b = $p->{bound};
    exit !("$p->{contract}\n" eq "'"$proposed"'\n" && $j->{kernels}[0]{bound}{growth} == $b->{growth}
           && $b->{growth} > 1e-8 && $b->{growth} < 1e-6 && $b->{abs} < 1e-5 && !$b->{derived} && $p->{elements} > 100000)' <out
else
  skip 'and JSON, where the contract is the proposed one' 'perl has no JSON::PP'
fi
measured bound 0
holds() {
  for seed in 2 3 5 random; do
    posenc verify --plugin bound.so --kernel narrow $size --search 2000 --seed $seed && [ $status -eq 0 ] || return 1
  done
}
check 'in the contract, it holds with other seeds' holds
measured changed '(row + r == 500 ? 5e-4F : 0.0F)'
posenc verify --plugin changed.so --kernel narrow $size
check 'and finds an error that was not there' test $status -eq 1
rm terms.h
measured far '(problem->first + row + r > 100000 ? 1e30F : 0.0F)'
posenc verify --plugin far.so --kernel narrow $size --propose-bound --format text
check 'the domain ends where any value would be allowed' \
  eval 'm=$(sed -n "s/.*max_position = \([0-9]*\).*/\1/p" out) && [ "$m" -ge 1 ] && [ "$m" -lt 100000 ]'
posenc verify --plugin far.so --kernel narrow --len 10 --dim 32 --offset 200000 --propose-bound --format text
check 'which must have the rows of the table' eval '[ $status -eq 1 ] &&
  grep -q "^no bound to propose for narrow: .* from position [0-9]* on, and rows of the table are at 200009$" out'
posenc verify --plugin unbound.so --kernel narrow --len 10 --dim 32 --offset -200 --search 0 --propose-bound \
  --format text
check 'rows before 0 have their distance' eval '[ $status -eq 0 ] && grep -q "max_position = 200," out'
measured over 1e-3F
posenc verify --plugin over.so --kernel narrow $size
check 'a value just above 1 is not told without a bound' grep -q '^# [1-9][0-9]* passed, 0 failed, ' out
measured values 3.0F
posenc verify --plugin values.so --kernel narrow $size
check 'what is no sine is told without a bound, too' grep -q '^not ok .* narrow bounded ' out
measured wrong 3.0F
posenc verify --plugin wrong.so --kernel narrow $size --propose-bound --format text
check 'errors as large as values' test $status -eq 1
check 'are no crash' eval '! grep -q survival out'
check 'have no bound' \
  grep -qx 'no bound to propose for narrow: its errors near position 0 are as large as the values' out
printf '#define TERMS .bound = {.ulp = 1, .growth = 1e-6, .max_position = 5}, .basis = ""\n' >terms.h
measured short 0
posenc verify --plugin short.so --kernel narrow $size
check 'a domain of few positions' eval '[ $status -eq 0 ] && grep -q "SKIP its bound is for too few positions" out'
rm terms.h
posenc verify --plugin wrong.so --kernel narrow,naive $size --propose-bound --format junit
check 'JUnit has both' eval '[ $status -eq 1 ] && grep -q "name=\"proposal\" classname=\"narrow\"><failure" out &&
  grep -q "name=\"proposal\" classname=\"naive\"><system-out>.bound = {.ulp = 1.0," out'
measured ends '(problem->first + row + r > 50000 ? (float)*(volatile int *)0 : 0.0F)'
posenc verify --plugin ends.so --kernel narrow $size --propose-bound --format text
check 'a crash in the search' eval '[ $status -eq 1 ] && grep -q "its process ended before all was measured" out'
sed 's/== POSENC_F32 ? 0 : "it writes f32 only"/== POSENC_F64 ? 0 : "it writes f64 only"/
  s/float/double/g; s/sinf/sin/; s/cosf/cos/; s/"narrow"/"wide"/' measured.c >swap
mv measured.c narrow.c
mv swap measured.c
measured wide 0
mv narrow.c measured.c
posenc verify --plugin wide.so --kernel wide $size --propose-bound --format text
check 'a kernel of f64 alone' eval '[ $status -eq 0 ] && grep -q " elements of f64 up to " out'
posenc verify --kernel naive $size --base 0.5 --propose-bound
check 'a base below 1' one_line '^posenc verify: --propose-bound: needs a table '
printf '#define TERMS .bound = {.abs = 1e-3, .max_position = INT64_MAX, .derived = true}, .basis = ""\n' >terms.h
measured unfounded 0
posenc verify --plugin unfounded.so --kernel narrow $size --format text
check 'a bound that fails far out' grep -q '^FAIL  narrow, search of 600x32: ' out
check 'is no fault of the rows of the shape' eval '! grep -q "accuracy\|wrong already" out'
check 'what is skipped says so' grep -qx 'SKIP  narrow, domain of 600x32: search failed already' out
printf '#define TERMS .bound = {.abs = 1e-7, .max_position = INT64_MAX, .derived = true}, .basis = ""\n' >terms.h
measured unkept 0
posenc verify --plugin unkept.so --kernel narrow $size --format text
check 'that of one wrong in the table' grep -qx 'SKIP  narrow, domain of 600x32: accuracy failed already' out
posenc verify --propose-bound
check 'without --kernel' one_line '^posenc verify: --propose-bound: needs --kernel$'
posenc verify --kernel naive --propose-bound --save b
check 'with a baseline' one_line '--save b: cannot be combined with --propose-bound$'

# ---- long names ----

long=a-name-of-31-characters-at-most
sed "s/\"narrow\"/\"$long\"/" measured.c >swap && mv swap measured.c
printf '#define TERMS .bound = {.ulp = 1, .growth = 1e-6, .max_position = 4096}, .basis = ""\n' >terms.h
measured long 0
aligned() { # PATTERN: two fields of every line that has the first, by this pattern of sed, begin at one column
  sed -n "s/$1.*/\\1/p" out | awk '
    NR > 1 && length != before { bad = 1 }
    { before = length }
    END { exit bad || NR < 2 }'
}
kernels="naive,$long"
posenc list --plugin long.so
check 'list holds a long name' aligned "^\\($long  *\\|naive  *\\|KERNEL  *\\)[0-9nL]"
posenc verify --plugin long.so --kernel $kernels --len 64 --dim 8 --format text
check 'so does verify' aligned "^\\(\\($long\\|naive\\|kernel\\)  *[0-9a-z]*\\)  *"
timed() { "$POSENC" bench --kernel naive --len 8 --dim 4 2>&1 | grep -qv 'without Google Benchmark'; }
if timed; then
  posenc bench --plugin long.so --kernel $kernels --len 64 --dim 8 --repetitions 3 --min-time 0.001
  check 'and bench' aligned "^\\([^ ]*  *\\($long\\|naive\\|kernel\\)  *[^ ]*\\)  *"
  posenc choose --plugin long.so --kernel $kernels --len 64 --dim 8 --max-ulp 1e9
  check 'and choose' aligned "^\\([ *] \\($long\\|naive\\|kernel\\)  *[^ ]*\\)  *"
fi

# ---- other commands ----

posenc bench --plugin long-double.so --kernel long-double --len 64 --dim 16 --repetitions 3 --min-time 0.001
if grep -q 'without Google Benchmark' err; then
  skip 'bench times it' 'this build has no bench'
else
  check 'bench times it' grep -q '^64x16 *long-double' out
fi
# Within a time, there is no profile of all rows below 2^20, which takes 20 s of long doubles.
posenc report --plugin long-double.so --kernel 'long*' --len 64 --dim 16 --budget 1s --repetitions 3 \
  --min-time 0.001 -o page
if no_pages; then
  skip 'report has it' "$why"
else
  check 'report has it' grep -q 'long-double' page/report.md
  check 'with the lines of C that take it' grep -q 'options.kernel = posenc_plugin_kernels\[0\]; ' page/report.md
  check 'and the command that makes it again' grep -q 'posenc report --plugin long-double.so' page/report.md
fi

$CXX $CFLAGS -I"$srcdir/include" -shared -fPIC -x c++ - -o c++.so 2>log <<EOF
#include <posenc.h>
static void execute(const void *, const posenc_problem *, int64_t, int64_t, void *) {}
static const posenc_kernel kernel = {POSENC_KERNEL_ABI, POSENC_ISA_GENERIC, "from-c-plus-plus", "", "", "", {}, "",
                                     false, false, false, false, false, false, nullptr,
                                     nullptr, nullptr, execute, nullptr};
POSENC_PLUGIN(&kernel);
EOF
posenc list --format names --plugin c++.so
check 'a plugin in C++' grep -qx from-c-plus-plus out

plan
