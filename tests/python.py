# SPDX-License-Identifier: MIT
"""The Python package against the posenc command and NumPy: python.py POSENC. Prints "ok NAME" or "not ok NAME"
for each comparison."""

import importlib.util
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import types

import numpy as np

import posenc
import posenc.testing
from posenc import _arrays, _compute

COMMAND = sys.argv[1]
generator = np.random.default_rng(1)


def report(ok, name):
    print("ok" if ok else "not ok", name, flush=True)


def raises(kind, pattern, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        report(re.search(pattern, str(error)) is not None, f"{kind.__name__}: {error}".splitlines()[0][:150])
    else:
        report(False, f"no {kind.__name__} with {pattern}")


def same(a, b):
    """Equal bits."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def command(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)


def written(*arguments):
    subprocess.run([COMMAND, "write", *arguments, "-o", "written.npy"], check=True)
    return np.load("written.npy")


def options_of(named):
    """Arguments as options of the command."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in named.items()]


# ---- tables ---------------------------------------------------------------------------------------

YARN = {"kind": "yarn", "factor": 4, "original": 4096, "truncate": False}
FORMULAS = (
    {},
    {"base": 500000, "offset": -7},
    {"layout": "split-cs", "shift": 1},
    {"padding": 3, "scale": 0.5},
    {"scaling": "yarn,factor=4,original=4096"},
    {"scaling": "linear,factor=3"},
    {"threads": 2},
)


def check_tables():
    for dtype, name in (("f32", np.float32), ("f64", "float64"), ("f16", np.dtype("f2"))):
        for formula in FORMULAS:
            wanted = written("--len=257", "--dim=62", f"--dtype={dtype}", *options_of(formula))
            got = posenc.table(257, 62, dtype=name, **formula)
            report(same(got, wanted), f"table of {dtype}, {formula or 'plain'}: the command's bits")
    near = posenc.table(257, 62, max_abs=1e-3)
    report(posenc.check(near, max_abs=1e-3).ok, "a limit for the kernel")
    wanted = written("--len=65", "--dim=8", "--scaling=yarn,factor=4,original=4096,truncate=no")
    report(same(posenc.table(65, 8, scaling=YARN), wanted), "a scaling as a mapping")
    wanted = written("--len=65", "--dim=8", "--scaling=llama3,factor=8,original=8192")
    got = posenc.table(65, 8, scaling={"kind": "llama3", "factor": 8, "original": 8192})
    report(same(got, wanted), "llama3 with its own defaults")
    report(same(posenc.table(65, 8, scaling="llama3"), wanted), "all of which the command has, too")
    try:
        posenc.table(65, 8, scaling="yarn,original=4096")
        refused = ""
    except ValueError as error:
        refused = str(error)
    report("factor of the scaling is not set" in refused, "a parameter without a default is needed")
    positions = [5, -3, 0.1, 2.0**40, 5]
    text = ",".join(map(repr, positions))
    report(same(posenc.table(None, 8, positions=positions), written("--positions", text, "--dim", "8")), "positions")
    report(
        same(posenc.table(5, 8, positions=np.array(positions)), written("--positions", text, "--dim", "8")), "an array"
    )
    report(same(posenc.table(9, 7, odd="ceil"), written("--len", "9", "--dim", "7", "--odd", "ceil")), "odd")
    factors = [1.0, 1.5, 4.0]
    scaling = {"kind": "longrope", "factor": 2, "original": 64, "factors": factors}
    option = "longrope,factor=2,original=64,factors=" + ":".join(map(str, factors))
    wanted = written("--len", "9", "--dim", "6", "--scaling", option)
    report(same(posenc.table(9, 6, scaling=scaling), wanted), "factors of a mapping")
    report(same(posenc.table(9, 6, scaling=option), wanted), "factors of a text")
    report(posenc.table(0, 4).shape == (0, 4), "no rows")
    report(same(posenc.table(9, 6, kernel="cr-portable"), posenc.table(9, 6)), "a kernel by its name")

    wide = np.full((9, 20), 7.0, np.float32)
    result = posenc.table(9, 6, out=wide[:, 3:9])
    report(result.base is wide and same(wide[:, 3:9], posenc.table(9, 6)), "rows that are apart")
    report((wide[:, :3] == 7).all() and (wide[:, 9:] == 7).all(), "and nothing between them")
    upward = np.empty((9, 6), np.float64)
    posenc.table(9, 6, out=upward[::-1])
    report(same(upward[::-1], posenc.table(9, 6, dtype="f64")), "rows from the last to the first")
    for layout, columns in (("duplicated", 8), ("interleaved", 8), ("split", 4)):
        cos, sin = posenc.rope_cache(65, 8, layout=layout, base=500000)
        options = ["--op", "rope-cache", "--layout", layout, "--base", "500000"]
        wanted = written("--len", "65", "--dim", "8", *options)
        report(cos.shape == (65, columns) and same(np.stack([cos, sin]), wanted), f"rope cache, {layout}")
    pair = np.zeros((2, 65, 16), np.float16)
    posenc.rope_cache(65, 8, out=(pair[0, :, :8], pair[1, :, 8:]))
    cos, sin = posenc.rope_cache(65, 8, dtype="f16")
    report(same(pair[0, :, :8], cos) and same(pair[1, :, 8:], sin), "a rope cache in two views")


# ---- add and rope ---------------------------------------------------------------------------------


def turned(x, layout, base=10000.0, offset=0):
    """x of shape (B, L, H, D), in long doubles."""
    half = x.shape[-1] // 2
    w = np.longdouble(base) ** (-np.arange(half) / np.longdouble(half))
    angles = np.longdouble(np.arange(offset, offset + x.shape[1]))[:, None, None] * w
    sine, cosine = np.sin(angles), np.cos(angles)
    a, b = (x[..., :half], x[..., half:]) if layout == "split" else (x[..., 0::2], x[..., 1::2])
    parts = a * cosine - b * sine, b * cosine + a * sine
    return np.concatenate(parts, -1) if layout == "split" else np.stack(parts, -1).reshape(x.shape)


def check_applied():
    x = generator.standard_normal((2, 33, 4, 16)).astype(np.float32)
    for layout in ("split", "interleaved"):
        got = posenc.rope(x, layout=layout, base=500000, offset=5)
        wanted = turned(x, layout, 500000, 5)
        report(np.abs(got - wanted).max() <= 4e-7 * np.abs(x).max(), f"rope, {layout}, and NumPy's long doubles")
    wanted = posenc.rope(x, layout="split")
    moved = np.ascontiguousarray(x.transpose(0, 2, 1, 3))
    report(same(posenc.rope(moved, axes="bhld", layout="split").transpose(0, 2, 1, 3), wanted), "rope, axes bhld")
    report(same(posenc.rope(x[1], layout="split"), wanted[1]), "rope, axes lhd")
    report(same(posenc.rope(x[1, :, 2], layout="split"), wanted[1, :, 2]), "rope, axes ld, of a view with gaps")
    qkv = np.stack([x, x + 1, x - 1], 2)
    report(same(posenc.rope(qkv[:, :, 0], layout="split"), wanted), "rope of a part of q, k and v")
    posenc.rope(qkv[:, :, 0], layout="split", out=qkv[:, :, 0])
    report(same(qkv[:, :, 0], wanted) and same(qkv[:, :, 1], x + 1), "in place, and of nothing else")
    report(
        same(
            posenc.rope(x[:, ::-1], layout="split", offset=3), posenc.rope(x[:, ::-1].copy(), layout="split", offset=3)
        ),
        "rope of reversed rows",
    )
    gaps = np.zeros((2, 40, 4, 16), np.float32)
    gaps[:, :33] = x
    report(same(posenc.rope(gaps[:, :33], layout="split"), wanted), "rope of sequences with gaps")
    shifted = np.zeros(2 + x.size, np.float32)
    shifted[1:-1] = x.ravel()
    posenc.rope(shifted[1:-1].reshape(x.shape), layout="split", out=shifted[2:].reshape(x.shape))
    report(same(shifted[2:].reshape(x.shape), wanted), "a result that overlaps x")
    part = posenc.rope(x, layout="split", dim=8, start=4)
    report(same(part[..., 4:12], posenc.rope(x[..., 4:12].copy(), layout="split")), "a part of the columns")
    report(same(part[..., :4], x[..., :4]) and same(part[..., 12:], x[..., 12:]), "and the others as they were")
    mine = x.copy()
    report(posenc.rope(mine, layout="split", out=mine) is mine and same(mine, wanted), "out is x")
    back = posenc.rope(wanted, layout="split", inverse=True)
    report(np.abs(back - x).max() < 2e-6, "turned back")
    chosen = [7, 7, 0] + list(range(30))
    rest = posenc.rope(np.ascontiguousarray(x[:, 3:]), layout="split")
    report(same(posenc.rope(x, layout="split", positions=chosen)[:, 3:], rest), "positions of a list")
    report(same(x, mine * 0 + x), "x is as it was")

    table = posenc.table(33, 16)
    flat = x[:, :, 0].copy()
    report(same(posenc.add(flat), flat + table), "add, axes bld")
    report(same(posenc.add(flat[0]), flat[0] + table), "add, axes ld")
    report(same(posenc.add(x), x + table[:, None]), "add, axes blhd")
    first = np.ascontiguousarray(flat.transpose(1, 0, 2))
    report(same(posenc.add(first, axes="lbd"), first + table[:, None]), "add, axes lbd")
    report(
        same(posenc.add(flat[:, :, ::-1], base=100), flat[:, :, ::-1] + posenc.table(33, 16, base=100)), "add, reversed"
    )


def check_kept():
    """A plan that is kept against the functions, which make one in each call."""
    x = generator.standard_normal((2, 33, 4, 16)).astype(np.float32)
    named = {"layout": "split", "base": 500000, "scaling": YARN}
    plan = posenc.Plan("rope", 1000, 16, heads=4, **named)
    report(same(plan(x, row=7), posenc.rope(x, offset=7, **named)), "a kept plan, from row 7")
    mine = x.copy()
    report(plan(mine, row=967, out=mine) is mine and same(mine, posenc.rope(x, offset=967, **named)), "its last rows")
    step = np.ascontiguousarray(x[:1, :1])
    steps = [same(plan(step, row=at), posenc.rope(step, offset=at, **named)) for at in range(40)]
    report(all(steps), "one position at a time")
    rows = [999, 3, 3, *range(30)]
    wanted = posenc.rope(x, positions=rows, **named)
    report(same(plan(x, rows=rows), wanted), "rows of a list")
    report(same(plan(x, rows=np.array(rows, np.int32)), wanted), "rows of an array")
    any_heads = posenc.Plan("rope", 1000, 16, **named)
    report(same(any_heads(x, rows=rows), wanted), "heads that the plan does not know, rows of a list")
    report(same(any_heads(x[:, :, :3], row=7), posenc.rope(x, offset=7, **named)[:, :, :3]), "and from row 7")
    back = posenc.Plan("rope", 1000, 16, heads=4, inverse=True, **named)
    report(same(back(wanted, rows=rows), posenc.rope(wanted, positions=rows, inverse=True, **named)), "turned back")
    wide = generator.standard_normal((2, 33, 4, 24)).astype(np.float32)
    part = posenc.rope(wide, dim=16, start=8, offset=5, **named)
    report(same(plan(wide, row=5, start=8), part), "a part of the columns, by a kept plan")
    adds = posenc.Plan("add", None, 16, positions=[0.5, 7, -3])
    three = np.ascontiguousarray(x[:, :3])
    report(same(adds(three), posenc.add(three, positions=[0.5, 7, -3])), "add, by a kept plan")
    report(same(adds(three[:, :1], rows=[2]), posenc.add(three[:, :1], positions=[-3])), "one row of a list")
    buffer = x.copy()
    turn, turn_new = plan.on(buffer, out=buffer), plan.on(x)
    report(turn(5) is buffer and same(buffer, posenc.rope(x, offset=5, **named)), "on arrays that stay")
    report(same(turn_new(967), posenc.rope(x, offset=967, **named)), "and into a new one, the last rows")
    report(same(turn_new(), posenc.rope(x, **named)), "and the first")
    batches = np.zeros((3, 40, 4, 16), np.float32)
    batches[:2, :33] = x
    gaps = batches[:2, :33]
    report(same(plan.on(gaps, out=gaps)(7), posenc.rope(x, offset=7, **named)), "sequences that are apart")
    report((batches[:, 33:] == 0).all() and (batches[2] == 0).all(), "and nothing between them")
    for kind, pattern, call in (
        (ValueError, "^row=968: x has 33 positions, and the plan 1000 rows", lambda: turn(968)),
        (ValueError, "^row=-1: x has 33", lambda: turn(-1)),
        (TypeError, "^row=0.5: not an integer", lambda: turn(0.5)),
        (ValueError, "^x: on.. takes arrays that need no copy", lambda: plan.on(x[:, :, :, ::-1])),
        (ValueError, "^x: on.. takes arrays that need no copy", lambda: plan.on(gaps, out=x)),
        (ValueError, "^x: on.. takes arrays that need no copy", lambda: plan.on(batches[:, :-1], out=batches[:, 1:])),
        (ValueError, "^x: on.. takes arrays that need no copy", lambda: plan.on(x.astype(">f4"))),
        (ValueError, "^x: on.. takes arrays that need no copy", lambda: any_heads.on(x)),
        (ValueError, "^dim, start: columns 0 to 15 of 8", lambda: plan.on(x[:, :, :, :8])),
        (TypeError, "^x: its dtype is float64", lambda: plan.on(x.astype("f8"))),
    ):
        raises(kind, pattern, call)
    for kind, pattern, arguments in (
        (ValueError, "^row=968: x has 33 positions, and the plan 1000 rows", {"row": 968}),
        (ValueError, "^row=-1: x has 33", {"row": -1}),
        (TypeError, "^row=0.5: not an integer", {"row": 0.5}),
        (ValueError, "^rows: 3 of them for 33 positions", {"rows": [1, 2, 3]}),
        (TypeError, "^rows=7: not a list of integers", {"rows": 7}),
        (ValueError, "^posenc: ", {"rows": [1000, *range(32)]}),
        (ValueError, "^dim, start: columns 1 to 16 of 16", {"start": 1}),
        (ValueError, "^out: not as x", {"out": x[:1].copy()}),
    ):
        raises(kind, pattern, plan, mine, **arguments)
    report(same(mine, posenc.rope(x, offset=967, **named)), "what a plan refuses is not written")
    check_kept_by_functions(x)
    raises(ValueError, "^x: it has 3 heads, and the plan 4", plan, x[:, :, :3])
    raises(ValueError, "^x: it has 24 columns, and the plan of add 16", adds, wide[:, :3])
    raises(TypeError, "^x: its dtype is float64, and the plan's float32", plan, x.astype("f8"))
    raises(ValueError, "^operation='table': not one of add, rope", posenc.Plan, "table", 4, 6)
    raises(ValueError, "^inverse: add has none", posenc.Plan, "add", 4, 6, inverse=True)
    raises(TypeError, "^rope works on float32 and bfloat16, not float16", posenc.Plan, "rope", 4, 6, dtype="f16")


def check_kept_by_functions(x):
    """Plans that functions keep: the same one for the same arguments, and nothing that could change or is large."""
    kept, made = _compute._kept_plan, ("rope", 33, 16)
    report(kept(*made, base=1234.5) is kept(*made, base=1234.5), "a function keeps its plan")
    for other in ({"base": 1234.0}, {"base": 1234.5, "offset": 1}, {"base": 1234.5, "threads": 2}):
        report(kept(*made, **other) is not kept(*made, base=1234.5), f"but not for {other}")
    report(kept(*made, kernel="cached") is not kept(*made, kernel="cached"), "nor a kernel's table")
    before = posenc.rope(x, offset=3)
    raises(TypeError, "^offset=3.0: not an integer", posenc.rope, x, offset=3.0)
    report(same(posenc.rope(x, offset=3), before), "an equal number of another type is still refused")
    positions, scaling = list(range(33)), {"kind": "linear", "factor": 2.0}
    posenc.rope(x, positions=positions), posenc.rope(x, scaling=scaling)
    positions[5], scaling["factor"] = 100, 4.0
    report(not same(posenc.rope(x, positions=positions), posenc.rope(x)), "a list that has changed")
    report(same(posenc.rope(x, scaling=scaling), posenc.rope(x, scaling="linear,factor=4")), "and a mapping")
    for base in range(100, 100 + 3 * _compute.KEPT):
        report(same(posenc.table(5, 6, base=base), written("--len=5", "--dim=6", f"--base={base}")), f"base {base}")
    raises(TypeError, r"^base=\[1\]: not a number", posenc.table, 4, 6, base=[1])


class Looked(np.ndarray):
    """An array of a class that is looked at in each call."""


def check_quick():
    """The quick way, of packed arrays of one type, dtype and shape, beside that which looks at them."""
    x = generator.standard_normal((2, 6, 4, 16)).astype(np.float32)
    calls = [(posenc.rope, {}), (posenc.add, {})]
    for named in (
        {"offset": 7},
        {"base": 99.5},
        {"layout": "split"},
        {"scaling": "linear,factor=3"},
        {"padding": 3},
        {"kernel": "rotation-portable"},
        {"kernel": "cached"},
        {"max_abs": 1e-3},
        {"threads": 2},
        {"positions": (5.5, 4, 3, 2, 1, 0)},
    ):
        calls += [(posenc.rope, named), (posenc.add, named)]
    calls += [(posenc.rope, {"inverse": True}), (posenc.rope, {"dim": 8}), (posenc.rope, {"dim": 8, "start": 4})]
    calls += [(posenc.rope, {"axes": "bhld"}), (posenc.add, {"axes": "bhld"}), (posenc.add, {"axes": "lbhd"})]
    plan, any_heads, adds = (
        posenc.Plan("rope", 40, 16, heads=4),
        posenc.Plan("rope", 40, 16),
        posenc.Plan("add", 40, 16),
    )
    calls += [(plan, {"row": row}) for row in (0, 3, 34)] + [(any_heads, {"row": 3}), (adds, {"row": 3})]
    arrays = [x, x[:, :, :1].copy(), x[0], x[:1].copy(), x.reshape(2, 4, 6, 16)]
    arrays += [np.ascontiguousarray(np.repeat(x, 2, -1))]
    if importlib.util.find_spec("ml_dtypes"):
        arrays += [x.astype(importlib.import_module("ml_dtypes").bfloat16)]
    done = 0
    for again in range(2):  # made, and kept
        for call, named in calls:
            for array in arrays:
                try:
                    wanted = np.asarray(call(array.view(Looked), **named))
                except (ValueError, TypeError) as refused:
                    raises(type(refused), re.escape(str(refused)), call, array, **named)
                    continue
                mine, other = array.copy(), np.zeros_like(array)
                got = call(array, **named), call(array, out=other, **named), call(mine, out=mine, **named)
                name = f"{getattr(call, '__name__', 'plan')} of {array.dtype} {array.shape}, {named or 'plain'}"
                fine = all(same(one, wanted) for one in got) and got[1] is other and got[2] is mine
                report(fine, f"{name}, quickly, {'kept' if again else 'made'}")
                done += 1
    report(done > 100, "most are no mistakes")
    check_quick_refused(x, plan)
    look, looked = _arrays.memory, []
    _arrays.memory = lambda *arguments, **named: looked.append(arguments) or look(*arguments, **named)
    y, wide, beside = x.copy(), x[..., ::-1], np.stack([x, x])
    posenc.rope(x), posenc.rope(x, out=y), plan(y, out=y)
    posenc.add(x[0, :, 0].copy(), base=7), posenc.rope(arrays[-1])
    posenc.rope(beside[0], out=beside[1]), posenc.rope(beside[1], out=beside[0])
    report(not looked, "packed arrays are not looked at")
    posenc.rope(wide), plan(wide)
    report(len(looked) >= 2, "others are")
    _arrays.memory = look
    _compute._quick.cache_clear()
    posenc.rope(x, positions=tuple(range(6)))
    report(_compute._quick.cache_info().currsize == 0, "lists are not kept")
    kept = _compute._quick("rope", np.ndarray, x.dtype, x.shape, None, None, 0, kernel="cached")
    report(kept is None, "nor tables")
    for base in range(100, 100 + 3 * _compute.KEPT):
        posenc.rope(x, base=base)
    report(_compute._quick.cache_info().currsize == _compute.KEPT, "no more plans are kept than are told")
    turned = [np.zeros_like(x) for _ in range(8)]
    threads = [threading.Thread(target=posenc.rope, args=(x,), kwargs={"out": out, "base": 7}) for out in turned]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report(all(same(out, posenc.rope(x, base=7)) for out in turned), "by several threads")


def check_quick_refused(x, plan):
    """What the quick way does not take is refused, or done, as without it."""
    wanted = posenc.rope(x)
    fixed = x.copy()
    fixed.flags.writeable = False
    report(same(posenc.rope(fixed), wanted) and same(plan(fixed), wanted), "x that is read-only")
    raises(ValueError, "^x: an array that is read-only", posenc.rope, fixed, out=fixed)
    raises(ValueError, "^out: an array that is read-only", plan, x, out=fixed)
    swapped = x.astype(">f4")
    report(same(np.asarray(posenc.rope(swapped)), wanted), "x of another byte order")
    fortran = np.asfortranarray(x)
    report(same(posenc.rope(fortran), wanted) and same(posenc.rope(x, out=fortran), wanted), "Fortran's order")
    for out in (np.zeros_like(x, "f8"), x[:1].copy(), x.reshape(2, 24, 16).copy()):
        raises(ValueError, "^out: not as x", posenc.rope, x, out=out)
        raises(ValueError, "^out: not as x", plan, x, out=out)
    for mistake in ({"offset": 3.0}, {"start": 0.0}, {"dim": 16.0}):
        posenc.rope(x, **{name: int(value) for name, value in mistake.items()})
        raises(TypeError, "not an integer", posenc.rope, x, **mistake)
    raises(TypeError, "^x: list is neither", posenc.rope, [1.0, 2.0])
    raises(TypeError, "^x: list is neither", plan, [1.0, 2.0])
    raises(ValueError, "^row=35: x has 6 positions", plan, x, row=35)
    raises(TypeError, "^x: its dtype is float64", plan, x.astype("f8"))
    report(posenc.rope(x[:, :0]).size == 0, "no positions")
    raises(TypeError, "^out: list is neither", posenc.rope, x, out=[1.0])
    wide = generator.standard_normal((6, 4, 128)).astype(np.float32)
    wanted, plan = posenc.rope(wide, layout="split"), posenc.Plan("rope", 6, 128, heads=4, layout="split")
    for call, named in ((posenc.rope, {"layout": "split"}), (plan, {})):
        for begin, to in ((0, 40), (40, 0)):
            room = np.zeros(wide.size + 40, np.float32)
            from_, out = (room[at : at + wide.size].reshape(wide.shape) for at in (begin, to))
            from_[...] = wide
            report(same(call(from_, out=out, **named), wanted), f"a result that overlaps x, from {begin} to {to}")


# ---- check and identify ---------------------------------------------------------------------------


def bare(record, kind):
    """A record without what tells of the run, and of the name and format of the file."""
    text = json.dumps(record)
    for name in ("array", "x", "saved.npy", "x.npy"):
        text = text.replace(json.dumps(name), '"FILE"')
    record = json.loads(text)
    record.pop("environment", None)
    entries = record["records"] if kind == "check" else [record]
    for entry in entries:
        for key in ("format", "replay", "x", "sentence"):
            entry.pop(key, None)
        for key in ("max_ulp", "max_abs", "worst"):
            if isinstance(entry.get(key), dict):
                entry[key].pop("replay", None)
                entry[key].pop("command", None)
        entry.get("applied", {}).pop("x", None)
    return record


def as_command(name, array, x=None, **named):
    """Whether check and identify say the same of an array and of the file that NumPy saves it in."""
    np.save("saved.npy", array)
    options = options_of({name: value for name, value in named.items() if name != "op"})
    arguments = ["saved.npy", "--format", "json"]
    if x is not None:
        np.save("x.npy", x)
        arguments += ["--op", named.get("op", "rope"), "--x", "x.npy"]
    told = command("check", *arguments, *options)
    got = posenc.check(array, x=x, **named)
    report(bare(json.loads(told.stdout), "check") == bare(got, "check"), f"check of {name} as by the command")
    report(got.ok == (told.returncode == 0), f"check of {name} ends as the command does: {got.ok}")
    if "part" not in named:
        told = command("identify", *arguments)
        named = {key: named[key] for key in ("op", "axes") if key in named}
        got = posenc.identify(array, x=x, **named)
        report(
            bare(json.loads(told.stdout), "identify") == bare(got, "identify"),
            f"identify of {name}: {got.sentence[:60]}",
        )
        report(got.ok == (told.returncode == 0), f"identify of {name} ends as the command does: {got.ok}")


def check_records():
    table = posenc.table(100, 24)
    loose = (table + generator.normal(0, 1e-4, table.shape)).astype(np.float32)
    as_command("a table", table, max_ulp=1)
    as_command("a bad table", loose, max_ulp=1)
    as_command("f64", posenc.table(100, 24, dtype="f8"), max_ulp=1)
    as_command("f16", posenc.table(100, 24, dtype="f2"), max_ulp=1)
    as_command("columns in Fortran's order", np.asfortranarray(table), max_ulp=1)
    wide = np.zeros((100, 1, 40), np.float32)
    wide[:, 0, 5:29] = table
    as_command("a view", wide[:, :, 5:29], max_ulp=1)
    as_command("every third row", posenc.table(300, 24)[::3], max_ulp=1e9)
    as_command("reversed rows", table[::-1], max_ulp=1)
    as_command("transposed", np.ascontiguousarray(table.T).T, max_ulp=1)
    as_command("one column out of two", np.repeat(table, 2, axis=1)[:, ::2], max_ulp=1)
    as_command("another byte order", table.astype(">f4"), max_ulp=1)
    pairs = posenc.table(100, 24, layout="interleaved-cs").view(np.complex64)
    as_command("one frequency", pairs[:, 0], layout="interleaved-cs")
    as_command("complex numbers", pairs, layout="interleaved-cs")
    as_command("every second pair", np.repeat(pairs, 2, axis=1)[:, ::2], layout="interleaved-cs")
    as_command("pairs", pairs.view(np.float32).reshape(100, 12, 2), layout="interleaved-cs")
    cache = np.stack(posenc.rope_cache(100, 24))
    as_command("a rope cache's cosines", cache, part="cos")
    as_command("a rope cache's sines", cache, part="sin")
    apart = np.zeros((2, 150, 40), np.float32)
    apart[:, :100, :24] = cache
    as_command("a rope cache in gaps", apart[:, :100, :24], part="sin")
    as_command("both of its tables", cache, max_ulp=1)
    as_command("both in gaps", apart[:, :100, :24], max_ulp=1)
    report(posenc.check(apart[:, :100, :24], max_ulp=1).ok, "which are right")
    apart[1, 99, 23] += 1
    report(not posenc.check(apart[:, :100, :24], max_ulp=1).ok, "and not if an element of the second is wrong")
    report(posenc.check(cache, part="sin", max_ulp=1).ok, "which is right")
    x = generator.standard_normal((2, 30, 3, 24)).astype(np.float32)
    as_command("rope", posenc.rope(x, layout="split"), x=x, layout="split")
    report(
        posenc.check(posenc.rope(x, layout="split"), x=x, max_ulp=2).cause == "pairs are halves, not neighbours",
        "a likely cause",
    )
    as_command("add", posenc.add(x), x=x, op="add")
    views = np.stack([x, posenc.rope(x)], 3)
    as_command("views of rope", views[:, :, :, 1], x=views[:, :, :, 0], max_ulp=2)
    text = command("check", "saved.npy", "--x", "x.npy", "--op", "rope", "--max-ulp", "2").stdout
    got = posenc.check(views[:, :, :, 1], x=views[:, :, :, 0], max_ulp=2).text
    told = re.sub(r"saved.npy|x.npy|array|\(\w+\)|^x .*", "", text, flags=re.M).rstrip("\n")
    report(re.sub(r"\barray\b|\(\w+\)|^x .*", "", got, flags=re.M) == told, "the text is the command's")
    many = list(range(0, 4000, 2))
    report(posenc.check(posenc.table(None, 8, positions=many), positions=many, max_ulp=0.5).ok, "many positions")
    report(not posenc.check(posenc.table(2000, 8), positions=many, max_ulp=1).ok, "and wrong ones")
    golden = posenc.table(None, 8, positions=[0, 1, 2]).repeat(9, 0)
    report(not posenc.check(golden, positions="golden", max_ulp=1).ok, "a list by its name")
    report(not posenc.check(table * np.float32("nan")).ok, "NaN")
    check_config()


def check_config():
    """A config as a path, and as a mapping, which may be nested and have values that are no JSON."""
    yarn = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 1024}
    config = {"head_dim": 24, "rope_theta": 500000.0, "rope_scaling": yarn, "dtype": np.float32}
    right = posenc.table(300, 24, base=500000, scaling="yarn,factor=8,original=1024", dtype="f64")
    wrong = posenc.table(300, 24, base=500000)
    with open("config.json", "w", encoding="utf-8") as file:
        json.dump({**config, "dtype": "f32"}, file)
    for name, call in (("check", posenc.check), ("identify", posenc.identify)):
        report(call(right, config=config).ok, f"{name} with a mapping as config: agrees")
        got = call(wrong, config=types.MappingProxyType(config))
        told = call(wrong, config="config.json")
        report(not got.ok and "the scaling is left out" in got.text, f"{name} with another mapping: the cause")
        report(got.text == told.text.replace("config.json", "config"), f"{name}: the text of a path, with its name")
    report("config: config\n" in posenc.check(right, config=config).text + "\n", "whose name is config")
    for value, kind, words in (
        (5, TypeError, "config: int, not a path or a mapping"),
        ({"rope_theta": "x"}, ValueError, "config: "),
        ({"a": {(1, 2): 3}}, TypeError, "config: keys must be str"),
        ("nowhere.json", ValueError, "config nowhere.json: No such file"),
    ):
        try:
            posenc.check(right, config=value)
            refused = None
        except (TypeError, ValueError) as error:
            refused = error
        report(type(refused) is kind and str(refused).startswith(words), f"config={value!r}: {refused}")


def resident():
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def check_memory():
    """Nothing is copied, kept or left open."""
    array = np.zeros((64, 48), np.float32)
    for view in (array, array[:, 8:16], array[::-2], array[5:6], array.reshape(1, 64, 2, 24)[:, :, 1]):
        report(_arrays.as_read("array", view).address == view.ctypes.data, f"not copied: strides {view.strides}")
    report(_arrays.as_read("array", array.view(np.complex64)).address == array.ctypes.data, "nor complex numbers")
    big = posenc.table(1 << 16, 512)  # 128 MiB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report(posenc.check(big, max_ulp=0.5).ok, "128 MiB")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    report(grown < 16 << 10, "are checked without a copy here")
    del big
    descriptors = sorted(os.listdir("/proc/self/fd"))
    for round_ in range(300):
        posenc.table(1, 8192, base=round_ + 2)  # whose plan is larger than it
        posenc.rope(np.ones((64, 2, 64), np.float32))
        if round_ == 20:
            before = resident()
    report(resident() - before < 4 << 20, "plans and arrays are freed")
    program = "import posenc\nplan = posenc.Plan('rope', 8, 4)\nposenc._library.LIB = None\ndel plan"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    report(ended.returncode == 0 and not ended.stderr, f"a plan that outlives the module's names{ended.stderr[-99:]}")
    for bad in ({"layout": "none"}, {"max_ulp": -1}):
        try:
            posenc.check(array, **bad)
        except ValueError:
            pass
    report(sorted(os.listdir("/proc/self/fd")) == descriptors, "no descriptor is left open")


def check_threads():
    wanted, failures = posenc.table(500, 64), []

    def work(number):
        for _ in range(3):
            x = np.full((20, 2, 8), number, np.float32)
            fine = same(posenc.table(500, 64), wanted)
            fine = fine and posenc.check(posenc.rope(x), x=x, max_ulp=2).ok
            fine = fine and posenc.check(wanted * (1 if number % 2 else 0.5), max_ulp=1).ok == (number % 2 == 1)
            if not fine:
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report(not failures, "six threads at once")


# ---- files, errors, assertions --------------------------------------------------------------------


def check_two_tensors():
    """x and the result of rope in one file, or in two."""
    q = np.random.default_rng(1).standard_normal((1, 30, 2, 16)).astype(np.float32)
    tensors, header, data = dict(q=q, turned=posenc.rope(q), untouched=q), {}, b""
    for name, of in tensors.items():
        header[name] = dict(dtype="F32", shape=of.shape, data_offsets=[len(data), len(data) + of.nbytes])
        data += of.tobytes()
    text = json.dumps(header).encode()
    with open("both.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)
    np.savez("both.npz", **tensors)
    np.savez("x.npz", q=q)
    for path in ("both.safetensors", "both.npz"):
        for x in (None, path, "x.npz", "both.safetensors"):
            for tensor in ("turned", "untouched"):
                found = posenc.check(path, x=x, tensor=tensor, x_tensor="q")
                report(found.ok == (tensor == "turned"), f"{tensor} of {path}, q of {x}")
    report(posenc.identify("both.safetensors", tensor="turned", x_tensor="q").ok, "identify, too")
    raises(ValueError, "x_tensor='q': x is not a file", posenc.check, q, x=q, x_tensor="q")


def check_files():
    table = posenc.table(40, 16)
    np.savez("one.npz", table)
    np.savez("two.npz", pe=table, other=np.zeros(3))
    np.save("plain.npy", table)
    report(posenc.check("plain.npy", max_ulp=0.5).ok, ".npy")
    report(posenc.check("one.npz", max_ulp=0.5).ok, ".npz")
    report(posenc.check("two.npz", tensor="pe", max_ulp=0.5).ok, ".npz of two arrays")
    raises(ValueError, "tensor=None: two.npz has other, pe", posenc.check, "two.npz")
    raises(ValueError, "tensor='q': two.npz has other, pe", posenc.identify, "two.npz", tensor="q")
    raises(ValueError, "tensor='q': neither array nor x is a file", posenc.identify, table, tensor="q")
    check_two_tensors()
    raises(ValueError, "none.npy: No such file", posenc.check, "none.npy")
    np.savez("evil.npz", np.array([{}], dtype=object))
    raises(ValueError, "pickle", posenc.check, "evil.npz")


def check_errors():
    x, table = np.zeros((4, 6), np.float32), posenc.table(4, 6)
    locked = np.zeros((4, 6), np.float32)
    locked.flags.writeable = False
    for kind, pattern, function, arguments, named in (
        (ValueError, "^table: rows must not", posenc.table, (-1, 6), {}),
        (ValueError, "^table: dim must be even", posenc.table, (4, 5), {}),
        (TypeError, "^length=4.5: not an integer", posenc.table, (4.5, 6), {}),
        (ValueError, r"^dim=\d*: not an integer of 64 bits", posenc.table, (4, 2**70), {}),
        (TypeError, "^base='x': not a number", posenc.table, (4, 6), {"base": "x"}),
        (ValueError, "^layout='halves': not one of interleaved", posenc.table, (4, 6), {"layout": "halves"}),
        (ValueError, "^layout=None: not one of", posenc._library.choice, ("layout", None, ("a",)), {}),
        (TypeError, "^dtype='int8'", posenc.table, (4, 6), {"dtype": "int8"}),
        (TypeError, "^bases: not a parameter of table", posenc.table, (4, 6), {"bases": 3}),
        (ValueError, "^positions: 2 of them for 4 rows", posenc.table, (4, 6), {"positions": [1, 2]}),
        (TypeError, "^positions=3: not a list", posenc.table, (4, 6), {"positions": 3}),
        (TypeError, r"^positions='x': not a number", posenc.table, (1, 6), {"positions": ["x"]}),
        (ValueError, "^scaling: kind='none of these'", posenc.table, (4, 6), {"scaling": "none of these"}),
        (ValueError, "^scaling='yarn,4': '4' is not KEY=VALUE", posenc.table, (4, 6), {"scaling": "yarn,4"}),
        (ValueError, "^scaling: beta: not a parameter", posenc.table, (4, 6), {"scaling": {"kind": "yarn", "beta": 1}}),
        (TypeError, "^scaling=4: neither", posenc.table, (4, 6), {"scaling": 4}),
        (ValueError, "^kernel='none': no such kernel", posenc.table, (4, 6), {"kernel": "none"}),
        (ValueError, "^kernel='cr-portable': ", posenc.table, (4, 6), {"kernel": "cr-portable", "base": 0.5}),
        (ValueError, r"^out: its shape is \(4, 6\), and the table's \(5, 6\)", posenc.table, (5, 6), {"out": table}),
        (ValueError, "^out: its dtype is f32, and dtype='f64'", posenc.table, (4, 6), {"out": table, "dtype": "f64"}),
        (ValueError, "^out: the elements of its rows", posenc.table, (4, 3), {"out": table[:, ::2], "odd": "pad"}),
        (ValueError, "^out: an array that is read-only", posenc.table, (4, 6), {"out": locked}),
        (TypeError, "^out: list is neither", posenc.table, (4, 6), {"out": [1]}),
        (ValueError, "^out: 1 arrays, not a pair", posenc.rope_cache, (4, 6), {"out": (table,)}),
        (ValueError, r"^out\[1\]: its shape", posenc.rope_cache, (4, 6), {"out": (table, table[:3])}),
        (TypeError, "^rope works on float32 and bfloat16, not float64", posenc.rope, (x.astype("f8"),), {}),
        (TypeError, "^x: its dtype is int64", posenc.add, (np.zeros((4, 6), np.int64),), {}),
        (ValueError, "^axes='lh': not a letter", posenc.rope, (x,), {"axes": "lh"}),
        (ValueError, "^axes: x has 1 of them", posenc.rope, (x[0],), {}),
        (ValueError, "^dim, start: columns 4 to 9 of 6", posenc.rope, (x,), {"start": 4, "dim": 6}),
        (ValueError, "^out: not as x", posenc.add, (x,), {"out": x[:2]}),
        (TypeError, "^array: its dtype is int64", posenc.check, (np.zeros((4, 6), np.int64),), {}),
        (TypeError, "^array: list is neither", posenc.identify, ([1, 2],), {}),
        (ValueError, r"^array: its shape \(3, 4, 6\) is not", posenc.check, (np.zeros((3, 4, 6)),), {}),
        (ValueError, "^layout halves: not ", posenc.check, (x,), {"layout": "halves"}),
        (ValueError, "^max_ulp -1: ", posenc.check, (x,), {"max_ulp": -1}),
        (ValueError, "unrecognized option 'halves=3'", posenc.check, (x,), {"halves": 3}),
        (ValueError, "^array: its shape is not that of x", posenc.check, (x,), {"x": x[:2]}),
        (ValueError, "^axes lx: ", posenc.check, (x,), {"x": x, "axes": "lx"}),
    ):
        raises(kind, pattern, function, *arguments, **named)
    posenc.table(4, 6, out=table)
    report(same(table, posenc.table(4, 6)), "what is refused is not written")


def check_assertions():
    table = posenc.table(64, 16)
    posenc.testing.assert_accurate(table)
    posenc.testing.assert_accurate(table.astype(np.float16), max_ulp=1)
    posenc.testing.assert_accurate(table, max_abs=1e-7)
    report(True, "accurate tables are accepted")
    raises(
        AssertionError,
        "(?s)^array: 64x16-base9999 .*FAIL: off by .* at row .*this table is exact or",
        posenc.testing.assert_accurate,
        table,
        base=9999,
    )
    raises(
        AssertionError,
        "(?s)FAIL: off by .*likely cause +positions are 1 less",
        posenc.testing.assert_accurate,
        posenc.rope(table, offset=-1),
        x=table,
        max_ulp=2,
    )
    wrong = table.copy()
    wrong[3, 5] = 0.25
    raises(AssertionError, "(?s)off by .* at row 3, column 5: 0.25 instead of", posenc.testing.assert_accurate, wrong)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (
            check_tables,
            check_applied,
            check_kept,
            check_quick,
            check_records,
            check_memory,
            check_threads,
            check_files,
            check_errors,
            check_assertions,
        ):
            part()
        os.chdir("/")


if __name__ == "__main__":
    main()
