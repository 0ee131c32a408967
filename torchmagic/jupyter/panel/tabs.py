"""This file is the tabs of the panel: one a page of the run, in the order in which they are read."""

from collections.abc import Callable

from torchmagic.session.run import Run
from torchmagic.views.activations import activations_page
from torchmagic.views.curves import curves_page
from torchmagic.views.data import data_page
from torchmagic.views.findings import findings_page
from torchmagic.views.memory_page import memory_page
from torchmagic.views.page import Page
from torchmagic.views.parameters import parameters_page
from torchmagic.views.precision import precision_page
from torchmagic.views.run_page import run_page
from torchmagic.views.snapshots import snapshots_page
from torchmagic.views.time_page import time_page

TABS: dict[str, Callable[[Run], Page]] = {
    "Findings": findings_page,
    "Curves": curves_page,
    "Parameters": parameters_page,
    "Activations": activations_page,
    "Memory": memory_page,
    "Time": time_page,
    "Data": data_page,
    "Run": run_page,
    "Precision": precision_page,
    "Snapshots": snapshots_page,
}
# While a run goes on these are cheap, and drawn at each refresh; of the others only the one that is looked at.
CHEAP = ("Findings", "Curves")
LATE = ("Precision", "Snapshots")
LIVE = tuple(name for name in TABS if name not in LATE)


def tab_pages(run: Run) -> dict[str, Page]:
    """Return the pages that have something to tell, by the name of their tab."""
    pages = {name: draw(run) for name, draw in TABS.items()}
    return {name: page for name, page in pages.items() if page.blocks}
