#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests what other repositories run: annotations of GitHub Actions, the steps of action.yml and of the example workflow.
# shellcheck disable=SC2016,SC2154 # expressions of sh -c; the environment comes from make
# shellcheck disable=SC2089,SC2090 # the action takes quotes in its lines
. "${srcdir:-.}/tests/command.sh"

# ---- annotations ----

"$POSENC" write --len 64 --dim 8 -o good.npy
"$POSENC" write --len 64 --dim 8 --base 9000 -o 'bad,1:%.npy'
"$POSENC" write --len 64 --dim 8 --kernel recipe/annotated -o near.npy
fails() { # STATUS ARGUMENT...: with only annotations on stderr
  want=$1
  shift
  posenc "$@"
  [ "$status" -eq "$want" ] && ! grep -q -v '^::error file=' err
}
annotates() { grep -q -e "$1" err; }
check 'what passes has none' fails 0 check good.npy --max-ulp 1 --github src/pe.py:12
check 'nothing is printed' test ! -s err
check 'what fails' fails 1 check near.npy --max-ulp 1 --github src/pe.py:12
check 'is annotated' \
  annotates '^::error file=src/pe\.py,line=12,title=posenc%3A near\.npy::accuracy of near\.npy, 64x8: '
check 'on one line, with the command' \
  annotates '; off by up to [0-9.e-]*%0Alikely cause: the formula agrees: .* passes%0Aposenc check near\.npy --max-ulp 1 --github '
check 'and the text is as ever' says '^FAIL: off by '
check 'special characters' fails 1 check 'bad,1:%.npy' --max-abs 1e-3 --github 'a,b:c%:7' --format json
check 'are escaped in a property' annotates '^::error file=a%2Cb%3Ac%25,line=7,title=posenc%3A bad%2C1%3A%25.npy::'
check 'and in a message' annotates '::accuracy of bad,1:%25\.npy, '
check 'JSON stays JSON' sh -c '! grep -q ::error out'
check 'a file without a line' fails 1 check near.npy --max-ulp 1 --github src/pe.py
check 'has none' annotates '^::error file=src/pe\.py,title='
check 'likewise with another colon' fails 1 check near.npy --max-ulp 1 --github C:pe.py
check 'which is a part of the name' annotates '^::error file=C%3Ape\.py,title='
printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 2), }" >nan.npy
awk 'BEGIN { for (i = 0; i < 16; i++) printf "\\000\\000\\300\\177" }' | xargs -0 printf >>nan.npy
check 'NaN without a limit' fails 1 check nan.npy --github pe.py:1
check 'are annotated, once' annotates \
  ':formula of nan.npy, 8x2: not a sinusoidal table: it has infinities or NaN among its first rows%0Aposenc check '
command=check
refused "--github '': not FILE or FILE:LINE" good.npy --github ''
refused '--github :7: not FILE or FILE:LINE' good.npy --github :7
command=''
check 'x and what was made of it' fails 1 check --op rope --x good.npy near.npy --max-ulp 1 --github rope.cu:99
check 'with the cause, if it is known' sh -c \
  '"$POSENC" write --len 64 --dim 8 --layout split -o q.npy && "$POSENC" check --op rope --x q.npy q.npy --max-ulp 2 \
    --github rope.cu:9 2>&1 | grep -q "%0Alikely cause: .*turned.*%0Aposenc check "'
for broken in 1 2 3 4 5 6 7 8 9; do cp near.npy "near$broken.npy"; done
posenc verify --kernel naive --len 64,65 --dim 8 --github kernel.c:3
check 'verify, without failures' sh -c '! grep -q ::error err'
plugin=$abs_top_builddir/tests/mutants/constants.so
if [ -e "$plugin" ]; then
  (
    export ASAN_OPTIONS="$ASAN_OPTIONS:log_path=stderr" # what mutants do is no fault of posenc's
    posenc verify --plugin "$plugin" --kernel '*' --len 64 --dim 8 --github kernel.c:3
  )
  check 'failures of kernels' annotates '^::error file=kernel\.c,line=3,title=posenc%3A [a-z0-9-]*::[a-z-]* of '
  check 'are at most ten' test "$(grep -c '^::error' err)" -le 10
else
  skip 'failures of kernels' 'no mutants'
fi

# ---- steps ----

find_numpy
if [ -z "$numpy" ] || ! "$numpy" -c 'import yaml' 2>/dev/null; then
  skip 'the action and the workflow' 'no Python with NumPy and yaml'
  plan
  exit $tap_failed
fi
cat >steps.py <<'EOF'
# steps.py FILE [NAME-OF-STEP] prints the step's script, or the names of the steps with a script, and "uses" of the
# others.
import sys, yaml
document = yaml.safe_load(open(sys.argv[1]))
steps = document["runs"]["steps"] if "runs" in document else document["jobs"]["accuracy"]["steps"]
for number, step in enumerate(steps):
    name = step.get("name", f"step {number}")
    if len(sys.argv) == 2:
        print(name if "run" in step else f"uses {step['uses']}")
    elif sys.argv[2] == name:
        assert "${{" not in step["run"], "texts of others in a script"
        print(step["run"])
EOF
step() { # FILE NAME: runs it as the runner does
  "$numpy" steps.py "$1" "$2" >script && bash -eo pipefail script >out 2>err
}
[ -e "$root/action.yml" ] && cp "$root"/examples/ci/* .
"$numpy" steps.py "$root/action.yml" >names
check 'the steps of the action' \
  test "$(tr '\n' ';' <names)" = 'Build the posenc command;Install the Python package;Check;History;'
bin=$work/bin
mkdir bin
printf '#!/bin/sh\nexec "%s" "$@"\n' "$POSENC" >bin/posenc
printf '#!/bin/sh\nexec "%s" "$@"\n' "$numpy" >bin/python3
chmod +x bin/*
PATH=$bin:$PATH
POSENC_COMMAND=$POSENC POSENC_LIBRARY=$abs_top_builddir/.libs/libposenc.so.0 PYTHONPATH=$root/python
PYTHONDONTWRITEBYTECODE=1
export PATH POSENC_COMMAND POSENC_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
check 'a command that is there is not built' step "$root/action.yml" 'Build the posenc command'
CHECKS='good.npy --max-ulp 1
near.npy --max-abs 1e-3 --github "my pe.py:3"
'
export CHECKS
check 'checks that pass' step "$root/action.yml" Check
check 'are all run' test "$(grep -c '^PASS: ' out)" -eq 2
CHECKS='near.npy --max-ulp 1 --github "my pe.py:3"
good.npy --max-ulp 1'
step "$root/action.yml" Check
check 'one that fails' test $? -eq 1
check 'does not keep the next from running' says '^PASS: '
check 'and is annotated' annotates '^::error file=my pe\.py,line=3,'

CHECKS='good.npy --max-ulp 1; touch made
*.npy --max-ulp "$(touch made)"
good.npy --max-ulp `touch made` $HOME'
step "$root/action.yml" Check
check 'nothing in a line is run or expanded' test $? -eq 2 -a ! -e made
check "posenc has its words" grep -qF 'posenc check: --max-ulp $(touch made): not' err
CHECKS="good.npy --max-ulp '1
good.npy --max-ulp 1"
step "$root/action.yml" Check
check 'a quote that is not closed is an error' test $? -eq 2
check 'and the next line is run' says '^PASS: '

workflow=posenc.yml
"$numpy" steps.py $workflow >names
check 'the workflow uses the action' grep -q '^uses OWNER/posenc@' names
check 'of this version' grep -q "^uses OWNER/posenc@v$("$POSENC" --version | sed -n '1s/.* //p')\$" names
shipped='The table that is shipped'
check 'its line is that of the function' sh -c 'sed -n 7p model.py | grep -q "^def frequencies"'
if [ -e "$POSENC_LIBRARY" ] && ! sanitized && ! emulated && "$numpy" -c 'import pytest' 2>/dev/null; then
  check 'pytest' step $workflow "The model's functions, in pytest"
  check 'two tests' says '2 passed'
  sed 's/10000\.0/500000.0/' model.py >other.py && mv other.py model.py
  step $workflow "The model's functions, in pytest"
  check 'a wrong base fails there' test $? -eq 1
  check 'with what the table is' says 'this table is .*base 500000'
  check 'and of rope, the cause' says 'likely cause *the base is 500000, not 10000$'
  step $workflow "$shipped"
  check 'and as the table that is shipped' test $? -eq 1
  check 'at its line' annotates '^::error file=model\.py,line=7,'
  cp "$root/examples/ci/model.py" .
else
  skip "the model's functions" 'no pytest, no shared library, or a sanitizer'
fi
check 'the table that is shipped' step $workflow "$shipped"
check 'its record is kept' grep -q '"schema": "posenc-check-1"' table.json
check 'and for the dashboard' step $workflow 'The same for the dashboard'
check 'in XML' grep -q '<testsuites name="posenc" tests="5" failures="0"' posenc.xml

# ---- a whole build, as by the runner ----

if [ "${POSENC_TEST_SLOW:-}" = 1 ] && git -C "$root" rev-parse >/dev/null 2>&1; then
  mkdir source
  git -C "$root" ls-files --cached --others --exclude-standard -z >files
  (cd "$root" && xargs -0 tar -cf - --) <files | tar -xf - -C source
  printf '#!/bin/sh\nexit\n' >bin/sudo && chmod +x bin/sudo # the packages are there
  rm bin/posenc
  SOURCE=$work/source FOLDER=$work/built GITHUB_PATH=$work/path
  export SOURCE FOLDER GITHUB_PATH
  check 'the action builds it' step "$root/action.yml" 'Build the posenc command'
  check 'and adds it to the path' test "$(cat path)" = "$FOLDER/bin"
  unset POSENC_COMMAND POSENC_LIBRARY PYTHONPATH LD_LIBRARY_PATH
  check 'it runs' "$FOLDER/bin/posenc" check good.npy --max-ulp 1 --save built.json
  /usr/bin/python3 -m venv --system-site-packages venv && rm bin/python3
  PATH=$work/venv/bin:$PATH
  "$numpy" steps.py "$root/action.yml" 'Install the Python package' >script
  check 'the Python package is installed' bash -eo pipefail script
  check 'and works' python3 -c 'import posenc; print(posenc.identify(posenc.table(64, 16)).sentence)'
else
  skip 'a whole build' 'POSENC_TEST_SLOW=1 does it'
fi
plan
exit $tap_failed
