# SPDX-License-Identifier: MIT
"""What pytest runs in the example workflow."""

import model
import numpy as np
from posenc.testing import assert_accurate


def test_table():
    assert_accurate(model.table(2048, 128), max_ulp=1)


def test_rope():
    x = np.random.default_rng(1).standard_normal((512, 4, 64)).astype(np.float32)
    assert_accurate(model.rope(x), x=x, layout="split", max_ulp=1)
