"""Encapsulated messages: their framing and the FlatBuffer that describes them.

Section 8 of FORMAT.md, "Framing" and "The metadata FlatBuffer".
"""

import struct

from errors import EndOfStream, Refused

MAX_METADATA = 64 << 20
MAX_LONG = (1 << 63) - 1

NONE, SCHEMA, DICTIONARY_BATCH, RECORD_BATCH, TENSOR, SPARSE_TENSOR = range(6)


class FlatBuffer:
    """Numbers, tables, vectors and strings of a FlatBuffer, each checked before it is used."""

    def __init__(self, data, size=None):
        self.data = data
        self.budget = 8 * (len(data) if size is None else size)

    def number(self, at, kind):
        return struct.unpack_from("<" + kind, self.data, at)[0]

    def root(self):
        if len(self.data) < 8:
            raise Refused("root-offset", f"{len(self.data)} bytes")
        at = self.number(0, "I")
        if at < 4 or at + 4 > len(self.data):
            raise Refused("root-offset", f"{at} of {len(self.data)}")
        return Table(self, at)

    def follow(self, at):
        distance = self.number(at, "I")
        if distance < 4 or at + distance + 4 > len(self.data):
            raise Refused("offset-bounds", f"from {at} by {distance}")
        return at + distance

    def vector(self, at, size, alignment):
        """The place of the first element and the number of elements of a vector at a place."""
        if at % 4:
            raise Refused("vector-alignment", f"vector at {at}")
        count = self.number(at, "I")
        if at + 4 + count * size > len(self.data):
            raise Refused("vector-bounds", f"{count} elements at {at}")
        if count and (at + 4) % alignment:
            raise Refused("vector-alignment", f"elements at {at + 4}")
        return at + 4, count

    def string(self, at):
        if at % 4:
            raise Refused("vector-alignment", f"string at {at}")
        count = self.number(at, "I")
        if at + 4 + count + 1 > len(self.data):
            raise Refused("string-bounds", f"{count} bytes at {at}")
        if self.data[at + 4 + count]:
            raise Refused("string-terminator", f"at {at}")
        self.budget -= count
        if self.budget < 0:
            raise Refused("strings-shared")
        return bytes(self.data[at + 4:at + 4 + count])


SIZES = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8}


class Table:
    def __init__(self, buffer, at):
        self.buffer = buffer
        self.at = at
        if at % 4:
            raise Refused("table-alignment", f"table at {at}")
        size = len(buffer.data)
        self.vtable = at - buffer.number(at, "i")
        if self.vtable < 0 or self.vtable + 4 > size:
            raise Refused("vtable-bounds", f"vtable at {self.vtable}")
        if self.vtable % 2:
            raise Refused("vtable-alignment", f"vtable at {self.vtable}")
        self.length = buffer.number(self.vtable, "H")
        if self.length % 2 or self.length < 4:
            raise Refused("vtable-size", f"{self.length} bytes")
        if self.vtable + self.length > size:
            raise Refused("vtable-bounds", f"{self.length} bytes at {self.vtable}")

    def place(self, field, size, alignment=None):
        """Where a field's value lies, or None if it is absent."""
        entry = 4 + 2 * field
        if entry + 2 > self.length:
            return None
        distance = self.buffer.number(self.vtable + entry, "H")
        if distance == 0:
            return None
        at = self.at + distance
        if distance < 4 or at + size > len(self.buffer.data):
            raise Refused("field-bounds", f"field {field} at {at}")
        if at % (alignment or size):
            raise Refused("field-alignment", f"field {field} at {at}")
        return at

    def scalar(self, field, kind, default=0):
        at = self.place(field, SIZES[kind])
        return default if at is None else self.buffer.number(at, kind)

    def follow(self, field, required=False):
        at = self.place(field, 4)
        if at is None:
            if required:
                raise Refused("field-required", f"field {field}")
            return None
        return self.buffer.follow(at)

    def table(self, field, required=False):
        at = self.follow(field, required)
        return None if at is None else Table(self.buffer, at)

    def string(self, field):
        at = self.follow(field)
        return None if at is None else self.buffer.string(at)

    def union(self, field, required=False):
        """The type's number and the table of a union whose type is this field."""
        kind = self.scalar(field, "B")
        if kind == NONE:
            if required:
                raise Refused("field-required", f"union {field}")
            return NONE, None
        at = self.follow(field + 1)
        if at is None:
            raise Refused("union-value", f"union {field}")
        return kind, at

    def tables(self, field, required=False, limit=None):
        at = self.follow(field, required)
        if at is None:
            return None
        first, count = self.buffer.vector(at, 4, 4)
        if limit and count > limit[1]:
            raise Refused(limit[0], f"{count}")
        return [Table(self.buffer, self.buffer.follow(first + 4 * i)) for i in range(count)]

    def numbers(self, field, kind, required=False):
        at = self.follow(field, required)
        if at is None:
            return None
        size = SIZES[kind]
        first, count = self.buffer.vector(at, size, size)
        return list(struct.unpack_from(f"<{count}{kind}", self.buffer.data, first))

    def buffer_struct(self, field):
        """The offset of a required Buffer. Its length is not used."""
        at = self.place(field, 16, 8)
        if at is None:
            raise Refused("field-required", f"field {field}")
        offset, length = struct.unpack_from("<qq", self.buffer.data, at)
        if offset < 0 or length < 0:
            raise Refused("buffer-negative", f"offset {offset}, length {length}")
        return offset

    def buffer_structs(self, field):
        """Offset and length of each Buffer of a required vector; lengths are not checked."""
        first, count = self.buffer.vector(self.follow(field, True), 16, 8)
        pairs = [struct.unpack_from("<qq", self.buffer.data, first + 16 * i) for i in range(count)]
        for offset, _ in pairs:
            if offset < 0:
                raise Refused("buffer-negative", f"offset {offset}")
        return pairs


class Message:
    """A message in a buffer: its head is parsed and checked, its body has all its bytes.

    start, body_at and end are places in the buffer; pairs is custom_metadata as pairs of
    bytes; header is the union's number and table the place of its value.
    """

    def __init__(self, data, start=0):
        view = memoryview(data)
        left = len(view) - start
        if left < 4:
            raise Refused("prefix-truncated", f"{left} bytes")
        size = struct.unpack_from("<i", view, start)[0]
        at = start + 4
        if size == -1:
            if left < 8:
                raise Refused("prefix-truncated", f"{left} bytes")
            size = struct.unpack_from("<i", view, at)[0]
            at += 4
        if size == 0:
            raise EndOfStream
        if size < 0:
            raise Refused("metadata-size-negative", f"{size}")
        if size > MAX_METADATA:
            raise Refused("metadata-size-limit", f"{size}")
        if at + size > len(view):
            raise Refused("metadata-truncated", f"{size} bytes at {at} of {len(view)}")
        self.data = view
        self.start = start
        self.body_at = at + size
        self.buffer = FlatBuffer(view[at:at + size])
        root = self.buffer.root()
        version = root.scalar(0, "h")
        if version not in (3, 4):
            raise Refused("version", f"{version}")
        self.header, self.table_at = root.union(1)
        self.body_length = root.scalar(3, "q")
        if self.body_length < 0:
            raise Refused("body-length-negative", f"{self.body_length}")
        if self.body_at - start + self.body_length + 64 > MAX_LONG:
            raise Refused("body-length-limit", f"{self.body_length}")
        self.pairs = []
        for pair in root.tables(4) or []:
            key = pair.string(0)
            if key is None:
                raise Refused("metadata-key")
            value = pair.string(1)
            if value is None:
                raise Refused("metadata-value", repr(key))
            self.pairs.append((key, value))
        self.end = self.body_at + self.body_length
        if self.end > len(view):
            raise Refused("body-truncated", f"{self.body_length} bytes at {self.body_at} of {len(view)}")

    def body(self):
        return self.data[self.body_at:self.end]

    def table(self):
        return Table(self.buffer, self.table_at)

    def attributes(self):
        """The user's pairs: all whose key is not reserved."""
        return [(k, v) for k, v in self.pairs if not k.startswith(b"tstore.")]

    def reserved(self, key):
        return [v for k, v in self.pairs if k == key]
