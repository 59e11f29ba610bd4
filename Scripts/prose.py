#!/usr/bin/env python3
"""Counts constructions that make prose hard to read, in documents, comments and texts of the program.

The ceilings in `prose-ceilings` are counts per folder of lines with such a construction. A count must not rise above
its ceiling, so new lines are clean; a ceiling only falls. A match is a place to read again: rewrite the sentence with
its subject first, in the active voice, with the actor named.
"""
import os
import re

# Each with an example of a sentence to rewrite.
CONSTRUCTIONS = [
    r"\bwhat(?:ever)? (?:is|was|are|were|has|have|had|can|must|may|should|would|will|did|does|a|an|the|no|it|they|[a-z]+s|[a-z]+ed)\b",  # what lies there
    r"\bof (?:which|whom|what)\b|^\W*Of (?:a|an|the|each|all|every|those|two|several|what)\b",  # files, of which some
    r"\b(?:says|said|tells|told|knows|wants|is asked|are asked|by (?:its|the|whose) word)\b",  # the file says
    r"\b(?:lies|lay|lie|stands|stood)\b",  # the file lies below
    r"\b(?:is|are|was|were) no\b|\bthere (?:is|are) none\b",  # there is no file
    r"\b(?:is|are|was|were) (?:there|here)(?=[,.;:)]|$| (?:and|or|already|too|at|in|on|from)\b)",  # the file is there
    r"\b(?:that of|those of|those that|those which|the ones? that|one that|ones that|the same (?:for|with|as) )",  # one that
    r"\b(?:whoever|whichever|whomever|somebody|nobody|likewise|meanwhile|for good|beside|besides|anew|lest|"
    r"mend(?:s|ed|ing)?|drawn|twin|but for|as far as)\b",
]
PATTERNS = [re.compile(text, re.IGNORECASE) for text in CONSTRUCTIONS]
COMMENT = re.compile(r"(?:///?|/\*|^\s*\*)\s?(.*)$")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
CODE = re.compile(r"`[^`]*`")
CEILINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prose-ceilings")


def prose(path, line):
    """The part of a line that people read: all of a document, comments and texts of a source file."""
    if path.endswith(".md"):
        return "" if line.startswith(("    ", "```", "|--")) else CODE.sub("`x`", line)
    comment = COMMENT.search(line)
    parts = [comment.group(1)] if comment else []
    parts += [text for text in LITERAL.findall(line[:comment.start()] if comment else line) if " " in text]
    return CODE.sub("`x`", " ; ".join(parts))


def folder_of(path):
    """The folder that a file is counted in: `Sources/PackStore/Files`, `Tests/PackStoreTests`, `Docs`."""
    parts = path.split("/")
    return "/".join(parts[:min(len(parts) - 1, 3 if parts[0] == "Sources" else 2)]) or "."


def count(files):
    """The lines with a construction, by folder."""
    counts = {}
    for path in files:
        if not path.endswith((".md", ".c", ".h", ".swift")) or "/Results/" in path or path.startswith("Tests/Golden"):
            continue
        with open(path, encoding="utf-8", errors="replace") as source:
            hits = sum(any(pattern.search(prose(path, line.rstrip("\n"))) for pattern in PATTERNS) for line in source)
        counts[folder_of(path)] = counts.get(folder_of(path), 0) + hits
    return {folder: hits for folder, hits in counts.items() if hits}


def read_ceilings():
    with open(CEILINGS, encoding="utf-8") as lines:
        rows = [line.split() for line in lines if not line.startswith("#")]
    return {folder: int(limit) for folder, limit in rows}


def faults(files):
    ceilings = read_ceilings()
    return [f"{folder}: {hits} lines with a construction of Scripts/prose.py, more than {ceilings.get(folder, 0)}; rewrite the new ones"
            for folder, hits in sorted(count(files).items()) if hits > ceilings.get(folder, 0)]


def lower(files):
    """Writes the present counts as ceilings where they are lower, and returns how many fell."""
    old = read_ceilings() if os.path.exists(CEILINGS) else None
    counts = count(files)
    new = {folder: hits if old is None else min(hits, old.get(folder, 0)) for folder, hits in counts.items()}
    with open(CEILINGS, "w", encoding="utf-8") as out:
        out.write("# Ceilings of Scripts/prose.py: lines per folder with a construction.\n# Scripts/tidy --lower lowers them.\n")
        out.writelines(f"{folder} {limit}\n" for folder, limit in sorted(new.items()) if limit)
    return sum(1 for folder, limit in (old or {}).items() if new.get(folder, 0) < limit)
