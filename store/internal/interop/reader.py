"""An independent reader of tstore's stores and packages, written from docs/FORMAT.md alone.

    reader.py PATH …           prints what is in stores (directories) and packages (files)
    reader.py --requests       answers requests, each a line of JSON on standard input
    reader.py --messages DIR   reads the messages of a corpus: accept.jsonl and reject.jsonl

It uses Python's standard library and NumPy, checks everything that it reads, and takes its
time: tensors are made dense one element after the other. A line of its output is an object with
one key: "tensor" for each tensor, then "read" with what else is in the store or package, or
"error". A request has a "path" and may have "names" to look up and "prefixes" to list.

Strings are UTF-8; bytes that are not are written as \\xff.
"""

import argparse
import hashlib
import json
import pathlib
import sys

from errors import Corrupt, Refused
from messages import Message
from store import open_path
from tensors import Tensor


SEGMENTS = {1: "log", 2: "data", 3: "compacted", 4: "package"}
OPERATIONS = {1: "put", 2: "delete", 3: "rename", 4: "attach", 5: "replace"}


def tally(names, kinds):
    return {name: kinds.count(kind) for kind, name in names.items()}


def text(b):
    return b.decode("utf-8", "backslashreplace")


def pairs(attributes):
    return [[text(k), text(v)] for k, v in attributes]


def describe(tensor):
    return {
        "dtype": tensor.dtype,
        "shape": tensor.shape,
        "layout": tensor.layout,
        "nnz": tensor.nnz,
        "index_types": list(tensor.index_types),
        "bytes": tensor.payload_bytes(),
        "dim_names": [text(n) for n in tensor.names] if tensor.names else None,
        "attributes": pairs(tensor.attributes),
        "sha256": hashlib.sha256(tensor.elements()).hexdigest(),
    }


def place(word):
    location = word.location
    return {"sequence": word.sequence, "segment": location.segment, "offset": location.offset,
            "length": location.length, "crc": location.crc}


def read(path, names=(), prefixes=()):
    """Yields the lines for a store or package."""
    source = open_path(path)
    digest = source.check()
    number = 0
    for name, word, tensor in source.tensors():
        number += 1
        yield {"tensor": {"name": text(name), **describe(tensor), "place": place(word)}}
    found = []
    for name in names:
        word = source.lookup(name.encode())
        found.append(word and place(word))
    summary = {
        "path": str(path),
        "tensors": number,
        "found": found,
        "prefixed": [[text(n) for n in source.prefixed(p.encode())] for p in prefixes],
        "indexes": len(source.indexes),
        "entries": sum(index.count for _, index in source.indexes),
        "replayed": source.replayed,
        "segments": tally(SEGMENTS, [live.kind for live in source.live.values()]),
        "operations": tally(OPERATIONS, source.operations),
        "messages": {str(s.path): s.messages() for s in source.segments.values()},
    }
    if digest:
        summary["digest"] = digest
        summary["attributes"] = pairs(source.index.attributes())
    yield {"read": summary}


def answer(path, names=(), prefixes=()):
    try:
        for line in read(path, names, prefixes):
            print(json.dumps(line))
    except Corrupt as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
    sys.stdout.flush()


def messages(directory):
    """Reads a corpus of messages; what a line of accept.jsonl says must be seen, and what is in
    reject.jsonl be refused by the rule that it breaks. Returns how many were not."""
    compared = wrong = 0
    for line in (directory / "accept.jsonl").read_text().splitlines():
        want = json.loads(line)
        tensor = Tensor(Message((directory / "accept" / want.pop("file")).read_bytes()))
        got = describe(tensor) | {"elements": tensor.elements().hex()}
        compared += 1
        for key, value in want.items():
            if got[key] != value:
                print(f"{line}: {key} is {got[key]}", file=sys.stderr)
                wrong += 1
    for line in (directory / "reject.jsonl").read_text().splitlines():
        want = json.loads(line)
        compared += 1
        try:
            Tensor(Message((directory / "reject" / want["file"]).read_bytes())).elements()
            got = "nothing"
        except Refused as error:
            got = error.rule
        if got != want["rule"]:
            print(f"{want['file']}: {got} is broken", file=sys.stderr)
            wrong += 1
    print(json.dumps({"compared": compared}))
    return wrong


def main():
    parser = argparse.ArgumentParser(description="reads stores and packages of tstore")
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    parser.add_argument("--requests", action="store_true")
    parser.add_argument("--messages", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.messages:
        return messages(arguments.messages) != 0
    for path in arguments.paths:
        answer(path)
    if arguments.requests:
        for line in sys.stdin:
            request = json.loads(line)
            answer(request["path"], request.get("names") or [], request.get("prefixes") or [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
