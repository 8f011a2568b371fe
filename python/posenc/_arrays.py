# SPDX-License-Identifier: MIT
"""NumPy arrays and torch tensors as memory: where they lie, their dtype, axes and strides. Neither is imported unless
an argument is of it, but NumPy where an array must be made."""

from __future__ import annotations

import functools
import importlib
import math
import sys
from ctypes import addressof, c_char
from typing import TYPE_CHECKING, Any, NamedTuple

from ._library import DTYPES

if TYPE_CHECKING:
    from collections.abc import Callable

# Names of dtypes in NumPy (bfloat16 is that of ml_dtypes) and torch, and of complex numbers: pairs of these.
NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}
LONG = {short: long for long, short in NAMES.items()}
BYTES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2}
COMPLEX = {"complex64": "f32", "complex128": "f64"}


@functools.lru_cache(maxsize=256)
def is_packed(shape: tuple[int, ...], strides: tuple[int, ...], begin: int) -> bool:
    """Whether the axes from this one on lie in C's order without gaps; strides are in elements."""
    if 0 in shape:
        return True
    expected = 1
    for axis in range(len(shape) - 1, begin - 1, -1):
        if shape[axis] > 1 and strides[axis] != expected:
            return False
        expected *= shape[axis]
    return True


class Memory(NamedTuple):
    """An array's memory. `owner` keeps it alive."""

    owner: Any
    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements

    def is_packed(self, begin: int = 0) -> bool:
        """is_packed of it."""
        return is_packed(self.shape, self.strides, begin)


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def _name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]  # torch.float32


def short_dtype(argument: str, dtype: Any) -> str:
    """ "f32" for numpy.float32, torch.float32, "float32" and "f32"."""
    if isinstance(dtype, str) and dtype in DTYPES:
        return dtype
    name = _name(dtype)
    if name not in NAMES:
        numpy = _numpy()
        try:
            name = numpy.dtype(dtype).name
        except TypeError:
            pass
    if name not in NAMES:
        raise TypeError(f"{argument}={dtype!r}: not one of float32, float64, float16, bfloat16")
    return NAMES[name]


@functools.cache
def _numpy() -> Any:
    try:
        import numpy
    except ImportError as missing:
        raise ImportError("NumPy is missing, which makes the arrays; tensors of torch do without") from missing
    return numpy


def empty(shape: tuple[int, ...], dtype: Any, *, like: Any = None) -> Any:
    """A new array: a tensor for a dtype of torch or `like` a tensor, else NumPy's."""
    torch = sys.modules.get("torch")
    short = short_dtype("dtype", dtype)
    if torch is not None and (isinstance(dtype, torch.dtype) or is_tensor(like)):
        return torch.empty(shape, dtype=getattr(torch, LONG[short]))
    if short == "bf16":
        try:
            ml_dtypes = importlib.import_module("ml_dtypes")
        except ImportError:
            raise TypeError(f"dtype={dtype!r}: NumPy has no bfloat16; torch.bfloat16 makes a tensor") from None
        return _numpy().empty(shape, ml_dtypes.bfloat16)
    return _numpy().empty(shape, LONG[short])


def memory(argument: str, x: Any, *, write: bool = False) -> Memory:
    """The memory of an array or tensor of real numbers. Whatever else has NumPy's array interface is taken, too."""
    if is_tensor(x):
        x = _as_real(argument, x, write)
        dtype, address, shape, strides = _torch_name(x.dtype), x.data_ptr(), tuple(x.shape), x.stride()
    else:
        x = _as_array(argument, x, write)
        kind, shape = x.dtype, x.shape
        dtype, strides = _numpy_name(kind), _in_elements(x.strides, kind.itemsize)
        if strides is None:
            raise ValueError(f"{argument}: its strides are no multiples of an element")
        address = _address(x)
    if dtype not in NAMES:
        raise TypeError(f"{argument}: its dtype is {dtype}, not float32, float64, float16 or bfloat16")
    return Memory(x, address, NAMES[dtype], shape, strides)


def _as_real(argument: str, x: Any, write: bool) -> Any:
    """A tensor whose elements are what its memory has."""
    if not x.is_cpu:
        raise ValueError(f"{argument}: a tensor on {x.device}, and posenc reads the CPU's memory: {argument}.cpu()")
    if x.layout != sys.modules["torch"].strided:
        raise TypeError(f"{argument}: a tensor of layout {x.layout}, not strided")
    if write and x.requires_grad:
        raise ValueError(f"{argument}: requires grad, and cannot be written")
    if x.is_conj() or x.is_neg():
        if write:
            raise ValueError(f"{argument}: a view that torch negates when it is read cannot be written")
        x = x.resolve_conj().resolve_neg()
    return x


_torch_name = functools.cache(_name)


@functools.lru_cache(maxsize=256)
def _in_elements(strides: tuple[int, ...], item: int) -> tuple[int, ...] | None:
    """Strides in bytes as numbers of elements; None if they are not whole."""
    item = max(item, 1)
    return None if any(stride % item for stride in strides) else tuple(stride // item for stride in strides)


@functools.cache
def _numpy_name(dtype: Any) -> str:
    """A dtype of NumPy is named by code in Python, which takes longer than the rest of `memory`."""
    return "bfloat16" if dtype.str[1:] == "V2" else str(dtype.name)


def _address(x: Any) -> int:
    """The address of an array of NumPy. Its buffer tells it in a quarter of the time of its array interface, but not
    of an array with gaps, without elements, read-only, or of ml_dtypes."""
    flags = x.flags
    if flags.c_contiguous and flags.writeable and x.size and x.dtype.isbuiltin == 1:
        return addressof(c_char.from_buffer(x))
    return x.__array_interface__["data"][0]  # type: ignore[no-any-return]


# ---- arrays that lie packed, found faster than by `memory` --------------------------------------------

# Exceptions of the address of an array that has gaps or may not be written, and of a tensor that is not strided.
NOT_QUICK = (TypeError, ValueError, BufferError, RuntimeError)
of_buffer: Callable[[Any], c_char] = c_char.from_buffer


class Quick(NamedTuple):
    """All arrays of one type, dtype and shape: where they begin, how another is made, and what they take."""

    first: Callable[[Any], c_char]  # their first byte
    new: Callable[[Any], Any]  # another one as this
    dtype: str
    size: int  # in bytes


def _of_words(x: Any) -> c_char:
    """An array of ml_dtypes, which has no buffer."""
    return of_buffer(x.view("u2"))


def _of_tensor(x: Any) -> c_char:
    if not x.is_cpu or not x.is_contiguous() or x.requires_grad or x.is_neg():
        raise ValueError
    return c_char.from_address(x.data_ptr())


def quick(kind: type, dtype: Any, shape: tuple[int, ...]) -> Quick | None:
    """None if `memory` has to look at each of these arrays."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    first: Callable[[Any], c_char]
    if torch is not None and kind is torch.Tensor:
        name, first, new = _torch_name(dtype), _of_tensor, torch.empty_like
    elif numpy is not None and kind is numpy.ndarray and dtype.isnative:
        name, first, new = str(dtype.name), of_buffer, numpy.empty_like
        if dtype.isbuiltin != 1:
            first = _of_words
    else:
        return None
    if name not in NAMES:
        return None
    return Quick(first, new, NAMES[name], math.prod(shape) * BYTES[NAMES[name]])


def _as_array(argument: str, x: Any, write: bool) -> Any:
    numpy = _numpy()
    if not isinstance(x, numpy.ndarray):
        if not hasattr(x, "__array_interface__") and not hasattr(x, "__array__"):
            raise TypeError(f"{argument}: {type(x).__name__} is neither a NumPy array nor a tensor of torch")
        x = numpy.asarray(x)
    if write and not (x.flags.writeable and x.dtype.isnative):
        raise ValueError(f"{argument}: an array that is read-only, or of another machine's byte order")
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def as_read(argument: str, x: Any) -> Memory:
    """The memory of an array to look at: complex numbers are pairs of columns. Rows whose elements do not lie one
    after the other are copied, as tables in Fortran's order and of another byte order are."""
    if is_tensor(x):
        if x.is_complex():
            torch = sys.modules["torch"]
            x = torch.view_as_real(x.resolve_conj())
            x = x.flatten(-2) if x.dim() > 2 else x
        x = x.detach()
    elif not isinstance(x, (str, bytes)) and hasattr(x, "dtype") and getattr(x.dtype, "name", "") in COMPLEX:
        numpy = _numpy()
        x = x.reshape(-1, 1) if x.ndim < 2 else x
        x = numpy.ascontiguousarray(x) if x.strides[-1] != x.itemsize else x
        x = x.view(COMPLEX_PARTS[x.dtype.name])
    found = memory(argument, x)
    pairs = len(found.shape) > 1 and found.shape[-1] == 2
    if found.is_packed(len(found.shape) - (2 if pairs else 1)):
        return found
    return memory(argument, copied(found.owner))


COMPLEX_PARTS = {name: LONG[part] for name, part in COMPLEX.items()}


def copied(x: Any) -> Any:
    """The same numbers, packed in C's order."""
    return x.contiguous() if is_tensor(x) else _numpy().ascontiguousarray(x)


def clone(x: Any) -> Any:
    """The same numbers in memory of their own, packed in C's order."""
    if is_tensor(x):
        return x.clone(memory_format=sys.modules["torch"].contiguous_format)
    return _numpy().array(x, order="C")


def overlap(a: Memory, b: Memory) -> bool:
    """Whether two memories may have bytes in common."""
    if 0 in a.shape or 0 in b.shape:
        return False
    low, high = _reach(a.shape, a.strides, BYTES[a.dtype])
    other_low, other_high = _reach(b.shape, b.strides, BYTES[b.dtype])
    return a.address + low < b.address + other_high and b.address + other_low < a.address + high


@functools.lru_cache(maxsize=256)
def _reach(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> tuple[int, int]:
    """The first byte of an array and the one past its last, from its address on."""
    reach = [(length - 1) * stride for length, stride in zip(shape, strides)]
    return size * sum(r for r in reach if r < 0), size * (1 + sum(r for r in reach if r > 0))
