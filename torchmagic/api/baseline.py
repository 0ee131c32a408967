"""This file is what profiles are compared with: their baseline, found before anything runs, and one another."""

from collections.abc import Sequence
from dataclasses import replace

from torchmagic.api.reading import Which, read
from torchmagic.records.profile import ProfileRecord
from torchmagic.session.run import Run
from torchmagic.session.session import Session
from torchmagic.views.comparison import comparison_page
from torchmagic.views.page import Page
from torchmagic.views.profile_comparison import profile_comparison_page
from torchmagic.views.run_names import run_names

BASELINE = "baseline"  # the setting of a run that holds the id of its baseline


def baseline_id(session: Session, which: Which) -> str:
    """Return the id of the run that a profile is to be compared with.

    Raises:
        ValueError: If there is no such run, or it has no profile; one line that says which one came.
    """
    try:
        run = read(session, which)
    except KeyError as error:
        raise ValueError(f"{BASELINE}: {error.args[0]}") from None
    if not run.of(ProfileRecord):
        raise ValueError(
            f"{BASELINE}: {_called(run)} has no profile to compare with; give a run of %%torchprofile that is over"
        )
    return run.id


def baseline_pages(session: Session, run: Run) -> list[Page]:
    """Return the comparison of a profile with its baseline; none where it has no baseline, or that one is gone."""
    which = run.settings.get(BASELINE)
    if not which or not run.of(ProfileRecord):
        return []
    try:
        page = profile_comparison_page(run, read(session, which))
    except KeyError:
        return []
    return [page] if page.blocks else []


def comparison_pages(runs: Sequence[Run]) -> list[Page]:
    """Return what differs between runs: where they are profiles first where the time went, then all the rest.

    Args:
        runs: Two runs or more; the others are told against the first.
    """
    whole = comparison_page(runs)
    if not all(run.of(ProfileRecord) for run in runs):
        return [whole]
    profiles = [profile_comparison_page(run, runs[0]) for run in runs[1:]]
    if len(profiles) > 1:
        names = run_names(runs)[1:]
        profiles = [replace(page, title=f"Profile of {name}") for page, name in zip(profiles, names, strict=True)]
    return [*(page for page in profiles if page.blocks), whole]


def _called(run: Run) -> str:
    number = f"run {run.number}" if run.number else f"run {run.id}"
    return f"{number} ({run.name})" if run.name else number
