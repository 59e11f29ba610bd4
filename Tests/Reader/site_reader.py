#!/usr/bin/env python3
"""Reads the roots of sites from Docs/FORMAT.md alone, and selects offers for devices.

    site_reader.py --root FILE          verify a root, and print its keys and rollouts
    site_reader.py --select FILE        select offers; prints one line for each case
    site_reader.py --history PLACE      check the history of channels: the folder of a site, or an export of one channel

--select does not verify signatures. Its file has four kinds of lines:

    root HEX                                    a root
    platforms NUMBER=A,B;NUMBER=C               the platforms of versions, of all packs; without an entry: all
    case ACCEPTED CLOCK DATE DEVICE APP PLATFORM PACK CURRENT
                                                a device: the newest accepted creation time, its clock, the Date of the response;
                                                '-' for a missing Date, app version or platform; CURRENT 0 without the pack
    packs ACCEPTED CLOCK DATE DEVICE APP PLATFORM REQUESTED CURRENT UNABLE
                                                a device with several packs: the requested ones, A,B; the installed and wanted ones,
                                                A=3,B=0; the unable ones; '-' for none

The answer to a case is the number of the selected version, or '-', then the reasons of the offers before it. The answer to packs is
NAME=NUMBER for each included pack, with '-' for no version, then '!NAME' with the blocking pack if the pack is blocked.
"""
import argparse
import base64
import hashlib
import os
import struct
import sys

import ed25519
from authority_reader import Authority, message
from site_bytes import Bytes, Refused, require

EVERY_DEVICE = 10000
LAST_TIME = 2**63 - 1
HIGHEST, HISTORY, ROLLOUTS, RELEASES, CRITICAL = 1, 17, 32, 33, 1
OPEN, PAUSED, HALTED = 0, 1, 2
KEY_SETS = 0x000b0001


class Rollout:
    """How the share of an offer changes over time."""

    def __init__(self, data):
        self.state, self.as_of, count = data.number("I"), data.number("q"), data.number("I")
        require(self.state in (OPEN, PAUSED, HALTED), "invalid state")
        require(self.as_of >= 0 and count <= 64, "invalid rollout")
        self.steps = [(data.number("q"), data.number("I")) for _ in range(count)]

    def check(self, base):
        require(self.state != OPEN or self.steps, "an open rollout without steps")
        rows = [(-1, base)] + self.steps
        for before, after in zip(rows, rows[1:]):
            require(before[0] < after[0] and before[1] < after[1], "steps do not rise")
        require(rows[-1][1] <= EVERY_DEVICE, "a share above all devices")


class Offer:
    def __init__(self, data):
        self.number, self.epoch = data.number("Q"), data.number("Q")
        data.take(32 + 32 + 4 + 32 + 8)
        self.share = data.number("I")
        require(self.share <= EVERY_DEVICE, "invalid share")
        self.lowest, self.end = data.text(), data.text()
        self.rollout, self.release = None, None

    def share_at(self, time, end):
        if self.rollout is None:
            return self.share
        if self.rollout.state == HALTED:
            return 0
        moment = min(self.rollout.as_of if self.rollout.state == PAUSED else time, end)
        return max([self.share] + [share for at, share in self.rollout.steps if at <= moment])

    def last_share(self):
        steps = self.rollout.steps if self.rollout else []
        return steps[-1][1] if steps else self.share


class Release:
    """A set of offers that devices install together."""

    def __init__(self, data):
        self.id, self.name, self.share = data.take(16), data.text(), data.number("I")
        require(len(self.name) <= 64 and all(c.isascii() and (c.isalnum() or c in "._+-") for c in self.name), "invalid name")
        require(self.share <= EVERY_DEVICE, "invalid share")
        self.rollout = Rollout(data)
        if self.rollout.state == OPEN and not self.rollout.steps:
            require(self.rollout.as_of == 0, "a fixed share with a date")
            self.rollout = None
        else:
            self.rollout.check(self.share)
        self.members = [(data.text(), data.number("Q")) for _ in range(data.number("I"))]
        require(0 < len(self.members) <= 65535, "a release without members")
        names = [name.encode() for name, _ in self.members]
        require(all(left < right for left, right in zip(names, names[1:])), "members are out of order")


class Root:
    def __init__(self, content):
        self.content, self.head = content, None
        data = Bytes(content[:-64])
        require(data.take(8) == b"PKSROOT0", "not a root")
        self.format = data.number("I")
        require(data.number("I") in (0, 1), "invalid flags")
        self.sequence, self.made_at, self.lifetime = data.number("Q"), data.number("q"), data.number("q")
        data.take(16)
        count = data.number("I")
        require(count <= 262144, "the authority is too long")
        self.authority_bytes = data.take(count)
        self.first_key = self.key_of(self.authority_bytes)
        self.product, self.channel, self.language = data.text(), data.text(), data.text()
        for _ in range(data.number("I")):
            data.take(36)
        self.packs, self.highest, self.horizon = {}, {}, 0
        for _ in range(data.number("I")):
            name = data.text()
            data.number("i")
            offers, deltas = data.number("I"), data.number("I")
            self.packs[name] = [Offer(data) for _ in range(offers)]
            data.take(108 * deltas)
        self.read_extensions(data)
        data.end()

    @staticmethod
    def key_of(authority):
        if not authority:
            return bytes(32)
        if authority[:4] == b"\xff" * 4:
            return Authority(authority).first_id
        data = Bytes(authority)
        return data.take(32) if data.number("I") else data.take(32 + 32)[32:]

    def verify(self):
        """Checks all signatures; returns the authority."""
        authority = Authority(self.authority_bytes)
        require(authority.has_sets == (self.format == KEY_SETS), "the format does not match the authority")
        require(authority.product == self.product and authority.allows(self.channel), "the key may not sign this root")
        signed = message(b"root", self.content[:-64])
        require(ed25519.verify(authority.release_key, signed, self.content[-64:]), "invalid signature of the root")
        return authority

    def release_key(self):
        return Authority(self.authority_bytes).release_key if self.authority_bytes else bytes(32)

    def content_digest(self):
        message = self.content[:-64]
        if self.head:
            message = message[:self.head[2]] + bytes(32) + message[self.head[2] + 32:]
        return hashlib.sha256(message).digest()

    def read_extensions(self, data):
        last = 0
        for _ in range(data.number("I")):
            kind, flags = data.number("H"), data.number("H")
            length = data.number("I")
            place, content = data.offset, Bytes(data.take(length))
            require(kind > last and flags & ~CRITICAL == 0, "invalid extension")
            last = kind
            if kind == HIGHEST:
                for _ in range(content.number("I")):
                    name = content.text()
                    self.highest[name] = (content.number("Q"), content.number("Q"))
                content.end()
            elif kind == ROLLOUTS:
                require(flags == CRITICAL, "the rollouts are not critical")
                self.read_rollouts(content)
            elif kind == RELEASES:
                require(flags == CRITICAL, "the releases are not critical")
                self.read_releases(content)
            elif kind == HISTORY:
                require(flags == 0 and length == 40, "invalid link to the history")
                self.head = (content.number("Q"), content.take(32), place + 8)
                require(self.head[0] > 0, "an empty history")
            else:
                require(flags == 0, "unknown critical extension %d" % kind)

    def read_rollouts(self, data):
        self.horizon, count, last = data.number("q"), data.number("I"), None
        require(self.horizon >= 0 and 0 < count <= 65535, "invalid rollouts")
        for _ in range(count):
            name, number = data.text(), data.number("Q")
            place = (name.encode(), number)
            require(last is None or last < place, "rollouts are out of order")
            last = place
            found = [offer for offer in self.packs.get(name, []) if offer.number == number]
            require(found, "rollout of a version that is not offered")
            found[0].rollout = Rollout(data)
            found[0].rollout.check(found[0].share)
            require(self.lifetime > 0 or not found[0].rollout.steps, "steps in a root that never expires")
        data.end()

    def read_releases(self, data):
        has_rollouts, horizon, count = self.has_rollouts(), data.number("q"), data.number("I")
        require(horizon >= 0 and (not has_rollouts or horizon == self.horizon), "invalid horizon")
        require(0 < count <= 65535, "invalid releases")
        self.horizon, last = horizon, b""
        for _ in range(count):
            release = Release(data)
            require(last < release.id or not last, "releases are out of order")
            last = release.id
            require(self.lifetime > 0 or not release.rollout or not release.rollout.steps, "steps in a root that never expires")
            for name, number in release.members:
                found = [offer for offer in self.packs.get(name, []) if offer.number == number]
                require(found, "release of a version that is not offered")
                offer = found[0]
                require(offer.release is None and offer.rollout is None and offer.share == 0, "member with a share")
                offer.release, offer.share, offer.rollout = release, release.share, release.rollout
        require(horizon == 0 or self.has_rollouts(), "horizon without a rollout")
        data.end()

    def has_rollouts(self):
        return any(offer.rollout for offers in self.packs.values() for offer in offers)

    def end_of_steps(self):
        return min(self.made_at + self.horizon, LAST_TIME) if self.horizon else LAST_TIME


def parts(version):
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def draw(root, device, pack, offer):
    message = device + root.first_key + root.product.encode() + b"\0"
    if offer.release:
        message = b"packstore release\0" + message + offer.release.id
    else:
        message = b"packstore share\0" + message + pack.encode() + b"\0" + struct.pack("<Q", offer.number)
    return int.from_bytes(hashlib.sha256(message).digest()[:8], "little") % EVERY_DEVICE


def obstacle(root, offer, platforms, time, device, app, platform, pack, current, releases=()):
    """Why an offer does not apply; None if it does. The device has the releases."""
    if platform and platforms and platform not in platforms:
        return "platform"
    if app and (offer.lowest and parts(app) < parts(offer.lowest) or offer.end and parts(app) >= parts(offer.end)):
        return "appVersion"
    share, last = offer.share_at(time, root.end_of_steps()), offer.last_share()
    if offer.number == current or share >= EVERY_DEVICE or offer.release in releases:
        return None
    if offer.rollout and offer.rollout.state == HALTED:
        return "halted"
    later = "paused" if offer.rollout and offer.rollout.state == PAUSED else "schedule"
    if share == 0:
        return later if last > 0 else "share"
    number = draw(root, device, pack, offer)
    if number < share:
        return None
    return later if number < last else "share"


class Device:
    """A device with several packs: the rules of releases."""

    def __init__(self, root, platforms, words):
        accepted, clock, date, device, app, platform, requested, current, unable = words
        self.root, self.platforms, self.device = root, platforms, bytes.fromhex(device)
        self.time = max(int(accepted), int(clock) if date == "-" else min(int(clock), int(date)))
        self.app, self.platform = (None if word == "-" else word for word in (app, platform))
        self.current = {name: int(number) for name, number in (row.split("=") for row in split(current))}
        self.requested, self.unable = split(requested), sorted(split(unable), key=str.encode)
        everything = {offer.release for offers in root.packs.values() for offer in offers if offer.release}
        self.releases = [release for release in everything if self.has(release)]
        names = [name for name in root.packs if name in self.current or name in self.requested]
        self.used = {name: next((offer for offer in root.packs[name] if self.applies(name, offer)), None) for name in names}

    def applies(self, name, offer):
        return obstacle(self.root, offer, self.platforms.get(offer.number, []), self.time, self.device, self.app, self.platform,
                        name, self.current.get(name, 0), self.releases) is None

    def reaches(self, name, offer):
        """Whether the current version is the offer, or one in front of it."""
        offers = self.root.packs[name]
        return self.current.get(name, 0) in [other.number for other in offers[:offers.index(offer) + 1]]

    def members(self, release):
        for name, number in release.members:
            yield name, next(offer for offer in self.root.packs[name] if offer.number == number)

    def has(self, release):
        installed = [(name, offer) for name, offer in self.members(release) if self.current.get(name, 0)]
        return any(self.current[name] == offer.number for name, offer in installed) and all(
            self.reaches(name, offer) for name, offer in installed)

    def concerned(self, release):
        return [(name, offer) for name, offer in self.members(release) if name in self.used and self.applies(name, offer)]

    def chosen(self, name):
        return self.used[name].release if name in self.used and self.used[name] else None

    def included(self):
        found, todo = set(self.requested), list(self.requested)
        while todo:
            release = self.chosen(todo.pop())
            for name, _ in self.concerned(release) if release else []:
                if name not in found:
                    found.add(name)
                    todo.append(name)
        return sorted(found, key=str.encode)

    def blocked(self, included):
        blocking = {}
        for cause in self.unable:
            stuck = {cause}
            while True:
                failed = [release for release in {self.chosen(name) for name in included} if release and any(
                    name in stuck and not self.reaches(name, offer) for name, offer in self.concerned(release))]
                more = {name for name in included if self.chosen(name) in failed
                        and self.used[name].number != self.current.get(name, 0) and name not in self.unable}
                if more <= stuck:
                    break
                stuck |= more
            for name in stuck - {cause}:
                blocking.setdefault(name, cause)
        return blocking

    def answer(self):
        included = self.included()
        blocking = self.blocked(included)
        for name in included:
            used = self.used.get(name)
            yield "%s=%s%s" % (name, used.number if used else "-", "!" + blocking[name] if name in blocking else "")


def split(word):
    return [] if word == "-" else word.split(",")


def select(lines):
    root, platforms = None, {}
    for line in lines:
        words = line.split()
        if words[0] == "root":
            root, platforms = Root(bytes.fromhex(words[1])), {}
        elif words[0] == "platforms":
            rows = [row.split("=") for row in words[1].split(";")]
            platforms = {int(number): names.split(",") for number, names in rows}
        elif words[0] == "packs":
            yield " ".join(Device(root, platforms, words[1:]).answer())
        else:
            accepted, clock, date, device, app, platform, pack, current = words[1:]
            time = max(int(accepted), int(clock) if date == "-" else min(int(clock), int(date)))
            app, platform = (None if word == "-" else word for word in (app, platform))
            reasons, chosen = [], "-"
            for offer in root.packs[pack]:
                reason = obstacle(root, offer, platforms.get(offer.number, []), time, bytes.fromhex(device), app,
                                  platform, pack, int(current))
                if reason is None:
                    chosen = str(offer.number)
                    break
                reasons.append(reason)
            yield " ".join([chosen] + reasons)


class Record:
    """A change of a root."""

    def __init__(self, content):
        data = Bytes(content)
        require(data.take(8) == b"PKSHIST0", "not a record")
        data.number("I")
        require(data.number("I") == 0, "reserved field is not zero")
        self.number, self.made_at, self.sequence = data.number("Q"), data.number("q"), data.number("Q")
        self.key, self.predecessor, self.before, self.after, self.private = (data.take(32) for _ in range(5))
        name = data.take(64)
        self.channel = name.rstrip(b"\0").decode("ascii")
        data.end()
        require(self.number > 0 and (self.number == 1) == (self.predecessor == bytes(32)), "invalid number")


def check_history(root, record_of, note_of):
    """Checks a chain from the root on. Yields its records, the newest first."""
    if root.head is None:
        return
    number, digest, _ = root.head
    after, newest = root.content_digest(), True
    while digest != bytes(32):
        content = record_of(digest)
        require(content is not None, "record %d is missing" % number)
        require(hashlib.sha256(content).digest() == digest, "record %d is damaged" % number)
        record = Record(content)
        require((record.number, record.channel, record.after) == (number, root.channel, after), "a foreign record")
        if newest:
            facts = (record.made_at, record.sequence, record.key)
            require(facts == (root.made_at, root.sequence, root.release_key()), "the record differs from the root")
        note = note_of(digest)
        if note is not None:
            require(hashlib.sha256(note).digest() == record.private, "a private part of another record")
            require(note[32:].startswith(b"packstore change 1\n"), "not a private part")
        yield record
        number, digest, after, newest = number - 1, record.predecessor, record.before, False


def histories(place):
    """The roots of a site's folder or of an export, with the access to their records and private parts."""
    def read(name):
        try:
            with open(os.path.join(place, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    if os.path.isdir(place):
        others = sorted(os.listdir(os.path.join(place, "roots")))
        for name in ["root"] + ["roots/" + name for name in others if not name.endswith(".new")]:
            content = read(name)
            if content is not None:
                yield Root(content), lambda key: read("history/" + key.hex()), lambda key: read("notes/" + key.hex())
        return
    with open(place, encoding="ascii") as file:
        lines = file.read().splitlines()
    require(lines[0] == "packstore history 1", "not an export")
    root, records, notes, last = None, {}, {}, None
    for line in lines[1:]:
        word, text = line.split(" ")
        content = base64.b64decode(text, validate=True)
        if word == "root":
            root = Root(content)
        elif word == "record":
            last = hashlib.sha256(content).digest()
            records[last] = content
        else:
            require(word == "private" and last is not None, "unknown line")
            notes[last] = content
    require(root is not None, "an export without a root")
    yield root, records.get, notes.get


def show_history(place):
    for root, record_of, note_of in histories(place):
        for record in check_history(root, record_of, note_of):
            yield "%s %d %d %s" % (record.channel, record.number, record.sequence, record.after.hex())


def show(root):
    if root.authority_bytes:
        authority = root.verify()
        yield "root keys %s release key %s serial %d since %d" % (
            " ".join(key.hex() for key in authority.root_ids), authority.release_key.hex(), authority.serial,
            authority.since)
    yield "made %d horizon %d" % (root.made_at, root.horizon)
    for pack, offers in root.packs.items():
        for offer in offers:
            if offer.release:
                yield "%s@%d in release %s %s" % (pack, offer.number, offer.release.id.hex(), offer.release.name or "-")
            if offer.rollout:
                steps = " ".join("%d:%d" % step for step in offer.rollout.steps)
                yield "%s@%d base %d state %d as of %d %s" % (
                    pack, offer.number, offer.share, offer.rollout.state, offer.rollout.as_of, steps)


def main(arguments):
    parser = argparse.ArgumentParser(prog="site_reader.py")
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--root", metavar="FILE")
    group.add_argument("--select", metavar="FILE")
    group.add_argument("--history", metavar="PLACE")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.select:
            with open(chosen.select, encoding="utf-8") as file:
                sys.stdout.write("".join(answer + "\n" for answer in select(file)))
        elif chosen.history:
            sys.stdout.write("".join(line + "\n" for line in show_history(chosen.history)))
        else:
            with open(chosen.root, "rb") as file:
                sys.stdout.write("".join(line + "\n" for line in show(Root(file.read()))))
    except (Refused, struct.error, ValueError) as error:
        print("refused: %s" % error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
