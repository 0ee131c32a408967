"""This file is the report: a whole run as one HTML file."""

from torchmagic.session.run import Run
from torchmagic.views.curves import curves_page
from torchmagic.views.findings import findings_page, headline
from torchmagic.views.parameters import parameters_page
from torchmagic.views.resources import resources_page
from torchmagic.views.skins.html import as_html_document
from torchmagic.views.skins.matplotlib import as_png


def report(run: Run) -> str:
    """Return the run as an HTML document that needs nothing beside it."""
    pages = [findings_page(run), curves_page(run), parameters_page(run), resources_page(run)]
    return as_html_document(pages, title=headline(run), draw=as_png)
