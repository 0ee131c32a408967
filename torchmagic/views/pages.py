"""This file is the list of a run's pages, in the order in which they are read."""

from collections.abc import Callable

from torchmagic.session.run import Run
from torchmagic.views.activations import activations_page
from torchmagic.views.curves import curves_page
from torchmagic.views.data import data_page
from torchmagic.views.findings import findings_page
from torchmagic.views.page import Page
from torchmagic.views.parameters import parameters_page
from torchmagic.views.precision import precision_page
from torchmagic.views.resources import resources_page
from torchmagic.views.snapshots import snapshots_page

PAGES: tuple[Callable[[Run], Page], ...] = (
    findings_page,
    curves_page,
    parameters_page,
    activations_page,
    data_page,
    resources_page,
    precision_page,
    snapshots_page,
)


def run_pages(run: Run) -> list[Page]:
    """Return the pages that have something to tell."""
    return [page for page in (draw(run) for draw in PAGES) if page.blocks]
