"""Makes the .npy files beside this script, and manifest.jsonl with what is in them.

    python make_files.py

Needs NumPy 2.x and ml_dtypes. Every file is written by NumPy's own functions; manifest.jsonl has
the element type by tstore's name, the shape, the order, and the elements as they should be in
memory (row-major, little-endian, hex), or a part of the reason for files that are refused.
"""

import json
import pathlib
import warnings

import ml_dtypes
import numpy as np

warnings.simplefilter("ignore")
here = pathlib.Path(__file__).parent
manifest = []


def save(folder, name, a, version=None):
    (here / folder).mkdir(exist_ok=True)
    path = here / folder / (name + ".npy")
    with open(path, "wb") as f:
        np.lib.format.write_array(f, a, version=version, allow_pickle=True)
    return f"{folder}/{name}.npy"


def accept(name, a, dtype, as_type=None, version=None, same=True):
    file = save("accept", name, a, version)
    native = a.astype(as_type or a.dtype.newbyteorder("<"))
    manifest.append({
        "file": file, "dtype": dtype, "shape": list(a.shape),
        "fortran": bool(a.flags.f_contiguous and not a.flags.c_contiguous),
        "elements": native.tobytes("C").hex(),
        # Whether writing the tensor gives the file again, byte for byte.
        "same": same and version is None and not a.dtype.str.startswith(">"),
    })


def refuse(name, a, error, reason, version=None):
    manifest.append({"file": save("refuse", name, a, version), "error": error, "reason": reason})


numbers = {
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
    "f2": "float16", "f4": "float32", "f8": "float64",
    "c8": "complex64", "c16": "complex128", "b1": "bool",
}
for code, dtype in numbers.items():
    a = (np.arange(6) * 37 % 11 - 5).reshape(2, 3)
    a = (a + 1j * a[::-1] if code[0] == "c" else a).astype(code)
    accept(f"{code}_c", a, dtype)
    accept(f"{code}_fortran", np.asfortranarray(a), dtype)
    if a.dtype.itemsize > 1:
        accept(f"{code}_big_endian", a.astype(">" + code), dtype)
        accept(f"{code}_big_endian_fortran", np.asfortranarray(a.astype(">" + code)), dtype)
    accept(f"{code}_scalar", a[0, 1].reshape(()), dtype)

f4 = np.arange(12, dtype="<f4")
accept("shape_0", f4[:0], "float32")
accept("shape_0_3", f4[:0].reshape(0, 3), "float32")
accept("shape_3_0_2", f4[:0].reshape(3, 0, 2), "float32")
accept("shape_1_1_1", f4[:1].reshape(1, 1, 1), "float32")
accept("shape_12_fortran_flag", np.asfortranarray(f4), "float32")
accept("shape_32_dims", f4[:2].reshape((1,) * 31 + (2,)), "float32")
accept("version_2", f4.reshape(3, 4), "float32", version=(2, 0))
accept("version_3", f4.reshape(3, 4), "float32", version=(3, 0))
accept("version_3_fortran", np.asfortranarray(f4.reshape(3, 4)), "float32", version=(3, 0))
special = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308])
accept("f8_special", special, "float64")
# The header is exactly a multiple of 64 before padding: NumPy adds 64 more.
accept("header_full_unit", np.zeros((1,) * 13 + (100,), "<f8"), "float64")

times = np.array([0, 1, -1, 1600000000, np.iinfo("i8").min, np.iinfo("i8").max], "i8")
for unit in ["s", "ms", "us", "ns"]:
    accept(f"datetime_{unit}", times.view(f"M8[{unit}]"), f"timestamp[{unit}]")
    accept(f"timedelta_{unit}", times.view(f"m8[{unit}]"), f"duration[{unit}]")
accept("datetime_ns_big_endian", times.astype(">i8").view(">M8[ns]"), "timestamp[ns]")
days = np.array([0, 1, -1, 18000, 2**31 - 1, -2**31], "i8").view("M8[D]").reshape(2, 3)
accept("datetime_D", days, "date[day]", as_type="i4")
accept("datetime_D_fortran", np.asfortranarray(days), "date[day]", as_type="i4")
accept("datetime_D_big_endian", days.astype(">M8[D]"), "date[day]", as_type="i4")
accept("bool_bytes_above_1", np.array([0, 1, 2, 255], "u1").view("?"), "bool", same=False)
manifest[-1]["elements"] = "00010101"

refuse("structured", np.zeros(2, [("a", "<i4"), ("b", "<f8")]), "unsupported", "structured")
refuse("structured_utf8_names", np.zeros(2, [("ä", "<i4")]), "unsupported", "structured", version=(3, 0))
refuse("object", np.array([None, 1], object), "unsupported", "object array")
refuse("bytes", np.array([b"abc"]), "unsupported", "string array")
refuse("unicode", np.array(["abc"]), "unsupported", "string array")
refuse("void", np.zeros(2, "V5"), "unsupported", "raw bytes")
refuse("bfloat16", np.zeros(2, ml_dtypes.bfloat16), "unsupported", "raw bytes")
refuse("float8_e5m2", np.zeros(2, ml_dtypes.float8_e5m2), "unsupported", "float8")
refuse("long_double", np.zeros(2, np.longdouble), "unsupported", "long double")
refuse("complex_long_double", np.zeros(2, np.clongdouble), "unsupported", "long double")
refuse("datetime_ps", np.zeros(2, "M8[ps]"), "unsupported", "timestamp counts")
refuse("datetime_W", np.zeros(2, "M8[W]"), "unsupported", "timestamp counts")
refuse("datetime_25us", np.zeros(2, "M8[25us]"), "unsupported", "timestamp counts")
refuse("datetime_no_unit", np.array(["NaT"], "M8"), "unsupported", "no unit")
refuse("timedelta_D", np.zeros(2, "m8[D]"), "unsupported", "duration counts")
refuse("datetime_D_NaT", np.array(["2020-01-01", "NaT"], "M8[D]"), "unsupported", "NaT")
refuse("datetime_D_far", np.array([2**31], "i8").view("M8[D]"), "unsupported", "beyond 32 bits")

# Two arrays in one file.
a = save("refuse", "two_arrays", f4)
with open(here / a, "ab") as f:
    np.save(f, f4)
manifest.append({"file": a, "error": "invalid", "reason": "follow the array"})

with open(here / "manifest.jsonl", "w") as f:
    for m in manifest:
        f.write(json.dumps(m) + "\n")
