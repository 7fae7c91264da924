"""Stores and packages as a whole: which segments count, what each name stands for.

Sections 5 and 7 of FORMAT.md.
"""

import hashlib
import itertools
import pathlib
from dataclasses import dataclass

from crc32c import crc32c
from errors import Corrupt, EndOfStream
from frozen import PUT as ENTRY_PUT
from frozen import Location
from messages import Message
from segments import (ATTACH, COMPACTED, DATA, FILE_NAME, LOG, PACKAGE, PUT, REPLACE, ZERO_UUID, Live,
                      Segment, last_words)
from tensors import Tensor


@dataclass
class Word:
    """What a segment says of a name: a record, or that there is none."""
    sequence: int
    location: Location        # None: the name was deleted
    description: bytes = None  # where an index has it


def record_at(segment, location, valid):
    """The bytes of a record, whose CRC is checked."""
    if location.offset + location.length > valid:
        raise Corrupt(f"{segment.path}: a record at {location.offset} ends behind {valid}")
    record = segment.record(location)
    if segment.checked.get(location.offset) != (location.length, location.crc):
        if crc32c(record) != location.crc:
            raise Corrupt(f"{segment.path}: the record at {location.offset} has another CRC")
        segment.checked[location.offset] = (location.length, location.crc)
    return record


def tensor_at(segment, location, valid):
    """The tensor in a record."""
    record = record_at(segment, location, valid)
    try:
        message = Message(record)
    except EndOfStream:
        raise Corrupt(f"{segment.path}: no message at {location.offset}") from None
    if message.end != len(record):
        raise Corrupt(f"{segment.path}: the record at {location.offset} has another length")
    return Tensor(message)


class Reader:
    """What stores and packages have in common: named tensors, in order."""

    def words(self):
        raise NotImplementedError

    def tensors(self):
        """(name, word, tensor) of every tensor, in the order of the names."""
        for name, word in sorted(self.words().items()):
            tensor = self.tensor(word)
            if word.description is not None and word.description != tensor.description():
                raise Corrupt(f"{name!r}: the index describes another tensor")
            yield name, word, tensor


class Package(Reader):
    """A package in a file of its own."""

    def __init__(self, path):
        self.segment = Segment(path)
        self.segments = {0: self.segment}
        self.index = open_package(self.segment, len(self.segment.data))
        self.live = {0: Live(0, ZERO_UUID, len(self.segment.data), PACKAGE, 0)}
        self.indexes = [(self.segment, self.index)]
        self.replayed = 0
        self.operations = []

    def words(self):
        return {e.name: Word(e.sequence, e.location, e.description) for e in self.index.entries()}

    def tensor(self, word):
        return tensor_at(self.segment, word.location, self.index.record_at)

    def lookup(self, name):
        entry = self.index.lookup(name)
        return entry and Word(entry.sequence, entry.location, entry.description)

    def prefixed(self, prefix):
        return [e.name for e in self.index.prefixed(prefix)]

    def check(self):
        check_index(self.segment, self.index)
        return check_package(self.segment, self.index)


def open_package(segment, valid):
    header = segment.header
    if header.kind != PACKAGE:
        raise Corrupt(f"{segment.path} is no package")
    if (header.store, header.uuid, header.number, header.base) != (ZERO_UUID, ZERO_UUID, 0, 0):
        raise Corrupt(f"{segment.path}: a package whose header is not zero")
    return segment.sealed_file(valid)


def check_package(segment, index):
    """Checks the rules of section 7; returns the digest, computed again."""
    digest = hashlib.sha256()
    at = segment.header.end
    for entry in index.entries():
        location = entry.location
        if entry.kind != ENTRY_PUT or entry.sequence or location.segment:
            raise Corrupt(f"{segment.path}: the entry of {entry.name!r} is none of a package")
        if location.offset != at:
            raise Corrupt(f"{segment.path}: the record of {entry.name!r} is at {location.offset}, not {at}")
        at += location.length
        tensor = tensor_at(segment, location, index.record_at)
        pairs = list(tensor.message.pairs)
        if pairs and pairs[0][0] == b"tstore.dtype":
            del pairs[0]
        if pairs != [(b"tstore.name", entry.name)] + sorted(tensor.attributes):
            raise Corrupt(f"{segment.path}: the custom metadata of {entry.name!r}")
        digest.update(tensor.digest(entry.name))
    if at != index.record_at:
        raise Corrupt(f"{segment.path}: the index is at {index.record_at}, the records end at {at}")
    if index.attributes() != sorted(index.attributes()):
        raise Corrupt(f"{segment.path}: the attributes of the dataset are not sorted")
    keys = [key for key, _ in index.attributes()]
    if len(set(keys)) < len(keys) or any(not key or key.startswith(b"tstore.") for key in keys):
        raise Corrupt(f"{segment.path}: the keys of the dataset's attributes")
    if sum(len(key) + len(value) for key, value in index.attributes()) > 1 << 20:
        raise Corrupt(f"{segment.path}: the attributes of the dataset are too long")
    for text in itertools.chain.from_iterable(index.attributes()):
        try:
            text.decode()
        except UnicodeDecodeError as error:
            raise Corrupt(f"{segment.path}: an attribute of the dataset: {error}") from error
    if digest.digest() != index.digest:
        raise Corrupt(f"{segment.path}: the digest is {digest.hexdigest()}, the index has {index.digest.hex()}")
    return digest.hexdigest()


def check_index(segment, index):
    """Holds an index to the format: its bytes are the only ones for its entries, and every way to
    find an entry leads to it."""
    if index.rebuilt() != bytes(index.data):
        raise Corrupt(f"{segment.path}: the index is not that of its entries")
    for entry in index.entries():
        if index.lookup(entry.name) != entry or index.ranked(entry.rank) != entry:
            raise Corrupt(f"{segment.path}: the index does not find {entry.name!r}")


class Store(Reader):
    """A store's directory."""

    def __init__(self, path):
        self.segments = {}
        for file in (pathlib.Path(path) / "segments").iterdir():
            if named := FILE_NAME.fullmatch(file.name):
                self.segments[int(named[1])] = Segment(file)
        logs = [n for n, s in self.segments.items() if s.header.kind == LOG]
        if not logs:
            raise Corrupt(f"{path}: no log")
        if len({self.segments[n].header.store for n in logs}) != 1:
            raise Corrupt(f"{path}: logs of two stores")
        self.newest = max(logs)
        log = self.segments[self.newest]
        self.commits = log.newest_batches()
        self.live = {live.number: live for live in log.header.live}
        for commit in self.commits:
            for op in commit.operations:
                self.apply(op)
        end = self.commits[-1].end if self.commits else log.header.end
        self.live[self.newest] = Live(self.newest, log.header.uuid, end, LOG, 0)
        self.open_live(path)

    def apply(self, op):
        """What an operation of the newest log changes in the live set."""
        location = op.location
        if op.kind == PUT and location.segment not in self.live and location.segment != self.newest:
            self.live[location.segment] = Live(location.segment, op.uuid,
                                               location.offset + location.length, DATA, 0)
        elif op.kind in (ATTACH, REPLACE):
            for number in op.gone:
                self.live.pop(number, None)
            for live in op.live:
                self.live[live.number] = live

    def open_live(self, path):
        """Checks the files of the live set and opens what they say of names."""
        self.sources = []   # a dict of words, or a segment's index with how it was attached
        self.indexes, self.replayed, self.packages, self.records = [], 0, [], []
        self.operations = []  # the kinds of all that were read
        for number, live in sorted(self.live.items()):
            if number not in self.segments:
                raise Corrupt(f"{path}: segment {number} is missing")
            segment = self.segments[number]
            header = segment.header
            if header.kind != live.kind or (live.kind != PACKAGE and (
                    header.uuid != live.uuid or header.number != number
                    or header.store != self.segments[self.newest].header.store)):
                raise Corrupt(f"{path}: segment {number} is another one")
            if len(segment.data) < live.valid:
                raise Corrupt(f"{path}: segment {number} has {len(segment.data)} bytes of {live.valid}")
            if live.kind == LOG:
                index = None
                commits = self.commits if number == self.newest else segment.batches(live.valid)
                words = last_words(commits)
                self.operations += [op.kind for c in commits for op in c.operations]
                if number != self.newest and commits:
                    index = segment.sealed_log(live.valid, commits[-1].sequence)
                # Large tensors lie in segments of their own, which are there until they are
                # compacted away, whether a name still stands for them or not.
                self.records += [op.location for c in commits for op in c.operations
                                 if op.kind == PUT and op.location.segment in self.live
                                 and self.live[op.location.segment].uuid == op.uuid]
                if index is None:
                    self.sources.append({n: Word(*w) for n, w in words.items()})
                    self.replayed += 1
                else:
                    self.compare(segment, index, words)
                    self.add(segment, index, number)
            elif live.kind == COMPACTED:
                index = segment.sealed_file(live.valid)
                self.add(segment, index, number)
                # Some of its entries are of large tensors that stayed where they were.
                locations = [at_home(e.location, number) for e in index.entries() if e.location]
                self.records += [place for place in locations
                                 if place.segment == number or place.segment in self.live]
            elif live.kind == PACKAGE:
                index = open_package(segment, live.valid)
                if index.digest != live.attached.digest:
                    raise Corrupt(f"{path}: segment {number} is another package")
                self.add(segment, index, number, live.attached)
                self.packages.append((segment, index))

    def add(self, segment, index, number, attached=None):
        self.sources.append((index, number, attached))
        self.indexes.append((segment, index))

    def compare(self, segment, index, words):
        """A sealed log's index says nothing but what its batches say last of a name. It leaves out
        names of which a newer log had said something when it was sealed."""
        own = segment.header.number
        for entry in index.entries():
            if words.get(entry.name) != (entry.sequence, at_home(entry.location, own)):
                raise Corrupt(f"{segment.path}: index and batches differ on {entry.name!r}")

    def word(self, entry, number, attached):
        location = at_home(entry.location, number)
        return Word(attached.base if attached else entry.sequence, location, entry.description)

    def heeded(self, word):
        """Whether a word is to be heeded: its record lies in a segment that counts."""
        return word.location is None or word.location.segment in self.live

    def words(self):
        best = {}

        def say(name, word):
            if self.heeded(word) and (name not in best or word.sequence >= best[name].sequence):
                best[name] = word

        for source in self.sources:
            if isinstance(source, dict):
                for name, word in source.items():
                    say(name, word)
                continue
            index, number, attached = source
            for entry in index.entries():
                name = entry.name
                if attached:
                    if name in attached.left_out:
                        continue
                    name = attached.prefix + name
                say(name, self.word(entry, number, attached))
        return {n: w for n, w in best.items() if w.location is not None}

    def lookup(self, name):
        """What a name stands for, found through the hash tables of the indexes."""
        best = None
        for source in self.sources:
            if isinstance(source, dict):
                word = source.get(name)
            else:
                word = self.lookup_index(name, *source)
            if word and self.heeded(word) and (best is None or word.sequence >= best.sequence):
                best = word
        return best if best and best.location else None

    def lookup_index(self, name, index, number, attached):
        if attached:
            if not name.startswith(attached.prefix):
                return None
            name = name[len(attached.prefix):]
            if not name or name in attached.left_out:
                return None
        entry = index.lookup(name)
        return entry and self.word(entry, number, attached)

    def prefixed(self, prefix):
        """The names with a prefix, found through the order of the indexes."""
        names = set()
        for source in self.sources:
            if isinstance(source, dict):
                names.update(n for n in source if n.startswith(prefix))
                continue
            index, _, attached = source
            front = attached.prefix if attached else b""
            if prefix.startswith(front):
                names.update(front + e.name for e in index.prefixed(prefix[len(front):]))
            elif front.startswith(prefix):
                names.update(front + e.name for e in index.entries())
        return sorted(n for n in names if self.lookup(n))

    def tensor(self, word):
        live = self.live[word.location.segment]
        return tensor_at(self.segments[live.number], word.location, live.valid)

    def check(self):
        """Checks what reading the tensors does not come by: indexes, packages, records that no
        name stands for any more."""
        for segment, index in self.indexes:
            check_index(segment, index)
        for segment, index in self.packages:
            check_package(segment, index)
        for location in self.records:
            record_at(self.segments[location.segment], location, self.live[location.segment].valid)


def at_home(location, number):
    """A location in which 0, the segment of the index itself, has its number."""
    if location is None or location.segment:
        return location
    return Location(number, location.offset, location.length, location.crc)


def open_path(path):
    """The store in a directory, or the package in a file."""
    return Store(path) if pathlib.Path(path).is_dir() else Package(path)
