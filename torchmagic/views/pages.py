"""This file is the list of a run's pages, in the order in which they are read."""

from collections.abc import Callable

from torchmagic.records.profile import ProfileRecord
from torchmagic.session.run import Run
from torchmagic.views.activations import activations_page
from torchmagic.views.curves import curves_page
from torchmagic.views.data import data_page
from torchmagic.views.findings import findings_page
from torchmagic.views.page import Page
from torchmagic.views.parameters import parameters_page
from torchmagic.views.precision import precision_page
from torchmagic.views.profile_pages import profile_pages
from torchmagic.views.ranks import ranks_page
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
    ranks_page,
)


def run_pages(run: Run) -> list[Page]:
    """Return the pages that have something to tell; those of a profile come after the first."""
    first, *others = PAGES
    rest = () if is_profile_alone(run) else others
    pages = [first(run), *profile_pages(run), *(draw(run) for draw in rest)]
    return [page for page in pages if page.blocks]


def is_profile_alone(run: Run) -> bool:
    """Whether a run was profiled and not watched: of the little that was seen besides nothing is shown."""
    return bool(run.of(ProfileRecord)) and list(run.settings.get("only", ())) == ["performance"]
