"""Makes summaries.jsonl: arrays, and what NumPy says of their finite values.

    python make_summaries.py

Needs NumPy. The histogram of integers with fewer values than bins has a bin for each.
"""

import json
import pathlib

import numpy as np

rng = np.random.default_rng(11)
cases = []


def case(a, bins=10):
    a = np.asarray(a)
    values = np.abs(a.astype("c16")) if a.dtype.kind == "c" else a
    values = values.astype(np.float64) if a.dtype.kind in "fc" else values
    finite = values[np.isfinite(values)].ravel()
    c = {"dtype": a.dtype.name, "shape": list(a.shape), "data": a.tobytes().hex(), "bins": bins,
         "nonzero": int(np.count_nonzero(a)), "nan": int(np.isnan(values).sum()), "inf": int(np.isinf(values).sum())}
    if finite.size:
        span = finite.max().item() - finite.min().item()
        if a.dtype.kind in "iub" and span < bins:
            finite = finite.astype(np.int64)
            edges = np.arange(finite.min(), finite.max() + 2)
            counts = np.bincount(finite - finite.min())
        else:
            counts, edges = np.histogram(finite, bins=bins)
        c |= {"min": float(finite.min()), "max": float(finite.max()), "mean": float(finite.mean()),
              "std": float(finite.std()), "counts": counts.tolist(), "edges": edges.astype(float).tolist()}
    cases.append(c)


for code in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
    case(rng.integers(0, 100, 300).astype(code))
    case(rng.integers(0, 5, (4, 5)).astype(code))
case(rng.integers(-100, 100, 500).astype("i2"), 7)
case(np.array([True, False, True]))
for code in ["f2", "f4", "f8"]:
    case(rng.normal(size=777).astype(code))
    case((1000 + rng.normal(size=500)).astype(code), 13)
    case(np.array([0, -0.0, np.nan, np.inf, -np.inf, 1, 2, 2, 3], code))
    case(np.array([np.nan, np.inf], code))
    case(np.array([2.5], code))
    case(np.array([], code))
    case(np.full(5, 3, code))
case(1e9 + rng.normal(size=600))
case(np.repeat([0.1, 0.2, 0.3, 0.7, 1.0], 3))
case(rng.normal(size=100).astype("c8") + np.complex64(2j))
case(rng.normal(size=100) + 3j * rng.normal(size=100))

with open(pathlib.Path(__file__).parent / "summaries.jsonl", "w") as f:
    for c in cases:
        f.write(json.dumps(c) + "\n")
