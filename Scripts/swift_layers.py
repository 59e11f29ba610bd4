#!/usr/bin/env python3
"""Checks the folders of a Swift module as layers: a file needs only its own folder and the folders before it.

The order is the table of the module's README.md, lowest layer first. A row may name a folder, or a file that is
beside the folders. What a file needs is read from its source: it needs the files that declare the types that it
names outside of comments and text. A type that is declared in an extension, as `Manager.Options` is, belongs to the
file of the extension: to name it does not need the file of `Manager`.
"""
import os
import re

TABLE = re.compile(r"^\| folder .*?(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)  # the first one
ROW = re.compile(r"^\| `(\w+)`", re.MULTILINE)
LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|#"""(?:.|\n)*?"""#|"""(?:.|\n)*?"""|#"(?:[^"\n]|"(?!#))*"#|'
    r'"(?:\\\((?:[^()\n]|\([^()\n]*\))*\)|\\.|[^"\\\n])*"', re.DOTALL)
INTERPOLATION = re.compile(r"\\\(((?:[^()\n]|\([^()\n]*\))*)\)")
KIND = r"\b(?:class|struct|enum|protocol|actor|typealias|associatedtype)\s+(\w+)"
NESTED = re.compile(KIND)
EXTENSION = re.compile(r"\bextension\s+([\w.]+)")
HIDDEN = re.compile(r"\b(?:private|fileprivate)\b(?!\()")
NAME = re.compile(r"(?<!\w)[A-Z]\w*(?:\.[A-Z]\w*)*")


class Source:
    """A Swift file: the layer it is in, the types it declares, the type names it uses."""

    def __init__(self, path, layer, stem):
        self.layer = layer
        self.name = stem if layer == stem else f"{layer}/{stem}"
        self.declares = set()  # `Name` of a top-level type, `Outer.Name` of one in an extension
        self._own = set()  # names of nested types, which hide others within this file
        code = LITERAL.sub(_keep_interpolations, open(path, encoding="utf-8").read())
        self._read_declarations(code)
        self.uses = set(NAME.findall(code))

    def _read_declarations(self, code):
        depth, extended = 0, None
        for line in code.split("\n"):
            if depth == 0:
                found = EXTENSION.search(line)
                extended = found.group(1) if found else None
            for name in NESTED.findall(line):
                if depth == 0 and not HIDDEN.search(line):
                    self.declares.add(name)
                elif depth == 1 and extended:
                    self.declares.add(f"{extended}.{name}")
                if depth > 0 or HIDDEN.search(line):
                    self._own.add(name)
            depth += line.count("{") - line.count("}")

    def needs(self, owners):
        """The known names that this file uses: of `A.B.c`, the longest that a file declares."""
        hosts = {name.rpartition(".")[0] for name in self.declares}
        for use in sorted(self.uses):
            parts = use.split(".")
            names = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
            known = next((name for name in names if name in owners), None)
            if known and known not in self._own | hosts | self.declares:
                yield known


def _keep_interpolations(match):
    text = match.group()
    return " ".join(INTERPOLATION.findall(text)) if text.startswith(('"', '#"')) else " "


def read_module(module, complain):
    """The layers of a module in their order, and its sources."""
    with open(os.path.join(module, "README.md"), encoding="utf-8") as readme:
        order = ROW.findall(TABLE.search(readme.read()).group())
    sources, layers = [], set()
    for folder, folders, files in os.walk(module):
        folders[:] = sorted(name for name in folders if not name.endswith(".docc") and name != "include")
        for file in sorted(files):
            stem, ending = os.path.splitext(file)
            if ending != ".swift" or file == "Exports.swift":
                continue
            inside = os.path.relpath(folder, module).split(os.sep)[0]
            layer = stem if inside == "." else inside
            layers.add(layer)
            sources.append(Source(os.path.join(folder, file), layer, stem))
    for layer in sorted(layers - set(order)):
        complain(f"{module}: {layer} is not in the table of its README.md")
    for layer in sorted(set(order) - layers):
        complain(f"{module}: the table of README.md names {layer}, which does not exist")
    return [layer for layer in order if layer in layers], sources


def find_needs(sources):
    """(user, owner, name) for each type that a source names and only other layers declare."""
    owners = {}
    for source in sources:
        for name in source.declares:
            owners.setdefault(name, []).append(source)
    for source in sources:
        for name in source.needs(owners):
            if not any(owner.layer == source.layer for owner in owners[name]):
                for owner in owners[name]:
                    yield source, owner, name


def check_module(module, complain):
    order, sources = read_module(module, complain)
    rank = {layer: index for index, layer in enumerate(order)}
    for source, owner, name in find_needs(sources):
        if rank.get(owner.layer, -1) > rank.get(source.layer, len(order)):
            complain(f"{module}: {source.name} needs {name} of {owner.name}, a later layer")
    return len(sources), len(order)
