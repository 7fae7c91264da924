"""Makes the .safetensors files beside this script, and manifest.jsonl with what is in them.

    python make_files.py

Needs NumPy and safetensors (made with 2.4 and 0.8). Files in accept/ are such as the reference
implementation reads, those in refuse/ such as it refuses; the script makes sure of both. The files
in numpy/ are written by it; the others have headers as this script spells them.
"""

import json
import pathlib
import shutil
import struct

import numpy as np
import safetensors
import safetensors.numpy

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(8)
manifest = []

# What the library calls a type, what a file calls it, bytes of an element, and a tensor's name of it.
DTYPES = [
    ("uint8", "U8", 1, "uint8"), ("uint16", "U16", 2, "uint16"), ("uint32", "U32", 4, "uint32"), ("uint64", "U64", 8, "uint64"),
    ("int8", "I8", 1, "int8"), ("int16", "I16", 2, "int16"), ("int32", "I32", 4, "int32"), ("int64", "I64", 8, "int64"),
    ("float16", "F16", 2, "float16"), ("float32", "F32", 4, "float32"), ("float64", "F64", 8, "float64"),
    ("bfloat16", "BF16", 2, "bfloat16"), ("float8_e4m3fn", "F8_E4M3", 1, "float8_e4m3fn"), ("float8_e5m2", "F8_E5M2", 1, "float8_e5m2"),
    ("bool", "BOOL", 1, "bool"), ("complex64", "C64", 8, "complex64"),
]
# Those that no tensor of ours has: what a file calls them, bits, elements that fill bytes.
OTHERS = [("F4", 4, 6), ("F6_E2M3", 6, 4), ("F6_E3M2", 6, 4), ("F8_E8M0", 8, 3), ("F8_E4M3FNUZ", 8, 3), ("F8_E5M2FNUZ", 8, 3)]

for kind in ["numpy", "accept", "refuse"]:
    shutil.rmtree(here / kind, ignore_errors=True)
    (here / kind).mkdir()


def tensor(name, dtype, shape, data):
    return {"name": name, "dtype": dtype, "shape": list(shape), "elements": data.hex()}


def write(path, content, **about):
    (here / path).write_bytes(content)
    manifest.append({"file": path, **about})


def elements(dtype, size, n):
    data = rng.bytes(n * size)
    return bytes(b & 1 for b in data) if dtype == "bool" else data


# Every type, as a scalar, without elements and with three axes, in one file.
tensors, listed, kept = {}, [], []
for library, file, size, ours in DTYPES:
    for shape in [(), (0,), (3, 0, 2), (5,), (2, 3, 4)]:
        data = elements(ours, size, int(np.prod(shape)))
        name = f"{file}/{len(shape)}/{int(np.prod(shape))}"
        kept.append(np.frombuffer(data, np.uint8))
        tensors[name] = safetensors.TensorSpec(dtype=library, shape=shape, data_ptr=kept[-1].ctypes.data, data_len=len(data))
        listed.append(tensor(name, ours, shape, data))
write("numpy/dtypes.safetensors", bytes(safetensors.serialize(tensors)), tensors=listed, metadata=[])

arrays = {
    "fortran": np.asfortranarray(rng.standard_normal((3, 4)).astype("f4")),
    "special": np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324]),
    "größe\n\"x\"": np.arange(3, dtype="i4"),
    "": np.array(True),
}
metadata = {"format": "np", "título": "a \"quoted\" \\ text\n\x01\u2028\U0001f600", "empty": ""}
content = safetensors.numpy.save({k: np.array(v, order="C") for k, v in arrays.items()}, metadata)
write("numpy/metadata.safetensors", content, metadata=sorted(metadata.items()),
      tensors=[tensor(k, v.dtype.name, v.shape, np.array(v, order="C").tobytes()) for k, v in arrays.items()])
write("numpy/empty.safetensors", safetensors.numpy.save({}), tensors=[], metadata=[])


def raw(header, data=b"", length=None):
    header = header if isinstance(header, bytes) else header.encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def accept(name, header, data, tensors, metadata=()):
    content = raw(header, data)
    found = dict(safetensors.deserialize(content))  # the reference reads it
    assert set(found) == {t["name"] for t in tensors}, name
    for t in tensors:
        assert bytes(found[t["name"]]["data"]).hex() == t["elements"], name
    write(f"accept/{name}.safetensors", content, tensors=tensors, metadata=list(metadata))


four = bytes([0, 0, 128, 63])
a = tensor("a", "float32", [1], four)
entry = '"dtype":"F32","shape":[1],"data_offsets":[0,4]'
for pad in range(8):  # the data begins at every remainder of 8
    accept(f"padded_by_{pad}", '{"a":{' + entry + "}}" + " " * pad, four, [a])
accept("spaces_and_order", ' {"a"\t:\n{ "data_offsets" : [ 0 , 4 ] , "shape":[1], "dtype":"F32" } }\r\n '[1:], four, [a])
accept("unknown_fields", '{"a":{"x":[{"y":null,"z":[1.5e-3,true,"\\u00e9"]}],' + entry + ',"w":{}}}', four, [a])
accept("escapes", '{"\\u0061\\ud83d\\ude00\\n\\/":{' + entry + "}}", four, [{**a, "name": "a😀\n/"}])
accept("metadata_last", '{"a":{' + entry + '},"__metadata__":{"k":"v","j":""}}', four, [a], [("k", "v"), ("j", "")])
accept("metadata_null", '{"__metadata__":null,"a":{' + entry + "}}", four, [a])
accept("metadata_empty", '{"__metadata__":{},"a":{' + entry + "}}", four, [a])
accept("data_in_another_order", '{"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},"a":{' + entry + "}}", four + b"\x07\x08",
       [a, tensor("b", "uint8", [2], b"\x07\x08")])
accept("empty_between", '{"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},"a":{' + entry + '},"e":{"dtype":"F64","shape":[9,0],"data_offsets":[4,4]},"f":{"dtype":"I8","shape":[0],"data_offsets":[0,0]}}',
       four + b"\x07\x08", [a, tensor("b", "uint8", [2], b"\x07\x08"), tensor("e", "float64", [9, 0], b""), tensor("f", "int8", [0], b"")])
accept("no_tensors", "{}", b"", [])

# A byte above 1 is true.
content = raw('{"a":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}}', bytes([0, 1, 2, 255]))
write("accept/bool_bytes_above_1.safetensors", content, metadata=[], tensors=[tensor("a", "bool", [4], bytes([0, 1, 1, 1]))])

# Types that no tensor has do not keep the others from being read.
header, data, others = {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, four, []
for name, bits, n in OTHERS:
    end = len(data) + n * bits // 8
    header[name] = {"dtype": name, "shape": [n], "data_offsets": [len(data), end]}
    data += bytes(end - len(data))
    others.append(name)
content = raw(json.dumps(header), data)
write("accept/types_without_tensors.safetensors", content, metadata=[], tensors=[a], unsupported=others)
safetensors.deserialize(content)


def refuse(name, content, reason, error="invalid", reference=True):
    """With reference=False the reference implementation reads the file."""
    try:
        safetensors.deserialize(content)
        refused = False
    except safetensors.SafetensorError:
        refused = True
    assert refused == reference, name
    write(f"refuse/{name}.safetensors", content, error=error, reason=reason)


def one(fields, data=four, more=""):
    return raw('{"a":{' + fields + "}" + more + "}", data)


def fields(dtype='"F32"', shape="[1]", offsets="[0,4]"):
    return f'"dtype":{dtype},"shape":{shape},"data_offsets":{offsets}'


refuse("empty", b"", "too few", "truncated")
refuse("no_header", struct.pack("<Q", 0), "does not begin with '{'")
refuse("header_of_100_MB", raw("{}", length=100_000_001), "at most 100000000")
refuse("header_of_2_63", raw("{}", length=2**63), "at most 100000000")
refuse("header_of_all_bits", raw("{}", length=2**64 - 1), "at most 100000000")
refuse("header_longer_than_file", raw("{}", length=3), "the header has 3 bytes, 2 are there", "truncated")
refuse("space_before_header", raw(" {}"), "does not begin with '{'", reference=False)
refuse("array_as_header", raw("[]"), "does not begin with '{'")
refuse("not_json", raw("{,}"), "a string expected")
refuse("unclosed", raw('{"a":{' + fields() + "}", four), "',' or '}' expected")
refuse("trailing_comma", raw('{"a":{' + fields() + "},}", four), "a string expected")
refuse("text_behind_header", raw('{"a":{' + fields() + "}} x", four), "the end expected")
refuse("two_headers", raw('{"a":{' + fields() + "}}{}", four), "the end expected")
refuse("nul_behind_header", raw('{"a":{' + fields() + "}}\0", four), "the end expected")
refuse("not_utf8", raw(b'{"\xff":{' + fields().encode() + b"}}", four), "not UTF-8")
refuse("lone_surrogate", raw('{"\\ud800":{' + fields() + "}}", four), "no such escape")
refuse("swapped_surrogates", raw('{"\\ude00\\ud83d":{' + fields() + "}}", four), "no such escape")
refuse("bad_escape", raw('{"\\x":{' + fields() + "}}", four), "no such escape")
refuse("signed_escape", raw('{"\\u+061":{' + fields() + "}}", four), "no such escape")
refuse("control_in_string", raw('{"a\n":{' + fields() + "}}", four), "control character")
refuse("single_quotes", raw("{'a':{" + fields() + "}}", four), "a string expected")
refuse("comment", raw("{/**/}"), "a string expected")
refuse("deep", raw('{"a":{"x":' + "[" * 200 + "]" * 200 + "," + fields() + "}}", four), "deep in each other")
refuse("duplicate_tensor", raw('{"a":{' + fields() + '},"a":{' + fields(offsets="[4,8]") + "}}", four + four), 'tensor "a" comes twice')
refuse("duplicate_by_escape", raw('{"a":{' + fields() + '},"\\u0061":{' + fields(offsets="[4,8]") + "}}", four + four), 'tensor "a" comes twice')
refuse("duplicate_field", one(fields() + ',"shape":[1]'), "shape of tensor \"a\" comes twice")
refuse("duplicate_metadata", raw('{"__metadata__":{},"__metadata__":{}}'), "comes twice")
refuse("duplicate_metadata_key", raw('{"__metadata__":{"k":"1","k":"2"}}'), 'key "k"', reference=False)
refuse("metadata_number", raw('{"__metadata__":{"k":1}}'), "a string expected")
refuse("metadata_nested", raw('{"__metadata__":{"k":{}}}'), "a string expected")
refuse("metadata_array", raw('{"__metadata__":[]}'), "'{' expected")
refuse("tensor_null", raw('{"a":null}'), "'{' expected")
refuse("no_dtype", one('"shape":[1],"data_offsets":[0,4]'), 'tensor "a" has no dtype')
refuse("no_shape", one('"dtype":"F32","data_offsets":[0,4]'), 'tensor "a" has no shape')
refuse("no_offsets", one('"dtype":"F32","shape":[1]'), 'tensor "a" has no data_offsets')
refuse("dtype_number", one(fields(dtype="1")), "a string expected")
refuse("dtype_null", one(fields(dtype="null")), "a string expected")
refuse("shape_number", one(fields(shape="1")), "'[' expected")
refuse("shape_negative", one(fields(shape="[-1]")), "not a whole number")
refuse("shape_minus_zero", one(fields(shape="[-0]", offsets="[0,0]"), b""), "not a whole number")
refuse("shape_float", one(fields(shape="[1.0]")), "not a whole number")
refuse("shape_exponent", one(fields(shape="[1e0]")), "not a whole number")
refuse("shape_leading_zero", one(fields(shape="[01]")), "a number expected")
refuse("shape_plus", one(fields(shape="[+1]")), "a number expected")
refuse("shape_hex", one(fields(shape="[0x1]")), "',' or ']' expected")
refuse("shape_text", one(fields(shape='["1"]')), "a number expected")
refuse("shape_2_64", one(fields(shape="[18446744073709551616]")), "63 bits")
refuse("shape_overflows", one(fields(shape="[4294967296,4294967296,4294967296]")), "2^63-1 bits")
refuse("shape_overflows_to_one", one(fields(shape="[4294967297,4294967297,1]")), "2^63-1 bits")
refuse("shape_too_large", one(fields(shape="[2]")), "takes 8 bytes, data_offsets give it 4")
refuse("shape_too_small", one(fields(shape="[0]")), "takes 0 bytes, data_offsets give it 4")
refuse("shape_half_a_byte", one(fields(dtype='"F4"', shape="[3]", offsets="[0,2]"), b"\0\0"), "does not fill its last byte")
refuse("offsets_three", one(fields(offsets="[0,4,4]")), "has 3 numbers")
refuse("offsets_one", one(fields(offsets="[0]")), "has 1 numbers")
refuse("offsets_none", one(fields(offsets="[]")), "has 0 numbers")
refuse("offsets_negative", one(fields(offsets="[-4,0]")), "not a whole number")
refuse("offsets_reversed", one(fields(offsets="[4,0]")), "before it begins")
refuse("offsets_empty", one(fields(offsets="[0,0]")), "takes 4 bytes, data_offsets give it 0")
refuse("offsets_2_63", one(fields(offsets="[0,9223372036854775808]")), "63 bits")
refuse("offsets_beyond_file", one(fields(shape="[2]", offsets="[0,8]")), "the tensors take 8 bytes, 4 are there", "truncated")
refuse("hole_at_start", one(fields(offsets="[4,8]"), four + four), "no tensor has bytes 0 to 3")
b_at = ',"b":{"dtype":"F32","shape":[1],"data_offsets":%s}'
refuse("hole_between", one(fields(), four * 3, b_at % "[8,12]"), "no tensor has bytes 4 to 7")
refuse("hole_at_end", one(fields(), four * 2), "4 bytes follow the last tensor")
refuse("overlap", one(fields(), four * 2, b_at % "[2,6]"), "inside tensor")
refuse("overlap_all", one(fields(), four, b_at % "[0,4]"), "inside tensor")
refuse("overlap_empty", one(fields(), four, ',"b":{"dtype":"F32","shape":[0],"data_offsets":[2,2]}'), "inside tensor")
refuse("only_metadata_and_data", raw('{"__metadata__":{}}', four), "4 bytes follow the last tensor")

with open(here / "manifest.jsonl", "w") as f:
    for m in manifest:
        f.write(json.dumps(m, ensure_ascii=False) + "\n")
print(len(manifest), "files")
