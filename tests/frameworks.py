# SPDX-License-Identifier: MIT
"""Recipes against the frameworks' own operations: frameworks.py POSENC. Prints "ok NAME" or "not ok NAME" for each
comparison.

Each recipe is written again with PyTorch or NumPy and compared twice. The framework's own powers, exponentials and
sines are vector code within some ulp (SLEEF): with them, tables differ by one ulp of a frequency times the position,
and by some ulp. With those of libm in their place, all bits must be the same: then exponents, products and quotients,
their types and their order, are those of the framework.
"""
import ctypes
import ctypes.util
import math
import subprocess
import sys
import tempfile

import numpy as np
import torch

ROWS, DIM = 512, 128
HALF = DIM // 2
F32 = torch.float32

libm = ctypes.CDLL(ctypes.util.find_library("m"))


def of_libm(name, number, arguments=1):
    function = getattr(libm, name)
    function.restype = number
    function.argtypes = [number] * arguments
    return np.frompyfunc(function, arguments, 1)


class Framework:
    exp, pow, sin, cos = torch.exp, torch.pow, torch.sin, torch.cos
    exp2, log2 = torch.exp2, torch.log2


class Libm:
    @staticmethod
    def call(name, x, *y):
        double = x.dtype == torch.float64
        number = ctypes.c_double if double else ctypes.c_float
        made = of_libm(name if double else name + "f", number, 1 + len(y))(*[np.asarray(z.double()) for z in (x, *y)])
        return torch.from_numpy(made.astype(np.float64)).to(x.dtype)

    @staticmethod
    def through_f32(name, x):
        return Libm.call(name, x.float()).bfloat16() if x.dtype == torch.bfloat16 else Libm.call(name, x)

    exp = staticmethod(lambda x: Libm.call("exp", x))
    exp2 = staticmethod(lambda x: Libm.call("exp2", x))
    log2 = staticmethod(lambda x: Libm.call("log2", x))
    sin = staticmethod(lambda x: Libm.through_f32("sin", x))
    cos = staticmethod(lambda x: Libm.through_f32("cos", x))

    @staticmethod
    def pow(x, y):
        x = torch.as_tensor(x, dtype=y.dtype)
        return Libm.call("pow", x.expand(y.shape), y)


# ---- the recipes: angles of positions p, f32 but for those in double ----


def annotated(m, p, base):
    return p[:, None] * m.exp(torch.arange(0, DIM, 2) * -(math.log(base) / DIM))


def tensor2tensor(m, p, base):
    slope = torch.tensor(math.log(base), dtype=F32) / (torch.tensor(float(HALF)) - 1)
    return p[:, None] * m.exp(torch.arange(HALF).float() * -slope)


def fairseq(m, p, base):
    slope = math.log(base) / (HALF - 1)
    return p[:, None] * m.exp(torch.arange(HALF, dtype=F32) * -slope)


def whisper(m, p, base):
    slope = np.log(base) / (HALF - 1)
    return p[:, None] * m.exp(-slope * torch.arange(HALF))


def ddpm_timestep(m, p, base):
    exponent = -math.log(base) * torch.arange(0, HALF, dtype=F32)
    return p[:, None] * m.exp(exponent / (HALF - 0.5))


def hf_frequency(m, base):
    return 1.0 / m.pow(base, torch.arange(0, DIM, 2, dtype=torch.int64).float() / DIM)


def hf_rope(m, p, base):
    return (hf_frequency(m, base)[None, :, None] @ p[None, None, :])[0].T


def vllm(m, p, base):
    frequency = 1.0 / m.pow(base, torch.arange(0, DIM, 2, dtype=torch.float) / DIM)
    return torch.einsum("i,j->ij", p, frequency)


def xpos(m, p, base):
    # Without the scale of each pair, ((2i + 0.4 d) / 1.4 d)^((p - L/2) / 512), which no table of sines has.
    return torch.einsum("i,j->ij", p, 1.0 / m.pow(base, torch.arange(0, HALF) / HALF))


vllm.written_as = xpos.written_as = "hf-rope"


def tensorrt_llm(m, p, base):
    frequency = 1.0 / m.pow(base, torch.arange(0, DIM, 2, dtype=torch.float64) / DIM).float()
    return torch.einsum("i,j->ij", p, frequency)


def turned(p, frequency):
    turns = (p[:, None] * frequency * np.float32(1 / (2 * math.pi))).double()
    return (turns - turns.round()) * (2 * math.pi)


def flashinfer(m, p, base):
    exponent = torch.arange(0, DIM, 2).float() / DIM
    return turned(p, m.exp2(exponent * m.log2(1.0 / torch.tensor([base]))))


def ggml_cuda_fast(m, p, base):
    step = m.pow(base, torch.tensor([-2.0 / DIM]))
    return turned(p, m.exp2(torch.arange(HALF).float() * m.log2(step)))


def maxtext(m, p, base):
    return p[:, None] / m.pow(base, 2 * torch.arange(HALF, dtype=F32) / DIM)


def xlm(m, p, base):
    if m is Framework:
        return torch.from_numpy(
            np.array([[q / np.power(base, 2 * (j // 2) / DIM) for j in range(0, DIM, 2)] for q in p.double().tolist()])
        )
    return p.double()[:, None] / m.pow(base, torch.arange(0, DIM, 2, dtype=torch.float64) / DIM)


def flux(m, p, base):
    omega = 1.0 / m.pow(base, torch.arange(0, DIM, 2, dtype=torch.float64) / DIM)
    return torch.einsum("n,d->nd", p.double(), omega)


def bf16_positions(m, p, base):
    return p.bfloat16().float()[:, None] * hf_frequency(m, base)


def f16_positions(m, p, base):
    return p.half().float()[:, None] * hf_frequency(m, base)


def bf16_inv(m, p, base):
    return p[:, None] * hf_frequency(m, base).bfloat16().float()


def all_bf16(m, p, base):
    return p.bfloat16()[:, None] * hf_frequency(m, base).bfloat16()


# ---- scalings, in f64 ----


def plain_frequency(base):
    return base ** (-np.arange(0, DIM, 2) / DIM)


def linear(base, factor):
    return plain_frequency(base) / factor


def dynamic(base, factor, original, length):
    length = max(length, original)
    return plain_frequency(base * (factor * length / original - (factor - 1)) ** (DIM / (DIM - 2)))


def yarn(base, factor, original, low=1, high=32, truncate=True):
    def column(turns):  # where a wave turns so often in the original length
        return DIM * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))

    first, last = column(high), column(low)
    if truncate:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, DIM - 1)
    if first == last:
        last += 0.001
    divided = np.clip((np.arange(HALF) - first) / (last - first), 0, 1)
    w = plain_frequency(base)
    return w / factor * divided + w * (1 - divided)


def llama3(base, factor=8, original=8192, low=1, high=4):
    w = plain_frequency(base)
    wave = 2 * np.pi / w
    smooth = (original / wave - low) / (high - low)
    between = (1 - smooth) * w / factor + smooth * w
    return np.where(wave > original / low, w / factor, np.where(wave < original / high, w, between))


def longrope(base, factors):
    return plain_frequency(base) / np.array(factors)


def yarn_attention(factor):
    return 0.1 * math.log(factor) + 1


def longrope_attention(factor, original):
    return math.sqrt(1 + math.log(factor) / math.log(original))


def ramp():
    return [1 + 63 * (i / (HALF - 1)) ** 2 for i in range(HALF)]


def scalings():
    """What it is, the frequencies, the attention factor, and how posenc is told."""
    colons = ":".join(repr(x) for x in ramp())
    yield "scale", 0.3 * plain_frequency(10000.0), 1, ["--scale", "0.3"]
    yield "linear", linear(10000.0, 4), 1, ["--scaling", "linear,factor=4"]
    yield "dynamic", dynamic(10000.0, 2, 2048, 5000), 1, ["--scaling", "dynamic,factor=2,original=2048,length=5000"]
    yield "dynamic, short", dynamic(10000.0, 2, 2048, 9), 1, ["--scaling", "dynamic,factor=2,original=2048,length=9"]
    for factor, original in ((16, 4096), (40, 4096), (4, 32768), (8, 20)):
        told = f"yarn,factor={factor},original={original}"
        yield told, yarn(10000.0, factor, original), yarn_attention(factor), ["--scaling", told]
    yield "yarn, not truncated", yarn(10000.0, 16, 4096, truncate=False), 1, [
        "--scaling",
        "yarn,factor=16,original=4096,truncate=no,attention=1",
    ]
    yield "yarn, other turns", yarn(10000.0, 32, 4096, 2.5, 20), 1.5, [
        "--scaling",
        "yarn,factor=32,original=4096,low=2.5,high=20,attention=1.5",
    ]
    yield "llama3", llama3(500000.0), 1, ["--base", "500000", "--scaling", "llama3"]
    yield "llama3 by 32", llama3(500000.0, 32, 8192, 1, 4), 1, ["--base", "500000", "--scaling", "llama3,factor=32"]
    yield "longrope", longrope(10000.0, ramp()), 1, ["--scaling", "longrope,factors=" + colons]
    yield "longrope, stretched by 32", longrope(10000.0, ramp()), longrope_attention(32, 4096), [
        "--scaling",
        "longrope,factor=32,original=4096,factors=" + colons,
    ]


# ---- several axes: rows of a grid of HEIGHT x WIDTH ----

HEIGHT, WIDTH = 12, 18


def places():
    rows, columns = torch.meshgrid(torch.arange(HEIGHT, dtype=F32), torch.arange(WIDTH, dtype=F32), indexing="ij")
    return rows.flatten(), columns.flatten()


def sines(m, angle):
    return torch.cat([m.sin(angle), m.cos(angle)], dim=1)


def mae_axis(m, p, dim):
    omega = torch.arange(dim // 2, dtype=torch.float64) / (dim / 2.0)
    omega = 1.0 / m.pow(10000.0, omega)
    return sines(m, torch.einsum("m,d->md", p.double(), omega))


def mae(m):
    h, w = places()
    return torch.cat([mae_axis(m, w, DIM // 2), mae_axis(m, h, DIM // 2)], dim=1)


def diffusers_2d(m):
    h, w = (p / (size / 8) for p, size in zip(places(), (HEIGHT, WIDTH)))
    return torch.cat([mae_axis(m, w, DIM // 2), mae_axis(m, h, DIM // 2)], dim=1)


def timm(m):
    bands = 1.0 / m.pow(10000.0, torch.arange(DIM // 4).float() / (DIM // 4))
    grid = torch.stack(places(), dim=1)
    return sines(m, (grid[:, :, None] * bands).flatten(1))


def dinov3(m):
    periods = m.pow(100.0, 2 * torch.arange(DIM // 4, dtype=F32) / (DIM // 2))
    centres = [torch.arange(0.5, size, dtype=F32) / size for size in (HEIGHT, WIDTH)]
    centres = 2.0 * torch.stack(torch.meshgrid(*centres, indexing="ij"), dim=-1).flatten(0, 1) - 1.0
    return sines(m, (2 * math.pi * centres[:, :, None] / periods).flatten(1))


def mrope_angles(m):
    """The angles of all frequencies for the three positions of each token: text, then a picture."""
    h, w = (torch.cat([torch.arange(5).float(), 5 + p]) for p in places())
    t = torch.cat([torch.arange(5).float(), torch.full((HEIGHT * WIDTH,), 5.0)])
    return [p[:, None] * hf_frequency(m, 1000000.0)[None] for p in (t, h, w)], (t, h, w)


def qwen2_vl(m):
    angles, _ = mrope_angles(m)
    parts = [a.split([16, 24, 24], dim=1)[n] for n, a in enumerate(angles)]
    return sines(m, torch.cat(parts, dim=1))


def qwen3_vl(m):
    angles, _ = mrope_angles(m)
    mixed = angles[0].clone()
    for axis, offset in ((1, 1), (2, 2)):
        mixed[:, offset : 20 * 3 : 3] = angles[axis][:, offset : 20 * 3 : 3]
    return sines(m, mixed)


def grids(folder):
    """What it is, the recipe that writes each axis, and how posenc is told."""
    for name, positions in zip("thw", mrope_angles(Framework)[1]):
        np.save(f"{folder}/{name}.npy", positions.numpy())
    lists = ",".join(f"{name}=@{folder}/{name}.npy" for name in "thw") + ",frequencies=continued,"
    grid = f"h={HEIGHT},w={WIDTH}"
    centred = ",".join(f"{name}={size}:{1 - size}:2/{size}" for name, size in (("h", HEIGHT), ("w", WIDTH)))
    yield mae, "flux", [grid + ",columns=wh,grouped=yes"]
    yield diffusers_2d, "diffusers-2d", [f"h={HEIGHT}/1.5,w={WIDTH}/2.25,columns=wh,grouped=yes"]
    yield timm, "hf-rope", [grid]
    yield dinov3, "dinov3", [centred, "--base", "100", "--scale", "6.283185307179586"]
    yield qwen2_vl, "hf-rope", [lists + "pairs=16:24:24", "--base", "1e6"]
    yield qwen3_vl, "hf-rope", [lists + "pairs=24:20:20,order=cyclic", "--base", "1e6"]


def compare_grids(posenc):
    with tempfile.TemporaryDirectory() as folder:
        for recipe, kernel, options in grids(folder):
            command = [posenc, "write", "--kernel", "recipe/" + kernel, "--dim", str(DIM), "--layout", "split"]
            subprocess.run(command + ["-o", folder + "/x.npy", "--grid"] + options, check=True)
            got, name = np.load(folder + "/x.npy"), recipe.__name__.replace("_", "-")
            report(np.array_equal(got, recipe(Libm).float().numpy()), f"{name}: bit for bit with libm")
            own = recipe(Framework).float().numpy()
            difference = np.abs(own.astype(np.float64) - got).max()
            report(difference <= 2.0**-22 + 2.0**-23 * 32, f"{name}: within {difference:.2g} of the framework's own")


# ---- comparing ----


def written(posenc, kernel, first, options):
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        command = [posenc, "write", "--kernel", kernel, "--len", str(ROWS), "--dim", str(DIM), "--layout", "split"]
        subprocess.run(command + ["--offset", str(first), "-o", file.name] + options, check=True)
        return np.load(file.name)


def table(m, recipe, first, base, padding):
    angle = recipe(m, torch.arange(first, first + ROWS, dtype=F32), base)
    made = torch.cat([m.sin(angle), m.cos(angle)], dim=1).float().numpy()
    if padding is not None and first <= padding < first + ROWS:
        made[padding - first] = 0
    return made


def report(good, what):
    print("ok" if good else "not ok", what, flush=True)


def main(posenc):
    torch.set_num_threads(1)
    by_one = ["--shift", "1"]
    for recipe, options in (
        (annotated, []),
        (tensor2tensor, by_one),
        (fairseq, by_one + ["--padding", "1"]),
        (whisper, by_one),
        (ddpm_timestep, ["--shift", "0.5"]),
        (hf_rope, []),
        (vllm, []),
        (xpos, []),
        (tensorrt_llm, []),
        (flashinfer, []),
        (ggml_cuda_fast, []),
        (maxtext, []),
        (xlm, []),
        (flux, []),
        (bf16_positions, []),
        (f16_positions, []),
        (bf16_inv, []),
        (all_bf16, []),
    ):
        name = recipe.__name__.replace("_", "-")
        padding = 1 if recipe is fairseq else None
        last = 65504 - ROWS if recipe is f16_positions else 131072
        for first, base in ((0, 10000.0), (4000, 500000.0), (last, 10000.0)):
            kernel = "recipe/" + getattr(recipe, "written_as", name)
            got = written(posenc, kernel, first, ["--base", str(base)] + options)
            same = table(Libm, recipe, first, base, padding)
            report(np.array_equal(got, same), f"{name} from {first}: bit for bit with libm")
            own = table(Framework, recipe, first, base, padding)
            difference = np.abs(own.astype(np.float64) - got).max(axis=1)
            own_name = f"{name} from {first}:"
            if recipe in (xlm, flux, all_bf16):  # one more rounding hides nearly all differences of powers and sines
                share = np.mean(own != got)
                report(share <= 1e-3, f"{own_name} {share:.2g} of the framework's own elements differ, at most 1e-3")
            else:  # an ulp of a frequency below 1, and one of the angle's rounding; 4 ulp of a sine
                bound = 2.0**-22 + 2.0**-23 * np.arange(first, first + ROWS)
                report(np.all(difference <= bound), f"{own_name} within {difference.max():.2g} of the framework's own")
    compare_grids(posenc)
    for name, frequency, attention, options in scalings():
        for first in (0, 1000000):
            angle = np.arange(first, first + ROWS)[:, None] * frequency
            wanted = attention * np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
            got = written(posenc, "rotation-portable", first, ["--dtype", "f64"] + options)
            difference = np.abs(got - wanted)
            # The kernel's 2^-45, and a few ulp of a frequency and an angle.
            bound = attention * (2.0**-44 + 2.0**-50 * np.concatenate([angle, angle], axis=1))
            report(np.all(difference <= bound), f"{name} from {first}: within {difference.max():.2g} of NumPy's f64")


main(sys.argv[1])
