# SPDX-License-Identifier: MIT
"""Assertions for tests of models and kernels."""

from __future__ import annotations

from typing import Any

from ._command import check, identify


def assert_accurate(actual: Any, max_ulp: float | None = None, *, max_abs: float | None = None, **options: Any) -> None:
    """Asserts that every element is within max_ulp (1 unless max_abs is given) or max_abs of the exact value.

    The arguments are those of `posenc.check`: the formula of the table, or x and how it is turned. The AssertionError
    has what posenc check prints, and of a table what posenc identify makes of it.

    >>> import posenc
    >>> assert_accurate(posenc.table(64, 8), max_ulp=0.5)
    """
    __tracebackhide__ = True  # pytest then shows the caller's line
    if max_ulp is None and max_abs is None:
        max_ulp = 1.0
    found = check(actual, max_ulp=max_ulp, max_abs=max_abs, **options)
    if found.ok:
        return
    message = found.text
    if options.get("x") is None and options.get("part") is None:
        sentence = identify(actual, tensor=options.get("tensor")).sentence
        message = message.replace("posenc identify tells what this table is", f"this table is {sentence}", 1)
    raise AssertionError(message)
