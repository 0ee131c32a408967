"""This file is a tensor's picture: a line, a map of levels, an image, or a grid of these, in few pixels."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.records.tensor_picture import GAP, NONFINITE, NUM_LEVELS, Picture
from torchmagic.tensors.chunks import as_numbers

# Points of a line; pixels of a side of a map; tiles of a grid.
MOST_POINTS, MOST_SIDE, MOST_TILES, COLUMNS = 256, 128, 16, 4
# From this side on a tensor with one, three or four channels is taken for images; kernels are smaller.
LEAST_SIDE = 16
COLOURS = {3: "rgb", 4: "rgba"}
_FLAT, _IMAGE, _BATCH = 2, 3, 4

Pixels = NDArray[Any]


def picture_of(values: torch.Tensor, *, dims: Sequence[str] = (), as_image: bool | None = None) -> Picture | None:
    """Return a picture of a tensor; None where there is nothing to draw.

    Args:
        values: A dense tensor of any shape, dtype, device and strides, without gradient.
        dims: Names of its dimensions; N, C, H and W say where an image's are.
        as_image: Whether it is taken for images; None asks its shape.
    """
    shape = tuple(values.shape)
    if not values.numel() or max(shape, default=1) == 1:
        return None
    if values.dim() == 1:
        return _line(values)
    places = _image_places(shape, values.dtype, dims) if as_image is not False else None
    if as_image and places is None:
        places = _asked_image(shape)
    if places is not None:
        return _images(values, *places)
    return _maps(values)


def _line(values: torch.Tensor) -> Picture:
    step = math.ceil(len(values) / MOST_POINTS)
    seen = _array(values[::step])
    every = f"every {_ordinal(step)} of {len(values):,} values" if step > 1 else f"all {len(values):,} values"
    return Picture(
        kind="line",
        values=tuple(seen.tolist()),
        places=tuple(range(0, len(values), step)),
        told=f"{every}, in order",
    )


def _image_places(shape: tuple[int, ...], dtype: torch.dtype, dims: Sequence[str]) -> tuple[int, int, int] | None:
    """The dimensions of channels, height and width; None where it is no image."""
    upper = [name.upper() for name in dims]
    if all(name in upper for name in "CHW") and shape[upper.index("C")] in (1, 3, 4):
        return upper.index("C"), upper.index("H"), upper.index("W")
    if len(shape) not in (_IMAGE, _BATCH) or dtype.is_complex:
        return None
    first = len(shape) - _IMAGE
    if shape[first] in (1, 3, 4) and min(shape[first + 1 :]) >= LEAST_SIDE:
        return first, first + 1, first + 2
    if shape[-1] in COLOURS and min(shape[first:-1]) >= LEAST_SIDE and dtype == torch.uint8:
        return first + 2, first, first + 1
    return None


def _asked_image(shape: tuple[int, ...]) -> tuple[int, int, int] | None:
    last = len(shape) - 1
    if len(shape) < _IMAGE:
        return None
    if shape[last - 2] in (1, 3, 4):
        return last - 2, last - 1, last
    return (last, last - 2, last - 1) if shape[last] in (1, 3, 4) else None


def _images(values: torch.Tensor, channels: int, height: int, width: int) -> Picture:
    rest = [each for each in range(values.dim()) if each not in (channels, height, width)]
    ordered = values.permute(*rest, height, width, channels)
    tiles, count, steps = _tiles(ordered, inner=3)
    num_channels = tiles[0].shape[-1]
    if num_channels == 1:
        return _levels([tile[..., 0] for tile in tiles], count, steps, "image", images=True)
    low, high = _limits(tiles, images=True)
    painted = [_bytes(tile, low, high) for tile in tiles]
    # Between the tiles an alpha of nothing lets the page shine through.
    if len(painted) > 1 and num_channels == _IMAGE:
        painted = [np.concatenate([tile, np.full((*tile.shape[:2], 1), 255, np.uint8)], axis=2) for tile in painted]
    pixels = _grid(painted, fill=0)
    return Picture(
        kind="rgb" if pixels.shape[2] == _IMAGE else "rgba",
        width=pixels.shape[1],
        height=pixels.shape[0],
        pixels=pixels.tobytes(),
        low=low,
        high=high,
        told=_told("image", len(tiles), count, steps),
    )


def _maps(values: torch.Tensor) -> Picture:
    tiles, count, steps = _tiles(values, inner=_FLAT)
    return _levels(tiles, count, steps, "map", images=False)


def _levels(tiles: list[Pixels], count: int, steps: tuple[int, int], noun: str, *, images: bool) -> Picture:
    low, high = _limits(tiles, images=images)
    if not images and low < 0 < high:
        high = max(-low, high)
        low = -high
    pixels = _grid([_level_bytes(tile, low, high) for tile in tiles], fill=GAP)
    return Picture(
        kind="levels",
        width=pixels.shape[1],
        height=pixels.shape[0],
        pixels=pixels.tobytes(),
        low=low,
        high=high,
        palette="grey" if images else "diverging" if low < 0 < high else "sequential",
        told=_told(noun, len(tiles), count, steps),
    )


def _tiles(values: torch.Tensor, *, inner: int) -> tuple[list[Pixels], int, tuple[int, int]]:
    """The first tiles of the last dimensions, thinned to a bounded side; how many there are, and the steps."""
    outer = values.shape[: values.dim() - inner]
    count = math.prod(outer)
    shown = min(count, MOST_TILES)
    side = MOST_SIDE if shown == 1 else MOST_SIDE // 2
    height, width = values.shape[values.dim() - inner], values.shape[values.dim() - inner + 1]
    steps = math.ceil(height / side), math.ceil(width / side)
    thin = (slice(None, None, steps[0]), slice(None, None, steps[1]))
    tiles = []
    for place in range(shown):
        index: list[int] = []
        for size in reversed(outer):
            place, at = divmod(place, size)  # noqa: PLW2901 - it is used up
            index.insert(0, at)
        tiles.append(values[tuple(index)][thin])
    together = _array(torch.stack(tiles))  # one transfer from a device
    return list(together), count, steps


def _array(values: torch.Tensor) -> Pixels:
    flat = as_numbers(values.to("cpu")).resolve_neg()
    array: Pixels = flat.numpy().astype(np.float64)
    return array


def _limits(tiles: Sequence[Pixels], *, images: bool) -> tuple[float, float]:
    """Ends of the scale: those of the finite values seen, or of an image's usual ranges where it keeps to one."""
    finite = [tile[np.isfinite(tile)] for tile in tiles]
    lows, highs = [each.min() for each in finite if each.size], [each.max() for each in finite if each.size]
    if not lows:
        return 0.0, 1.0
    low, high = float(min(lows)), float(max(highs))
    if images and low >= 0:
        return (0.0, 1.0) if high <= 1 else (0.0, 255.0) if high <= 255 else (low, high)  # noqa: PLR2004 - bytes
    return low, high


def _shares(tile: Pixels, low: float, high: float) -> Pixels:
    scale = 0.5 if math.isinf(high - low) else 1.0
    span = high * scale - low * scale
    with np.errstate(under="ignore"):  # where somebody has NumPy raise at that
        shares: Pixels = (np.nan_to_num(tile, nan=low, posinf=high, neginf=low) * scale - low * scale) / (span or 1.0)
    return np.clip(shares, 0.0, 1.0)


def _bytes(tile: Pixels, low: float, high: float) -> Pixels:
    return np.round(_shares(tile, low, high) * 255).astype(np.uint8)


def _level_bytes(tile: Pixels, low: float, high: float) -> Pixels:
    levels = np.round(_shares(tile, low, high) * (NUM_LEVELS - 1)).astype(np.uint8)
    return np.where(np.isfinite(tile), levels, np.uint8(NONFINITE))


def _grid(tiles: Sequence[Pixels], *, fill: int) -> Pixels:
    """Put tiles of one size beside and below each other, a gap of one pixel between them."""
    if len(tiles) == 1:
        return tiles[0]
    height, width, *rest = tiles[0].shape
    columns = min(COLUMNS, len(tiles))
    rows = math.ceil(len(tiles) / columns)
    pixels = np.full((rows * (height + 1) - 1, columns * (width + 1) - 1, *rest), fill, np.uint8)
    for place, tile in enumerate(tiles):
        top, left = place // columns * (height + 1), place % columns * (width + 1)
        pixels[top : top + height, left : left + width] = tile
    return pixels


def _told(noun: str, shown: int, count: int, steps: tuple[int, int]) -> str:
    which = f"the {noun}" if count == 1 else f"{shown} of {count:,} {noun}s" if shown < count else f"{count} {noun}s"
    thinned = [
        f"every {_ordinal(step)} {side}" for step, side in zip(steps, ("row", "column"), strict=True) if step > 1
    ]
    return ", ".join([which, *thinned])


def _ordinal(number: int) -> str:
    last = {1: "st", 2: "nd", 3: "rd"}
    ending = "th" if number % 100 in (11, 12, 13) else last.get(number % 10, "th")
    return f"{number:,}{ending}"
