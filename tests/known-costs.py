# SPDX-License-Identifier: MIT
"""What tests/known-costs.sh expects of times: computed from the repetitions of a record, apart from posenc's code.

    known-costs.py known RECORD [last]              the plugin's kernels have the costs that they have; last: no other
                                                    record is made if other processes used much of the machine
    known-costs.py text FILE                        so they have in a table of posenc bench or choose
    known-costs.py choice FILE                      and in posenc choose --format json
    known-costs.py join RECORD...                   one record with the benchmarks of all, or the results
    known-costs.py made RECORD NUMBER               a record with other times: known, uneven, with outliers
    known-costs.py report RECORD ACCURACY FOLDER    every figure of a time in a report
    known-costs.py machines RECORD RECORD FOLDER    and in the report of two machines
    known-costs.py compare OLD NEW BY FILE...       and in the output of posenc compare --all, in each of its formats

Status 1, and what is wrong, if a figure is not what it must be.
"""
import html
import json
import math
import os
import re
import sys
from functools import lru_cache
from statistics import median

ROW, PLAN = 40e3, 400e3  # ns that tests/costs.c waits for
COSTS = {"waits": 16 * ROW, "plans": 16 * ROW, "fourfold": 64 * ROW}  # of 16x512
SHAPES = {"16 × 512, ": "16x512", "512 × 128, ": "512x128", "16 × 4 × 64, ": "16x64-rope4"}  # by their captions
FACTORS = {"GB/s": 1e-9, "% of limit": 100}  # of other titles 1
COUNTERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../records/counters.def")
OTHERS_MOST = 0.05  # as in common/environment.h
ALPHA, SLOWER, UNRELIABLE = 0.05, 1.05, 0.05
faults = []


def hold(is_so, *what):
    if not is_so:
        faults.append(" ".join(map(str, what)))


def same(got, wanted, *what):
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key, value in wanted.items():
            same(got.get(key), value, *what, key)
    elif isinstance(wanted, (int, float)) and isinstance(got, (int, float)):
        hold(math.isclose(got, wanted, rel_tol=1e-12), *what, "is", got, "not", wanted)
    else:
        hold(got == wanted, *what, "is", got, "not", wanted)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def figures():
    """{title of a column: (name of the counter, factor)}"""
    rows = re.findall(r'^SHOWN\((\w+), "[^"]*",\s"[^"]*",\s"([^"]*)",', read(COUNTERS), re.M)
    return {title: (name, FACTORS.get(title, 1)) for name, title in rows}


def repetitions(record):
    """{(mode, shape, kernel): repetitions}"""
    found = {}
    for one in record["benchmarks"]:
        if one["run_type"] == "iteration":
            found.setdefault(tuple(one["run_name"].split("/")), []).append(one)
    return found


def values(of, key, figure):
    return [one[figure] for one in of[key]]


def elements_of(one):
    return one["rows"] * one["heads"] * one["dim"] * one["batch"]


# ---- statistics ----


@lru_cache(None)
def ways(n, m, u):
    """Arrangements of n and m numbers in which u pairs are the wrong way round."""
    if u < 0 or n == 0 or m == 0:
        return int(u == 0)
    return ways(n - 1, m, u - m) + ways(n, m - 1, u)


def tail(n, m, most):
    return sum(ways(n, m, u) for u in range(most + 1)) / math.comb(n + m, n)


def rank_test(a, b):
    n, m, both = len(a), len(b), a + b
    above = sum((x > y) + (x == y) / 2 for x in a for y in b)
    least = min(above, n * m - above)
    if len(set(both)) == n + m:
        return min(1, 2 * tail(n, m, int(least)))
    ties = sum(both.count(x) ** 2 - 1 for x in both)  # the normal distribution, as numbers are equal
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    return min(1, math.erfc((n * m / 2 - least - 0.5) / math.sqrt(2 * variance)))


def ratio_of(a, b, confidence):
    """Of b to a: estimate, low and high; these are None where there are too few to tell."""
    quotients, left = sorted(y / x for x in a for y in b), 0
    while left < len(quotients) // 2 and tail(len(a), len(b), left) <= (1 - confidence) / 2 * (1 + 1e-9):
        left += 1
    return median(quotients), quotients[left - 1] if left else None, quotients[-left] if left else None


# ---- what is known of the plugin's kernels ----


def about(what, least, cost, most):
    """The least of repetitions: other work on the machine adds time, and takes none away."""
    hold(0.999 * cost <= least <= most * cost, what, least, "is not about", cost)


def known(record, last=""):
    of, most = repetitions(record), math.inf if last and record["context"].get("others", 1) > UNRELIABLE else 1.5
    for key in of:
        for one in of[key] if key[0] != "plan" else []:  # a repetition tells its time in several ways
            same(one["ns_per_element"] * elements_of(one), one["real_time"], key, "elements times ns/element")
            moved = (2 if "rope" in key[1] else 1) * 4 * elements_of(one)
            same(one["bytes_per_second"] * one["real_time"], 1e9 * moved, key, "bytes")
            same(one["of_limit"] * one["limit_bytes_per_second"], one["bytes_per_second"], key, "rate by the limit")
    for kernel, cost in COSTS.items():
        about(kernel, min(values(of, ("hot", "16x512", kernel), "real_time")), cost, most)
    about("plan", min(values(of, ("plan", "16x512", "plans"), "real_time")), PLAN, most)
    first = of["first", "16x512", "plans"]
    about("with the plan", min(one["real_time"] for one in first), PLAN + 16 * ROW, most)
    about("its plan", min(one["plan_share"] * one["real_time"] for one in first), PLAN, most)
    heads = values(of, ("hot", "16x64-rope4", "waits"), "ns_per_element")
    about("heads and batch", min(heads), ROW / (4 * 64 * 3), most)
    tenth = values(of, ("hot", "16x512", "tenth"), "real_time")
    about("nine calls of ten", min(tenth), 16 * ROW, most)
    hold(max(tenth) > 9.99 * 16 * ROW, "no call in ten", tenth)
    once, thrice = (min(values(of, ("hot", "512x128", kernel), "real_time")) for kernel in ("fills", "fills-thrice"))
    share = max(values(of, ("hot", "512x128", "fills"), "of_limit"))
    hold(most > 2 or (2 < thrice / once < 5 and 0.3 < share < 2), "fills", once, thrice, "share", share)


def text(file):
    table = read(file)
    for kernel, cost in COSTS.items():
        words = next(line.split() for line in table.splitlines() if kernel in line.split())
        us, *others = [float(word) for word in words[words.index(kernel) + 1:] if re.fullmatch("[0-9.e+-]+", word)]
        hold(us * 1e3 >= 0.999 * cost, kernel, us, "us are less than", cost)
        if "ns/element" in table:
            hold(math.isclose(others.pop(0) * 8.192, us, rel_tol=1e-3), kernel, "ns/element")
        hold(abs(others[0] - 4 * 8.192 / us) < 0.0051, kernel, others[0], "GB/s")


def choice(made_choice):
    of = {one["kernel"]: one for one in made_choice["candidates"]}
    unreliable = made_choice["others"] is None or made_choice["others"] > UNRELIABLE
    for kernel, cost in COSTS.items():
        one = of[kernel]
        about(kernel, one["low"] * 1e9, cost, math.inf if unreliable else 2)
        hold(one["low"] <= one["seconds"] <= one["high"], kernel, "least, median, most")
        same(one["bytes_per_second"] * one["seconds"], 16 * 512 * 4, kernel, "bytes")
    order = sorted(of.values(), key=lambda one: one["seconds"])
    same(made_choice["candidates"], order, "the order of candidates")
    first, second, *_ = (one for one in order if one["ok"] and one["within"])
    following = made_choice["next"]
    same((made_choice["choice"], following["kernel"]), (first["kernel"], second["kernel"]), "the choice and the next")
    hold(unreliable or 0.8 < following["ratio"] * first["seconds"] / second["seconds"] < 1.25, "the ratio", following)


# ---- records ----


def join(first, *others):
    for record in others:
        for key in ("benchmarks", "records"):
            first.get(key, []).extend(record.get(key, []))
        for key in ("passed", "failed", "skipped"):
            if key in first:
                first[key] += record[key]
    return first


def made(record, digit):
    """Times that are up to 2 % apart, but for an outlier. In one of `waits` and, in hot, most of `fills` others
    interrupted the process, and in record 1 in three of `tenth` in hot; `fourfold` has an even number. Those of the
    record 1 differ by much of three kernels, and spread of one."""
    number = int(digit)
    record["context"].update(others=0.123 + number / 100, load=f"{number}.25 0 0")
    kept = []
    for key, all_of in repetitions(record).items():
        kernel, size = key[2], sum(map(ord, "".join(key))) % 97 + 31
        for n, one in enumerate(all_of[kernel == "fourfold":], 1):
            time = 1e3 * size * (1 + (n * n * 7 + n * 3 + number * 5) % 23 / 1150 + 1e-4 * n + 1e-5 * number)
            time *= 4 if n == 4 else 1
            time *= {"waits": 1.5, "plans": 0.7, "tenth": 1 + n % 5}.get(kernel, 1) if number else 1
            one["real_time"] = time
            hot = key[0] == "hot"
            interrupts = {"waits": n == 2, "fills": hot and n > 3, "tenth": number and hot and n < 4}
            one["cpu_time"] = time / (1.2 if interrupts.get(kernel) else 1.01)
            if key[0] != "plan":
                one["ns_per_element"] = time / elements_of(one)
                one["bytes_per_second"] = 4e9 * elements_of(one) / time
                one["limit_bytes_per_second"] = 1e10 * (3 + (n * n * 5 + n) % 19 / 40 + 1e-4 * size)
                one["of_limit"] = one["bytes_per_second"] / one["limit_bytes_per_second"]
            kept.append(one)
    record["benchmarks"] = kept
    return record


# ---- reports ----


def sig(value, digits=3):
    return ("%#.*g" % (digits, value)).rstrip(".")


def duration(ns):
    units = ["ns", "µs", "ms", "s"]
    while ns >= 1000 and len(units) > 1:
        ns, units = ns / 1000, units[1:]
    return f"{sig(ns)} {units[0]}"


def spread(of, scale=1.0, unit=""):
    middle, least, most = median(of), min(of), max(of)
    mark = "‡" if most - least > 0.2 * middle else ""
    return f"{sig(middle * scale)}{unit}{mark} ({sig(least * scale)}–{sig(most * scale)})"


def ratio_text(ratio):
    return f"{sig(ratio[0])}× ({sig(ratio[1])}–{sig(ratio[2])})"


def plain(markup):
    words = html.unescape(re.sub(r"<[^>]*>|`|\*\*|\\", "", markup))
    return words.replace("\u00a0", " ").replace("\u202f", "").strip()


def html_of(folder):
    """The page, and that of the details, which a page of two machines does not have."""
    paths = [f"{folder}/{name}.html" for name in ("index", "details")]
    return "".join(read(path) for path in paths if os.path.exists(path))


def tables(folder, head):
    """[(caption, rows)] of those with that column, which are the same in both files."""
    pages = [[], []]
    for table in re.findall(r"<table>(.*?)</table>", html_of(folder), re.S):
        rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in re.findall(r"<tr>(.*?)</tr>", table)]
        pages[0].append((re.search(r"<caption>(.*?)</caption>", table, re.S)[1], rows))
    for caption, lines in re.findall(r"(.*)\n\n((?:\|.*\n)+)", read(folder + "/report.md")):
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines.splitlines()]
        pages[1].append((caption, rows[:1] + rows[2:]))
    pages = [[(plain(caption), [[plain(cell) for cell in row] for row in rows]) for caption, rows in page
              if head in map(plain, rows[0])] for page in pages]
    same(pages[1], pages[0], "the tables of report.md")
    return pages[0]


def numbers(of):
    return {"median": median(of), "min": min(of), "max": max(of)} if of else None


def row_of(of, key):
    """The cells of a table by their heads, and the "timing" of report.json."""
    mode, shape, kernel = key
    naive = (mode, shape, "naive")
    shown = figures()
    timing = {figure: numbers(values(of, key, figure)) for figure in ("limit_bytes_per_second", *dict(shown.values()))}
    cells = {head: spread(values(of, key, figure), scale) for head, (figure, scale) in shown.items()}
    cells["over naive"], timing["speed_up"] = "", None
    if kernel != "naive" and naive in of:
        ratio = ratio_of(*(values(of, k, "ns_per_element") for k in (key, naive)), 0.9)
        cells["over naive"], timing["speed_up"] = ratio_text(ratio), dict(zip(("estimate", "low", "high"), ratio))
    plan = [one["real_time"] for one in of.get(("plan", shape, kernel), [])] if mode == "hot" else []
    cells["plan, µs"], timing["plan_ns"] = spread(plan, 1e-3) if plan else "", numbers(plan)
    return cells, {**timing, "repetitions": len(of[key])}


def report(record, accuracy, folder):
    of, seen, whole = repetitions(record), set(), json.loads(read(folder + "/report.json"))
    for caption, (heads, *rows) in tables(folder, "ns/element"):
        place = ("first" if caption.startswith("first") else "hot", next(SHAPES[s] for s in SHAPES if s in caption))
        limits = [x for key in of if key[:2] == place for x in values(of, key, "limit_bytes_per_second")]
        hold("limit %.1f GB/s" % (median(limits) / 1e9) in caption, caption, "has not the limit", median(limits))
        for row in rows:
            name, *twins = re.split(" the same bits: |, ", row[0])
            cells = {**row_of(of, (*place, name))[0], "kernel": row[0]}
            same(dict(zip(heads, row)), {head: cell for head, cell in cells.items() if head in heads}, place)
            seen.add((*place, name))
            for twin in twins:
                other = (*place, twin.split()[0])
                same(twin, f"{other[2]} {sig(median(values(of, other, 'ns_per_element')))} ns", "the same bits")
                seen.add(other)
    same(seen, {key for key in of if key[0] != "plan"}, "rows of times")
    for mode, shapes in (("hot", whole["shapes"]), ("first", whole["first"])):
        for table in shapes:
            for row in table["rows"]:
                key = (mode, table["shape"]["name"], row["kernel"])
                same(row["timing"], row_of(of, key)[1], *key)
    report_answer(record, of, accuracy, folder)


def report_answer(record, of, accuracy, folder):
    """The first lines, the fastest kernels for one ulp on the usual table, and whether times are unreliable."""
    ns = {key[2]: values(of, key, "ns_per_element") for key in of if key[:2] == ("hot", "16x512")}
    first, second = sorted((one["name"] for one in accuracy["kernels"]), key=lambda kernel: median(ns[kernel]))[:2]
    gigabytes, share = (values(of, ("hot", "16x512", first), figure) for figure in ("bytes_per_second", "of_limit"))
    ratios = [ratio_of(ns[first], ns[kernel], 0.9) for kernel in (second, "naive")]
    told = [ratio_text(ratio) + (" not told apart" if ratio[1] <= 1 <= ratio[2] else "") for ratio in ratios]
    page = plain(read(folder + "/report.md"))
    others = record["context"]["others"]
    busy = "§" if others >= OTHERS_MOST else ""
    middle, least, most = (duration(of_all(ns[first]) * 16 * 512) for of_all in (median, min, max))
    mark = "‡" if max(ns[first]) - min(ns[first]) > 0.2 * median(ns[first]) else ""
    text = f"The fastest of a proved error of at most 2⁻²⁴, one thread: {middle}{mark} ({least}–{most}){busy}, "
    line = next((line for line in page.splitlines() if text in line), "")
    hold(line.endswith(": " + first), "no line has", text, "and is of", first)
    wanted = f"other processes used {sig(100 * others, 2)} % of "
    hold(wanted in page, "the report does not say:", wanted)
    row = next(row for row in tables(folder, "take")[0][1] if row[:2] == ["1 ulp", "reference 16x512"])
    same(row[2:7], [first, spread(gigabytes, 1e-9), spread(share, 100), f"{second} {told[0]}", told[1]], "the answer")


def machines(one, other, folder):
    found = [table for table in tables(folder, "kernel") if "share of the limit" in table[0]]
    same(len(found), len(SHAPES) - 1, "tables of shares, as kernels of one shape were not verified")
    for caption, (_, *rows) in found:
        for row in rows:
            for cell, of in zip(row[1:], (repetitions(one), repetitions(other))):
                key = ("hot", caption.split(",")[0], row[0])
                rate, share = values(of, key, "bytes_per_second"), values(of, key, "of_limit")
                same(cell, spread(share, 100, " %") + ", " + spread(rate, 1e-9, " GB/s"), *key)


# ---- comparisons ----


def is_disturbed(*rows):
    interrupted = sum(sum(row["interrupted"]) for row in rows)
    return 8 * interrupted > interrupted + sum(sum(row["samples"]) for row in rows)


def judge(row, rows):
    if not row["tested"] or not row["low"]:
        return "undecided"
    if row["p"] <= ALPHA and not 1 / SLOWER <= row["ratio"] <= SLOWER:
        if is_disturbed(row) or (row["measure"] == "time" and is_disturbed(*rows)):
            return "undecided"
        return "worse" if row["ratio"] > 1 else "better"
    return "same" if row["low"] >= 1 / SLOWER and row["high"] <= SLOWER else "undecided"


def rows_of(old, new, by):
    sides, rows = [repetitions(old), repetitions(new)], []
    for key in sides[1]:
        alone = [[one for one in of[key] if one["real_time"] <= 1.05 * one["cpu_time"]] for of in sides]
        interrupted = [len(of[key]) - len(left) for of, left in zip(sides, alone)]
        by_limit = by == "limit" and key[0] != "plan"
        if not all(alone):
            rows.append({"name": "/".join(key), "verdict": "undecided", "interrupted": interrupted,
                         "samples": list(map(len, alone))})
            continue
        costs = [[1 / one["of_limit"] if by_limit else one["real_time"] for one in left] for left in alone]
        middle = [1 / median(cost) if by_limit else median(cost) for cost in costs]
        rows.append({"name": "/".join(key), "measure": "limit" if by_limit else "time", "costs": costs,
                     "old": middle[0], "new": middle[1], "samples": list(map(len, alone)), "interrupted": interrupted,
                     "tested": not any(n and len(left) < 4 for n, left in zip(interrupted, alone)), "p": 1})
    tested, least = [row for row in rows if row.get("tested")], 0
    for row in tested:
        row["p"] = rank_test(*row["costs"])
    for n, row in enumerate(sorted(tested, key=lambda row: row["p"])):  # Holm's correction
        row["p"] = least = max(least, min(1, (len(tested) - n) * row["p"]))
    for row in (row for row in rows if "costs" in row):
        row["ratio"], row["low"], row["high"] = ratio_of(*row.pop("costs"), 1 - ALPHA / len(tested))
        row["smallest"] = math.sqrt(row["high"] / row["low"]) - 1 if row["low"] else None
        row["verdict"] = judge(row, rows)
    for row in rows:
        row.pop("tested", None)
    return rows


def words_of(row):
    if "ratio" not in row:
        return [row["verdict"], row["name"]]
    old_new = ("%.1f%% of limit" % (100 * row[side]) if row["measure"] == "limit" else "%.4g us" % (row[side] * 1e-3)
               for side in ("old", "new"))
    interval = ["%.3f to %.3f" % (row["low"], row["high"]), "%.1f%%" % (100 * row["smallest"])] if row["low"] else "--"
    return [row["verdict"], row["name"], *old_new, "%.3f" % row["ratio"], *interval, "p %.4f" % row["p"]]


def compare(old, new, by, printed, markdown, comparison):
    rows = rows_of(old, new, by)
    counts = [sum(row["verdict"] == verdict for row in rows) for verdict in ("worse", "better", "same", "undecided")]
    outputs = [{" ".join(line.split()) for line in read(file).splitlines()} for file in (printed, markdown)]
    for lines in outputs:
        hold("%d worse, %d better, %d the same, %d undecided" % tuple(counts) in lines, "counts are not", counts)
    told = {one["name"]: one for one in comparison["rows"]}
    same(told, {row["name"]: row for row in rows})
    same(len(told), len(rows), "the number of rows")
    for row in rows:
        words = words_of(row)
        hold(any((line + " ").startswith(" ".join(words) + " ") for line in outputs[0]), "no line", *words)
        hold(any(line.startswith("| " + " | ".join(words) + " |") for line in outputs[1]), "no row", *words)


def main(what, *words):
    does = {function.__name__: function for function in (known, text, choice, join, made, report, machines, compare)}
    record = does[what](*(json.loads(read(word)) if word.endswith(".json") else word for word in words))
    if record:
        json.dump(record, sys.stdout)
    sys.stderr.writelines(fault + "\n" for fault in faults[:20])
    sys.exit(bool(faults))


main(*sys.argv[1:])
