"""Makes slices.jsonl: indexes, and what NumPy makes of arange(n).reshape(shape) with them.

    python make_slices.py

Each line has the shape, the index as text, and either the shape and elements of the result or, where
NumPy refuses, neither. Needs NumPy.
"""

import json
import pathlib
import random

import numpy as np

rng = random.Random(3)


def bound(n):
    return rng.choice(["", "", str(rng.randint(-n - 2, n + 2)), str(10**20), str(-(10**20))])


def item(n):
    kind = rng.random()
    if kind < 0.25:
        return str(rng.randint(-n - 1, n))
    if kind < 0.3:
        return "..."
    if kind < 0.36:
        return "None"
    text = bound(n) + ":" + bound(n)
    if rng.random() < 0.6:
        text += ":" + rng.choice(["", "1", "2", "3", "-1", "-2", "-5", "100", str(10**20), str(-(10**20))])
    return text


cases = []
for shape in [(), (1,), (5,), (0,), (4, 3), (0, 3), (3, 2, 4), (2, 1, 2, 3)]:
    a = np.arange(np.prod(shape, dtype=int), dtype=np.int64).reshape(shape)
    for _ in range(60):
        dims = rng.randint(1, max(1, len(shape) + rng.choice([0, 0, 0, 1])))
        text = rng.choice([",", ", "]).join(item(shape[i] if i < len(shape) else 2) for i in range(dims))
        case = {"shape": list(shape), "index": text}
        try:
            r = eval("a[" + text + "]", {"a": a})
            case |= {"result": list(r.shape), "elements": r.ravel().tolist()}
        except IndexError:
            pass
        if case not in cases:
            cases.append(case)

with open(pathlib.Path(__file__).parent / "slices.jsonl", "w") as f:
    for c in cases:
        f.write(json.dumps(c) + "\n")
