# SPDX-License-Identifier: MIT
"""libposenc by ctypes: the structs of posenc.h, and problems and plans made from Python's arguments."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import Any, Union

HERE = Path(__file__).resolve().parent
LAYOUTS = ("interleaved", "interleaved-cs", "split", "split-cs", "duplicated")
DTYPES = ("f32", "f64", "f16", "bf16")
OPERATIONS = ("table", "add", "rope", "rope-cache")
SCALINGS = ("none", "linear", "dynamic", "yarn", "llama3", "longrope")
# As of the command; what has no default is 0, which the library refuses as not set.
SCALING_DEFAULTS: dict[str, dict[str, Any]] = {
    "yarn": {"low": 1.0, "high": 32.0},
    "llama3": {"factor": 8.0, "original": 8192, "low": 1.0, "high": 4.0},
    "longrope": {"factor": 1.0, "original": 2},
}
ODDS = ("refuse", "pad", "ceil")
BAD_PROBLEM, OUT_OF_MEMORY = 2, 7  # of posenc_status
NO_PADDING = -(2**63)

ScalingLike = Union[str, Mapping[str, Any], None]


class Scaling(Structure):
    """posenc_scaling"""

    _fields_ = [
        ("kind", c_int),
        ("factor", c_double),
        ("original", c_int64),
        ("length", c_double),
        ("low", c_double),
        ("high", c_double),
        ("truncate", c_bool),
        ("attention", c_double),
        ("factors", POINTER(c_double)),
    ]


class Problem(Structure):
    """posenc_problem"""

    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("dim", c_int64),
        ("first", c_int64),
        ("base", c_double),
        ("shift", c_double),
        ("padding", c_int64),
        ("layout", c_int),
        ("dtype", c_int),
        ("op", c_int),
        ("heads", c_int64),
        ("inverse", c_bool),
        ("scale", c_double),
        ("scaling", Scaling),
        ("odd", c_int),
        ("positions", POINTER(c_double)),
        ("axes", c_void_p),
    ]


class Options(Structure):
    """posenc_options"""

    _fields_ = [
        ("size", c_size_t),
        ("kernel", c_void_p),
        ("max_abs", c_double),
        ("max_ulp", c_double),
        ("threads", c_int),
        ("isa", c_uint),
        ("stores", c_int),
        ("wisdom", c_void_p),
    ]


class Slice(Structure):
    """posenc_slice"""

    _fields_ = [
        ("size", c_size_t),
        ("row", c_int64),
        ("rows", c_int64),
        ("index", POINTER(c_int64)),
        ("batch", c_int64),
        ("stride", c_int64),
    ]


def _load() -> ctypes.CDLL:
    lib = ctypes.CDLL(os.environ.get("POSENC_LIBRARY") or str(HERE / "lib" / "libposenc.so.0"))
    functions: tuple[tuple[Any, ...], ...] = (
        ("posenc_version", c_char_p),
        ("posenc_status_message", c_char_p, c_int),
        ("posenc_problem_refusal", c_char_p, POINTER(Problem)),
        ("posenc_kernel_find", c_void_p, c_char_p),
        ("posenc_kernel_refusal", c_char_p, c_void_p, POINTER(Problem), POINTER(Options)),
        ("posenc_plan_create", c_int, POINTER(c_void_p), POINTER(Problem), POINTER(Options)),
        ("posenc_plan_destroy", None, c_void_p),
        ("posenc_execute", c_int, c_void_p, c_int64, c_int64, c_void_p),
        ("posenc_rope_cache", c_int, c_void_p, c_int64, c_int64, c_void_p, c_void_p),
    )
    for name, result, *arguments in functions:
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


LIB = _load()
# ctypes does not look at the arguments of this one, which would take as long as one position: all must be objects of
# ctypes, since a number would be cut to C's int.
APPLY = LIB["posenc_apply"]


def version() -> str:
    """The version of libposenc."""
    return bytes(LIB.posenc_version()).decode()


# ---- arguments ----------------------------------------------------------------------------------


def choice(argument: str, value: Any, words: Sequence[str]) -> int:
    """The number of one of the words; a ValueError names the argument."""
    if value not in words:
        raise ValueError(f"{argument}={value!r}: not one of {', '.join(words)}")
    return words.index(value)


def whole(argument: str, value: Any) -> int:
    """An integer of 64 bits."""
    try:
        number: int = value.__index__()
    except AttributeError:
        raise TypeError(f"{argument}={value!r}: not an integer") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{argument}={value!r}: not an integer of 64 bits")
    return number


def real(argument: str, value: Any) -> float:
    """A double."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{argument}={value!r}: not a number") from None


def _listed(argument: str, values: Any, kind: str, number: Callable[[str, Any], Any], of: Any) -> Any:
    """Numbers as an array of C: of a sequence, or of an array or tensor with one axis."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise TypeError(f"{argument}={values!r}: not a list of {kind}")
    return (of * len(values))(*[number(argument, value) for value in values])


def doubles(argument: str, values: Any) -> ctypes.Array[c_double]:
    """An array of C's double."""
    return _listed(argument, values, "numbers", real, c_double)  # type: ignore[no-any-return]


def integers(argument: str, values: Any) -> ctypes.Array[c_int64]:
    """An array of integers of 64 bits."""
    return _listed(argument, values, "integers", whole, c_int64)  # type: ignore[no-any-return]


def scaling_fields(scaling: ScalingLike) -> dict[str, Any]:
    """The parameters of a scaling, "kind" among them, of a mapping or of the command's text, "yarn,factor=4"."""
    if scaling is None:
        return {"kind": "none"}
    if isinstance(scaling, Mapping):
        return dict(scaling)
    if not isinstance(scaling, str):
        raise TypeError(f"scaling={scaling!r}: neither a text like 'yarn,factor=4,original=8192' nor a mapping")
    kind, *pairs = scaling.split(",")
    fields: dict[str, Any] = {"kind": kind}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"scaling={scaling!r}: {pair!r} is not KEY=VALUE")
        if key == "truncate":
            fields[key] = choice("scaling: truncate", value, ("no", "yes")) == 1
        else:
            fields[key] = [float(part) for part in value.split(":")] if key == "factors" else value
    return fields


def scaling_text(scaling: ScalingLike) -> str:
    """The same as the command's option --scaling has it."""
    if isinstance(scaling, str):
        return scaling
    fields = scaling_fields(scaling)
    words = [str(fields.pop("kind", None))]
    for key, value in fields.items():
        if key == "factors":
            value = ":".join(repr(factor) for factor in doubles("scaling: factors", value))
        elif isinstance(value, bool):
            value = "yes" if value else "no"
        words.append(f"{key}={value}")
    return ",".join(words)


def _scaling(scaling: ScalingLike) -> Scaling:
    fields = scaling_fields(scaling)
    kind = choice("scaling: kind", fields.pop("kind", None), SCALINGS)
    made = Scaling(kind=kind, truncate=True, **SCALING_DEFAULTS.get(SCALINGS[kind], {}))
    for key, value in fields.items():
        name = f"scaling: {key}"
        if key in ("factor", "length", "low", "high", "attention"):
            setattr(made, key, real(name, value))
        elif key == "original":
            setattr(made, key, whole(name, int(value) if isinstance(value, str) else value))
        elif key == "truncate":
            made.truncate = bool(value)
        elif key == "factors":
            made.factors = ctypes.cast(doubles(name, value), POINTER(c_double))
        else:
            raise ValueError(f"{name}: not a parameter of a scaling")
    return made


# ---- problems and plans -------------------------------------------------------------------------


def problem(rows: int, dim: int, dtype: str, operation: str, **fields: Any) -> Problem:
    """The problem of these fields, valid. A list of positions takes the place of offset; its memory lives as long."""
    unknown = sorted(set(fields) - set(FORMULA))
    if unknown:
        raise TypeError(f"{unknown[0]}: not a parameter of {operation}")
    given = {**FORMULA, **fields}
    if given["layout"] is None:
        given["layout"] = "duplicated" if operation == "rope-cache" else "interleaved"
    made = Problem(
        size=ctypes.sizeof(Problem),
        rows=rows,
        dim=dim,
        first=whole("offset", given["offset"]),
        base=real("base", given["base"]),
        shift=real("shift", given["shift"]),
        padding=NO_PADDING if given["padding"] is None else whole("padding", given["padding"]),
        layout=choice("layout", given["layout"], LAYOUTS),
        dtype=DTYPES.index(dtype),
        op=OPERATIONS.index(operation),
        heads=whole("heads", given["heads"]),
        inverse=bool(given["inverse"]),
        scale=real("scale", given["scale"]),
        scaling=_scaling(given["scaling"]),
        odd=choice("odd", given["odd"], ODDS),
    )
    if given["positions"] is not None:
        positions = doubles("positions", given["positions"])
        if len(positions) != rows:
            raise ValueError(f"positions: {len(positions)} of them for {rows} rows")
        made.positions = ctypes.cast(positions, POINTER(c_double))
    refusal = LIB.posenc_problem_refusal(byref(made))
    if refusal:
        raise ValueError(f"{operation}: {refusal.decode()}")
    return made


# The fields of a formula and their defaults, named as the command's options.
FORMULA: dict[str, Any] = {
    "offset": 0,
    "positions": None,
    "base": 10000.0,
    "shift": 0.0,
    "scale": 1.0,
    "scaling": None,
    "padding": None,
    "layout": None,
    "odd": "refuse",
    "heads": 1,
    "inverse": False,
}


def require(status: int, what: str = "posenc") -> None:
    """Raises if the status is an error."""
    if status == OUT_OF_MEMORY:
        raise MemoryError(f"{what}: out of memory")
    if status != 0:
        raise ValueError(f"{what}: {LIB.posenc_status_message(status).decode()}")


class PlanHandle:
    """A plan of the library: `handle`, until the object ends. It keeps the problem, whose lists the plan may read."""

    def __init__(self, of: Problem, *, kernel: str | None, max_ulp: float, max_abs: float, threads: int) -> None:
        self.handle = c_void_p()
        self.problem = of
        options = Options(size=ctypes.sizeof(Options))
        options.max_abs, options.max_ulp = real("max_abs", max_abs), real("max_ulp", max_ulp)
        options.threads = whole("threads", threads)
        if kernel is not None:
            options.kernel = LIB.posenc_kernel_find(kernel.encode())
            if not options.kernel:
                raise ValueError(f"kernel={kernel!r}: no such kernel")
            refusal = LIB.posenc_kernel_refusal(options.kernel, byref(of), byref(options))
            if refusal:
                raise ValueError(f"kernel={kernel!r}: {refusal.decode()}")
        require(LIB.posenc_plan_create(byref(self.handle), byref(of), byref(options)))

    def __del__(self, destroy: Any = LIB.posenc_plan_destroy) -> None:
        destroy(self.handle)  # which at the end of Python may outlive the names of this module
