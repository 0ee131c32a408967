"""This file is the list of a profile's pages, in the order in which they are read."""

from collections.abc import Callable

from torchmagic.session.run import Run
from torchmagic.views.page import Page
from torchmagic.views.profile_device import profile_device_page
from torchmagic.views.profile_lines import profile_lines_page
from torchmagic.views.profile_loaders import profile_loaders_page
from torchmagic.views.profile_memory import profile_memory_page
from torchmagic.views.profile_modules import profile_modules_page
from torchmagic.views.profile_operators import profile_operators_page
from torchmagic.views.profile_page import profile_page
from torchmagic.views.profile_steps import profile_steps_page

PROFILE_PAGES: tuple[Callable[[Run], Page], ...] = (
    profile_page,
    profile_modules_page,
    profile_lines_page,
    profile_operators_page,
    profile_device_page,
    profile_memory_page,
    profile_steps_page,
    profile_loaders_page,
)


def profile_pages(run: Run) -> list[Page]:
    """Return the pages of a run's profile that have something to tell."""
    return [page for page in (draw(run) for draw in PROFILE_PAGES) if page.blocks]
