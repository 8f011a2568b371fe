#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests tools/platforms.sh, which makes one table of the accuracy on several platforms: what is measured, kept, skipped
# and wrong.
# Touched by: tools/platforms.sh tests/hosts.sh tests/hosts.def lib/simd/tiers.def reports
# shellcheck disable=SC2154,SC2317
. "${srcdir:-.}/tests/command.sh"
! emulated || skip_all 'the tiers of a processor are those of this machine'
mkdir build && cd build || exit 99
cat >posenc <<END
#!/bin/sh
exec "$POSENC" "\$@"
END
chmod +x posenc
platforms() { # STATUS PLATFORM...
  want=$1
  shift
  PLATFORMS=$* KERNELS='cr-portable,recipe/annotated' ELEMENTS=50 srcdir=$root sh "$root/tools/platforms.sh" >out 2>err
  [ $? -eq "$want" ]
}
diagnose() { cat out err 2>/dev/null | sed 's/^/# /' | head -n 20; }
row='^| `cr-portable` | f16 | .* misrounded | .* misrounded |$'
platforms 2 generic
! grep -q gnuplot out err || skip_all 'no gnuplot here'
check 'one platform is no table' contains err 'accuracy-platforms: one platform alone: the table takes two'
check 'but measured' contains out 'ok   generic'
KEPT=$PWD/other.json
export KEPT
sed 's/"cpu":"[^"]*"/"cpu":"abacus"/' platforms/generic/report.json >other.json
check 'a report that was kept' platforms 0 generic
check 'stands beside it' eval 'grep -q "^| kernel | dtype | generic | abacus |" platforms/all/report.md'
check 'in each dtype' grep -q "$row" platforms/all/report.md
check 'recipes, too' grep -q '^| `recipe/annotated` | bf16 | ' platforms/all/report.md
check 'with the command of each cell' grep -q '^| `cr-portable` | f64 | generic | `posenc verify ' platforms/all/report.md
sed 's/"misrounded":0/"misrounded":1/' other.json >wrong.json
KEPT=$PWD/wrong.json
check 'a misrounded element fails' platforms 1 generic
check 'and is red' contains platforms/all/index.html 'class="wrong"'
KEPT=$PWD/other.json
cp -r platforms/generic platforms/neon
touch -d '2 days ago' platforms/neon/report.json
sed -i 's/"cpu":"[^"]*"/"cpu":"neon"/; s/"date":"[^"]*"/"date":"2026-01-02T00:00:00Z"/g' platforms/neon/report.json
touch -d '2 days ago' platforms/neon/report.json
if "$POSENC" list cr-neon | grep -q 'runs here *yes'; then skip 'an older record' 'NEON is here'; else
  check 'what this machine cannot run' platforms 0 generic neon
  check 'is skipped, with the reason' grep -q '^SKIP neon: ..' out
  check 'and its older record taken' contains out 'kept neon, of 2026-01-02'
  check 'in the order of the list' grep -q '^| kernel | dtype | generic | neon | abacus |' platforms/all/report.md
fi
mkdir none
for program in sh sed awk tr paste grep tail head mkdir cat env basename dirname gnuplot; do
  ln -s "$(command -v $program)" none
done
without_compilers() { (PATH=$PWD/none && export PATH && platforms 0 generic s390x); }
check 'a machine without its compiler' without_compilers
check 'is skipped, too' contains out 'SKIP s390x: no s390x-linux-gnu-gcc here'
check 'none of that name' platforms 2 generic nowhere
check 'is refused' contains err "accuracy-platforms: no platform 'nowhere'"
missing() { (PACKAGES=none/peers.json && export PACKAGES && platforms 2 generic); }
check 'a file of packages that is not there' missing
check 'is told before anything is measured' contains err "accuracy-platforms: no file 'none/peers.json'"
plan
exit "$tap_failed"
