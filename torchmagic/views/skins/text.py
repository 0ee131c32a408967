"""This file is the text skin: pages for terminals, log files, nbconvert and readers that have no eyes for colour."""

import math
from collections.abc import Iterator, Sequence
from textwrap import indent, wrap

from torchmagic.records.finding import Finding
from torchmagic.views.numbers import as_amount, as_share
from torchmagic.views.page import (
    Bars,
    Block,
    Code,
    Diff,
    Facts,
    Findings,
    Flame,
    Fold,
    Image,
    Page,
    Plot,
    Shares,
    Source,
    Table,
    Text,
)
from torchmagic.views.skins.finding_words import evidence, place, remedy, standing
from torchmagic.views.skins.flame_rows import flame_rows
from torchmagic.views.skins.line_summary import bars_sentence, line_sentence, sparkline
from torchmagic.views.skins.pictures import picture_rows, picture_sentence
from torchmagic.views.skins.reading_order import Root, alike_words, reading_order
from torchmagic.views.skins.source_rows import source_rows
from torchmagic.views.skins.text_table import printable, shortened, text_table

NUM_ROWS = 8
_SPARK, _TRACK, _LONGEST = 32, 24, 40
_LEAST_WORDS = 36  # in less room than this the words on a curve go below it
_TAB, _INSET = "\t", "  "
# A source has so many lines where a table has a row, and an icicle so many rows more: they tell less in each.
_LINES_A_ROW, _SLACK = 3, 4


def as_text(pages: Page | Sequence[Page], *, title: str = "", width: int = 100, num_rows: int = NUM_ROWS) -> str:
    """Return pages as plain text, without trailing spaces and without escape codes.

    Args:
        pages: One page, or pages in order; folded pages are told by their title and their first sentence, folded
            blocks not at all.
        title: Heading above them; empty for none.
        width: Most characters a line of ours takes; code keeps its own lines.
        num_rows: Most rows of a table to show; marked rows are kept first.
    """
    listed = [pages] if isinstance(pages, Page) else list(pages)
    parts = [_underlined(title, "═", width)] if title else []
    parts += [_page(page, width, num_rows) for page in listed]
    lines = "\n\n".join(part for part in parts if part).splitlines()
    return "\n".join(line.rstrip() for line in lines)


def _underlined(title: str, rule: str, width: int) -> str:
    shown = wrap(printable(title), width) or [""]
    return "\n".join([*shown, rule * max(map(len, shown))])


def _page(page: Page, width: int, num_rows: int) -> str:
    if page.folded:
        first = next((block.text for block in page.blocks[:1] if isinstance(block, Text)), "")
        return _pairs([(f"▸ {page.title}", first)], width)
    head = [_underlined(page.title, "─", width)] if page.title else []
    return "\n".join([*head, "\n\n".join(filter(None, (_block(block, width, num_rows) for block in page.blocks)))])


def _block(block: Block, width: int, num_rows: int) -> str:  # noqa: C901, PLR0911, PLR0912 - one answer a kind of block
    match block:
        case Text():
            return "\n".join(wrap(printable(block.text), width))
        case Code():
            return indent(printable(block.text, keep="\n\t"), "    ")
        case Facts():
            return _pairs([(name, value) for name, value in block.rows], width)
        case Table():
            return text_table(block, width=width, num_rows=num_rows)
        case Plot():
            # areas that stand on each other repeat over time what shares say, which a row of characters cannot show
            return "" if block.stacked else "\n".join(_plot(block, width))
        case Bars():
            counts = [float(count) for count in block.counts]
            said = f"{sparkline(counts, width=_SPARK, log=block.log)}  {bars_sentence(block)}"
            return f"{_named(block.title, width)}\n  {said if any(counts) else 'no values'}"
        case Image():
            picture = indent("\n".join(picture_rows(block.picture)), "  ", lambda _: True)
            return (
                f"{_named(block.title, width)}\n{picture}\n  {printable(picture_sentence(block, in_characters=True))}"
            )
        case Shares():
            return "\n".join(_shares(block, width))
        case Flame():
            drawn = flame_rows(block, width=width - len(_INSET), num_rows=num_rows + _SLACK) or ["no values"]
            return f"{_named(block.title, width)}\n{indent(chr(10).join(drawn), _INSET)}"
        case Source():
            drawn = source_rows(block, width=width - len(_INSET), num_lines=_LINES_A_ROW * num_rows)
            return f"{_named(block.title, width)}\n{indent(chr(10).join(drawn), _INSET)}"
        case Diff():
            return "\n".join(_diff(block, width))
        case Findings():
            return "\n\n".join(_root(root, width) for root in reading_order(block.findings)) or "No findings."
        case Fold():
            return ""


def _pairs(rows: Sequence[tuple[str, str]], width: int, *, lead: str = "") -> str:
    """Write names in a column and their values, wrapped, in another."""
    names = [shortened(printable(name), width // 2) for name, _ in rows]
    column = max(map(len, names), default=0) + 2
    told = []
    for name, (_, value) in zip(names, rows, strict=True):
        start = f"{lead}{name:<{column}}"
        hang = " " * len(start)
        text = printable(value)
        told += wrap(text, max(width, len(start) + 20), initial_indent=start, subsequent_indent=hang) or [start]
    return "\n".join(told)


def _named(title: str, width: int) -> str:
    return shortened(printable(title), width)


def _plot(plot: Plot, width: int) -> Iterator[str]:
    yield _named(plot.title, width - 12) + (" (log scale)" if plot.log else "")
    names = [shortened(printable(line.name), _LONGEST) for line in plot.lines]
    column = max(map(len, names), default=0)
    drawings = [sparkline(line.values, width=_SPARK, log=plot.log) for line in plot.lines]
    longest = max(map(len, drawings), default=0)
    for name, drawn, line in zip(names, drawings, plot.lines, strict=True):
        start = f"  {name:<{column}}  {drawn:<{longest}}  "
        said = printable(line_sentence(line, x_label=plot.x_label))
        if len(start) + _LEAST_WORDS > width:
            yield start
            start = "    "
        yield from wrap(said, max(width, _LEAST_WORDS), initial_indent=start, subsequent_indent=" " * len(start))
    if not plot.lines:
        yield "  no values"


def _diff(block: Diff, width: int) -> Iterator[str]:
    yield _named(f"{block.title}: - {block.old}, + {block.new}", width)
    for sign, line in block.lines:
        yield f"  {sign} {printable(line, keep=_TAB)}" if sign != "@" else f"  … {printable(line)}"


def _shares(block: Shares, width: int) -> Iterator[str]:
    yield _named(block.title, width)
    total = sum(amount for _, amount in block.parts)
    names = [shortened(printable(name), _LONGEST) for name, _ in block.parts]
    column = max(map(len, names), default=0)
    amounts = [printable(as_amount(amount, unit=block.unit)) for _, amount in block.parts]
    right = max(map(len, amounts), default=0)
    track = min(_TRACK, max(0, width - column - right - len("  " * 4) - 5))
    for name, written, (_, amount) in zip(names, amounts, block.parts, strict=True):
        share = amount / total if total else 0.0
        bar = "█" * (round(share * track) if math.isfinite(share) else 0)
        yield f"  {name:<{column}}  {written:>{right}}  {as_share(share):>5}  {bar}"


def _root(root: Root, width: int) -> str:
    if root.doubtful:
        told = [_headline(root.finding, f"{root.finding.severity.value.upper()}?", width)]
        guess = printable(f"uncertain ({standing(root.finding)}): {remedy(root.finding.fix)[0]}".rstrip(" :"))
        told += wrap(guess, width, initial_indent="  ", subsequent_indent="    ")
    else:
        told = [_headline(root.finding, root.finding.severity.value.upper(), width), *_body(root.finding, width)]
    if root.alike:
        told += wrap(printable(alike_words(root)), width, initial_indent="  └ ", subsequent_indent="    ")
    for finding in root.consequences:
        told.append(_headline(finding, f"└ then {finding.severity.value.upper()}", width, lead="  "))
    return "\n".join(told)


def _headline(finding: Finding, badge: str, width: int, *, lead: str = "") -> str:
    hang = lead + " " * (len(badge) + 2)
    return (
        "\n".join(wrap(printable(finding.title), width, initial_indent=f"{lead}{badge}  ", subsequent_indent=hang))
        or f"{lead}{badge}"
    )


def _body(finding: Finding, width: int) -> Iterator[str]:
    fix, code = remedy(finding.fix)
    where = " · ".join(f"{words}: {code}" if code else words for words, code in place(finding))
    told = [
        ("where", where),
        ("evidence", " · ".join(f"{name} {value}" for name, value in evidence(finding))),
        ("why", finding.why),
        ("fix", fix),
    ]
    yield _pairs([(f"{name:<8}", text) for name, text in told if text], width, lead="  ")
    if code:
        yield indent(printable(code, keep="\n\t"), " " * 12)
