"""This file is a flame on matplotlib's axes: boxes below the box of which they are parts."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchmagic.views.numbers import as_amount
from torchmagic.views.page import Flame
from torchmagic.views.skins.flame_rows import Placed, placed
from torchmagic.views.skins.text_table import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _HEAD = 0.26, 0.34  # inches a level takes, and the room above
_LETTERS = 90  # that fit into the whole width
_LEAST_LETTERS = 3
_FAINT, _STRONG = 0.18, 0.52


def icicle_height(flame: Flame) -> float:
    """Return how many inches a flame takes."""
    return _HEAD + _ROW * max(1, _levels(placed(flame)))


def draw_icicle(axes: "Axes", flame: Flame, *, colour: str, ink: str, size: float) -> None:
    """Draw boxes with the names that fit into them; the stronger the colour, the more of a box is its own.

    Args:
        axes: Where to draw.
        flame: The boxes.
        colour: Of the boxes.
        ink: Of the names.
        size: Of the letters, in points.
    """
    axes.set_axis_off()
    boxes = placed(flame)
    axes.set_xlim(0, 1)
    axes.set_ylim(max(1, _levels(boxes)), 0)
    axes.set_title(flame.title, loc="left", color=ink, fontsize=size)
    for item in _flat(boxes):
        alpha = _FAINT + (_STRONG - _FAINT) * item.own
        axes.barh(
            item.depth + 0.5, item.share, left=item.left, height=0.94, color=colour, alpha=alpha, edgecolor="none"
        )
        room = int(item.share * _LETTERS) - 1
        if room >= _LEAST_LETTERS:
            words = f"{item.box.name}  {as_amount(item.box.amount, unit=flame.unit)}"
            said = words if len(words) <= room else shortened(item.box.name, room)
            axes.text(item.left + 0.005, item.depth + 0.5, said, va="center", color=ink, fontsize=size, clip_on=True)


def _levels(boxes: Sequence[Placed]) -> int:
    return max((item.depth + 1 for item in _flat(boxes)), default=0)


def _flat(boxes: Sequence[Placed]) -> Iterator[Placed]:
    for item in boxes:
        yield item
        yield from _flat(item.parts)
