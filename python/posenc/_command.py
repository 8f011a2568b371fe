# SPDX-License-Identifier: MIT
"""check and identify: the posenc command, which reads arrays in the memory of this process."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any, Dict

from . import _arrays
from ._arrays import BYTES, Memory
from ._library import HERE, ScalingLike, scaling_text

# Longer lists are given as a file in memory: an argument of a program is limited to 128 KiB.
LISTED = 1000


class Record(Dict[str, Any]):
    """A record of the command, as its --format json prints it."""

    text: str
    """What the command prints."""
    ok: bool
    """Whether its exit status is 0."""

    def __str__(self) -> str:
        return self.text


class Check(Record):
    """The record of `check`. It is ok if every element is within the limit; without one, if no mistake is found in what
    was made of x, and the array is that of the config."""

    @property
    def entry(self) -> dict[str, Any]:
        """The facts about the array: max_ulp, max_abs, mean_ulp, misrounded, histogram, positions, checks, cause …"""
        entry: dict[str, Any] = self["records"][0]
        return entry

    @property
    def max_ulp(self) -> float:
        """The largest error in ulp; NaN where values are not finite."""
        return _number(self.entry["max_ulp"]["ulp"])

    @property
    def max_abs(self) -> float:
        """The largest absolute error; NaN where values are not finite."""
        return _number(self.entry["max_abs"]["abs"])

    @property
    def cause(self) -> str | None:
        """Why the array differs from what was asked: the mistake that explains it, or what its errors are."""
        cause: str | None = self.entry.get("cause")
        return cause


class Identity(Record):
    """The record of `identify`. It is ok if the array is a sinusoidal positional encoding."""

    @property
    def sentence(self) -> str:
        """What it is, in one sentence."""
        return str(self["sentence"])


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def binary() -> str:
    """The path of the posenc command."""
    return os.environ.get("POSENC_COMMAND") or str(HERE / "bin" / "posenc")


# ---- running it -----------------------------------------------------------------------------------


def _line(name: str, memory_of_process: int, array: Memory) -> str:
    """As inspect/files/table.h has it."""
    size = BYTES[array.dtype]
    axes = " ".join(f"{length}:{stride * size}" for length, stride in zip(array.shape, array.strides))
    return f"{name} {memory_of_process} {array.address} {array.dtype} {axes}"


def _content(descriptor: int, descriptors: dict[int, str]) -> str:
    """What was written there, in which files in memory have their names."""
    with open(descriptor, "rb", closefd=False) as file:
        file.seek(0)
        text = file.read().decode(errors="replace")
    return re.sub(r"/proc/self/fd/([0-9]+)\b", lambda path: descriptors.get(int(path[1]), path[0]), text)


def _refusal(text: str) -> str:
    """The message without the program, and with arguments named as in Python."""
    line = re.sub(r"^posenc[a-z ]*: ", "", text.strip().rpartition("\n")[2])
    named = re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), line)
    return re.sub(r"^(\w+) \1: ", r"\1: ", named)  # what is in memory has no other name


def _file(name: str, text: str, descriptors: dict[int, str]) -> str:
    """The path of a file in memory, which a message calls by its name."""
    descriptor = os.memfd_create(name)
    descriptors[descriptor] = name
    with open(descriptor, "w", closefd=False) as file:
        file.write(text)
    return f"/proc/self/fd/{descriptor}"


def _positions(value: Any, descriptors: dict[int, str]) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    numbers = value.tolist() if hasattr(value, "tolist") else list(value)
    text = ",".join(repr(number) for number in numbers)
    return text if len(numbers) <= LISTED else _file("positions", text.replace(",", "\n") + "\n", descriptors)


def _config(value: Any, descriptors: dict[int, str]) -> str:
    """A path, or a mapping such as `model.config.to_dict()`."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if not isinstance(value, Mapping):
        raise TypeError(f"config: {type(value).__name__}, not a path or a mapping")
    try:
        # What is no JSON, as a dtype of torch, is no part of a rope either.
        return _file("config", json.dumps(dict(value), default=str), descriptors)
    except (TypeError, ValueError) as error:
        raise type(error)(f"config: {error}") from error


def _arguments(options: dict[str, Any], descriptors: dict[int, str]) -> Iterable[str]:
    """Python's arguments as options."""
    for name, value in options.items():
        if value is None or value is False:
            continue
        option = f"--{name.replace('_', '-')}"
        if value is True:
            yield option
            continue
        if name == "scaling":
            value = scaling_text(value)
        elif name == "positions":
            value = _positions(value, descriptors)
        elif name == "config":
            value = _config(value, descriptors)
        yield f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}"


def _run(kind: type[Record], command: str, operand: str, arrays: dict[str, Memory], options: dict[str, Any]) -> Any:
    """The command's record. The arrays are named so in its arguments, and live until it has ended."""
    descriptors = {os.memfd_create(name): name for name in ("record", "text", "errors")}
    record, text, errors = descriptors
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY)
        descriptors[memory] = "memory"
        lines = [_line(name, memory, array) for name, array in arrays.items()]
        arguments = [
            binary(),
            command,
            *_arguments(options, descriptors),
            f"--save=/proc/self/fd/{record}",
            "--",
            operand,
        ]
        environment = {**os.environ, "POSENC_ARRAYS": "\n".join(lines)}
        environment.setdefault("OMP_WAIT_POLICY", "passive")  # the command would start again to set it
        status = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=text,
            stderr=errors,
            env=environment,
            pass_fds=descriptors,
            check=False,
        ).returncode
        if status not in (0, 1):
            message = _refusal(_content(errors, descriptors))
            if status == 2 and "out of memory" in message:
                raise MemoryError(message)
            raise ValueError(message) if status == 2 else RuntimeError(f"posenc {command}: status {status}: {message}")
        made = kind(json.loads(_content(record, descriptors)))
        made.text = _content(text, descriptors).rstrip("\n")
        made.ok = status == 0
        return made
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


# ---- arrays and files -----------------------------------------------------------------------------


def _named(x: Any, prefix: str = "") -> Iterable[tuple[str, Any]]:
    """The tensors in what torch.load returned, nested ones with dots between the names."""
    if _arrays.is_tensor(x):
        yield prefix, x
    elif isinstance(x, dict):
        for name, value in x.items():
            yield from _named(value, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(x, (list, tuple)):
        for number, value in enumerate(x):
            yield from _named(value, f"{prefix}.{number}" if prefix else str(number))


def _pick(path: str, found: dict[str, Any], tensor: str | None) -> Any:
    if tensor is None and len(found) == 1:
        return next(iter(found.values()))
    if tensor is not None and tensor in found:
        return found[tensor]
    names = ", ".join(sorted(found)[:20]) or "none"
    raise ValueError(f"tensor={tensor!r}: {path} has {names}")


def _read_archive(path: str, tensor: str | None) -> Any:
    """The array in a .npz, .pt, .pth, .ckpt or .bin file; no code in it is run."""
    if path.endswith(".npz"):
        import numpy

        with numpy.load(path, allow_pickle=False) as archive:
            name = archive.files[0] if tensor is None and len(archive.files) == 1 else tensor
            found: dict[str, Any] = dict.fromkeys(archive.files)
            if name is not None and name in found:
                found = {name: archive[name]}
            return _pick(path, found, name)
    import torch

    return _pick(path, dict(_named(torch.load(path, map_location="cpu", weights_only=True))), tensor)


ARCHIVES = (".npz", ".pt", ".pth", ".ckpt", ".bin")


def _is_path(x: Any) -> bool:
    return isinstance(x, (str, os.PathLike))


def _is_archive(x: Any) -> bool:
    return _is_path(x) and os.fspath(x).endswith(ARCHIVES)


def _operand(argument: str, x: Any, tensor: str | None, arrays: dict[str, Memory]) -> str:
    """What the command takes for the array: its name in memory, or a path."""
    if _is_path(x) and not _is_archive(x):
        return str(os.fspath(x))
    arrays[argument] = _arrays.as_read(argument, _read_archive(os.fspath(x), tensor) if _is_archive(x) else x)
    return argument


def _examine(
    kind: type[Record],
    command: str,
    array: Any,
    x: Any,
    tensors: tuple[str | None, str | None],
    options: dict[str, Any],
) -> Any:
    arrays: dict[str, Memory] = {}
    tensor, x_tensor = tensors
    if tensor is not None and not (_is_path(array) or _is_path(x)):
        raise ValueError(f"tensor={tensor!r}: neither array nor x is a file")
    if x is None and x_tensor is not None:
        x = array
    if x_tensor is not None and not _is_path(x):
        raise ValueError(f"x_tensor={x_tensor!r}: x is not a file")
    if x is not None:
        options["x"] = _operand("x", x, x_tensor or tensor, arrays)
        options["op"] = options.get("op") or "rope"
    operand = _operand("array", array, tensor, arrays)
    options["tensor"] = tensor if any(_is_path(one) and not _is_archive(one) for one in (array, x)) else None
    options["x_tensor"] = x_tensor if _is_path(x) and not _is_archive(x) else None
    return _run(kind, command, operand, arrays, options)


def check(
    array: Any,
    *,
    max_ulp: float | None = None,
    max_abs: float | None = None,
    x: Any = None,
    op: str | None = None,
    axes: str | None = None,
    tensor: str | None = None,
    x_tensor: str | None = None,
    scaling: ScalingLike = None,
    **options: Any,
) -> Check:
    """Compares every element of an array with the exact value, as `posenc check` does.

    array: an array or tensor, complex numbers being pairs of columns, or the path of a .npy, .npz, safetensors or .pt
    file, of which `tensor` names the array. max_ulp, max_abs: the largest error that is allowed, one of them. x: with
    op="rope" (the default beside x) or "add", what array was made from, or the tensor `x_tensor` of the file of x or,
    without x, of the same file; axes: a letter for each axis of it.

    The other options are those of the command, with underscores: base, offset, positions, scale, shift, padding,
    layout, odd, part, dim, start, inverse, config … A config may also be a mapping, as config.to_dict()
    makes it. Raises ValueError or TypeError with the argument's name.

    The array is neither copied nor written to a file, unless the elements of its rows do not lie one after the other.
    """
    given = {"max_ulp": max_ulp, "max_abs": max_abs, "op": op, "axes": axes, "scaling": scaling, **options}
    found: Check = _examine(Check, "check", array, x, (tensor, x_tensor), given)
    return found


def identify(
    array: Any,
    *,
    x: Any = None,
    op: str | None = None,
    axes: str | None = None,
    tensor: str | None = None,
    x_tensor: str | None = None,
    **options: Any,
) -> Identity:
    """Tells from its numbers alone what an array is, as `posenc identify` does: formula, positions, dtype, and whose
    code has computed it. The arguments are as in `check`."""
    found: Identity = _examine(Identity, "identify", array, x, (tensor, x_tensor), {"op": op, "axes": axes, **options})
    return found
