# SPDX-License-Identifier: MIT
"""Makes right and wrong tables and results of rope, of NumPy alone, for tests/mistakes.sh. Prints a line for each: exit
status, the words that its cause has ('-': it is right), and the options of posenc check."""
import json
import math
import sys

import numpy as np

F = np.float32
LONG = [1.0 + 0.4 * i for i in range(32)]
SHORT = [1.0 + 0.05 * i for i in range(32)]
PLAIN = dict(model_type="llama", head_dim=64, rope_theta=10000.0, max_position_embeddings=4096)


def scaled(base, **scaling):
    return dict(PLAIN, rope_theta=base, rope_scaling=scaling)


CONFIGS = {
    "plain": PLAIN,
    "large": dict(PLAIN, rope_theta=5e6),
    "linear": scaled(10000.0, rope_type="linear", factor=4.0),
    "llama3": scaled(500000.0, rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                     original_max_position_embeddings=1024),
    "yarn": scaled(500000.0, rope_type="yarn", factor=8.0, original_max_position_embeddings=1024, beta_fast=32.0,
                   beta_slow=1.0),
    "dynamic": dict(PLAIN, max_position_embeddings=256, rope_scaling=dict(rope_type="dynamic", factor=4.0)),
    "longrope": dict(PLAIN, model_type="phi3", max_position_embeddings=1024, original_max_position_embeddings=256,
                     rope_scaling=dict(rope_type="longrope", short_factor=SHORT, long_factor=LONG)),
    "partial": dict(PLAIN, model_type="phi", partial_rotary_factor=0.5),
    "pairs": dict(PLAIN, model_type="cohere"),
    "wide": dict(model_type="llama", head_dim=256, rope_theta=1e4, max_position_embeddings=8192),
    "gemma": dict(model_type="gemma3", text_config=dict(
        model_type="gemma3_text", head_dim=64, hidden_size=256, num_attention_heads=4, max_position_embeddings=131072,
        rope_theta=1e6, rope_local_base_freq=1e4, rope_scaling=dict(factor=8.0, rope_type="linear"))),
    "axes": dict(PLAIN, model_type="qwen2_vl", rope_theta=1e6,
                 rope_scaling=dict(type="mrope", mrope_section=[8, 12, 12])),
    "unknown": dict(PLAIN, model_type="of_no_library"),
    "behind": dict(model_type="deepseek_v3", qk_nope_head_dim=128, qk_rope_head_dim=64, rope_theta=10000.0,
                   max_position_embeddings=4096),
    "share": dict(model_type="gemma4_text", head_dim=64, global_head_dim=128, max_position_embeddings=4096,
                  rope_parameters=dict(
                      full_attention=dict(partial_rotary_factor=0.25, rope_theta=1e6, rope_type="proportional"),
                      sliding_attention=dict(rope_theta=1e4, rope_type="default"))),
    "gemma4": dict(model_type="gemma4_vision", head_dim=64, patch_size=16, rope_parameters=dict(
        rope_type="default", rope_theta=100.0)),
    "qwen2-vision": dict(model_type="qwen2_vl", embed_dim=1280, num_heads=16, patch_size=14, rope_theta=1e4),
    "minimax-vision": dict(model_type="minimax_m3_vl_vision", image_size=2016, patch_size=14, rope_parameters=dict(
        rope_type="axial", rope_theta=1e4)),
    "paddle-vision": dict(model_type="paddleocr_vl_vision", image_size=384, patch_size=14, rope_parameters=dict(
        rope_type="axial", rope_theta=1e4)),
    "edgetam": dict(model_type="edgetam_video", memory_attention_rope_feat_sizes=[8, 8],
                    memory_attention_rope_k_sizes=[16, 16], rope_parameters=dict(rope_type="axial", rope_theta=1e4)),
    "sam3": dict(model_type="sam3_vit_model", hidden_size=1024, num_attention_heads=16, num_hidden_layers=8,
                 image_size=112, patch_size=14, window_size=4, global_attn_indexes=[3, 7], rope_parameters=dict(
                     rope_type="axial", rope_theta=1e4)),
}


def inverse(dim, base):
    return float(base) ** (-np.arange(0, dim, 2) / dim)


def yarn(dim=64, base=5e5, factor=8.0, original=1024, fast=32.0, slow=1.0, down=math.floor, up=math.ceil):
    cut = lambda turns: dim * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))
    low, high = max(down(cut(fast)), 0), min(up(cut(slow)), dim - 1)
    share = np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)
    return inverse(dim, base) * (1 - share + share / factor)


def llama3(base=5e5, factor=8.0, low=1.0, high=4.0, original=1024):
    w = inverse(64, base)
    smooth = np.clip((original * w / (2 * math.pi) - low) / (high - low), 0, 1)
    return w * (smooth + (1 - smooth) / factor)


def dynamic(length, base=1e4, factor=4.0, original=256):
    stretch = max(factor * max(length, original) / original - (factor - 1), 1)
    return inverse(64, base * stretch ** (64 / 62))


def frequencies(name, length):
    return {"large": lambda: inverse(64, 5e6), "linear": lambda: inverse(64, 1e4) / 4, "llama3": llama3, "yarn": yarn,
            "dynamic": lambda: dynamic(length), "partial": lambda: inverse(32, 1e4),
            "longrope": lambda: inverse(64, 1e4) / np.array(LONG if length > 256 else SHORT),
            "gemma": lambda: inverse(64, 1e4), "axes": lambda: inverse(64, 1e6)}.get(name, lambda: inverse(64, 1e4))()


ATTENTION = {"yarn": 0.1 * math.log(8.0) + 1, "longrope": math.sqrt(1 + math.log(4.0) / math.log(256.0))}


def bf16(a):
    u = np.asarray(a, F).view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16 << 16).astype(np.uint32).view(F)


def f16(a):
    return np.asarray(a, np.float16).astype(F)


def f32(a):
    return np.asarray(a, F)


def table(p, w, attention=1.0, single=False):
    """Cosines and sines; single: angles are products of f32."""
    angles = f32(p)[:, None] * f32(w) if single else np.asarray(p, float)[:, None] * w
    cosine, sine = (np.cos(angles), np.sin(angles)) if not single else (
        np.cos(angles.astype(float)).astype(F), np.sin(angles.astype(float)).astype(F))
    return cosine * attention, sine * attention


def twice(a):
    return np.concatenate([a, a], -1)


def halves(x, cosine, sine, to=f32, sign=-1):
    """rotate_half; to: what each operation is rounded to."""
    h = x.shape[-1] // 2
    other = np.concatenate([sign * x[..., h:], x[..., :h]], -1)
    return to(to(x * to(cosine)[None, :, None]) + to(other * to(sine)[None, :, None]))


def neighbours(x, cosine, sine, to=f32):
    h = x.shape[-1] // 2
    out = np.empty_like(x)
    a, b, c, s = x[..., 0::2], x[..., 1::2], to(cosine)[None, :, None, :h], to(sine)[None, :, None, :h]
    out[..., 0::2], out[..., 1::2] = to(to(a * c) - to(b * s)), to(to(b * c) + to(a * s))
    return out


count = 0


def case(config, x, y, options="", words="-"):
    """words "not checked ..": it is right, as far as is known."""
    global count
    count += 1
    name = f"{count}"
    if x is not None:
        np.save(f"x{name}.npy", x)
        options = f"--op rope --x x{name}.npy {options}"
    np.save(f"{name}.npy", y)
    is_wrong = words != "-" and not words.startswith("not checked")
    print(f"{int(is_wrong)}|{words}|{name}.npy --config {config}.json {options}")


def draw(length, to=f32, heads=2, dim=64, batch=1):
    return to(np.random.default_rng(count).standard_normal((batch, length, heads, dim)))


def cache(cosine, sine):
    return np.stack([twice(cosine), twice(sine)]).astype(F)


def pairs_of(name):
    return neighbours if name == "pairs" else halves


def right(name, x, p, to, single, layer=""):
    w, attention = frequencies(name, int(p[-1]) + 1), ATTENTION.get(name, 1.0)
    cosine, sine = map(twice, table(p, w, attention, single))
    d = cosine.shape[1]
    y = x.copy()
    y[..., :d] = pairs_of(name)(x[..., :d], cosine, sine, to)
    return y


def make_right():
    for name in ("plain", "large", "linear", "llama3", "yarn", "dynamic", "longrope", "partial", "pairs", "gemma"):
        layer = "--layer-type sliding_attention " if name == "gemma" else ""
        for to in (f32, bf16, f16):
            for first, single in ((0, True), (0, False), (130800, True))[: 2 if to is f16 else 3]:
                p = np.arange(first, first + 270)
                x = draw(len(p), to)
                case(name, x, right(name, x, p, to, single), f"{layer}--offset {first}")
        p = np.arange(600)
        for to in (f32, bf16):
            w = frequencies(name, 600)
            c, s = table(p, w, ATTENTION.get(name, 1.0), True)
            if name != "partial":
                case(name, None, to(cache(c, s)), f"{layer}--part cos")


def make_far():
    """Positions to 2^20, where frequencies that are off by 2 units of f32 make angles off by up to 1/4, by 12 more."""
    p = np.arange(2**20 - 300, 2**20)
    for units, words in ((2, "-"), (12, "errors are larger than those of code in f32")):
        c, s = table(p, inverse(256, 1e4) * (1 + units * 2.0**-24), 1.0, True)
        case("wide", None, cache(c, s), f"--part cos --offset {p[0]}", words)
        for to in (f32, bf16):
            x = draw(300, to, dim=256)
            case("wide", x, halves(x, twice(c), twice(s), to), f"--offset {p[0]}", words)


def make_wrong():
    p = np.arange(512)
    for to in (f32, bf16):
        for name in ("plain", "yarn", "pairs"):
            w, attention, turn = frequencies(name, 512), ATTENTION.get(name, 1.0), pairs_of(name)
            x = draw(512, to, 4)

            def wrong(words, q=p, v=w, a=attention, by=turn, **how):
                c, s = map(twice, table(q, v, a))
                case(name, x, by(x, c, s, to, **how), "", words)

            wrong("positions are rounded to bf16", q=bf16(p))
            wrong("positions are 1 more", q=p + 1)
            wrong("positions are 1 less", q=p - 1)
            wrong("all positions are 0@@nothing is turned", q=0 * p)
            wrong("come again after 128", q=p % 128)
            wrong("inv_freq) are rounded to bf16", v=bf16(w))
            wrong("pairs are", by=neighbours if turn is halves else halves)
            wrong("rope is applied twice", q=2 * p, a=attention**2)
            wrong("turned back", q=-p)
            c, s = map(twice, table(p, w, attention))
            y = turn(x, c, s, to)
            for bad in ([1], [0, 3]):
                z = y.copy()
                z[:, :, bad] = x[:, :, bad]
                case(name, x, z, "", "heads" if len(bad) > 1 else "head 1 of 4: nothing is turned")
            case(name, x, turn(x, s, c, to), "", "exchanged")
            case(name, x, x, "", "nothing is turned")
            order = np.r_[0:64:2, 1:64:2]
            if turn is halves:
                of_neighbours = [np.repeat(a[:, :32], 2, 1) for a in (c, s)]
                case(name, x, halves(x, *of_neighbours, to), "", "each column twice")
                case(name, x, halves(x, c, s, to, 1), "", "minus sign of rotate_half")
                case(name, x, halves(x[..., order], c, s, to), "", "neighbours are turned, and written as halves")
            else:
                case(name, x, halves(x[..., order], c, s, to), "", "neighbours are turned, and written as halves")
    p, x = np.arange(4000, 4512), draw(512)
    c, s = map(twice, table(f16(p), inverse(64, 1e4)))
    case("plain", x, halves(x, c, s), "--offset 4000", "positions are rounded to f16")
    c, s = map(twice, table(p, f16(inverse(64, 1e4))))
    case("plain", x, halves(x, c, s), "--offset 4000", "inv_freq) are rounded to f16")
    x = draw(100, batch=2)
    c, s = map(twice, table(np.arange(100), inverse(64, 1e4)))
    y = halves(x, c, s)
    y[1] = halves(x, *map(twice, table(np.arange(1, 101), inverse(64, 1e4))))[1]
    case("plain", x, y, "", "batch 1 of 2: positions are 1 more")


def make_wrong_rows():
    """Results of which few rows are wrong: zeros, what nobody has written, those of other positions."""
    def zeros(y, x):
        y[:, 0] = 0

    def some_zeros(y, x):
        y[:, [0, 7, 9]] = 0

    def unwritten(y, x):
        y[:, 0] = draw(3)[:, 2]

    def no_numbers(y, x):
        y[:, 0] = np.nan

    def moved(y, x):
        y[:, 0] = turned(x, np.arange(3, 515))[:, 0]

    def two_moved(y, x):
        y[:, [0, 511]] = turned(x, np.arange(1, 513))[:, [0, 511]]

    def turned(x, p):
        return halves(x, *map(twice, table(p, inverse(64, 1e4))))

    for words, change in (("the row of position 0 is all zeros", zeros),
                          ("3 rows are all zeros, the first is row 0", some_zeros),
                          ("1 row is of no position, the first is row 0", unwritten),
                          ("1 row is of no position, the first is row 0", no_numbers),
                          ("row 0 is at position 3, not at 0", moved),
                          ("2 rows are at other positions, the first, row 0, at position 1, not at 0", two_moved)):
        x = draw(512)
        y = turned(x, np.arange(512))
        change(y, x)
        case("plain", x, y, "", words)
    x = draw(512)
    y = turned(x, np.arange(70, 582))
    y[:, 0] = 0
    case("plain", x, y, "--offset 70", "the row of position 70 is all zeros")
    # Angles are products of f32 that are rounded before their sines and cosines.
    for config, w, first in (("plain", inverse(64, 1e4), 0), ("plain", inverse(64, 1e4), 70), ("yarn", yarn(), 0)):
        angles = f32(np.arange(first, first + 512))[:, None] * f32(w)
        for words, rounded in (("bf16", bf16(angles)), ("f16", f16(angles))):
            c, s = (ATTENTION.get(config, 1.0) * twice(f(rounded.astype(float))) for f in (np.cos, np.sin))
            for to in (f32, bf16):
                case(config, to(x), halves(to(x), c, s, to), f"--offset {first}", f"the angles are rounded to {words}")


def make_wrong_tables():
    p = np.arange(2048)
    for words, config, q, w, a in (
            ("positions are rounded to bf16", "plain", bf16(p), inverse(64, 1e4), 1),
            ("inv_freq) are rounded to bf16", "plain", p, bf16(inverse(64, 1e4)), 1),
            ("inv_freq) are rounded to f16", "plain", p, f16(inverse(64, 1e4)), 1),
            ("inv_freq) are rounded to bf16", "yarn", p, bf16(yarn()), ATTENTION["yarn"]),
            ("positions are 1 more", "plain", p + 1, inverse(64, 1e4), 1),
            ("come again after 512", "plain", p % 512, inverse(64, 1e4), 1),
            ("the base is 500000", "plain", p, inverse(64, 5e5), 1),
            ("beta_fast and beta_slow are exchanged", "yarn", p, yarn(fast=1.0, slow=32.0), ATTENTION["yarn"]),
            ("attention factor is left out", "yarn", p, yarn(), 1),
            ("attention factor is squared", "yarn", p, yarn(), ATTENTION["yarn"] ** 2),
            ("scaling is left out", "llama3", p, inverse(64, 5e5), 1),
            ("divided by the factor", "llama3", p, inverse(64, 5e5) / 8, 1),
            ("scaling is left out", "linear", p, inverse(64, 1e4), 1),
            ("the factors are those of", "longrope", p, inverse(64, 1e4) / np.array(SHORT), ATTENTION["longrope"]),
            ("scaling is left out@@is that of 256 positions", "dynamic", p, inverse(64, 1e4), 1),
            ("the dynamic scaling is that of 512 positions", "dynamic", p, dynamic(512), 1),
            ("the dynamic scaling is that of 1024 positions", "dynamic", p, dynamic(1024), 1)):
        case(config, None, cache(*table(q, w, a)), "--part cos", words)
    # vLLM's cache of longrope: rows of the short factors, below them those of the long ones.
    short, long = (inverse(64, 1e4) / np.array(factors) for factors in (SHORT, LONG))
    for below, words in ((long, "-"), (short, "the factors are those of shorter sequences")):
        rows = [np.concatenate(table(np.arange(n), w, ATTENTION["longrope"]), 1)
                for n, w in ((256, short), (1024, below))]
        for context in (256, 1024):
            case("longrope", None, f32(np.concatenate(rows)), f"--layout split-cs --context {context}",
                 "-" if context == 256 else words)
    sliding, full = inverse(64, 1e4), inverse(64, 1e6) / 8
    for words, w, layer in (("that of layers of full_attention", full, "sliding_attention"),
                            ("that of layers of sliding_attention", sliding, "full_attention"),
                            ("scaling is that of layers of full_attention", sliding / 8, "sliding_attention"),
                            ("the scaling is left out, or that of layers of sliding_attention", full * 8,
                             "full_attention"),
                            ("that of layers of sliding_attention", sliding / 8, "full_attention")):
        case("gemma", None, cache(*table(p, w)), f"--part cos --layer-type {layer}", words)
    t = table(p, inverse(64, 1e4))
    for options, words in (("", "the second table is a copy of the first"),
                           ("--part cos", "not checked: the other of its two tables")):
        case("plain", None, cache(t[0], t[0]), options, words)
    late = cache(*t)
    late[:, 2000:] = late[:, 1000:1048]
    case("plain", None, late, "--part cos", "rows are at other positions")
    late = cache(*t)
    late[0, 2047, 3] = 0.5
    case("plain", None, late, "--part cos", "1 element is off")


def make_axes():
    """M-RoPE: text, an image of 12 x 20, and text."""
    t = np.r_[np.arange(15), np.full(240, 15), np.arange(35, 44)]
    h = np.r_[np.arange(15), 15 + np.repeat(np.arange(12), 20), np.arange(35, 44)]
    w = np.r_[np.arange(15), 15 + np.tile(np.arange(20), 12), np.arange(35, 44)]
    for name, list_ in (("t", t), ("h", h), ("w", w)):
        np.save(f"{name}.npy", list_.astype(float))
    grid = "--grid t=@t.npy,h=@h.npy,w=@w.npy,pairs=8:12:12,frequencies=continued"
    frequency = inverse(64, 1e6)

    def turned(x, to, q, sections=(8, 12, 12), by=halves):
        angles = np.concatenate([np.tile(np.asarray(a, float)[:, None], (1, n)) for a, n in zip(q, sections)], 1)
        return by(x, twice(np.cos(angles * frequency)), twice(np.sin(angles * frequency)), to)

    def fused(x, cosine, sine, to, product=bf16):
        """The sum is rounded once, with a product that is not."""
        other = np.concatenate([-x[..., 32:], x[..., :32]], -1)
        return to(x.astype(float) * to(cosine)[None, :, None] + product(other * to(sine)[None, :, None]))

    def rough(x, cosine, sine, to):
        return fused(x, cosine, sine, to, lambda a: bf16(a * 1.3) / F(1.3))

    for to in (f32, bf16):
        x = draw(len(t), to)
        case("axes", x, turned(x, to, (t, h, w)), grid)
        for words, q in (("all columns have the positions of axis t", (t, t, t)),
                         ("axes h and w are exchanged", (t, w, h)),
                         ("axes t and h are exchanged", (h, t, w)),
                         ("axis h: positions are 1 more", (t, h + 1, w)),
                         ("axis h: positions are multiplied by 2", (t, 2 * h, w)),
                         ("axis w: positions are 1 more", (t, h, w + 1)),
                         ("axis w: positions are 1 less", (t, h, w - 1)),
                         ("axis w has the positions of axis t", (t, h, t)),
                         ("axis t: positions are all 0", (0 * t, h, w))):
            case("axes", x, turned(x, to, q), grid, words)
        case("axes", x, turned(x, to, (t, h, w), (12, 10, 10)), grid, "sections are of 12")
    # Bits tell positions of axis w, by which angles change less than roundings do; those of code
    # that is not known tell nothing.
    x = draw(len(t), bf16)
    for words, q in (("-", (t, h, w)), ("axis w: positions are 1 more", (t, h, w + 1))):
        case("axes", x, turned(x, bf16, q, by=fused), grid, words)
    text = np.arange(len(t))
    np.save("text.npy", text.astype(float))
    case("axes", x, turned(x, bf16, (text, text, text)), grid.replace("@t", "@text").replace("@h", "@text").replace(
        "@w", "@text"))
    case("axes", x, turned(x, bf16, (t, h, w), by=rough), grid, "not checked: whether axis w")
    for words, q in (("-", (t, h, w)), ("axes h and w are exchanged", (t, w, h))):
        angles = np.concatenate([np.tile(a[:, None], (1, n)) for a, n in zip(q, (8, 12, 12))], 1) * frequency
        for columns in (angles, twice(angles)):
            case("axes", None, f32(columns)[:, None], grid, words)
    fine = np.arange(len(t)) * 0.75
    np.save("fine.npy", fine)
    for words, q in (("-", fine), ("positions are truncated to whole numbers", np.trunc(fine))):
        angles = np.concatenate([np.tile(a[:, None], (1, n)) for a, n in zip((q, h, w), (8, 12, 12))], 1) * frequency
        options = "--part cos " + grid.replace("@t", "@fine")
        case("axes", None, cache(np.cos(angles), np.sin(angles)), options, words)


def make_times():
    """M-RoPE at positions in no order, which a check with no --grid takes from the values; on slow axes, the bits of
    16-bit dtypes alone tell them."""
    draws = np.random.default_rng(11)
    chunks, w = np.repeat([0, 1, 2], [8, 12, 12]), inverse(64, 1e6)
    third, whole = np.rint(draws.random((3, 90)) * 6000) / 3, draws.integers(0, 700, (3, 90)).astype(float)
    whole[:, 0], whole[:, -1] = 699, 0
    for n, letter in enumerate("thw"):
        np.save(f"whole-{letter}.npy", whole[n])

    def waves(q):
        return np.cos(q[chunks].T * w), np.sin(q[chunks].T * w)

    for to in (f32, bf16, f16):
        for q in (third, whole):
            c, s = map(twice, waves(q))
            case("axes", None, to(cache(c[:, :32], s[:, :32])), words="not checked: positions on several axes")
            case("axes", None, to(c), "--part cos", "not checked: positions on several axes")
            if q is whole:
                x = draw(90, to)
                case("axes", x, halves(x, c, s, to), words="not checked: positions on several axes")
    grid = "--grid t=@whole-t.npy,h=@whole-h.npy,w=@whole-w.npy,pairs=8:12:12,frequencies=continued"
    t, h, of_w = whole
    for to in (f32, bf16, f16):
        for words, q in (("-", (t, h, of_w)), ("axis w: positions are 1 more", (t, h, of_w + 1)),
                         ("axis h: positions are 1 more", (t, h + 1, of_w)),
                         ("axes t and h are exchanged", (h, t, of_w)),
                         ("axis h: positions are rounded to bf16", (t, bf16(h).astype(float), of_w)),
                         ("axis t: positions are all 0", (0 * t, h, of_w))):
            case("axes", None, to(cache(*waves(np.stack(q)))), grid, words)


def make_stored():
    """Heads side by side, angles, frequencies, unknown pairs, columns that are not those of the config, caches with the
    sines first."""
    w, p = inverse(64, 1e4), np.arange(220)
    c, s = map(twice, table(p, w))
    for first in (0, 300):
        x = draw(220, heads=8)
        y = halves(x, *map(twice, table(p + first, w)))
        beside = lambda a: a.reshape(220, 512)
        case("plain", beside(x), beside(y), f"--heads 8 --offset {first}")
        z = y.copy()
        z[:, :, 7] = x[:, :, 7]
        case("plain", beside(x), beside(z), f"--heads 8 --offset {first}", "head 7 of 8: nothing is turned")
    # Neither inv_freq nor angles have the attention factor.
    for words, v in (("-", yarn()), ("beta_fast and beta_slow are exchanged", yarn(fast=1.0, slow=32.0)),
                     ("the ends of the ramp are not rounded", yarn(down=float, up=float)),
                     ("inv_freq) are rounded to bf16", bf16(yarn()))):
        case("yarn", None, f32(v), "", words)
    for words, q in (("-", np.arange(800)), ("positions are 1 more", np.arange(1, 801))):
        angles = f32(q)[:, None] * f32(yarn())
        case("yarn", None, twice(angles)[:, None, None], "", words)
        case("yarn", None, angles, "", words)
    x = draw(220)
    for by in (halves, neighbours):
        case("unknown", x, by(x, c, s), "", "not checked: how columns pair")
        case("unknown", x, by(x, *map(twice, table(p, inverse(64, 5e5)))), "", "the base is 500000")
    x = draw(220, batch=2)
    y = halves(x, c, s)
    case("plain", x, y)
    y[1:] = halves(x[1:], *map(twice, table(p + 220, w)))
    case("plain", x, y, "", "batch 1 of 2: positions are 220 more")
    for to, words in ((bf16, "cosines and sines are rounded to bf16"), (f16, "cosines and sines are rounded to f16")):
        case("plain", x, halves(x, to(c), to(s)), "", words)
    case("plain", bf16(x), bf16(halves(bf16(x), bf16(c), bf16(s))))
    late = cache(*table(np.arange(900) % 300, inverse(64, 1e4)))
    case("plain", None, late[:1, :, None], "--part cos", "come again after 300")
    x = draw(220, dim=192)
    y = x.copy()
    y[..., 128:] = neighbours(x[..., 128:], c, s)
    case("behind", x, y)
    y = x.copy()
    y[..., :64] = neighbours(x[..., :64], c, s)
    case("behind", x, y, "", "columns 0 to 63 are turned, not 128 to 191")
    case("plain", None, cache(*table(p, w)[::-1]), "", "sines and cosines are exchanged")
    # Gemma 4's full layers: a quarter of the pairs, by the frequencies of all.
    p = np.arange(600)
    share = np.r_[1e6 ** (-np.arange(16) / 64), np.zeros(48)]
    for words, v in (("-", share), ("128 columns are turned, not 32: all of a head", inverse(128, 1e6)),
                     ("those of 32 columns, not of all 128", np.r_[inverse(32, 1e6), np.zeros(48)])):
        case("share", None, cache(*table(p, v)), "--part cos --layer-type full_attention", words)


def make_pictures():
    """Tables and results of the axes of pictures, of 8 x 12 places."""
    h, w = np.repeat(np.arange(8), 12), np.tile(np.arange(12), 8)

    def angles(dim, base, *q):
        return [np.outer(a, inverse(dim, base)) for a in q]

    def tables(*blocks, by=twice):
        a = by(np.concatenate(blocks, 1))
        return f32(np.cos(a)), f32(np.sin(a))

    def each(*blocks):
        return tables(*[twice(a) for a in blocks], by=lambda a: a)

    grouped = "--grid h=8,w=12,columns=wh,grouped=yes"
    right, exchanged = (angles(32, 100.0, *q) for q in ((w, h), (h, w)))
    for words, (c, s) in (("-", each(*right)), ("axes w and h are exchanged@@axes h and w are exchanged",
                                                each(*exchanged)),
                          ("the layout is that of all columns", tables(*right)),
                          ("the base is 10000", each(*angles(32, 1e4, w, h)))):
        case("gemma4", None, np.stack([c, s]), grouped, words)
        case("gemma4", None, bf16(np.stack([c, s])), grouped, words)
        case("gemma4", None, c, f"--part cos {grouped}", words)
        case("gemma4", None, s[None, :, None], f"--part sin {grouped}", words)
    case("gemma4", None, f32(np.concatenate(right, 1)), grouped)
    flat = angles(40, 1e4, h, w)
    for words, (c, s) in (("-", tables(*flat)), ("the layout is that of each axis", each(*flat))):
        case("qwen2-vision", None, np.stack([c, s]), "--grid h=8,w=12", words)
    # Positions are divided: what is truncated is the quotient.
    fine = "--grid h=8,w=12:0:3/4"
    x = draw(96, dim=80)
    for words, q in (("-", w * 0.75), ("positions are truncated to whole numbers", np.trunc(w * 0.75))):
        case("qwen2-vision", x, halves(x, *tables(*angles(40, 1e4, h, q), by=lambda a: twice(a))), fine, words)
    # MiniMax-M3 turns 78 of 80 columns, by three axes of 13 pairs.
    three = [np.outer(a, inverse(26, 1e4)) for a in (0 * h, h, w)]
    for words, blocks in (("-", three), ("axes h and w are exchanged", [three[0], three[2], three[1]])):
        y = x.copy()
        y[..., :78] = halves(x[..., :78], *tables(*blocks))
        case("minimax-vision", x, y, "--grid t=1,h=8,w=12", words)
    x = draw(96, dim=72)
    for words, q in (("-", (h, w)), ("axes h and w are exchanged", (w, h))):
        case("paddle-vision", x, halves(x, *tables(*angles(36, 1e4, *q))), "--grid h=8,w=12", words)
    h, w = np.repeat(np.arange(8), 8), np.tile(np.arange(8), 8)
    x = draw(64, dim=256, heads=1)
    for words, q in (("-", (w, h)), ("exchanged", (h, w))):
        c, s = tables(*angles(128, 1e4, *q))
        case("edgetam", x, neighbours(x, c, s), "", words)
        c, s = tables(*angles(32, 1e4, *(a * 0.5 for a in q)), by=lambda a: np.repeat(a, 2, 1))
        case("sam3", None, np.stack([c, s]), "--layer-type 7", words)


for key, config in CONFIGS.items():
    with open(f"{key}.json", "w") as file:
        json.dump(config, file)
PARTS = {"right": make_right, "far": make_far, "wrong": make_wrong, "rows": make_wrong_rows,
         "tables": make_wrong_tables, "axes": make_axes, "times": make_times, "stored": make_stored,
         "pictures": make_pictures}
for key in sys.argv[1:] or PARTS:
    PARTS[key]()
