"""Tensors in messages: what they are, their elements in row-major order, their canonical form.

Section 8 of FORMAT.md from "Tensor" on, the description of section 9 and the digest of 7.1.
"""

import hashlib
import struct

import numpy as np

import dtypes
from errors import Refused
from messages import MAX_LONG, SPARSE_TENSOR, TENSOR, Table

MAX_DIMS = 64
LAYOUTS = ["dense", "coo", "csr", "csc", "csf"]
COO, CSX, CSF = 1, 2, 3


def product(numbers):
    result = 1
    for n in numbers:
        result *= n
    return result


def width(index_type):
    return int(index_type.lstrip("uint")) // 8


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def varstring(b):
    return varint(len(b)) + b


def encode(text):
    return text.encode("utf-8", "surrogateescape")


class Tensor:
    """The tensor in a message.

    dtype is the element type's name, size an element's bytes, shape a list of lengths, names
    a list of bytes for each axis or None, layout a word, nnz the number of stored elements,
    index_types the types of indptr and indices (empty where there is none), attributes the
    user's pairs of bytes.
    """

    def __init__(self, message):
        if message.header not in (TENSOR, SPARSE_TENSOR):
            raise Refused("header-kind", f"{message.header}")
        self.message = message
        self.body = message.body()
        self.attributes = message.attributes()
        sparse = message.header == SPARSE_TENSOR
        table = message.table()
        kind, at = table.union(0, required=True)
        storage, self.size = dtypes.parametric(kind, Table(message.buffer, at))
        self.shape, self.names = [], []
        for dim in table.tables(2, required=True, limit=("dims-limit", MAX_DIMS + 1)):
            self.shape.append(dim.scalar(0, "q"))
            self.names.append(dim.string(1) or b"")
        named = dtypes.stored_as(message, storage, sparse)
        self.dtype = named or storage
        if sparse:
            self._sparse(table)
        else:
            self._dense(table, complex=named in ("complex64", "complex128"))
        if not any(self.names):
            self.names = None

    def _check_shape(self, size):
        if len(self.shape) > MAX_DIMS:
            raise Refused("dims-limit", f"{len(self.shape)}")
        for n in self.shape:
            if n < 0:
                raise Refused("dim-negative", f"{n}")
        if product(self.shape) * size > MAX_LONG:
            raise Refused("shape-overflow", f"{self.shape}")

    # Dense

    def _dense(self, table, complex):
        self.layout, self.index_types = "dense", ("", "")
        strides = table.numbers(3, "q")
        offset = table.buffer_struct(4)
        part = self.size
        parts = None
        if complex:
            if not self.shape or self.shape[-1] != 2:
                raise Refused("dtype-complex-axis", f"shape {self.shape}")
            parts = 2
            self.shape.pop()
            self.names.pop()
            self.size *= 2
        self._check_shape(self.size)
        axes = len(self.shape) + (1 if parts else 0)
        if strides and len(strides) != axes:
            raise Refused("strides-count", f"{len(strides)} for {axes} axes")
        self.nnz = product(self.shape)
        if not strides:
            strides, step = [], self.size
            for n in reversed(self.shape):
                strides.insert(0, step)
                step *= n
        elif parts:
            if self.nnz and strides[-1] != part:
                raise Refused("dtype-complex-axis", f"stride {strides[-1]}")
            strides = strides[:-1]
        self.offset, self.strides = offset, strides
        if self.nnz == 0:
            return
        if any(s < 0 for s in strides):
            raise Refused("stride-negative", f"{strides}")
        last = offset + sum((n - 1) * s for n, s in zip(self.shape, strides))
        if last + self.size > len(self.body):
            raise Refused("strides-bounds", f"last element at {last}, body of {len(self.body)}")
        if self.nnz * self.size > len(self.body):
            raise Refused("strides-overlap", f"{self.nnz} elements, body of {len(self.body)}")

    def _is_packed(self, reverse):
        """Whether the elements lie in row-major (reverse: column-major) order without gaps."""
        step = self.size
        axes = range(len(self.shape))
        for a in axes if reverse else reversed(axes):
            if self.shape[a] != 1 and self.strides[a] != step:
                return False
            step *= self.shape[a]
        return True

    # Sparse

    def _sparse(self, table):
        self._check_shape(1)
        self.nnz = table.scalar(3, "q")
        if self.nnz < 0:
            raise Refused("non-zero-length", f"{self.nnz}")
        kind, at = table.union(4, required=True)
        if kind not in (COO, CSX, CSF):
            raise Refused("sparse-index-kind", f"{kind}")
        data = table.buffer_struct(6)
        index = Table(self.message.buffer, at)
        # Each buffer: offset, number of items, bytes of an item.
        {COO: self._coo, CSX: self._csx, CSF: self._csf}[kind](index)
        self.buffers.append((data, self.nnz, self.size))
        total = 0
        for offset, count, size in self.buffers:
            if count and offset + count * size > len(self.body):
                raise Refused("buffer-bounds", f"{count} items of {size} at {offset}")
            total += count * size
        if total > len(self.body):
            raise Refused("buffers-overlap", f"{total} bytes in {len(self.body)}")
        if kind == COO:
            self._check_coo_strides()

    def _coo(self, index):
        self.layout = "coo"
        indices = dtypes.index_type(index.table(0, required=True))
        self.index_types = ("", indices)
        strides = index.numbers(1, "q")
        offset = index.buffer_struct(2)
        self.canonical = index.scalar(3, "B") != 0
        w, ndim = width(indices), len(self.shape)
        if strides and len(strides) != 2:
            raise Refused("index-strides-count", f"{len(strides)}")
        self.index_strides = strides or [ndim * w, w]
        self.buffers = [(offset, self.nnz * ndim, w)]

    def _check_coo_strides(self):
        w, ndim = width(self.index_types[1]), len(self.shape)
        if self.nnz * ndim == 0:
            return
        rows, columns = self.index_strides
        if rows < 0 or columns < 0:
            raise Refused("index-stride-negative", f"{self.index_strides}")
        if rows % w or columns % w:
            raise Refused("index-stride-multiple", f"{self.index_strides}")
        last = self.buffers[0][0] + (self.nnz - 1) * rows + (ndim - 1) * columns
        if last + w > len(self.body):
            raise Refused("index-strides-bounds", f"{self.index_strides}")

    def _csx(self, index):
        if len(self.shape) != 2:
            raise Refused("csx-dims", f"{len(self.shape)}")
        axis = index.scalar(0, "h")
        if axis not in (0, 1):
            raise Refused("compressed-axis", f"{axis}")
        self.layout = ("csr", "csc")[axis]
        self.axis = axis
        indptr = dtypes.index_type(index.table(1, required=True))
        indptr_at = index.buffer_struct(2)
        indices = dtypes.index_type(index.table(3, required=True))
        indices_at = index.buffer_struct(4)
        self.index_types = (indptr, indices)
        self.buffers = [(indptr_at, self.shape[axis] + 1, width(indptr)),
                        (indices_at, self.nnz, width(indices))]

    def _csf(self, index):
        self.layout = "csf"
        ndim = len(self.shape)
        if ndim < 2:
            raise Refused("csf-dims", f"{ndim}")
        indptr = dtypes.index_type(index.table(0, required=True))
        indptrs = index.buffer_structs(1)
        indices = dtypes.index_type(index.table(2, required=True))
        levels = index.buffer_structs(3)
        self.axes = index.numbers(4, "i", required=True)
        if len(indptrs) != ndim - 1 or len(levels) != ndim:
            raise Refused("csf-buffers-count", f"{len(indptrs)} and {len(levels)} for {ndim} axes")
        if sorted(self.axes) != list(range(ndim)):
            raise Refused("csf-axis-order", f"{self.axes}")
        self.index_types = (indptr, indices)
        for wp, wi in ((1, 1), (width(indptr), width(indices))):
            if any(n % wp for _, n in indptrs) or any(n % wi for _, n in levels):
                continue
            children = [n // wp for _, n in indptrs]
            nodes = [n // wi for _, n in levels]
            if min(nodes) >= 0 and nodes[-1] == self.nnz and all(c == n + 1 for c, n in zip(children, nodes)):
                break
        else:
            raise Refused("csf-levels", f"{indptrs} {levels} for {self.nnz} elements")
        self.nodes = nodes
        self.buffers = ([(o, n, width(indptr)) for (o, _), n in zip(indptrs, children)]
                        + [(o, n, width(indices)) for (o, _), n in zip(levels, nodes)])

    def _integers(self, which, index_type):
        offset, count, _ = self.buffers[which]
        if count == 0:
            return []
        return np.frombuffer(self.body, np.dtype(index_type).newbyteorder("<"), count, offset).tolist()

    def _value(self, k):
        at = self.buffers[-1][0] + k * self.size
        return bytes(self.body[at:at + self.size])

    def _coo_rows(self):
        ndim = len(self.shape)
        if self.nnz * ndim == 0:
            return [()] * self.nnz
        matrix = np.ndarray((self.nnz, ndim), np.dtype(self.index_types[1]).newbyteorder("<"),
                            self.body, self.buffers[0][0], self.index_strides)
        return [tuple(row) for row in matrix.tolist()]

    def _check_indptr(self, indptr, end):
        if indptr[0] != 0 or indptr[-1] != end or any(a > b for a, b in zip(indptr, indptr[1:])):
            raise Refused("indptr", f"ends with {indptr[-1]}, leads to {end}")

    def _check_indices(self, indices, length):
        for i in indices:
            if not 0 <= i < length:
                raise Refused("indices-bounds", f"{i} of {length}")

    def _check_ascending(self, indices):
        if any(a >= b for a, b in zip(indices, indices[1:])):
            raise Refused("indices-order")

    def entries(self):
        """Coordinates and bytes of each stored element, what the index holds being checked."""
        if self.layout == "coo":
            rows = self._coo_rows()
            for a, length in enumerate(self.shape):
                self._check_indices([row[a] for row in rows], length)
            if self.canonical:
                self._check_ascending(rows)
            for k, row in enumerate(rows):
                yield row, self._value(k)
        elif self.layout in ("csr", "csc"):
            indptr = self._integers(0, self.index_types[0])
            indices = self._integers(1, self.index_types[1])
            self._check_indptr(indptr, self.nnz)
            self._check_indices(indices, self.shape[1 - self.axis])
            for line in range(self.shape[self.axis]):
                self._check_ascending(indices[indptr[line]:indptr[line + 1]])
                for k in range(indptr[line], indptr[line + 1]):
                    at = (line, indices[k]) if self.axis == 0 else (indices[k], line)
                    yield at, self._value(k)
        else:
            yield from self._csf_entries()

    def _csf_entries(self):
        ndim = len(self.shape)
        indptr = [self._integers(l, self.index_types[0]) for l in range(ndim - 1)]
        indices = [self._integers(ndim - 1 + l, self.index_types[1]) for l in range(ndim)]
        for l in range(ndim - 1):
            self._check_indptr(indptr[l], self.nodes[l + 1])
        for l in range(ndim):
            self._check_indices(indices[l], self.shape[self.axes[l]])

        def walk(l, first, end, at):
            self._check_ascending(indices[l][first:end])
            for k in range(first, end):
                here = at + [indices[l][k]]
                if l == ndim - 1:
                    coordinates = [0] * ndim
                    for level, i in enumerate(here):
                        coordinates[self.axes[level]] = i
                    yield coordinates, self._value(k)
                else:
                    yield from walk(l + 1, indptr[l][k], indptr[l][k + 1], here)

        yield from walk(0, 0, self.nodes[0], [])

    # What is in it

    def elements(self):
        """The bytes of all elements in row-major order, not stored ones being zero."""
        if self.layout == "dense":
            if self.nnz == 0:
                return b""
            return np.ndarray(self.shape, f"V{self.size}", self.body, self.offset, self.strides).tobytes()
        out = bytearray(product(self.shape) * self.size)
        seen = set()
        for coordinates, value in self.entries():
            at = 0
            for i, n in zip(coordinates, self.shape):
                at = at * n + i
            at *= self.size
            if at in seen:
                value = dtypes.add(self.dtype, bytes(out[at:at + self.size]), value)
            seen.add(at)
            out[at:at + self.size] = value
        return bytes(out)

    def payload_bytes(self):
        if self.layout == "dense":
            return self.nnz * self.size
        return sum(count * size for _, count, size in self.buffers)

    def description(self):
        """The bytes by which an index describes the tensor."""
        flags = (1 if self.names else 0) | (0 if self.layout == "dense" else 2)
        out = bytearray([LAYOUTS.index(self.layout), flags, len(self.shape)])
        out += varstring(encode(self.dtype))
        if flags & 2:
            out += varstring(encode(self.index_types[0])) + varstring(encode(self.index_types[1]))
        for n in self.shape:
            out += varint(n)
        out += varint(self.nnz) + varint(self.payload_bytes())
        for name in self.names or []:
            out += varstring(name)
        out += varint(len(self.attributes))
        for key, value in self.attributes:
            out += varstring(key) + varstring(value)
        return bytes(out)

    def digest(self, name):
        """The SHA-256 over the canonical form, under a name."""
        form = hashlib.sha256(b"tstore tensor 1\n")

        def string(b):
            form.update(struct.pack("<I", len(b)) + b)

        string(name)
        string(encode(self.dtype))
        string(encode(self.layout))
        form.update(struct.pack("<I", len(self.shape)))
        for n, axis in zip(self.shape, self.names or [b""] * len(self.shape)):
            form.update(struct.pack("<Q", n))
            string(axis)
        form.update(struct.pack("<Q", self.nnz))
        if self.layout == "dense":
            column_major = self._is_packed(True) and not self._is_packed(False)
            form.update(bytes([column_major]))
        elif self.layout == "coo":
            string(encode(self.index_types[1]))
            form.update(bytes([self.canonical]))
        else:
            string(encode(self.index_types[0]))
            string(encode(self.index_types[1]))
        if self.layout == "csf":
            form.update(struct.pack(f"<{len(self.axes)}I", *self.axes))
        form.update(struct.pack("<I", len(self.attributes)))
        for key, value in sorted(self.attributes):
            string(key)
            string(value)
        if self.layout == "dense":
            if column_major:
                elements = self.body[self.offset:self.offset + self.nnz * self.size]
            else:
                elements = self.elements()
            form.update(struct.pack("<Q", len(elements)))
            form.update(elements)
        else:
            for offset, count, size in self.buffers:
                form.update(struct.pack("<Q", count * size))
                form.update(self.body[offset:offset + count * size] if count else b"")
        return form.digest()
