"""Element types: the union named Type, and tstore.dtype. Section 8 of FORMAT.md, "Element types"."""

import numpy as np

from errors import Refused

# Types that Arrow's tensors lack: size, storage in a Tensor, storage in a SparseTensor.
STORED = {
    "bool": (1, "uint8", "uint8"),
    "float8_e4m3fn": (1, "uint8", "uint8"),
    "float8_e5m2": (1, "uint8", "uint8"),
    "bfloat16": (2, "uint16", "uint16"),
    "complex64": (8, "float32", "uint64"),
    "complex128": (16, "float64", "fixed_size_binary[16]"),
}

UNITS = ["s", "ms", "us", "ns"]


def unit_name(table, default, names):
    unit = table.scalar(0, "h", default)
    if not 0 <= unit < len(names):
        raise Refused("time-unit", f"{unit}")
    return names[unit]


def index_type(table):
    """The name of an index's integer type, a table Int."""
    width = table.scalar(0, "i")
    if width not in (8, 16, 32, 64):
        raise Refused("index-width", f"{width}")
    return ("int" if table.scalar(1, "B") else "uint") + str(width)


def parametric(kind, table):
    """Name and size of the type with this number in the union."""
    if kind == 2:
        width = table.scalar(0, "i")
        if width not in (8, 16, 32, 64):
            raise Refused("int-width", f"{width}")
        return ("int" if table.scalar(1, "B") else "uint") + str(width), width // 8
    if kind == 3:
        precision = table.scalar(0, "h")
        if precision not in (0, 1, 2):
            raise Refused("float-precision", f"{precision}")
        return f"float{16 << precision}", 2 << precision
    if kind == 6:
        raise Refused("type-bool")
    if kind == 7:
        precision, scale, width = table.scalar(0, "i"), table.scalar(1, "i"), table.scalar(2, "i", 128)
        digits = {32: 9, 64: 18, 128: 38, 256: 76}
        if width not in digits or not 1 <= precision <= digits[width]:
            raise Refused("decimal", f"{precision} digits in {width} bits")
        return f"decimal{width}[{precision}, {scale}]", width // 8
    if kind == 8:
        unit = unit_name(table, 1, ["day", "ms"])
        return f"date[{unit}]", 4 if unit == "day" else 8
    if kind == 9:
        unit = unit_name(table, 1, UNITS)
        width = table.scalar(1, "i", 32)
        if width != (32 if unit in ("s", "ms") else 64):
            raise Refused("time-width", f"{width} bits of {unit}")
        return f"time{width}[{unit}]", width // 8
    if kind == 10:
        unit = unit_name(table, 0, UNITS)
        zone = (table.string(1) or b"").decode("utf-8", "surrogateescape")
        return (f"timestamp[{unit}, {zone}]" if zone else f"timestamp[{unit}]"), 8
    if kind == 11:
        unit = unit_name(table, 0, ["year_month", "day_time", "month_day_nano"])
        return f"interval[{unit}]", {"year_month": 4, "day_time": 8, "month_day_nano": 16}[unit]
    if kind == 15:
        width = table.scalar(0, "i")
        if width < 1:
            raise Refused("byte-width", f"{width}")
        return f"fixed_size_binary[{width}]", width
    if kind == 18:
        return f"duration[{unit_name(table, 1, UNITS)}]", 8
    if kind in (1, 4, 5, 12, 13, 14, 16, 17):
        raise Refused("type-not-fixed-width", f"type {kind}")
    raise Refused("type-unknown", f"type {kind}")


def stored_as(message, storage, sparse):
    """The name under tstore.dtype, checked against the type of the message, or None."""
    names = message.reserved(b"tstore.dtype")
    if not names:
        return None
    if len(names) > 1:
        raise Refused("dtype-repeated")
    name = names[0].decode("utf-8", "surrogateescape")
    if name not in STORED:
        raise Refused("dtype-unknown", name)
    want = STORED[name][2 if sparse else 1]
    if storage != want:
        raise Refused("dtype-storage", f"{name} in {storage}")
    return name


def _small_floats(exponent_bits, fraction_bits, finite):
    """The values of all codes of a float of few bits; finite: no infinities, one NaN."""
    values = []
    bias = (1 << (exponent_bits - 1)) - 1
    top = (1 << exponent_bits) - 1
    for code in range(1 << (1 + exponent_bits + fraction_bits)):
        sign = -1.0 if code >> (exponent_bits + fraction_bits) else 1.0
        exponent = code >> fraction_bits & top
        fraction = code & ((1 << fraction_bits) - 1)
        if exponent == top and not finite:
            value = sign * (float("nan") if fraction else float("inf"))
        elif exponent == top and finite and fraction == (1 << fraction_bits) - 1:
            value = float("nan")
        elif exponent == 0:
            value = sign * fraction * 2.0 ** (1 - bias - fraction_bits)
        else:
            value = sign * (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias)
        values.append(value)
    return values


FLOAT8 = {"float8_e4m3fn": _small_floats(4, 3, True), "float8_e5m2": _small_floats(5, 2, False)}


def add(name, a, b):
    """The sum of two elements, given and returned as bytes: what an element stored twice is worth."""
    if name == "bool":
        return bytes([a[0] | b[0]])
    if name == "bfloat16":
        x, y = (np.frombuffer(b"\0\0" + e, "<f4")[0] for e in (a, b))
        with np.errstate(all="ignore"):
            bits = int((x + y).view(np.uint32))
        if (bits & 0x7FFFFFFF) > 0x7F800000:
            return (bits >> 16 | 0x40).to_bytes(2, "little")
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")
    if name in FLOAT8:
        return _round_float8(name, FLOAT8[name][a[0]] + FLOAT8[name][b[0]])
    kinds = {"complex64": "<c8", "complex128": "<c16"}
    if name.startswith(("int", "uint", "float")) and "[" not in name:
        kinds[name] = np.dtype(name).newbyteorder("<")
    if name not in kinds:
        raise Refused("duplicate", f"elements of {name} have no sum")
    with np.errstate(all="ignore"):
        return (np.frombuffer(a, kinds[name]) + np.frombuffer(b, kinds[name])).tobytes()


def _round_float8(name, value):
    """The code nearest to a value, of two that are equally near the even one."""
    values = FLOAT8[name]
    if value != value:
        return bytes([0x7F if name == "float8_e4m3fn" else 0x7E])
    sign = 0x80 if str(value).startswith("-") else 0
    size = abs(value)
    finite = [c for c in range(128) if values[c] == values[c] and values[c] != float("inf")]
    # Behind the largest the next step decides: half of it or more is out of range.
    step = values[finite[-1]] - values[finite[-2]]
    limit = values[finite[-1]] + step / 2
    if size > limit or (size == limit and finite[-1] & 1):
        return bytes([sign | (finite[-1] + 1)])
    code = min(finite, key=lambda c: (abs(values[c] - size), c & 1))
    return bytes([sign | code])
