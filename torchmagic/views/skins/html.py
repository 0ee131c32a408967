"""This file is the html skin: pages as one fragment for a notebook's output, or as a whole file for a report."""

import base64
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from torchmagic.views.numbers import as_amount, as_number, as_share
from torchmagic.views.page import Bars, Cell, Page, Plot, Shares, Table, Trend
from torchmagic.views.skins.finding_words import evidence, marked, place, remedy, spans, standing
from torchmagic.views.skins.flame_rows import fits, placed, told
from torchmagic.views.skins.line_summary import (
    alternative_text,
    bars_sentence,
    line_summary,
    trend_drawing,
    trend_sentence,
)
from torchmagic.views.skins.pictures import legend_png, picture_png, picture_sentence, shown_size
from torchmagic.views.skins.reading_order import alike_words, reading_order
from torchmagic.views.skins.text_table import kept_rows, number_columns, printable

Draw = Callable[[Plot | Bars], bytes]

NUM_ROWS = 100  # of a table in a notebook: a copy of every row at every run would bloat the file
NUM_REPORT_ROWS = 2000
LONG = 36  # letters of a cell from which on it is broken into lines, so that columns beside it stay in sight


def as_html(
    pages: Page | Sequence[Page], *, title: str = "", uid: str = "", draw: Draw | None = None, num_rows: int = NUM_ROWS
) -> str:
    """Return pages as a self-contained HTML fragment: no script, no network, all text escaped.

    It reads in light and dark themes, by screen readers, and where a sanitizer has stripped styles.

    Args:
        pages: One page, or pages in order.
        title: Heading above them; empty for none.
        uid: Id of the panel that this is the static copy of, as ``data-torchmagic-static``; empty for none.
        draw: Turns a plot or histogram into PNG bytes, such as ``skins.matplotlib.as_png``; without it they are
            told in numbers.
        num_rows: Most rows of a table to show; marked rows are kept first.
    """
    listed = [pages] if isinstance(pages, Page) else list(pages)
    template = _environment().get_template("fragment.html")
    return template.render(pages=listed, title=title, uid=uid, draw=draw, num_rows=num_rows, css=_css()).strip()


def as_html_document(
    pages: Page | Sequence[Page], *, title: str, draw: Draw | None = None, num_rows: int = NUM_REPORT_ROWS
) -> str:
    """Return pages as a whole HTML file that needs nothing beside it.

    Args:
        pages: One page, or pages in order; with several, links to them stand at the top.
        title: Title of the document and its first heading.
        draw: As in ``as_html``.
        num_rows: As in ``as_html``.
    """
    listed = [pages] if isinstance(pages, Page) else list(pages)
    template = _environment().get_template("document.html")
    return template.render(pages=listed, title=title, draw=draw, num_rows=num_rows, css=_css())


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_seen,
    )
    environment.filters.update(amount=as_amount, cell=_cell, number=as_number, share=as_share)
    environment.tests.update(long=_is_long, numeric=_is_number, trend=_is_trend)
    environment.globals.update(
        alike_words=alike_words,
        alternative_text=alternative_text,
        bars_sentence=bars_sentence,
        data_url=_data_url,
        evidence=evidence,
        fits=fits,
        kind=_kind,
        line_summary=line_summary,
        number_columns=number_columns,
        legend_png=legend_png,
        parts=_parts,
        picture_png=picture_png,
        picture_sentence=picture_sentence,
        place=place,
        placed=placed,
        reading_order=reading_order,
        marked=marked,
        remedy=remedy,
        rows=_rows,
        shown_size=shown_size,
        spans=spans,
        standing=standing,
        told=told,
        trend_drawing=trend_drawing,
        trend_sentence=trend_sentence,
    )
    return environment


def _seen(value: object) -> object:
    """Return text without control characters and marks that turn its direction; line breaks and tabs stay."""
    return printable(value, keep="\n\t") if type(value) is str else value


@cache
def _css() -> str:
    return (Path(__file__).parent / "templates" / "page.css").read_text(encoding="utf-8").strip()


def _kind(block: object) -> str:
    return type(block).__name__.lower()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_trend(value: object) -> bool:
    return isinstance(value, Trend)


def _is_long(value: object) -> bool:
    """Whether a cell is a sentence that may be broken into lines."""
    return isinstance(value, str) and len(value) > LONG and " " in value


def _cell(value: Any) -> str:
    return as_number(value) if _is_number(value) else "" if value is None else str(value)


def _data_url(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


def _parts(block: Shares) -> list[tuple[str, float, float]]:
    total = sum(amount for _, amount in block.parts)
    return [(name, amount, amount / total if total else 0.0) for name, amount in block.parts]


def _rows(table: Table, most: int) -> list[tuple[bool, Sequence[Cell]]]:
    """Return at most so many rows in their own order, with whether each is marked; marked rows are kept first."""
    return [(index in table.marked, table.rows[index]) for index in kept_rows(table, most)]
