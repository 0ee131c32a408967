"""This file is the page: the content of an output as blocks, without markup, colour or size."""

from collections.abc import Sequence
from dataclasses import dataclass

from torchmagic.records.finding import Finding
from torchmagic.records.tensor_picture import Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A paragraph; ``strong`` marks the one sentence that must be read."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Text whose line breaks and columns matter, such as a tensor's values."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Names with values, one pair a line."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A curve so small that it fits in a cell of a table; ``log`` asks for heights by the logarithm."""

    values: Sequence[float]
    log: bool = False


Cell = str | int | float | Trend | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under column names; ``marked`` holds the indices of rows that need attention."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    marked: frozenset[int] = frozenset()
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One curve of a plot: values over steps; values may be NaN or infinite and are then left out of the line."""

    name: str
    steps: Sequence[float]
    values: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Curves that share their axes.

    Args:
        title: What they show.
        lines: The curves.
        x_label: Name of the axis of steps.
        y_label: Name or unit of the axis of values.
        log: Whether the axis of values should be logarithmic.
        stacked: Whether each curve stands on the one before, as parts of a whole; they then share their steps.
        marks: Places on the axis of steps that a reader should look at, each with a word that says what is there.
    """

    title: str
    lines: Sequence[Line]
    x_label: str = "step"
    y_label: str = ""
    log: bool = False
    stacked: bool = False
    marks: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A histogram: counts between consecutive edges (one more edge than counts).

    Args:
        title: What was counted.
        edges: Rising.
        counts: How many are between two edges.
        by_ratio: Whether the edges rise by a factor, so that their axis should be logarithmic.
        log: Whether the axis of counts should be logarithmic.
    """

    title: str
    edges: Sequence[float]
    counts: Sequence[int]
    by_ratio: bool = False
    log: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A small picture of levels or colours, and what it shows."""

    title: str
    picture: Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """One whole and its named parts; ``parts`` are (name, amount) and ``unit`` names the amounts."""

    title: str
    parts: Sequence[tuple[str, float]]
    unit: str = "s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One box of a ``Flame``: a name, an amount, what of it belongs to parts, and words for who asks for more."""

    name: str
    amount: float
    parts: Sequence["Box"] = ()
    told: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flame:
    """Boxes within boxes, each as wide as its amount: an icicle, the whole on top.

    Args:
        title: What is measured.
        boxes: The boxes on top; the parts of a box amount to no more than it does.
        unit: Names the amounts, as in ``Shares``.
    """

    title: str
    boxes: Sequence[Box]
    unit: str = "s"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """One line of a ``Source``.

    Args:
        number: From 1; None for a gap, whose ``text`` says what is left out.
        text: The line without its line break.
        heat: Length of its bar, 0 to 1.
        cells: What stands in the columns; empty for a line of which nothing is told.
    """

    number: int | None
    text: str
    heat: float = 0.0
    cells: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Lines of source, each with a bar and what it cost.

    Args:
        title: The file's or cell's name.
        columns: Names over the cells; of narrow room the last ones are left out first.
        lines: The lines in order.
    """

    title: str
    columns: Sequence[str]
    lines: Sequence[SourceLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """Two texts line by line: what only the old one has, what only the new one has, and some lines around.

    Args:
        title: What was compared.
        old: What the old text is called.
        new: What the new text is called.
        lines: Pairs of a sign and a line: ``-`` only in the old text, ``+`` only in the new one, a space in both, and
            ``@`` for a place where equal lines are left out.
    """

    title: str
    old: str
    new: str
    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Findings in the order in which they should be read."""

    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Blocks for those who ask for more: only the title is seen until it is opened."""

    title: str
    blocks: Sequence["Block"]


Block = Text | Code | Facts | Table | Plot | Bars | Image | Shares | Flame | Source | Diff | Findings | Fold


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A titled sequence of blocks; ``folded`` pages show only their title until opened.

    A page without blocks has nothing to tell, and is left out wherever pages are listed.
    """

    title: str
    blocks: Sequence[Block]
    folded: bool = False
