#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the Python package: its functions against the command, NumPy and torch; the wheel, and pip.
# It takes a minute: mypy, two wheels, and imports of torch, NumPy and pip.
# shellcheck disable=SC2016,SC2154 # expressions of sh -c; the environment comes from make
. "${srcdir:-.}/tests/command.sh"

# ---- arrays in memory, for the command's functions ----

in_memory() { # PATTERN LINE: the line is refused
  POSENC_ARRAYS=$2
  export POSENC_ARRAYS
  posenc check array 9</proc/self/mem
  unset POSENC_ARRAYS
  one_line "$1"
}
for line in 'array' 'array x' 'array 9 64 f32' 'array 9 64 f31 4:16 4:4' 'array 9 64 f32 4:16 4' \
  'array 9 64 f32 4:16 4:4x' 'array 9 64 f32 -4:16 4:4'; do
  check "refused: $line" in_memory '^posenc check: array: ' "$line"
done
check 'no axis' in_memory 'its shape () has no axis' 'array 9 64 f32'
check 'rows with gaps' in_memory 'do not lie one after the other' 'array 9 64 f32 4:64 4:8'
check 'pairs with gaps' in_memory 'do not lie one after the other' 'array 9 64 f32 4:64 4:16 2:4'
check 'memory that is not there' in_memory 'array: its memory cannot be read: ' 'array 9 64 f32 4:16 4:4'
check 'another name is a file' in_memory 'array: No such file' \
  "$(printf 'arrays 9 64 f32 4:16 4:4\nb 9 64 f32 4:16 4:4')"

# ---- the record beside the text ----

"$POSENC" write --len 64 --dim 8 -o table.npy
command=check
check 'check --save' ends 0 table.npy --max-ulp 1 --save record.json
check 'prints text' says '^PASS: --max-ulp 1$'
cp record.json saved.json
check 'check --format json' ends 0 table.npy --max-ulp 1 --format json
strip_times() { sed -e '/"date"\|"load"\|"replay"\|"command"/d' "$1"; }
strip_times saved.json >saved && strip_times out >printed
check 'has what was saved' cmp -s saved printed
check 'nor does it replace what it reads' \
  is_refused '--save table.npy: it is the file to check' table.npy --save table.npy
command=identify
check 'identify --save' ends 0 table.npy --save record.json
check 'prints text' says '^layout  *interleaved'
check 'and saves the record' grep -q '"verdict": "table"' record.json
command=''

# ---- the package ----

find_numpy
if [ -z "$numpy" ] || sanitized || emulated || [ ! -e "$abs_top_builddir/.libs/libposenc.so.0" ]; then
  skip 'the Python package' 'no Python with NumPy, no shared library that it could load, or a sanitizer'
  plan
  exit $tap_failed
fi
points_of() { # of a program that prints "ok NAME", "not ok NAME"; comments follow
  grep '^#' out
  while read -r line; do
    case $line in
    'not ok '*) point 'not ok' "${line#not ok }" ;;
    'ok '*) point ok "${line#ok }" ;;
    esac
  done <out
}
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
if mypy --version >/dev/null 2>&1; then
  # Unpack names the keywords of a formula; mypy before 1.7 has it behind a switch.
  (cd "$root/python" && mypy --strict --follow-imports=skip --enable-incomplete-feature=Unpack \
    --cache-dir "$work/types" posenc) >out 2>err
  check 'the types hold' test $? -eq 0
else
  skip 'types' 'no mypy'
fi
tests_pass() { # the package of PYTHONPATH
  PYTHONPATH=$1 "$numpy" "$root/tests/python.py" "$POSENC" >out 2>err
  check 'the tests with NumPy ran' test $? -eq 0
  points_of
  if "$numpy" -c 'import torch' 2>/dev/null; then
    PYTHONPATH=$1 "$numpy" "$root/tests/python_torch.py" "$POSENC" "$root/doc/python.md" >out 2>err
    check 'the tests with torch ran' test $? -eq 0
    points_of
  else
    skip 'tensors of torch' 'no PyTorch'
  fi
}

# ---- the wheel ----

if ! patchelf --version >/dev/null 2>&1 || ! strip --version >/dev/null 2>&1; then
  skip 'the wheel' 'no patchelf, or no strip'
  POSENC_LIBRARY=$abs_top_builddir/.libs/libposenc.so.0 POSENC_COMMAND=$POSENC
  export POSENC_LIBRARY POSENC_COMMAND
  tests_pass "$root/python" # the package in the source folder
  plan
  exit $tap_failed
fi
POSENC_BUILD=$abs_top_builddir "$numpy" "$root/python/backend.py" first >out 2>err
check 'a wheel' test $? -eq 0
wheel=$(tail -n 1 out)
is_tagged() { echo "$wheel" | grep -q '^first/posenc-[0-9.]*-py3-none-manylinux_2_[0-9]*_[a-z0-9_]*\.whl$'; }
check 'for any Python 3, and a version of the C library' is_tagged
POSENC_BUILD=$abs_top_builddir "$numpy" "$root/python/backend.py" second >out 2>err
check 'another one has the same bits' cmp "first/${wheel#first/}" "second/${wheel#first/}"

cat >content.py <<'EOF'
import base64, csv, hashlib, io, re, sys, zipfile
def report(ok, name): print("ok" if ok else "not ok", name)
with zipfile.ZipFile(sys.argv[1]) as wheel:
    names = wheel.namelist()
    [record] = [name for name in names if name.endswith(".dist-info/RECORD")]
    rows = list(csv.reader(io.TextIOWrapper(wheel.open(record))))
    digests = {row[0]: (row[1], row[2]) for row in rows}
    def line(name):
        content = wheel.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"sha256={digest}", str(len(content))
    report(sorted(digests) == sorted(names), "RECORD has every file, and no other")
    report(all(digests[name] == line(name) for name in names if name != record), "with its digest and size")
    report("posenc/py.typed" in names, "it is typed")
    mode = wheel.getinfo("posenc/bin/posenc").external_attr >> 16
    report(mode & 0o111 == 0o111, "the command is executable")
    notice = wheel.read(record.replace("RECORD", "licenses/NOTICE")).decode()
    others = [name.rpartition("/")[2] for name in names if name.startswith("posenc/lib/") and "libposenc" not in name]
    told = all(f"\n{other}: " in notice for other in others)
    report(len(others) >= 3 and told, "NOTICE tells every library of others")
    libraries = [name for name in names if name.startswith(("posenc/lib/", "posenc/bin/"))]
    needed = max(int(n) for name in libraries for n in re.findall(rb"\0GLIBC_2\.(\d+)", wheel.read(name)))
    report(f"manylinux_2_{needed}_" in sys.argv[1], "the tag is that of the newest symbol")
    wheel.extractall("site")
EOF
"$numpy" content.py "$wheel" >out 2>err
check 'it can be read' test $? -eq 0
points_of
chmod +x site/posenc/bin/posenc
site/posenc/bin/posenc --version >out 2>err
check 'its command runs' says '^posenc (posenc) '
ldd site/posenc/bin/posenc | grep '=> /' | grep -v -e '/lib\(c\|m\|mvec\|dl\|rt\|pthread\)\.so' -e /ld-linux >libraries
check 'and loads the libraries of the wheel' test "$(grep -c "=> $work/site/posenc/" libraries)" -ge 3
check 'and no others' sh -c '! grep -v "=> $0/site/posenc/" libraries' "$work"
tests_pass "$work/site"

# NumPy is that of the Python of the tests, by its folder: so nothing is fetched.
if "$numpy" -c 'import ensurepip' 2>/dev/null && "$numpy" -m venv venv >out 2>err; then
  "$numpy" -c 'import os, numpy; print(os.path.dirname(os.path.dirname(numpy.__file__)))' \
    >"$(echo venv/lib/python*/site-packages)/numpy.pth"
  venv/bin/pip install --no-index --no-deps "$wheel" >out 2>err
  check 'pip installs it, without a network' test $? -eq 0
  cat >model_test.py <<'EOF'
import numpy, posenc, posenc.testing
posenc.testing.assert_accurate(posenc.table(64, 16), max_ulp=0.5)
print(posenc.identify(posenc.table(64, 16)).sentence)
EOF
  venv/bin/python model_test.py >out 2>err
  check 'a program runs there' test $? -eq 0 -a ! -s err
  check 'and tells what a table is' says '^exact or, .* base 10000, interleaved, positions 0..63'
  venv/bin/posenc --version >out 2>err
  check 'the command is there, too' says '^posenc (posenc) '
  if venv/bin/python -c 'import pytest' 2>/dev/null; then
    cat >test_model.py <<'EOF'
import numpy, posenc
from posenc.testing import assert_accurate
def test_table(): assert_accurate(posenc.table(64, 16), max_ulp=0.5)
def test_rope():
    x = numpy.ones((1, 64, 2, 16), numpy.float32)
    assert_accurate(posenc.rope(x), x=x, max_ulp=2)
def test_wrong():
    assert_accurate(posenc.table(64, 16) + 1)
EOF
    # Plugins of other packages have warnings of their own.
    PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 venv/bin/python -W error -m pytest -W error -p no:cacheprovider --doctest-modules \
      --pyargs posenc test_model.py >out 2>err
    check 'pytest: examples of the package and tests of a model, without a warning' \
      says '^=* 1 failed, 4 passed in [0-9.]*s'
    check 'what fails is shown at the line of the test' says '^test_model.py:8: AssertionError$'
  else
    skip 'pytest' 'not there'
  fi
  POSENC_BUILD=$abs_top_builddir venv/bin/pip install --no-index --no-deps --force-reinstall "$root/python" >out 2>err
  check 'pip builds it from the source, without a network' test $? -eq 0
else
  skip 'pip' 'no venv'
fi
plan
exit $tap_failed
