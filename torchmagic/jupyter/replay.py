"""This file is what the session shows: a run's panel as it was at the end, or one page, and a copy of either."""

from collections import Counter
from functools import partial
from uuid import uuid4

from IPython.display import display

from torchmagic.analyses.ranks_steps import told_steps
from torchmagic.api.baseline import baseline_pages
from torchmagic.api.shown import Shown
from torchmagic.jupyter.display import show, static_bundle
from torchmagic.jupyter.panel.shelf import Shelf
from torchmagic.jupyter.panel.tabs import tab_pages
from torchmagic.jupyter.panel.widget import Panel, Status
from torchmagic.session.run import Run
from torchmagic.session.run import Status as RunStatus
from torchmagic.session.session import session
from torchmagic.views.findings import called
from torchmagic.views.pages import is_profile_alone
from torchmagic.views.parameter_page import parameter_page

SHEET = "sheet"
# What was asked for stays alive longer than the panels of runs: several are read side by side.
SHELF = Shelf(most=8)


def replay(shown: Shown) -> None:
    """Show a run as a panel; of one that was cut short, what was seen up to then comes first.

    Args:
        shown: The pages of one run, and the run.
    """
    (run,) = shown.content
    first = {page.title: page for page in shown.pages[:1]} if run.status is RunStatus.LOST else {}
    beside = {page.title: page for page in baseline_pages(session, run)}
    # Not the run's own id: the panel that the run opened may still be there, and each panel hides the copies of its id.
    uid = uuid4().hex[:12]
    panel = Panel(uid=uid, title=called(run, nameless="torchprofile" if is_profile_alone(run) else "torchdebug"))
    panel.finish(_status(run), first | tab_pages(run) | beside, partial(parameter_page, run))
    SHELF.put(panel)
    display(panel)  # type: ignore[no-untyped-call] # IPython's
    show(static_bundle(list(shown.pages), title=shown.title, uid=uid))


def show_sheet(shown: Shown) -> None:
    """Show pages as a panel without a head: tables that sort and curves that can be read, and a copy beside it.

    Args:
        shown: Pages that are not those of one run.
    """
    uid = uuid4().hex[:12]
    panel = Panel(uid=uid)
    panel.update(Status(state=SHEET), {page.title: page for page in shown.pages})
    SHELF.put(panel)
    display(panel)  # type: ignore[no-untyped-call] # IPython's
    show(static_bundle(list(shown.pages), title=shown.title, uid=uid, num_rows=shown.num_rows))


def _status(run: Run) -> Status:
    return {
        "state": run.status.value,
        "step": told_steps(run),
        "elapsed": round(run.clock.seconds, 3),
        "overhead": run.overhead if run.clock.seconds else None,
        "findings": Counter(finding.severity.value for finding in run.findings),
    }
