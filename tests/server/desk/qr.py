"""Reads a QR code from an SVG picture, as a phone would: nothing here knows how it was made.

Versions 1 to 8 in byte mode, without error correction, because our pictures have no errors. The
tables are those of ISO/IEC 18004.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

Modules = set[tuple[int, int]]
_PATH = re.compile(r'<path[^>]*?(?:transform="scale\([\d.]+\)")?[^>]*? d="([^"]+)"')
_STEP = re.compile(r"([Mmh])([-\d.]+)(?: ([-\d.]+))?")
_ALIGNED = {1: [], 2: [18], 3: [22], 4: [26], 5: [30], 6: [34], 7: [22, 38], 8: [24, 42]}
# How many data codewords each block has, by level and version.
_BLOCKS = {
    "Q": "13, 22, 17 17, 24 24, 15 15 16 16, 19 19 19 19, 14 14 15 15 15 15, 18 18 18 18 19 19",
    "H": "9, 16, 13 13, 9 9 9 9, 11 11 12 12, 15 15 15 15, 13 13 13 13 14, 14 14 14 14 15 15",
}
_LEVELS = {0b11: "Q", 0b10: "H"}
_MASKS: list[Callable[[int, int], int]] = [
    lambda y, x: (y + x) % 2,
    lambda y, _: y % 2,
    lambda _, x: x % 3,
    lambda y, x: (y + x) % 3,
    lambda y, x: (y // 2 + x // 3) % 2,
    lambda y, x: y * x % 2 + y * x % 3,
    lambda y, x: (y * x % 2 + y * x % 3) % 2,
    lambda y, x: ((y + x) % 2 + y * x % 3) % 2,
]


def read(svg: str) -> str:
    """Return the text of the code in a picture."""
    dark = _dark(svg)
    size = max(x for _, x in dark) + 1
    version = (size - 17) // 4
    level, mask = _format(dark)
    bits = _bits(dark, size, version, _MASKS[mask])
    data = _data([*_codewords(bits)], _blocks(level, version))
    return _text(data)


def _blocks(level: str, version: int) -> list[int]:
    return [int(n) for n in _BLOCKS[level].split(",")[version - 1].split()]


def _dark(svg: str) -> Modules:
    """Return the dark modules, starting at the corner of the code."""
    dark, x, y = set[tuple[int, int]](), 0.0, 0.0
    (path,) = _PATH.findall(svg)
    for step, first, second in _STEP.findall(path):
        if step == "h":
            dark |= {(int(y), int(x) + n) for n in range(int(first))}
            x += float(first)
        else:
            x, y = (0.0, 0.0) if step == "M" else (x, y)
            x, y = x + float(first), y + float(second)
    top, left = min(y for y, _ in dark), min(x for _, x in dark)
    return {(y - top, x - left) for y, x in dark}


def _format(dark: Modules) -> tuple[str, int]:
    places = [(8, x) for x in (0, 1, 2, 3, 4, 5, 7, 8)] + [(y, 8) for y in (7, 5, 4, 3, 2, 1, 0)]
    word = int("".join("1" if place in dark else "0" for place in places), 2) ^ 0b101010000010010
    return _LEVELS[word >> 13], word >> 10 & 7


def _reserved(y: int, x: int, size: int, version: int) -> bool:
    """Tell whether a module is part of a pattern, and so carries no data."""
    if y == 6 or x == 6 or (y < 9 and (x < 9 or x >= size - 8)) or (y >= size - 8 and x < 9):
        return True
    if version >= 7 and ((y < 6 and x >= size - 11) or (x < 6 and y >= size - 11)):
        return True
    centres = [6, *_ALIGNED[version]]
    corners = {(6, 6), (6, size - 7), (size - 7, 6)}
    spots = {(a, b) for a in centres for b in centres} - corners
    return any(abs(y - a) <= 2 and abs(x - b) <= 2 for a, b in spots if version > 1)


def _bits(
    dark: Modules, size: int, version: int, mask: Callable[[int, int], int]
) -> Iterator[bool]:
    """Read the modules in pairs of columns, from the right, alternately up and down."""
    upwards = True
    for right in [*range(size - 1, 6, -2), 5, 3, 1]:
        for y in range(size - 1, -1, -1) if upwards else range(size):
            for x in (right, right - 1):
                if not _reserved(y, x, size, version):
                    yield ((y, x) in dark) != (mask(y, x) == 0)
        upwards = not upwards


def _codewords(bits: Iterator[bool]) -> Iterator[int]:
    modules = [*bits]
    for start in range(0, len(modules) - 7, 8):
        yield int("".join("1" if module else "0" for module in modules[start : start + 8]), 2)


def _data(words: list[int], blocks: list[int]) -> bytes:
    """Undo the interleaving; the codewords after the data would correct errors."""
    parts: list[list[int]] = [[] for _ in blocks]
    at = 0
    for n in range(max(blocks)):
        for part, length in zip(parts, blocks, strict=True):
            if n < length:
                part.append(words[at])
                at += 1
    return bytes(word for part in parts for word in part)


def _text(data: bytes) -> str:
    bits = "".join(f"{byte:08b}" for byte in data)
    assert "0100" == bits[:4], "the code is not in byte mode"
    length = int(bits[4:12], 2)
    start = 12
    return bytes(int(bits[start + 8 * n : start + 8 * n + 8], 2) for n in range(length)).decode()
