"""Segment files: control records, the header with the live set, commit records, the trailer.

Sections 2, 3, 4 and 6 of FORMAT.md.
"""

import mmap
import pathlib
import re
import struct
from dataclasses import dataclass, field

import numpy as np

import frozen
from crc32c import crc32c
from errors import Corrupt, EndOfStream, Newer
from messages import NONE, SPARSE_TENSOR, TENSOR, Message

LOG, DATA, COMPACTED, PACKAGE = 1, 2, 3, 4
PUT, DELETE, RENAME, ATTACH, REPLACE = 1, 2, 3, 4, 5
ZERO_UUID = bytes(16)
MARKER = b"\xff\xff\xff\xff\0\0\0\0" + bytes(56)
FILE_NAME = re.compile(r"([0-9]{10,})\.seg")


def round_up(n):
    return (n + 63) & ~63


class Payload:
    """Takes fields from the front of a payload."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        size = struct.calcsize("<" + form)
        if self.at + size > len(self.data):
            raise Corrupt(f"payload of {len(self.data)} bytes ends within a field at {self.at}")
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += size
        return values if len(values) > 1 else values[0]

    def bytes(self, n):
        if self.at + n > len(self.data):
            raise Corrupt(f"payload of {len(self.data)} bytes ends within {n} bytes at {self.at}")
        self.at += n
        return bytes(self.data[self.at - n:self.at])


class Control:
    """A control record at a place in a file: key and body, its CRC checked."""

    def __init__(self, data, start, key):
        try:
            message = Message(data, start)
        except EndOfStream:
            raise Corrupt(f"no message at {start}") from None
        if message.header != NONE or [k for k, _ in message.pairs] != [key]:
            raise Corrupt(f"no {key.decode()} record at {start}")
        self.start, self.end = start, message.end
        if (message.end - start) % 64 or message.body_length < 64:
            raise Corrupt(f"the record at {start} has {message.end - start} bytes")
        whole = message.data[start:message.end]
        if struct.unpack_from("<I", whole, len(whole) - 4)[0] != crc32c(whole[:-4]):
            raise Corrupt(f"the record at {start} has another CRC")
        if message.pairs[0][1] != b"1":
            raise Newer(f"version {message.pairs[0][1]} of the {key.decode()} record at {start}")
        self.body = message.body()[:-4]

    def expect(self, payload_length):
        """A payload knows its own length, from which that of the body follows."""
        if len(self.body) + 4 != round_up(payload_length + 4):
            raise Corrupt(f"a payload of {payload_length} bytes in a body of {len(self.body) + 4}")


@dataclass
class Attached:
    """How a package belongs to a store."""
    base: int
    digest: bytes
    prefix: bytes
    left_out: list


@dataclass
class Live:
    number: int
    uuid: bytes
    valid: int
    kind: int
    extra_length: int
    attached: Attached = None


def take_live(payload):
    number, uuid, valid, kind, _, extra = payload.take("Q16sQHHI")
    if kind not in (LOG, DATA, COMPACTED, PACKAGE):
        raise Newer(f"segment {number} of kind {kind}")
    return Live(number, uuid, valid, kind, extra)


def take_extra(payload, live):
    if live.kind != PACKAGE:
        if live.extra_length:
            raise Corrupt(f"segment {live.number} of kind {live.kind} has an extra")
        return
    end = payload.at + live.extra_length
    base, digest, count, prefix = payload.take("Q32sIH")
    prefix = payload.bytes(prefix)
    left_out = [payload.bytes(payload.take("H")) for _ in range(count)]
    if payload.at != end or left_out != sorted(set(left_out)):
        raise Corrupt(f"the extra of segment {live.number}")
    live.attached = Attached(base, digest, prefix, left_out)


class Header:
    """The first message of a segment."""

    def __init__(self, data):
        record = Control(data, 0, b"tstore.segment")
        payload = Payload(record.body)
        version, = struct.unpack_from("<H", record.body)
        if version != 1:
            raise Newer(f"format version {version}")
        (_, self.kind, count, self.number, self.store, self.uuid, self.base,
         _) = payload.take("HHIQ16s16sQQ")
        if self.kind not in (LOG, DATA, COMPACTED, PACKAGE):
            raise Newer(f"kind {self.kind}")
        self.live = [take_live(payload) for _ in range(count)]
        for live in self.live:
            take_extra(payload, live)
        numbers = [live.number for live in self.live]
        if numbers != sorted(set(numbers)):
            raise Corrupt("the live set does not ascend")
        if self.kind != LOG and count:
            raise Corrupt(f"a segment of kind {self.kind} has a live set")
        record.expect(payload.at)
        self.end = record.end


@dataclass
class Operation:
    kind: int
    name: bytes = None
    old: bytes = None
    location: "frozen.Location" = None
    uuid: bytes = None
    live: list = field(default_factory=list)
    gone: list = field(default_factory=list)


def take_operation(payload):
    kind, _, length = payload.take("BBH")
    if kind in (PUT, RENAME):
        number, uuid, offset, size, crc = payload.take("Q16sQQI")
        location = frozen.Location(number, offset, size, crc)
        old = payload.bytes(payload.take("H")) if kind == RENAME else None
        return Operation(kind, check_name(payload.bytes(length)), old and check_name(old), location, uuid)
    if kind == DELETE:
        return Operation(kind, check_name(payload.bytes(length)))
    if kind == ATTACH:
        live = take_live(payload)
        take_extra(payload, live)
        return Operation(kind, live=[live])
    if kind == REPLACE:
        gone = [payload.take("Q") for _ in range(payload.take("I"))]
        live = []
        for _ in range(payload.take("I")):
            live.append(take_live(payload))
            take_extra(payload, live[-1])
        return Operation(kind, live=live, gone=gone)
    raise Newer(f"operation {kind}")


def check_name(name):
    frozen.check_name(name)
    return name


class Commit:
    """A commit record that is valid for its place."""

    def __init__(self, data, start, uuid):
        record = Control(data, start, b"tstore.commit")
        payload = Payload(record.body)
        (count, _, self.sequence, self.durable_to, offset, own, length,
         _) = payload.take("IIQQQ16sQQ")
        if own != uuid or offset != start:
            raise Corrupt(f"the commit record at {start} belongs elsewhere")
        self.start, self.end = start, record.end
        self.operations = [take_operation(payload) for _ in range(count)]
        if payload.at != 64 + length:
            raise Corrupt(f"the operations at {start} have {payload.at - 64} bytes, not {length}")
        record.expect(payload.at)
        self.first = None  # where the batch starts


class Trailer:
    def __init__(self, data, start):
        (magic, version, self.kind, self.uuid, self.lowest, self.highest, self.index_at,
         self.index_length, crc) = struct.unpack("<8sHH16sQQQQI", data[start:start + 64])
        if magic != b"TSTORE\r\n" or crc != crc32c(data[start:start + 60]):
            raise Corrupt(f"no trailer at {start}")
        if version != 1:
            raise Newer(f"trailer of version {version}")


class Segment:
    """A segment file: its header, and ways to read what follows."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        with open(path, "rb") as f:
            try:
                self.data = memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))
            except ValueError:  # an empty file can't be mapped
                self.data = memoryview(b"")
        self.header = Header(self.data)
        self.checked = {}  # records whose CRC was right, by offset

    def messages(self):
        """How many messages of each kind follow each other from byte 0 on."""
        counts = {"unknown": 0, "tensor": 0, "sparse_tensor": 0}
        at = 0
        while at < len(self.data):
            try:
                message = Message(self.data, at)
            except (Corrupt, EndOfStream):
                break
            kind = {TENSOR: "tensor", SPARSE_TENSOR: "sparse_tensor"}.get(message.header, "unknown")
            counts[kind] += 1
            at = message.end
        return counts

    # Batches

    def step(self, at, sequence, last):
        """The commit record of the batch that starts at a place, or None where there is none."""
        first = at
        while True:
            try:
                message = Message(self.data, at)
            except (Corrupt, EndOfStream):
                return None, at
            if (message.end - message.start) % 64 or message.end > last:
                return None, at
            if message.header not in (TENSOR, SPARSE_TENSOR):
                break
            at = message.end
        try:
            commit = Commit(self.data, at, self.header.uuid)
        except Newer:
            raise
        except Corrupt:
            return None, at
        if commit.sequence != sequence:
            return None, at
        commit.first = first
        if not self.is_sound(commit):
            return None, at
        return commit, commit.end

    def is_sound(self, commit):
        """Whether what a commit record says can be true of its batch."""
        for op in commit.operations:
            place = op.location
            if op.kind == PUT and place.segment == self.header.number:
                if (op.uuid != self.header.uuid or place.offset < commit.first
                        or place.offset + place.length > commit.start):
                    return False
        if commit.durable_to % 64:
            return False
        return commit.durable_to <= commit.first or (
            not commit.operations and commit.durable_to == commit.start)

    def batches(self, valid):
        """The batches of a log that is not the newest."""
        at, sequence, found = self.header.end, self.header.base + 1, []
        while at < valid:
            commit, stop = self.step(at, sequence, valid)
            if commit is None:
                raise Corrupt(f"{self.path}: no whole batch at {stop}, below the valid length {valid}")
            found.append(commit)
            at, sequence = commit.end, sequence + 1
        if at != valid:
            raise Corrupt(f"{self.path}: the last batch ends at {at}, the valid length is {valid}")
        return found

    def newest_batches(self):
        """The batches of the newest log that count: "Where the newest log ends"."""
        at, sequence, found = self.header.end, self.header.base + 1, []
        while True:
            commit, stop = self.step(at, sequence, len(self.data))
            if commit is None:
                break
            found.append(commit)
            at, sequence = commit.end, sequence + 1
        end = at
        durable = max((c.durable_to for c in found), default=0)
        whole = len(self.data) // 64 * 64
        starts = np.frombuffer(self.data[:whole], "<u4")[::16]
        for k in np.flatnonzero(starts[end // 64:] == 0xFFFFFFFF):
            try:
                commit = Commit(self.data, end + 64 * int(k), self.header.uuid)
            except Newer:
                raise
            except (Corrupt, EndOfStream):
                continue
            durable = max(durable, commit.durable_to)
        if durable > end:
            raise Corrupt(f"{self.path}: damage at {stop}, everything up to {durable} was on disk")
        for i, commit in enumerate(found):
            if commit.end > durable and not self.intact(commit):
                return found[:i]
        return found

    def intact(self, commit):
        """Whether the records that a batch put into this log have the right CRCs."""
        for op in commit.operations:
            if op.kind == PUT and op.location.segment == self.header.number:
                if crc32c(self.record(op.location)) != op.location.crc:
                    return False
        return True

    def record(self, location):
        return self.data[location.offset:location.offset + location.length]

    # Sealed segments

    def sealed_log(self, valid, last):
        """The frozen index behind a log's last commit record, whose sequence number is last, or
        None if the log is not sealed."""
        try:
            message = Message(self.data, valid)
            at = message.end + 64
            if at + 64 > len(self.data):
                return None
            trailer = Trailer(self.data, at)
        except (Corrupt, EndOfStream):
            return None
        if (trailer.uuid != self.header.uuid or trailer.index_at != valid
                or trailer.index_length != message.end - valid or trailer.kind != self.header.kind):
            return None
        index = self.index(trailer, at)
        if (trailer.lowest, trailer.highest) != (self.header.base + 1, last):
            raise Corrupt(f"{self.path}: the trailer has other sequence numbers than the batches")
        return index

    def sealed_file(self, valid):
        """The frozen index of a compacted segment or package."""
        if valid < 64 or valid % 64:
            raise Corrupt(f"{self.path}: no trailer in {valid} bytes")
        trailer = Trailer(self.data, valid - 64)
        if trailer.uuid != self.header.uuid or trailer.kind != self.header.kind:
            raise Corrupt(f"{self.path}: the trailer is another segment's")
        if trailer.index_at + trailer.index_length + 128 != valid:
            raise Corrupt(f"{self.path}: the trailer leads elsewhere")
        index = self.index(trailer, valid - 64)
        if (index.lowest, index.highest) != (trailer.lowest, trailer.highest):
            raise Corrupt(f"{self.path}: index and trailer have other sequence numbers")
        return index

    def index(self, trailer, at):
        record = Control(self.data, trailer.index_at, b"tstore.index")
        if record.end - record.start != trailer.index_length or record.end + 64 != at:
            raise Corrupt(f"{self.path}: the index has another length than its trailer says")
        if self.data[record.end:at] != MARKER:
            raise Corrupt(f"{self.path}: no end-of-stream marker behind the index")
        index = frozen.Index(record.body[:-60])
        if not trailer.lowest <= index.lowest <= index.highest <= trailer.highest and index.count:
            raise Corrupt(f"{self.path}: index and trailer have other sequence numbers")
        index.record_at = record.start
        return index


def last_words(commits):
    """What the batches of a log say last of each name: name → (sequence number, location or None)."""
    words = {}
    for commit in commits:
        for op in commit.operations:
            if op.kind == RENAME:
                words[op.old] = (commit.sequence, None)
            if op.kind in (PUT, RENAME):
                words[op.name] = (commit.sequence, op.location)
            elif op.kind == DELETE:
                words[op.name] = (commit.sequence, None)
    return words
