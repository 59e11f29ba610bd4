#!/usr/bin/env python3
"""Reads Apple Archives, written from Docs/ForeignArchives.md alone: no code is shared with PackStore.

    apple_archive_reader.py list ARCHIVE           one line of JSON for each entry: its fields, sizes, SHA-256 of its content
    apple_archive_reader.py extract ARCHIVE FOLDER
    apple_archive_reader.py decode lzfse|lz4 FILE   writes what a stream holds to standard output
"""
import hashlib
import json
import lzma
import os
import struct
import sys
import zlib


class Damaged(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Damaged(what)


# MARK: LZFSE

L_EXTRA = [0] * 16 + [2, 3, 5, 8]
M_EXTRA = [0] * 16 + [3, 5, 8, 11]
D_EXTRA = [i // 4 for i in range(64)]


def bases(extra):
    sums, total = [], 0
    for bits in extra:
        sums.append(total)
        total += 1 << bits
    return sums


def decode_table(frequencies, states):
    """For each state: symbol, bits to read, what they are added to."""
    table = []
    need(sum(frequencies) <= states, "frequencies exceed the states")
    for symbol, count in enumerate(frequencies):
        if count == 0:
            continue
        # The symbol's states share the numbers from 0 to `states`: the first ones take more of them than the last ones.
        longest = 0
        while count << longest < states:
            longest += 1
        share = [longest] * (2 * states // (1 << longest) - count)
        share += [longest - 1] * (count - len(share))
        # Those that take few come first in the numbers.
        starts, position = [0] * count, 0
        for index in [i for i in range(count) if share[i] != longest] + [i for i in range(count) if share[i] == longest]:
            starts[index] = position
            position += 1 << share[index]
        need(position == states, "a symbol's states do not fill the range")
        table += [(symbol, share[i], starts[i]) for i in range(count)]
    return table


class Backwards:
    """The bits of a stream, the last first."""

    def __init__(self, data, unused):
        need(-7 <= unused <= 0 and (data or unused == 0), "wrong count of unused bits")
        need(unused == 0 or data[-1] >> (8 + unused) == 0, "unused bits are set")
        self.data, self.left = data, len(data) * 8 + unused

    def take(self, count):
        need(count <= self.left, "the stream is too short")
        self.left -= count
        first = self.left // 8
        return int.from_bytes(self.data[first:first + 8], "little") >> self.left % 8 & ((1 << count) - 1)


def frequencies_of(data):
    """The code: leading ones among the lowest bits choose the width."""
    value, left, result = int.from_bytes(data, "little"), len(data) * 8, []
    for _ in range(20 + 20 + 64 + 256):
        if value & 1 == 0:
            width, number = 2, value >> 1 & 1
        elif value & 2 == 0:
            width, number = 3, 2 + (value >> 2 & 1)
        elif value & 4 == 0:
            width, number = 5, 4 + (value >> 3 & 3)
        elif value & 8 == 0:
            width, number = 8, 8 + (value >> 4 & 15)
        else:
            width, number = 14, 24 + (value >> 4 & 1023)
        need(width <= left, "frequencies are cut short")
        value >>= width
        left -= width
        result.append(number)
    need(left < 8, "bytes are left after the frequencies")
    return result


def lzfse_block(data, out):
    """Returns the block's length."""
    if data[3:4] == b"2":
        raw, a, b, c = struct.unpack_from("<IQQQ", data, 4)
        cut = lambda word, at, width: word >> at & ((1 << width) - 1)
        literal_count, literal_bytes, match_count = cut(a, 0, 20), cut(a, 20, 20), cut(a, 40, 20)
        literal_unused, match_unused = cut(a, 60, 3) - 7, cut(b, 60, 3) - 7
        literal_states, match_bytes = [cut(b, 10 * i, 10) for i in range(4)], cut(b, 40, 20)
        header, states = cut(c, 0, 32), [cut(c, 32, 10), cut(c, 42, 10), cut(c, 52, 10)]
        need(32 <= header <= len(data), "wrong header length")
        frequencies = frequencies_of(data[32:header]) if header > 32 else [0] * 360
    else:
        raw, payload, literal_count, match_count, literal_bytes, match_bytes, literal_unused = struct.unpack_from("<IIIIIIi", data, 4)
        literal_states = list(struct.unpack_from("<4H", data, 32))
        match_unused, *states = struct.unpack_from("<iHHH", data, 40)
        frequencies, header = struct.unpack_from("<360H", data, 50), 772
        need(payload == literal_bytes + match_bytes, "wrong payload length")
    need(literal_count % 4 == 0 and literal_count <= 40000 and match_count <= 10000, "too many literals or matches")
    middle, end = header + literal_bytes, header + literal_bytes + match_bytes
    need(end <= len(data), "the block is cut short")
    tables = [decode_table(frequencies[first:last], count) for first, last, count in
              [(0, 20, 64), (20, 40, 64), (40, 104, 256), (104, 360, 1024)]]
    stream, literals = Backwards(data[header:middle], literal_unused), bytearray()
    for i in range(literal_count):
        need(literal_states[i % 4] < len(tables[3]), "no such state")
        symbol, bits, start = tables[3][literal_states[i % 4]]
        literal_states[i % 4] = start + stream.take(bits)
        literals.append(symbol)
    stream, used, distance, before = Backwards(data[middle:end], match_unused), 0, 0, len(out)
    extras = [(extra, bases(extra)) for extra in (L_EXTRA, M_EXTRA, D_EXTRA)]
    for _ in range(match_count):
        numbers = []
        for which in range(3):
            need(states[which] < len(tables[which]), "no such state")
            symbol, bits, start = tables[which][states[which]]
            states[which] = start + stream.take(bits)
            extra, base = extras[which]
            numbers.append(base[symbol] + stream.take(extra[symbol]))
        literal, match, new = numbers
        distance = new or distance
        need(used + literal <= len(literals), "more literals than there are")
        out += literals[used:used + literal]
        used += literal
        copy(out, distance, match)
    need(len(out) - before == raw, "wrong raw length")
    return end


def copy(out, distance, count):
    need(count == 0 or 0 < distance <= len(out), "a distance leads before the start")
    for _ in range(count):
        out.append(out[-distance])


def lzvn(data, out):
    position, distance = 0, 0
    while True:
        need(position < len(data), "no end mark")
        first = data[position]
        rest = data[position + 1:position + 8]
        if first >> 5 == 7:
            count, length = first & 15, 1
            if count == 0:
                count, length = rest[0] + 16, 2
            literal, match = (count, 0) if first < 240 else (0, count)
        elif first >> 5 == 5:
            more = rest[0] | rest[1] << 8
            literal, match, distance, length = first >> 3 & 3, ((first & 7) << 2 | more & 3) + 3, more >> 2, 3
        else:
            literal, match = first >> 6, (first >> 3 & 7) + 3
            need(not (0x70 <= first < 0x80 or first >= 0xd0), "no such operation")
            if first & 7 == 7:
                distance, length = rest[0] | rest[1] << 8, 3
            elif first & 7 != 6:
                distance, length = (first & 7) << 8 | rest[0], 2
            elif literal > 0:
                length = 1
            elif first == 6:
                need(rest == bytes(7) and position + 8 == len(data), "the end mark is not the end")
                return
            else:
                need(first in (14, 22), "no such operation")
                match, length = 0, 1
        position += length
        need(position + literal <= len(data), "literals are cut short")
        out += data[position:position + literal]
        position += literal
        copy(out, distance, match)


def lzfse(data):
    out = bytearray()
    while True:
        magic = data[:4]
        if magic == b"bvx$":
            need(len(data) == 4, "bytes follow the end")
            return bytes(out)
        if magic in (b"bvx1", b"bvx2"):
            length = lzfse_block(data, out)
        elif magic == b"bvxn":
            raw, payload = struct.unpack_from("<II", data, 4)
            length, before = 12 + payload, len(out)
            need(length <= len(data), "the block is cut short")
            lzvn(data[12:length], out)
            need(len(out) - before == raw, "wrong raw length")
        else:
            need(magic == b"bvx-", "no such block")
            raw, = struct.unpack_from("<I", data, 4)
            length = 8 + raw
            need(length <= len(data), "the block is cut short")
            out += data[8:length]
        data = data[length:]


# MARK: LZ4

def lz4_block(data, out):
    position = 0

    def count(value):
        nonlocal position
        more = 255
        while value >= 15 and more == 255:
            more = data[position]
            value += more
            position += 1
        return value

    while True:
        need(position < len(data), "the block is cut short")
        token = data[position]
        position += 1
        literal = count(token >> 4)
        need(position + literal <= len(data), "literals are cut short")
        out += data[position:position + literal]
        position += literal
        if position == len(data):
            need(token & 15 == 0, "a match is missing")
            return
        distance, = struct.unpack_from("<H", data, position)
        position += 2
        copy(out, distance, count(token & 15) + 4)


def lz4(data):
    out = bytearray()
    if data[:4] not in (b"bv41", b"bv4-", b"bv4$"):
        lz4_block(data, out)
        return bytes(out)
    while data[:4] != b"bv4$":
        raw, = struct.unpack_from("<I", data, 4)
        before = len(out)
        if data[:4] == b"bv4-":
            end = 8 + raw
            out += data[8:end]
        else:
            need(data[:4] == b"bv41", "no such frame")
            end = 12 + struct.unpack_from("<I", data, 8)[0]
            need(end <= len(data), "the frame is cut short")
            lz4_block(data[12:end], out)
        need(len(out) - before == raw, "wrong raw length")
        data = data[end:]
    need(len(data) == 4, "bytes follow the end")
    return bytes(out)


# MARK: The container and its entries

def deflate(data):
    stream = zlib.decompressobj(15 if data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0 else -15)
    result = stream.decompress(data)
    need(stream.eof and not stream.unused_data, "deflate does not end where the block does")
    return result


def content(data):
    if data[:3] != b"pbz":
        return data
    decode = {b"e": lzfse, b"4": lz4, b"z": deflate, b"x": lzma.decompress}[data[3:4]]
    out, position = bytearray(), 12
    while position < len(data):
        raw, stored = struct.unpack_from(">QQ", data, position)
        position += 16
        need(position + stored <= len(data), "a block is cut short")
        block = data[position:position + stored]
        position += stored
        block = block if raw == stored else decode(block)
        need(len(block) == raw, "a block has another length")
        out += block
    return bytes(out)


SIZES = {"*": 0, "1": 1, "2": 2, "4": 4, "8": 8, "F": 4, "G": 20, "H": 32, "I": 48, "J": 64, "S": 8, "T": 12}


def entries(data):
    """Fields of each entry, in order, and its larger values by their keys."""
    position = 0
    while position < len(data):
        need(data[position:position + 4] in (b"AA01", b"YAA1"), "an entry has an invalid header")
        length, = struct.unpack_from("<H", data, position + 4)
        header, at, fields, larger = data[position:position + length], 6, {}, []
        need(len(header) == length >= 6, "a header is cut short")
        while at < length:
            key, form = header[at:at + 3].decode(), header[at + 3:at + 4].decode()
            need(key not in fields, "a field is there twice")
            at += 4
            if form == "P":
                size, = struct.unpack_from("<H", header, at)
                fields[key] = header[at + 2:at + 2 + size].decode()
                at += 2 + size
            elif form in "ABC":
                size = {"A": 2, "B": 4, "C": 8}[form]
                fields[key] = int.from_bytes(header[at:at + size], "little")
                larger.append(key)
                at += size
            else:
                size = SIZES[form]
                value = header[at:at + size]
                fields[key] = list(struct.unpack("<QI", value)) if form == "T" else int.from_bytes(value, "little")
                at += size
            need(at <= length, "a field is cut short")
        position += length
        values = {}
        for key in larger:
            values[key] = data[position:position + fields[key]]
            need(len(values[key]) == fields[key], "a value is cut short")
            position += fields[key]
        yield fields, values


def main():
    command, *arguments = sys.argv[1:]
    if command == "decode":
        data = open(arguments[1], "rb").read()
        sys.stdout.buffer.write({"lzfse": lzfse, "lz4": lz4}[arguments[0]](data))
        return
    for fields, values in entries(content(open(arguments[0], "rb").read())):
        kind, path = chr(fields["TYP"]), fields["PAT"]
        if command == "list":
            sums = {key: hashlib.sha256(value).hexdigest() for key, value in values.items()}
            print(json.dumps({**fields, "TYP": kind, "sums": sums}, sort_keys=True))
            continue
        target = os.path.join(arguments[1], path)
        need(not path.startswith("/") and ".." not in path.split("/"), "a path leads out")
        if kind == "D":
            os.makedirs(target, exist_ok=True)
        elif kind == "L":
            os.symlink(fields["LNK"], target)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "xb") as file:
                file.write(values["DAT"])
            os.chmod(target, fields["MOD"] & 0o777)


if __name__ == "__main__":
    try:
        main()
    except (Damaged, IndexError, KeyError, struct.error, zlib.error) as error:
        sys.exit(f"damaged: {error}")
