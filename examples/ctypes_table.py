#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills a NumPy array with libposenc: python3 ctypes_table.py [LIBRARY]"""

import ctypes
import sys

import numpy

F32, F64, F16 = range(3)  # posenc_dtype
INTERLEAVED, INTERLEAVED_CS, SPLIT, SPLIT_CS, DUPLICATED = range(5)  # posenc_layout
TABLE, ADD, ROPE, ROPE_CACHE = range(4)  # posenc_op
ODD_REFUSED, ODD_PAD, ODD_CEIL = range(3)  # posenc_odd
SCALINGS = ["none", "linear", "dynamic", "yarn", "llama3", "longrope"]  # posenc_scaling_kind


class Scaling(ctypes.Structure):
    """posenc_scaling"""

    _fields_ = [
        ("kind", ctypes.c_int),
        ("factor", ctypes.c_double),
        ("original", ctypes.c_int64),
        ("length", ctypes.c_int64),
        ("low", ctypes.c_double),
        ("high", ctypes.c_double),
        ("truncate", ctypes.c_bool),
        ("attention", ctypes.c_double),
        ("factors", ctypes.POINTER(ctypes.c_double)),
    ]


class Problem(ctypes.Structure):
    """posenc_problem; the first member is its size, from which the library recognizes the version of the struct."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("rows", ctypes.c_int64),
        ("dim", ctypes.c_int64),
        ("first", ctypes.c_int64),
        ("base", ctypes.c_double),
        ("shift", ctypes.c_double),
        ("padding", ctypes.c_int64),
        ("layout", ctypes.c_int),
        ("dtype", ctypes.c_int),
        ("op", ctypes.c_int),
        ("heads", ctypes.c_int64),
        ("inverse", ctypes.c_bool),
        ("scale", ctypes.c_double),
        ("scaling", Scaling),
        ("odd", ctypes.c_int),
        ("positions", ctypes.POINTER(ctypes.c_double)),
        ("axes", ctypes.c_void_p),  # of several axes; null here
    ]


def doubles(values):
    """The values as a C array; None for None."""
    if values is None:
        return None
    return (ctypes.c_double * len(values))(*values)


def scaling(kind="none", *, factor=1.0, original=0, length=0, low=1.0, high=32.0, truncate=True, attention=0.0,
            factors=None):
    """scaling("llama3", factor=8, original=8192, low=1, high=4)"""
    return Scaling(SCALINGS.index(kind), factor, original, length, low, high, truncate, attention,
                   ctypes.cast(doubles(factors), ctypes.POINTER(ctypes.c_double)))


class Posenc:
    def __init__(self, path="libposenc.so.0"):
        self.lib = ctypes.CDLL(path)
        self.lib.posenc_status_message.restype = ctypes.c_char_p
        pointer, int64 = ctypes.c_void_p, ctypes.c_int64
        self.lib.posenc_plan_create.argtypes = [ctypes.POINTER(pointer), ctypes.POINTER(Problem), pointer]
        self.lib.posenc_rope_cache.argtypes = [pointer, int64, int64, pointer, pointer]
        self.lib.posenc_execute.argtypes = [pointer, int64, int64, pointer]
        self.lib.posenc_plan_destroy.argtypes = [pointer]

    def _check(self, status):
        if status != 0:
            raise ValueError(self.lib.posenc_status_message(status).decode())

    def _plan(self, rows, dim, *, op=TABLE, first=0, base=10000.0, shift=0.0, padding=None, layout=INTERLEAVED,
              dtype=numpy.float32, scale=1.0, scaling=scaling(), odd=ODD_REFUSED, positions=None):
        code = {"float32": F32, "float64": F64, "float16": F16}[numpy.dtype(dtype).name]
        none = -(2**63)  # POSENC_NO_PADDING
        problem = Problem(
            size=ctypes.sizeof(Problem), rows=rows, dim=dim, first=first, base=base, shift=shift,
            padding=none if padding is None else padding, layout=layout, dtype=code, op=op, heads=1, inverse=False,
            scale=scale, scaling=scaling, odd=odd, positions=ctypes.cast(positions, ctypes.POINTER(ctypes.c_double)),
        )
        plan = ctypes.c_void_p()
        self._check(self.lib.posenc_plan_create(ctypes.byref(plan), ctypes.byref(problem), None))  # copies the problem
        return plan

    def table(self, rows, dim, *, dtype=numpy.float32, **described):
        """The rows of positions first, first + 1, …, as an array of shape (rows, dim)."""
        plan = self._plan(rows, dim, dtype=dtype, **described)
        try:
            out = numpy.empty((rows, dim), dtype)  # after the plan, which refuses invalid problems
            self._check(self.lib.posenc_execute(plan, 0, rows, out.ctypes.data))
        finally:
            self.lib.posenc_plan_destroy(plan)
        return out

    def rows_at(self, positions, dim, **described):
        """The rows of any positions, in any order, also negative and fractional ones."""
        return self.table(len(positions), dim, positions=doubles(positions), **described)

    def rope_cache(self, rows, dim, *, dtype=numpy.float32, layout=DUPLICATED, **described):
        """The cosine and sine tables that frameworks store for RoPE, as an array of shape (2, rows, dim)."""
        plan = self._plan(rows, dim, op=ROPE_CACHE, dtype=dtype, layout=layout, **described)
        try:
            out = numpy.empty((2, rows, dim // 2 if layout == SPLIT else dim), dtype)
            self._check(self.lib.posenc_rope_cache(plan, 0, rows, out[0].ctypes.data, out[1].ctypes.data))
        finally:
            self.lib.posenc_plan_destroy(plan)
        return out


if __name__ == "__main__":
    posenc = Posenc(*sys.argv[1:])
    print(posenc.table(512, 128)[1, :4])
    numpy.save("table.npy", posenc.table(512, 128))
    print("posenc check table.npy --max-ulp 1")
