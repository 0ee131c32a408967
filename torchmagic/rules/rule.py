"""This file is the rule: a pure function from a run to findings, with its id, group and page."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from torchmagic.records.finding import Finding
from torchmagic.records.note import CrashRecord
from torchmagic.records.place import Place
from torchmagic.session.run import Run

Check = Callable[..., Iterator[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: ``check(run)`` yields its findings.

    What the check takes by keyword only, with a number as default, are its thresholds.

    Args:
        id: Kebab-case id, from the name of its file.
        group: Name of its folder.
        page: The docstring of its file.
        check: The function itself; it reads the run and nothing else.
    """

    id: str
    group: str
    page: str
    check: Check

    def __call__(self, run: Run, **thresholds: float) -> Iterator[Finding]:
        """Yield the findings that the rule draws from a run, with some thresholds other than its own."""
        return self.check(run, **thresholds)

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The thresholds by name, with the values they have unless somebody changes them."""
        given = inspect.signature(self.check).parameters.values()
        return {each.name: each.default for each in given if each.kind is each.KEYWORD_ONLY}


def rule(check: Check) -> Rule:
    """Make a rule of a function; id, group and page come from its file."""
    *_, group, name = check.__module__.split(".")
    page = inspect.getdoc(inspect.getmodule(check)) or ""
    return Rule(id=name.replace("_", "-"), group=group, page=page, check=check)


class Located(TypedDict):
    """Where a finding is, as three of its fields; the file by the name that places give."""

    line: int | None
    file: str | None
    source: str | None


def line_of(place: Place | None) -> Located:
    """Return a place as fields of a finding; line 0 stands for one whose number says nothing."""
    if place is None:
        return Located(line=None, file=None, source=None)
    return Located(line=place.line or None, file=place.file or None, source=place.source)


def line_of_crash(crash: CrashRecord) -> Located:
    """Return the user's innermost line of an exception as fields of a finding."""
    return line_of(Place(file=crash.file, line=crash.line, source=crash.source))


def only_line(places: Sequence[Place], place: Place | None) -> Located:
    """Return the only one of some places; where there is none, or several, another one."""
    return line_of(places[0] if len(places) == 1 else place)
