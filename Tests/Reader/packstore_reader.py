#!/usr/bin/env python3
"""A second reader of stores, written from Docs/FORMAT.md alone; it shares no code with the core.

    packstore_reader.py STORE... [--json] [--extract FOLDER] [--cuts] [--boot-id HEX]
    packstore_reader.py --catalog FOLDER [--average N]
    packstore_reader.py --attributes FILE

It follows the sections of that page in their order, prefers the plain way to the fast one, and checks all that the page
demands: of a reader (`Corrupt` is raised), and of a writer (noted as `unmet`). Every asset is read twice: by the records
of the runs, and by catalog and layout. With --cuts, assets are cut again and catalogs are computed from their bytes.
--catalog prints the identity that a folder would have; --attributes prints that of each line of FILE as attributes, or `corrupt`. Exit: 0 whole, 1 damaged, 2 wrong usage.

XXH3 and zstd come from the system's libraries by ctypes, as they do for the core: both are specified elsewhere, and the
packages that the core needs bring them, so that nothing more has to be installed.

Memory: files are mapped; a frame is at most 16 MiB; tables of names grow with the records that files really hold.
"""
import argparse
import collections
import ctypes
import ctypes.util
import hashlib
import json
import mmap
import os
import re
import stat
import struct
import sys

PAGE = 4096
FRAME_MAX = 16777216
DICTIONARY_MAX, DICTIONARIES_MAX = 131072, 64
TREE_PAGE_MAX = 65536
TREE_LEVELS_MAX = 12
KIND_ABSENT, KIND_FILE, KIND_LINK, KIND_FOLDER = 0, 1, 2, 3
KIND_NAMES = {KIND_FILE: "file", KIND_LINK: "link", KIND_FOLDER: "folder"}
M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


class Corrupt(Exception):
    def __init__(self, place, what):
        super().__init__(f"{place}: {what}")


def demand(condition, place, what):
    if not condition:
        raise Corrupt(place, what)


# --- 1, 3: notation, sums -------------------------------------------------------------------------------------------

FORMAT = 1  # version 1, no features
EPOCHS = 1 << 16  # a feature of generations: floors have an epoch and a number that was taken back
WRITERS = 24  # features from this bit on concern writers


def check_format(format_, place):
    demand(format_ & 0xffff != 0, place, "a draft of the format")
    demand(format_ == FORMAT, place, "newer format")


def load(name, fallback):
    return ctypes.CDLL(ctypes.util.find_library(name) or fallback)


_xxhash = load("xxhash", "libxxhash.so.0")
_xxhash.XXH3_64bits.restype = ctypes.c_uint64
_xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
_xxhash.XXH3_64bits_withSecret.restype = ctypes.c_uint64
_xxhash.XXH3_64bits_withSecret.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
_zstd = load("zstd", "libzstd.so.1")
_zstd.ZSTD_decompress.restype = ctypes.c_size_t
_zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
_zstd.ZSTD_createDCtx.restype = ctypes.c_void_p
_zstd.ZSTD_decompress_usingDict.restype = ctypes.c_size_t
_zstd.ZSTD_decompress_usingDict.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                            ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
_zstd_context = _zstd.ZSTD_createDCtx()
_zstd.ZSTD_isError.restype = ctypes.c_uint
_zstd.ZSTD_isError.argtypes = [ctypes.c_size_t]


def sum64(data):
    data = bytes(data)
    return _xxhash.XXH3_64bits(data, len(data))


def siphash(a, b, message):
    """SipHash-1-3 with the key words a and b."""
    def left(value, bits):
        return (value << bits | value >> (64 - bits)) & M64

    def mix(v0, v1, v2, v3):
        v0, v2 = (v0 + v1) & M64, (v2 + v3) & M64
        v1, v3 = left(v1, 13) ^ v0, left(v3, 16) ^ v2
        v0 = (left(v0, 32) + v3) & M64
        v2 = (v2 + v1) & M64
        v3, v1 = left(v3, 21) ^ v0, left(v1, 17) ^ v2
        return v0, v1, left(v2, 32), v3

    state = a ^ 0x736F6D6570736575, b ^ 0x646F72616E646F6D, a ^ 0x6C7967656E657261, b ^ 0x7465646279746573
    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) & 0xFF])
    for at in range(0, len(padded), 8):
        word = le(padded, at, 8)
        v0, v1, v2, v3 = mix(state[0], state[1], state[2], state[3] ^ word)
        state = v0 ^ word, v1, v2, v3
    state = state[0], state[1], state[2] ^ 0xFF, state[3]
    for _ in range(3):
        state = mix(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


class PathHash:
    """What places paths in the buckets of a store's runs."""

    def __init__(self, path_key):
        words = [siphash(le(path_key, 0, 8), le(path_key, 8, 8), path_key[16:] + struct.pack("<Q", i)) for i in range(26)]
        self.secret, self.long_key = struct.pack("<24Q", *words[:24]), words[24:]

    def __call__(self, path):
        if len(path) > 240:
            return siphash(*self.long_key, path)
        return _xxhash.XXH3_64bits_withSecret(path, len(path), self.secret, len(self.secret))


def sha256(data):
    return hashlib.sha256(data).digest()


def le(data, offset, count):
    return int.from_bytes(data[offset:offset + count], "little")


def varint_bytes(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Bytes:
    """Takes values off the front of bytes; running out is corruption."""

    def __init__(self, data, place):
        self.data, self.at, self.place = data, 0, place

    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        demand(count <= self.left(), self.place, f"ends within a value at {self.at}")
        self.at += count
        return bytes(self.data[self.at - count:self.at])

    def uint(self, count):
        return int.from_bytes(self.take(count), "little")

    def sint(self, count):
        return int.from_bytes(self.take(count), "little", signed=True)

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            demand(shift < 63 or byte <= 1, self.place, "varint above 64 bits")
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                demand(byte != 0 or shift == 7, self.place, "varint in a longer form")
                return value


class File:
    """A file as mapped bytes."""

    def __init__(self, path):
        self.place = os.path.join(os.path.basename(os.path.dirname(path)), os.path.basename(path))
        try:
            with open(path, "rb") as file:
                demand(stat.S_ISREG(os.fstat(file.fileno()).st_mode), self.place, "not a file")
                self.size = os.fstat(file.fileno()).st_size
                self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else b""
        except OSError as error:
            raise Corrupt(self.place, error.strerror) from error

    @classmethod
    def if_there(cls, path):
        """The file, or one without bytes."""
        if os.path.exists(path):
            return cls(path)
        nothing = cls.__new__(cls)
        nothing.place, nothing.size, nothing.data = path, 0, b""
        return nothing

    def close(self):
        if self.size:
            self.data.close()


# --- 4: chunker -----------------------------------------------------------------------------------------------------

def gear():
    state, table = 0x5061636B53746F72, []
    for _ in range(256):
        state = (state + 0x9E3779B97F4A7C15) & M64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
        table.append((z ^ (z >> 31)) >> 32)
    return table


GEAR = gear()


class Cutter:
    """Bytes in, chunks out. Holds at most one chunk."""

    def __init__(self, average):
        self.minimum, self.maximum = average // 2, 4 * average
        self.threshold = 2 ** 32 // (average - self.minimum)
        self.chunk, self.hash = bytearray(), 0

    def feed(self, data):
        for byte in data:
            if len(self.chunk) == self.maximum:  # The asset goes on beyond it.
                yield self.flush()
            self.chunk.append(byte)
            self.hash = (2 * self.hash + GEAR[byte]) & M32
            if self.hash < self.threshold and len(self.chunk) >= self.minimum:
                yield self.flush()

    def flush(self):
        chunk, self.chunk, self.hash = bytes(self.chunk), bytearray(), 0
        return chunk

    def finish(self):
        if self.chunk:
            yield self.flush()


# --- 5: frames ------------------------------------------------------------------------------------------------------

def check_zstd_frame(data, raw_length, place):
    """One standard frame, with its size, without the ID of a dictionary, its window within its content, as long as the bytes."""
    demand(data[:4] == b"\x28\xb5\x2f\xfd", place, "not a zstd frame")
    reader = Bytes(data, place)
    reader.take(4)
    descriptor = reader.uint(1)
    single, checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
    demand(not descriptor & 8, place, "reserved bit of a zstd frame")
    window = None
    if not single:
        byte = reader.uint(1)
        base = 1 << (10 + (byte >> 3))
        window = base + base // 8 * (byte & 7)
    demand(reader.uint((0, 1, 2, 4)[descriptor & 3]) == 0, place, "zstd frame that names a dictionary")
    size_bytes = (single, 2, 4, 8)[descriptor >> 6]
    demand(size_bytes, place, "zstd frame without its content's size")
    size = reader.uint(size_bytes) + (256 if size_bytes == 2 else 0)
    demand(size == raw_length, place, "zstd frame of another length")
    demand(window is None or window <= size, place, "zstd frame whose window is larger than its content")
    last = False
    while not last:
        header = reader.uint(3)
        last, kind = header & 1, header >> 1 & 3
        demand(kind != 3, place, "reserved block of a zstd frame")
        reader.take(1 if kind == 1 else header >> 3)
    reader.take(4 if checksum else 0)
    demand(reader.left() == 0, place, "bytes after the zstd frame")


def decode_frame(stored, codec, raw_length, sum_, place, dictionary=b""):
    """`dictionary`: the bytes of the one that a codec above 1 names."""
    demand(sum64(stored) == sum_, place, "sum of a frame")
    demand(codec in (0, 1) or dictionary, place, f"codec {codec}")
    if codec == 0:
        demand(len(stored) == raw_length, place, "raw frame of another length")
        return stored
    check_zstd_frame(stored, raw_length, place)
    raw = ctypes.create_string_buffer(raw_length)
    length = _zstd.ZSTD_decompress_usingDict(
        _zstd_context, raw, raw_length, stored, len(stored), dictionary, len(dictionary))
    demand(not _zstd.ZSTD_isError(length) and length == raw_length, place, "zstd frame cannot be decoded")
    return raw.raw


def check_frame_numbers(codec, stored, raw, place):
    demand(codec < 2 + DICTIONARIES_MAX, place, f"codec {codec}")
    demand(1 <= raw <= FRAME_MAX and 1 <= stored <= raw, place, "lengths of a frame")
    demand(codec or stored == raw, place, "lengths of a raw frame")


# --- 6: tables ------------------------------------------------------------------------------------------------------

class Table:
    SEGMENT, RUN = 1, 2

    def __init__(self, file, kind, is_apart=False):
        self.file, place = file, file.place
        demand(file.size >= 64, place, "too short for a table")
        trailer = bytes(file.data[file.size - 64:])
        (magic, version, found_kind, self.offset, self.length, file_length, sum_of_groups, reserved, self.sum) = \
            struct.unpack("<8sIIQQQQQQ", trailer)
        demand(magic == b"PKSTABLE", place, "no table at its end")
        check_format(version, place)
        demand(self.sum == sum64(trailer[:56]), place, "sum of the trailer")
        demand(found_kind == kind, place, "kind of the table")
        demand(self.length and self.length % PAGE == 0 and self.offset % PAGE == 0, place, "place of the body")
        pages = self.length // PAGE
        groups = (pages + 511) // 512
        self.file_length, self.begin = file_length, self.offset
        if is_apart:  # the end of the file alone, from the body on
            demand(file.size == file_length - self.offset, place, "not what lies behind the frames")
            self.begin = 0
        demand(self.begin + self.length + 8 * pages + 8 * groups + 64 == file.size, place, "body, sums and trailer do not fill the file")
        demand(self.offset + file.size - self.begin == file_length, place, "length of the file")
        sums_at = self.begin + self.length
        page_sums = bytes(file.data[sums_at:sums_at + 8 * pages])
        group_sums = bytes(file.data[sums_at + 8 * pages:sums_at + 8 * pages + 8 * groups])
        demand(sum64(group_sums) == sum_of_groups, place, "sum of the group sums")
        for group in range(groups):
            demand(sum64(page_sums[4096 * group:4096 * (group + 1)]) == le(group_sums, 8 * group, 8), place, "group sum")
        for page in range(pages):
            data = file.data[self.begin + page * PAGE:self.begin + (page + 1) * PAGE]
            demand(sum64(data) == le(page_sums, 8 * page, 8), place, f"sum of page {page}")
        self.reserved = reserved

    def get(self, offset, count):
        """Bytes of the body."""
        demand(offset + count <= self.length, self.file.place, f"reaches beyond the table: {offset} + {count}")
        return bytes(self.file.data[self.begin + offset:self.begin + offset + count])

    def uint(self, offset, count):
        return int.from_bytes(self.get(offset, count), "little")

    def section(self, offset, length):
        demand(offset % 64 == 0, self.file.place, f"section at {offset}")
        demand(offset + length <= self.length, self.file.place, f"section {offset} + {length} reaches beyond the table")


# --- 7: segments ----------------------------------------------------------------------------------------------------

Frame = collections.namedtuple("Frame", "offset codec stored raw sum")


class Segment:
    DATA, METADATA = 1, 2

    def __init__(self, root, name, cache=None):
        durable = os.path.join(root, "segments", name.hex())
        self.is_purgeable = not os.path.exists(durable) and os.path.exists(os.path.join(root, "tables", name.hex()))
        if self.is_purgeable:
            tail = File(os.path.join(root, "tables", name.hex()))
            self.table = table = Table(tail, Table.SEGMENT, is_apart=True)
            self.file = File.if_there(os.path.join(cache, "segments", name.hex()) if cache else "")
        else:
            self.file = File(durable)
            self.table = table = Table(self.file, Table.SEGMENT)
        self.place, self.id = table.file.place, name
        demand(hashlib.sha256(table.get(0, table.length)).digest()[:16] == name, self.place, "not named by its table")
        check_format(table.uint(0, 4), self.place)
        self.kind, self.frame_count, self.chunk_count = table.uint(4, 4), table.uint(8, 4), table.uint(12, 4)
        self.rows_at, self.ids_at, self.ends_at = table.uint(16, 8), table.uint(24, 8), table.uint(32, 8)
        self.frames_end = table.uint(40, 8)
        demand(self.kind in (1, 2), self.place, "kind of a segment")
        table.section(self.rows_at, 24 * self.frame_count)
        table.section(self.ids_at, 32 * self.chunk_count)
        table.section(self.ends_at, 4 * self.chunk_count)
        self.dictionaries_at, self.dictionary_count = table.uint(48, 8), table.uint(56, 4)
        demand(self.dictionary_count <= (DICTIONARIES_MAX if self.kind == self.DATA else 0), self.place, "dictionaries")
        table.section(self.dictionaries_at, 56 * self.dictionary_count)
        demand(64 <= self.frames_end <= table.offset, self.place, "end of the frames")
        self.cache = {}
        self.firsts = [table.uint(self.rows_at + 24 * row + 12, 4) for row in range(self.frame_count)]
        ends = self.firsts[1:] + [self.chunk_count]
        demand(all(a < b for a, b in zip(self.firsts, ends)), self.place, "first chunks do not rise")
        demand(self.firsts[:1] in ([], [0]) and (self.firsts or not self.chunk_count), self.place, "first chunk is not 0")

    def chunks_of(self, frame):
        return self.firsts[frame], self.firsts[frame + 1] if frame + 1 < self.frame_count else self.chunk_count

    def id_of(self, chunk):
        return self.table.get(self.ids_at + 32 * chunk, 32)

    def end_of(self, chunk):
        return self.table.uint(self.ends_at + 4 * chunk, 4)

    def frame(self, number):
        demand(number < self.frame_count, self.place, f"no frame {number}")
        row = self.table.get(self.rows_at + 24 * number, 24)
        first, end = self.chunks_of(number)
        begin = 0
        for chunk in range(first, end):
            demand(begin < self.end_of(chunk), self.place, f"ends of frame {number} do not rise")
            begin = self.end_of(chunk)
        frame = Frame(le(row, 0, 7), row[7], le(row, 8, 4), begin, le(row, 16, 8))
        check_frame_numbers(frame.codec, frame.stored, frame.raw, self.place)
        demand(64 <= frame.offset and frame.offset + frame.stored <= self.frames_end, self.place,
               f"frame {number} lies outside of the frames")
        return frame

    def dictionary(self, number):
        """(offset, stored bytes, bytes): where dictionary `number` lies, and what it is."""
        demand(number < self.dictionary_count, self.place, f"no dictionary {number}")
        row = self.table.get(self.dictionaries_at + 56 * number, 56)
        offset, codec, length, raw, sum_ = le(row, 0, 7), row[7], le(row, 8, 4), le(row, 12, 4), le(row, 16, 8)
        place = f"{self.place}: dictionary {number}"
        demand(codec in (0, 1) and 8 <= raw <= DICTIONARY_MAX and 1 <= length <= raw, place, "lengths")
        demand(64 <= offset and offset + length <= self.frames_end, place, "lies outside of the frames")
        stored = bytes(self.file.data[offset:offset + length])
        data = decode_frame(stored, codec, raw, sum_, place)
        demand(sha256(data) == row[24:], place, "SHA-256")
        return offset, stored, data

    def frame_of_chunk(self, chunk):
        low, high = 0, self.frame_count
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.firsts[middle] <= chunk else (low, middle)
        return low

    def raw_bytes(self, frame):
        """Of a frame by its row; remembers the last one."""
        key = (frame.offset, frame.codec, frame.stored, frame.raw, frame.sum)
        if key not in self.cache:
            stored = bytes(self.file.data[frame.offset:frame.offset + frame.stored])
            dictionary = self.dictionary(frame.codec - 2)[2] if frame.codec > 1 else b""
            place = f"{self.place} at {frame.offset}"
            self.cache = {key: decode_frame(stored, frame.codec, frame.raw, frame.sum, place, dictionary)}
        return self.cache[key]

    def chunk(self, number):
        frame = self.frame_of_chunk(number)
        begin = 0 if number == self.firsts[frame] else self.end_of(number - 1)
        data = self.raw_bytes(self.frame(frame))[begin:self.end_of(number)]
        demand(sha256(data) == self.id_of(number), self.place, f"SHA-256 of chunk {number}")
        return data

    def check(self, unmet):
        """Every frame and every chunk, and what a writer has to keep."""
        header = bytes(self.file.data[:64])
        expected = b"PKSSEGM0" + struct.pack("<II", FORMAT, self.kind) + bytes(48)
        if header != expected:
            unmet.append(f"{self.place}: header")
        end = 64
        dictionaries = [self.dictionary(number)[:2] for number in range(self.dictionary_count)]
        demand(dictionaries == sorted(dictionaries), self.place, "dictionaries are not in order")
        for number in range(self.frame_count):
            frame = self.frame(number)
            while dictionaries and dictionaries[0][0] < frame.offset:
                end = self.pass_dictionary(dictionaries.pop(0), end, unmet)
            demand(frame.offset >= end, self.place, f"frame {number} is not in order")
            if frame.offset - end > 4095 or any(self.file.data[end:frame.offset]):
                unmet.append(f"{self.place}: padding before frame {number}")
            end = frame.offset + frame.stored
            first, last = self.chunks_of(number)
            for chunk in range(first, last):
                self.chunk(chunk)
            if self.kind == self.METADATA and last - first != 1:
                unmet.append(f"{self.place}: frame {number} holds more than one page")
        for dictionary in dictionaries:
            end = self.pass_dictionary(dictionary, end, unmet)
        if end != self.frames_end and self.frame_count:
            unmet.append(f"{self.place}: end of the frames")
        if any(self.file.data[end:self.table.offset]) or self.table.offset - end > 4095:
            unmet.append(f"{self.place}: padding after the frames")
        self.check_zeros(unmet)

    def pass_dictionary(self, dictionary, end, unmet):
        offset, stored = dictionary
        demand(offset >= end, self.place, f"the dictionary at {offset} is not in order")
        if any(self.file.data[end:offset]):
            unmet.append(f"{self.place}: padding before the dictionary at {offset}")
        return offset + len(stored)

    def check_zeros(self, unmet):
        if self.table.uint(60, 4):
            unmet.append(f"{self.place}: reserved field")
        used = sorted([(0, 64), (self.rows_at, 24 * self.frame_count), (self.ids_at, 32 * self.chunk_count),
                       (self.ends_at, 4 * self.chunk_count), (self.dictionaries_at, 56 * self.dictionary_count)])
        note_gaps(self.table, used, unmet)


def note_gaps(table, used, unmet):
    """Whatever lies between the sections of a table is zeros, and sections do not overlap."""
    if table.reserved:
        unmet.append(f"{table.file.place}: reserved field of the trailer")
    at = 0
    for offset, length in used + [(table.length, 0)]:
        if offset < at and length:
            unmet.append(f"{table.file.place}: sections overlap at {offset}")
        elif any(table.get(at, max(0, offset - at))):
            unmet.append(f"{table.file.place}: padding before {offset}")
        at = max(at, offset + length)


# --- 8: page trees --------------------------------------------------------------------------------------------------

MAP, LIST = 1, 2
SPLIT_STEP = 2251799813685247


def read_tree_page(page, place):
    """(kind, level, row bytes, items): items are (key, body), where the body of an inner page is (id, count)."""
    demand(len(page) <= TREE_PAGE_MAX, place, "page of a tree is too long")
    reader = Bytes(page, place)
    kind, level, row, count = reader.uint(1), reader.uint(1), reader.uint(2), reader.uint(4)
    demand(kind in (MAP, LIST), place, "kind of a page")
    demand(kind == LIST or row == 0, place, "bytes of a row in a map")
    items, previous = [], None
    for _ in range(count):
        key = None
        if kind == MAP:
            shared, further = reader.varint(), reader.varint()
            demand(shared <= len(previous or b"") and shared + further <= 4095, place, "shared bytes of a key")
            key = (previous or b"")[:shared] + reader.take(further)
            demand(previous is None or key > previous, place, "keys do not rise")
            common = os.path.commonprefix([previous or b"", key])
            demand(shared == len(common), place, "shared bytes are not the most possible")
            previous = key
        if level:
            body = (reader.take(32), reader.uint(8))
        elif kind == MAP:
            length = reader.varint()
            demand(length <= 8192, place, "value is too long")
            body = reader.take(length)
        else:
            demand(row > 0, place, "rows of no bytes")
            body = reader.take(row)
        items.append((key, body))
    demand(reader.left() == 0, place, "bytes after the last item of a page")
    return kind, level, row, items


def walk_tree(load_page, root, height, kind, row, visit=None):
    """Yields (key, body) of all leaf items. `load_page` maps an id to bytes."""

    def walk(page_id, level, last_key, count, is_root):
        place = f"page {page_id.hex()}"
        found_kind, found_level, found_row, items = read_tree_page(load_page(page_id), place)
        demand(found_kind == kind and found_level == level, place, "kind or level")
        demand(kind == MAP or found_row == row, place, "bytes of a row")
        demand(items or (is_root and level == 0), place, "page without items")
        demand(last_key is None or items[-1][0] == last_key, place, "last key is not what the page above says")
        if visit:
            visit(page_id)
        below = 0
        for key, body in items:
            if level == 0:
                below += 1
                yield key, body
            else:
                below += body[1]
                yield from walk(body[0], level - 1, key, body[1], False)
        demand(count is None or below == count, place, "number of items below")

    demand(height < TREE_LEVELS_MAX, "tree", "too many levels")
    previous = None
    for key, body in walk(root, height, None, None, True):
        demand(kind == LIST or previous is None or key > previous, "tree", "keys do not rise from page to page")
        previous = key
        yield key, body


class TreeBuilder:
    """Builds a tree of the items it is given, for its ids."""

    def __init__(self, kind, row=0):
        self.kind, self.row, self.levels = kind, row, []

    def append(self, key, body, level=0, count=1):
        if level == len(self.levels):
            self.levels.append({"items": b"", "n": 0, "below": 0, "key": b"", "ended": False})
        page = self.levels[level]
        item = b""
        if self.kind == MAP:
            shared = len(os.path.commonprefix([page["key"], key])) if page["n"] else 0
            item = varint_bytes(shared) + varint_bytes(len(key) - shared) + key[shared:]
            if level == 0:
                item += varint_bytes(len(body))
        item += body
        page["items"] += item
        page["n"] += 1
        page["below"] += count
        page["key"] = key
        length = 8 + len(page["items"])
        hash_ = sum64(body) if self.kind == LIST else ((sum64(body) ^ sum64(key)) * 0x9E3779B97F4A7C15) & M64
        if length >= 32768 or (length >= 2048 and hash_ < min(len(item), 8192) * SPLIT_STEP):
            self.end_page(level)

    def page_bytes(self, level):
        page = self.levels[level]
        return struct.pack("<BBHI", self.kind, level, self.row, page["n"]) + page["items"]

    def end_page(self, level):
        page = self.levels[level]
        id_ = sha256(self.page_bytes(level))
        key, below = page["key"], page["below"]
        page.update(items=b"", n=0, below=0, key=b"", ended=True)
        self.append(key, id_ + struct.pack("<Q", below), level + 1, below)

    def finish(self):
        """(id of the root, height)"""
        if not self.levels:
            return sha256(struct.pack("<BBHI", self.kind, 0, self.row, 0)), 0
        level = 0
        while self.levels[level]["ended"]:
            if self.levels[level]["n"]:
                self.end_page(level)
            level += 1
        if level and self.levels[level]["n"] == 1:
            return self.levels[level]["items"][-40:-8], level - 1
        return sha256(self.page_bytes(level)), level


# --- 9: catalogs ----------------------------------------------------------------------------------------------------

INLINE_ROWS = 64
Entry = collections.namedtuple("Entry", "kind executable size count rows height list target")


def read_catalog_entry(value, place):
    reader = Bytes(value, place)
    first = reader.uint(1)
    kind, listed = first & 3, first & 8
    demand(not first & 0xF0 and kind, place, "first byte of a catalog's value")
    demand(kind == KIND_FILE or not first & 0x0C, place, "bits of a file in an entry that is none")
    if kind == KIND_LINK:
        check_link_target(value[1:], place)
        return Entry(kind, False, len(value) - 1, 0, None, 0, None, value[1:])
    if kind == KIND_FOLDER:
        demand(reader.left() == 0, place, "bytes after a folder")
        return Entry(kind, False, 0, 0, None, 0, None, None)
    size, count = reader.varint(), reader.varint()
    demand(bool(listed) == (count > INLINE_ROWS), place, "rows in a list or not")
    demand((size == 0) == (count == 0), place, "rows of an empty file")
    rows = height = list_ = None
    if listed:
        height, list_ = reader.uint(1), reader.take(32)
    else:
        rows = [reader.take(36) for _ in range(count)]
    demand(reader.left() == 0, place, "bytes after an entry")
    return Entry(kind, bool(first & 4), size, count, rows, height, list_, None)


def catalog_value(entry, rows):
    """The value as a writer has to write it; `rows` is a list of 36-byte rows."""
    first = entry.kind | (4 if entry.executable else 0)
    if entry.kind == KIND_LINK:
        return bytes([first]) + entry.target
    if entry.kind == KIND_FOLDER:
        return bytes([first])
    numbers = varint_bytes(entry.size) + varint_bytes(len(rows))
    return bytes([first | (8 if len(rows) > INLINE_ROWS else 0)]) + numbers + rows_or_list(rows, 36)


def rows_or_list(rows, length):
    if len(rows) <= INLINE_ROWS:
        return b"".join(rows)
    tree = TreeBuilder(LIST, length)
    for row in rows:
        tree.append(b"", row)
    root, height = tree.finish()
    return bytes([height]) + root


class CatalogBuilder:
    """The catalog of entries given in order of their paths."""

    def __init__(self, average):
        self.average, self.tree = average, TreeBuilder(MAP)
        self.counts, self.bytes = collections.Counter(), 0

    def append(self, path, entry, rows):
        self.tree.append(path, catalog_value(entry, rows))
        self.counts[entry.kind] += 1
        self.bytes += entry.size if entry.kind == KIND_FILE else 0

    def finish(self):
        root, height = self.tree.finish()
        page = b"PKSC" + struct.pack("<IIIQQQQ", FORMAT, self.average, height, self.counts[KIND_FILE],
                                     self.counts[KIND_LINK], self.counts[KIND_FOLDER], self.bytes) + root
        return sha256(page)


class Catalog:
    def __init__(self, load_page, root):
        page, place = load_page(root), f"catalog {root.hex()}"
        demand(len(page) == 80 and page[:4] == b"PKSC", place, "not the root of a catalog")
        check_format(le(page, 4, 4), place)
        self.average, self.height, self.files, self.links, self.folders, self.bytes = struct.unpack_from("<IIQQQQ", page, 8)
        self.map, self.load_page, self.place = page[48:], load_page, place
        check_average(self.average, place)

    def entries(self, visit=None):
        """Yields (path, entry, rows)."""
        counts, total = collections.Counter(), 0
        for path, value in walk_tree(self.load_page, self.map, self.height, MAP, 0, visit):
            check_path(path, self.place)
            place = f"{self.place} {path!r}"
            entry = read_catalog_entry(value, place)
            rows = entry.rows or []
            if entry.list:
                rows = [row for _, row in walk_tree(self.load_page, entry.list, entry.height, LIST, 36, visit)]
                demand(len(rows) == entry.count, place, "number of rows")
            if entry.kind == KIND_FILE:
                demand(sum(le(row, 32, 4) for row in rows) == entry.size, place, "lengths do not add up to the size")
                demand(all(le(row, 32, 4) for row in rows), place, "chunk without bytes")
                total += entry.size
            counts[entry.kind] += 1
            yield path, entry, rows
        found = (counts[KIND_FILE], counts[KIND_LINK], counts[KIND_FOLDER], total)
        demand(found == (self.files, self.links, self.folders, self.bytes), self.place, "totals")


# --- 10: layouts ----------------------------------------------------------------------------------------------------

class Layout:
    def __init__(self, load_page, root):
        page, place = load_page(root), f"layout {root.hex()}"
        demand(len(page) >= 80 and page[:4] == b"PKSL", place, "not the root of a layout")
        check_format(le(page, 4, 4), place)
        self.catalog, self.map = page[8:40], page[40:72]
        self.height, count = struct.unpack_from("<II", page, 72)
        demand(len(page) >= 124, place, "too short")
        self.version, self.attributes, name_length = struct.unpack_from("<Q32sI", page, 80)
        demand(len(page) == 124 + name_length + 16 * count, place, "number of segments")
        self.pack = page[124:124 + name_length]
        at = 124 + name_length
        self.segments = [page[at + 16 * i:at + 16 * (i + 1)] for i in range(count)]
        demand(len(set(self.segments)) == count, place, "a segment is named twice")
        self.load_page, self.place = load_page, place

    def entries(self, visit=None):
        """Yields (path, is map, extents); an extent is (segment id, frame, skip, length)."""
        for path, value in walk_tree(self.load_page, self.map, self.height, MAP, 0, visit):
            check_path(path, self.place)
            place = f"{self.place} {path!r}"
            reader = Bytes(value, place)
            flags, count = reader.uint(1), reader.varint()
            demand(not flags & ~24, place, "flags of a layout's value")
            demand(count, place, "no extents")
            demand(bool(flags & 8) == (count > INLINE_ROWS), place, "extents in a list or not")
            demand(not flags & 16 or count == 1, place, "map asset of several extents")
            if flags & 8:
                height, list_ = reader.uint(1), reader.take(32)
                rows = [row for _, row in walk_tree(self.load_page, list_, height, LIST, 32, visit)]
                demand(len(rows) == count, place, "number of extents")
            else:
                rows = [reader.take(32) for _ in range(count)]
            demand(reader.left() == 0, place, "bytes after an entry")
            yield path, bool(flags & 16), [(row[:16], le(row, 16, 4), le(row, 20, 4), le(row, 24, 8)) for row in rows]


def layout_tree(entries):
    tree = TreeBuilder(MAP)
    for path, is_map, extents in entries:
        rows = [segment + struct.pack("<IIQ", frame, skip, length) for segment, frame, skip, length in extents]
        flags = (16 if is_map else 0) | (8 if len(rows) > INLINE_ROWS else 0)
        tree.append(path, bytes([flags]) + varint_bytes(len(rows)) + rows_or_list(rows, 32))
    return tree.finish()


# --- 11: runs -------------------------------------------------------------------------------------------------------

Record = collections.namedtuple("Record", "path pack kind executable contiguous is_map followed size extents target offset run")


class Run:
    def __init__(self, folder, name):
        self.file = File(os.path.join(folder, f"{name:016x}.run"))
        self.place = self.file.place
        self.table = table = Table(self.file, Table.RUN)
        demand(table.offset == 0, self.place, "body does not begin the file")
        header = table.get(0, 128)
        (version, self.packs, self.record_count, self.salt, self.frame_count, self.segment_count, self.bits, self.bucket_count,
         self.buckets_at, self.records_at, self.records_length, self.starts_at, self.folders_at, self.folders_length,
         self.frames_at, self.segments_at, self.directory_at, self.chunks_at, self.chunk_count) = \
            struct.unpack("<IIQIIII12Q", header)
        check_format(version, self.place)
        demand(self.frame_count < M32 and self.bits <= 28 and 1 <= self.bucket_count <= M32, self.place, "numbers of a run")
        demand(self.records_length < 2 ** 36 and self.chunk_count <= M32, self.place, "numbers of a run")
        demand(self.folders_length <= M32, self.place, "length of the folders")
        self.sections = [(0, 128), (self.buckets_at, 64 * self.bucket_count), (self.records_at, self.records_length),
                         (self.starts_at, 2 * (self.records_length // PAGE + 1)), (self.folders_at, self.folders_length),
                         (self.frames_at, 32 * (self.frame_count + 1)), (self.segments_at, 32 * self.segment_count),
                         (self.directory_at, 4 * (2 ** self.bits + 1)), (self.chunks_at, 8 * self.chunk_count)]
        for offset, length in self.sections:
            table.section(offset, length)
        self.read_segments()

    def read_segments(self):
        self.segments, first = [], 0
        for row in range(self.segment_count):
            data = self.table.get(self.segments_at + 32 * row, 32)
            count, length, kind = le(data, 20, 4), le(data, 24, 7), data[31]
            demand(le(data, 16, 4) == first, self.place, "first chunks are not running sums")
            demand(kind in (1, 2), self.place, "kind of a segment")
            self.segments.append((data[:16], first, count, length, kind))
            first += count
        demand(first == self.chunk_count, self.place, "chunks of segments are not the chunks of the run")

    def frame(self, number):
        """(segment's number in this run, frame)"""
        demand(number < self.frame_count, self.place, f"no frame {number}")
        row = self.table.get(self.frames_at + 32 * number, 40)
        raw = le(row, 32, 8) - le(row, 0, 8)
        segment = le(row, 20, 4)
        demand(segment < self.segment_count, self.place, f"segment of frame {number}")
        frame = Frame(le(row, 8, 7), row[15], le(row, 16, 4), raw, le(row, 24, 8))
        check_frame_numbers(frame.codec, frame.stored, frame.raw, self.place)
        demand(frame.offset + frame.stored <= self.segments[segment][3], self.place, f"frame {number} outside of its file")
        return segment, frame

    def folder(self, offset):
        demand(offset + 2 <= self.folders_length, self.place, "folder outside of the folders")
        length = self.table.uint(self.folders_at + offset, 2)
        demand(offset + 2 + length <= self.folders_length, self.place, "folder reaches beyond the folders")
        return self.table.get(self.folders_at + offset + 2, length)

    def records(self):
        """All of them, in order."""
        data = Bytes(self.table.get(self.records_at, self.records_length), f"{self.place} records")
        previous, count = None, 0
        while data.left():
            record = self.read_record(data)
            demand(previous is None or (previous.path, previous.pack) < (record.path, record.pack), self.place,
                   f"records are not in order at {record.path!r}")
            if previous:
                demand(previous.followed == (previous.path == record.path), self.place, f"flag 16 before {record.path!r}")
            yield record
            previous, count = record, count + 1
        demand(not (previous and previous.followed), self.place, "flag 16 of the last record")
        demand(count == self.record_count, self.place, "number of records")

    def read_record(self, data):
        at = data.at
        kind, flags, pack, name_length, folder_at = (data.uint(n) for n in (1, 1, 2, 2, 4))
        size, field = data.uint(8), data.take(8)
        name = data.take(name_length)
        folder = self.folder(folder_at)
        path = folder + b"/" + name if folder else name
        place = f"{self.place} record {path!r}"
        check_path(path, place)
        demand(b"/" not in name, place, "slash in a name")
        demand(kind <= 3 and pack < self.packs, place, "kind or pack of a record")
        demand(not flags & 0xE0 and (kind == KIND_FILE or not flags & 15), place, "flags")
        extents, target = [], None
        count = le(field, 0, 8)
        if kind == KIND_LINK:
            demand(count == 0, place, "link with extents")
            demand(1 <= size <= 4095, place, "length of a link's target")
            target = data.take(size)
            check_link_target(target, place)
        elif kind != KIND_FILE:
            demand(size == 0 and count == 0, place, "size of what has none")
        elif flags & 2:
            demand(size, place, "extent of an empty file")
            extents = [(le(field, 0, 4), le(field, 4, 4), size)]
        else:
            demand(not flags & 12, place, "flags of an asset in several extents")
            demand((count == 0) == (size == 0) and count != 1, place, "number of extents")
            begin = 0
            demand(count * 16 <= data.left(), place, "extents reach beyond the records")
            for _ in range(count):
                frame, skip, end = data.uint(4), data.uint(4), data.uint(8)
                demand(end > begin, place, "ends of extents do not rise")
                extents.append((frame, skip, end - begin))
                begin = end
            demand(begin == size, place, "extents do not end at the size")
        demand(not flags & 8 or flags & 6 == 6, place, "flags of a map asset")
        is_map, followed = bool(flags & 8), bool(flags & 16)
        return Record(path, pack, kind, bool(flags & 1), bool(flags & 4), is_map, followed, size, extents, target, at, self)

    def frames_of(self, extents, place):
        """Yields (segment's number, frame, skip, length) for the parts of extents."""
        for number, skip, length in extents:
            while length:
                segment, frame = self.frame(number)
                demand(skip < frame.raw, place, "skips beyond a frame")
                part = min(length, frame.raw - skip)
                yield segment, frame, skip, part
                length, skip, number = length - part, 0, number + 1

    def slot_offsets(self, path, hash_of):
        """Records that the buckets give for a path."""
        mixed = (hash_of(path) ^ self.salt * 0x9E3779B97F4A7C15 & M64) * 0xD6E8FEB86659FD93 & M64
        bucket = ((mixed >> 32) * self.bucket_count) >> 32
        for step in range(min(32, self.bucket_count)):
            row = self.table.get(self.buckets_at + 64 * ((bucket + step) % self.bucket_count), 64)
            for slot in range(10):
                value = le(row, 6 * slot, 6)
                if value == 0:
                    return
                demand((value & (2 ** 36 - 1)) <= self.records_length, self.place, "slot beyond the records")
                if value >> 36 == mixed >> 20 & 0xFFF:
                    yield (value & (2 ** 36 - 1)) - 1

    def find_chunk(self, id_):
        """Yields (segment's number in this run, chunk's number in that segment) of hints."""
        prefix = int.from_bytes(id_[:8], "big")
        bucket = prefix >> (64 - self.bits) if self.bits else 0
        low, high = (self.table.uint(self.directory_at + 4 * (bucket + i), 4) for i in (0, 1))
        demand(low <= high <= self.chunk_count, self.place, "directory of chunks")
        for row in range(low, high):
            data = self.table.get(self.chunks_at + 8 * row, 8)
            if le(data, 0, 4) == prefix & M32:
                number = le(data, 4, 4)
                demand(number < self.chunk_count, self.place, "number of a chunk")
                segment = next(i for i, (_, first, count, _, _) in enumerate(self.segments) if first <= number < first + count)
                yield segment, number - self.segments[segment][1]

    def check(self, records, segment_of, hash_of, unmet):
        """Buckets, page starts, folders, chunk rows and padding, against the records and the segments."""
        place = self.place
        starts = [0xFFFF] * (self.records_length // PAGE + 1)
        firsts = {record.path: record.offset for record in reversed(records)}
        for record in reversed(records):
            starts[record.offset // PAGE] = record.offset % PAGE
        for path, offset in firsts.items():
            demand(offset in self.slot_offsets(path, hash_of), place, f"{path!r} is not in the buckets")
        found = struct.unpack(f"<{len(starts)}H", self.table.get(self.starts_at, 2 * len(starts)))
        demand(list(found) == starts, place, "page starts")
        self.check_buckets(len(firsts), unmet)
        self.check_chunks(segment_of)
        for number in range(self.frame_count):
            self.frame(number)
        sentinel = self.table.get(self.frames_at + 32 * self.frame_count, 32)
        demand(le(self.table.get(self.frames_at, 8), 0, 8) == 0, place, "raw bytes before the first frame")
        if any(sentinel[8:]):
            unmet.append(f"{place}: sentinel of the frames")
        if {record.pack for record in records} - set(range(self.packs)):
            unmet.append(f"{place}: number of packs")
        note_gaps(self.table, sorted(self.sections), unmet)

    def check_buckets(self, path_count, unmet):
        count = 0
        for bucket in range(self.bucket_count):
            row = self.table.get(self.buckets_at + 64 * bucket, 64)
            slots = [le(row, 6 * slot, 6) for slot in range(10)]
            full = [slot for slot in slots if slot]
            count += len(full)
            if slots[:len(full)] != full or any(row[60:]):
                unmet.append(f"{self.place}: bucket {bucket} is not filled from the first slot on")
        demand(count == path_count, self.place, "slots are not as many as paths")

    def check_chunks(self, segment_of):
        prefixes = []
        for id_, first, count, length, kind in self.segments:
            segment = segment_of(id_) if count else None
            if count and not segment:
                return  # No version needs it any more, and nothing says what its chunks were.
            if not count:
                continue
            demand(segment.chunk_count == count, self.place, "number of a segment's chunks")
            demand((segment.table.file_length, segment.kind) == (length, kind), self.place, "length or kind of a segment")
            prefixes += [int.from_bytes(segment.id_of(chunk)[:8], "big") for chunk in range(count)]
        tops = [prefix >> (64 - self.bits) if self.bits else 0 for prefix in prefixes]
        order = sorted(range(len(prefixes)), key=lambda number: (tops[number], prefixes[number] & M32, number))
        expected = b"".join(struct.pack("<II", prefixes[number] & M32, number) for number in order)
        demand(self.table.get(self.chunks_at, 8 * self.chunk_count) == expected, self.place, "rows of chunks")
        counts = collections.Counter(tops)
        at, directory = 0, bytearray()
        for top in range(2 ** self.bits + 1):
            directory += struct.pack("<I", at)
            at += counts[top]
        demand(self.table.get(self.directory_at, len(directory)) == bytes(directory), self.place, "directory of chunks")


# --- 12: generations ------------------------------------------------------------------------------------------------

RunName = collections.namedtuple("RunName", "name length sum packs")
Version = collections.namedtuple("Version", "number catalog layout attributes committed files links folders bytes flags")
Pack = collections.namedtuple("Pack", "number priority origin held removed purgeable highest name versions")

Origin = collections.namedtuple("Origin", "number kind key product")
Floor = collections.namedtuple("Floor", "origin lowered version sequence serial pack epoch taken_back")


class Generation:
    DURABLE = 8

    def __init__(self, folder, number, slot=None):
        file = File(os.path.join(folder, f"{number:016x}.generation"))
        place = file.place
        data = bytes(file.data)
        file.close()
        self.length, self.sum = len(data), sum64(data)
        if slot:
            demand(self.length == slot.length, place, "length is not what CONTROL says")
            demand(self.sum == slot.sum, place, "sum is not what CONTROL says")
        demand(len(data) >= 204 and sum64(data[:-8]) == le(data, len(data) - 8, 8), place, "sum")
        reader = Bytes(data[:-8], place)
        demand(reader.take(8) == b"PKSGENR0", place, "magic")
        format_ = reader.uint(4) & (1 << WRITERS) - 1
        check_format(format_ & ~EPOCHS, place)
        self.has_epochs = bool(format_ & EPOCHS)
        self.flags, self.lineage = reader.uint(2), reader.uint(2)
        self.number, self.predecessor = reader.uint(8), reader.uint(8)
        self.store_id, self.boot_id, self.path_key = reader.take(16), reader.take(16), reader.take(32)
        demand(not self.flags & ~15, place, "flags")
        demand(self.number == number and 1 <= number < 2 ** 62, place, "number")
        self.base_id, self.base_generation = reader.take(16), reader.uint(8)
        demand(self.base_generation or not any(self.base_id), place, "base")
        self.read_cache_folder(reader, place)
        self.read_origins(reader, place)
        self.next_pack = reader.uint(4)
        self.runs = [self.read_run(reader) for _ in range(self.count(reader, 28))]
        self.packs = [self.read_pack(reader, place) for _ in range(self.count(reader, 153))]
        demand(reader.left() == 0, place, "bytes after the last pack")
        demand(len(self.packs) <= 65535, place, "too many packs")
        demand(len({pack.name for pack in self.packs}) == len(self.packs), place, "two packs of one name")
        demand(len({pack.number for pack in self.packs}) == len(self.packs), place, "two packs of one number")
        demand(all(0 < pack.number < self.next_pack for pack in self.packs), place, "number of a pack")
        demand(all(pack.origin in self.origin_rank for pack in self.packs), place, "origin of a pack")
        demand(len({run.name for run in self.runs}) == len(self.runs), place, "a run is named twice")
        self.place = place

    @staticmethod
    def count(reader, least):
        """A number of things that take `least` bytes each."""
        count = reader.uint(4)
        demand(count * least <= reader.left(), reader.place, "more things than bytes")
        return count

    def read_cache_folder(self, reader, place):
        self.cache_budget, length = reader.uint(8), reader.uint(4)
        demand(length <= 4095, place, "path of the cache folder")
        self.cache_folder = reader.take(length)
        demand(not length or self.cache_folder[:1] == b"/" and b"\0" not in self.cache_folder, place,
               "path of the cache folder")

    def read_origins(self, reader, place):
        next_origin = reader.uint(4)
        origins = [self.read_origin(reader, place) for _ in range(self.count(reader, 44))]
        demand(1 <= len(origins) <= 4096, place, "number of origins")
        self.origin_rank = {origin.number: rank for rank, origin in enumerate(origins)}
        demand(len(self.origin_rank) == len(origins), place, "two origins of one number")
        demand(len({origin[1:] for origin in origins}) == len(origins), place, "an origin is listed twice")
        demand(all(number < next_origin for number in self.origin_rank), place, "number of an origin")
        demand(0 in self.origin_rank, place, "no local origin")
        least = 53 if self.has_epochs else 37
        floors = [self.read_floor(reader, place) for _ in range(self.count(reader, least))]
        demand(not self.has_epochs or any(floor.epoch or floor.taken_back for floor in floors), place, "feature")
        demand(len(floors) <= 1 << 20, place, "number of floors")
        keys = [(floor.origin, floor.pack) for floor in floors]
        demand(all(a < b for a, b in zip(keys, keys[1:])), place, "order of floors")
        demand(all(origin in self.origin_rank for origin, _ in keys), place, "origin of a floor")

    @staticmethod
    def read_origin(reader, place):
        number, kind, key, length = reader.uint(4), reader.uint(4), reader.take(32), reader.uint(4)
        demand(length <= 64, place, "product of an origin")
        product = reader.take(length)
        demand(kind <= 3 and (kind == 0) == (number == 0), place, "kind of an origin")
        demand((kind == 1) == any(key), place, "key of an origin")
        is_named = re.fullmatch(rb"[a-z0-9][a-z0-9_.-]{0,63}", product)
        demand(is_named if kind in (1, 2) else not product, place, "product of an origin")
        return Origin(number, kind, key, product)

    def read_floor(self, reader, place):
        origin, flags = reader.uint(4), reader.uint(4)
        version, sequence, serial, length = reader.uint(8), reader.uint(8), reader.uint(8), reader.uint(4)
        demand(not flags & ~1 and version > 0 and length <= 128, place, "floor")
        pack = reader.take(length)
        demand(re.fullmatch(rb"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", pack), place, "pack of a floor")
        epoch, taken_back = (reader.uint(8), reader.uint(8)) if self.has_epochs else (0, 0)
        demand(taken_back < 1 << 53, place, "number of a floor that was taken back")
        return Floor(origin, bool(flags), version, sequence, serial, pack, epoch, taken_back)

    def read_run(self, reader):
        name, length, sum_ = reader.uint(8), reader.uint(8), reader.uint(8)
        packs = [reader.uint(4) for _ in range(self.count(reader, 4))]
        demand(len(set(packs)) == len(packs) and all(packs), reader.place, "packs of a run")
        return RunName(name, length, sum_, packs)

    def read_pack(self, reader, place):
        number, priority, origin = reader.uint(4), reader.sint(4), reader.uint(4)
        flags, highest = reader.uint(4), reader.uint(8)
        length = reader.uint(4)
        demand(not flags & ~15, place, "flags of a pack")
        demand(not flags & 4 or self.cache_folder, place, "a purgeable pack without a cache folder")
        demand(length <= 128, place, "name of a pack")
        name = reader.take(length)
        demand(re.fullmatch(rb"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", name), place, "name of a pack")
        count = self.count(reader, 152)
        demand(1 <= count <= 1000, place, "number of versions")
        versions = [Version(reader.uint(8), *(reader.take(32) for _ in range(3)), reader.sint(8),
                            *(reader.uint(8) for _ in range(5)))
                    for _ in range(count)]
        demand(len({version.number for version in versions}) == count, place, "two versions of one number")
        demand(all(0 < version.number <= highest < 1 << 53 for version in versions), place, "highest number of a version")
        return Pack(number, priority, origin, bool(flags & 1), bool(flags & 2), bool(flags & 4), highest, name.decode(), versions)


# --- 13: the control file -------------------------------------------------------------------------------------------

Slot = collections.namedtuple("Slot", "format average store_id generation length sum boot_id durable reserved predecessor")
CONTROL_SIZE = 4 * PAGE


def check_average(average, place):
    demand(1024 <= average <= 1048576 and average & (average - 1) == 0, place, "average of the chunker")


def this_boot():
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return bytes.fromhex(file.read().strip().replace("-", ""))
    except (OSError, ValueError):
        return None


def counts(slot, boot_id):
    return slot.durable == 1 or slot.boot_id == boot_id


def read_copy(data, unmet):
    """What a copy of a slot says; None if it is damaged."""
    if len(data) < 512 or data[:8] != b"PKSCTRL0" or sum64(data[:504]) != le(data, 504, 8) or any(data[512:]):
        return None
    check_format(le(data, 8, 4), "CONTROL")
    slot = Slot(*struct.unpack_from("<II16sQQQ16sIIQ", data, 8))
    if slot.durable not in (0, 1, 2) or slot.reserved or any(data[88:504]):
        unmet.append("CONTROL: reserved bytes of a slot")
    return slot if 1 <= slot.generation < 2 ** 62 else None


def successor(index, intact, boot_id):
    """The file that a lost slot beside a durable one named, and whether one above it is damaged."""
    names = [name for name in os.listdir(index) if re.fullmatch(r"[0-9a-f]{16}\.generation", name)]
    numbers = sorted((int(name[:16], 16) for name in names), reverse=True)
    doubtful = False
    for number in [number for number in numbers if intact.generation < number < 2 ** 62]:
        try:
            generation = Generation(index, number)
            is_next = generation.predecessor == intact.generation and generation.store_id == intact.store_id
            if is_next and (generation.flags & Generation.DURABLE or generation.boot_id == boot_id):
                for name in generation.runs:
                    open_run(index, name)
                return generation, doubtful
        except Corrupt:
            doubtful = True
    return None, doubtful


def predecessor(index, intact):
    """The file that a lost slot beside an atomic one named."""
    try:
        generation = Generation(index, intact.predecessor)
        if generation.flags & Generation.DURABLE and generation.store_id == intact.store_id:
            for name in generation.runs:
                open_run(index, name)
            return generation
    except Corrupt:
        pass
    return None


def adopt(store, slots, lost, which, boot_id, unmet):
    """Looks for what slot `which` hides."""
    index, intact, doubtful = os.path.join(store, "index"), slots[1 - which], False
    if intact.durable == 1:
        found, doubtful = successor(index, intact, boot_id)
    else:
        found = predecessor(index, intact) if lost else None
    if found:
        is_durable = 1 if found.flags & Generation.DURABLE else 2
        slots[which] = Slot(FORMAT, intact.average, intact.store_id, found.number, found.length, found.sum, found.boot_id,
                            is_durable, 0, found.predecessor)
    if lost and (doubtful or not found):
        unmet.append("CONTROL: a commit may be missing")


def read_control(store, boot_id, unmet):
    path = os.path.join(store, "CONTROL")
    demand(os.path.exists(path), "CONTROL", "not a store")
    file = File(path)
    data, size = bytes(file.data[:CONTROL_SIZE]), file.size
    file.close()
    stored = [data[at:at + PAGE] for at in range(0, CONTROL_SIZE, PAGE)]
    copies = [read_copy(one, unmet) for one in stored]
    known = [one for one in stored if one[:8] == b"PKSCTRL0"]
    formats = {le(one, 8, 4) for one in known if len(one) >= 12}
    if not any(copies) and len(formats) == 1 and len(known) > (1 if size == CONTROL_SIZE else 0):
        check_format(formats.pop(), "CONTROL")
    demand(known or size == CONTROL_SIZE, "CONTROL", "not a store")
    slots, damaged = [None, None], [False, False]
    for number, copy in enumerate(copies):
        which = number % 2
        damaged[which] |= copy is None
        if copy is None:
            unmet.append(f"CONTROL: the copy at {number * PAGE} is damaged")
        elif slots[which] is None or preference(copy, boot_id) > preference(slots[which], boot_id):
            slots[which] = copy
    lost = [slot is None for slot in slots]
    for which in (0, 1):
        this, other = slots[which], slots[1 - which]
        if damaged[which] and not lost[1 - which]:
            if lost[which] or not counts(this, boot_id) or this.generation < other.generation:
                adopt(store, slots, lost[which], which, boot_id, unmet)
    counting = [slot for slot in slots if slot and counts(slot, boot_id)]
    demand(counting, "CONTROL", "no slot counts")
    if size > CONTROL_SIZE:
        unmet.append("CONTROL: length")
    current = max(counting, key=lambda slot: slot.generation)
    check_average(current.average, "CONTROL")
    return current


def preference(slot, boot_id):
    """Of two whole copies, the one of the greater value is what the slot is."""
    return counts(slot, boot_id), slot.generation, {1: 0, 0: 1, 2: 2}.get(slot.durable, 1)


# --- 14: names ------------------------------------------------------------------------------------------------------

def check_path(path, place):
    demand(1 <= len(path) <= 4095 and b"\0" not in path, place, "length of a path, or NUL")
    try:
        path.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt(place, "path is not UTF-8") from error
    parts = path.split(b"/")
    demand(len(parts) <= 2000, place, "parts of a path")
    demand(all(1 <= len(part) <= 255 and part not in (b".", b"..") for part in parts), place, "part of a path")


def check_link_target(target, place):
    demand(1 <= len(target) <= 4095 and b"\0" not in target, place, "target of a link")


# --- 15: the merged namespace ---------------------------------------------------------------------------------------

def ancestors(path):
    at = path.find(b"/")
    while at >= 0:
        yield path[:at]
        at = path.find(b"/", at + 1)


def merge(packs_by_rank, by_pack):
    """Path to (pack, record) of what shows; `by_pack` has the records of each pack by path."""
    first, file_rank, folder_rank = {}, {}, {}  # the best record; the best rank with a file or link, and with a folder
    for rank, pack in enumerate(packs_by_rank):
        for path, record in by_pack[pack.number].items():
            first.setdefault(path, (pack, record))
            ranks = folder_rank if record.kind == KIND_FOLDER else file_rank
            ranks.setdefault(path, rank)
            for ancestor in ancestors(path):
                folder_rank.setdefault(ancestor, rank)
    standing = {path for path, rank in file_rank.items() if rank < folder_rank.get(path, len(packs_by_rank))}
    return {path: (pack, record) for path, (pack, record) in first.items()
            if (record.kind == KIND_FOLDER or path in standing) and standing.isdisjoint(ancestors(path))}


# --- a store as a whole ---------------------------------------------------------------------------------------------

def open_run(index, name):
    run = Run(index, name.name)
    demand((run.file.size, run.table.sum, run.packs) == (name.length, name.sum, len(name.packs)), run.place,
           "length, sum or packs are not what the generation says")
    return run


class Store:
    def __init__(self, root, boot_id, cuts):
        self.root, self.cuts, self.unmet = root, cuts, []
        self.slot = read_control(root, boot_id, self.unmet)
        index = os.path.join(root, "index")
        self.generation = Generation(index, self.slot.generation, self.slot)
        own = f"{self.slot.store_id.hex()}-{os.stat(root).st_ino:016x}"
        self.cache = os.path.join(os.fsdecode(self.generation.cache_folder), own) if self.generation.cache_folder else None
        self.segments, self.runs = {}, [open_run(index, name) for name in self.generation.runs]
        self.hash_of = PathHash(self.generation.path_key)

    def segment(self, id_):
        if id_ not in self.segments:
            self.segments[id_] = Segment(self.root, id_, self.cache)
        return self.segments[id_]

    def load_page(self, id_):
        """A page of a tree or a root, by its id."""
        for segment, chunk in self.places_of_page(id_):
            return segment.chunk(chunk)
        raise Corrupt(f"page {id_.hex()}", "is in no run")

    def segment_if_there(self, id_):
        folders = ("segments", "tables")
        is_there = any(os.path.exists(os.path.join(self.root, folder, id_.hex())) for folder in folders)
        return self.segment(id_) if is_there else None

    def places_of_page(self, id_):
        """Where a page lies: the chunk rows of the runs say where it may."""
        for run in reversed(self.runs):
            for number, chunk in run.find_chunk(id_):
                name, _, _, _, kind = run.segments[number]
                segment = self.segment_if_there(name) if kind == Segment.METADATA else None
                if segment and chunk < segment.chunk_count and segment.id_of(chunk) == id_:
                    yield segment, chunk

    def segments_of_page(self, id_):
        """All segments in which a page lies."""
        return {segment.id for segment, _ in self.places_of_page(id_)}

    def read_records(self):
        """Records by pack and path, the newest run's first; what is absent is left out."""
        known = {pack.number: {} for pack in self.generation.packs if not pack.removed}
        for name, run in zip(reversed(self.generation.runs), reversed(self.runs)):
            records = list(run.records())
            run.check(records, self.segment_if_there, self.hash_of, self.unmet)
            for record in records:
                pack = name.packs[record.pack]
                if pack in known:
                    known[pack].setdefault(record.path, record)
        return {pack: {path: record for path, record in records.items() if record.kind != KIND_ABSENT}
                for pack, records in known.items()}

    def bytes_by_record(self, record):
        run, place = record.run, f"{record.run.place} {record.path!r}"
        end = None
        for number, frame, skip, length in run.frames_of(record.extents, place):
            id_, _, _, file_length, kind = run.segments[number]
            segment = self.segment(id_)
            demand(segment.table.file_length == file_length and segment.kind == kind == Segment.DATA, place, "segment")
            demand(frame.offset >= 64 and frame.offset + frame.stored <= segment.table.offset, place, "frame's place")
            if record.contiguous:
                demand(frame.codec == 0 and end in (None, (id_, frame.offset)), place, "is not contiguous")
            if record.is_map and end is None:
                demand((frame.offset + skip) % PAGE == 0, place, "map asset does not begin at a page")
            end = (id_, frame.offset + frame.stored)
            yield segment.raw_bytes(frame)[skip:skip + length]

    def bytes_by_layout(self, extents, is_map, place):
        end = None
        for id_, number, skip, length in extents:
            segment = self.segment(id_)
            demand(length, place, "extent without bytes")
            demand(segment.kind == Segment.DATA, place, "bytes in a metadata segment")
            while length:
                frame = segment.frame(number)
                demand(skip < frame.raw, place, "skips beyond a frame")
                if is_map:
                    demand(frame.codec == 0 and end in (None, frame.offset), place, "map asset is not contiguous")
                    demand(end is not None or (frame.offset + skip) % PAGE == 0, place, "map asset does not begin at a page")
                end = frame.offset + frame.stored
                part = min(length, frame.raw - skip)
                yield segment.raw_bytes(frame)[skip:skip + part]
                length, skip, number = length - part, 0, number + 1

    def check_bytes(self, parts, rows, place):
        """SHA-256 of all, with each chunk checked against its row."""
        whole, pending = hashlib.sha256(), bytearray()
        rows = iter(rows)
        row = next(rows, None)
        for part in parts:
            whole.update(part)
            pending += part
            while row and len(pending) >= le(row, 32, 4):
                length = le(row, 32, 4)
                demand(sha256(pending[:length]) == row[:32], place, "chunk is not what the catalog says")
                del pending[:length]
                row = next(rows, None)
        demand(row is None and not pending, place, "length is not what the catalog says")
        return whole.hexdigest()

    def cut_again(self, parts):
        cutter, rows = Cutter(self.slot.average), []
        for part in parts:
            rows += [sha256(chunk) + struct.pack("<I", len(chunk)) for chunk in cutter.feed(part)]
        return rows + [sha256(chunk) + struct.pack("<I", len(chunk)) for chunk in cutter.finish()]

    def check_version(self, pack, version, records):
        """Catalog, layout and bytes of a version; `records` if it is the current one. Digests by path."""
        place = f"{pack.name}@{version.number}"
        catalog, layout = Catalog(self.load_page, version.catalog), Layout(self.load_page, version.layout)
        demand(layout.catalog == version.catalog, place, "layout of another catalog")
        demand((layout.pack.decode("ascii", "replace"), layout.version) == (pack.name, version.number), place,
               "layout of another pack or version")
        demand(layout.attributes == version.attributes, place, "layout of other attributes")
        pages_beside = {version.catalog}
        if version.attributes != bytes(32):
            demand(1 <= len(self.load_page(version.attributes)) <= 65536, place, "length of the attributes")
            pages_beside.add(version.attributes)
        demand((catalog.files, catalog.links, catalog.folders, catalog.bytes) ==
               (version.files, version.links, version.folders, version.bytes), place, "totals of the generation")
        pages = set()
        placed = {path: (is_map, extents) for path, is_map, extents in layout.entries(pages.add)}
        rebuilt, digests = CatalogBuilder(catalog.average), {}
        for path, entry, rows in catalog.entries(pages.add):
            asset = f"{place} {path!r}"
            if entry.kind == KIND_FILE:
                demand((path in placed) == (entry.size > 0), asset, "catalog and layout differ")
                is_map, extents = placed.pop(path, (False, []))
                digests[path] = self.check_bytes(self.bytes_by_layout(extents, is_map, asset), rows, asset)
                demand({extent[0] for extent in extents} <= set(layout.segments), asset, "segment is not in the layout's root")
                if self.cuts:
                    demand(rows == self.cut_again(self.bytes_by_layout(extents, is_map, asset)), asset, "cuts")
            rebuilt.append(path, entry, rows)
            if records is not None:
                self.check_record(records.get(path), entry, rows, path in placed, asset)
                if path in records and entry.kind == KIND_FILE:
                    demand(records[path].is_map == is_map, asset, "map asset or not")
                    demand(set(self.segments_of_record(records[path])) <= set(layout.segments), asset,
                           "segment of its record is not in the layout's root")
        demand(not placed, place, "layout names what the catalog has not")
        demand(rebuilt.finish() == version.catalog, place, "catalog is not what its entries make")
        demand(layout_tree(layout.entries()) == (layout.map, layout.height), place, "layout is not what its entries make")
        if records is not None:
            demand(len(records) == catalog.files + catalog.links + catalog.folders, place, "records and catalog differ")
        # The segment of the layout's root cannot be named in that page; a reader that needs the version adds it.
        named = set(layout.segments) | self.segments_of_page(version.layout)
        for page in pages | pages_beside:
            demand(self.segments_of_page(page) & named, place, "page in no segment that the layout names")
        return digests

    @staticmethod
    def segments_of_record(record):
        return {record.run.segments[number][0] for number, *_ in record.run.frames_of(record.extents, record.run.place)}

    def check_record(self, record, entry, rows, _, place):
        demand(record, place, "has no record")
        demand((record.kind, record.executable) == (entry.kind, entry.executable), place, "record and catalog differ")
        demand(entry.kind == KIND_FOLDER or record.size == entry.size, place, "size of the record")
        demand(record.target == entry.target, place, "target of the record")
        if entry.kind == KIND_FILE:
            self.check_bytes(self.bytes_by_record(record), rows, place)

    def check(self):
        """Everything. What shows and what packs hold, as values for JSON."""
        by_pack = self.read_records()
        packs_there = [pack for pack in self.generation.packs if not pack.removed]
        rank = sorted(packs_there, key=lambda pack: (self.generation.origin_rank[pack.origin], -pack.priority, pack.number))
        packs = []
        for pack in rank + sorted((pack for pack in self.generation.packs if pack.removed), key=lambda pack: pack.name):
            digests, records = {}, by_pack.get(pack.number, {})
            for place, version in enumerate(pack.versions):
                is_current = place == 0 and not pack.removed
                found = self.check_version(pack, version, records if is_current else None)
                digests = found if is_current else digests
            packs.append({
                "name": pack.name, "number": pack.number, "priority": pack.priority, "held": pack.held,
                "removed": pack.removed,
                "versions": [describe_version(version) for version in pack.versions],
                "assets": [describe(path, records[path], digests.get(path)) for path in sorted(records)],
            })
        self.merged = merge(rank, by_pack)
        pure = merge_without_contests(rank, by_pack)
        if pure.keys() != self.merged.keys() and not self.generation.flags & 1:
            self.unmet.append("generation: flag 1 is not set, but a file of one pack stands where another needs a folder")
        for segment in list(self.segments.values()):
            segment.check(self.unmet)
        return {
            "store": self.slot.store_id.hex(), "average": self.slot.average, "generation": self.slot.generation,
            "durable": self.slot.durable == 1, "runs": len(self.runs), "packs": packs,
            "visible": [[path.decode(), self.merged[path][0].name] for path in sorted(self.merged)],
            "segments": sorted(id_.hex() for id_ in self.segments), "unmet": self.unmet,
        }

    def extract(self, target):
        """What shows, as files. Links are made last, so that nothing is written through one."""
        links = []
        for path in sorted(self.merged):
            record = self.merged[path][1]
            place = os.path.join(os.fsencode(target), path)
            if record.kind == KIND_FOLDER:
                os.makedirs(place, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if record.kind == KIND_LINK:
                links.append((record.target, place))
                continue
            with open(place, "xb") as file:
                for part in self.bytes_by_record(record):
                    file.write(part)
            os.chmod(place, 0o755 if record.executable else 0o644)
        for link_target, place in links:
            os.symlink(link_target, place)


def merge_without_contests(packs_by_rank, by_pack):
    visible = {}
    for pack in packs_by_rank:
        for path, record in by_pack[pack.number].items():
            visible.setdefault(path, (pack, record))
    return visible


def describe(path, record, digest):
    asset = {"path": path.decode(), "kind": KIND_NAMES[record.kind]}
    if record.kind == KIND_FILE:
        asset.update(size=record.size, executable=record.executable, sha256=digest, map=record.is_map)
    if record.kind == KIND_LINK:
        asset["target"] = record.target.hex()  # It need not be text.
    return asset


def describe_version(version):
    return {"number": version.number, "catalog": version.catalog.hex(),
            "attributes": None if version.attributes == bytes(32) else version.attributes.hex(), "committed_ns": version.committed,
            "files": version.files, "links": version.links, "folders": version.folders, "bytes": version.bytes,
            "pinned": bool(version.flags & 1)}


def catalog_of_folder(folder, average):
    entries = []
    for base, folders, files in os.walk(os.fsencode(folder)):
        relative = os.path.relpath(base, os.fsencode(folder))
        prefix = b"" if relative == b"." else relative + b"/"
        names = folders + files
        if prefix and not names:
            entries.append((prefix[:-1], Entry(KIND_FOLDER, False, 0, 0, None, 0, None, None), []))
        for name in names:
            place = os.path.join(base, name)
            info = os.lstat(place)
            check_path(prefix + name, "folder")
            if stat.S_ISLNK(info.st_mode):
                target = os.readlink(place)
                entries.append((prefix + name, Entry(KIND_LINK, False, len(target), 0, None, 0, None, target), []))
            elif stat.S_ISREG(info.st_mode):
                cutter, rows, size = Cutter(average), [], 0
                with open(place, "rb") as file:
                    while part := file.read(1 << 20):
                        size += len(part)
                        rows += [sha256(chunk) + struct.pack("<I", len(chunk)) for chunk in cutter.feed(part)]
                rows += [sha256(chunk) + struct.pack("<I", len(chunk)) for chunk in cutter.finish()]
                entry = Entry(KIND_FILE, bool(info.st_mode & 0o111), size, len(rows), None, 0, None, None)
                entries.append((prefix + name, entry, rows))
    catalog = CatalogBuilder(average)
    for path, entry, rows in sorted(entries, key=lambda item: item[0]):
        catalog.append(path, entry, rows)
    return catalog.finish()


# --- 24: attributes -------------------------------------------------------------------------------------------------

ATTRIBUTES_MAX = 65536
ATTRIBUTES_DEPTH = 64
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}\Z")
APP_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){0,7}\Z")
NOTE = re.compile("[^\x00-\x1f\x7f-\x9f\u2028\u2029]+")
LABEL = re.compile(r"(?!(?:current|previous|[0-9]+)\Z)[A-Za-z0-9._+-]{1,64}")
LANGUAGE = re.compile(
    r"(?:(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4}|[a-z]{5,8})"
    r"(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"
    r"(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?|x(?:-[a-z0-9]{1,8})+)\Z")


class Number(str):
    """A number of JSON, as it was written."""


class Verbatim(str):
    """JSON as it was written."""


def canonical_json(value):
    if isinstance(value, (Number, Verbatim)):
        return str(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        short = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: "\\\"", 92: "\\\\"}
        return '"' + "".join(short.get(ord(c)) or (f"\\u{ord(c):04x}" if ord(c) < 32 else c) for c in value) + '"'
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(canonical_json(name) + ":" + canonical_json(value[name]) for name in names) + "}"


def check_depth(text, place):
    depth, in_string, skip = 0, False, False
    for c in text:
        if in_string:
            in_string, skip = skip or c != '"', c == "\\" and not skip
        elif c == '"':
            in_string = True
        elif c in "[{":
            depth += 1
            demand(depth <= ATTRIBUTES_DEPTH, place, "nested too deep")
        elif c in "]}":
            depth -= 1


def scalar_depth(value, depth=1):
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return max([depth] + [scalar_depth(child, depth + 1) for child in children])


def check_pattern(pattern, place):
    demand(1 <= len(pattern.encode()) <= 1024 and "\0" not in pattern, place, "pattern of a wrong length")
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
            demand(at < len(pattern), place, "pattern ends in a backslash")
        elif pattern[at] == "[":
            at += 2 if pattern[at + 1:at + 2] == "!" else 1
            begin = at
            while at < len(pattern) and (pattern[at] != "]" or at == begin):
                at += 2 if pattern[at] == "\\" else 1
            demand(at < len(pattern), place, "pattern has a class that does not end")
        at += 1


def app_version(text, place):
    demand(APP_VERSION.match(text), place, "no version of an app")
    parts = [int(part) for part in text.split(".")]
    return parts + [0] * (8 - len(parts))


def check_app_versions(text, place):
    demand(isinstance(text, str), place, "no range of versions")
    if text.endswith("..."):
        app_version(text[:-3], place)
        return
    lower, mark, upper = text.partition("..<")
    demand(mark, place, "no range of versions")
    low, high = app_version(lower, place) if lower else [0] * 8, app_version(upper, place)
    demand(low < high, place, "empty range of versions")


def check_sorted_texts(texts, place):
    demand(isinstance(texts, list) and texts and all(type(text) is str for text in texts), place, "no list of texts")
    order = [text.encode() for text in texts]
    demand(order == sorted(set(order)), place, "list out of order")


def check_identifiers(names, place):
    check_sorted_texts(names, place)
    demand(all(IDENTIFIER.match(name) for name in names), place, "no identifier")


def check_policy(policy, place):
    demand(isinstance(policy, dict) and len(policy) == 1, place, "no download policy")
    (name, value), = policy.items()
    demand(name in ("essential", "prefetch"), place, "unknown download policy")
    demand(isinstance(value, dict) and list(value) == ["installationEventTypes"], place, "no installation events")
    check_identifiers(value["installationEventTypes"], place)


def user_info_range(text):
    """Where the value of the member `userInfo` of an object without white space stands, or None."""
    decoder = json.JSONDecoder()
    at = 1
    while text[at] != "}":
        name, at = decoder.raw_decode(text, at)
        begin = at + 1
        _, at = decoder.raw_decode(text, begin)
        if name == "userInfo":
            return begin, at
        at += text[at] == ","
    return None


def check_attributes(data, place="attributes"):
    """Checks that attributes are in canonical form; returns their identity."""
    demand(len(data) <= ATTRIBUTES_MAX, place, "too long")

    def unique(pairs):
        demand(len(dict(pairs)) == len(pairs), place, "a name is there twice")
        return dict(pairs)

    def constant(name):
        raise Corrupt(place, f"{name} is no JSON")

    try:
        text = bytes(data).decode("utf-8")
        check_depth(text, place)
        members = json.loads(text, object_pairs_hook=unique, parse_int=Number, parse_float=Number, parse_constant=constant)
        demand(isinstance(members, dict), place, "no object")
        demand(scalar_depth(members) <= ATTRIBUTES_DEPTH, place, "nested too deep")
        json.dumps(members, ensure_ascii=False).encode("utf-8")  # fails on a surrogate
        if "userInfo" in members:
            demand(members["userInfo"] is not None, place, "user info that says its default")
            begin, end = user_info_range(text)
            members["userInfo"] = Verbatim(text[begin:end])
    except (ValueError, IndexError) as error:
        raise Corrupt(place, str(error)) from None
    demand(canonical_json(members) == text, place, "not in canonical form")
    for name, value in members.items():
        if name == "appVersions":
            check_app_versions(value, place)
        elif name == "downloadPolicy":
            check_policy(value, place)
        elif name == "label":
            demand(type(value) is str and LABEL.fullmatch(value), place, "no label")
        elif name == "note":
            demand(type(value) is str and NOTE.fullmatch(value) and len(value.encode()) <= 1000, place, "no note")
        elif name == "language":
            demand(type(value) is str and len(value) <= 64 and LANGUAGE.match(value), place, "no language tag")
        elif name == "map":
            check_sorted_texts(value, place)
            for pattern in value:
                check_pattern(pattern, place)
        elif name == "placement":
            demand(type(value) is str and value == "purgeable", place, "unknown placement")
        elif name == "platforms":
            check_identifiers(value, place)
        elif name == "priority":
            demand(type(value) is Number and re.match(r"-?[1-9][0-9]{0,9}\Z", value), place, "no priority")
            demand(-2**31 <= int(value) < 2**31, place, "no priority")
    return hashlib.sha256(data).digest()


def main(arguments):
    parser = argparse.ArgumentParser(prog="packstore_reader.py")
    parser.add_argument("stores", nargs="*", metavar="STORE")
    parser.add_argument("--json", action="store_true", help="one line of JSON per store")
    parser.add_argument("--extract", metavar="FOLDER", help="write what shows into a new folder")
    parser.add_argument("--cuts", action="store_true", help="cut assets again and compare")
    parser.add_argument("--boot-id", metavar="HEX", help="boot id of the machine; by default this one's")
    parser.add_argument("--catalog", metavar="FOLDER", help="print the catalog's id of a folder")
    parser.add_argument("--attributes", metavar="FILE", help="check each line of a file as attributes")
    parser.add_argument("--average", type=int, default=8192)
    options = parser.parse_args(arguments)
    if options.catalog:
        print(catalog_of_folder(options.catalog, options.average).hex())
        return 0
    if options.attributes:
        with open(options.attributes, "rb") as file:
            for line in file.read().split(b"\n"):
                try:
                    print(check_attributes(line).hex())
                except Corrupt:
                    print("corrupt")
        return 0
    if not options.stores or (options.extract and len(options.stores) != 1):
        parser.error("name a store")
    boot_id = bytes.fromhex(options.boot_id) if options.boot_id else this_boot()
    failed = False
    for path in options.stores:
        try:
            store = Store(path, boot_id, options.cuts)
            state = store.check()
            if options.extract:
                os.makedirs(options.extract)
                store.extract(options.extract)
        except Corrupt as error:
            failed, state = True, {"error": str(error)}
        if options.json:
            print(json.dumps(state, sort_keys=True), flush=True)
        elif "error" in state:
            print(f"{path}: {state['error']}")
        else:
            print_state(path, state)
        failed = failed or bool(state.get("unmet"))
    return 1 if failed else 0


def print_state(path, state):
    print(f"{path}: generation {state['generation']}, {state['runs']} runs, {len(state['segments'])} segments")
    for pack in state["packs"]:
        version = pack["versions"][0]
        print(f"  {pack['name']}@{version['number']} {version['catalog']} files {version['files']} bytes {version['bytes']}")
    for name, pack in state["visible"]:
        print(f"  {pack}: {name}")
    for text in state["unmet"]:
        print(f"  unmet: {text}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
