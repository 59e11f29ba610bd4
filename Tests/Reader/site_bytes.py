"""Little-endian fields of the files of a site."""
import struct


class Refused(Exception):
    pass


def require(condition, reason):
    if not condition:
        raise Refused(reason)


class Bytes:
    def __init__(self, data):
        self.data, self.offset = data, 0

    def take(self, count):
        require(0 <= count <= len(self.data) - self.offset, "unexpected end")
        self.offset += count
        return self.data[self.offset - count:self.offset]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize(form)))[0]

    def text(self):
        return self.take(self.number("I")).decode("utf-8")

    def end(self):
        require(self.offset == len(self.data), "trailing bytes")
