"""This file is a run shown again: its panel as it was at the end, and a copy of it that needs no kernel."""

from collections import Counter
from functools import partial
from uuid import uuid4

from IPython.display import display

from torchmagic.api.shown import Shown
from torchmagic.jupyter.display import show, static_bundle
from torchmagic.jupyter.panel.tabs import tab_pages
from torchmagic.jupyter.panel.widget import Panel, Status
from torchmagic.session.run import Run
from torchmagic.session.run import Status as RunStatus
from torchmagic.views.parameter_page import parameter_page


def replay(shown: Shown) -> None:
    """Show a run as a panel; of one that was cut short, what was seen up to then comes first.

    Args:
        shown: The pages of one run, and the run.
    """
    (run,) = shown.content
    first = {page.title: page for page in shown.pages[:1]} if run.status is RunStatus.LOST else {}
    # Not the run's own id: the panel that the run opened may still be there, and each panel hides the copies of its id.
    uid = uuid4().hex[:12]
    panel = Panel(uid=uid, title=run.name or "torchdebug")
    panel.finish(_status(run), first | tab_pages(run), partial(parameter_page, run))
    display(panel)  # type: ignore[no-untyped-call] # IPython's
    show(static_bundle(list(shown.pages), title=shown.title, uid=uid))


def _status(run: Run) -> Status:
    return {
        "state": run.status.value,
        "step": run.steps,
        "elapsed": round(run.clock.seconds, 3),
        "overhead": run.overhead if run.clock.seconds else None,
        "findings": Counter(finding.severity.value for finding in run.findings),
    }
