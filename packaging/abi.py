#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the interface of a shared library from its debugging information, by libabigail's abidw, a line for each
exported symbol and for each member and enumerator of the types that they use.

abi.py HEADERS LIBRARY          prints it; only types that a file in the folder HEADERS defines have their members
abi.py HEADERS LIBRARY SAVED    what of the file SAVED the library lacks or has changed, and fails if there is any
"""
import subprocess
import sys
import xml.etree.ElementTree as tree


class Interface:
    def __init__(self, headers, library):
        command = ["abidw", "--headers-dir", headers, "--drop-private-types", library]
        root = tree.fromstring(subprocess.run(command, check=True, capture_output=True).stdout)
        self.types = {}
        for element in root.iter():
            known = self.types.get(element.get("id"))
            if element.get("id") and (known is None or known.get("is-declaration-only") == "yes"):
                self.types[element.get("id")] = element
        self.lines, self.named = set(), set()
        # A declaration may stand before its definition, which alone names its symbol.
        declared = {element.get("name"): element for tag in ("function-decl", "var-decl") for element in root.iter(tag)}
        for symbol in root.iter("elf-symbol"):
            element = declared[symbol.get("name")]
            is_function = element.tag == "function-decl"
            self.lines.add(f"{symbol.get('name')}@{symbol.get('version')}: "
                           f"{self.call(element) if is_function else self.text(element.get('type-id'))}")

    def call(self, function, name=""):
        """A function's type, as C has it."""
        of = ["..." if parameter.get("is-variadic") else self.text(parameter.get("type-id"))
              for parameter in function.findall("parameter")]
        return f"{self.text(function.find('return').get('type-id'))} {name}({', '.join(of) or 'void'})"

    def text(self, of):
        """A type's name; the lines of its members are added."""
        element = self.types[of]
        name = element.get("name")
        if element.tag == "pointer-type-def":
            to = self.types[element.get("type-id")]
            return self.call(to, "(*)") if to.tag == "function-type" else self.text(element.get("type-id")) + " *"
        if element.tag == "qualified-type-def":
            to = self.text(element.get("type-id"))
            return to if not element.get("const") else to + " const" if to.endswith("*") else "const " + to
        if element.tag == "array-type-def":
            counts = "".join(f"[{part.get('length')}]" for part in element.findall("subrange"))
            return self.text(element.get("type-id")) + counts
        if element.tag == "function-type":
            return self.call(element)
        if element.tag == "typedef-decl":
            self.text(element.get("type-id"))
        elif name not in self.named:
            self.named.add(name)
            self.add_members(name, element)
        return name

    def add_members(self, name, element):
        if element.get("size-in-bits") and element.tag in ("class-decl", "union-decl", "enum-decl"):
            underlying = element.find("underlying-type")
            bits = element if underlying is None else self.types[underlying.get("type-id")]
            self.lines.add(f"{name}: {int(bits.get('size-in-bits')) // 8} bytes")
        for member in element.findall("data-member"):
            variable, at = member.find("var-decl"), int(member.get("layout-offset-in-bits")) // 8
            self.lines.add(f"{name}.{variable.get('name')}: {self.text(variable.get('type-id'))}, at {at}")
        for constant in element.findall("enumerator"):
            self.lines.add(f"{name} {constant.get('name')} = {constant.get('value')}")


def main():
    headers, library, *saved = sys.argv[1:]
    lines = Interface(headers, library).lines
    if not saved:
        print(*sorted(lines), sep="\n")
        return
    with open(saved[0], encoding="utf-8") as file:
        gone = [line for line in file.read().splitlines() if line not in lines]
    print(*(f"changed or removed: {line}" for line in gone), sep="\n", end="\n" if gone else "")
    sys.exit(1 if gone else 0)


if __name__ == "__main__":
    main()
