#!/usr/bin/env python3
"""Makes archives for the tests of `import`: with Python's own libraries where they can, else by hand.

    foreign_archives.py FOLDER             writes good/, hostile/, decoders/ and the tree itself there
    foreign_archives.py --seeds FOLDER     writes what fuzzing begins with

Everything in good/ holds the files of `TREE`. hostile/ holds one fault each, which the name says. decoders/ has streams of
LZFSE and LZ4, and beside each what it holds. Equal bytes at each run.
"""
import gzip
import io
import json
import lzma
import os
import random
import shutil
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib

LONG = "long/" + "n" * 120 + "/" + "m" * 130 + ".txt"
NOISE = random.Random(7).randbytes(200_000)
TREE = {
    "readme.txt": b"Hello, PackStore!\n",
    "Levels/1.bin": NOISE,
    "Levels/2.txt": b"".join(b"line %d of a level\n" % i for i in range(20_000)),
    "empty": b"",
    LONG: b"a long name\n",
    "\u00fcml\u00e4ut.txt": "gr\u00fc\u00dfe\n".encode(),
}
EXECUTABLE = "readme.txt"
LINK, TARGET = "link", "Levels/../../outside"

# MARK: Apple's codes


def fse_tables(frequencies, states):
    """For each symbol: from the next state to the state before and the bits that lead from it."""
    tables, offset = {}, 0
    for symbol, count in enumerate(frequencies):
        if count == 0:
            continue
        shift = 0
        while count << shift < states:
            shift += 1
        many, table = (2 * states >> shift) - count, {}
        for i in range(count):
            bits, start = (shift, (count + i << shift) - states) if i < many else (shift - 1, i - many << shift - 1)
            for value in range(1 << bits):
                table[start + value] = (offset + i, bits, value)
        tables[symbol] = table
        offset += count
    return tables


def normalize(counts, states):
    total = sum(counts)
    if total == 0:
        return [states] + [0] * (len(counts) - 1)
    result = [max(1, count * states // total) if count else 0 for count in counts]
    while sum(result) != states:  # what rounding took too little or too much, of the largest
        largest = max(range(len(counts)), key=lambda i: result[i])
        result[largest] += max(states - sum(result), -(result[largest] // 2))
    return result


class Bits:
    def __init__(self):
        self.bytes, self.value, self.count = bytearray(), 0, 0

    def push(self, bits, value):
        self.value |= value << self.count
        self.count += bits
        if self.count >= 512:
            self.bytes += (self.value & (1 << 512) - 1).to_bytes(64, "little")
            self.value >>= 512
            self.count -= 512

    def finish(self):
        """The bytes, and less 0 how many bits of the last one are not used."""
        length = (self.count + 7) // 8
        return bytes(self.bytes) + self.value.to_bytes(length, "little"), self.count - 8 * length


def symbol_of(extra, number):
    base = 0
    for symbol, bits in enumerate(extra):
        if number < base + (1 << bits):
            return symbol, bits, number - base
        base += 1 << bits
    raise ValueError(number)


L_EXTRA = [0] * 16 + [2, 3, 5, 8]
M_EXTRA = [0] * 16 + [3, 5, 8, 11]
D_EXTRA = [i // 4 for i in range(64)]


def triplets(data):
    """Literals and matches, found by the last place of four equal bytes."""
    seen, begin, at, result = {}, 0, 0, []
    while at + 4 <= len(data):
        key = data[at:at + 4]
        place = seen.get(key)
        seen[key] = at
        if place is None or at - place >= 262_139:
            at += 1
            continue
        length = 4
        while at + length < len(data) and length < 2359 and data[place + length] == data[at + length]:
            length += 1
        result.append((data[begin:at], length, at - place))
        at += length
        begin = at
    result.append((data[begin:], 0, 1))
    # No triplet has more than 315 literals.
    split = []
    for literals, length, distance in result:
        while len(literals) > 315:
            split.append((literals[:315], 0, 1))
            literals = literals[315:]
        split.append((literals, length, distance))
    return split


def lzfse_block(part, version):
    literals = b"".join(t[0] for t in part)
    raw = sum(len(t[0]) + t[1] for t in part)
    literals += bytes(-len(literals) % 4)
    numbers, before = [], 0
    for text, length, distance in part:
        numbers.append((len(text), length, 0 if distance == before else distance))
        before = distance
    extras, sizes = [L_EXTRA, M_EXTRA, D_EXTRA], [64, 64, 256]
    symbols = [[symbol_of(extras[k], n[k]) for k in range(3)] for n in numbers]
    frequencies = [normalize([sum(1 for s in symbols if s[k][0] == i) for i in range(len(extras[k]))], sizes[k]) for k in range(3)]
    frequencies.append(normalize([literals.count(i) for i in range(256)], 1024))
    tables = [fse_tables(f, size) for f, size in zip(frequencies, sizes + [1024])]
    stream, literal_states = Bits(), [0] * 4
    for i in reversed(range(len(literals))):
        literal_states[i % 4], bits, value = tables[3][literals[i]][literal_states[i % 4]]
        stream.push(bits, value)
    literal_bytes, literal_unused = stream.finish()
    stream, states = Bits(), [0] * 3
    stream.push(64, 0)  # Apple's decoder reads so many bits at once
    for row in reversed(symbols):
        for k in (2, 1, 0):
            symbol, extra, value = row[k]
            states[k], bits, low = tables[k][symbol][states[k]]
            stream.push(extra, value)
            stream.push(bits, low)
    match_bytes, match_unused = stream.finish()
    flat = [f for table in frequencies for f in table]
    if version == 1:
        return b"bvx1" + struct.pack(
            "<IIIIIIi4HiHHH360H2x", raw, len(literal_bytes) + len(match_bytes), len(literals), len(part), len(literal_bytes),
            len(match_bytes), literal_unused, *literal_states, match_unused, *states, *flat) + literal_bytes + match_bytes
    codes = Bits()
    for f in flat:
        if f < 2:
            codes.push(2, f << 1)
        elif f < 4:
            codes.push(3, 1 | f - 2 << 2)
        elif f < 8:
            codes.push(5, 3 | f - 4 << 3)
        elif f < 24:
            codes.push(8, 7 | f - 8 << 4)
        else:
            codes.push(14, 15 | f - 24 << 4)
    table = codes.finish()[0]
    first = len(literals) | len(literal_bytes) << 20 | len(part) << 40 | literal_unused + 7 << 60
    second = sum(s << 10 * i for i, s in enumerate(literal_states)) | len(match_bytes) << 40 | match_unused + 7 << 60
    third = 32 + len(table) | states[0] << 32 | states[1] << 42 | states[2] << 52
    return b"bvx2" + struct.pack("<IQQQ", raw, first, second, third) + table + literal_bytes + match_bytes


def lzfse(data, version=2):
    result, part, literals = b"", [], 0
    for t in triplets(data):
        if len(part) == 10_000 or literals + len(t[0]) > 39_996:
            result += lzfse_block(part, version)
            part, literals = [], 0
        part.append(t)
        literals += len(t[0])
    return result + lzfse_block(part, version) + b"bvx$"


def lzvn(data):
    """Uses each kind of operation where it fits."""
    out, before = bytearray(), 0
    for literals, length, distance in triplets(data):
        while len(literals) > 3:
            count = min(len(literals), 271)
            out += bytes([0xe0 | count]) if count < 16 else bytes([0xe0, count - 16])
            out += literals[:count]
            literals = literals[count:]
        if length == 0:
            if literals:
                out += bytes([0xe0 | len(literals)]) + literals
            continue
        if distance > 0xffff:
            raise ValueError("too far for LZVN")
        count = min(length, 10)
        first = len(literals) << 6 | count - 3 << 3
        is_free = first not in range(0x70, 0x80) and first not in range(0xa0, 0xc0) and first < 0xd0
        if distance == before and literals and is_free:
            out.append(first | 6)
        elif distance < 0x600 and is_free:
            out += bytes([first | distance >> 8, distance & 255])
        elif distance < 0x4000:
            count = min(length, 34)
            out += medium(literals, count, distance)
        else:
            count = min(count, 3)
            out += bytes([len(literals) << 6 | 7]) + struct.pack("<H", distance)
        out += literals
        length -= count
        before = distance
        while length > 0:
            count = min(length, 271)
            out += bytes([0xf0 | count]) if count < 16 else bytes([0xf0, count - 16])
            length -= count
    payload = bytes(out) + b"\x0e\x16" + b"\x06" + bytes(7)  # two operations that do nothing, and the end
    return b"bvxn" + struct.pack("<II", len(data), len(payload)) + payload + b"bvx$"


def medium(literals, count, distance):
    low = count - 3 & 3
    return bytes([0xa0 | len(literals) << 3 | count - 3 >> 2]) + struct.pack("<H", distance << 2 | low)


def lzfse_stored(data):
    return b"bvx-" + struct.pack("<I", len(data)) + data + b"bvx$"


def lz4_raw(data):
    out = bytearray()

    def more(value):
        while value >= 255:
            out.append(255)
            value -= 255
        out.append(value)

    joined, held = [], b""
    position = 0
    for literals, length, distance in triplets(data):
        if length == 0 or distance > 0xffff or position + len(literals) + length > len(data) - 5:
            held += literals + data[position + len(literals):position + len(literals) + length]
        else:
            joined.append((held + literals, length, distance))
            held = b""
        position += len(literals) + length
    for literals, length, distance in joined:
        out.append(min(len(literals), 15) << 4 | min(length - 4, 15))
        if len(literals) >= 15:
            more(len(literals) - 15)
        out += literals + struct.pack("<H", distance)
        if length - 4 >= 15:
            more(length - 19)
    out.append(min(len(held), 15) << 4)
    if len(held) >= 15:
        more(len(held) - 15)
    return bytes(out) + held


def lz4_frames(data):
    half = len(data) // 2
    encoded = lz4_raw(data[:half])
    stored = data[half:]
    return (b"bv41" + struct.pack("<II", half, len(encoded)) + encoded + b"bv4-" + struct.pack("<I", len(stored)) + stored + b"bv4$")


def raw_deflate(data):
    stream = zlib.compressobj(6, zlib.DEFLATED, -15)
    return stream.compress(data) + stream.flush()


def xz(data):
    return lzma.compress(data, preset=6)


def greedy_xz(data):
    """A stream whose decoder needs 4 GiB for its dictionary, as its block header specifies."""
    stream = bytearray(lzma.compress(data, check=lzma.CHECK_CRC32, preset=0))
    size = (stream[12] + 1) * 4
    assert stream[14:16] == b"\x21\1", "the only filter is LZMA2, with one byte of properties"
    stream[16] = 40
    stream[12 + size - 4:12 + size] = struct.pack("<I", zlib.crc32(bytes(stream[12:12 + size - 4])))
    return bytes(stream)


def blocks(letter, data, encode, size=1 << 20):
    out = b"pbz" + letter + struct.pack(">Q", size)
    for at in range(0, len(data), size):
        raw = data[at:at + size]
        stored = encode(raw)
        stored = stored if len(stored) < len(raw) else raw
        out += struct.pack(">QQ", len(raw), len(stored)) + stored
    return out


# MARK: Apple Archive


def text_field(key, value):
    value = value if isinstance(value, bytes) else value.encode()
    return key + b"P" + struct.pack("<H", len(value)) + value


def entry(kind, path, data=None, target=None, mode=0o644, magic=b"AA01", form=None, more=b"", before=b""):
    fields = b"TYP1" + kind + text_field(b"PAT", path)
    if target is not None:
        fields += text_field(b"LNK", target)
    fields += b"UID2" + struct.pack("<H", 501) + b"GID1\x14" + b"MOD2" + struct.pack("<H", mode) + b"FLG1\0"
    fields += b"MTMT" + struct.pack("<QI", 1_700_000_000, 5) + b"CTMS" + struct.pack("<Q", 1) + b"CKSF" + bytes(4) + b"ABC*" + more
    body = b""
    if before:
        fields += b"XATA" + struct.pack("<H", len(before))
        body += before
    if data is not None:
        form = form or (b"A" if len(data) < 0x10000 else b"B")
        fields += b"DAT" + form + len(data).to_bytes({b"A": 2, b"B": 4, b"C": 8}[form], "little")
        body += data + b"acl"
        fields += b"ACLA" + struct.pack("<H", 3)
    return magic + struct.pack("<H", len(fields) + 6) + fields + body


def tree_entries(prefix="", magic=b"AA01"):
    out = b""
    for index, (path, data) in enumerate(sorted(TREE.items())):
        mode = 0o755 if path == EXECUTABLE else 0o644
        out += entry(b"F", prefix + path, data, mode=mode, magic=magic, form=[None, b"B", b"C"][index % 3], before=b"xattr")
    return out + entry(b"L", prefix + LINK, target=TARGET, magic=magic)


MANIFEST = {"assetPackID": "Tutorial", "downloadPolicy": {"onDemand": {}}, "platforms": ["iOS"], "toolsVersion": "1.2"}


def asset_pack(manifest=None, more=b""):
    text = json.dumps(MANIFEST).encode() if manifest is None else manifest
    return (entry(b"D", "", mode=0o755) + entry(b"F", "Manifest.json", text) + entry(b"D", "Contents", mode=0o755)
            + tree_entries("Contents/") + more)


# MARK: tar and zip


def tar(form=tarfile.PAX_FORMAT, change=None, mode="w", **options):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form, **options) as archive:
        folder = tarfile.TarInfo("./")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for path, data in sorted(TREE.items()):
            add(archive, "./" + path, data, 0o755 if path == EXECUTABLE else 0o644)
        link = tarfile.TarInfo("./" + LINK)
        link.type, link.linkname = tarfile.SYMTYPE, TARGET
        archive.addfile(link)
        if change:
            change(archive)
    return out.getvalue()


def add(archive, name, data=b"", mode=0o644, kind=tarfile.REGTYPE, link="", pax=None):
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.type, info.linkname = len(data), mode, kind, link
    info.pax_headers = pax or {}
    archive.addfile(info, io.BytesIO(data))


def tar_of(*members, form=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        add(archive, "first", b"first")
        for member in members:
            add(archive, **member)
    return out.getvalue()


def summed(header):
    """A tar header with its sum put right."""
    header = header[:148] + b" " * 8 + header[156:]
    return header[:148] + b"%06o\0 " % sum(header) + header[156:]


def zip_info(name, mode=0o100644, system=3, method=zipfile.ZIP_DEFLATED):
    info = zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6))
    info.external_attr, info.create_system, info.compress_type = mode << 16, system, method
    return info


class OneWay(io.RawIOBase):
    """A file that cannot be moved in: zipfile writes data descriptors."""

    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def zip_tree(method=zipfile.ZIP_DEFLATED, out=None, wide=False, comment=b""):
    out = out or io.BytesIO()
    with zipfile.ZipFile(out, "w", allowZip64=True) as archive:
        archive.writestr(zip_info("Levels/", 0o40755), b"")
        for path, data in sorted(TREE.items()):
            info = zip_info(path, 0o100755 if path == EXECUTABLE else 0o100644, method=method)
            with archive.open(info, "w", force_zip64=wide) as file:
                file.write(data)
        archive.writestr(zip_info(LINK, 0o120777), TARGET)
        archive.comment = comment
    return out.data if isinstance(out, OneWay) else out.getvalue()


def zip_of(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zip_info("first"), b"first")
        for info, data in members:
            archive.writestr(info, data)
    return out.getvalue()


def patched(data, *changes):
    """Bytes replaced: the old ones have to be there, and all places of them change."""
    for old, new in changes:
        assert old in data and len(old) == len(new), old
        data = data.replace(old, new)
    return data


def wide_zip():
    """A zip file whose end is of zip64, with numbers that would not need it."""
    data = zip_tree(wide=True)
    end = data.rindex(b"PK\5\6")
    count, size, offset = struct.unpack_from("<HII", data, end + 10)
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, offset)
    locator = b"PK\6\7" + struct.pack("<IQI", 0, end, 1)
    return data[:end] + record + locator + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0)


# MARK: What is written


def good():
    plain, pack = tree_entries(), asset_pack()
    zstd = shutil.which("zstd")
    result = {
        "pax.tar": tar(), "gnu.tar": tar(tarfile.GNU_FORMAT), "pax.tar.gz": gzip.compress(tar(), mtime=0),
        "members.tgz": (lambda data: gzip.compress(data[:100_000], mtime=0) + gzip.compress(data[100_000:], mtime=0) + bytes(512))(tar()),
        "hidden-name.png": zip_tree(),
        "stored.zip": zip_tree(zipfile.ZIP_STORED), "one-way.zip": bytes(zip_tree(out=OneWay())), "wide.zip": wide_zip(),
        "comment.zip": zip_tree(comment=b"PK\5\6 is no end here"),
        "plain.aar": plain, "yaa.aar": tree_entries(magic=b"YAA1"),
        "lzfse.aar": blocks(b"e", plain, lzfse), "lzfse-v1.aar": blocks(b"e", plain, lambda d: lzfse(d, 1), 90_000),
        "lzvn.aar": blocks(b"e", plain, lzvn, 40_000), "stored.aar": blocks(b"e", plain, lambda d: d),
        "lz4.aar": blocks(b"4", plain, lz4_frames), "lz4-raw.aar": blocks(b"4", plain, lz4_raw, 100_000),
        "zlib.aar": blocks(b"z", plain, zlib.compress), "deflate.aar": blocks(b"z", plain, raw_deflate) + bytes(16),
        "xz.aar": blocks(b"x", plain, xz), "xz-streams.aar": blocks(b"x", plain, lambda d: xz(d[:99]) + xz(d[99:]), 16 << 20),
        "pack-lzfse.aar": blocks(b"e", pack, lzfse), "pack-plain.aar": pack,
    }
    if zstd:
        result["zstd.tar.zst"] = subprocess.run([zstd, "-q", "-c"], input=tar(), capture_output=True, check=True).stdout
    return result


def device(kind):
    return {"name": "bad", "kind": kind}


def hostile():
    base, zipped, plain = tar(), zip_of(), tree_entries()
    lines = TREE["Levels/2.txt"]
    one = zip_of((zip_info("Level"), lines))
    result = {
        # Names, in each of the three.
        "absolute.tar": tar_of({"name": "/etc/passwd", "data": b"x"}),
        "dotdot.tar": tar_of({"name": "a/../../b", "data": b"x"}),
        "dotdot-pax.tar": tar_of({"name": "x", "data": b"x", "pax": {"path": "../b"}}),
        "empty-part.tar": tar_of({"name": "a//b", "data": b"x"}),
        "not-utf8.tar": tar_of()[:1024] + summed(b"z\xff\xfez" + tar_of()[4:512]) + bytes(2048),
        "long-part.tar": tar_of({"name": "p" * 256, "data": b"x"}),
        "deep.tar": tar_of({"name": "d/" * 2001 + "f", "data": b"x"}),
        "twice.tar": tar_of({"name": "a", "data": b"1"}, {"name": "./a", "data": b"2"}),
        "below-file.tar": tar_of({"name": "a", "data": b"1"}, {"name": "a/b", "data": b"2"}),
        "below-link.tar": tar_of({"name": "a", "kind": tarfile.SYMTYPE, "link": "/tmp"}, {"name": "a/b", "data": b"2"}),
        "file-over-folder.tar": tar_of({"name": "a/b", "data": b"1"}, {"name": "a", "data": b"2"}),
        "absolute.zip": zip_of((zip_info("/etc/passwd"), b"x")), "dotdot.zip": zip_of((zip_info("../b"), b"x")),
        "twice.zip": zip_of((zip_info("aa"), b"1"), (zip_info("bb"), b"2")).replace(b"bb", b"aa"),
        "backslash.zip": zip_of((zip_info("a-b"), b"x")).replace(b"a-b", b"a\\b"),
        "not-utf8.zip": zip_of((zip_info("zzzz"), b"x")).replace(b"zzzz", b"z\xff\xfez"),
        "absolute.aar": plain + entry(b"F", "/etc/passwd", b"x"), "dotdot.aar": plain + entry(b"F", "a/../../b", b"x"),
        "twice.aar": plain + entry(b"F", "empty", b"x"), "not-utf8.aar": plain + entry(b"F", b"z\xff", b"x"),
        "nul.aar": plain + entry(b"F", b"a\0b", b"x"), "no-name.aar": entry(b"F", "", b"x"),
        # Kinds.
        "device.tar": tar_of(device(tarfile.CHRTYPE)), "block.tar": tar_of(device(tarfile.BLKTYPE)),
        "pipe.tar": tar_of(device(tarfile.FIFOTYPE)),
        "hard-link-out.tar": tar_of({"name": "h", "kind": tarfile.LNKTYPE, "link": "../out"}),
        "hard-link-later.tar": tar_of({"name": "h", "kind": tarfile.LNKTYPE, "link": "z"}, {"name": "z", "data": b"z"}),
        "sparse-pax.tar": tar_of({"name": "s", "data": b"x", "pax": {"GNU.sparse.major": "1"}}),
        "sparse-version.tar": tar_of({"name": "s", "data": b"x", "pax": {"GNU.sparse.major": "2", "GNU.sparse.realsize": "1"}}),
        "sparse-overlap.tar": tar_of({"name": "s", "data": b"xyzw", "pax": {"GNU.sparse.size": "9", "GNU.sparse.map": "0,2,1,2"}}),
        "sparse-long.tar": tar_of({"name": "s", "data": b"xyzw", "pax": {"GNU.sparse.size": "9", "GNU.sparse.map": "7,4"}}),
        "sparse-bomb.tar": tar_of({"name": "s", "data": b"x", "pax": {"GNU.sparse.size": str(2**63), "GNU.sparse.map": "0,1"}}),
        "sparse-pieces.tar": tar_of({"name": "s", "data": b"1000001\n".ljust(512, b"\0"), "pax": {"GNU.sparse.major": "1", "GNU.sparse.realsize": "9"}}),
        "sparse-end.tar": tar_of({"name": "s", "data": b"3\n0\n".ljust(512, b"\1"), "pax": {"GNU.sparse.major": "1", "GNU.sparse.realsize": "9"}}),
        "volume.tar": tar_of({"name": "v", "kind": b"M"}), "unknown.tar": tar_of({"name": "u", "kind": b"Z"}),
        "global.tar": (lambda o: (tarfile.open(fileobj=o, mode="w", pax_headers={"path": "all"}).close(), o.getvalue())[1])(io.BytesIO()),
        "pipe.zip": zip_of((zip_info("p", 0o10644), b"")), "folder-bytes.zip": zip_of((zip_info("p", 0o40755), b"x")),
        "device.aar": plain + entry(b"C", "d"), "socket.aar": plain + entry(b"S", "d"), "whiteout.aar": plain + entry(b"W", "d"),
        "no-data.aar": plain + entry(b"F", "d"), "no-target.aar": plain + entry(b"L", "d"),
        "data-link.aar": plain + entry(b"L", "d", b"x", target="a"), "empty-target.aar": plain + entry(b"L", "d", target=""),
        "patch.aar": plain + entry(b"F", "d", b"x", more=b"YOP1E"), "two-fields.aar": plain + entry(b"F", "d", b"x", more=b"PATP\1\0z"),
        "wrong-field.aar": plain + b"AA01" + struct.pack("<H", 18) + b"TYPP\1\0FPATP\1\0",
        # Compression and encryption that are not read.
        "bzip2.zip": zip_of((zip_info("b", method=zipfile.ZIP_BZIP2), lines)),
        "lzma.zip": zip_of((zip_info("b", method=zipfile.ZIP_LZMA), lines)),
        "encrypted.zip": encrypted(one), "lzbitmap.aar": b"pbzb" + bytes(8), "unknown.aar": b"pbz?" + bytes(8),
        "encrypted.aar": b"AEA1" + bytes(100), "xz.tar.xz": b"\xfd7zXZ\0" + bytes(100), "bzip2.tar.bz2": b"BZh9" + bytes(100),
        "seven.7z": b"7z\xbc\xaf\x27\x1c" + bytes(100), "parts.zip": b"PK\7\10" + zipped, "text.tar": b"no archive at all\n" * 100, "nothing": b"",
        # Cut short, damaged, trailing bytes.
        "cut.tar": base[:150_000], "no-end.tar": tar_of()[:1024], "trailing.tar": tar_of() + b"more",
        "lone.tar": tar_of()[:1024] + bytes(512) + tar_of()[:1024],
        "sum.tar": patched(tar_of({"name": "zz", "data": b"x"}), (b"zz\0", b"zy\0")),
        "huge.tar": summed(tar_of()[:124] + b"\x80" + b"\0" * 3 + b"\x7f" + b"\xff" * 7 + tar_of()[136:512]) + bytes(1024),
        "negative.tar": tar_of()[:1024] + summed(tar_of()[:124] + b"\xff" * 12 + tar_of()[136:512]) + bytes(1024),
        "pax.tar": patched(tar_of({"name": "x", "data": b"x", "pax": {"comment": "c"}}), (b"13 comment=c\n", b"14 comment=c\n")),
        "long-header.tar": tar_of({"name": "x", "data": b"x", "pax": {"comment": "c" * (1 << 20)}}),
        "cut.tar.gz": gzip.compress(base, mtime=0)[:9000], "trailing.tar.gz": gzip.compress(base, mtime=0) + b"more",
        "sum.tar.gz": gzip.compress(base, mtime=0)[:-8] + bytes(8),
        "cut.zip": one[:-30], "trailing.zip": one + b"more", "prefix.zip": b"PK\3\4 more" + one,
        "crc.zip": patched(one, (struct.pack("<I", zlib.crc32(lines)), b"abcd")),
        "bytes.zip": one[:60] + bytes([one[60] ^ 255]) + one[61:],
        "local.zip": one.replace(b"Level", b"LeveL", 1), "longer.zip": resized(one, len(lines) + 1), "shorter.zip": resized(one, len(lines) - 1),
        "overlap.zip": overlapping(), "count.zip": recounted(one), "far.zip": moved(one),
        "cut.aar": plain[:100_000], "header.aar": plain + b"AA01\5\0", "magic.aar": plain + b"AA02" + bytes(10),
        "field.aar": plain + b"AA01" + struct.pack("<H", 14) + b"PATP\xff\0ab",
        "cut-block.aar": blocks(b"e", plain, lzfse)[:100_000], "block-size.aar": b"pbze" + bytes(8) + struct.pack(">QQ", 1 << 40, 5) + b"abcde",
        "stored-size.aar": b"pbze" + bytes(8) + struct.pack(">QQ", 5, 1 << 62) + b"abcde",
        "empty-block.aar": b"pbze" + bytes(8) + bytes(16) + bytes(16), "block.aar": damaged(blocks(b"e", plain, lzfse)),
        "block-lz4.aar": damaged(blocks(b"4", plain, lz4_raw)), "block-zlib.aar": damaged(blocks(b"z", plain, zlib.compress)),
        "block-xz.aar": damaged(blocks(b"x", plain, xz)), "memory-xz.aar": blocks(b"x", plain, greedy_xz),
        "no-xz.aar": b"pbzx" + bytes(8) + struct.pack(">QQ", 9, 5) + b"abcde",
        "cut-xz.aar": blocks(b"x", plain, lambda d: xz(d)[:-4]), "trailing-xz.aar": blocks(b"x", plain, lambda d: xz(d) + b"more"),
        "manifest.aar": asset_pack(b"{\"assetPackID\": 5}"),
        # Bombs.
        "bomb.tar.gz": bomb_tar(), "bomb.zip": bomb_zip(), "bomb.aar": bomb_blocks(), "bomb-links.tar": bomb_links(),
    }
    if shutil.which("zstd"):
        result["window.tar.zst"] = bytes.fromhex("28b52ffd0088") + bytes(3)
    return result


def encrypted(data):
    for magic, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = data.rindex(magic)
        data = data[:at + offset] + bytes([data[at + offset] | 1]) + data[at + offset + 1:]
    return data


def resized(data, size):
    at = data.rindex(b"PK\1\2")
    local = data.rindex(b"PK\3\4")
    data = data[:at + 24] + struct.pack("<I", size) + data[at + 28:]
    return data[:local + 22] + struct.pack("<I", size) + data[local + 26:]


def overlapping():
    """Many names for the bytes of one entry."""
    data = zip_of((zip_info("Level"), bytes(1000)))
    end, at = data.rindex(b"PK\5\6"), data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    record, start = data[at:end], data.index(b"PK\1\2")
    return data[:start] + record * 50 + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 50, 50, len(record) * 50, start, 0)


def recounted(data):
    end = data.rindex(b"PK\5\6")
    return data[:end + 8] + struct.pack("<HH", 1, 1) + data[end + 12:]


def moved(data):
    at = data.rindex(b"PK\1\2")
    return data[:at + 42] + struct.pack("<I", 0x7fffffff) + data[at + 46:]


def damaged(data):
    middle = len(data) // 2 + 100_000
    return data[:middle] + bytes([b ^ 0x55 for b in data[middle:middle + 64]]) + data[middle + 64:]


def bomb_tar():
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as stream:
        info = tarfile.TarInfo("zeros")
        info.size = 80_000_000
        stream.write(info.tobuf())
        for _ in range(80):
            stream.write(bytes(1_000_000))
    return out.getvalue()


def bomb_zip():
    return zip_of((zip_info("zeros"), bytes(80_000_000)))


def bomb_blocks():
    header = entry(b"F", "zeros", b"")[:0]
    fields = b"TYP1F" + text_field(b"PAT", "zeros") + b"DATC" + struct.pack("<Q", 80 << 20)
    header = b"AA01" + struct.pack("<H", len(fields) + 6) + fields
    block = raw_deflate(bytes(1 << 20))
    one = struct.pack(">QQ", 1 << 20, len(block)) + block
    return b"pbzz" + struct.pack(">Q", 1 << 20) + struct.pack(">QQ", len(header), len(header)) + header + one * 80


def bomb_links():
    return tar_of({"name": "big", "data": NOISE}, *[{"name": f"h{i}", "kind": tarfile.LNKTYPE, "link": "big"} for i in range(700)])


def decoders():
    samples = {
        "text": TREE["Levels/2.txt"][:60_000], "noise": NOISE[:50_000], "zeros": bytes(100_000), "one": b"x",
        "mixed": b"".join(NOISE[i * 7:i * 7 + i % 40] + b"repeat " * (i % 9) for i in range(900)),
    }
    result = {}
    for name, data in samples.items():
        result[f"{name}.raw"] = data
        result[f"{name}.2.lzfse"], result[f"{name}.1.lzfse"] = lzfse(data), lzfse(data, 1)
        result[f"{name}.stored.lzfse"], result[f"{name}.n.lzfse"] = lzfse_stored(data), lzvn(data)
        result[f"{name}.both.lzfse"] = lzfse(data[:len(data) // 2])[:-4] + lzfse_stored(data[len(data) // 2:])
        result[f"{name}.frames.lz4"], result[f"{name}.raw.lz4"] = lz4_frames(data), lz4_raw(data)
    return result


def seeds():
    """Small ones: the first bytes say what each target does with the rest."""
    global NOISE
    NOISE = NOISE[:300]
    TREE["Levels/1.bin"], TREE["Levels/2.txt"] = NOISE, TREE["Levels/2.txt"][:900]
    text = TREE["Levels/2.txt"] + NOISE
    length = len(text).to_bytes(3, "little")
    yield from (("archives", b"\0" + length + data) for data in (lzfse(text), lzfse(text, 1), lzvn(text), lzfse_stored(text)))
    yield from (("archives", b"\1" + length + data) for data in (lz4_frames(text), lz4_raw(text)))
    yield from (("archives", b"\2" + length + data) for data in (raw_deflate(text), zlib.compress(text)))
    yield from (("archives", b"\3" + length + data) for data in (xz(text), greedy_xz(text)))
    yield from (("streams", bytes([0, step, step]) + gzip.compress(text, mtime=0)) for step in (0, 200))
    yield from (("streams", bytes([1, step, step]) + raw_deflate(text)) for step in (0, 200))
    plain = tree_entries()
    yield from (("swift-foreign", b"\0" + data) for data in (tar(), tar(tarfile.GNU_FORMAT)))
    yield "swift-foreign", b"\1" + gzip.compress(tar(), mtime=0)
    yield from (("swift-foreign", b"\3" + bytes(data)) for data in (zip_tree(), zip_tree(out=OneWay()), wide_zip()))
    yield from (("swift-foreign", b"\4" + data) for data in (plain, asset_pack()))
    yield from (("swift-foreign", b"\5" + data) for data in (
        blocks(b"e", plain, lzfse), blocks(b"e", plain, lzvn), blocks(b"4", plain, lz4_frames), blocks(b"z", plain, raw_deflate), blocks(b"x", plain, xz)))
    if shutil.which("zstd"):
        framed = subprocess.run(["zstd", "-q", "-c"], input=tar(), capture_output=True, check=True).stdout
        yield "streams", b"\2\5\5" + framed
        yield "swift-foreign", b"\2" + framed


def write_seeds(folder):
    for number, (target, data) in enumerate(seeds()):
        os.makedirs(os.path.join(folder, target), exist_ok=True)
        with open(os.path.join(folder, target, f"foreign-{number}"), "wb") as out:
            out.write(data)


def main():
    if sys.argv[1] == "--seeds":
        write_seeds(sys.argv[2])
        return
    for name, files in (("good", good), ("hostile", hostile), ("decoders", decoders)):
        folder = os.path.join(sys.argv[1], name)
        os.makedirs(folder, exist_ok=True)
        for file, data in files().items():
            with open(os.path.join(folder, file), "wb") as out:
                out.write(data)
    tree = os.path.join(sys.argv[1], "tree")
    for path, data in TREE.items():
        target = os.path.join(tree, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as out:
            out.write(data)
        os.chmod(target, 0o755 if path == EXECUTABLE else 0o644)
    os.symlink(TARGET, os.path.join(tree, LINK))


if __name__ == "__main__":
    main()
