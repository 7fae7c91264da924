"""Compares .npz archives with NumPy; called by main.go.

    npz.py check DIR   reads what tstore wrote, described in DIR/ours.jsonl
    npz.py write DIR   writes archives, described in DIR/theirs.jsonl
"""

import json
import pathlib
import sys
import zipfile

import numpy as np

TIMES = {f"{kind}[{unit}]": f"{code}[{unit}]" for kind, code in [("timestamp", "M8"), ("duration", "m8")] for unit in ["s", "ms", "us", "ns"]}
TIMES["date[day]"] = "M8[D]"
NAMES = {np.dtype(v): k for k, v in TIMES.items()}
NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "b1", "c8", "c16"]


def name_of(dtype):
    return NAMES.get(dtype.newbyteorder("="), dtype.newbyteorder("=").name)


def elements(a):
    """The elements as tstore keeps them: a day takes 4 bytes."""
    if a.dtype.newbyteorder("=") == np.dtype("M8[D]"):
        a = a.astype("i8").astype("i4")
    return a.astype(a.dtype.newbyteorder("<")).tobytes("C").hex()


def check(dir):
    compared = failed = 0
    archives = {}
    for line in (dir / "ours.jsonl").read_text().splitlines():
        want = json.loads(line)
        file = want["file"]
        if file not in archives:
            with zipfile.ZipFile(dir / file) as z:
                assert z.testzip() is None, file
                # Elements are aligned where they are not compressed.
                for i in z.infolist():
                    if not i.compress_type:
                        with open(dir / file, "rb") as f:
                            f.seek(i.header_offset + 26)
                            at = f.tell() + 4 + sum(int.from_bytes(f.read(2), "little") for _ in range(2))
                        assert at % 64 == 0, (file, i.filename, at)
            archives[file] = np.load(dir / file, allow_pickle=False)
        a = archives[file][want["name"]]
        got = {"dtype": name_of(a.dtype), "shape": list(a.shape), "elements": elements(a),
               "fortran": bool(a.flags.f_contiguous and not a.flags.c_contiguous)}
        for key, value in got.items():
            if value != want[key]:
                print(f"{file}, {want['name']}: {key}: tstore wrote {want[key]}, NumPy reads {value}", file=sys.stderr)
                failed += 1
        compared += 1
    print(json.dumps({"compared": compared}))
    return failed


def arrays(rng, dtype):
    dtype = np.dtype(dtype)
    for shape in [(), (0,), (5,), (0, 3), (3, 0, 2), (1, 4, 1), (3, 4), (2, 3, 4)]:
        n = int(np.prod(shape))
        if dtype.kind == "b":
            data = rng.integers(0, 2, n).astype(bool)
        elif dtype == np.dtype("M8[D]"):
            data = rng.integers(-2**31, 2**31, n).astype(dtype)
        else:
            data = np.frombuffer(rng.bytes(n * dtype.itemsize), dtype)
        a = data.reshape(shape)
        yield a
        yield np.asfortranarray(a)
        yield a.T
        yield a.astype(dtype.newbyteorder(">"))
        yield a[..., ::2] if shape else a


def write(dir):
    rng = np.random.default_rng(2)
    with open(dir / "theirs.jsonl", "w") as index:
        for i, dtype in enumerate(NUMBERS + list(TIMES.values())):
            for save in [np.savez, np.savez_compressed]:
                file = f"theirs-{i}-{save.__name__}.npz"
                members = {f"größe/{j}": a for j, a in enumerate(arrays(rng, dtype))}
                save(dir / file, **members)
                for name, a in np.load(dir / file).items():
                    print(json.dumps({"file": file, "name": name, "dtype": name_of(a.dtype), "shape": list(a.shape), "elements": elements(a),
                                      "fortran": bool(a.flags.f_contiguous and not a.flags.c_contiguous)}), file=index)
    return 0


if __name__ == "__main__":
    command = {"check": check, "write": write}[sys.argv[1]]
    sys.exit(1 if command(pathlib.Path(sys.argv[2])) else 0)
