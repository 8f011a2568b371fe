#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times posenc's default beside vector sines of Debian's newest packages, and writes sines-times.md.

A table of f32 is one product, of f32 or f64, and the library's sine and cosine for each pair: by posenc's kernels on
SLEEF and libmvec (impls/peers), for which the loader finds the packages' libraries, and by the plugin tools/sines.cc on
libraries that are headers. One `posenc bench` times all of a shape in turns of random order, by what each uses of its
processor; another one has the system's SLEEF and glibc. Errors are the largest of all elements below position 2^20, of
dim 64.

Run by `make time-sines`, which fetches the packages with `peers.py debian`. POSENC is the command, CXX the compiler.
"""
import argparse
import functools
import importlib
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

import peers

times = importlib.import_module("time-peers")

SOURCE = pathlib.Path(__file__).resolve().parent
POSENC = os.path.abspath(os.environ.get("POSENC", "./posenc"))
LIBRARIES = {"sleef": "libsleef3", "libmvec": "libc6", "highway": "libhwy-dev", "xsimd": "libxsimd-dev"}
SHAPES, ERROR_DIM = [(5000, 512), (32768, 1024)], 64
NEW, OLD = "packages", "system"
# Else some commands start themselves again to set it, by /proc/self/exe, which is the loader.
ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive"}


def versions(folder):
    """{library: version} of the packages in the folder, by their files."""
    found = {}
    for name, package in LIBRARIES.items():
        for file in pathlib.Path(folder).glob(f"{package}_*.deb"):
            found[name] = re.sub(r"-[^-]*$", "", file.name.split("_")[1])
    return found


def command(folder):
    """The beginning of a command that runs posenc with the libraries in the folder, glibc's with its own loader."""
    libraries = pathlib.Path(folder).resolve() / "usr/lib/x86_64-linux-gnu"
    path = ":".join([str(libraries), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    loader = libraries / "ld-linux-x86-64.so.2"
    return [loader, "--library-path", path, POSENC] if loader.exists() else ["env", f"LD_LIBRARY_PATH={path}", POSENC]


def run(arguments):
    ended = subprocess.run(arguments, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    if ended.returncode:
        sys.exit(f"time-sines: status {ended.returncode}: {' '.join(map(str, arguments))}")
    return ended.stdout


def plugin(folder, work):
    """Compiles the kernels on headers for this processor: what gives posenc the plugin, or nothing."""
    made, headers = os.path.join(work, "sines.so"), pathlib.Path(folder) / "usr/include"
    options = ["-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", "-isystem", headers]
    if not headers.exists():
        return []
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    run([*compiler, *options, "-I", SOURCE.parent / "include", SOURCE / "sines.cc", "-o", made])
    return ["--plugin", made]


@functools.cache
def default_of(rows, dim):
    """The kernel that the library chooses; bench tells it beside the kernel that it is asked for."""
    told = run([POSENC, "bench", "--kernel", "rotation-portable", "--len", str(rows), "--dim", str(dim), "--threads",
                "1", "--mode", "hot", "--repetitions", "3", "--min-time", "0.001", "--format", "json"])
    return json.loads(told)["context"]["choices"][0]["kernel"]


def kernels(beginning, more):
    """The kernels on vector sines that run."""
    listed = json.loads(run([*beginning, "list", *more, "--format", "json"]))
    return [kernel["name"] for kernel in listed
            if kernel["name"].split("-")[0] in LIBRARIES and kernel["refusal"] is None]


def seconds(beginning, more, names, rows, dim, options):
    """{kernel: seconds of the processor of each turn}, and the record's context."""
    told = json.loads(run([*beginning, "bench", *more, "--kernel", ",".join(names), "--len", str(rows), "--dim",
                           str(dim), "--threads", "1", "--mode", "hot", "--repetitions", str(options.turns),
                           "--format", "json"]))
    found = {}
    for line in told["benchmarks"]:
        if line["run_type"] == "iteration":
            name = line["run_name"].removeprefix(f"hot/{rows}x{dim}/")
            found.setdefault(name, []).append(line["cpu_time"] * 1e-9)
    return found, told["context"]


def error(beginning, more, name, work):
    table = os.path.join(work, "table.npy")
    run([*beginning, "write", *more, "--kernel", name, "--len", str(peers.FARTHEST), "--dim", str(ERROR_DIM), "-o",
         table])
    checked = subprocess.run([POSENC, "check", table, "--format", "json"], env=ENVIRONMENT, stdout=subprocess.PIPE)
    record = json.loads(checked.stdout)["records"][0]  # its status is 1 if something is wrong with the table
    return {"error": record["max_abs"]["abs"], "at": record["max_abs"]["position"]}


def measure(place, folder, options, work):
    """The rows of one set of libraries."""
    beginning, more = (command(folder), plugin(folder, work)) if place == NEW else ([POSENC], [])
    names, found = kernels(beginning, more), []
    had = versions(folder) if place == NEW else {}
    errors = {name: error(beginning, more, name, work) for name in names}
    for rows, dim in SHAPES:
        own = default_of(rows, dim)
        if own not in errors:
            errors[own] = error(beginning, more, own, work)
        spent, context = seconds(beginning, more, [own, *names], rows, dim, options)
        of_system = {"sleef": context["sleef"], "libmvec": context["libc"].removeprefix("glibc ")}
        for name in [own, *names]:
            library = name.split("-")[0]
            found.append({"libraries": place, "problem": f"{rows}x{dim}", "kernel": name,
                          "version": had.get(library, of_system.get(library, "")), "of": own, "turns": spent[name],
                          "seconds": statistics.median(spent[name]), "beside": times.quotient(spent[name], spent[own]),
                          **errors[name]})
        print(f"time-sines: {rows}x{dim} with the libraries of {place}", flush=True)
    return found


def report(folder, head, lines):
    head["busy"] = head["others"] > times.BUSY
    titles = ["problem", "libraries", "kernel", "version", times.TIMES[2], "its time / posenc's", "largest error", "at",
              "posenc is"]
    rows = [[line["problem"], line["libraries"], line["kernel"], line["version"], times.short(line["seconds"]),
             times.ratio(line["beside"]) if line["kernel"] != line["of"] else "", f"{line['error']:.2g}",
             str(line["at"]), times.mark(line["beside"])] for line in lines]
    quiet = "busy with other programs, so times are left out" if head["busy"] else "without other programs"
    text = (f"# Vector sines\n\n{head['date'][:10]}, {head['machine']}, one thread, {quiet} (they used "
            f"{100 * head['others']:.1f} % of the processors);\n{head['turns']} turns, intervals of "
            f"{100 * times.interval(range(head['turns']))[2]:.1f} %.\n\n")
    pathlib.Path(folder, "sines-times.md").write_text(text + times.table(head, titles, rows))


def main():
    parser = argparse.ArgumentParser(prog="time-sines.py", description=__doc__.split("\n")[0])
    parser.add_argument("packages", help="the folder that peers.py debian has made")
    parser.add_argument("folder", nargs="?", default=".", help="where to write")
    parser.add_argument("--turns", type=int, default=9, help="of each shape, 3 or more; 9 without it")
    options = parser.parse_args()
    if options.turns < 3:
        parser.error("argument --turns: below 3")
    head, before = {**times.head_of_machine(), "turns": options.turns}, times.used()
    for name, package in LIBRARIES.items():
        if name not in versions(options.packages):
            print(f"time-sines: not there: {package}")
    with tempfile.TemporaryDirectory() as work:
        lines = [line for place in (NEW, OLD) for line in measure(place, options.packages, options, work)]
    head["others"] = times.others(before)
    report(options.folder, head, lines)


if __name__ == "__main__":
    main()
