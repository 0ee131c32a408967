"""This file exports to HTML: one file that needs nothing beside it, with curves and tables that answer the reader."""

import base64
import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from torchmagic.analyses.counting import counted
from torchmagic.exports.exporter import Exporter
from torchmagic.exports.names import label
from torchmagic.exports.overview import overview_page
from torchmagic.session.run import Run
from torchmagic.views.comparison import comparison_page
from torchmagic.views.numbers import as_seconds, as_share
from torchmagic.views.page import Bars, Block, Fold, Line, Page, Plot
from torchmagic.views.pages import run_pages
from torchmagic.views.run_names import labels
from torchmagic.views.skins.html import NUM_REPORT_ROWS, as_html
from torchmagic.views.skins.matplotlib import as_png
from torchmagic.views.skins.wire import thinned

_HERE = Path(__file__).parent / "report"
_SCRIPTS = ("elements.js", "numbers.js", "scales.js", "marks.js", "curves.js", "tables.js", "start.js")
# Enough to zoom into; a curve of 10,000 steps takes 60 KB.
NUM_POINTS = 3000
# More columns than that nobody compares by eye.
MOST_COMPARED = 6
# Of values that are drawn, further digits cannot be seen.
_DIGITS = 7


def write(runs: Sequence[Run], path: Path) -> None:
    """Write the document."""
    path.write_text(document(runs), encoding="utf-8", errors="xmlcharrefreplace")


def document(runs: Sequence[Run]) -> str:
    """Return runs as an HTML document: no network, all text escaped, a script that only its own hash lets run.

    Without the script curves are pictures, tables stand as they are, and nothing is missing.
    """
    called = labels(runs) if len(runs) > 1 else [label(runs[0])]
    parts = [(name, _facts(run), run_pages(run)) for name, run in zip(called, runs, strict=True)]
    lead = _lead(runs)
    figures = [_wired(block) for pages in (lead, *(pages for _, _, pages in parts)) for block in _figures(pages)]
    script = _script()
    return (
        _environment()
        .get_template("report.html")
        .render(
            title=label(runs[0]) if len(runs) == 1 else f"{len(runs)} runs",
            lead=[(page.title, _drawn([page])) for page in lead],
            runs=[(name, facts, [(page.title, _drawn([page])) for page in pages]) for name, facts, pages in parts],
            css=Markup((_HERE / "report.css").read_text("utf-8")),  # noqa: S704 - a file of ours
            script=Markup(script),  # noqa: S704 - files of ours
            policy=_policy(script),
            figures=Markup(in_script(figures)),  # noqa: S704 - escaped for where it stands
        )
    )


def in_script(value: object) -> str:
    r"""Return JSON that may stand in a script element: nothing in it can end the element or a line of the script.

    Examples:
        >>> in_script(["</script>"])
        '["\\u003c/script\\u003e"]'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(script: str) -> str:
    """Return the content policy: nothing from elsewhere, and of scripts only the one with this hash."""
    mark = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    only = f"script-src 'sha256-{mark}'; style-src 'unsafe-inline'; img-src data:"
    return f"default-src 'none'; {only}; base-uri 'none'; form-action 'none'"


def _lead(runs: Sequence[Run]) -> list[Page]:
    """Return what is said of several runs together: one row each, and in what they differ while they are few."""
    if len(runs) == 1:
        return []
    return [overview_page(runs)] + ([comparison_page(runs)] if len(runs) <= MOST_COMPARED else [])


def _facts(run: Run) -> str:
    when = time.strftime("%d %b %Y, %H:%M UTC", time.gmtime(run.clock.started))
    steps = counted(run.steps, "step")
    cost = f"watching cost {as_share(run.overhead)}"
    return " · ".join((run.status.value, steps, as_seconds(run.clock.seconds), cost, when))


def _drawn(pages: Sequence[Page]) -> Markup:
    untitled = [Page(title="", blocks=page.blocks) for page in pages]
    return Markup(as_html(untitled, draw=as_png, num_rows=NUM_REPORT_ROWS))  # noqa: S704 - the skin escapes


def _figures(blocks: Sequence[Page] | Sequence[Block]) -> Iterator[Plot | Bars]:
    """Yield what the skin draws as figures, in its order."""
    for block in blocks:
        if isinstance(block, Page | Fold):
            yield from _figures(block.blocks)
        elif isinstance(block, Plot | Bars):
            yield block


def _wired(block: Plot | Bars) -> dict[str, Any] | None:
    """Return a plot as plain values; None for what stays a picture."""
    if isinstance(block, Bars):
        return None
    lines = block.lines if block.stacked else [thinned(line, num_points=NUM_POINTS) for line in block.lines]
    labels = {"x": block.x_label, "y": block.y_label, "log": block.log, "stacked": block.stacked}
    marks = [[_short(step), word] for step, word in block.marks]
    return {**labels, "lines": [_points(line) for line in lines], "marks": marks}


def _points(line: Line) -> dict[str, Any]:
    length = min(len(line.steps), len(line.values))
    steps, values = ([_short(each) for each in found[:length]] for found in (line.steps, line.values))
    return {"name": line.name, "steps": steps, "values": values}


def _short(value: float) -> float | str:
    if not math.isfinite(value):
        return str(float(value))
    return int(value) if value == int(value) else float(f"{value:.{_DIGITS}g}")


@cache
def _script() -> str:
    inside = "\n".join((_HERE / name).read_text("utf-8") for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{inside}\n}})();'


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


EXPORTER = Exporter(name="html", what="one page that needs nothing beside it", write=write, suffixes=(".html", ".htm"))
