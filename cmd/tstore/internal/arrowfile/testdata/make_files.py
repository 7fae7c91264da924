#!/usr/bin/env python3
"""Makes the Arrow files of this directory and manifest.jsonl, which says what tensors are in them.

    python3 make_files.py

with numpy 2.4.6, pandas 3.1.1, polars 2.1.0 and pyarrow 26.0.0.
"""
import json
import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc

here = pathlib.Path(__file__).parent
manifest = open(here / "manifest.jsonl", "w")


def says(file, tensors, skipped=(), error=None):
    """tensors are the names and values of what is in a file; skipped the columns that are not."""
    print(json.dumps({
        "file": file,
        "tensors": [{"name": n, "dtype": str(v.dtype), "shape": list(v.shape), "elements": np.ascontiguousarray(v).tobytes().hex()} for n, v in tensors],
        "skipped": list(skipped), "error": error}), file=manifest)


def write(file, table, compression=None, rows=2):
    new = pa.ipc.new_file if file.endswith(".arrow") else pa.ipc.new_stream
    with new(str(here / file), table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as w:
        w.write_table(table, max_chunksize=rows)


x = np.arange(30, dtype=np.float32).reshape(5, 2, 3)
names = [f"n{i}" for i in range(5)]
fixed = pa.FixedShapeTensorArray.from_numpy_ndarray
for kind in ("arrow", "arrows"):
    for compression in (None, "lz4", "zstd"):
        file = f"fixed_{compression}.{kind}"
        write(file, pa.table({"name": names, "tensor": fixed(x)}), compression)
        says(file, zip(names, x))
    permuted = np.transpose(x, (0, 2, 1))
    write(f"permuted.{kind}", pa.table({"name": names, "tensor": fixed(permuted)}))
    says(f"permuted.{kind}", zip(names, permuted))
    write(f"stacked.{kind}", pa.table({"tensor": fixed(x)}))
    says(f"stacked.{kind}", [("tensor", x)])
    write(f"permuted_stacked.{kind}", pa.table({"tensor": fixed(permuted)}))
    says(f"permuted_stacked.{kind}", [("tensor", permuted)])

    numbers = np.array([1.5, np.nan, -2, 0])
    integers, bools = np.arange(4, dtype=np.uint16), np.array([True, False, True, True])
    table = pa.table({
        "floats": pa.array(numbers, from_pandas=True), "integers": integers, "bools": bools,
        "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1, -7, 0], pa.int8())),
        "text": ["a", "b", "c", "d"], "category": pa.array(["a", "b", "a", "b"]).dictionary_encode(),
        "struct": [{"x": 1}] * 4, "null": pa.nulls(4)})
    write(f"columns.{kind}", table, rows=3)
    says(f"columns.{kind}", [("floats", numbers), ("integers", integers), ("bools", bools), ("bool8", np.array([False, True, True, False]))],
         ["text", "category", "struct", "null"])

    lists = [np.arange(n, dtype=np.int64) for n in (3, 0, 2)]
    write(f"lists.{kind}", pa.table({"name": ["a", "b", "c"], "x": lists, "y": pa.array([None, lists[0], None], pa.large_list(pa.int64()))}))
    says(f"lists.{kind}", [("a", lists[0]), ("b/x", lists[1]), ("b/y", lists[0]), ("c", lists[2])])
    nested = pa.array([[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]], pa.list_(pa.list_(pa.int32(), 2), 3))
    write(f"nested.{kind}", pa.table({"x": nested}))
    says(f"nested.{kind}", [("x", np.arange(1, 13, dtype=np.int32).reshape(2, 3, 2))])

    for what, table, error in (
            ("null", pa.table({"x": pa.array([1, None], pa.int64())}), "value 1 is null"),
            ("null_name", pa.table({"name": ["a", None], "x": [[1], [2]]}), "the tensor has no name"),
            ("same_name", pa.table({"name": ["a", "a"], "x": [[1], [2]]}), "two rows are called \"a\""),
            ("null_row", pa.table({"x": pa.array([[1, 2], None], pa.list_(pa.int64(), 2))}), "row 1 is null")):
        write(f"refused_{what}.{kind}", table)
        says(f"refused_{what}.{kind}", [], error=error)

frame = pl.DataFrame({"name": names, "y": pl.Series(list(x[:, 0]), dtype=pl.Array(pl.Float32, 3))})
frame.write_ipc(here / "polars.arrow", compression="uncompressed")
says("polars.arrow", zip(names, x[:, 0]))
frame.write_ipc_stream(here / "polars.arrows", compression="uncompressed")
says("polars.arrows", zip(names, x[:, 0]))
pd.DataFrame({"x": numbers, "s": ["a", "b", "c", "d"]}).to_feather(here / "pandas.arrow")
says("pandas.arrow", [("x", numbers)], ["s"])
