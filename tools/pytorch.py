#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times the recipe that PyTorch users copy, with PyTorch as installed and with settings that may make it faster.

Prints a timing record: torch/LENxDIM/installed, without any setting, and torch/LENxDIM/best, with the fastest setting.
Without PyTorch, it prints a record without benchmarks, which has the reason under "missing".
"""
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import time

REPETITIONS = 3

# glibc returns large blocks to the system when they are freed, and the next call has page faults again. These settings
# prevent that.
REUSE = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TOP_PAD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
}
CAPABILITIES = ("", "avx512")


def recipe(torch, rows, dim):
    """The PositionalEncoding of "The Annotated Transformer" (Rush, 2018; Huang et al., 2022)."""
    pe = torch.zeros(rows, dim)
    position = torch.arange(0, rows).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, dim, 2) * -(math.log(10000.0) / dim))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def reusing(torch, rows, dim):
    """The recipe with allocated memory, and with one product for sine and cosine."""
    pe, angle = torch.zeros(rows, dim), torch.zeros(rows, dim // 2)

    def make():
        position = torch.arange(0, rows, dtype=torch.float32).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, dim, 2) * -(math.log(10000.0) / dim))
        torch.mul(position, div_term, out=angle)
        torch.sin(angle, out=pe[:, 0::2])
        torch.cos(angle, out=pe[:, 1::2])

    return make


def times(make):
    """Returns the nanoseconds of each repetition, after an untimed one."""
    make()
    taken = []
    for _ in range(REPETITIONS):
        start = time.perf_counter_ns()
        make()
        taken.append(time.perf_counter_ns() - start)
    return taken


def measure_here(rows, dim, threads):
    """Returns {what: times} of this process, for its environment and each number of threads."""
    import torch

    found = {}
    for count in threads:
        if count:
            torch.set_num_threads(count)
        number = torch.get_num_threads()
        plural = "" if number == 1 else "s"
        found[f"{number} thread{plural}"] = times(lambda: recipe(torch, rows, dim))
        found[f"{number} thread{plural}, memory of its own"] = times(reusing(torch, rows, dim))
    return {"version": torch.__version__, "found": found}


def measure(rows, dim, threads, **environment):
    """Runs measure_here in a process with that environment."""
    command = [sys.executable, __file__, "--here", str(rows), str(dim), *map(str, threads)]
    run = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def entries(name, taken, **more):
    return [{"name": name, "run_type": "iteration", "real_time": ns, "time_unit": "ns", **more} for ns in taken]


def record(rows, dim):
    try:
        installed = measure(rows, dim, [0])
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or ["PyTorch does not run"])[-1]
        return {"missing": {"torch": reason}, "benchmarks": []}
    version = "PyTorch " + installed["version"]
    defaults = next(iter(installed["found"]))
    settings = {defaults: installed["found"][defaults]}
    for capability, reuse in itertools.product(CAPABILITIES, ({}, REUSE)):
        environment = {**({"ATEN_CPU_CAPABILITY": capability} if capability else {}), **reuse}
        for what, taken in measure(rows, dim, range(1, (os.cpu_count() or 1) + 1)[:2], **environment)["found"].items():
            words = [what, capability and f"ATEN_CPU_CAPABILITY={capability}", "malloc keeps memory" if reuse else ""]
            settings[", ".join(filter(None, words))] = taken
    best = min(settings, key=lambda what: statistics.median(settings[what]))
    shape = f"torch/{rows}x{dim}/"
    return {
        "benchmarks": entries(shape + "installed", settings[defaults], label=f"{version}, {defaults}")
        + entries(shape + "best", settings[best], label=f"{version}, best of {len(settings)} settings: {best}")
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        print(json.dumps(measure_here(*map(int, sys.argv[2:4]), list(map(int, sys.argv[4:])))))
    elif len(sys.argv) == 3 and all(word.isdigit() for word in sys.argv[1:]):
        json.dump(record(*map(int, sys.argv[1:])), sys.stdout, indent=1)
        print()
    else:
        sys.exit("usage: torch.py LEN DIM")
