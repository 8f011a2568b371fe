# SPDX-License-Identifier: MIT
"""A model's table and its rope, as the example workflow checks them; as a program, it writes the table."""

import numpy as np


def frequencies(dim, base=10000.0):
    """base^(-2i/dim), in double."""
    return base ** (-np.arange(0, dim, 2) / dim)


def table(length, dim):
    """Sines and cosines, interleaved. The angles are doubles, and the values are rounded once."""
    angles = np.outer(np.arange(length), frequencies(dim))
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(length, dim).astype(np.float32)


def rope(x):
    """x of shape (positions, heads, columns), whose pairs are halves."""
    angles = np.outer(np.arange(x.shape[0]), frequencies(x.shape[-1]))[:, None]
    sine, cosine = np.sin(angles), np.cos(angles)
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cosine - b * sine, a * sine + b * cosine], -1).astype(x.dtype)


if __name__ == "__main__":
    np.save("table.npy", table(2048, 128))
