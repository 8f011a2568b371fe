# SPDX-License-Identifier: MIT
"""Tables, add and rope by libposenc, in arrays of NumPy and tensors of torch."""

from __future__ import annotations

import functools
import math
import sys
from ctypes import POINTER, addressof, byref, c_int64, c_void_p, cast, sizeof
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, TypeVar

from . import _arrays, _library
from ._arrays import BYTES, Memory
from ._library import APPLY, LIB, Slice, integers, problem, require, whole

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


Made = TypeVar("Made")
KEPT = 8


def _keeping(make: Callable[..., Made]) -> Callable[..., Made]:
    """The same function, which keeps what it made last, except of lists of positions, which may change or be long, and
    by a kernel that keeps a table. Arguments that are equal but of another type may be refused, so they count."""
    kept = functools.lru_cache(maxsize=KEPT, typed=True)(make)

    @functools.wraps(make)
    def called(*arguments: Any, **named: Any) -> Made:
        if named.get("positions") is not None or named.get("kernel") == "cached":
            return make(*arguments, **named)
        try:
            hash(tuple(named.values()))
        except TypeError:  # a mapping as scaling, or what `make` refuses by its name
            return make(*arguments, **named)
        return kept(*arguments, **named)

    return called


@_keeping
def _kept_handle(rows: int, dim: int, dtype: str, operation: str, **formula: Any) -> _library.PlanHandle:
    fields, chosen = _split(formula)
    return _library.PlanHandle(problem(rows, dim, dtype, operation, **fields), **chosen)


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
    rows, dim = _length(length, formula.get("positions")), whole("dim", dim)
    plan = _kept_handle(rows, dim, _short(dtype, "out", out), "table", **formula)
    out, place = _result("out", out, (rows, dim), dtype)
    _fill(lambda row, count, address: int(LIB.posenc_execute(plan.handle, row, count, address)), (place,))
    return out


def rope_cache(
    length: int | None, dim: int, *, dtype: Any = None, out: Any = None, **formula: Unpack[Formula]
) -> tuple[Any, Any]:
    """The tables of cosines and of sines that models keep for rope: a pair of arrays of `length` rows.

    As `table`, but layout is duplicated ([f, f], the default), interleaved (each column twice) or split (each once: dim
    / 2 columns), and out is a pair.
    """
    rows, dim = _length(length, formula.get("positions")), whole("dim", dim)
    pair = (None, None) if out is None else tuple(out)
    if len(pair) != 2:
        raise ValueError(f"out: {len(pair)} arrays, not a pair")
    short = _short(dtype, "out[0]", pair[0])
    plan = _kept_handle(rows, dim, short, "rope-cache", **formula)
    shape = (rows, dim // 2 if formula.get("layout") == "split" else dim)
    cosines, cosine_place = _result("out[0]", pair[0], shape, dtype)
    sines, sine_place = _result("out[1]", pair[1], shape, dtype or short)
    _fill(
        lambda row, count, cos, sin: int(LIB.posenc_rope_cache(plan.handle, row, count, cos, sin)),
        (cosine_place, sine_place),
    )
    return cosines, sines


# ---- add and rope ---------------------------------------------------------------------------------

SLICE_SIZE = sizeof(Slice)
NEED_COPIES = "x: on() takes arrays that need no copy, with the columns and heads of the plan"
USUAL = {"add": {2: "ld", 3: "bld", 4: "blhd"}, "rope": {2: "ld", 3: "lhd", 4: "blhd"}}


@functools.cache
def _axes(operation: str, axes: str | None, count: int) -> str:
    """The letters of x's axes, of which there are so many."""
    if axes is None:
        axes = USUAL[operation].get(count)
        if axes is None:
            raise ValueError(f"axes: x has {count} of them, and axes= tells which they are, as 'bhld'")
    if len(axes) != count or set(axes) - set("blhd") or axes.count("l") != 1 or axes.find("d") != len(axes) - 1:
        raise ValueError(
            f"axes={axes!r}: not a letter for each of {count} axes: "
            "b batches, one l positions, h heads, d columns, the last"
        )
    return axes


@functools.lru_cache(maxsize=256)
def _sequences(shape: tuple[int, ...], strides: tuple[int, ...], at: int) -> tuple[int, int] | None:
    """Number and distance of the sequences, packed arrays from axis `at` on; None if they do not lie so."""
    if _arrays.is_packed(shape, strides, 0):
        return math.prod(shape[:at]), math.prod(shape[at:])
    if not _arrays.is_packed(shape, strides, at):
        return None
    count, stride = 1, 0
    size = math.prod(shape[at:])
    for length, distance in reversed(list(zip(shape[:at], strides[:at]))):
        if length == 1:
            continue
        if count > 1 and distance != stride * count:
            return None
        if count == 1:
            stride = distance
        count *= length
    return (count, stride) if count == 1 or stride >= size else None


def _copy(to: Any, x: Any) -> None:
    if _arrays.is_tensor(to):
        to.copy_(x)
    else:
        to[...] = x


def _target(x: Any, place: Memory, out: Any) -> tuple[Any, Memory]:
    """The array to write, which is `out` unless that is None, and its memory. If it is x, `place` may be written."""
    if out is x:
        return out, place
    if out is None:
        out = _arrays.empty(place.shape, _arrays.LONG[place.dtype], like=x)
    target = _arrays.memory("out", out, write=True)
    if target.shape != place.shape or target.dtype != place.dtype or _arrays.is_tensor(out) != _arrays.is_tensor(x):
        raise ValueError(f"out: not as x: {target.dtype} {target.shape}, and x is {place.dtype} {place.shape}")
    return out, target


def _require_columns(start: int, columns: int, width: int) -> None:
    if start < 0 or columns < 1 or start + columns > width:
        raise ValueError(f"dim, start: columns {start} to {start + columns - 1} of {width}")


@functools.lru_cache(maxsize=256)
def _repeated(operation: str, dim: int, heads: int, shape: tuple[int, ...], at: int, start: int) -> int:
    """How often each row of a plan is applied to x of this shape, which fits the plan: for its heads, if the plan does
    not know them."""
    if operation == "add" and (start != 0 or shape[-1] != dim):
        raise ValueError(f"x: it has {shape[-1]} columns, and the plan of add {dim}")
    _require_columns(start, dim, shape[-1])
    found = math.prod(shape[at + 1 : -1])
    if heads not in (1, found):
        raise ValueError(f"x: it has {found} heads, and the plan {heads}")
    return found // heads


class _Fit(NamedTuple):
    """Packed arrays of one type, dtype and shape, to which a plan applies its rows: without copies, once each."""

    arrays: _arrays.Quick
    rows: Slice  # the first of the plan


@functools.lru_cache(maxsize=256)
def _fit(
    operation: str,
    short: str,
    dim: int,
    heads: int,
    kind: type,
    dtype: Any,
    shape: tuple[int, ...],
    axes: str | None,
    start: int,
) -> _Fit | None:
    """None if these arrays do not fit a plan of this operation, dtype, dim and heads so."""
    arrays = _arrays.quick(kind, dtype, shape)
    if arrays is None or arrays.dtype != short or shape[-1] != dim:
        return None
    at = _axes(operation, axes, len(shape)).index("l")
    if _repeated(operation, dim, heads, shape, at, start) != 1:
        return None
    return _Fit(arrays, Slice(SLICE_SIZE, 0, shape[at], None, math.prod(shape[:at]), math.prod(shape[at:])))


def _apply_quickly(handle: c_void_p, slice_: Any, arrays: _arrays.Quick, x: Any, out: Any) -> Any:
    """Applies rows to such arrays, and returns what it wrote, which is new if `out` is None. None if the arrays must be
    looked at: they are not both such arrays, or overlap."""
    try:
        source = target = arrays.first(x)
        if out is not x:
            if out is None:
                out = arrays.new(x)
            elif type(out) is not type(x) or out.dtype != x.dtype or out.shape != x.shape:
                return None
            target = arrays.first(out)
            if 0 < abs(addressof(target) - addressof(source)) < arrays.size:
                return None
    except _arrays.NOT_QUICK:
        return None
    status = APPLY(handle, slice_, byref(source), byref(target))
    if status:
        require(status)
    return out


class Plan:
    """add or rope whose frequencies are made once, for many calls: those of a model that decodes.

    operation: "add" or "rope". length, dim: positions and columns of the problem; a call applies some of its rows.
    heads: rope's heads of x, or 1 for any number, each of which is then a row of its own. dtype: that of every x,
    float32 or bfloat16. inverse: rope's pairs are turned back. The formula and the kernel are those of `table`. A call
    may be made from any thread, and by several at once.
    """

    def __init__(
        self,
        operation: str,
        length: int | None,
        dim: int,
        *,
        dtype: Any = "float32",
        heads: int = 1,
        inverse: bool = False,
        **formula: Unpack[Formula],
    ) -> None:
        if operation not in USUAL:
            raise ValueError(f"operation={operation!r}: not one of add, rope")
        fields, chosen = _split(dict(formula))
        if operation == "rope":
            fields["inverse"] = inverse
        elif inverse:
            raise ValueError("inverse: add has none")
        self.operation, self.dtype = operation, _arrays.short_dtype("dtype", dtype)
        if self.dtype not in ("f32", "bf16"):
            raise TypeError(f"{operation} works on float32 and bfloat16, not {_arrays.LONG[self.dtype]}")
        self.length, self.dim, self.heads = _length(length, fields.get("positions")), whole("dim", dim), heads
        of = problem(self.length, self.dim, self.dtype, operation, heads=heads, **fields)
        self._plan = _library.PlanHandle(of, **chosen)

    def __call__(
        self,
        x: Any,
        *,
        row: int = 0,
        rows: Sequence[int] | Any | None = None,
        axes: str | None = None,
        start: int = 0,
        out: Any = None,
    ) -> Any:
        """x with rows of the problem applied to its positions: `row` and those after it, or `rows`, a row for each.

        start: rope turns dim columns from this one on. axes and out are those of `rope` and `add`.
        """
        if rows is None and type(row) is int:
            kind: Any = type(x)
            try:
                fit = _fit(self.operation, self.dtype, self.dim, self.heads, kind, x.dtype, x.shape, axes, start)
            except (TypeError, ValueError, AttributeError):
                fit = None
            if fit and 0 <= row <= self.length - fit.rows.rows:
                slice_ = Slice.from_buffer_copy(fit.rows)
                slice_.row = row
                written = _apply_quickly(self._plan.handle, byref(slice_), fit.arrays, x, out)
                if written is not None:
                    return written
        place = _arrays.memory("x", x, write=out is x)
        return self._apply_to(x, place, _axes(self.operation, axes, len(place.shape)), row, rows, start, out)

    def _apply_to(self, x: Any, place: Memory, axes: str, row: int, rows: Any, start: int, out: Any) -> Any:
        self._require_dtype(x, place)
        at = axes.index("l")
        repeated = _repeated(self.operation, self.dim, self.heads, place.shape, at, start)
        row = whole("row", row)
        if rows is not None:
            rows = integers("rows", rows)
            if len(rows) != place.shape[at]:
                raise ValueError(f"rows: {len(rows)} of them for {place.shape[at]} positions of x")
        elif not 0 <= row <= self.length - place.shape[at]:
            raise ValueError(f"row={row}: x has {place.shape[at]} positions, and the plan {self.length} rows")
        out, target = _target(x, place, out)
        if place.shape[-1] == self.dim:
            self._apply(at, repeated, row, rows, place, target)
            return out
        if out is not x:
            _copy(out, x)
        part = out[..., start : start + self.dim]
        turned = _arrays.memory("x", _arrays.copied(part))
        self._apply(at, repeated, row, rows, turned, turned)
        _copy(part, turned.owner)
        return out

    def _apply(self, at: int, repeated: int, row: int, rows: Any, source: Memory, target: Memory) -> None:
        """Applies rows, each so often, to all of the source, whose axis of positions is `at`."""
        if 0 in source.shape:
            return
        goes = _sequences(target.shape, target.strides, at)
        if goes is None or (source is not target and self._meet(source, target)):
            packed = _arrays.memory("x", _arrays.clone(source.owner))
            self._apply(at, repeated, row, rows, packed, packed)
            _copy(target.owner, packed.owner)
            return
        lies = goes if source is target else _sequences(source.shape, source.strides, at)
        if lies is None or (goes[0] > 1 and lies[1] != goes[1]):
            _copy(target.owner, source.owner)
            source = target
        count = source.shape[at]
        slice_ = Slice(SLICE_SIZE, row, count * repeated, None, goes[0], goes[1])
        if repeated > 1:
            each = range(row, row + count) if rows is None else rows
            rows = (c_int64 * (count * repeated))(*(one for one in each for _ in range(repeated)))
        if rows is not None:
            slice_.index = cast(rows, POINTER(c_int64))
        status = APPLY(self._plan.handle, byref(slice_), c_void_p(source.address), c_void_p(target.address))
        if status:
            require(status)

    def on(self, x: Any, *, axes: str | None = None, out: Any = None) -> Callable[..., Any]:
        """A function of `row` alone, which applies rows from this one on to x: the arrays have been looked at before.

        For buffers that stay, as those of a model that decodes: a call takes a quarter of the plan's. x and out lie
        packed, or as sequences that are, and x has the plan's columns and heads. One thread at a time may call it.
        """
        place = _arrays.memory("x", x, write=out is x)
        at = _axes(self.operation, axes, len(place.shape)).index("l")
        self._require_dtype(x, place)
        repeated = _repeated(self.operation, self.dim, self.heads, place.shape, at, 0)
        out, target = _target(x, place, out)
        lies, goes = (_sequences(one.shape, one.strides, at) for one in (place, target))
        apart = lies is None or goes is None or (goes[0] > 1 and lies[1] != goes[1])
        other = apart or repeated > 1 or place.shape[-1] != self.dim or place.owner is not x
        if goes is None or other or self._meet(place, target):
            raise ValueError(NEED_COPIES)
        return _Call(self, (x, out), Slice(SLICE_SIZE, 0, place.shape[at], None, *goes), place, target)

    def _require_dtype(self, x: Any, place: Memory) -> None:
        if place.dtype != self.dtype:
            raise TypeError(f"x: its dtype is {_arrays.LONG[place.dtype]}, and the plan's {_arrays.LONG[self.dtype]}")
        if _arrays.is_tensor(x) and x.requires_grad and sys.modules["torch"].is_grad_enabled():
            raise ValueError(f"x: requires grad, and {self.operation} has no gradient: x.detach()")

    @staticmethod
    def _meet(source: Memory, target: Memory) -> bool:
        """Whether two memories have bytes in common, and are not the same array."""
        same = source.address == target.address and source.strides == target.strides
        return not same and _arrays.overlap(source, target)


class _Call:
    """What Plan.on returns. It keeps the plan and the arrays."""

    def __init__(self, plan: Plan, arrays: tuple[Any, Any], slice_: Slice, place: Memory, target: Memory) -> None:
        self._plan, self._arrays, self._slice = plan, arrays, slice_
        self._last = plan.length - slice_.rows
        self._arguments = plan._plan.handle, byref(slice_), c_void_p(place.address), c_void_p(target.address)

    def __call__(self, row: int = 0) -> Any:
        if type(row) is not int:
            row = whole("row", row)
        if not 0 <= row <= self._last:
            raise ValueError(f"row={row}: x has {self._slice.rows} positions, and the plan {self._plan.length} rows")
        self._slice.row = row
        status = APPLY(*self._arguments)
        if status:
            require(status)
        return self._arrays[1]


_kept_plan = _keeping(Plan)


def _plan_of(
    operation: str, dtype: str, shape: tuple[int, ...], axes: str, dim: int | None, start: int, /, **formula: Any
) -> Plan:
    """The plan of a function for x of this shape."""
    at = axes.index("l")
    if operation == "add":
        return _kept_plan(operation, shape[at], shape[-1], dtype=dtype, **formula)
    columns = shape[-1] - start if dim is None else whole("dim", dim)
    _require_columns(start, columns, shape[-1])
    heads = max(1, math.prod(shape[at + 1 : -1]))
    return _kept_plan(operation, shape[at], columns, dtype=dtype, heads=heads, **formula)


class _Quick(NamedTuple):
    """A function applied to arrays of one type, dtype and shape that lie packed. It keeps the plan and the slice, which
    no call changes: threads share them."""

    kept: tuple[Plan, _Fit]
    arguments: tuple[c_void_p, Any, _arrays.Quick]


@functools.lru_cache(typed=True, maxsize=KEPT)
def _quick(
    operation: str,
    kind: type,
    dtype: Any,
    shape: tuple[int, ...],
    axes: str | None,
    dim: int | None,
    start: int,
    /,
    **formula: Any,
) -> _Quick | None:
    """None if each array has to be looked at. Arguments that are equal but of another type count, as in _keeping."""
    if formula.get("kernel") == "cached" or _arrays.quick(kind, dtype, shape) is None:
        return None
    letters, short = _axes(operation, axes, len(shape)), _arrays.short_dtype("x", dtype)
    plan = _plan_of(operation, short, shape, letters, dim, start, **formula)
    fit = _fit(operation, plan.dtype, plan.dim, plan.heads, kind, dtype, shape, axes, start)
    if fit is None:
        return None
    return _Quick((plan, fit), (plan._plan.handle, byref(fit.rows), fit.arrays))


def _applied(operation: str, x: Any, out: Any, axes: str | None, dim: int | None, start: int, formula: Any) -> Any:
    """What add and rope do. If the quick way fails, the other does it, or tells of the mistake."""
    if "positions" not in formula:
        kind: Any = type(x)
        try:
            quick = _quick(operation, kind, x.dtype, x.shape, axes, dim, start, **formula)
        except (TypeError, ValueError, AttributeError):
            quick = None
        if quick:
            written = _apply_quickly(*quick.arguments, x, out)
            if written is not None:
                return written
    place = _arrays.memory("x", x, write=out is x)
    axes, start = _axes(operation, axes, len(place.shape)), whole("start", start)
    plan = _plan_of(operation, place.dtype, place.shape, axes, dim, start, **formula)
    return plan._apply_to(x, place, axes, 0, None, start, out)


def add(x: Any, *, axes: str | None = None, out: Any = None, **formula: Unpack[Formula]) -> Any:
    """x + the table, of float32 or bfloat16.

    axes: a letter for each axis of x: b batches, l positions, h heads (which get the same row), d columns, the last;
    ld, bld and blhd without it. out: an array as x, or x itself; without it, a new one. The formula is that of `table`.
    The plans of the last calls are kept; `Plan` keeps one for any rows.
    """
    return _applied("add", x, out, axes, None, 0, formula)


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
    The plans of the last calls are kept; `Plan` keeps one for any rows.

    Where positions, heads and columns of x do not lie packed, and for a part of the columns, x is copied once.
    """
    formula: Any = angles
    if inverse is not False:
        formula["inverse"] = inverse
    return _applied("rope", x, out, axes, dim, start, formula)
