"""Makes the .npz files beside this script, and manifest.jsonl with what is in them.

    python make_files.py

Needs NumPy, SciPy 1.15 or newer and sparse (made with 2.4, 1.17 and 0.19). Those in numpy/ are
archives of arrays, those in scipy/ and pydata/ sparse tensors; in zip/ are archives as other programs
than NumPy make them.
"""

import io
import json
import pathlib
import shutil
import zipfile

import numpy as np
import scipy.sparse as sp
import sparse as pydata

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(11)
manifest = []

for kind in ["numpy", "zip", "scipy", "pydata"]:
    shutil.rmtree(here / kind, ignore_errors=True)
    (here / kind).mkdir()


def little(a):
    return np.array(a.astype(a.dtype.newbyteorder("<"), copy=False), order="C")


def describe(file, others=(), refused=()):
    members = []
    with zipfile.ZipFile(here / file) as z:
        compressed = [i.filename for i in z.infolist() if i.compress_type]
        names = [i.filename for i in z.infolist() if i.filename.endswith(".npy")]
        for name in names:
            if name[:-4] in refused:
                continue
            a = np.lib.format.read_array(io.BytesIO(z.read(name)))
            members.append({
                "name": name[:-4], "dtype": a.dtype.newbyteorder("=").name, "shape": list(a.shape), "compressed": name in compressed,
                "fortran": bool(a.flags.f_contiguous and not a.flags.c_contiguous), "elements": little(a).tobytes().hex(),
            })
    manifest.append({"file": file, "members": members, "others": list(others), "refused": list(refused)})


arrays = {
    "f8": rng.standard_normal((2, 3)),
    "fortran": np.asfortranarray(rng.standard_normal((3, 2)).astype("f4")),
    "scalar": np.array(7, "i1"),
    "empty": np.zeros((0, 3), "c16"),
    "layer/0/weight:0": np.arange(5, dtype="u2"),
    "größe": np.array([True, False, True]),
    "big_endian": np.arange(4, dtype=">i4"),
    "x.npy": np.array([1.5], "f2"),
    "a b": np.arange(3, dtype="i8"),
}
np.savez(here / "numpy/plain.npz", **arrays)
describe("numpy/plain.npz")
np.savez_compressed(here / "numpy/compressed.npz", **arrays)
describe("numpy/compressed.npz")
np.savez(here / "numpy/positional.npz", np.arange(3.0), np.int16([[1, 2]]))
describe("numpy/positional.npz")
np.savez(here / "numpy/no_arrays.npz")
describe("numpy/no_arrays.npz")
np.savez_compressed(here / "numpy/zeros.npz", zeros=np.zeros((50, 100), "i2"))
describe("numpy/zeros.npz")
np.savez(here / "numpy/objects_and_text.npz", numbers=np.arange(2), objects=np.array([{}, None]), text=np.array(["a", "bc"]))
describe("numpy/objects_and_text.npz", refused=["objects", "text"])
# Arrays that happen to have the names of a sparse tensor's.
np.savez(here / "numpy/data_and_shape.npz", data=np.arange(3.0), shape=np.array([3]), indices=np.arange(3))
describe("numpy/data_and_shape.npz")
np.savez(here / "numpy/data_and_coords.npz", data=np.arange(3.0), shape=np.array([10, 10]), coords=np.zeros((3, 2)))
describe("numpy/data_and_coords.npz")
np.savez(here / "numpy/format_is_a_number.npz", data=np.arange(3.0), shape=np.array([3]), format=np.array(3))
describe("numpy/format_is_a_number.npz")


class Unseekable(io.BytesIO):
    def seekable(self):
        return False

    def seek(self, *_):
        raise io.UnsupportedOperation

    def tell(self):
        raise io.UnsupportedOperation


def npy(a):
    b = io.BytesIO()
    np.save(b, a)
    return b.getvalue()


def zipped(file, fill, out=None, prefix=b"", others=(), **how):
    out = out or io.BytesIO()
    with zipfile.ZipFile(out, "w", **how) as z:
        fill(z)
    (here / file).write_bytes(prefix + out.getvalue())
    describe(file, others)


def put(z, name, data, method=None):
    """Writes a member that does not say when it was made."""
    z.writestr(zipfile.ZipInfo(name), data, z.compression if method is None else method)


def two(z):
    put(z, "a.npy", npy(np.arange(3.0)))
    put(z, "b/c.npy", npy(np.array([[1, 2]], "u1")))


zipped("zip/streamed.npz", two, Unseekable())  # sizes in data descriptors
zipped("zip/streamed_deflated.npz", two, Unseekable(), compression=zipfile.ZIP_DEFLATED)
zipped("zip/behind_other_data.npz", two, prefix=b"PK\x03\x04 and so on: what unpacks itself begins with a program")


def zip64(z):
    for name, a in [("a.npy", np.arange(3.0)), ("b.npy", np.arange(3))]:
        with z.open(zipfile.ZipInfo(name), "w", force_zip64=True) as f:
            f.write(npy(a))


zipped("zip/zip64.npz", zip64)


def comment(z):
    two(z)
    z.comment = b"made by hand"
    info = zipfile.ZipInfo("d.npy", (2020, 2, 29, 1, 2, 4))
    info.comment = b"this one, too"
    info.extra = b"\x99\x99\x04\x00abcd"
    z.writestr(info, npy(np.int8([1])))


zipped("zip/comments.npz", comment)


def mixed(z):
    put(z, "b/", "")
    two(z)
    put(z, "README.txt", "text")
    put(z, "data.bin", "", zipfile.ZIP_DEFLATED)


zipped("zip/other_members.npz", mixed, others=["README.txt", "data.bin"])


def mixed_methods(z):
    put(z, "a.npy", npy(np.arange(3.0)), zipfile.ZIP_DEFLATED)
    put(z, "b.npy", npy(np.arange(3.0)), zipfile.ZIP_STORED)


zipped("zip/mixed_methods.npz", mixed_methods)


def sparse_file(file, layout, dense, nnz, canonical=True):
    dense = np.array(dense, order="C")
    manifest.append({"file": file, "layout": layout, "dtype": dense.dtype.name, "shape": list(dense.shape), "nnz": int(nnz),
                     "canonical": canonical, "elements": dense.tobytes().hex()})


def scipy_file(name, m, layout, canonical=True, nnz=None, compressed=False):
    file = f"scipy/{name}.npz"
    sp.save_npz(here / file, m, compressed=compressed)
    loaded = sp.load_npz(here / file)
    half = loaded.dtype == np.float16  # of which SciPy makes no dense array
    dense = loaded.astype("f4").toarray().astype("f2") if half else loaded.toarray()
    sparse_file(file, layout, dense, loaded.nnz if nnz is None else nnz, canonical)


m = sp.random_array((6, 8), density=0.3, random_state=1, dtype="f8")
for form in ["csr", "csc", "coo"]:
    scipy_file(f"{form}_array", m.asformat(form), form)
    scipy_file(f"{form}_matrix", getattr(sp, form + "_matrix")(m), form, compressed=True)
scipy_file("bsr", sp.bsr_array(m, blocksize=(2, 4)), "csr")
scipy_file("bsr_empty", sp.bsr_matrix((6, 8), blocksize=(3, 2), dtype="f4"), "csr")
scipy_file("dia", sp.dia_array(m), "csr", nnz=m.nnz)
scipy_file("dia_offsets", sp.dia_matrix((np.arange(1, 13).reshape(3, 4), [0, -3, 2]), shape=(7, 4)), "csr", nnz=10)
scipy_file("dia_long", sp.dia_array((np.array([[0, 5.0, -0.0, np.nan]]), [1]), shape=(2, 9)), "csr", nnz=1)
for dtype in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "c8", "c16", "b1"]:
    values = np.array([1, 0, 1, 1, 0, 1], dtype)
    scipy_file(f"dtype_{np.dtype(dtype).name}", sp.csr_array((values, np.array([0, 2, 1, 0, 1, 2]), np.array([0, 2, 3, 6])), shape=(3, 3)), "csr")
scipy_file("csr_int64", sp.csr_array((m.tocsr().data, m.tocsr().indices.astype("i8"), m.tocsr().indptr.astype("i8")), shape=m.shape), "csr")
scipy_file("csr_unsorted", sp.csr_array((np.arange(1.0, 5), [2, 0, 1, 0], [0, 2, 4]), shape=(2, 3)), "csr")
scipy_file("csr_twice", sp.csr_array((np.arange(1.0, 5), [2, 2, 1, 0], [0, 2, 4]), shape=(2, 3)), "csr", nnz=3)
scipy_file("csc_unsorted", sp.csc_array((np.arange(1.0, 5), [2, 0, 1, 0], [0, 2, 4]), shape=(3, 2)), "csc")
scipy_file("csr_no_rows", sp.csr_array((0, 5)), "csr")
scipy_file("csr_vector", sp.csr_array(np.array([0, 1.5, 0, 2])), "coo")
scipy_file("coo_vector", sp.coo_array(np.array([0, 1.5, 0, 2])), "coo")
cube = sp.coo_array(rng.integers(0, 2, (2, 3, 4)).astype("f4"))
scipy_file("coo_cube", cube, "coo")
order = rng.permutation(cube.nnz)
scipy_file("coo_cube_unsorted", sp.coo_array((cube.data[order], tuple(c[order] for c in cube.coords)), shape=cube.shape), "coo")
scipy_file("coo_unsorted", sp.coo_matrix((np.arange(1.0, 4), ([2, 0, 1], [0, 1, 0])), shape=(3, 2)), "coo")
scipy_file("coo_twice", sp.coo_matrix((np.arange(1.0, 4), ([2, 0, 2], [0, 1, 0])), shape=(3, 2)), "coo", canonical=False)

# As SciPy before 1.0 wrote the format under Python 3, and an array in Fortran order.
c = m.tocsr()
np.savez(here / "scipy/format_unicode.npz", data=c.data, indices=c.indices, indptr=c.indptr, shape=c.shape, format=np.array("csr"))
sparse_file("scipy/format_unicode.npz", "csr", m.toarray(), m.nnz)
b = sp.bsr_array(m, blocksize=(2, 4))
np.savez(here / "scipy/bsr_fortran.npz", data=np.asfortranarray(b.data), indices=b.indices, indptr=b.indptr, shape=b.shape, format=b"bsr")
sparse_file("scipy/bsr_fortran.npz", "csr", b.toarray(), b.data.size)
np.savez(here / "scipy/coords_fortran.npz", data=cube.data, coords=np.asfortranarray(np.array(cube.coords)), shape=cube.shape, format=b"coo", _is_array=True)
sparse_file("scipy/coords_fortran.npz", "coo", cube.toarray(), cube.nnz)
np.savez(here / "scipy/row_and_col_types.npz", data=np.float32([1, 2]), row=np.int32([0, 1]), col=np.int64([1, 0]), shape=(2, 2), format=b"coo")
sparse_file("scipy/row_and_col_types.npz", "coo", np.float32([[0, 1], [2, 0]]), 2)
np.savez(here / "scipy/big_endian.npz", data=c.data.astype(">f8"), indices=c.indices.astype(">i4"), indptr=c.indptr.astype(">i4"), shape=np.array(c.shape, ">i8"), format=b"csr")
sparse_file("scipy/big_endian.npz", "csr", m.toarray(), m.nnz)


def pydata_file(name, t, layout):
    file = f"pydata/{name}.npz"
    pydata.save_npz(here / file, t)
    sparse_file(file, layout, pydata.load_npz(here / file).todense(), t.nnz)
    nodes = dict(np.load(here / file))
    del nodes["format"]  # as older versions
    np.savez(here / f"pydata/{name}_old.npz", **nodes)
    sparse_file(f"pydata/{name}_old.npz", layout, t.todense(), t.nnz)


dense = rng.integers(0, 3, (3, 4, 2, 3)) * (rng.random((3, 4, 2, 3)) < 0.4)
pydata_file("coo", pydata.COO(dense.astype("f8")), "coo")
pydata_file("coo_matrix", pydata.COO(dense[0, :, 0].astype("f4")), "coo")
pydata_file("gcxs", pydata.GCXS(dense.astype("i8")), "coo")
pydata_file("gcxs_axes", pydata.GCXS(dense, compressed_axes=(1, 3)), "coo")
pydata_file("gcxs_rows", pydata.GCXS(dense[0, :, 0], compressed_axes=(0,)), "csr")
pydata_file("gcxs_columns", pydata.GCXS(dense[0, :, 0], compressed_axes=(1,)), "csc")
pydata_file("vector", pydata.COO(np.array([[0, 2]]), np.array([1.0, 2.0]), shape=(3,)), "coo")
t = pydata.COO(np.array([[0, 2]]), np.array([1.0, 2.0]), shape=(3,), fill_value=np.nan)
pydata.save_npz(here / "pydata/fill_value.npz", t)
manifest.append({"file": "pydata/fill_value.npz", "error": "fill value is not 0"})

with open(here / "manifest.jsonl", "w") as f:
    for m in manifest:
        f.write(json.dumps(m, ensure_ascii=False) + "\n")
print(len(manifest), "files")
