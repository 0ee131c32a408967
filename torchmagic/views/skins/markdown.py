"""This file is the markdown skin: pages for issues, READMEs and chats."""

import re
from collections.abc import Collection, Iterator, Sequence

from torchmagic.records.finding import Finding
from torchmagic.views.numbers import as_amount, as_number, as_share
from torchmagic.views.page import (
    Bars,
    Block,
    Cell,
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
    Trend,
)
from torchmagic.views.skins.finding_words import evidence, marked, place, remedy, spans, standing
from torchmagic.views.skins.flame_rows import flame_rows
from torchmagic.views.skins.line_summary import bars_sentence, line_sentence, marks_sentence, sparkline, trend_drawing
from torchmagic.views.skins.pictures import picture_rows, picture_sentence
from torchmagic.views.skins.reading_order import Root, reading_order
from torchmagic.views.skins.source_rows import source_rows
from torchmagic.views.skins.text_table import kept_rows, number_columns, printable

NUM_ROWS = 50
_SPECIAL = re.compile(r"([\\`*_\[\]|~#])")
_SPARK = 24
_WIDTH = 110  # letters that GitHub shows of code before it scrolls


def as_markdown(pages: Page | Sequence[Page], *, title: str = "", num_rows: int = NUM_ROWS) -> str:
    """Return pages as GitHub-flavoured Markdown; text is escaped, so that no name is taken for markup.

    Args:
        pages: One page, or pages in order.
        title: Heading above them; empty for none.
        num_rows: Most rows of a table to show; marked rows are kept first.
    """
    listed = [pages] if isinstance(pages, Page) else list(pages)
    parts = [f"# {_escaped(title)}"] if title else []
    for page in listed:
        parts += [f"## {_escaped(page.title)}"] if page.title else []
        parts += [part for block in page.blocks for part in _block(block, num_rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _escaped(text: str) -> str:
    """Escape what Markdown or HTML would take for markup."""
    plain = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", plain)


def _fenced(code: str, language: str = "") -> str:
    """Put code between fences longer than any run of backticks in it."""
    longest = max(map(len, re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{printable(code, keep=chr(10) + chr(9))}\n{fence}"


def _inline(code: str) -> str:
    plain = printable(code)
    fence = "`" * (max(map(len, re.findall(r"`+", plain)), default=0) + 1)
    return f"{fence}{plain}{fence}" if len(fence) == 1 else f"{fence} {plain} {fence}"


def _sentence(text: str) -> str:
    return "".join(_inline(part) if is_code else _escaped(part) for is_code, part in spans(text))


def _block(block: Block, num_rows: int) -> Iterator[str]:  # noqa: C901, PLR0912 - one answer a kind of block
    match block:
        case Text():
            yield f"**{_escaped(block.text)}**" if block.strong else _escaped(block.text)
        case Code():
            yield _fenced(block.text)
        case Facts():
            yield _grid(("", ""), [[_escaped(name), _escaped(value)] for name, value in block.rows])
        case Table():
            yield from _table(block, num_rows)
        case Plot():
            yield f"**{_escaped(block.title)}** over {_escaped(block.x_label)}"
            yield _lines(block)
            if block.marks:
                yield f"Marked: {_escaped(marks_sentence(block))}"
        case Bars():
            drawn = sparkline([float(count) for count in block.counts], width=_SPARK, log=block.log)
            yield f"**{_escaped(block.title)}** {drawn} {_escaped(bars_sentence(block))}"
        case Image():
            drawn = "\n".join(picture_rows(block.picture))
            yield f"**{_escaped(block.title)}** {_escaped(picture_sentence(block, in_characters=True))}"
            yield _fenced(drawn)
        case Shares():
            yield f"**{_escaped(block.title)}**"
            yield _shares(block)
        case Flame():
            yield f"**{_escaped(block.title)}**"
            yield _fenced("\n".join(flame_rows(block, width=_WIDTH, num_rows=num_rows)))
        case Source():
            yield f"**{_escaped(block.title)}**"
            yield _fenced("\n".join(source_rows(block, width=_WIDTH, num_lines=2 * num_rows)))
        case Diff():
            yield f"**{_escaped(block.title)}** (- {_escaped(block.old)}, + {_escaped(block.new)})"
            yield _fenced("\n".join(_signed(sign, line) for sign, line in block.lines), "diff")
        case Findings():
            yield from (_root(root) for root in reading_order(block.findings))
            if not block.findings:
                yield "No findings."
        case Fold():
            inside = [part for one in block.blocks for part in _block(one, num_rows)]
            yield "\n\n".join([f"<details><summary>{_escaped(block.title)}</summary>", *inside, "</details>"])


def _signed(sign: str, line: str) -> str:
    shown = printable(line, keep="\t")
    return f"@@ {shown} @@" if sign == "@" else f"{sign}{shown}"


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    rules = ["---:" if index in right else "---" for index in range(len(columns))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, rules, *rows))


def _table(table: Table, num_rows: int) -> Iterator[str]:
    if table.title:
        yield f"**{_escaped(table.title)}**"
    shown = kept_rows(table, num_rows)
    numbers = number_columns(table)
    rows = []
    for index in shown:
        cells = [_cell(value) for value in table.rows[index]]
        rows.append([f"**{cell}**" if cell and index in table.marked else cell for cell in cells])
    yield _grid([_escaped(column) for column in table.columns], rows, numbers)
    if len(shown) < len(table.rows):
        yield f"… {len(table.rows) - len(shown)} more rows"


def _cell(value: Cell) -> str:
    if isinstance(value, Trend):
        return trend_drawing(value)
    return as_number(value) if isinstance(value, int | float) else _escaped(value or "")


def _lines(plot: Plot) -> str:
    rows = [
        [
            _escaped(line.name),
            sparkline(line.values, width=_SPARK, log=plot.log),
            line_sentence(line, x_label=plot.x_label),
        ]
        for line in plot.lines
    ]
    return _grid(("curve", "", "values"), rows)


def _shares(block: Shares) -> str:
    total = sum(amount for _, amount in block.parts)
    rows = [
        [_escaped(name), _escaped(as_amount(amount, unit=block.unit)), as_share(amount / total if total else 0.0)]
        for name, amount in block.parts
    ]
    return _grid(("part", "amount", "share"), rows, {1, 2})


def _root(root: Root) -> str:
    told = [f"### {_headline(root.finding)}{' (uncertain)' if root.doubtful else ''}", *_body(root.finding)]
    if root.alike:
        told.append("The same is said of:")
        told.append("\n".join(f"- {_headline(finding)}" for finding in root.alike))
    if root.consequences:
        told.append("From this follow:")
        told.append("\n".join(f"- {_headline(finding)}" for finding in root.consequences))
    return "\n\n".join(told)


def _headline(finding: Finding) -> str:
    return f"{finding.severity.value.upper()}: {_sentence(finding.title)}"


def _body(finding: Finding) -> Iterator[str]:
    where = [f"{_escaped(words)} {_inline(code)}" if code else _escaped(words) for words, code in place(finding)]
    if where:
        yield "**Where:** " + ", ".join(where)
    if finding.evidence:
        yield "**Evidence:** " + ", ".join(f"{_escaped(name)} {_escaped(value)}" for name, value in evidence(finding))
    if finding.why:
        yield f"**Why:** {_sentence(finding.why)}"
    fix, code = remedy(finding.fix)
    if fix:
        yield f"**Fix:** {_sentence(marked(fix))}"
    if code:
        yield _fenced(code, "python")
    yield f"({_escaped(standing(finding))})"
