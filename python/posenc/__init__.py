# SPDX-License-Identifier: MIT
"""Sinusoidal positional encodings, correctly rounded; and what other people's tables and kernels really are.

Tables, add and rope are computed by libposenc in NumPy arrays and torch tensors of the CPU, without a copy. `check`
compares an array with the exact values, `identify` tells what it is: both run the posenc command, which reads the
array where it lies. Every function may be called from any thread.

>>> check(table(64, 8), max_ulp=0.5).ok
True
"""

from ._command import Check, Identity, check, identify
from ._compute import Plan, add, rope, rope_cache, table
from ._library import version

__all__ = ["Check", "Identity", "Plan", "add", "check", "identify", "rope", "rope_cache", "table"]
__version__ = version()
