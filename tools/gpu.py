#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times PyTorch on a GPU, eager and compiled, for the shapes of tools/gpu.sh, and writes tables that the GPU made into
FOLDER: by PyTorch, and by CUDA's fast functions as recipe/flashinfer and recipe/ggml-cuda-fast use them (with CuPy).

Times are those of a CUDA graph of all kernels, so that neither Python nor launches count.
"""
import math
import statistics
import sys

import numpy
import torch

ROWS, COLUMNS = 131072, 128

FAST = r"""
extern "C" __global__ void flashinfer(float *out, int d, float base) {
  long p = blockIdx.x, i = threadIdx.x;
  __sincosf((float)p * __powf(1.0f / base, (float)(2 * i) / (float)d), &out[p * d + 2 * i], &out[p * d + 2 * i + 1]);
}
extern "C" __global__ void ggml_cuda_fast(float *out, int d, float step) {
  long p = blockIdx.x, i = threadIdx.x;
  float angle = (float)p * __powf(step, (float)i);
  out[p * d + 2 * i] = __sinf(angle);
  out[p * d + 2 * i + 1] = __cosf(angle);
}
"""


def microseconds(work, count=20):
    """Returns the median time of a replay."""
    side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        work()
    times = []
    for _ in range(count):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(1000 * start.elapsed_time(end))
    return statistics.median(times)


def angles(rows, dim):
    position = torch.arange(rows, device="cuda", dtype=torch.float32).unsqueeze(1)
    index = torch.arange(0, dim, 2, device="cuda", dtype=torch.float32)
    return position * torch.exp(index * (-math.log(10000.0) / dim))


def table(rows, dim):
    """The recipe of tools/pytorch.py."""
    pe, angle = torch.empty(rows, dim, device="cuda"), angles(rows, dim)
    pe[:, 0::2] = torch.sin(angle)
    pe[:, 1::2] = torch.cos(angle)
    return pe


def stacked(rows, dim):
    """The same in a form that torch.compile makes one kernel of."""
    angle = angles(rows, dim)
    return torch.stack((torch.sin(angle), torch.cos(angle)), -1).view(rows, dim)


def rope(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def tell(what, eager, compiled=None):
    columns = [f"{microseconds(work):.0f}" if work else "" for work in (eager, compiled)]
    print(f"| {what} | {' | '.join(columns)} |", flush=True)


def time_all():
    print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}\n")
    print("| PyTorch on the GPU | eager, µs | compiled, µs |\n|---|---:|---:|")
    for rows, dim in ((8192, 512), (1 << 20, 128), (1 << 20, 512)):
        compiled = torch.compile(stacked, dynamic=False)
        tell(f"{rows}x{dim}", lambda: table(rows, dim), lambda: compiled(rows, dim))
    for dtype in (torch.float32, torch.bfloat16):
        for batch in (1, 8):
            x = torch.randn(batch, 4096, 32, 128, device="cuda", dtype=dtype)
            angle = angles(4096, 128).repeat(1, 2)[None, :, None]
            cos, sin, compiled = angle.cos().to(dtype), angle.sin().to(dtype), torch.compile(rope, dynamic=False)
            tell(f"rope of {batch}x4096x32x128, {dtype}", lambda: rope(x, cos, sin), lambda: compiled(x, cos, sin))
        x, pe = torch.randn(131072, 4096, device="cuda", dtype=dtype), table(131072, 4096).to(dtype)
        tell(f"add of a finished table of 131072x4096, {dtype}", lambda: torch.add(x, pe, out=x))


def write_fast(folder):
    try:
        import cupy
    except ImportError:
        print("\nno tables of CUDA's fast functions: CuPy is missing")
        return
    module = cupy.RawModule(code=FAST, options=("--use_fast_math",))
    for base in (10000, 500000):
        step = numpy.float32(base) ** numpy.float32(-2 / COLUMNS)
        for name, number in (("flashinfer", numpy.float32(base)), ("ggml_cuda_fast", step)):
            out = cupy.empty((ROWS, COLUMNS), cupy.float32)
            module.get_function(name)((ROWS,), (COLUMNS // 2,), (out, numpy.int32(COLUMNS), number))
            numpy.save(f"{folder}/{name.replace('_', '-')}-{base}.npy", out.get())


def share_of_bound(ours, exact, per_position):
    """The largest error as a share of a recipe's contract, of 2^-20 and a part that grows with the position."""
    ours, exact = (numpy.load(path, mmap_mode="r") for path in (ours, exact))
    worst = 0.0
    for row in range(0, ROWS, 4096):
        position = numpy.arange(row, row + 4096)[:, None]
        error = abs(ours[row : row + 4096].astype(float) - exact[row : row + 4096])
        worst = max(worst, (error / (2.0**-20 + 2.0**-24 + float(per_position) * position)).max())
    return worst


if __name__ == "__main__":
    if sys.argv[1:2] == ["--share"] and len(sys.argv) == 5:
        print(f"{share_of_bound(*sys.argv[2:]):.3f}")
    elif len(sys.argv) == 2:
        time_all()
        for name, made in (("eager", table), ("compiled", torch.compile(stacked, dynamic=False))):
            numpy.save(f"{sys.argv[1]}/{name}.npy", made(1 << 20, 512)[-(1 << 16) :].cpu().numpy())
        write_fast(sys.argv[1])
    else:
        sys.exit("usage: gpu.py FOLDER | --share TABLE EXACT PER_POSITION")
