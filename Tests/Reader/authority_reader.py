"""Reads the authority of roots, deltas and images from Docs/FORMAT.md alone, and verifies all its signatures."""
import hashlib

import ed25519
from site_bytes import Bytes, require

MARK, LIMIT = 0xffffffff, 63


def message(kind, content):
    return b"packstore " + kind + b"\0" + hashlib.sha256(content).digest()


class KeySet:
    def __init__(self, data):
        begin = data.offset
        self.number, self.need, count = data.number("I"), data.number("B"), data.number("B")
        require(1 <= self.number <= LIMIT + 1 and 1 <= count <= 16 and 1 <= self.need <= count, "invalid key set")
        self.keys = [data.take(32) for _ in range(count)]
        require(all(one < other for one, other in zip(self.keys, self.keys[1:])), "keys of a set are out of order")
        require(all(ed25519.acceptable(key) for key in self.keys), "a key of a set cannot sign")
        self.bytes = data.data[begin:data.offset]
        counts = bytes([self.need, count])
        self.id = self.keys[0] if count == 1 else hashlib.sha256(
            b"packstore key set\0" + counts + b"".join(self.keys)).digest()

    def check(self, data, kind, content):
        last = -1
        for _ in range(self.need):
            index, signature = data.number("B"), data.take(64)
            require(last < index < len(self.keys), "invalid index of a signature")
            last = index
            require(ed25519.verify(self.keys[index], message(kind, content), signature), "invalid signature of a set")


class Authority:
    """The keys that authorize a signature: root_ids in order, release_key, and the fields of the delegation."""

    def __init__(self, content):
        data = Bytes(content)
        count, self.has_sets = data.number("I"), False
        if count == MARK:
            count, self.has_sets = data.number("I"), True
        require(count <= LIMIT, "too many rotations")
        self.root_ids, last = [], None
        for _ in range(count):
            old, new = data.take(32), data.take(32)
            require(old != new and (last is None or old == last), "invalid rotation")
            for key in (old, new):
                require(ed25519.verify(key, message(b"rotation", old + new), data.take(64)), "invalid rotation")
            self.root_ids.append(old)
            last = new
        signers = self.read_sets(data, count, last) if self.has_sets else None
        self.read_delegation(data, signers, last)
        data.end()
        self.first_id = self.root_ids[0]

    def read_sets(self, data, count, last):
        present = KeySet(data)
        require(present.number == count + 1 and (last is None or present.keys == [last]), "invalid first key set")
        self.root_ids.append(present.id)
        sizes = [len(present.keys)]
        rotations = data.number("I")
        require(rotations <= LIMIT - count, "too many rotations")
        for _ in range(rotations):
            new = KeySet(data)
            require(new.number == present.number + 1 and new.id not in self.root_ids, "invalid next key set")
            content = self.root_ids[0] + present.id + new.bytes
            present.check(data, b"key set rotation", content)
            new.check(data, b"key set rotation", content)
            self.root_ids.append(new.id)
            sizes.append(len(new.keys))
            present = new
        require(max(sizes) > 1, "key sets of single keys")
        return present

    def read_delegation(self, data, signers, last):
        begin = data.offset
        self.serial, self.since, self.made_at, self.end = (data.number(form) for form in "QQqq")
        require(1 <= self.serial < 2**53 and self.since <= self.serial and self.end >= 0, "invalid delegation")
        root, self.release_key = data.take(32), data.take(32)
        self.product = data.text()
        count = data.number("I")
        require(count <= 64, "too many channels")
        self.channels = [data.text() for _ in range(count)]
        require(all(one < other for one, other in zip(self.channels, self.channels[1:])), "channels are out of order")
        fields = data.data[begin:data.offset]
        if signers:
            require(root == signers.id, "delegation by another key set")
            signers.check(data, b"key set delegation", self.root_ids[0] + fields)
            return
        require(last is None or root == last, "delegation by another root key")
        require(ed25519.verify(root, message(b"delegation", fields), data.take(64)), "invalid delegation")
        self.root_ids.append(root)

    def allows(self, channel):
        return not self.channels or channel in self.channels
