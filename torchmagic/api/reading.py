"""This file is the reading of a run: whichever it came from, it can be drawn, and one cut short has been judged."""

from torchmagic.rules.judgement import judge
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session
from torchmagic.views.brief import run_text
from torchmagic.views.report import report

Which = int | str | Run


def read(session: Session, which: Which) -> Run:
    """Return a run, ready to be drawn.

    Args:
        session: Where it is looked up.
        which: The run itself, its number in the history (negative ones count from the end), its id, its name (the
            newest of that name) or ``last``.

    Raises:
        KeyError: If there is no such run; one line says which there are.
    """
    if isinstance(which, Run):
        return which
    run = session.get(which)
    if run not in session.runs:
        run.draw_with(report, run_text)
        if run.status is Status.LOST:  # its process had no time to judge it
            run.findings = judge(run, _ignore)
    return run


def _ignore(_rule: str, _error: Exception) -> None:
    """Go on without a rule that cannot judge a run that was cut short."""
