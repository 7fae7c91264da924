"""Makes the .mtx files beside this script, and manifest.jsonl with what SciPy reads from them.

    python make_files.py

Needs SciPy 1.12 or newer. Written by SciPy are the files whose names begin with scipy_; the
others are text that follows the format's description where SciPy would not write it so.
"""

import gzip
import json
import pathlib

import numpy as np
import scipy.io
import scipy.sparse as sp

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(5)
manifest = []


def describe(path):
    m = scipy.io.mmread(path)
    sparse = sp.issparse(m)
    dense = m.toarray() if sparse else np.asarray(m)
    if sparse and "pattern" in (gzip.open if path.suffix == ".gz" else open)(path, "rt").readline():
        dense = dense != 0
    manifest.append({
        "file": path.name, "layout": "coo" if sparse else "dense", "dtype": dense.dtype.name,
        "shape": list(dense.shape), "nnz": int(m.nnz) if sparse else dense.size,
        "elements": dense.tobytes("C").hex(),  # row-major, little-endian
    })


def scipy_file(name, a, **how):
    path = here / f"scipy_{name}.mtx"
    scipy.io.mmwrite(path, a, **how)
    describe(path)


def text_file(name, text):
    path = here / (name + ".mtx" if not name.endswith(".gz") else name)
    data = text.encode()
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    describe(path)


real = sp.random(5, 7, 0.4, random_state=1)
scipy_file("real_coordinate", real)
scipy_file("integer_coordinate", (real * 100).astype(np.int64))
scipy_file("unsigned_coordinate", (real * 100).astype(np.uint64))
scipy_file("complex_coordinate", real * (1 + 2j))
scipy_file("pattern_coordinate", real, field="pattern")
a = rng.standard_normal((4, 4))
for symmetry, m in [("general", a), ("symmetric", a + a.T), ("skew-symmetric", a - a.T)]:
    scipy_file(f"{symmetry}_array", m, symmetry=symmetry)
    scipy_file(f"{symmetry}_coordinate", sp.coo_matrix(m), symmetry=symmetry)
    scipy_file(f"{symmetry}_integer_array", (m * 10).astype(np.int64), symmetry=symmetry)
    scipy_file(f"{symmetry}_complex_coordinate", sp.coo_matrix(m * (1 - 0.5j)), symmetry=symmetry)
    scipy_file(f"{symmetry}_complex_array", m * (1 - 0.5j), symmetry=symmetry)
h = a + 1j * rng.standard_normal((4, 4))
h = h + h.conj().T
scipy_file("hermitian_array", h, symmetry="hermitian")
scipy_file("hermitian_coordinate", sp.coo_matrix(h), symmetry="hermitian")
scipy_file("special_array", np.array([[np.nan, np.inf], [-np.inf, 0.0], [5e-324, 1.7976931348623157e308]]))
scipy_file("empty_coordinate", sp.coo_matrix((3, 4)))

text_file("symmetric_pattern", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 2\n")
text_file("spellings", "%%MatrixMarket MATRIX Coordinate Real General\n% a comment\n%\n\n  2\t3   2\n\n 1 1\t1.5E+00 \n2 3 -.5e1\n")
text_file("crlf", "%%MatrixMarket matrix array real general\r\n% x\r\n2 1\r\n1\r\n2\r\n")
text_file("no_newline_at_end", "%%MatrixMarket matrix array integer general\n1 2\n1\n-2")
text_file("duplicates", "%%MatrixMarket matrix coordinate real general\n2 2 3\n2 2 1\n1 1 2\n2 2 3\n")
text_file("stored_zero", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 0\n2 2 1\n")
text_file("gzipped.mtx.gz", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 0.25\n2 1 1e-3\n")

with open(here / "manifest.jsonl", "w") as f:
    for m in manifest:
        f.write(json.dumps(m) + "\n")
print(len(manifest), "files")
