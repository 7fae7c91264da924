"""Reads the tables and images of tstore, and writes some for it to read.

    tables.py read DIR     compare the files in DIR with what its index.jsonl says; print how many
    tables.py write DIR    write files to DIR, with an index.jsonl
"""
import collections
import gzip
import io
import json
import pathlib
import re
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
from PIL import Image

rng = np.random.default_rng(7)
counts = collections.Counter()


def arrow_type(dtype):
    """The Arrow type of a tensor's elements."""
    plain = {"float16": pa.float16(), "float32": pa.float32(), "float64": pa.float64(), "bool": pa.bool_(),
             "date[day]": pa.date32(), "date[ms]": pa.date64(), "interval[month_day_nano]": pa.month_day_nano_interval()}
    if dtype in plain:
        return plain[dtype]
    if m := re.fullmatch(r"u?int\d+", dtype):
        return getattr(pa, dtype)()
    kind, args = re.fullmatch(r"(\w+)\[(.*)\]", dtype).groups()
    args = args.split(", ")
    if kind.startswith("decimal"):
        return getattr(pa, kind)(int(args[0]), int(args[1]))
    if kind == "fixed_size_binary":
        return pa.binary(int(args[0]))
    return getattr(pa, kind)(*args)


def array_of(case):
    """The elements that a tensor should have, as an Arrow array."""
    data, t = bytes.fromhex(case["elements"]), arrow_type(case["dtype"])
    if t == pa.bool_():
        return pa.array(np.frombuffer(data, np.uint8) != 0)
    n = len(data) // (t.bit_width // 8)
    return pa.Array.from_buffers(t, n, [None, pa.py_buffer(data)])


def bytes_of(values):
    """The elements of an Arrow array without nulls."""
    assert values.null_count == 0, values
    if values.type == pa.bool_():
        return np.asarray(values.to_numpy(zero_copy_only=False), np.uint8).tobytes()
    if len(values) == 0:
        return b""
    width = values.type.bit_width // 8
    return values.buffers()[1].to_pybytes()[values.offset * width:(values.offset + len(values)) * width]


def storage(column):
    """A column without its extension type, in one piece."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0)
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def flat(array):
    return array.flatten() if hasattr(array, "flatten") else array.values


def tensors(table, shapes):
    """The tensors of a table: name, shape if the table says it, elements as an Arrow array."""
    names = table.column("name").to_pylist()
    for field in table.schema:
        if field.name == "name":
            continue
        fixed = field.type.shape if isinstance(field.type, pa.FixedShapeTensorType) else None
        column = storage(table.column(field.name))
        for i, name in enumerate(names):
            if not column[i].is_valid:
                continue
            part = column.slice(i, 1)
            if pa.types.is_struct(part.type):
                shape = flat(part.field("shape")).to_pylist()
                yield name, shape, flat(part.field("data"))
            else:
                yield name, fixed if fixed is not None else shapes[name], flat(part)


def compare_table(table, cases, by, kind, cast=False):
    want = {c["name"]: c for c in cases}
    seen = set()
    for name, shape, values in tensors(table, {n: c["shape"] for n, c in want.items()}):
        c = want[name]
        expected = array_of(c)
        if cast and values.type != expected.type:
            values = values.cast(expected.type)
        assert list(shape) == c["shape"], (by, kind, c["file"], name, shape, c["shape"])
        assert values.type == expected.type, (by, kind, c["file"], name, values.type, expected.type)
        assert bytes_of(values) == bytes.fromhex(c["elements"]), (by, kind, c["file"], name, values, expected)
        seen.add(name)
        counts[kind, by] += 1
    assert seen == set(want), (by, kind, seen, set(want))


# What the others do not have, and so can't read.
NOT_POLARS = {"date[ms]", "time32[s]", "time32[ms]", "time64[us]", "timestamp[s]", "duration[s]", "interval[month_day_nano]", "decimal256[76, 10]", "fixed_size_binary[3]"}
NOT_DUCKDB = {"float16", "date[ms]", "time32[s]", "time32[ms]", "time64[ns]", "timestamp[us, UTC]", "timestamp[ns, Europe/Berlin]", "duration[s]", "duration[ms]", "duration[us]", "duration[ns]", "interval[month_day_nano]", "decimal256[76, 10]", "fixed_size_binary[3]"}
IN_PANDAS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bool"}


def read_arrow(path, cases):
    kind = path.suffix
    dtypes = {c["dtype"] for c in cases}
    source = pa.memory_map(str(path))
    table = (pa.ipc.open_file(source) if kind == ".arrow" else pa.ipc.open_stream(source)).read_all()
    table.validate(full=True)
    compare_table(table, cases, "pyarrow", kind)
    if not dtypes & NOT_POLARS:
        frame = pl.read_ipc(path) if kind == ".arrow" else pl.read_ipc_stream(path)
        # On their way to pyarrow lists become large ones, which it does not take for tensors.
        frame = frame.with_columns(c.ext.storage() for c in frame if isinstance(c.dtype, pl.BaseExtension))
        compare_table(frame.to_arrow(), cases, "polars", kind, cast=True)
    read_in = table  # by this name DuckDB finds it
    if not dtypes & NOT_DUCKDB:
        compare_table(duckdb.sql("SELECT * FROM read_in").to_arrow_table(), cases, "DuckDB", kind, cast=True)
    if dtypes <= IN_PANDAS:
        frame = pd.read_feather(path) if kind == ".arrow" else table.to_pandas()
        want = {c["name"]: c for c in cases}
        for _, row in frame.iterrows():
            c = want.pop(row["name"])
            (value,) = [v for k, v in row.items() if k != "name" and v is not None]
            if isinstance(value, dict):
                assert list(value["shape"]) == c["shape"], (path, row)
                value = value["data"]
            assert np.asarray(value).tobytes().hex() == c["elements"], (path, row, c)
            counts[kind, "pandas"] += 1
        assert not want


def read_table(path, cases):
    (c,) = cases
    separator = "\t" if ".tsv" in path.name else ","
    kind = "".join(path.suffixes)
    dtype = np.uint8 if c["dtype"] == "bool" else np.dtype(c["dtype"])
    want = np.frombuffer(bytes.fromhex(c["elements"]), dtype).reshape(c["shape"])
    compression = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    if compression == "zstd":  # which pandas needs one more package for
        text = pa.input_stream(str(path), compression="zstd").read()
    elif compression == "gzip":
        text = gzip.open(path).read()
    else:
        text = path.read_bytes()
    frame = pd.read_csv(io.BytesIO(text), sep=separator, header=None, float_precision="round_trip")
    got = {"pandas": np.column_stack([frame[c].to_numpy().astype(dtype) for c in frame]),
           "polars": np.array(pl.read_csv(io.BytesIO(text), separator=separator, has_header=False, infer_schema_length=None).rows(), dtype),
           "NumPy": np.loadtxt(io.BytesIO(text), delimiter=separator, dtype=dtype, ndmin=2)}
    for by, value in got.items():
        np.testing.assert_array_equal(value, want, err_msg=f"{by} {path}")
        counts[kind, by] += 1


def read_image(path, cases):
    (c,) = cases
    image = np.asarray(Image.open(path))
    assert str(image.dtype) == c["dtype"], (path, image.dtype)
    assert list(image.shape) == c["shape"] and image.tobytes().hex() == c["elements"], path
    counts[".png", "Pillow"] += 1


def read(directory):
    files = collections.defaultdict(list)
    for line in open(directory / "index.jsonl"):
        case = json.loads(line)
        files[case["file"]].append(case)
    for name, cases in files.items():
        path = directory / name
        if path.suffix in (".arrow", ".arrows"):
            read_arrow(path, cases)
        elif path.suffix == ".png":
            read_image(path, cases)
        else:
            read_table(path, cases)
    for (kind, by), n in sorted(counts.items()):
        print(f"{kind}\t{by}\t{n}")


class Writer:
    def __init__(self, directory):
        self.directory = directory
        self.index = open(directory / "index.jsonl", "w")
        self.n = 0

    def path(self, kind):
        self.n += 1
        return self.directory / f"f{self.n}.{kind}"

    def says(self, path, by, value, name="", dtype=None):
        """value is in the file."""
        value = np.asarray(value)
        self.raw(path, by, name, dtype or str(value.dtype), value.shape, np.ascontiguousarray(value).tobytes())

    def raw(self, path, by, name, dtype, shape, data):
        print(json.dumps({"file": path.name, "by": by, "name": name, "dtype": dtype, "shape": list(shape), "elements": data.hex()}), file=self.index)

    def table(self, path, table, compression=None):
        options = pa.ipc.IpcWriteOptions(compression=compression)
        new = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with new(str(path), table.schema, options=options) as w:
            w.write_table(table, max_chunksize=2)


NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def numbers(dtype, *shape):
    if dtype == "bool":
        return rng.random(shape) < .5
    if dtype.startswith("float"):
        return rng.normal(0, 100, shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


OTHERS = ["bool", "date[day]", "date[ms]", "time32[s]", "time32[ms]", "time64[us]", "time64[ns]", "timestamp[s]", "timestamp[ms]",
          "timestamp[us, UTC]", "timestamp[ns, Europe/Berlin]", "duration[s]", "duration[ms]", "duration[us]", "duration[ns]",
          "interval[month_day_nano]", "decimal128[38, 2]", "decimal256[76, 10]", "fixed_size_binary[3]"]


def write_arrow(w):
    for kind in ("arrow", "arrows"):
        for compression in (None, "lz4", "zstd"):
            for dtype in NUMBERS:
                x = numbers(dtype, 5, 2, 3)
                permuted = np.transpose(x, (0, 2, 1))  # which pyarrow writes with a permutation
                names = [f"n{i}" for i in range(len(x))]
                path = w.path(kind)
                w.table(path, pa.table({"name": names, "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(x)}), compression)
                for name, value in zip(names, x):
                    w.says(path, "pyarrow", value, name)
                path = w.path(kind)
                w.table(path, pa.table({"name": names, "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(permuted)}), compression)
                for name, value in zip(names, permuted):
                    w.says(path, "pyarrow", value, name)
                path = w.path(kind)
                plain = numbers(dtype, 5)
                lists = [numbers(dtype, i) for i in range(5)]
                w.table(path, pa.table({
                    "column": plain, "stacked": pa.FixedShapeTensorArray.from_numpy_ndarray(x),
                    "lists": pa.array(lists, pa.list_(pa.from_numpy_dtype(np.dtype(dtype)))),
                    "text": ["a", "b", "c", "d", "e"], "category": pa.array(["a", "b", "a", "b", "a"]).dictionary_encode()}), compression)
                w.says(path, "pyarrow", plain, "column")
                w.says(path, "pyarrow", x, "stacked")
                for i, value in enumerate(lists):
                    w.says(path, "pyarrow", value, f"lists/{i}")
            for dtype in OTHERS:
                t = arrow_type(dtype)
                width = 1 if dtype == "bool" else t.bit_width // 8
                data = bytes(rng.integers(0, 2 if dtype == "bool" else 100, 12 * width, np.uint8))
                values = array_of({"dtype": dtype, "elements": data.hex()})
                path = w.path(kind)
                w.table(path, pa.table({"column": values}), compression)
                w.raw(path, "pyarrow", "column", dtype, [12], data)
                path = w.path(kind)
                w.table(path, pa.table({"name": ["a", "b"], "x": pa.FixedSizeListArray.from_arrays(values, 6)}), compression)
                w.raw(path, "pyarrow", "a", dtype, [6], data[:6 * width])
                w.raw(path, "pyarrow", "b", dtype, [6], data[6 * width:])
    for dtype in NUMBERS + ["bool"]:
        x, y = numbers(dtype, 7), numbers(dtype, 7, 3)
        path = w.path("arrow")
        pd.DataFrame({"x": x, "s": list("abcdefg")}).to_feather(path)
        w.says(path, "pandas", x, "x")
        if dtype != "float16":
            frame = pl.DataFrame({"name": list("abcdefg"), "y": pl.Series(list(y), dtype=pl.Array(pl.Series(x[:1]).dtype, 3))})
            for kind, compression in (("arrow", "uncompressed"), ("arrow", "lz4"), ("arrow", "zstd"), ("arrows", "uncompressed")):
                path = w.path(kind)
                (frame.write_ipc if kind == "arrow" else frame.write_ipc_stream)(path, compression=compression)
                for name, value in zip("abcdefg", y):
                    w.says(path, "polars", value, name)
                path = w.path(kind)
                f = pl.DataFrame({"x": x})
                (f.write_ipc if kind == "arrow" else f.write_ipc_stream)(path, compression=compression)
                w.says(path, "polars", x, "x")
            path = w.path("arrow")
            source = pd.DataFrame({"x": x})
            w.table(path, duckdb.sql("SELECT x, [x, x] AS l FROM source").to_arrow_table())
            w.says(path, "DuckDB", x, "x")
            for i, v in enumerate(x):
                w.says(path, "DuckDB", np.array([v, v]), f"l/{i}")
    # pandas writes NaN as null.
    x = np.array([1.5, np.nan, -2])
    path = w.path("arrow")
    pd.DataFrame({"x": x}).to_feather(path)
    w.raw(path, "pandas", "x", "float64", [3], np.array([1.5, np.nan, -2]).tobytes())


def write_tables(w):
    for dtype in NUMBERS:
        if dtype == "float16":
            continue
        x = numbers(dtype, 6, 3)
        wide = "float64" if dtype.startswith("float") else "uint64" if dtype == "uint64" else "int64"
        if dtype == "uint64":
            x[0, 0] = 1 << 63
        value = x.astype(wide)
        for kind, separator in (("csv", ","), ("tsv", "\t")):
            path = w.path(kind)
            pd.DataFrame(value, columns=["a", "b, c", ""]).to_csv(path, sep=separator, index=False)
            w.says(path, "pandas", value)
            path = w.path(kind)
            pl.DataFrame(value, schema=["a", "b", "c"]).write_csv(path, separator=separator)
            w.says(path, "polars", value)
            path = w.path(kind)
            np.savetxt(path, value, delimiter=separator, fmt="%.17g" if wide == "float64" else "%d", header=separator.join("abc"))
            w.says(path, "NumPy", value)
        for kind, compression in (("csv.gz", "gzip"), ("csv.zst", "zstd")):
            path = w.path(kind)
            with pa.output_stream(str(path), compression=compression) as f:
                f.write(pd.DataFrame(value).to_csv(index=False, header=False).encode())
            w.says(path, "pandas", value)
    path = w.path("csv")
    value = np.array([[1.5, np.nan], [np.inf, -np.inf]])
    pd.DataFrame(value, columns=["a", "b"]).to_csv(path, index=False)
    w.says(path, "pandas", value)


def write_images(w):
    for mode, shape in (("L", (5, 7)), ("LA", (5, 7, 2)), ("RGB", (5, 7, 3)), ("RGBA", (5, 7, 4))):
        x = numbers("uint8", *shape)
        path = w.path("png")
        Image.fromarray(x, mode).save(path)
        w.says(path, "Pillow", x)
    x = numbers("uint16", 5, 7)
    path = w.path("png")
    Image.fromarray(x).save(path)
    w.says(path, "Pillow", x)
    for colors in (2, 16, 256):
        image = Image.fromarray(numbers("uint8", 9, 8, 3)).quantize(colors)
        path = w.path("png")
        image.save(path)
        w.says(path, "Pillow", np.asarray(image.convert("RGB")))
    bits = numbers("bool", 5, 11)
    path = w.path("png")
    Image.fromarray(bits).save(path)
    w.says(path, "Pillow", bits.astype(np.uint8) * 255)


def write_compressed(w):
    for dtype in NUMBERS:
        x = numbers(dtype, 4, 5)
        for kind, compression in (("npy.gz", "gzip"), ("npy.zst", "zstd")):
            path = w.path(kind)
            with pa.output_stream(str(path), compression=compression) as f:
                np.save(f, x)
            w.says(path, "NumPy", x)


if __name__ == "__main__":
    command, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    if command == "read":
        read(directory)
    else:
        w = Writer(directory)
        write_arrow(w)
        write_tables(w)
        write_images(w)
        write_compressed(w)
        w.index.close()
