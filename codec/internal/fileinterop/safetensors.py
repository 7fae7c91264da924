"""Compares .safetensors files with the safetensors library; called by main.go.

    safetensors.py check DIR   reads what tstore wrote, described in DIR/ours.jsonl
    safetensors.py write DIR   writes files, described in DIR/theirs.jsonl
"""

import json
import pathlib
import sys

sys.path.pop(0)  # or this file would be what import safetensors finds

import numpy as np
import safetensors
import safetensors.numpy

# What a file calls a type, what the library calls it when it writes, and what a tensor calls it.
TYPES = {
    "U8": ("uint8", "uint8"), "U16": ("uint16", "uint16"), "U32": ("uint32", "uint32"), "U64": ("uint64", "uint64"),
    "I8": ("int8", "int8"), "I16": ("int16", "int16"), "I32": ("int32", "int32"), "I64": ("int64", "int64"),
    "F16": ("float16", "float16"), "F32": ("float32", "float32"), "F64": ("float64", "float64"),
    "BF16": ("bfloat16", "bfloat16"), "F8_E4M3": ("float8_e4m3fn", "float8_e4m3fn"), "F8_E5M2": ("float8_e5m2", "float8_e5m2"),
    "BOOL": ("bool", "bool"), "C64": ("complex64", "complex64"),
}
SIZES = {"U8": 1, "U16": 2, "U32": 4, "U64": 8, "I8": 1, "I16": 2, "I32": 4, "I64": 8, "F16": 2, "F32": 4, "F64": 8,
         "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "BOOL": 1, "C64": 8}


def check(dir):
    compared = failed = 0
    files = {}
    for line in (dir / "ours.jsonl").read_text().splitlines():
        want = json.loads(line)
        file = want["file"]
        if file not in files:
            files[file] = dict(safetensors.deserialize((dir / file).read_bytes()))
            with safetensors.safe_open(dir / file, "np") as f:
                if f.metadata() != want["metadata"]:
                    print(f"{file}: metadata: tstore wrote {want['metadata']}, safetensors reads {f.metadata()}", file=sys.stderr)
                    failed += 1
                if set(f.keys()) != set(files[file]):
                    print(f"{file}: other tensors by safe_open", file=sys.stderr)
                    failed += 1
                for name in f.keys():
                    if files[file][name]["dtype"] in safetensors.numpy._TYPES:
                        a = f.get_tensor(name)
                        if a.tobytes() != bytes(files[file][name]["data"]) or list(a.shape) != files[file][name]["shape"]:
                            print(f"{file}, {name}: another array by safe_open", file=sys.stderr)
                            failed += 1
        t = files[file][want["name"]]
        got = {"dtype": TYPES[t["dtype"]][1], "shape": t["shape"], "elements": bytes(t["data"]).hex()}
        for key, value in got.items():
            if value != want[key]:
                print(f"{file}, {want['name']}: {key}: tstore wrote {want[key]}, safetensors reads {value}", file=sys.stderr)
                failed += 1
        compared += 1
    print(json.dumps({"compared": compared}))
    return failed


def write(dir):
    rng = np.random.default_rng(4)
    with open(dir / "theirs.jsonl", "w") as index:
        for file, types in [(f"theirs-{t}.safetensors", [t]) for t in TYPES] + [("theirs-all.safetensors", list(TYPES))]:
            specs, kept, lines = {}, [], []
            metadata = {"größe": file, "empty": "", "odd": "\"\\\n\x01\u2028\U0001f600"}
            for t in types:
                for shape in [(), (0,), (5,), (0, 3), (3, 0, 2), (1, 4, 1), (2, 3, 4)]:
                    data = np.frombuffer(rng.bytes(int(np.prod(shape)) * SIZES[t]), "u1")
                    if t == "BOOL":
                        data = data & 1
                    kept.append(data)
                    name = f"größe.{t}.{len(specs)} \"\n"
                    specs[name] = safetensors.TensorSpec(dtype=TYPES[t][0], shape=shape, data_ptr=data.ctypes.data, data_len=data.size)
                    lines.append({"file": file, "name": name, "dtype": TYPES[t][1], "shape": list(shape), "elements": data.tobytes().hex(),
                                  "metadata": metadata})
            safetensors.serialize_file(specs, dir / file, metadata)
            for line in lines:
                print(json.dumps(line), file=index)
    return 0


if __name__ == "__main__":
    command = {"check": check, "write": write}[sys.argv[1]]
    sys.exit(1 if command(pathlib.Path(sys.argv[2])) else 0)
