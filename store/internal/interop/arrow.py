"""Reads with pyarrow what tstore wrote; called by main.go.

    arrow.py < REQUESTS

A request is a line of JSON. {"walk": FILE} steps through a segment or package from byte 0 with
Arrow's MessageReader and answers with the numbers of messages by type, where it stopped, and why if
not at an end. {"read": FILE, "offset": …}
reads the dense tensor at an offset and answers with what pyarrow sees of it.
"""

import hashlib
import json
import sys

import numpy as np
import pyarrow as pa


def walk(path):
    counts = {"unknown": 0, "tensor": 0, "sparse_tensor": 0}
    source = pa.memory_map(path)
    error = ""
    try:
        for message in pa.ipc.MessageReader.open_stream(source):
            kind = message.type.replace(" ", "_")
            counts[kind] = counts.get(kind, 0) + 1
    except (OSError, pa.ArrowInvalid) as e:
        error = str(e)
    return {"counts": counts, "at": source.tell(), "error": error}


def read(path, offset):
    source = pa.memory_map(path)
    source.seek(offset)
    tensor = pa.ipc.read_tensor(source)
    array = tensor.to_numpy()
    return {
        "dtype": array.dtype.name,
        "shape": list(tensor.shape),
        "dim_names": [name or "" for name in tensor.dim_names] or [""] * len(tensor.shape),
        "sha256": hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest(),
    }


for line in sys.stdin:
    request = json.loads(line)
    if "walk" in request:
        answer = walk(request["walk"])
    else:
        answer = read(request["read"], request["offset"])
    print(json.dumps(answer))
