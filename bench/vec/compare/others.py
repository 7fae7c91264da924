"""Counts and converts with SciPy, NumPy and Arrow C++ what bench/vec asks for.

Requests come on standard input, one JSON object a line, and are answered on standard output. Bench/vec times its own
work between them, so that both see the same machine.

    {"do": "load", "path": ..., "dtype": ..., "shape": [...]}   the dense array from now on
    {"do": "run", "with": "scipy", "from": "dense", "to": "csr", "fresh": false} -> {"seconds": ..., "nnz": ...}
    {"do": "versions"}                                            -> {"numpy": ..., ...}

Fresh means that memory which is free is given back to the system before. Otherwise the same is done once before the time
is taken, and the allocator keeps what that has freed.

A request for something that a library does not do is answered by {"missing": ...}. Times are those of the thread's own
clock. What a library makes is dropped outside of the time; the source of a conversion is made once, by the same library.
"""

import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import scipy
import scipy.sparse as sp


class Missing(Exception):
    pass


def keep():
    """Has the allocator keep memory that is freed, however large, until release."""
    try:
        libc = ctypes.CDLL(None)
        libc.mallopt(-4, 0)  # M_MMAP_MAX: no array has a mapping of its own
        libc.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD
    except (OSError, AttributeError, TypeError):  # not glibc
        pass


def release():
    """Gives memory that is free back to the system."""
    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):  # not glibc
        pass


def arrow_counter():
    """Arrow C++ counts nonzeros, but its Python binding does not: a small library of our own asks it to."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        raise Missing("no C++ compiler")
    source = pathlib.Path(__file__).with_name("arrow_count.cc")
    out = os.path.join(tempfile.mkdtemp(dir=os.path.dirname(sys.argv[1])), "count.so")
    libraries = pa.get_library_dirs()[0]
    (arrow,) = [p for p in pathlib.Path(libraries).glob("libarrow.so*")][:1]
    subprocess.run(
        [compiler, "-std=c++20", "-O2", "-shared", "-fPIC", "-I", pa.get_include(), str(source), "-o", out, str(arrow),
         f"-Wl,-rpath,{libraries}"],
        check=True, stdout=sys.stderr)
    count = ctypes.CDLL(out).count_nonzero
    count.restype = ctypes.c_int64
    count.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p]
    return count


class Arrow:
    kinds = {"coo": pa.SparseCOOTensor, "csr": pa.SparseCSRMatrix, "csc": pa.SparseCSCMatrix, "csf": pa.SparseCSFTensor}

    def __init__(self, dense):
        self.dense = dense
        self.made = {}
        self.counter = None

    def job(self, source, to):
        if source == "dense" and to == "count":
            if self.counter is None:
                self.counter = arrow_counter()
            name = str(self.dense.dtype).encode()
            return lambda: self.counter(self.dense.ctypes.data, self.dense.size, name)
        if source == "dense" and to in self.kinds:
            return lambda: self.kinds[to].from_dense_numpy(self.dense)
        if to == "dense" and source in self.kinds:
            if source not in self.made:
                self.made = {source: self.kinds[source].from_dense_numpy(self.dense)}
            return self.made[source].to_tensor
        raise Missing(f"Arrow C++ has no conversion from {source} to {to}")

    @staticmethod
    def nnz(x):
        if isinstance(x, int):
            return x
        return x.non_zero_length if hasattr(x, "non_zero_length") else None


class SciPy:
    kinds = {"coo": sp.coo_array, "csr": sp.csr_array, "csc": sp.csc_array}

    def __init__(self, dense):
        self.dense = dense
        self.made = {}

    def job(self, source, to):
        if source == "dense" and to == "count":
            return lambda: int(np.count_nonzero(self.dense))
        if source == "dense" and to in self.kinds:
            return lambda: self.kinds[to](self.dense)
        if source in self.kinds:
            if source not in self.made:
                self.made = {source: self.kinds[source](self.dense)}
            x = self.made[source]
            if to == "dense":
                return x.toarray
            if source == "csc" and to == "coo":
                # Alone, tocoo leaves the elements column by column; here they come row by row.
                return lambda: x.tocsr().tocoo()
            if to in self.kinds:
                return getattr(x, "to" + to)
        raise Missing(f"SciPy has no conversion from {source} to {to}")

    @staticmethod
    def nnz(x):
        if isinstance(x, int):
            return x
        return int(x.nnz) if sp.issparse(x) else None


def main():
    keep()
    libraries = {}
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        if request["do"] == "versions":
            answer = {"numpy": np.__version__, "scipy": scipy.__version__, "arrow": pa.cpp_version}
        elif request["do"] == "load":
            libraries.clear()
            dense = np.fromfile(request["path"], dtype=request["dtype"]).reshape(request["shape"])
            libraries["arrow"], libraries["scipy"] = Arrow(dense), SciPy(dense)
        else:
            library = libraries[request["with"]]
            try:
                job = library.job(request["from"], request["to"])
                if request["fresh"]:
                    release()
                else:
                    job()
                start = time.thread_time_ns()
                result = job()
                answer = {"seconds": (time.thread_time_ns() - start) / 1e9, "nnz": library.nnz(result)}
                del result
            except (Missing, pa.ArrowException, subprocess.CalledProcessError) as e:
                answer = {"missing": str(e)}
        print(json.dumps(answer), flush=True)


main()
