# SPDX-License-Identifier: MIT
"""Tables, add and rope by libposenc, in arrays of NumPy and tensors of torch."""

from __future__ import annotations

import math
import sys
from ctypes import byref, c_int64, c_void_p, sizeof
from typing import TYPE_CHECKING, Any, Callable

from . import _arrays
from ._arrays import BYTES, Memory
from ._library import LIB, Problem, Slice, plan, problem, require, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import TypedDict, Unpack

    from ._library import ScalingLike

    class Choice(TypedDict, total=False):
        """How the kernel is chosen."""

        kernel: str | None
        max_ulp: float
        max_abs: float
        threads: int

    class Angles(Choice, total=False):
        """The angles of a problem, and how its kernel is chosen."""

        offset: int
        positions: Sequence[float] | Any | None
        base: float
        scale: float
        scaling: ScalingLike
        layout: str | None

    class Formula(Angles, total=False):
        """All of a table."""

        shift: float
        padding: int | None
        odd: str


CHOICE: dict[str, Any] = {"kernel": None, "max_ulp": 0.0, "max_abs": 0.0, "threads": 1}


def _split(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of the problem, and the choice of the kernel."""
    chosen = {name: given.pop(name, default) for name, default in CHOICE.items()}
    return given, chosen


# ---- tables ---------------------------------------------------------------------------------------


def _length(length: int | None, positions: Any) -> int:
    if length is None and positions is not None:
        return len(positions)
    return whole("length", length)


def _short(dtype: Any, argument: str, out: Any) -> str:
    """The dtype of the table: what is asked for, or that of the array to write."""
    if dtype is None and out is not None:
        return _arrays.memory(argument, out).dtype
    return _arrays.short_dtype("dtype", "f32" if dtype is None else dtype)


def _result(argument: str, out: Any, shape: tuple[int, int], dtype: Any) -> tuple[Any, Memory]:
    """The array to write, which is `out` unless that is None; rows may be apart, elements of a row may not."""
    made = _arrays.empty(shape, "float32" if dtype is None else dtype) if out is None else out
    place = _arrays.memory(argument, made, write=True)
    if place.shape != shape:
        raise ValueError(f"{argument}: its shape is {place.shape}, and the table's {shape}")
    if not place.is_packed(1):
        raise ValueError(f"{argument}: the elements of its rows do not lie one after the other")
    if dtype is not None and _arrays.short_dtype("dtype", dtype) != place.dtype:
        raise ValueError(f"{argument}: its dtype is {place.dtype}, and dtype={dtype!r}")
    return made, place


def _fill(write: Callable[..., int], place: tuple[Memory, ...]) -> None:
    """Calls write(row, rows, address...) once, or for each row if rows are apart."""
    rows = place[0].shape[0]
    if all(one.is_packed() for one in place):
        require(write(0, rows, *[one.address for one in place]))
        return
    for row in range(rows):
        require(write(row, 1, *[one.address + row * one.strides[0] * BYTES[one.dtype] for one in place]))


def table(length: int | None, dim: int, *, dtype: Any = None, out: Any = None, **formula: Unpack[Formula]) -> Any:
    """The table of `length` positions and `dim` columns, each element correctly rounded unless a limit says otherwise.

    dtype: float32 (the default), float64, float16 or bfloat16, by NumPy's or torch's name; one of torch makes a
    tensor. out: an array or tensor of that shape to write into, whose rows may be apart; it is returned.

    The formula, named as the options of the posenc command: offset (the first position), positions (a list of any,
    with length None), base, shift, scale, scaling ("yarn,factor=4,original=8192", or a mapping), padding (the position
    whose row is zeros), layout (interleaved, interleaved-cs, split, split-cs), odd (refuse, pad, ceil). The kernel:
    max_ulp and max_abs (largest errors), threads (0: one for each processor), kernel (its name).

    Raises ValueError or TypeError with the argument's name, MemoryError.
    """
    fields, chosen = _split(dict(formula))
    rows, dim = _length(length, fields.get("positions")), whole("dim", dim)
    short = _short(dtype, "out", out)
    with plan(problem(rows, dim, short, "table", **fields), **chosen) as made:
        out, place = _result("out", out, (rows, dim), dtype)
        _fill(lambda row, count, address: int(LIB.posenc_execute(made, row, count, address)), (place,))
    return out


def rope_cache(
    length: int | None, dim: int, *, dtype: Any = None, out: Any = None, **formula: Unpack[Formula]
) -> tuple[Any, Any]:
    """The tables of cosines and of sines that models keep for rope: a pair of arrays of `length` rows.

    As `table`, but layout is duplicated ([f, f], the default), interleaved (each column twice) or split (each once: dim
    / 2 columns), and out is a pair.
    """
    fields, chosen = _split(dict(formula))
    rows, dim = _length(length, fields.get("positions")), whole("dim", dim)
    pair = (None, None) if out is None else tuple(out)
    if len(pair) != 2:
        raise ValueError(f"out: {len(pair)} arrays, not a pair")
    short = _short(dtype, "out[0]", pair[0])
    with plan(problem(rows, dim, short, "rope-cache", **fields), **chosen) as made:
        shape = (rows, dim // 2 if fields.get("layout") == "split" else dim)
        cosines, cosine_place = _result("out[0]", pair[0], shape, dtype)
        sines, sine_place = _result("out[1]", pair[1], shape, dtype or short)
        _fill(
            lambda row, count, cos, sin: int(LIB.posenc_rope_cache(made, row, count, cos, sin)),
            (cosine_place, sine_place),
        )
    return cosines, sines


# ---- add and rope ---------------------------------------------------------------------------------

USUAL = {"add": {2: "ld", 3: "bld", 4: "blhd"}, "rope": {2: "ld", 3: "lhd", 4: "blhd"}}


def _axes(operation: str, axes: str | None, x: Memory) -> str:
    if axes is None:
        axes = USUAL[operation].get(len(x.shape))
        if axes is None:
            raise ValueError(f"axes: x has {len(x.shape)} of them, and axes= tells which they are, as 'bhld'")
    if len(axes) != len(x.shape) or set(axes) - set("blhd") or axes.count("l") != 1 or axes.find("d") != len(axes) - 1:
        raise ValueError(
            f"axes={axes!r}: not a letter for each of {len(x.shape)} axes: "
            "b batches, one l positions, h heads, d columns, the last"
        )
    return axes


def _sequences(x: Memory, at: int) -> tuple[int, int] | None:
    """Number and distance of the sequences, packed arrays from axis `at` on; None if they do not lie so."""
    if not x.is_packed(at):
        return None
    count, stride = 1, 0
    size = math.prod(x.shape[at:])
    for length, distance in reversed(list(zip(x.shape[:at], x.strides[:at]))):
        if length == 1:
            continue
        if count > 1 and distance != stride * count:
            return None
        if count == 1:
            stride = distance
        count *= length
    return (count, stride) if count == 1 or stride >= size else None


def _require_values(operation: str, x: Any, place: Memory) -> None:
    if place.dtype not in ("f32", "bf16"):
        raise TypeError(f"x: {operation} works on float32 and bfloat16, not {_arrays.LONG[place.dtype]}")
    if _arrays.is_tensor(x) and x.requires_grad and sys.modules["torch"].is_grad_enabled():
        raise ValueError(f"x: requires grad, and {operation} has no gradient: x.detach()")


def _copy(to: Any, x: Any) -> None:
    if _arrays.is_tensor(to):
        to.copy_(x)
    else:
        to[...] = x


def _index(rows: int, repeated: int) -> Any:
    """Each row so many times; None once."""
    if repeated == 1:
        return None
    return (c_int64 * (rows * repeated))(*(row for row in range(rows) for _ in range(repeated)))


def _apply(of: Problem, chosen: dict[str, Any], at: int, x: Any, out: Any) -> None:
    """Applies the problem to all of x, whose axis of positions is `at`."""
    source, target = _arrays.memory("x", x), _arrays.memory("out", out, write=True)
    if math.prod(source.shape) == 0:
        return
    lies, goes = _sequences(source, at), _sequences(target, at)
    same = source.address == target.address and source.strides == target.strides
    if goes is None or (_arrays.overlap(source, target) and not same):
        packed = _arrays.copied(x)
        packed = packed.clone() if packed is x and _arrays.is_tensor(x) else packed.copy() if packed is x else packed
        _apply(of, chosen, at, packed, packed)
        _copy(out, packed)
        return
    if lies is None or (goes[0] > 1 and lies[1] != goes[1]):
        _copy(out, x)
        source = target
    rows = source.shape[at]
    repeated = math.prod(source.shape[at + 1 : -1]) if of.heads == 1 else 1
    slice_ = Slice(size=sizeof(Slice), row=0, rows=rows * repeated, batch=goes[0], stride=goes[1])
    index = _index(rows, repeated)
    if index is not None:
        slice_.index = index
    with plan(of, **chosen) as made:
        require(LIB.posenc_apply(made, byref(slice_), c_void_p(source.address), c_void_p(target.address)))


def _target(x: Any, place: Memory, out: Any) -> Any:
    if out is None:
        return _arrays.empty(place.shape, _arrays.LONG[place.dtype], like=x)
    target = _arrays.memory("out", out, write=True)
    if target.shape != place.shape or target.dtype != place.dtype or _arrays.is_tensor(out) != _arrays.is_tensor(x):
        raise ValueError(f"out: not as x: {target.dtype} {target.shape}, and x is {place.dtype} {place.shape}")
    return out


def add(x: Any, *, axes: str | None = None, out: Any = None, **formula: Unpack[Formula]) -> Any:
    """x + the table, of float32 or bfloat16.

    axes: a letter for each axis of x: b batches, l positions, h heads (which get the same row), d columns, the last;
    ld, bld and blhd without it. out: an array as x, or x itself; without it, a new one. The formula is that of `table`.
    """
    place = _arrays.memory("x", x)
    _require_values("add", x, place)
    axes = _axes("add", axes, place)
    fields, chosen = _split(dict(formula))
    at = axes.index("l")
    of = problem(place.shape[at], place.shape[-1], place.dtype, "add", **fields)
    out = _target(x, place, out)
    _apply(of, chosen, at, place.owner, out)
    return out


def rope(
    x: Any,
    *,
    axes: str | None = None,
    out: Any = None,
    dim: int | None = None,
    start: int = 0,
    inverse: bool = False,
    **angles: Unpack[Angles],
) -> Any:
    """x with its pairs of columns turned by the angles of their positions: rotary embedding, of float32 or bfloat16.

    layout: interleaved, pairs are neighbours (the default), or split, they are halves. axes: a letter for each axis of
    x: b batches, l positions, h heads, d columns, the last; ld, lhd and blhd without it. dim, start: only these columns
    are turned. inverse: turned back, which is the gradient. out: an array as x, or x itself; without it, a new one.

    Where positions, heads and columns of x do not lie packed, and for a part of the columns, x is copied once.
    """
    place = _arrays.memory("x", x)
    _require_values("rope", x, place)
    axes = _axes("rope", axes, place)
    fields, chosen = _split(dict(angles))
    at, start = axes.index("l"), whole("start", start)
    columns = place.shape[-1] - start if dim is None else whole("dim", dim)
    if start < 0 or columns < 1 or start + columns > place.shape[-1]:
        raise ValueError(f"dim, start: columns {start} to {start + columns - 1} of {place.shape[-1]}")
    heads = max(1, math.prod(place.shape[at + 1 : -1]))
    of = problem(place.shape[at], columns, place.dtype, "rope", heads=heads, inverse=inverse, **fields)
    out = _target(x, place, out)
    if columns == place.shape[-1]:
        _apply(of, chosen, at, place.owner, out)
        return out
    if out is not x:
        _copy(out, x)
    part = out[..., start : start + columns]
    turned = _arrays.copied(part)
    _apply(of, chosen, at, turned, turned)
    _copy(part, turned)
    return out
