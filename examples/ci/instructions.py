# SPDX-License-Identifier: MIT
"""Counts the instructions of one pass of each kernel of a timing record by callgrind, and adds them to the record.

    instructions.py RECORD OPTION...

The options are those that the record was made with: the problem, of tables, and --plugin. A kernel that callgrind
cannot run, for AVX-512 for example, or that has threads, is left out, with a line on stderr.
"""

import json
import os
import re
import subprocess
import sys
import tempfile


def without_kernel(options):
    """The options but for --kernel, which is a pattern of several."""
    return [
        option
        for before, option in zip([""] + options, options)
        if "--kernel" not in (before, option) and not option.startswith("--kernel=")
    ]


def count(kernel, options):
    """The instructions within posenc_execute while posenc writes the table; 0 if it could not be run."""
    with tempfile.TemporaryDirectory() as folder:
        callgrind = ["valgrind", "--tool=callgrind", "--trace-children=yes", "--toggle-collect=posenc_execute"]
        callgrind.append(f"--callgrind-out-file={folder}/%p")
        # Without the policy, posenc starts itself again, which valgrind cannot follow.
        done = subprocess.run(
            [*callgrind, "posenc", "write", "--kernel", kernel, *options, "-o", "-"],
            env={**os.environ, "OMP_WAIT_POLICY": "passive"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        totals = [
            int(total)
            for name in os.listdir(folder)
            for total in re.findall(r"^totals: (\d+)", open(os.path.join(folder, name)).read(), re.M)
        ]
    counted = sum(totals) if done.returncode == 0 else 0
    if not counted:
        why = [line for line in done.stderr.splitlines() if not line.startswith("==")]
        print(f"instructions.py: {kernel} is left out: {why[-1] if why else 'nothing was counted'}", file=sys.stderr)
    return counted


def main(path, *options):
    with open(path) as file:
        record = json.load(file)
    counts = {}
    for benchmark in record["benchmarks"]:
        mode, _, kernel = benchmark["name"].split("/", 2)
        aggregated = benchmark.get("run_type") == "aggregate"
        if mode != "hot" or aggregated or "threads_limit_bytes_per_second" in benchmark:
            continue
        if kernel not in counts:
            counts[kernel] = count(kernel, without_kernel(list(options)))
        if counts[kernel]:
            benchmark["instructions"] = counts[kernel]
    with open(path, "w") as file:
        json.dump(record, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
