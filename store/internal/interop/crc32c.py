"""CRC-32C (Castagnoli), of which Python's standard library has none.

Short inputs go through a table, two bytes at a time. Long ones are cut into rows of equal
length, whose checksums NumPy computes side by side and then joins in pairs.
"""

import struct

import numpy as np

POLYNOMIAL = 0x82F63B78  # reflected
ROW = 128                # bytes of a row
LONG = 4096              # from here on rows are faster than the table


def _byte_table():
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> np.uint32(1)) ^ np.uint32(POLYNOMIAL), table >> np.uint32(1))
    return table


_BYTES = _byte_table()
_BYTES_LIST = _BYTES.tolist()
# The register after two bytes, for the table of all pairs.
_low = np.arange(65536, dtype=np.uint32)
_PAIRS = _BYTES[(_low >> np.uint32(8)) ^ (_BYTES[_low & np.uint32(255)] & np.uint32(255))] \
    ^ (_BYTES[_low & np.uint32(255)] >> np.uint32(8))
_PAIRS_LIST = _PAIRS.tolist()
del _low


def _operator(apply):
    """Four tables of 256 registers that stand for a linear map of registers."""
    bits = apply(np.uint32(1) << np.arange(32, dtype=np.uint32))
    tables = np.zeros((4, 256), np.uint32)
    for byte in range(4):
        for bit in range(8):
            tables[byte, 1 << bit:2 << bit] = tables[byte, :1 << bit] ^ bits[8 * byte + bit]
    return tables


def _apply(tables, registers):
    return (tables[0, registers & np.uint32(255)]
            ^ tables[1, (registers >> np.uint32(8)) & np.uint32(255)]
            ^ tables[2, (registers >> np.uint32(16)) & np.uint32(255)]
            ^ tables[3, registers >> np.uint32(24)])


def _zeros(registers, count):
    """The registers after so many zero bytes."""
    for _ in range(count):
        registers = _BYTES[registers & np.uint32(255)] ^ (registers >> np.uint32(8))
    return registers


_SHIFTS = [_operator(lambda r: _zeros(r, ROW))]  # [k] is ROW·2^k zero bytes


def _shift(k):
    while len(_SHIFTS) <= k:
        last = _SHIFTS[-1]
        _SHIFTS.append(_operator(lambda r: _apply(last, _apply(last, r))))
    return _SHIFTS[k]


def crc32c(data):
    """The checksum of bytes, a bytearray or a memoryview."""
    length = len(data)
    if length < LONG:
        register = 0xFFFFFFFF
        table = _PAIRS_LIST
        for pair in struct.unpack_from(f"<{length // 2}H", data):
            register = table[(register ^ pair) & 65535] ^ (register >> 16)
        if length % 2:
            register = _BYTES_LIST[(register ^ data[-1]) & 255] ^ (register >> 8)
        return register ^ 0xFFFFFFFF

    # An initial register of ones is the same as flipping the first four bytes and starting
    # from 0; from 0, zeros in front change nothing, so the number of rows can be rounded up.
    rows = 1
    while rows * ROW < length:
        rows *= 2
    padded = np.zeros(rows * ROW, np.uint8)
    padded[-length:] = np.frombuffer(data, np.uint8)
    start = len(padded) - length
    padded[start:start + 4] ^= np.uint8(255)
    pairs = np.ascontiguousarray(padded.view("<u2").reshape(rows, ROW // 2).T)
    registers = np.zeros(rows, np.uint32)
    for column in pairs:
        registers = _PAIRS[(registers ^ column) & np.uint32(0xFFFF)] ^ (registers >> np.uint32(16))
    k = 0
    while len(registers) > 1:
        registers = _apply(_shift(k), registers[0::2]) ^ registers[1::2]
        k += 1
    return int(registers[0]) ^ 0xFFFFFFFF
