"""This file is the tabs of the panel: one a page of the run, in the order in which they are read."""

from collections.abc import Callable

from torchmagic.session.run import Run
from torchmagic.views.activations import activations_page
from torchmagic.views.curves import curves_page
from torchmagic.views.data import data_page
from torchmagic.views.findings import findings_page
from torchmagic.views.memory_page import memory_page
from torchmagic.views.page import Page
from torchmagic.views.pages import is_profile_alone
from torchmagic.views.parameters import parameters_page
from torchmagic.views.precision import precision_page
from torchmagic.views.profile_pages import profile_pages
from torchmagic.views.ranks import ranks_page
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
    "Ranks": ranks_page,
}
# While a run goes on these are cheap, and drawn at each refresh; of the others only the one that is looked at.
CHEAP = ("Findings", "Curves")
FIRST = "Findings"
# What is shown beside a profile of a run that was not watched besides.
BESIDE_PROFILE = ("Run",)
LATE = ("Precision", "Snapshots", "Ranks")
LIVE = tuple(name for name in TABS if name not in LATE)


def tab_pages(run: Run) -> dict[str, Page]:
    """Return the pages that have something to tell, by the name of their tab; a profile's come after the first."""
    pages = {name: page for name, page in ((name, draw(run)) for name, draw in TABS.items()) if page.blocks}
    profile = {page.title: page for page in profile_pages(run)}
    if not profile:
        return pages
    others = BESIDE_PROFILE if is_profile_alone(run) else pages
    rest = {f"{name} of the run" if name in profile else name: pages[name] for name in others if name != FIRST}
    return {FIRST: pages[FIRST]} | profile | rest
