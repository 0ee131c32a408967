"""This file is the report: a whole run as one HTML file."""

from torchmagic.session.run import Run
from torchmagic.views.findings import headline
from torchmagic.views.pages import run_pages
from torchmagic.views.skins.html import as_html_document
from torchmagic.views.skins.matplotlib import as_png


def report(run: Run) -> str:
    """Return the run as an HTML document that needs nothing beside it."""
    return as_html_document(run_pages(run), title=headline(run), draw=as_png)
