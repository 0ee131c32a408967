"""This file exports to plain text: for terminals, logs and a notebook's own output."""

from collections.abc import Sequence
from pathlib import Path

from torchmagic.exports.exporter import Exporter
from torchmagic.session.run import Run
from torchmagic.views.findings import headline
from torchmagic.views.pages import run_pages
from torchmagic.views.skins.text import as_text

# A file has room for more rows of a table than a cell's output.
NUM_ROWS = 200


def write(runs: Sequence[Run], path: Path) -> None:
    """Write the pages of each run, one run after the other."""
    told = [as_text(run_pages(run), title=headline(run), num_rows=NUM_ROWS) for run in runs]
    path.write_text("\n\n\n".join(told) + "\n", encoding="utf-8", errors="backslashreplace")


EXPORTER = Exporter(name="text", what="plain text", write=write, suffixes=(".txt",))
