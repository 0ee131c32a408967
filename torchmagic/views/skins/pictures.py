"""This file is small pictures as PNG bytes, as rows of characters, and in words."""

import struct
import zlib
from collections.abc import Iterator
from functools import cache

from torchmagic.records.tensor_picture import GAP, NONFINITE, NUM_LEVELS, Picture
from torchmagic.views.numbers import as_number
from torchmagic.views.page import Image

# Enlarged by whole factors up to this many pixels, so that an element is a clean square.
LARGEST, MOST_TIMES = 520, 24
# A character is about twice as high as wide.
COLUMNS, ROWS = 48, 12
_SHADES = " ░▒▓█"
_BROKEN = "!"
_COLOUR_OF = {"grey": 0, "rgb": 2, "rgba": 6}
_INDEXED = 3
_ANCHORS = {
    "sequential": ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)),
    "diverging": ((33, 102, 172), (146, 197, 222), (240, 240, 240), (244, 165, 130), (178, 24, 43)),
    "grey": ((0, 0, 0), (255, 255, 255)),
}
# apart from every level of each scale, also for who cannot tell red from green or blue from yellow
_BROKEN_COLOUR = (160, 0, 255)


def picture_png(picture: Picture) -> bytes:
    """Return a picture of levels or colours as a PNG file; gaps between tiles are clear."""
    channels = {"levels": 1, "rgb": 3, "rgba": 4}[picture.kind]
    length = picture.width * channels
    rows = (picture.pixels[i * length : (i + 1) * length] for i in range(picture.height))
    colour = _INDEXED if picture.kind == "levels" else _COLOUR_OF[picture.kind]
    header = struct.pack(">IIBBBBB", picture.width, picture.height, 8, colour, 0, 0, 0)
    parts = [(b"IHDR", header)]
    if colour == _INDEXED:
        clear = bytes(0 if i == GAP else 255 for i in range(256))
        parts += [(b"PLTE", _palette(picture.palette)), (b"tRNS", clear)]
    parts += [(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 6)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(*part) for part in parts)


def legend_png(picture: Picture) -> bytes:
    """Return the scale of levels, the least to the left."""
    pixels = bytes(range(NUM_LEVELS))
    return picture_png(Picture(kind="levels", width=NUM_LEVELS, height=1, pixels=pixels, palette=picture.palette))


def shown_size(picture: Picture) -> tuple[int, int]:
    """Return the width and height at which a picture is shown."""
    times = max(1, min(MOST_TIMES, LARGEST // max(picture.width, picture.height, 1)))
    return picture.width * times, picture.height * times


def picture_sentence(image: Image, *, in_characters: bool = False) -> str:
    """Say what a picture shows and what its ends stand for.

    Args:
        image: The picture.
        in_characters: Whether it is drawn by ``picture_rows`` and so has no colours.
    """
    picture = image.picture
    scale = f"from {as_number(picture.low)} to {as_number(picture.high)}"
    if picture.kind != "levels":
        return f"{picture.told}, {scale}"
    ends = {"sequential": "dark to bright", "diverging": "blue to red", "grey": "black to white"}[picture.palette]
    told = f"{picture.told}, {'blank to full' if in_characters else ends} {scale}"
    broken = _BROKEN if in_characters else "violet"
    return f"{told}; not finite is {broken}" if NONFINITE in picture.pixels else told


def picture_rows(picture: Picture) -> Iterator[str]:
    """Yield a picture as rows of characters, bright ones for high values; what is not finite is an exclamation mark."""
    if picture.width * 2 <= COLUMNS and picture.height <= ROWS:
        for y in range(picture.height):
            yield "".join(_character(picture, x, y) * 2 for x in range(picture.width))
        return
    columns = min(COLUMNS, picture.width)
    rows = max(1, min(ROWS, round(picture.height * columns / picture.width / 2)))
    for row in range(rows):
        y = row * picture.height // rows
        yield "".join(_character(picture, column * picture.width // columns, y) for column in range(columns))


def _character(picture: Picture, x: int, y: int) -> str:
    channels = {"levels": 1, "rgb": 3, "rgba": 4}[picture.kind]
    start = (y * picture.width + x) * channels
    pixel = picture.pixels[start : start + channels]
    if channels == 1:
        if pixel[0] == NONFINITE:
            return _BROKEN
        return " " if pixel[0] == GAP else _SHADES[pixel[0] * len(_SHADES) // NUM_LEVELS]
    return _SHADES[sum(pixel[:3]) * len(_SHADES) // (3 * 256)]


@cache
def _palette(name: str) -> bytes:
    anchors = _ANCHORS[name]
    colours = []
    for level in range(NUM_LEVELS):
        place = level / (NUM_LEVELS - 1) * (len(anchors) - 1)
        below = min(int(place), len(anchors) - 2)
        pairs = zip(anchors[below], anchors[below + 1], strict=True)
        colours.append(bytes(round(low + (high - low) * (place - below)) for low, high in pairs))
    return b"".join([*colours, bytes(3), bytes(_BROKEN_COLOUR)])


def _part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
