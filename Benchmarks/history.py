"""A history of a folder, made of real files: what successive releases of an app do to its assets.

The same files on a machine and the same seed make the same history. Most updates are minor ones; every tenth is a major one.
Nothing is random noise: new files, and the bytes that edits bring, are taken from files of the machine that were not used yet.
"""

import dataclasses
import hashlib
import os
import random
import shutil

from measuring import COPY_BYTES, UserError, files_below

# Where every Debian machine has programs, libraries, texts, pictures and archives.
SOURCES = ["/usr/bin", "/usr/lib", "/usr/share"]
SMALLEST_FILE, LARGEST_FILE = 1 << 10, 32 << 20
MAJOR_EVERY = 10
LARGE_FILE_COUNT = 16
PATCH_BYTES = 4096


@dataclasses.dataclass(frozen=True)
class Kind:
    """What an update does: shares of the files, and how many of the largest files are patched in place."""

    edited: float
    replaced: float
    added: float
    removed: float
    renamed: float
    patched: int


MINOR = Kind(edited=0.02, replaced=0.005, added=0.005, removed=0.005, renamed=0.0025, patched=2)
MAJOR = Kind(edited=0.10, replaced=0.05, added=0.03, removed=0.03, renamed=0.02, patched=4)


def drawn_files(seed, sources=SOURCES):
    """Files of this machine, of which none is huge, in an order that the seed draws; a file with several names once."""
    seen, found = set(), []
    for path in (path for source in sources for path in files_below(source)):
        status = os.stat(path)
        identity = (status.st_dev, status.st_ino)
        if identity in seen or not SMALLEST_FILE <= status.st_size <= LARGEST_FILE or not os.access(path, os.R_OK):
            continue
        seen.add(identity)
        drawn = hashlib.blake2b(os.fsencode(f"{seed} {path}"), digest_size=16).digest()
        found.append((drawn, path, status.st_size))
    return [(path, size) for _, path, size in sorted(found)]


class History:
    """A folder and its updates. `update` makes the next version in place.

    A file that changes is written beside the old one and takes its place, as installers do.
    """

    def __init__(self, folder, byte_count, seed, sources=SOURCES):
        self.folder = str(folder)
        self.seed = seed
        self.number = 0
        self.drawn = drawn_files(seed, sources)
        self.next = 0
        self.paths = []
        copied = 0
        while copied < byte_count:
            path, size = self._draw()
            if self.next == len(self.drawn):
                raise UserError(f"the files below {', '.join(sources)} are not enough: ask for fewer megabytes")
            self._put(self._new_name(path), path)
            copied += size

    def _draw(self):
        """A file that was not used yet, while there are some."""
        drawn = self.drawn[self.next % len(self.drawn)]
        self.next += 1
        return drawn

    def _new_name(self, source):
        """The path of a file below the folder. Drawn again, a file gets another name."""
        name = source.lstrip("/")
        times = self.next // len(self.drawn)
        return f"{name}.{times}" if times else name

    def _put(self, name, source):
        target = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target + ".new")
        os.replace(target + ".new", target)
        if name not in self.paths:
            self.paths.append(name)

    def _rewrite(self, name, change):
        path = os.path.join(self.folder, name)
        with open(path, "rb") as file:
            content = bytearray(file.read())
        change(content)
        with open(path + ".new", "wb") as file:
            file.write(content)
        os.replace(path + ".new", path)

    def update(self):
        """Make the next version of the folder, and return the number of files that it changed."""
        self.number += 1
        draw = random.Random(f"{self.seed} {self.number}")
        kind = MAJOR if self.number % MAJOR_EVERY == 0 else MINOR
        self.paths.sort()
        count = len(self.paths)

        def some(share):
            return draw.sample(self.paths, max(1, round(share * count)))

        removed = some(kind.removed)
        for name in removed:
            os.unlink(os.path.join(self.folder, name))
        self.paths = [name for name in self.paths if name not in set(removed)]
        renamed = some(kind.renamed)
        for name in renamed:
            self._rename(name, draw)
        self.paths.sort()
        edited = some(kind.edited)
        for name in edited:
            self._rewrite(name, lambda content: self._edit(content, draw))
        replaced = some(kind.replaced)
        for name in replaced:
            self._put(name, self._draw()[0])
        added = [self._draw()[0] for _ in range(max(1, round(kind.added * count)))]
        for source in added:
            self._put(self._new_name(source), source)
        patched = draw.sample(self._largest(), kind.patched)
        for name in patched:
            self._rewrite(name, lambda content: self._patch(content, draw))
        return sum(map(len, [removed, renamed, edited, replaced, added, patched]))

    def _rename(self, name, draw):
        """Move a file to a folder that another file lies in."""
        beside = os.path.dirname(draw.choice(self.paths))
        stem, dot, extension = os.path.basename(name).partition(".")
        target = os.path.join(beside, f"{stem}-{self.number}{dot}{extension}")
        if target in self.paths:
            return
        os.rename(os.path.join(self.folder, name), os.path.join(self.folder, target))
        self.paths[self.paths.index(name)] = target

    def _largest(self):
        sized = sorted(((os.path.getsize(os.path.join(self.folder, name)), name) for name in self.paths), reverse=True)
        return [name for _, name in sized[:LARGE_FILE_COUNT]]

    def _edit(self, content, draw):
        """Insert, take away or replace up to 2 KiB at up to four places."""
        for _ in range(draw.randint(1, 4)):
            length = draw.randint(16, 2048)
            begin = draw.randint(0, len(content))
            change = draw.choice(["insert", "delete", "replace"])
            end = begin if change == "insert" else min(begin + length, len(content))
            content[begin:end] = b"" if change == "delete" and end - begin < len(content) else self._bytes(length, draw)

    def _patch(self, content, draw):
        """Replace whole pages at sixteen places; the length stays."""
        for _ in range(16):
            begin = draw.randrange(max(1, len(content) // PATCH_BYTES)) * PATCH_BYTES
            fresh = self._bytes(min(PATCH_BYTES, len(content) - begin), draw)
            content[begin : begin + len(fresh)] = fresh

    def _bytes(self, length, draw):
        """Bytes from the middle of a file of the machine."""
        path, size = draw.choice(self.drawn)
        with open(path, "rb") as file:
            file.seek(draw.randrange(size))
            found = file.read(length)
        return found or b"\0"


def write_pieces(folder, byte_count, seed, sources=SOURCES):
    """Fill `folder` with files of 64 KiB to 1 MiB, cut from files of the machine, and return their names in order of paths.

    When these are used up they come once more with other byte values in the same order: as compressible, and nothing alike.
    """
    draw = random.Random(f"{seed} pieces")
    names, total = [], 0
    os.makedirs(folder)
    files = drawn_files(seed, sources)
    for values in [bytes(value ^ turn for value in range(256)) for turn in range(256)]:
        for path, _ in files:
            with open(path, "rb") as file:
                while total < byte_count:
                    content = file.read(draw.randint(64 << 10, COPY_BYTES))
                    if not content:
                        break
                    name = f"{len(names):06}"
                    with open(os.path.join(folder, name), "wb") as piece:
                        piece.write(content.translate(values))
                    names.append(name)
                    total += len(content)
            if total >= byte_count:
                return names
    raise UserError(f"the files below {', '.join(sources)} are not enough: ask for fewer gigabytes")
