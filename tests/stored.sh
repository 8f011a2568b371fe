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

cat >plain.json <<'E'
{"model_type": "llama", "head_dim": 64, "rope_theta": 500000.0, "max_position_embeddings": 8192}
E

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

# ---- the exact result, and heads side by side ----

PYTHONPATH=. "$numpy" -B -c '
import numpy as n
from pack import pack
def turn(x, c, s):
    h = c.shape[-1] // 2
    return x * c[:, None] + n.concatenate([-x[..., h:], x[..., :h]], -1) * s[:, None]
a = n.arange(40)[:, None].astype("g") * 5e5 ** (-n.arange(32) / n.longdouble(32))
c, s = n.cos(n.concatenate([a, a], 1)), n.sin(n.concatenate([a, a], 1))
x = n.random.default_rng(2).standard_normal((2, 40, 3, 64))
for kind in "f2", "f4":
    k = x.astype(kind)
    n.save("k-" + kind, k); n.save("turned-" + kind, turn(k.astype("g"), c, s).astype(kind))
    part = k.copy(); a = 5e5 ** -(n.arange(16) / n.longdouble(16)) * n.arange(40)[:, None]
    a = n.concatenate([a, a], 1); part[..., 16:48] = turn(k[..., 16:48].astype("g"), n.cos(a), n.sin(a)).astype(kind)
    n.save("part-" + kind, part)
k = n.load("k-f4.npy"); y = n.load("turned-f4.npy")
n.save("k-flat", k[0].reshape(40, 192)); n.save("y-flat", y[0].reshape(40, 192))
n.save("k-deep", k.reshape(2, 40, 192)); n.save("y-deep", y.reshape(2, 40, 192))
n.save("k-bhld", k.transpose(0, 2, 1, 3)); n.save("y-bhld", y.transpose(0, 2, 1, 3))
bent = y[0].reshape(40, 192).copy(); bent[7, 64:128] = k[0, 7, 1]; n.save("y-bent", bent)
pack("k.safetensors", {"q": (k, "F32"), "k": (k[0], "F32")})
k[1, 2, 0, 5] = n.nan; n.save("nan", k)'
turn='--op rope --layout split --base 500000'
for dtype in f2 f4; do
  takes "$dtype: written" 0 write $turn --x k-$dtype.npy -o made.npy
  takes "$dtype: is the exact result, rounded once" 0 check made.npy $turn --x k-$dtype.npy --max-ulp 0.50001
  check "$dtype: in every element" says '^misrounded  *0$'
  takes "$dtype: some columns" 0 write $turn --x k-$dtype.npy --start 16 --dim 32 -o made.npy
  takes "$dtype: the others are those of x" 0 check made.npy $turn --x k-$dtype.npy --start 16 --dim 32 --max-ulp 0.51
done
takes 'as NumPy rounds it' 0 diff made.npy part-f4.npy
takes 'turned back' 0 write $turn --inverse --x turned-f4.npy -o back.npy
takes 'is as exact' 0 check back.npy $turn --inverse --x turned-f4.npy --max-ulp 0.50001
check 'and rounded as it should be' says '^misrounded  *0$'
takes 'other axes' 0 write $turn --axes bhld --x k-bhld.npy -o made.npy
takes 'have the same result' 0 diff made.npy y-bhld.npy
takes 'by the config, from and to safetensors' 0 \
  write --op rope --config plain.json --x k.safetensors --x-tensor q -o made.safetensors
takes 'is the same' 0 diff made.safetensors turned-f4.npy
takes 'add' 0 write --op add --x k-deep.npy --offset 5 -o sum.npy
takes 'is exact, too' 0 check sum.npy --op add --x k-deep.npy --offset 5 --max-ulp 0.50001
takes 'side by side: written' 0 write $turn --heads 3 --x k-flat.npy -o made.npy
takes 'side by side: in the shape of x' 0 diff made.npy y-flat.npy
for shape in flat deep; do
  for how in '--config plain.json' "$turn --heads 3"; do
    takes "$shape, ${how%.json*}: check" 0 check y-$shape.npy --op rope --x k-$shape.npy $how --max-ulp 0.51
    takes "$shape: the result is not x" 1 check k-$shape.npy --op rope --x k-$shape.npy $how --max-ulp 0.51
  done
  takes "$shape: identify" 0 identify y-$shape.npy --op rope --x k-$shape.npy --heads 3
  check "$shape: is told how to check it" says '^posenc check .* --heads 3 --op rope .*--layout split --base 500000'
done
takes 'one head is left out of a row' 1 check y-bent.npy $turn --x k-flat.npy --heads 3 --max-ulp 0.51
check 'and where' says '^FAIL: off by [0-9.]* at l 7, h 1, d '
refused 'op rope: --x is missing, the file of what it is applied to$' write --op rope -o made.npy
refused 'len 3: cannot be combined with --op add or rope$' write $turn --x k-f4.npy --len 3 -o made.npy
refused 'dtype f16: cannot be combined with --x, whose dtype the result has$' \
  write $turn --x k-f4.npy --dtype f16 -o made.npy
refused 'output no.npy: not written: not all numbers of row 126 of x are finite$' write $turn --x nan.npy -o no.npy
check 'nothing is written' test ! -e no.npy
refused 'x k-f4.npy: cannot be combined with --op table or rope-cache$' write --len 3 --dim 4 --x k-f4.npy -o made.npy
refused 'k-flat.npy: its 192 columns are not those of 5 vectors side by side$' \
  write $turn --heads 5 --x k-flat.npy -o made.npy
refused 'heads 3: the axes have heads already$' write $turn --heads 3 --x k-f4.npy -o made.npy
refused 'output k-f4.npy: --x reads it$' write $turn --x k-f4.npy -o k-f4.npy

# ---- angles and frequencies ----

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

# ---- columns that are there twice ----

"$numpy" -c '
import numpy as n
a = n.arange(300)[:, None] * 5e5 ** (-n.arange(32) / 32)
c, s = n.cos(a).astype("f4"), n.sin(a).astype("f4")
n.save("ccss", n.concatenate([c, c, s, s], 1)); n.save("sscc", n.concatenate([s, s, c, c], 1))
n.save("ccss-each", n.concatenate([n.repeat(c, 2, 1), n.repeat(s, 2, 1)], 1))
n.save("stacked", n.stack([n.concatenate([c, c], 1), n.concatenate([s, s], 1)], 1)[:, :, None])
n.save("matrices", n.stack([c, -s, s, c], -1).reshape(1, 1, 300, 32, 2, 2))
for name, at in ("first", 8), ("copy", 40):
  t = n.concatenate([c, c, s, s], 1); t[9, at] += 0.25; n.save(name, t)
t = n.concatenate([c, c, s, s], 1); t[:, 40] = t[:, 8] = t[:, 8] * 0.9; n.save("both", t)
m = n.stack([c, s, -s, c], -1).reshape(300, 32, 2, 2); n.save("transposed", m)
n.save("bits", c.view("u4").astype("u2"))'
for file in ccss sscc ccss-each stacked matrices; do
  takes "$file: identify" 0 identify $file.npy --config plain.json
  check "$file: is told" says '^each column twice; '
  takes "$file: check" 0 check $file.npy --config plain.json --max-ulp 0.51
  takes "$file: another base" 1 check $file.npy --base 10000 --max-ulp 1000
done
for file in first copy; do
  posenc check $file.npy --config plain.json --max-ulp 0.51
  check "one of two copies, $file: fails" test $status -eq 1
  check "one of two copies, $file: where" grep -q 'row 9, column 40 is not the copy of another column' err
done
takes 'a column and its copy' 1 check both.npy --config plain.json --max-ulp 0.51
takes 'matrices that turn back' 1 check transposed.npy --config plain.json --max-ulp 0.51
refused "its dtype '<u2' is not .*; if these are the bits of bf16, numpy.save(FILE, array.view('V2')) says so$" \
  identify bits.npy

# An ulp is one of the stored dtype, and the verdict says so.
"$numpy" -c '
import numpy as n
a = n.arange(300)[:, None] * 5e5 ** (-n.arange(32) / 32)
t = n.concatenate([n.cos(a), n.sin(a)], 1).astype("f4")
bits = (t.view("u4") + 0x7fff + ((t.view("u4") >> 16) & 1)) >> 16
n.save("brain", bits.astype("u2").view("V2")); n.save("wider", (bits << 16).astype("u4").view("f4"))'
takes 'an ulp of bf16' 0 check brain.npy --config plain.json --layout split-cs --max-ulp 0.51
check 'is told' says '^PASS: --max-ulp 0.51 of bf16$'
takes 'of values of bf16 in f32 it is one of f32' 1 check wider.npy --config plain.json --layout split-cs --max-ulp 0.51
check 'as is told' says '^ *--max-ulp 0.51 of f32: [0-9]* of 19200 beyond the bound'

# Two tables on an axis of 2, wherever it is: of a rope, the cosines are the first, unless --layout says otherwise.
"$numpy" -c '
import numpy as n
a = n.arange(300)[:, None] * 5e5 ** (-n.arange(32) / 32)
c, s = n.cos(a).astype("f4"), n.sin(a).astype("f4")
twice = lambda x: n.concatenate([x, x], 1)
each = lambda x: n.repeat(x, 2, 1)
for name, f in ("half", lambda x: x), ("twice", twice), ("each", each):
  for axis in 0, 1:
    for order, (x, y) in ("cs", (c, s)), ("sc", (s, c)):
      n.save(f"{order}-{name}-{axis}", n.stack([f(x), f(y)], axis))
n.save("cs-half-2", n.stack([c, s], 2)); n.save("sc-half-2", n.stack([s, c], 2)); n.save("complex", c + 1j * s)'
for stack in half-0 half-1 twice-0 twice-1 each-0 each-1 half-2; do
  [ $stack = half-2 ] && layout=interleaved || layout=split
  takes "cosines, sines: $stack" 0 check cs-$stack.npy --config plain.json
  takes "sines, cosines: $stack" 1 check sc-$stack.npy --config plain.json
  check 'are named' says "^FAIL: config: the layout is $layout, not $layout-cs"
  takes 'and taken if they are asked for' 0 check sc-$stack.npy --config plain.json --layout $layout
done
takes 'complex numbers' 0 check complex.npy --config plain.json

# ---- GGUF and ONNX ----

"$numpy" -c '
import numpy as n, struct
t = n.concatenate([n.load("ccss.npy")[:, :32], n.load("ccss.npy")[:, 64:96]], 1)
text = lambda x: struct.pack("<Q", len(x)) + x.encode()
bits = ((t.view("u4") + 0x7fff + ((t.view("u4") >> 16) & 1)) >> 16).astype("u2")
tensors = {"pe": (t, 0), "half": (t.astype("f2"), 1), "brain": (bits, 30), "blocks": (t, 8),
           "wide": (t.astype("f8"), 28),
           "inv": ((5e5 ** (-n.arange(32) / 32)).astype("f4"), 0)}
head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1) + text("general.architecture") + struct.pack("<I", 8)
head += text("llama")
data = b""
for name, (a, kind) in tensors.items():
  head += text(name) + struct.pack("<I", a.ndim) + b"".join(struct.pack("<Q", x) for x in a.shape[::-1])
  head += struct.pack("<IQ", kind, len(data)); data += a.tobytes() + bytes(-a.nbytes % 32)
whole = head + bytes(-len(head) % 32) + data
open("m.gguf", "wb").write(whole); open("cut.gguf", "wb").write(whole[:-200000])
def changed(name, old, new):
  assert whole.count(old) == 1
  open(name + ".gguf", "wb").write(whole.replace(old, new))
changed("odd", struct.pack("<IQ", 30, t.nbytes * 3 // 2), struct.pack("<IQ", 30, t.nbytes * 3 // 2 + 1))
changed("twice", text("wide"), text("half")); changed("nul", text("wide"), text("wi\0e"))
key = text("general.architecture") + struct.pack("<I", 8) + text("llama")
changed("unit", key, text("general.alignment") + struct.pack("<II", 4, 12))
open("m.onnx", "wb").write(b"\x08\x08\x12\x07pytorch:\0")'
for tensor in pe half brain inv; do
  takes "GGUF: $tensor" 0 check m.gguf --tensor $tensor --base 500000 --layout split-cs --max-ulp 1
done
takes 'GGUF: identify' 0 identify m.gguf --tensor wide --config plain.json
refused 'm.gguf: several of its tensors can be tables, --tensor chooses: pe, half, brain, wide$' identify m.gguf
refused 'm.gguf: tensor blocks: its dtype quantized is not F16, BF16, F32 or F64$' check m.gguf --tensor blocks
refused 'm.gguf: no tensor nope; it has pe, half, brain, blocks, wide, inv$' check m.gguf --tensor nope
refused 'cut.gguf: tensor wide is not all in the file$' check cut.gguf --tensor wide
refused 'odd.gguf: the data of a tensor begin at no multiple of 32 bytes$' check odd.gguf --tensor brain
refused 'twice.gguf: two tensors have one name$' check twice.gguf --tensor half
refused 'nul.gguf: a name has a NUL$' check nul.gguf --tensor pe
refused 'unit.gguf: general.alignment: not a multiple of 8, at most 65536$' check unit.gguf --tensor pe
refused 'm.onnx: an ONNX model, of which python3 -c .*onnx.load' check m.onnx

# The lines of Python that convert other files are run, where their packages are.
converts() { # PYTHON FILE NAME: runs the line that the refusal of FILE has
  rm -f table.npy
  posenc check $2
  [ $status -eq 2 ] && sed 's/.*python3 -c "\(.*\)" writes.*/\1/' err | sed "s/FILE/$2/; s/NAME/$3/" >line.py &&
    "$1" -W ignore line.py && ends 0 check table.npy --config plain.json --layout split-cs
}
"$numpy" -c '
import numpy as n
a = n.arange(300)[:, None] * 5e5 ** (-n.arange(32) / 32)
t = n.concatenate([n.cos(a), n.sin(a)], 1).astype("f4")
n.save("t", t); n.savez("a.npz", other=t[:9], pe=t); n.savez_compressed("b.npz", pe=t)'
check '.npz' converts "$numpy" a.npz pe
check 'compressed .npz' converts "$numpy" b.npz pe
torch=
for python in "$numpy" /usr/bin/python3; do
  [ -z "$torch" ] && "$python" -c 'import numpy, torch' 2>/dev/null && torch=$python
done
if [ -n "$torch" ]; then
  cat >make.py <<'E'
import numpy, torch
t = torch.from_numpy(numpy.load("t.npy"))
all = {"pe": t, "brain": t.bfloat16(), "half": t.half(), "own": torch.nn.Parameter(t), "turned": t.T.contiguous().T}
torch.save(all, "m.pt"); torch.save(all, "old.bin", _use_new_zipfile_serialization=False); torch.save(t, "one.pt")
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("pe", t)
    def forward(self, x):
        return x + self.pe
torch.jit.script(M()).save("script.pt")
E
  "$torch" -W ignore make.py # whose source torch.jit.script reads
  for name in pe brain half own turned; do
    for file in m.pt old.bin; do check "$file: $name" converts "$torch" $file $name; done
  done
  check 'a tensor alone' converts "$torch" one.pt pe
  check 'TorchScript' converts "$torch" script.pt pe
else
  skip 'files of PyTorch' 'no PyTorch here'
fi
printf 'PK\3\4%0100d' 0 >other.zip
refused 'other.zip: an archive, of no kind that is known here$' check other.zip

plan
