"""Pairs of versions of a folder, as publishers change them, generated from a seed.

An unchanged file is the same file in both versions, under two names, with the same times and inode. So tools that store those
do not pay for unchanged files.
"""

import dataclasses
import os
import pathlib
import random

from corpora import Generator, write

PIECE = 8 << 20


@dataclasses.dataclass
class Pair:
    """Two versions of a folder. `limits` are limits of this pair, in addition to the limits of all pairs: figure -> bytes."""

    name: str
    old: pathlib.Path
    new: pathlib.Path
    explanation: str = ""
    limits: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Scale:
    """The amount of data: bytes of the one large asset, assets of the pair in which one changes, and in which some change."""

    large: int = 1_000_000_000
    assets: int = 2_000
    scattered: int = 78_000
    is_quick: bool = False

    def of(self, count):
        return count // 10 if self.is_quick else count


class Maker:
    """Writes the two versions."""

    def __init__(self, folder, seed):
        self.old, self.new = folder / "old", folder / "new"
        self.generator = Generator(seed)
        self.chance = self.generator.chance
        for version in [self.old, self.new]:
            version.mkdir()

    def write(self, kind, count, *paths):
        """Makes one file of new bytes, under each of the paths."""
        write(paths[0], b"")
        with open(paths[0], "wb") as file:
            for begin in range(0, count, PIECE):
                file.write(self.generator.bytes(kind, min(PIECE, count - begin)))
        for path in paths[1:]:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.link(paths[0], path)

    def both(self, kind, count, name, is_changed=False):
        """Makes a file of both versions, with new bytes in the new one if it is changed."""
        if is_changed:
            self.write(kind, count, self.old / name)
            self.write(kind, count, self.new / name)
        else:
            self.write(kind, count, self.old / name, self.new / name)

    def copy(self, name, before=b"", head=0, after=b""):
        """Writes the new version of a file: other bytes, then the old file with `head` new first bytes, then other bytes."""
        with open(self.old / name, "rb") as source, open(self.new / name, "wb") as target:
            target.write(before + self.chance.randbytes(head))
            source.seek(head)
            while content := source.read(PIECE):
                target.write(content)
            target.write(after)


def front_byte(maker, scale):
    count = scale.of(scale.large)
    maker.write("random", count, maker.old / "Film.bin")
    maker.copy("Film.bin", before=b"!")
    return f"One byte inserted at the front of an incompressible asset of {count / 1e6:.0f} MB."


def headers(maker, scale):
    count, size = scale.of(1_000), 500_000
    for index in range(count):
        maker.write("random", size, maker.old / f"Track{index}.bin")
        maker.copy(f"Track{index}.bin", head=64)
    return f"The first 64 bytes rewritten in each of {count:,} incompressible files of {size / 1e3:.0f} KB."


def textures(maker, scale):
    count, size = scale.of(200), 1_398_232  # 1024 x 1024 texels of a byte each, and the smaller sizes.
    kinds = ["half", "random"]
    for index in range(count):
        name, following = (f"Textures/Texture{number}.dds" for number in [index, index + 1])
        if index % 40 == 10:
            # Two textures that exchange their names.
            maker.write("half", size, maker.old / name, maker.new / following)
            maker.write("random", size, maker.old / following, maker.new / name)
        elif index % 40 != 11:
            maker.both(kinds[index % 2], size, name, is_changed=index % 40 == 7)
    return f"Of {count:,} textures of {size / 1e6:.1f} MB, one in forty is replaced, and two in forty have exchanged their names."


def renamed(maker, scale):
    left = count = scale.of(300_000_000)
    folders = [("Textures", "half", 1 << 20), ("Sounds", "random", 256 << 10), ("Scripts", "text", 8 << 10)]
    index = 0
    while left > 0:
        folder, kind, most = folders[index % 3]
        size = min(left, maker.chance.randint(most // 4, most))
        name = f"{index // 50}/File{index}.dat"
        target = "Images/Textures2" if folder == "Textures" else folder
        maker.write(kind, size, maker.old / folder / name, maker.new / target / name)
        left -= size
        index += 1
    return f"A game's tree of {count / 1e6:.0f} MB, in which the folder of textures has another name and place."


def appended(maker, scale):
    count = scale.of(200_000_000)
    maker.write("half", count, maker.old / "Level.wad")
    maker.copy("Level.wad", after=maker.generator.bytes("half", 1 << 20))
    return f"1 MiB appended to an asset of {count / 1e6:.0f} MB."


def reordered(maker, scale):
    count = scale.of(200_000_000)
    lumps, left = [], count
    while left > 0:
        size = min(left, maker.chance.randint(16 << 10, 512 << 10))
        lumps.append((maker.chance.randrange(1 << 62), size))
        left -= size
    for version in [maker.old, maker.new]:
        with open(version / "Archive.wad", "wb") as file:
            for seed, size in lumps:
                maker.generator.chance.seed(seed)
                file.write(maker.generator.bytes("half", size))
        random.Random(len(lumps)).shuffle(lumps)
    return f"An archive of {count / 1e6:.0f} MB whose {len(lumps):,} lumps are in another order."


def one_of_many(maker, scale):
    count, total = scale.of(scale.assets), 0
    for index in range(count):
        size = maker.chance.randint(500, 12_000)
        total += size
        maker.both(["random", "half", "text"][index % 3], size, f"Items/{index // 500}/Item{index}.dat", index == count // 2)
    return f"One asset of {count:,} replaced, which have {total / 1e6:.0f} MB together."


def scattered(maker, scale):
    count, total, changed = scale.of(scale.scattered), 0, 0
    for index in range(count):
        size = maker.chance.randint(500, 8_000)
        total += size
        changed += index % 260 == 130
        maker.both("text", size, f"Sources/{index % 61}/{index // 61 % 37}/File{index}.txt", index % 260 == 130)
    return f"Of {count:,} small assets, which have {total / 1e6:.0f} MB together, {changed:,} replaced, scattered over all folders."


# The kinds of pairs, each with PackStore's own limits.
KINDS = {
    "front-byte": (front_byte, {"delta": 100_000, "ranges": 100_000}),
    "headers": (headers, {"delta": 150_000, "ranges": 20_000_000}),
    "textures": (textures, {}),
    "renamed": (renamed, {}),
    "appended": (appended, {}),
    "reordered": (reordered, {}),
    "one-of-many": (one_of_many, {"metadata": 200_000}),
    "scattered": (scattered, {}),
}


def make(name, scale, seed, folder):
    """Makes both versions in the empty folder `folder`."""
    function, limits = KINDS[name]
    maker = Maker(folder, f"{seed} {name}")
    return Pair(name, maker.old, maker.new, function(maker, scale), limits)
