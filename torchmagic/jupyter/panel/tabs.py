"""This file is the tabs of the panel: one a page of the run, by its title."""

from torchmagic.session.run import Run
from torchmagic.views.page import Page
from torchmagic.views.pages import run_pages


def tab_pages(run: Run) -> dict[str, Page]:
    """Return the page of each tab, by the tab's name, in the order in which they are shown."""
    return {page.title: page for page in run_pages(run)}
