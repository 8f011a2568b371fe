# SPDX-License-Identifier: MIT
"""Tables of several axes in f64, by the formulas of models: grid.py FOLDER."""
import sys

import numpy as np

folder = sys.argv[1]


def save(name, table):
    np.save(f"{folder}/{name}.npy", table)


def frequencies(pairs, base=10000.0):
    return base ** (-np.arange(pairs) / pairs)


def grid(*sizes):
    """Coordinates on each axis of all places, the last axis fastest."""
    return [axis.reshape(-1).astype(float) for axis in np.meshgrid(*[np.arange(n) for n in sizes], indexing="ij")]


def angles(positions, w):
    return positions[:, None] * w


def sines(angle):
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)


def interleaved(angle):
    return np.stack([np.sin(angle), np.cos(angle)], axis=2).reshape(len(angle), -1)


h, w = grid(5, 7)
four = frequencies(8)

# MAE: the width's sines and cosines, then the height's, behind a row of zeros.
mae = np.concatenate([sines(angles(w, four)), sines(angles(h, four))], axis=1)
save("mae", np.concatenate([np.zeros((1, 32)), mae]))
one = np.concatenate([np.zeros((1, 32)), mae])
one[9, 27] += 0.5
save("mae-one", one)
save("mae-wrong", np.concatenate([np.ones((1, 32)), mae]))
# timm: sines of both axes, then cosines; with reverse_coord, axes and rows are those of the picture on its side.
save("timm", sines(np.concatenate([angles(h, four), angles(w, four)], axis=1)))
save("scaled", 0.7 * sines(np.concatenate([angles(h, four), angles(w, four)], axis=1)))
save("timm-reversed", sines(np.concatenate([angles(p, four) for p in grid(7, 5)], axis=1)))
save("width-first", sines(np.concatenate([angles(w, four), angles(h, four)], axis=1)))
# DETR: from 1 on, normalised to 2 pi, height first.
eps, turn = 1e-6, 2 * np.pi
detr = [angles((p + 1) / (n + eps) * turn, four) for p, n in ((h, 5), (w, 7))]
save("detr", np.concatenate([interleaved(a) for a in detr], axis=1))
# diffusers: of a base size of 4.
scaled = [angles(p * 4 / n, four) for p, n in ((w, 7), (h, 5))]
save("diffusers", np.concatenate([sines(a) for a in scaled], axis=1))
# CogVideoX: a quarter of the columns has the time, the rest the picture, width first.
t, h3, w3 = grid(3, 4, 5)
video = [sines(angles(p, frequencies(n))) for p, n in ((t, 4), (w3, 6), (h3, 6))]
save("video", np.concatenate(video, axis=1))
# Five axes are more than are looked for.
save("five", sines(np.concatenate([angles(p, four) for p in grid(4, 4, 4, 4, 4)], axis=1)))
# DINOv3: centres from -1 to 1, periods of base 100, cosines of [height, width] twice.
centres = [turn * (2 * (p + 0.5) / n - 1) for p, n in ((h, 5), (w, 7))]
dino = np.concatenate([angles(p, frequencies(8, 100.0)) for p in centres], axis=1)
save("dino", np.cos(np.tile(dino, (1, 2))))
# Pixtral: heights have the even frequencies of a head, widths the odd ones.
all_pairs = frequencies(16)
save("pixtral", np.cos(np.concatenate([angles(h, all_pairs[::2]), angles(w, all_pairs[1::2])], axis=1)))
# Qwen2-VL: text, a picture, text; 16 pairs in sections of 4, 6 and 6.
text, picture = np.arange(3.0), grid(2, 4)
positions = [
    np.concatenate([text, p, text + 3 + 4])
    for p in (np.full(8, 3.0), 3 + picture[0], 3 + picture[1])
]
for name, p in zip("thw", positions):
    np.save(f"{folder}/{name}.npy", p.astype(np.int64))
of_head = frequencies(16, 1e6)
sections = np.repeat([0, 1, 2], [4, 6, 6])
chunked = np.stack([positions[a] * of_head[j] for j, a in enumerate(sections)], axis=1)
save("qwen2", np.cos(np.tile(chunked, (1, 2))))
# Qwen3-VL: the same numbers of pairs, but in turn while there are any.
turns = np.zeros(16, dtype=int)
turns[1 : 3 * 5 : 3] = 1
turns[2 : 3 * 5 : 3] = 2
cyclic = np.stack([positions[a] * of_head[j] for j, a in enumerate(turns)], axis=1)
save("qwen3", np.sin(np.tile(cyclic, (1, 2))))

# What models make of an x of 2 heads, in f32: pairs are halves of a head.
x = np.random.default_rng(1).standard_normal((14, 2, 32)).astype(np.float32)
save("heads", x)


def turned(angle, x=x):
    a, b = x[..., :16].astype(float), x[..., 16:].astype(float)
    sine, cosine = np.sin(angle)[:, None], np.cos(angle)[:, None]
    return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], axis=2).astype(np.float32)


def of_axes(axes, w=of_head):
    return turned(np.stack([positions[a] * w[j] for j, a in enumerate(axes)], axis=1))


save("rope-chunked", turned(chunked))
save("rope-cyclic", turned(cyclic))
save("rope-time", of_axes(np.zeros(16, dtype=int)))
save("rope-exchanged", of_axes(np.array([0, 2, 1])[sections]))
save("rope-rows", turned(np.arange(14.0)[:, None] * of_head))
restarted = np.concatenate([frequencies(pairs, 1e6) for pairs in (4, 6, 6)])
save("rope-restarted", of_axes(sections, restarted))
patches = np.random.default_rng(3).standard_normal((35, 4, 32)).astype(np.float32)
save("picture", patches)
save("rope-picture", turned(np.concatenate([angles(h, four), angles(w, four)], axis=1), patches))
added = np.random.default_rng(2).standard_normal((35, 32)).astype(np.float32)
save("patches", added)
save("add-mae", (added + mae).astype(np.float32))
