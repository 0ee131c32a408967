"""This file is the rule: a pure function from a run to findings, with its id, group and page."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torchmagic.records.finding import Finding
from torchmagic.records.place import Place
from torchmagic.session.run import Run

Check = Callable[[Run], Iterator[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: ``check(run)`` yields its findings.

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

    def __call__(self, run: Run) -> Iterator[Finding]:
        return self.check(run)


def rule(check: Check) -> Rule:
    """Make a rule of a function; id, group and page come from its file."""
    *_, group, name = check.__module__.split(".")
    page = inspect.getdoc(inspect.getmodule(check)) or ""
    return Rule(id=name.replace("_", "-"), group=group, page=page, check=check)


def line_of(place: Place | None) -> dict[str, int | str | None]:
    """Return a place as the ``line`` and ``source`` of a finding."""
    return {"line": place.line, "source": place.source} if place is not None else {"line": None, "source": None}
