#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests what people store in files: axes of length 1, two tables in one array, and both arrays of --op in one file.
# shellcheck disable=SC2086 # lists of options
. "${srcdir:-.}/tests/command.sh"
takes() { # NAME STATUS ARGUMENT...
  name=$1
  shift
  check "$name" ends "$@"
}
refused() { # PATTERN ARGUMENT...
  pattern=$1
  shift
  posenc "$@"
  check "refused: $pattern" one_line "$pattern"
}

find_numpy
if [ -z "${numpy:-}" ]; then
  skip 'what is stored' 'no numpy here'
  plan
  exit
fi

# ---- axes of length 1, and two tables in one array ----

"$POSENC" write --op rope-cache --len 90 --dim 64 -o cache.npy
"$numpy" -c '
import numpy as n
c, s = n.load("cache.npy")
bent = s.copy(); bent[5, 3] += 0.25
n.save("cos", c); n.save("sin", s)
n.save("batch", n.stack([c, s])[:, None])
n.save("heads", n.stack([c, s])[None, :, :, None])
n.save("rows", n.stack([c, s], 1))
n.save("rows-bent", n.stack([c, bent], 1)[:, :, None])
n.save("deep", c[None, :, None, :, None])
n.save("three", n.stack([c, s, c]))'
for shape in batch heads rows; do
  for part in cos sin; do takes "$shape: $part" 0 check $shape.npy --part $part --max-ulp 0.51; done
done
takes 'the first half is not the second' 1 check batch.npy --part cos --positions "$(seq -s , 1 90)" --max-ulp 1
takes 'the second of two in each row' 1 check rows-bent.npy --part sin --max-ulp 1
check 'is named' says '^FAIL: off by 0.25 at row 5, column 3: '
takes 'the first of them is right' 0 check rows-bent.npy --part cos --max-ulp 1
takes 'axes of 1 all over' 0 check deep.npy --part cos --max-ulp 0.51
refused 'its shape (3, 90, 64) is not (positions, columns)' check three.npy --part cos

# ---- both arrays in one file ----

cat >pack.py <<'E'
import json, struct
def pack(name, tensors):
    head, data, at = {}, b"", 0
    for key, (array, kind) in tensors.items():
        head[key] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
        data += array.tobytes()
    head = json.dumps(head).encode()
    open(name, "wb").write(struct.pack("<Q", len(head)) + head + data)
E
PYTHONPATH=. "$numpy" -B -c '
import numpy as n
from pack import pack
c, s = n.load("cache.npy").astype("f8")
x = n.random.default_rng(1).standard_normal((1, 90, 3, 64)).astype("f4")
turn = lambda c, s: x * c[None, :, None] + n.concatenate([-x[..., 32:], x[..., :32]], -1) * s[None, :, None]
y = turn(c, s).astype("f4")
pack("both.safetensors", {"x": (x, "F32"), "o": (y, "F32"), "b": (x[0, 0], "F32")})
n.save("x", x); n.save("y", y); n.save("xf", n.asfortranarray(x))'
both='both.safetensors --op rope --layout split'
takes 'two files' 0 check y.npy --op rope --layout split --x x.npy
takes 'both by --tensor' 0 check $both --tensor x --tensor o --max-ulp 2
takes 'both by --x-tensor' 0 check $both --x both.safetensors --tensor o --x-tensor x --max-ulp 2
takes 'exchanged' 1 check $both --tensor o --tensor x --max-ulp 2
takes 'x in another file' 0 check y.npy --op rope --layout split --x both.safetensors --x-tensor x --max-ulp 2
takes 'identify' 0 identify both.safetensors --op rope --x-tensor x --tensor o
check 'prints the command that checks it' says '^posenc check both.safetensors --tensor o --x-tensor x --op rope '
takes 'an array in another order of memory' 0 check y.npy --op rope --layout split --x xf.npy --max-ulp 2
refused 'x both.safetensors: o is the result; --x-tensor tells which tensor is x$' \
  check $both --x both.safetensors --tensor o
refused 'several of its tensors can be tables, --tensor chooses: x, o, b$' check $both --x-tensor x
refused 'tensor o: a second one$' check both.safetensors --tensor x --tensor o
refused 'tensor b: a third one$' check $both --tensor x --tensor o --tensor b
refused 'x-tensor x: the first --tensor is that of x, too$' check $both --tensor x --tensor o --x-tensor x
refused 'x-tensor x: cannot be combined with --op table$' check both.safetensors --x-tensor x

# ---- angles and frequencies ----

cat >plain.json <<'E'
{"model_type": "llama", "head_dim": 64, "rope_theta": 500000.0, "max_position_embeddings": 8192}
E
sed 's/}/, "rope_scaling": {"rope_type": "linear", "factor": 4.0}}/' plain.json >linear.json
"$numpy" -c '
import numpy as n
w = 5e5 ** (-n.arange(32) / 32)
a = n.arange(600)[:, None] * w
f = "f4"
n.save("freq", w.astype(f)); n.save("freq-row", w.astype(f)[None]); n.save("freq-deep", w.astype(f)[None, :, None])
n.save("freq-f64", w); n.save("freq-linear", (w / 4).astype(f))
n.save("freq-other", n.where(n.arange(32) == 10, 1.01, 1) * w.astype(f))
n.save("freq-short", w.astype("f2"))
n.save("angles", a.astype(f)); n.save("angles-halves", n.concatenate([a, a], 1).astype(f)[:, None, None])
n.save("angles-twice", n.repeat(a, 2, 1).astype(f)); n.save("angles-f64", a)
late = n.concatenate([a, a], 1); late[300, 40] += 0.5
n.save("angles-late", late.astype(f)); n.save("angles-seven", (a + 7 * w).astype(f))
n.save("steep", n.concatenate([n.sin(a), n.cos(a)], 1) * 22.6)'
for file in freq freq-row freq-deep freq-f64 angles angles-halves angles-twice angles-f64; do
  takes "$file: identify" 0 identify $file.npy --config plain.json
  check "$file: what they are" says "^\(frequencies\|angles\); their cosines and sines: "
  takes "$file: check" 0 check $file.npy --config plain.json
  takes "$file: check with the base" 0 check $file.npy --base 500000
  takes "$file: another config" 1 check $file.npy --config linear.json
  takes "$file: another base" 1 check $file.npy --base 10000
  check "$file: its base is named" says ': the base is 500000, not 10000$'
done
takes 'frequencies within an ulp' 0 check freq.npy --base 500000 --max-ulp 1
takes 'scaled frequencies' 0 check freq-linear.npy --config linear.json
takes 'scaled frequencies, and a config without' 1 identify freq-linear.npy --config plain.json
takes 'frequencies in f16' 1 check freq-short.npy --base 500000
takes 'one frequency' 1 check freq-other.npy --base 500000
check 'is named' says ': column 10 is no part of the table$'
takes 'one angle' 1 check angles-late.npy --base 500000
check 'is found in the second copy' says ': 1 element is off, the first at row 300, column 40$'
takes 'angles from another position on' 1 check angles-seven.npy --base 500000
check 'which is named' says ': positions are 7 more$'
takes 'a table of large numbers' 0 identify steep.npy
check 'has no angles' lacks out angles
refused 'offset 3: cannot be combined with a file of frequencies$' check freq.npy --base 500000 --offset 3

plan
