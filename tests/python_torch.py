# SPDX-License-Identifier: MIT
"""The Python package with tensors of torch, and the examples of doc/python.md: python_torch.py POSENC DOCUMENT. Prints
as python.py."""

import os
import pickle
import re
import sys
import tempfile

import numpy as np
import torch

import posenc
import posenc.testing
from posenc import _arrays
from python import raises, report, same, written

DOCUMENT = sys.argv[2]


def bits(tensor):
    """Of a tensor, whose dtype NumPy may not have."""
    wide = {2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()]
    return tensor.contiguous().view(wide).numpy()


def check_document():
    """The examples of doc/python.md run, in its order, and the message is the one shown."""
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)[:3]
    q = torch.randn(2, 64, 4, 32)

    class model:
        class pos_encoder:
            pe = posenc.table(50, 32, shift=1, layout="split", dtype=torch.float32)

        table = staticmethod(posenc.table)
        rope = staticmethod(lambda x: posenc.rope(x, layout="split"))

    torch.save({"pos_encoder": {"pe": model.pos_encoder.pe}}, "model.pt")
    names = {"torch": torch, "model": model, "buffer": np.zeros((2048, 256), np.float32), "q": q, "x": q}
    names |= {"prompt": 5, "step": torch.randn(2, 1, 32, 128).bfloat16(), "steps": torch.randn(3, 32, 128).bfloat16()}
    for block in blocks:
        if "axes=" in block:  # the same q cannot have its axes in both orders
            block = block.replace("posenc.rope(q, axes", "q = q.transpose(1, 2).contiguous()\nposenc.rope(q, axes")
        if "turned" in block:
            names["q"], names["turned"] = q, posenc.rope(q, layout="split")
        exec(block, names)  # pylint: disable=exec-used
    names["test_table"]()
    names["q"] = q
    names["test_rope"]()
    report(names["found"].ok, "the examples of the document run")
    shown = re.search(r"^AssertionError: (.*?)^```$", text, re.M | re.S)[1].splitlines()
    try:
        posenc.testing.assert_accurate(posenc.table(2048, 128, base=500000))
    except AssertionError as error:
        said = str(error).splitlines()
    alike = [line == there or line.endswith("…") and there.startswith(line[:-1]) for line, there in zip(shown, said)]
    report(len(alike) == 4 and all(alike), "and its message is what is raised")


def check_quick(x):
    """Packed tensors, which are not looked at, and others of the same dtype and shape."""
    look, looked = _arrays.memory, []
    _arrays.memory = lambda *arguments, **named: looked.append(arguments) or look(*arguments, **named)
    for kind in (torch.float32, torch.bfloat16):
        mine = x.to(kind)
        plan = posenc.Plan("rope", 40, 32, heads=4, dtype=kind)
        wanted = [posenc.rope(mine, offset=3), plan(mine, row=3), posenc.rope(mine, offset=3, out=mine.clone())]
        report(not looked, f"packed tensors of {kind} are not looked at")
        beside = mine.repeat_interleave(2, 0)[::2]
        wanted += [posenc.rope(beside, offset=3), plan(beside, row=3)]
        report(looked, "others are")
        report(all(torch.equal(one, wanted[0]) for one in wanted), "with the same bits")
        looked.clear()
    _arrays.memory = look
    wanted, plan = posenc.rope(x), posenc.Plan("rope", 40, 32, heads=4)
    for call in (posenc.rope, plan):
        report(torch.equal(call(torch._neg_view(-x)), wanted), "a view that torch negates, packed")
        raises(ValueError, "^x: a view that torch negates", call, view := torch._neg_view(-x), out=view)
        wants = x.clone().requires_grad_()
        raises(ValueError, "^x: requires grad", call, wants)
        with torch.no_grad():
            report(torch.equal(call(wants), wanted), "that requires grad, while there is none")
        raises(ValueError, "^x: a tensor on meta", call, x.to("meta"))
        raises(TypeError, "^x: a tensor of layout torch.sparse_coo", call, x.to_sparse())
        apart = torch.zeros_like(x).transpose(0, 1).contiguous().transpose(0, 1)
        report(torch.equal(call(x, out=apart), wanted), "out, of other strides")
        report(call(x[:, :0]).shape == (2, 0, 4, 32), "no positions")
        raises(ValueError, "^out: not as x", call, x, out=x.numpy())
        raises(ValueError, "^out: not as x", call, x.numpy(), out=x)


class Evil:
    def __reduce__(self):
        return (os.mkdir, ("run by pickle",))


def check_torch():
    for dtype, name in ((torch.float32, "f32"), (torch.float64, "f64"), (torch.float16, "f16")):
        report(same(posenc.table(70, 32, dtype=dtype).numpy(), posenc.table(70, 32, dtype=name)), f"a table of {dtype}")
    wanted = written("--len", "70", "--dim", "32", "--dtype", "bf16")
    got = posenc.table(70, 32, dtype=torch.bfloat16)
    report(
        got.dtype == torch.bfloat16 and bits(got).tobytes() == wanted.tobytes(), "a table of bf16: the command's bits"
    )
    out = torch.zeros(70, 40, dtype=torch.bfloat16)
    posenc.table(70, 32, out=out[:, 4:36])
    report(torch.equal(out[:, 4:36], got) and not out[:, :4].any(), "bf16 into a view")
    report(posenc.check(out[:, 4:36], max_ulp=0.5).ok, "which check accepts")
    report(not posenc.check(out[:, 3:35], max_ulp=0.5).ok, "but no other")
    report(_arrays.as_read("array", out[:, 4:36]).address == out[:, 4:36].data_ptr(), "and reads where it is")
    report("bf16" in posenc.identify(got).sentence, "identify knows that they are bf16")
    report(posenc.check(got.half(), max_abs=0.004).ok, "f16")
    cos, sin = posenc.rope_cache(70, 32, dtype=torch.float32)
    report(isinstance(cos, torch.Tensor) and same(cos.numpy(), posenc.rope_cache(70, 32)[0]), "a rope cache")

    x = torch.randn(2, 30, 4, 32)
    wanted = posenc.rope(x, layout="split")
    report(isinstance(wanted, torch.Tensor) and same(wanted.numpy(), posenc.rope(x.numpy(), layout="split")), "rope")
    report(
        torch.equal(posenc.rope(x.transpose(1, 2), axes="bhld", layout="split").transpose(1, 2), wanted),
        "of a transposed view",
    )
    report(torch.equal(posenc.rope(x.clone(), layout="split", out=x.clone()), wanted), "out")
    half = x.bfloat16()
    report(posenc.check(posenc.rope(half), x=half, max_ulp=1).ok, "rope in bf16, by check")
    report(
        torch.equal(posenc.add(half), (half.float() + posenc.table(30, 32, dtype=torch.float32)[:, None]).bfloat16()),
        "add in bf16",
    )
    plan = posenc.Plan("rope", 4096, 32, dtype=torch.bfloat16, heads=4)
    rows = torch.arange(100, 160, 2)
    report(torch.equal(plan(half, rows=rows), posenc.rope(half, positions=rows)), "rows of a tensor, by a kept plan")
    raises(ValueError, "^x: requires grad", plan, torch.nn.Parameter(half))
    report(torch.equal(posenc.rope(half, dim=16)[..., 16:], half[..., 16:]), "a part in bf16")
    pairs = torch.view_as_complex(posenc.table(70, 32, dtype=torch.float32, layout="interleaved-cs").reshape(70, 16, 2))
    report(posenc.check(pairs, layout="interleaved-cs", max_ulp=0.5).ok, "complex numbers")
    report(not posenc.check(pairs.conj(), layout="interleaved-cs", max_ulp=0.5).ok, "their conjugates")
    report(posenc.check(torch.nn.Parameter(got.float()), max_abs=0.01).ok, "a parameter")
    raises(ValueError, "^x: requires grad", posenc.rope, torch.nn.Parameter(x))
    negated = torch.randn(30, 16, dtype=torch.complex64).conj().imag
    raises(ValueError, "^x: a view that torch negates", posenc.add, negated, out=negated)
    report(torch.equal(posenc.add(negated), posenc.add(negated.clone())), "but it can be read")
    raises(ValueError, "^out: requires grad", posenc.add, x.detach(), out=torch.nn.Parameter(x))
    raises(ValueError, "^out: not as x", posenc.add, x, out=x.numpy())
    raises(ValueError, "^array: a tensor on meta", posenc.check, torch.zeros(4, 6, device="meta"))
    raises(TypeError, "^array: its dtype is int32", posenc.check, torch.zeros(4, 6, dtype=torch.int32))
    check_quick(x)
    torch.save({"encoder": {"pe": got, "steps": 3}}, "model.pt")
    report(posenc.check("model.pt", max_ulp=0.5).ok, ".pt of one tensor")
    torch.save({"encoder": [{"pe": got}, x], "bias": x}, "two.pt")
    report(posenc.identify("two.pt", tensor="encoder.0.pe").ok, "a tensor of a .pt by its name")
    raises(ValueError, "tensor=None: two.pt has bias, encoder.0.pe, encoder.1", posenc.check, "two.pt")
    with open("evil.pt", "wb") as file:
        pickle.dump(Evil(), file)
    raises(Exception, "", posenc.check, "evil.pt")
    torch.save({"pe": got, "evil": Evil()}, "evil.pt")
    raises(Exception, "", posenc.check, "evil.pt", tensor="pe")
    report(not os.path.exists("run by pickle"), "no code of a .pt is run")


with tempfile.TemporaryDirectory() as folder_:
    os.chdir(folder_)
    check_torch()
    check_document()
    os.chdir("/")
