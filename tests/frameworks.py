# SPDX-License-Identifier: MIT
"""Recipes against the frameworks' own operations: frameworks.py POSENC. Prints "ok NAME" or "not ok NAME" for each comparison.

Each recipe is written again with PyTorch or NumPy and compared twice. With the framework's own powers, exponentials and sines, which are
vector code within some ulp (SLEEF), tables differ by what one ulp of a frequency makes of a position, and by some ulp. With libm's in their
place all bits must be the same: then exponents, products and quotients, their types and their order, are those of the framework.
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


class Libm:
    @staticmethod
    def call(name, x, *y):
        double = x.dtype == torch.float64
        number = ctypes.c_double if double else ctypes.c_float
        made = of_libm(name if double else name + "f", number, 1 + len(y))(*[np.asarray(z.double()) for z in (x, *y)])
        return torch.from_numpy(made.astype(np.float64)).to(x.dtype)

    exp = staticmethod(lambda x: Libm.call("exp", x))
    sin = staticmethod(lambda x: Libm.call("sin", x) if x.dtype != torch.bfloat16 else Libm.call("sin", x.float()).bfloat16())
    cos = staticmethod(lambda x: Libm.call("cos", x) if x.dtype != torch.bfloat16 else Libm.call("cos", x.float()).bfloat16())

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


# ---- comparing ----


def shipped(posenc, name, first, base, options):
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        command = [posenc, "write", "--kernel", "recipe/" + name, "--len", str(ROWS), "--dim", str(DIM), "--layout", "split"]
        subprocess.run(command + ["--offset", str(first), "--base", str(base), "-o", file.name] + options, check=True)
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
        for first, base in ((0, 10000.0), (4000, 500000.0), (65504 - ROWS if recipe is f16_positions else 131072, 10000.0)):
            got = shipped(posenc, name, first, base, options)
            same = table(Libm, recipe, first, base, padding)
            report(np.array_equal(got, same), f"{name} from {first}: bit for bit with libm")
            own = table(Framework, recipe, first, base, padding)
            difference = np.abs(own.astype(np.float64) - got).max(axis=1)
            if recipe in (xlm, flux, all_bf16):  # one more rounding hides nearly all that their powers and sines differ by
                share = np.mean(own != got)
                report(share <= 1e-3, f"{name} from {first}: {share:.2g} of the framework's own elements differ, at most 1e-3")
            else:  # an ulp of a frequency below 1, and one of the angle's rounding; 4 ulp of a sine
                bound = 2.0**-22 + 2.0**-23 * np.arange(first, first + ROWS)
                report(np.all(difference <= bound), f"{name} from {first}: within {difference.max():.2g} of the framework's own")


main(sys.argv[1])
