# SPDX-License-Identifier: MIT
"""Reads the tables of mutations (tests/mutations/README) and finds their places in the sources.

mutation.py check [PATTERN...]   what is wrong with the tables, and which of these mutations do not apply, a line each
mutation.py list [PATTERN...]    a line for each: NAME FILE VERDICT KEY TESTS; the verdict is killed, equivalent, open
                                 or needs:FLAG, commas are between the tests, and the key changes with the row, what it
                                 changes a part of, and the tests
mutation.py apply NAME           the changed file
mutation.py generate N COMMIT    a table of N mutations, of functions that have changed since the commit and whose file
                                 rows change, with those rows' tests; universalmutator (PyPI) makes them

MUTATION_TABLES has other tables than tests/mutations/*.txt.
"""
import fnmatch
import functools
import hashlib
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
C_FILES = (".c", ".h", ".cl", ".cc", ".def")
DIRECTIVE = r"^[ \t]*\#(?:/\*.*?\*/|\\\n|[^\n])*"
# What has no group is no token: comments.
C_TOKEN = r"""/\*.*?\*/ | //[^\n]* | \\\n
  | ( "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | \.?\d(?:[eEpP][+-]|[\w.])* | \w+ | \.\.\. | [-+&|<>=\#]{2}=?
    | [-+*/%&|^<>=!]= | \S )"""
C_TOKENS, OTHER_TOKENS = re.compile(C_TOKEN, re.S | re.X), re.compile(r"(\w+|\S)")
C_PARTS = re.compile(f"(?P<directive>{DIRECTIVE}) | {C_TOKEN}", re.M | re.S | re.X)


def tokens_of(text, is_c, start=0, end=None):
    """The tokens of a part of a text: (token, from, to)."""
    found = (C_TOKENS if is_c else OTHER_TOKENS).finditer(text, start, len(text) if end is None else end)
    return [(m[1], m.start(1), m.end(1)) for m in found if m[1]]


def names_of(item, is_function):
    """What a definition in C, as tokens, defines: a function, variables, types, constants of an enum."""
    depth, is_enum = 0, "enum" in item[:2]
    for before, token, after in zip([""] + item, item, item[1:]):
        if token == "{" and is_function:
            return
        depth += (token in "([{") - (token in ")]}")
        if token not in ("enum", "struct", "union") and re.match(r"[A-Za-z_]", token) and (
                is_function and after == "(" and (depth == 0 or before == "*")
                or not is_function and depth == 0 and after in "=[{;,"
                or depth == 1 and is_enum and before in "{," and after in "=,}"):
            yield token


def items_of(text):
    """The macros and the definitions at the outermost level of a text in C: (name, from, to)."""
    items, item, depth, opened, is_function = [], [], 0, [], False
    for part in C_PARTS.finditer(text):
        directive, token = part["directive"], part[2]
        if directive:
            what, name = re.match(r"\W*(\w*)\s*(\w*)", directive).groups()
            if what == "define":
                items.append((name, part.start(), part.end()))
            elif what in ("if", "ifdef", "ifndef"):
                opened.append(depth)
            elif what in ("elif", "else"):
                depth = opened[-1]
            elif what == "endif":
                opened.pop()
        elif token:
            if not item:
                start = part.start(2)
            if token == "{" and depth == 0:
                is_function = item[-1] in (")", "]")
            item.append(token)
            depth += (token in "({") - (token in ")}")
            if item[-3:] == ["extern", '"C"', "{"]:
                depth, item = 0, []
            elif depth <= 0 and (token == ";" or token == "}" and is_function):
                items += [(name, start, part.end(2)) for name in set(names_of(item, is_function))]
                depth, item, is_function = 0, [], False
    return items


@functools.lru_cache(None)
def text_of(path):
    return (root / path).read_text(encoding="utf-8")


@functools.lru_cache(None)
def sources():
    """The paths of what a mutation may change."""
    try:
        git = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                             capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        sys.exit("mutation: it takes git and a work tree of it")
    return sorted(path for path in set(git.stdout.split("\0")) - {""}
                  if not re.match("tests/|reports/published/|doc/[^/]*$", path) and (root / path).is_file())


@functools.lru_cache(None)
def definitions():
    """Everything that the sources in C define: {name: {(path, from, to)}}."""
    found = {}
    for path in sources():
        if path.endswith(C_FILES):
            for name, start, end in items_of(text_of(path)):
                found.setdefault(name, set()).add((path, start, end))
    return found


class Row:
    """A row of a table, which begins with `line`; `at` is where, for messages."""

    def __init__(self, at, line):
        self.at, self.lines, self.verdict, self.before, self.after = at, [line], "killed", [], []
        self.name, self.where, *self.tests = *line.split(), *[""] * (2 - len(line.split()))

    def add(self, line):
        """Takes one more line of the row; false if it is none."""
        self.lines.append(line)
        verdict = re.match(r"= (?:(equivalent|open): .|(needs): (\S+)$)", line)
        if line.startswith("- "):
            self.before.append(line[2:])
        elif re.match(r"\+( |$)", line):
            self.after.append(line[2:])
        elif verdict:
            self.verdict = verdict[1] or f"needs:{verdict[3]}"
        return verdict or line[0] in "-+"

    def candidates(self):
        """The files or definitions that `where` names: (path, from, to)."""
        folder, _, name = self.where.rpartition("/")
        if "." in name:
            return [(path, 0, len(text_of(path))) for path in sources() if f"/{path}".endswith(f"/{self.where}")]
        return sorted(found for found in definitions().get(name, ()) if f"/{folder}/" in f"/{found[0]}/" or not folder)

    def places(self):
        """Where the text is, in what `where` names: {(path, from, to): tokens of what is there}."""
        found = {}
        for path, start, end in self.candidates():
            is_c = path.endswith(C_FILES)
            wanted = [token for token, _, _ in tokens_of("\n".join(self.before), is_c)]
            tokens = tokens_of(text_of(path), is_c, start, end)
            words = [token for token, _, _ in tokens]
            for n in range(len(words)):
                if words[n:n + len(wanted)] == wanted:
                    found[path, tokens[n][1], tokens[n + len(wanted) - 1][2]] = words
        return found

    def faults(self):
        """What is wrong with the row, in words."""
        if not self.tests:
            yield "names no test"
        for test in self.tests:
            if not any((root / test).with_suffix(suffix).is_file() for suffix in (".c", ".sh")):
                yield f"there is no {test}"
        if not self.where or not self.before:
            yield "changes nothing"
        elif not self.candidates():
            yield f"nothing is called {self.where}"
        elif len(self.places()) != 1:
            files = " ".join(sorted({path for path, _, _ in self.places() or self.candidates()}))
            yield f"its text is {len(self.places())} times in {self.where} ({files})"
        elif self.before == self.after:
            yield "changes a text into itself"

    def path(self):
        return next(iter(self.places()))[0]

    def changed(self):
        """The changed file."""
        (path, start, end), = self.places()
        text, after = text_of(path), "\n".join(self.after)
        # Tokens must not grow together.
        return text[:start] + (f" {after} " if path.endswith(C_FILES) else after) + text[end:]

    def key(self):
        """Changes with all that the verdict may depend on."""
        (_, words), = self.places().items()
        tests = [path.read_bytes() for test in self.tests for path in sorted(root.glob(f"{test}.[cps]*"))]
        return hashlib.sha256(b"\0".join(["\n".join(self.lines + words).encode(), *tests])).hexdigest()[:16]


def read_tables():
    """Returns the rows, and what is no line of a row, in words."""
    rows, faults = {}, []
    tables = map(pathlib.Path, os.environ.get("MUTATION_TABLES", "").split())
    for table in list(tables) or sorted((root / "tests/mutations").glob("*.txt")):
        row = None
        for number, line in enumerate(table.read_text(encoding="utf-8").splitlines(), 1):
            at = f"{table.parent.name}/{table.name}:{number}"
            if re.match("[a-z]", line):
                row = Row(at, line)
                if row.name in rows:
                    faults.append(f"{at}: {row.name} is there twice")
                rows[row.name] = row
            elif not re.match("#|$", line) and not (row and row.add(line)):
                faults.append(f"{at}: a line that is none of a mutation")
    return rows, faults


def mutants_of(path, start, end):
    """What universalmutator makes of the lines of a part of a file: (line, what is put in its place)."""
    text = text_of(path)
    with tempfile.TemporaryDirectory() as folder:
        source, lines = pathlib.Path(folder, "source.c"), pathlib.Path(folder, "lines")
        source.write_text(text)
        lines.write_text("".join(f"{n}\n" for n in range(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 2)))
        made = subprocess.run(["mutate", source.name, "c", "--noCheck", "--lines", lines.name], cwd=folder,
                              capture_output=True, text=True)
        if made.returncode:
            sys.exit(f"mutation: universalmutator fails on {path}: {made.stderr}")
        for mutant in sorted(pathlib.Path(folder).glob("source.mutant.*")):
            pairs = [pair for pair in zip(text.splitlines(), mutant.read_text().splitlines()) if pair[0] != pair[1]]
            yield from pairs if len(pairs) == 1 else ()


def generate(rows, count, commit):
    """Prints a sample of generated mutations, the same one for the same functions."""
    tests = {}
    for row in rows.values():
        if len(row.places()) == 1:
            tests.setdefault(row.path(), {}).update(dict.fromkeys(row.tests))
    found = []
    for name, definition in ((name, one) for name, all_of in definitions().items() for one in all_of):
        path, start, end = definition
        old = subprocess.run(["git", "show", f"{commit}:{path}"], cwd=root, capture_output=True, text=True).stdout
        if path in tests and "(" in text_of(path)[start:end] and text_of(path)[start:end] not in old:
            for number, (before, after) in enumerate(mutants_of(*definition)):
                row = Row("", f"generated/{name}-{number} {path}/{name} {' '.join(tests[path])}")
                if row.add("- " + before.strip()) and row.add("+ " + after.strip()) and len(row.places()) == 1:
                    found.append("\n".join(row.lines))
    print("\n\n".join(random.Random(1).sample(sorted(found), min(int(count), len(found)))))


def main(what, *names):
    rows, faults = read_tables()
    if what == "generate":
        generate(rows, *names)
        return 0
    if what == "apply":
        sys.stdout.write(rows[names[0]].changed())
        return 0
    chosen = [row for row in rows.values() if not names or any(fnmatch.fnmatchcase(row.name, name) for name in names)]
    faults += [f"no mutation is {name}" for name in names if not fnmatch.filter(rows, name)]
    faults += [f"{row.at}: {row.name}: {fault}" for row in chosen for fault in row.faults()]
    if faults:
        print("\n".join(faults))
        return 1
    if what == "check":
        print(len(chosen), "mutations apply")
    for row in chosen if what == "list" else ():
        print(row.name, row.path(), row.verdict, row.key(), ",".join(row.tests))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
