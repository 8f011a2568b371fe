#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the whole library as one source file, for `make amalgamation`.

    amalgamate.py SOURCE-FOLDER VERSION OUTPUT FILE... -- LOOPS...

FILE...: the sources of the library; headers among them are ignored. LOOPS...: the sources that are compiled once per
tier. All functions except those of posenc.h become static. The file has a section for sources without vectors, and one
for each row of lib/simd/tiers.def. A name or macro that more than one source or header of a tier defines gets the name
of its source as a suffix. Definitions must begin in the first column, where clang-format places them.
"""

import os
import re
import sys
from collections import Counter
from pathlib import Path

HEAD = """/* posenc %s, the whole library in one file, made by "make amalgamation". C17 and C++17, gcc or clang:
 *
 *     cc -O2 -c posenc.c        and link with -lm, and -pthread where the C library wants it
 *
 * -fopenmp-simd makes tables with an attention factor and rope caches faster, and changes no bit.
 *
%s */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
/* No implicit fused multiply-add: bits must not depend on -march. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wc99-designator"
#else
#pragma GCC optimize("fp-contract=off")
#endif
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#define PACKAGE_VERSION "%s"
/* C++ has other names for these, and no declaration of a constant that is defined later, unless it is extern. */
#ifdef __cplusplus
#include <atomic>
#define _Alignas alignas
#define _Bool bool
#define _Static_assert static_assert
#define _Atomic(type) std::atomic<type>
#define restrict __restrict
#define DECLARED extern __attribute__((visibility("hidden")))
#define DEFINED
#ifndef __clang__
/* g++ -Wall -Wextra warns of two idioms of C, members without an initializer beside others with one and a condition
   that selects an enumerator or a number, and of variables in its own header of AVX-512. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
/* g++ 12 warns of a pragma that it does not know, whatever is ignored; with -fopenmp-simd it has this attribute. */
#if !__has_cpp_attribute(omp::directive)
#define OMP_SIMD
#endif
#endif
using std::atomic_bool, std::atomic_int, std::atomic_uint, std::memory_order_relaxed;
using std::atomic_exchange, std::atomic_fetch_add, std::atomic_fetch_sub;
using std::atomic_load, std::atomic_load_explicit, std::atomic_store, std::atomic_store_explicit;
#else
#include <stdatomic.h>
#define DECLARED static
#define DEFINED static
#endif
#ifndef OMP_SIMD
#define OMP_SIMD _Pragma("omp simd")
#endif
"""
SPDX = "/* SPDX-" "License-Identifier: MIT */\n"  # in two parts: reuse takes a whole one for this file's
GUARD = re.compile(r"\A(.*?)#ifndef (\w+_H)\n#define \2\n(.*)#endif\n\Z", re.S)
INCLUDE = re.compile(r'^#include "(.*)"\n', re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


class Sources:
    """The files of the tree, without SPDX lines and include guards, which only separate files need."""

    def __init__(self, root):
        self.root, self.texts = Path(root), {}

    def text(self, path):
        if path not in self.texts:
            text = (self.root / path).read_text().replace(SPDX, "", 1)
            text = text.replace("#include <stdatomic.h>\n", "")  # HEAD has it
            text = re.sub(r'#pragma omp simd$|_Pragma\("omp simd"\)', "OMP_SIMD", text, flags=re.M)
            guarded = GUARD.match(text)
            self.texts[path] = guarded[1] + guarded[3] if guarded else text
        return self.texts[path]

    def headers(self, path):
        found = [name for name in INCLUDE.findall(self.text(path)) if name.endswith(".h")]
        return [name for name in found if name not in ("config.h", "posenc.h")]

    def is_of_tier(self, header):
        """Returns whether the meaning of the header depends on the header of a tier before it."""
        return bool(re.search(r"\b(INLINE|TARGET)\b", COMMENT.sub("", self.text(header)))) or any(
            self.is_of_tier(name) for name in self.headers(header))

    def inlined(self, path, done):
        """Returns the text with X-macro lists and headers of a tier instead of their #include lines, headers once."""

        def include(match):
            name = match[1]
            if name.endswith(".def"):
                return re.sub("^", " ", COMMENT.sub("", self.text(name)).strip(), flags=re.M) + "\n"
            if name in ("config.h", "posenc.h") or name in done or not self.is_of_tier(name):
                return ""
            done.add(name)
            return self.inlined(name, done)

        return INCLUDE.sub(include, self.text(path))

    def shared(self, path, found):
        """Adds the headers that mean the same everywhere, each after those that it includes."""
        for name in self.headers(path):
            if name not in found:
                self.shared(name, found)
                if name not in found and not self.is_of_tier(name):
                    found.append(name)


def first_column(text):
    return re.findall(r"^[\w}].*", text, re.M)


def defined(text):
    """Returns the names of functions, objects, types and enumerators in the scope of the file."""
    names = set()
    for block in re.findall(r"^(?:typedef )?enum \w* ?\{(.*?)\}", COMMENT.sub("", text), re.M | re.S):
        names.update(re.findall(r"(?:^|,)\s*(\w+)", block))
    for line in first_column(COMMENT.sub("", text)):
        line = re.sub(r"__attribute__\(\(.*?\)\)+", "", line)
        for found in re.findall(r"^typedef .*?(\w+) *(?:\(.*|;)$|struct (\w+) \{|^\} (\w+)", line):
            names.update(found)
        if not re.match(r"typedef|enum|\}|struct", line):
            before = line.split("(")[0]
            names.update(re.findall(r"(?<!\.)\b(\w+)(?:\[\w*\])* =", line) if " = " in before or before.endswith(";")
                         else re.findall(r"([a-z]\w*)$", before))
    return names - {""}


def pasted(text):
    """Returns the names that macros, called in the first column, define: arguments, or a prefix and the first one."""
    text, names = COMMENT.sub("", text), set()
    for macro, parameters, body in re.findall(r"^#define (\w+)\((\w[^)]*)\)((?:.*\\\n)*.*)", text, re.M):
        parameters = parameters.split(", ")
        for call in re.findall(rf"^{macro}\((\w[^)]*)", text, re.M):
            arguments = call.split(", ")
            names.update(prefix + arguments[0] for prefix in re.findall(rf"\b(\w+)##{parameters[0]}\b", body))
            names.update(argument for parameter, argument in zip(parameters, arguments)
                         if re.search(rf"\w {parameter}\(", body))
    return names


def renamed(text, names):
    """Replaces every use of these names, a dictionary, other than as a member."""
    if not names:
        return text
    return re.sub(r"(?<![.\w])(?<!->)(%s)\b" % "|".join(names), lambda match: names[match[1]], text)


def internal(text, public):
    """Makes all functions but the public ones static."""

    def mark(match):
        line = match[0]
        name = re.search(r"(\w+)\(", line)
        return line if name and name[1] in public else "static " + line

    text = re.sub(r"^(TARGET )(?!static)", r"\1static ", text.replace("extern const", "DECLARED const"), flags=re.M)
    text = re.sub(r"^const (?=\w+ [\w()]+ = )", "DEFINED const ", text, flags=re.M)
    other = r"static|typedef|enum|struct \w+(?: \{|;)|extern|__extension__"
    return re.sub(rf"^(?!{other})[a-z]\w* .*", mark, text, flags=re.M)


class Part:
    """A source, or the header of a tier with what it includes."""

    def __init__(self, title, suffix, text, condition=None):
        self.title, self.suffix, self.text, self.condition = title, suffix, text, condition
        self.names, self.pasted = defined(text), pasted(text)

    def written(self, often, public, outer):
        names = dict(outer)
        names.update({name: f"{name}_{self.suffix}" for name in sorted(self.names) if often[name] > 1})
        again = sorted(name for name in self.pasted if often[name] > 1)
        text = "".join(f"#define {name} {name}_{self.suffix}\n" for name in again)
        text += renamed(internal(self.text, public), names)
        if self.condition:
            text = f"#ifdef {self.condition}\n{text}#endif\n"
        return f"\n/* ==== {self.title} ==== */\n{text}", names, again


def undefined(text):
    names = re.findall(r"^#\s*define (\w+)", text, re.M)
    return "".join(f"#undef {name}\n" for name in dict.fromkeys(names))


def architectures(sources):
    """Returns the compiler's macro of each question of lib/api/isa.c: that of the #if that it stands in."""
    known, macros = {}, []
    for line in sources.text("lib/api/isa.c").splitlines():
        opened = re.match(r"#if\w*(?: defined\((\w+)\))?", line)
        question = re.match(r"#define (\w+)\(", line)
        if opened:
            macros.append(opened[1])
        elif line.startswith("#else"):
            macros[-1] = None
        elif line.startswith("#endif"):
            macros.pop()
        elif question and macros and macros[-1]:
            known[question[1]] = macros[-1]
    return known


def tiers_of(sources):
    """Returns name, bit and architecture of each tier; None is everywhere."""
    text = sources.text("lib/simd/tiers.def")
    rows = re.findall(r"^TIER\((\w+), (\w+), [^,]*,\s+(\w+)(?:\(.*?\))?\)$", text, re.M | re.S)
    if len(rows) != len(re.findall(r"^TIER\(", text, re.M)):
        sys.exit("amalgamate.py: a row of lib/simd/tiers.def is not understood")
    known = {"true": None, **architectures(sources)}
    for _, name, question in rows:
        if question not in known:
            sys.exit(f"amalgamate.py: {name}: no #if defined(...) of lib/api/isa.c has a #define of {question}")
    return [(name, bit, known[question]) for bit, name, question in rows]


def refusals(sources, tier):
    """Returns the conditions under which the tier's header, or one that it includes, is an #error."""
    return re.findall(r"^#if (.*)\n#error", sources.inlined(f"lib/simd/{tier}.h", set()), re.M)


def configuration(sources, tiers):
    """Returns the macros that configure would define."""
    text = ""
    for name, bit, architecture in tiers:
        conditions = [f"defined({architecture})"] if architecture else []
        conditions += [f"!({refusal})" for refusal in refusals(sources, name)]
        text += f"#if {' && '.join(conditions) or 1}\n"
        text += f"#define HAVE_{name.upper()} 1\n#define BUILT_{name.upper()}(TIER) TIER({bit}, {name})\n"
        text += f"#else\n#define BUILT_{name.upper()}(TIER)\n#endif\n"
    return text + f"#define BUILT_TIERS(TIER) {' '.join(f'BUILT_{name.upper()}(TIER)' for name, _, _ in tiers)}\n"


def tier_of(sources, path):
    """Returns the tier whose header the file includes, or None."""
    for name in sources.headers(path):
        tier = re.fullmatch(r"lib/simd/(\w+)\.h", name)
        if tier and any(tier[1] == row[0] for row in tiers_of(sources)):
            return tier[1]
        below = tier_of(sources, name)
        if below:
            return below
    return None


def amalgamation(root, version, files, loops):
    sources = Sources(root)
    header = (Path(root) / "include/posenc.h").read_text()
    public = set(re.findall(r"POSENC_API[^;(]*?(\w+)\(", header))
    tiers = tiers_of(sources)
    sections = {None: [], **{name: [] for name, _, _ in tiers}}
    for path in files:
        suffix = re.sub(r"\W", "_", re.sub(r"^(lib/|impls/)?(api/|exact/)?(.*)\.c$", r"\3", path))
        tier = tier_of(sources, path)
        sections[tier].append(Part(path, suffix, sources.inlined(path, {f"lib/simd/{tier}.h"})))
    heads = {}
    for name, _, _ in tiers:
        heads[name] = Part(f"lib/simd/{name}.h", name, sources.inlined(f"lib/simd/{name}.h", set()),
                           f"HAVE_{name.upper()}")
        for path in loops:
            suffix = re.sub(r"\W", "_", f"{Path(path).parent.name}_{Path(path).stem}_{name}")
            sections[name].append(Part(f"{path}, {name}", suffix, sources.inlined(path, set()),
                                       f"HAVE_{name.upper()}"))
    shared = []
    for path in (*files, *loops):
        sources.shared(path, shared)
    prologue = [Part(name, "", sources.inlined(name, set())) for name in shared]
    parts = [*heads.values(), *(part for section in sections.values() for part in section)]
    often = Counter(name for part in parts for name in part.names | part.pasted)
    for part in prologue:  # what is declared there has one definition
        often.subtract({name: often[name] for name in part.names})

    licence = "".join(f" * {line}".rstrip() + "\n" for line in (Path(root) / "LICENSE").read_text().splitlines())
    out = [SPDX, HEAD % (version, licence, version), configuration(sources, tiers),
           '#include "posenc.h"\n']
    for part in prologue:
        out.append(f"\n/* ==== {part.title} ==== */\n" + internal(part.text, public))
    for tier, section in sections.items():
        head, outer, _ = heads[tier].written(often, public, {}) if tier else ("", {}, [])
        out.append(head)
        for part in section:
            text, _, _ = part.written(often, public, outer)
            out += [text, undefined(text)]
        out.append(undefined(head))
    return "".join(out)


def main():
    root, version, output, *names = sys.argv[1:]
    cut = names.index("--")
    loops = names[cut + 1:]
    files = [name for name in names[:cut] if name.endswith(".c")]
    text = amalgamation(root, version, files, loops)
    beside = Path(f"{output}.{os.getpid()}")
    beside.write_text(re.sub(r"\n{3,}", "\n\n", text))
    beside.replace(output)


if __name__ == "__main__":
    main()
