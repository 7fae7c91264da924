#!/usr/bin/env python3
"""Makes the images of this directory and manifest.jsonl, which says what is in them.

    python3 make_files.py

The images are written chunk by chunk with nothing but zlib, so that the decoder is not compared with a
relative of itself. Every row has another filter, and pixels are random.
"""
import json
import pathlib
import random
import struct
import zlib

here = pathlib.Path(__file__).parent
rng = random.Random(1)
manifest = []

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def filtered(rows, size):
    """Filters packed rows, each with the next filter."""
    out, above = b"", None
    for y, row in enumerate(rows):
        above = above or bytes(len(row))
        kind = y % 5
        line = bytearray()
        for i, v in enumerate(row):
            a = row[i - size] if i >= size else 0
            b = above[i]
            c = above[i - size] if i >= size else 0
            line.append((v - [0, a, b, (a + b) // 2, paeth(a, b, c)][kind]) & 255)
        out += bytes([kind]) + bytes(line)
        above = row
    return out


def packed(samples, depth):
    """Packs the samples of a row."""
    if depth == 16:
        return b"".join(struct.pack(">H", s) for s in samples)
    if depth == 8:
        return bytes(samples)
    bits = "".join(format(s, f"0{depth}b") for s in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def image(name, colors, depth, width, height, *, palette=None, trns=None, interlaced=False, expect):
    n = CHANNELS[colors]
    top = len(palette) if palette else 1 << depth
    pixels = [[[rng.randrange(top) for _ in range(n)] for _ in range(width)] for _ in range(height)]
    if trns is not None and colors in (0, 2):
        pixels[0][0] = list(trns)
    size = max(1, n * depth // 8)
    if interlaced:
        data = b""
        for x0, y0, dx, dy in ADAM7:
            part = [[p for p in row[x0::dx]] for row in pixels[y0::dy]]
            if part and part[0]:
                data += filtered([packed(sum(row, []), depth) for row in part], size)
    else:
        data = filtered([packed(sum(row, []), depth) for row in pixels], size)
    b = b"\x89PNG\r\n\x1a\n"
    b += chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colors, 0, 0, int(interlaced)))
    b += chunk(b"gAMA", struct.pack(">I", 45455))
    if palette:
        b += chunk(b"PLTE", b"".join(bytes(p[:3]) for p in palette))
    if trns is not None:
        b += chunk(b"tRNS", bytes(trns) if colors == 3 else struct.pack(f">{len(trns)}H", *trns))
    z = zlib.compress(data)
    b += chunk(b"IDAT", z[:len(z) // 2]) + chunk(b"IDAT", z[len(z) // 2:])
    b += chunk(b"tEXt", b"Comment\0not kept") + chunk(b"IEND", b"")
    (here / name).write_bytes(b)

    out = []
    for row in pixels:
        for p in row:
            out += expect(p)
    channels = len(expect(pixels[0][0]))
    manifest.append({
        "file": name,
        "dtype": "uint16" if depth == 16 else "uint8",
        "shape": [height, width] + ([channels] if channels > 1 else []),
        "elements": struct.pack(f"<{len(out)}{'H' if depth == 16 else 'B'}", *out).hex(),
    })


for interlaced in (False, True):
    kind = "adam7" if interlaced else "plain"
    for depth in (1, 2, 4, 8, 16):
        scale = 1 if depth == 16 else 255 // ((1 << depth) - 1)
        full = 65535 if depth == 16 else 255
        image(f"gray{depth}_{kind}.png", 0, depth, 9, 7, interlaced=interlaced, expect=lambda p: [p[0] * scale])
        image(f"gray{depth}_trns_{kind}.png", 0, depth, 5, 6, interlaced=interlaced, trns=[1],
              expect=lambda p: [p[0] * scale, 0 if p[0] == 1 else full])
    for depth in (8, 16):
        full = 65535 if depth == 16 else 255
        image(f"rgb{depth}_{kind}.png", 2, depth, 5, 6, interlaced=interlaced, expect=lambda p: p)
        image(f"rgb{depth}_trns_{kind}.png", 2, depth, 3, 6, interlaced=interlaced, trns=[1, 2, 3],
              expect=lambda p: p + [0 if p == [1, 2, 3] else full])
        image(f"gray_alpha{depth}_{kind}.png", 4, depth, 4, 6, interlaced=interlaced, expect=lambda p: p)
        image(f"rgba{depth}_{kind}.png", 6, depth, 4, 6, interlaced=interlaced, expect=lambda p: p)
    for depth in (1, 2, 4, 8):
        colors = [[rng.randrange(256) for _ in range(3)] for _ in range(min(1 << depth, 20))]
        image(f"palette{depth}_{kind}.png", 3, depth, 9, 6, interlaced=interlaced, palette=colors,
              expect=lambda p: colors[p[0]])
        image(f"palette{depth}_trns_{kind}.png", 3, depth, 9, 6, interlaced=interlaced, palette=colors, trns=[0, 128],
              expect=lambda p: colors[p[0]] + [([0, 128] + [255] * 256)[p[0]]])
image("one_pixel.png", 6, 8, 1, 1, expect=lambda p: p)

with open(here / "manifest.jsonl", "w") as f:
    for m in manifest:
        f.write(json.dumps(m) + "\n")
