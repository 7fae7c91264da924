"""Compares sparse .npz archives with SciPy; called by main.go.

    sparse.py check DIR   reads what tstore wrote, described in DIR/ours.jsonl
    sparse.py write DIR   writes archives, described in DIR/theirs.jsonl
"""

import json
import pathlib
import sys

import numpy as np
import scipy.sparse as sp

TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "b1", "c8", "c16"]


def dense(m):
    """The elements, put in place here: m.toarray adds them to 0, which quiets NaNs."""
    c = m.tocoo()
    a = np.zeros(c.shape, c.dtype)
    a[c.coords] = c.data
    return a.tobytes("C").hex()


def check(dir):
    compared = failed = 0
    for line in (dir / "ours.jsonl").read_text().splitlines():
        want = json.loads(line)
        m = sp.load_npz(dir / want["file"])
        got = {"layout": m.format, "dtype": m.dtype.name, "shape": list(m.shape), "nnz": int(m.nnz), "elements": dense(m)}
        if isinstance(m, sp.sparray) != (m.ndim != 2):
            print(f"{want['file']}: SciPy reads a {type(m)} of {m.ndim} dimensions", file=sys.stderr)
            failed += 1
        for key, value in got.items():
            if value != want[key]:
                print(f"{want['file']}: {key}: tstore wrote {want[key]}, SciPy reads {value}", file=sys.stderr)
                failed += 1
        compared += 1
    print(json.dumps({"compared": compared}))
    return failed


def random(rng, dtype, shape):
    dtype = np.dtype(dtype)
    n = int(np.prod(shape))
    data = rng.integers(0, 2, n).astype(bool) if dtype.kind == "b" else np.frombuffer(rng.bytes(n * dtype.itemsize), dtype)
    if dtype.kind in "fc":  # SciPy quiets NaNs when it converts
        data = rng.standard_normal(n).astype(dtype)
    return np.where(rng.random(n) < 0.4, data, np.zeros(n, dtype)).reshape(shape)


def tensors(rng, dtype):
    """Sparse tensors, and the layout in which tstore keeps them."""
    for shape in [(3, 4), (6, 8), (0, 5), (5, 0), (1, 1)]:
        a = random(rng, dtype, shape)
        for make in [sp.coo_array, sp.coo_matrix]:
            m = make(a)
            for form in ["csr", "csc", "coo"]:
                yield m.asformat(form), form
            if 0 not in shape:
                yield m.asformat("dia"), "csr"
            if shape == (6, 8):
                yield m.tobsr(blocksize=(3, 2)), "csr"
    for shape in [(7,), (2, 3, 4), (2, 1, 3, 2)]:
        yield sp.coo_array(random(rng, dtype, shape)), "coo"
    yield sp.coo_array(random(rng, dtype, (9,))).tocsr(), "coo"


def write(dir):
    rng = np.random.default_rng(3)
    n = 0
    with open(dir / "theirs.jsonl", "w") as index:
        for dtype in TYPES:
            for m, layout in tensors(rng, dtype):
                for compressed in [False, True]:
                    file = f"theirs-{n}.npz"
                    n += 1
                    sp.save_npz(dir / file, m, compressed=compressed)
                    # Of diagonals only what is not zero is kept, of blocks everything.
                    nnz = m.data.size if m.format == "bsr" else np.count_nonzero(m.tocoo().data) if m.format == "dia" else m.nnz
                    print(json.dumps({"file": file, "layout": layout, "dtype": m.dtype.name, "shape": list(m.shape), "nnz": int(nnz),
                                      "elements": dense(m)}), file=index)
    return 0


if __name__ == "__main__":
    command = {"check": check, "write": write}[sys.argv[1]]
    sys.exit(1 if command(pathlib.Path(sys.argv[2])) else 0)
