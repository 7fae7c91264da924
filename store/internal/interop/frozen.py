"""The frozen index at the end of sealed segments and packages. Section 9 of FORMAT.md."""

import struct
import unicodedata
from dataclasses import dataclass

from crc32c import crc32c
from errors import Corrupt, Newer

MASK = (1 << 64) - 1
PUT, TOMBSTONE = 1, 2
SLOTS, REACH = 7, 8


@dataclass
class Location:
    segment: int
    offset: int
    length: int
    crc: int


@dataclass
class Entry:
    name: bytes
    kind: int
    rank: int
    sequence: int
    location: Location
    description: bytes
    at: int     # its offset in the index
    end: int


def check_name(name):
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError:
        raise Corrupt(f"the name {name!r} is not UTF-8") from None
    if not 1 <= len(name) <= 1024 or any(unicodedata.category(c) == "Cc" for c in text):
        raise Corrupt(f"{name!r} can't be a name")


def round_up(n):
    return (n + 63) & ~63


def fold(a, b):
    p = a * b
    return (p & MASK) ^ (p >> 64)


def hash_of(name):
    h = (0x243F6A8885A308D3 + len(name)) & MASK
    for i in range(0, len(name), 8):
        h = fold(h ^ int.from_bytes(name[i:i + 8], "little"), 0x082EFA98EC4E6C89)
    return fold(h ^ 0x452821E638D01377, 0xBE5466CF34E90C6D)


class Index:
    def __init__(self, data):
        self.data = data
        self.seen = {}  # entries by offset
        if len(data) < 256 or len(data) % 64:
            raise Corrupt(f"an index of {len(data)} bytes")
        (magic, version, _, length, self.count, self.tombstones, self.lowest, self.highest,
         buckets_at, self.buckets, self.order_at, self.entries_at, self.entries_length,
         self.attributes_at, self.attributes_length, *crcs) = struct.unpack_from("<8sII12Q4I", data)
        if magic != b"tsfrozen" or struct.unpack_from("<I", data, 252)[0] != crc32c(data[:252]):
            raise Corrupt("no header of an index")
        if version != 1:
            raise Newer(f"index of version {version}")
        self.digest = bytes(data[128:160])
        if length != len(data):
            raise Corrupt(f"the index says that it has {length} bytes, there are {len(data)}")
        if self.tombstones > self.count or self.buckets > self.count or self.count >= 1 << 32:
            raise Corrupt(f"{self.count} entries, {self.tombstones} tombstones, {self.buckets} buckets")
        at = 256
        sections = []
        for said, size in ((buckets_at, 64 * self.buckets), (self.order_at, 8 * self.count),
                           (self.entries_at, self.entries_length),
                           (self.attributes_at, self.attributes_length)):
            if said != at:
                raise Corrupt(f"a section at {said} instead of {at}")
            sections.append(data[at:at + size])
            at = round_up(at + size)
        if at != length:
            raise Corrupt(f"sections up to {at} of {length}")
        for section, crc in zip(sections, crcs):
            if crc32c(section) != crc:
                raise Corrupt("a section of the index has another CRC")

    def entry(self, at):
        """The entry at an offset, its CRCs checked."""
        if at not in self.seen:
            self.seen[at] = self.parse(at)
        return self.seen[at]

    def parse(self, at):
        end = self.entries_at + self.entries_length
        if at % 8 or at < self.entries_at or at + 56 > end:
            raise Corrupt(f"an entry at {at}")
        (crc, kind, _, name_length, rank, description_length, sequence, segment, offset, length,
         record_crc, description_crc) = struct.unpack_from("<IBBHIIQQQQII", self.data, at)
        name_end = at + 56 + name_length
        if name_end + description_length > end:
            raise Corrupt(f"the entry at {at} is too long")
        if crc32c(self.data[at + 4:name_end]) != crc:
            raise Corrupt(f"the entry at {at} has another CRC")
        if kind not in (PUT, TOMBSTONE):
            raise Newer(f"an entry of kind {kind}")
        name = bytes(self.data[at + 56:name_end])
        check_name(name)
        description = bytes(self.data[name_end:name_end + description_length])
        location = None
        if kind == PUT:
            if crc32c(description) != description_crc:
                raise Corrupt(f"the description of the entry at {at} has another CRC")
            if offset % 64 or length % 64 or not length or offset + length >= 1 << 63:
                raise Corrupt(f"a record of {length} bytes at {offset}")
            location = Location(segment, offset, length, record_crc)
        elif any(self.data[at + 24:at + 56]) or description_length:
            raise Corrupt(f"the tombstone at {at} has a record")
        if not self.lowest <= sequence <= self.highest:
            raise Corrupt(f"the entry at {at} has sequence number {sequence}")
        return Entry(name, kind, rank, sequence, location, description, at,
                     (name_end + description_length + 7) & ~7)

    def ranked(self, rank):
        """The entry with a rank, by the order."""
        entry = self.entry(struct.unpack_from("<Q", self.data, self.order_at + 8 * rank)[0])
        if entry.rank != rank:
            raise Corrupt(f"an entry of rank {entry.rank} where {rank} should be")
        return entry

    def rank_of(self, name):
        """How many names are less than this one, by halves."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self.ranked(middle).name < name:
                low = middle + 1
            else:
                high = middle
        return low

    def prefixed(self, prefix):
        """The entries whose names begin with a prefix, in order."""
        rank = self.rank_of(prefix)
        while rank < self.count:
            entry = self.ranked(rank)
            if not entry.name.startswith(prefix):
                return
            yield entry
            rank += 1

    def home(self, name_hash):
        return name_hash * self.buckets >> 64

    def lookup(self, name):
        """The entry of a name by the hash table, or None."""
        h = hash_of(name)
        tag = h & 0xFFFFFF
        for step in range(min(REACH, self.buckets)):
            at = 256 + 64 * ((self.home(h) + step) % self.buckets)
            bucket = self.data[at:at + 64]
            *slots, used, spilled, _, crc = struct.unpack("<7QBBHI", bucket)
            if crc32c(bucket[:60]) != crc:
                raise Corrupt(f"the bucket at {at} has another CRC")
            for slot in slots[:used]:
                if slot >> 40 == tag:
                    entry = self.entry(8 * (slot & (1 << 40) - 1))
                    if entry.name == name:
                        return entry
            if not spilled:
                return None
        if self.buckets == 0:
            return None
        rank = self.rank_of(name)
        entry = self.ranked(rank) if rank < self.count else None
        return entry if entry and entry.name == name else None

    def entries(self):
        """All entries as they lie, each checked."""
        at, found = self.entries_at, []
        while at < self.entries_at + self.entries_length:
            entry = self.entry(at)
            if entry.rank != len(found) or (found and found[-1].name >= entry.name):
                raise Corrupt(f"the entry at {at} is out of order")
            found.append(entry)
            at = entry.end
        if len(found) != self.count:
            raise Corrupt(f"{len(found)} entries, not {self.count}")
        return found

    def attributes(self):
        """The attributes of the dataset, in order."""
        section = self.data[self.attributes_at:self.attributes_at + self.attributes_length]
        if not section:
            return []
        at = 0

        def varint():
            nonlocal at
            value = shift = 0
            while True:
                if at >= len(section) or shift > 56:
                    raise Corrupt("a number in the dataset's attributes")
                byte = section[at]
                at += 1
                value |= (byte & 0x7F) << shift
                shift += 7
                if not byte & 0x80:
                    if byte == 0 and shift > 7:
                        raise Corrupt("a number in the dataset's attributes is too long")
                    return value

        def string():
            nonlocal at
            n = varint()
            if at + n > len(section):
                raise Corrupt("a string in the dataset's attributes")
            at += n
            return bytes(section[at - n:at])

        pairs = [(string(), string()) for _ in range(varint())]
        if at != len(section):
            raise Corrupt("bytes behind the dataset's attributes")
        return pairs

    def rebuilt(self):
        """The index that FORMAT.md says these entries have: it must be this one, byte for byte."""
        entries = self.entries()
        count = len(entries)
        buckets = -(-count // 5)
        slots = [[] for _ in range(buckets)]
        spilled = [0] * buckets
        for entry in entries:
            h = hash_of(entry.name)
            for step in range(min(REACH, buckets)):
                b = ((h * buckets >> 64) + step) % buckets
                if len(slots[b]) < SLOTS:
                    slots[b].append((h & 0xFFFFFF) << 40 | entry.at >> 3)
                    break
                spilled[b] = 1
        table = bytearray()
        for used, flag in zip(slots, spilled):
            bucket = struct.pack("<7QBBH", *used, *[0] * (SLOTS - len(used)), len(used), flag, 0)
            table += bucket + struct.pack("<I", crc32c(bucket))
        order = struct.pack(f"<{count}Q", *[e.at for e in entries])
        blob = bytearray()
        for e in entries:
            location = e.location or Location(0, 0, 0, 0)
            fixed = struct.pack("<BBHIIQQQQII", e.kind, 0, len(e.name), e.rank, len(e.description),
                                e.sequence, location.segment, location.offset, location.length,
                                location.crc, crc32c(e.description)) + e.name
            blob += struct.pack("<I", crc32c(fixed)) + fixed + e.description
            blob += bytes(-len(blob) % 8)
        attributes = bytes(self.data[self.attributes_at:self.attributes_at + self.attributes_length])
        at, offsets, crcs, body = 256, [], [], bytearray()
        for section in (table, order, blob, attributes):
            offsets.append(at + len(body))
            crcs.append(crc32c(section))
            body += section
            body += bytes(-len(body) % 64)
        numbers = [e.sequence for e in entries] or [0]
        header = struct.pack("<8sII12Q4I32s", b"tsfrozen", 1, 0, 256 + len(body), count,
                             sum(e.kind == TOMBSTONE for e in entries), min(numbers), max(numbers),
                             offsets[0], buckets, offsets[1], offsets[2], len(blob), offsets[3],
                             len(attributes), *crcs, self.digest)
        header += bytes(252 - len(header))
        return header + struct.pack("<I", crc32c(header)) + bytes(body)
