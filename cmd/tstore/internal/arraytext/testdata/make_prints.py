"""Makes prints.jsonl: arrays, and what NumPy's print writes for them.

    python make_prints.py

Needs NumPy 2.4 or newer, whose print options are left at their defaults.
"""

import json
import pathlib

import numpy as np

rng = np.random.default_rng(7)
cases = []
names = {"M8[s]": "timestamp[s]", "M8[ms]": "timestamp[ms]", "M8[us]": "timestamp[us]", "M8[ns]": "timestamp[ns]",
         "m8[s]": "duration[s]", "m8[ms]": "duration[ms]", "m8[ns]": "duration[ns]", "M8[D]": "date[day]"}


def case(a, code=None):
    a = np.asarray(a, dtype=code)
    kind = a.dtype.str.lstrip("<|")
    data = a.astype("i4") if kind == "M8[D]" else a
    cases.append({"dtype": names.get(kind, a.dtype.name), "shape": list(a.shape),
                  "data": data.tobytes().hex(), "text": str(a)})


for code in ["f2", "f4", "f8"]:
    for v in [0, -0.0, 1, 1.5, -2.25, 0.1, 1 / 3, 1e-4, 9.9e-5, 1e-5, 123.456, 999, 999.5, 1000, 1001, 65504,
              np.nan, np.inf, -np.inf, 5e-8]:
        case(v, code)
    if code != "f2":
        for v in [99999.5, 999999, 1e6, 1000001, 1e7, 123456789, 1e15, 1e16, 12345678901234567, 1e30, 1e-30, 1.17549435e-38]:
            case(v, code)
    for values in [
        [0], [1], [-1], [0, -0.0], [0.5, 1], [1, 2, 3], [-1, 2, 3], [0.1, 0.25, 1 / 3], [1e-5, 1], [1e-4, 0.1], [1e-4, 0.1000001],
        [999, 1], [1000, 1], [1001, 1], [1000.4, 1], [0, 1000], [1e3, 5], [65504, 1],
        [np.nan], [np.inf], [-np.inf], [np.nan, 1], [np.nan, 0.5], [-np.inf, 1], [np.inf, -1.5, np.nan], [np.nan, 1e-5],
        [np.nan, np.inf, -np.inf], [0, np.nan], [10, np.inf], [100, -np.inf], [12345, np.nan], [6e-8, 6e4], [-6e-8, 6e4],
    ]:
        case(values, code)
    if code != "f2":
        for values in [[999999], [1e6], [99999999], [1e8], [1e8, 1], [123456.789], [1234567.5, 1234568.25], [1e10, -1e-10],
                       [1.23456789012345], [0.123456789012345, 100], [1e30, -1e30], [1.5e-38, 1], [np.nan, 1e30]]:
            case(values, code)
    if code == "f8":
        for values in [[1e100, 1], [1e-300, 1e300], [1e100, 1e-100, np.nan, -np.inf], [5e-324], [0.5 + 2**-40], [0.000000005, 0.1],
                       [0.1234567850, 0.1234567750], [2.5e-9, 0.0001]]:
            case(values, code)
    for scale in [1, 10, 100, 1e-3]:
        case((rng.standard_normal((4, 5)) * scale).astype(code))
    case((rng.standard_normal(40)).astype(code))
    case((rng.standard_normal((2, 3, 4))).astype(code))
    case((rng.integers(0, 17, (3, 8))).astype(code))
    case((rng.integers(-3, 3, (10, 30))).astype(code))

for code in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]:
    info = np.iinfo(code)
    for values in [0, 7, info.min, info.max, [0], [1, 10, 100], [info.min, info.max, 0], [[1, 2], [3, 4]]]:
        case(values, code)
case(np.arange(60))
case(np.arange(999).reshape(9, 111))
case(np.arange(1000, dtype="i2"))
case(np.arange(1001, dtype="i2"))
case(np.arange(1200, dtype="i2").reshape(30, 40))
case(np.arange(1200, dtype="i2").reshape(6, 200))
case(np.arange(1200, dtype="i2").reshape(200, 6))
case(np.arange(1400, dtype="i2").reshape(7, 200))
case(np.arange(1400, dtype="i2").reshape(200, 7))
case(np.arange(1344, dtype="i2").reshape(7, 8, 24))
case(np.arange(1536, dtype="i2").reshape(2, 2, 2, 2, 2, 2, 2, 12))
case((np.arange(1200) % 7 / 4).astype("f2").reshape(12, 100))
case(np.zeros((500, 3), "u1"))
case(np.full(1500, -128, "i1"))
case(np.array([2**63, 1], "u8"))

for v in [True, False, [True], [False, True], [[True, False], [False, False]]]:
    case(v, "?")
case(np.arange(1100) % 3 == 0)

for code in ["c8", "c16"]:
    for v in [0, 1, 1j, -1j, 1 + 2j, 1.5 - 2.25j, complex(-0.0, 2), complex(0.0, -0.0), complex(np.nan, 1), complex(1, np.inf),
              complex(-np.inf, -np.inf), complex(1, np.nan), 1e-5 + 1j, 1e6 + 1e7j, 1e15 + 1e16j, 0.1 + 1e20j]:
        case(v, code)
    for values in [[1], [1j], [1 + 2j, 3.5 - 4j], [complex(np.nan, np.inf), 1], [complex(1, np.nan), -2 - 0.5j], [1e-5 + 1j, 1 + 1e5j],
                   [complex(1, -np.inf), 0.25], [1e10 + 1j]]:
        case(values, code)
    case((rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))).astype(code))

for unit in ["s", "ms", "us", "ns"]:
    for v in [0, 1, -1, 1600000000123456789 // 10**(9 - {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit]), -2**63, 2**62]:
        case(np.array(v, "i8").view(f"M8[{unit}]"))
    case(np.array([0, 1600000000, -1], "i8").view(f"M8[{unit}]"))
    case(np.array([0, 1600000000, -2**63], "i8").view(f"M8[{unit}]"))
case(np.array([-2**63], "i8").view("M8[s]"))
case(np.array([-62167219200, -62167219201, 253402300799, 253402300800], "i8").view("M8[s]"))
for unit in ["s", "ms", "ns"]:
    for v in [0, 1, -5, -2**63]:
        case(np.array(v, "i8").view(f"m8[{unit}]"))
    case(np.array([1, 2, 1000], "i8").view(f"m8[{unit}]"))
    case(np.array([1, -2**63], "i8").view(f"m8[{unit}]"))
case(np.array([1, 123456, -2**63], "i8").view("m8[s]"))
for v in [0, 18321, -719528, -719529, 2932896, 2932897, 2**31 - 1, -2**31, [0, 18321], [-800000, 3000000]]:
    case(np.array(v, "i8").view("M8[D]"))

for shape in [(0,), (0, 3), (3, 0), (2, 0, 4)]:
    case(np.zeros(shape))
case(np.zeros((1,) * 6))
case(np.arange(20, dtype="f8").reshape(1, 20) * 11.25)

with open(pathlib.Path(__file__).parent / "prints.jsonl", "w") as f:
    for c in cases:
        f.write(json.dumps(c) + "\n")
print(len(cases), "cases")
