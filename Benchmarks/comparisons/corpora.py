"""The folders that comparisons store: from files of the machine, from the Swift toolchain, or generated from a seed."""

import dataclasses
import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import zlib

from measuring import COPY_BYTES, UserError, describe_folder, files_below

# Where every Debian machine has programs, libraries, texts, pictures and archives.
SOURCES = ["/usr/bin", "/usr/lib", "/usr/share"]
SMALLEST_FILE, LARGEST_FILE = 1 << 10, 32 << 20
MAJOR_EVERY = 10
LARGE_FILE_COUNT = 16
PATCH_BYTES = 4096
LARGE_BINARY_COUNT = 4
SMALL_FILE_LIMIT, SMALL_FILE_BYTES = 40_000, 64 << 10
REPEATED_SHARE = COMPRESSED_SHARE = 0.1


# MARK: - Folders given by the user, or from the toolchain


@dataclasses.dataclass
class Corpus:
    """A folder to store, and the name under which it is reported."""

    name: str
    folder: pathlib.Path

    def describe(self):
        return {"name": self.name} | describe_folder(self.folder)


def given_corpora(folders):
    corpora = []
    for folder in folders:
        path = pathlib.Path(folder).resolve()
        if not path.is_dir():
            raise UserError(f"'{folder}': not a folder")
        if path.name in [corpus.name for corpus in corpora]:
            raise UserError(f"two folders have the name {path.name}: results are reported by name")
        corpora.append(Corpus(path.name, path))
    return corpora


def toolchain_corpora(folder):
    """Large binaries and small texts, from files that every machine with a Swift toolchain has."""
    if not shutil.which("swiftc"):
        raise UserError("missing Swift toolchain: name the folders to store")
    # The compiler reports the path: `swift` may be a shim.
    answer = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, check=True).stdout
    toolchain = pathlib.Path(json.loads(answer)["paths"]["runtimeResourcePath"]).parent.parent
    corpora = [Corpus(name, folder / name) for name in ["toolchain-binaries", "small-text-files"]]
    copy_large_binaries(toolchain, corpora[0].folder)
    copy_small_text_files([toolchain, "/usr/include", "/usr/lib", "/usr/share"], corpora[1].folder)
    return corpora


def copy_large_binaries(toolchain, target):
    """Copies the largest ELF files of the toolchain."""
    binaries = {}
    for path in files_below(toolchain):
        status = os.stat(path)
        if status.st_size >= 1 << 20 and status.st_ino not in binaries:
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    binaries[status.st_ino] = status.st_size, path
    target.mkdir(parents=True)
    for _, path in sorted(binaries.values(), reverse=True)[:LARGE_BINARY_COUNT]:
        shutil.copyfile(path, target / os.path.basename(path))


def copy_small_text_files(sources, target):
    """Copies small text files below `sources`, with their folders, until there are enough."""
    count = 0
    for path in (path for source in sources for path in files_below(source)):
        if os.path.getsize(path) >= SMALL_FILE_BYTES or not os.access(path, os.R_OK):
            continue
        content = pathlib.Path(path).read_bytes()
        if b"\0" in content or content.startswith(b"\x1f\x8b"):
            continue
        write(target / path.lstrip("/"), content)
        count += 1
        if count == SMALL_FILE_LIMIT:
            return


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


# MARK: - Files of the machine


def not_enough(sources):
    return UserError(f"the files below {', '.join(sources)} are not enough: choose a smaller size")


@dataclasses.dataclass(frozen=True)
class Kind:
    """The changes of an update: shares of the files, and the number of the largest files that are patched in place."""

    edited: float
    replaced: float
    added: float
    removed: float
    renamed: float
    patched: int


MINOR = Kind(edited=0.02, replaced=0.005, added=0.005, removed=0.005, renamed=0.0025, patched=2)
MAJOR = Kind(edited=0.10, replaced=0.05, added=0.03, removed=0.03, renamed=0.02, patched=4)


def drawn_files(seed, sources=SOURCES):
    """Files of this machine, without huge ones, in an order that the seed determines; a file with several names once."""
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
    """The successive releases of an app's folder. `update` makes the next version in place.

    The same files on a machine and the same seed make the same history. Most updates are minor; every tenth is a major one.
    New files and edited bytes are copied from unused files of the machine, not random noise. A changed file is written to
    a temporary file that replaces the old one, as installers do.
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
                raise not_enough(sources)
            self._put(self._new_name(path), path)
            copied += size

    def _draw(self):
        """Returns an unused file, or a used one if no unused ones are left."""
        drawn = self.drawn[self.next % len(self.drawn)]
        self.next += 1
        return drawn

    def _new_name(self, source):
        """The path of a file below the folder. A file that is used again gets another name."""
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
        """Makes the next version of the folder, and returns the number of changed files."""
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
        """Moves a file to the folder of another file."""
        target_folder = os.path.dirname(draw.choice(self.paths))
        stem, dot, extension = os.path.basename(name).partition(".")
        target = os.path.join(target_folder, f"{stem}-{self.number}{dot}{extension}")
        if target in self.paths:
            return
        os.rename(os.path.join(self.folder, name), os.path.join(self.folder, target))
        self.paths[self.paths.index(name)] = target

    def _largest(self):
        sized = sorted(((os.path.getsize(os.path.join(self.folder, name)), name) for name in self.paths), reverse=True)
        return [name for _, name in sized[:LARGE_FILE_COUNT]]

    def _edit(self, content, draw):
        """Inserts, deletes or replaces up to 2 KiB at up to four places."""
        for _ in range(draw.randint(1, 4)):
            length = draw.randint(16, 2048)
            begin = draw.randint(0, len(content))
            change = draw.choice(["insert", "delete", "replace"])
            end = begin if change == "insert" else min(begin + length, len(content))
            content[begin:end] = b"" if change == "delete" and end - begin < len(content) else self._bytes(length, draw)

    def _patch(self, content, draw):
        """Replaces whole pages at sixteen places; the length does not change."""
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
    """Fills `folder` with files of 64 KiB to 1 MiB, cut from files of the machine, and returns their names in order of paths.

    When all files are used, they are used again in the same order with other byte values: as compressible, without common parts.
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
    raise not_enough(sources)


def make_packaged_folder(folder, byte_count, seed, sources=SOURCES):
    """Fills `folder` with files of the machine. A tenth of the bytes is there twice, and another tenth is compressed by zlib."""
    drawn = iter(drawn_files(seed, sources))

    def next_files(files, share):
        chosen, total = [], 0
        for path, size in files:
            chosen.append((path, size))
            total += size
            if total >= byte_count * share:
                return chosen
        raise not_enough(sources)

    def copy(part, path, content):
        # In lower case: a manifest refuses names that differ by case only, which some machines have.
        write(folder / part / path.lstrip("/").lower(), content)

    plain = next_files(drawn, 1 - REPEATED_SHARE - COMPRESSED_SHARE)
    for part, files in [("plain", plain), ("repeated", next_files(iter(plain), REPEATED_SHARE))]:
        for path, _ in files:
            copy(part, path, pathlib.Path(path).read_bytes())
    compressed = 0
    for path, _ in drawn:
        content = zlib.compress(pathlib.Path(path).read_bytes(), 6)
        copy("compressed", path, content)
        compressed += len(content)
        if compressed >= byte_count * COMPRESSED_SHARE:
            return
    raise not_enough(sources)


# MARK: - Generated files


class Generator:
    """Bytes from a seed, of three kinds: random, compressible to about a half, and text."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.words = [bytes(self.chance.choices(b"abcdefghijklmnopqrstuvwxyz", k=self.chance.randint(3, 9))) for _ in range(4000)]
        self.phrases = [b" ".join(self.chance.choices(self.words, k=4)) + b"\n" for _ in range(20_000)]
        self.pieces = [self.chance.randbytes(self.chance.randint(6, 24)) for _ in range(500)]

    def bytes(self, kind, count):
        if kind == "random":
            return self.chance.randbytes(count)
        # The shortest phrase has 16 bytes, the shortest piece 6.
        parts, least = (self.phrases, 16) if kind == "text" else (self.pieces, 6)
        half = 0 if kind == "text" else count // 3
        return self.chance.randbytes(half) + b"".join(self.chance.choices(parts, k=(count - half) // least + 1))[:count - half]


def make_half_random_folder(folder, byte_count, file_count, seed):
    """Files of equal size. The first half of each is random, the second one words."""
    generator = Generator(seed)
    half = byte_count // file_count // 2
    for number in range(file_count):
        write(folder / f"{number // 100:03}" / f"{number:05}", generator.bytes("random", half) + generator.bytes("text", half))
