"""This file is the tabs of the panel, in the order in which they are shown."""

from collections.abc import Callable

from torchmagic.session.run import Run
from torchmagic.views.curves import curves_page
from torchmagic.views.findings import findings_page
from torchmagic.views.page import Page
from torchmagic.views.parameters import parameters_page
from torchmagic.views.resources import resources_page

TABS: tuple[tuple[str, Callable[[Run], Page]], ...] = (
    ("Findings", findings_page),
    ("Curves", curves_page),
    ("Parameters", parameters_page),
    ("Memory & time", resources_page),
)


def tab_pages(run: Run) -> dict[str, Page]:
    """Return the page of each tab, by the tab's name."""
    return {name: page(run) for name, page in TABS}
