"""This file exports to Markdown: for issues, READMEs and chats."""

from collections.abc import Sequence
from pathlib import Path

from torchmagic.exports.exporter import Exporter
from torchmagic.session.run import Run
from torchmagic.views.findings import headline
from torchmagic.views.pages import run_pages
from torchmagic.views.skins.markdown import as_markdown


def write(runs: Sequence[Run], path: Path) -> None:
    """Write the pages of each run, one run after the other."""
    told = [as_markdown(run_pages(run), title=headline(run)) for run in runs]
    path.write_text("\n".join(told), encoding="utf-8", errors="backslashreplace")


EXPORTER = Exporter(name="markdown", what="a text with headings and tables", write=write, suffixes=(".md", ".markdown"))
