#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A NumPy array filled by libposenc: python3 ctypes_table.py [LIBRARY]"""

import ctypes
import sys

import numpy

F32, F64, F16 = range(3)  # posenc_dtype
INTERLEAVED, INTERLEAVED_CS, SPLIT, SPLIT_CS = range(4)  # posenc_layout


class Problem(ctypes.Structure):
    """posenc_problem; the first member is its size, so that a library that knows more members understands it."""

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
    ]


class Posenc:
    def __init__(self, path="libposenc.so.0"):
        self.lib = ctypes.CDLL(path)
        self.lib.posenc_status_message.restype = ctypes.c_char_p
        self.lib.posenc_plan_create.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Problem), ctypes.c_void_p]
        self.lib.posenc_execute.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
        self.lib.posenc_plan_destroy.argtypes = [ctypes.c_void_p]

    def _hold(self, status):
        if status != 0:
            raise ValueError(self.lib.posenc_status_message(status).decode())

    def table(self, rows, dim, *, first=0, base=10000.0, shift=0.0, padding=None, layout=INTERLEAVED, dtype=numpy.float32):
        """Positions first, first + 1, …, as an array of shape (rows, dim)."""
        code = {"float32": F32, "float64": F64, "float16": F16}[numpy.dtype(dtype).name]
        none = -(2**63)  # POSENC_NO_PADDING
        problem = Problem(
            size=ctypes.sizeof(Problem), rows=rows, dim=dim, first=first, base=base, shift=shift,
            padding=none if padding is None else padding, layout=layout, dtype=code, op=0, heads=1, inverse=False,
        )
        plan = ctypes.c_void_p()
        self._hold(self.lib.posenc_plan_create(ctypes.byref(plan), ctypes.byref(problem), None))
        try:
            out = numpy.empty((rows, dim), dtype)  # after the plan, which refuses what is no table
            self._hold(self.lib.posenc_execute(plan, 0, rows, out.ctypes.data))
        finally:
            self.lib.posenc_plan_destroy(plan)
        return out


if __name__ == "__main__":
    posenc = Posenc(*sys.argv[1:])
    print(posenc.table(512, 128)[1, :4])
    numpy.save("table.npy", posenc.table(512, 128))
    print("posenc check table.npy --max-ulp 1")
