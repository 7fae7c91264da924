"""Compares dense tensor messages with pyarrow; called by main.go.

    dense.py check DIR   reads what tstore wrote, described in DIR/ours.jsonl
    dense.py write DIR   writes messages, described in DIR/theirs.jsonl

A line of the description has the message's file, the file with the elements'
bytes in row-major order, numpy's name of the element type, shape, strides and
dimension names.
"""

import json
import pathlib
import sys

import numpy as np
import pyarrow as pa

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64"]


def differences(dir, want):
    tensor = pa.ipc.read_tensor(pa.memory_map(str(dir / want["file"])))
    got = {
        "dtype": tensor.type.to_pandas_dtype()(0).dtype.name,
        "shape": list(tensor.shape),
        "strides": list(tensor.strides),
        "dim_names": list(tensor.dim_names),
    }
    for key, value in got.items():
        if value != want[key]:
            yield f"{key}: tstore wrote {want[key]}, pyarrow reads {value}"
    elements = np.ascontiguousarray(tensor.to_numpy()).tobytes()
    if elements != (dir / want["elements"]).read_bytes():
        yield "the elements differ"


def check(dir):
    compared = failed = 0
    for line in (dir / "ours.jsonl").read_text().splitlines():
        want = json.loads(line)
        for difference in differences(dir, want):
            print(f"{want['file']}: {difference}", file=sys.stderr)
            failed += 1
        compared += 1

    # One after the other they make a stream that Arrow's reader walks.
    reader = pa.ipc.MessageReader.open_stream(pa.memory_map(str(dir / "ours.stream")))
    kinds = [message.type for message in reader]
    want = json.loads((dir / "ours.stream.json").read_text())
    if kinds != want:
        print(f"ours.stream: {len(want)} messages, pyarrow finds {len(kinds)}", file=sys.stderr)
        failed += 1
    print(json.dumps({"compared": compared, "walked": len(kinds)}))
    return failed


def arrays(rng):
    for dtype in DTYPES:
        yield np.array(7, dtype), ()
        for shape in [(0,), (5,), (0, 3), (3, 0, 2), (1, 4, 1), (3, 4, 5)]:
            names = tuple(f"axis {i}" for i in range(len(shape)))
            yield fill(rng, dtype, shape), names
            yield np.asfortranarray(fill(rng, dtype, shape)), names
            yield fill(rng, dtype, shape), None
    for _ in range(400):
        dtype = DTYPES[rng.integers(len(DTYPES))]
        shape = tuple(rng.integers(0, 7, rng.integers(0, 6)))
        array = fill(rng, dtype, shape)
        array = np.asarray(array[tuple(slice(None, None, rng.choice([1, 2, 3])) for _ in shape)])
        yield array.transpose(rng.permutation(len(shape))), None


def fill(rng, dtype, shape):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(rng.bytes(size), dtype).reshape(shape)


def write(dir):
    with open(dir / "theirs.jsonl", "w") as index:
        for i, (array, names) in enumerate(arrays(np.random.default_rng(1))):
            tensor = pa.Tensor.from_numpy(array, dim_names=names)
            file = f"theirs-{i}.msg"
            with pa.OSFile(str(dir / file), "wb") as out:
                pa.ipc.write_tensor(tensor, out)
            written = pa.ipc.read_tensor(pa.memory_map(str(dir / file)))
            (dir / f"theirs-{i}.raw").write_bytes(array.tobytes())
            print(json.dumps({
                "file": file,
                "elements": f"theirs-{i}.raw",
                "dtype": array.dtype.name,
                "shape": list(array.shape),
                "strides": list(written.strides),
                "dim_names": list(written.dim_names),
            }), file=index)
    return 0


if __name__ == "__main__":
    command = {"check": check, "write": write}[sys.argv[1]]
    sys.exit(1 if command(pathlib.Path(sys.argv[2])) else 0)
