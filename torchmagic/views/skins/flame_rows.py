"""This file is the boxes of a flame laid out: how wide each is, where it begins, and the same as rows of characters."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchmagic.views.numbers import as_amount, as_share
from torchmagic.views.page import Box, Flame
from torchmagic.views.skins.text_table import printable, shortened

# Narrower boxes than this share of the whole are no more than a line on a screen.
LEAST = 0.003
MOST_LEVELS = 12
_TRACK, _LONGEST = 32, 30
_LETTERS = 128  # of a small font that fit into the width of a notebook's output
_LEAST_LETTERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A box with its place.

    Args:
        box: The box.
        share: Its share of the whole.
        width: Its share of the box around it.
        left: Where it begins, as a share of the whole.
        gap: What was left out before it, as a share of the box around it.
        own: Share of it that belongs to no part of it.
        depth: Levels below the top.
        parts: Its parts that are wide enough to be seen, next to each other from its left end on.
    """

    box: Box
    share: float
    width: float
    left: float
    gap: float
    own: float
    depth: int
    parts: tuple["Placed", ...]


def placed(flame: Flame) -> tuple[Placed, ...]:
    """Return the boxes on top with what is in them; those too narrow to be seen and empty ones are left out."""
    whole = sum(_size(box) for box in flame.boxes)
    return tuple(_placed(flame.boxes, whole=whole, room=whole, left=0.0, depth=0)) if whole > 0 else ()


def told(item: Placed, unit: str) -> str:
    """Say a box in words: amount, share of the whole and what else is known."""
    said = f"{as_amount(item.box.amount, unit=unit)}, {as_share(item.share)}"
    return f"{said}, {item.box.told}" if item.box.told else said


def fits(item: Placed, unit: str) -> str:
    """Say what of a box's words can be seen: ``all``, ``name``, ``some`` of the name, or ``none``."""
    room = int(item.share * _LETTERS) - 1
    amount = len(as_amount(item.box.amount, unit=unit))
    if room >= len(item.box.name) + amount + 1:
        return "all"
    if room >= len(item.box.name):
        return "name"
    return "some" if room > _LEAST_LETTERS else "none"


def flame_rows(flame: Flame, *, width: int, num_rows: int) -> list[str]:
    """Return the widest boxes as rows of at most so many characters, each bar below the part of which it is.

    Args:
        flame: The boxes.
        width: Most characters of a row.
        num_rows: Most rows.
    """
    found = list(_flat(placed(flame)))
    widest = sorted(range(len(found)), key=lambda i: (-found[i].share, i))[:num_rows]
    shown = [found[i] for i in sorted(widest)]
    names = [shortened(" " * item.depth + printable(item.box.name), _LONGEST) for item in shown]
    amounts = [printable(as_amount(item.box.amount, unit=flame.unit)) for item in shown]
    column, right = max(map(len, names), default=0), max(map(len, amounts), default=0)
    track = min(_TRACK, max(0, width - column - right - 11))
    rows = [
        f"{name:<{column}}  {amount:>{right}}  {as_share(item.share):>5}  {_bar(item, track)}"
        for name, amount, item in zip(names, amounts, shown, strict=True)
    ]
    left_out = len(found) - len(shown)
    return [*rows, f"… {left_out} smaller ones"] if left_out else rows


def _size(box: Box) -> float:
    return box.amount if math.isfinite(box.amount) and box.amount > 0 else 0.0


def _placed(boxes: Sequence[Box], *, whole: float, room: float, left: float, depth: int) -> Iterator[Placed]:
    gap = 0.0
    for box in boxes:
        size = _size(box)
        share = size / whole
        if share >= LEAST:
            inside = sum(map(_size, box.parts))
            # parts that amount to more than the whole, as rounding makes them, share its width
            parts = box.parts if depth + 1 < MOST_LEVELS else ()
            below = tuple(_placed(parts, whole=whole, room=max(size, inside), left=left, depth=depth + 1))
            own = max(0.0, 1 - inside / size)
            width = size / room
            yield Placed(
                box=box, share=share, width=width, left=left, gap=gap / room, own=own, depth=depth, parts=below
            )
        gap = 0.0 if share >= LEAST else gap + size
        left += share


def _flat(items: Sequence[Placed]) -> Iterator[Placed]:
    for item in items:
        yield item
        yield from _flat(item.parts)


def _bar(item: Placed, track: int) -> str:
    if not track:
        return ""
    start = min(track - 1, round(item.left * track))
    return " " * start + "█" * max(1, min(track - start, round(item.share * track)))
