"""This file finds the file of a finding: the cell or program that ran, or a place that a record tells."""

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from torchmagic.analyses.source_lines import line_at
from torchmagic.records.finding import Finding
from torchmagic.records.place import Place
from torchmagic.session.run import Run

# The setting of a run that names the file of its source, where that is no cell.
FILE = "file"
# Names that shells make up for cells.
_CELLS = ("<", "ipykernel_")

Places = Mapping[str, set[tuple[str, int]]]


def places_of(run: Run) -> Places:
    """Return the files and lines that the records of a run tell, by the text of the line."""
    found: dict[str, set[tuple[str, int]]] = {}
    for place in places_in(run.records):
        if place.source and place.line and not any(sign in place.file for sign in _CELLS):
            found.setdefault(place.source.strip(), set()).add((place.file, place.line))
    return found


def file_of(finding: Finding, run: Run, places: Places) -> tuple[str, int | None]:
    """Return the file and 1-based line of a finding; an empty name where no file is known for certain.

    Args:
        finding: The finding.
        run: Its run.
        places: What ``places_of`` returned for that run.
    """
    source, file = (finding.source or "").strip(), str(run.settings.get(FILE, ""))
    if file and finding.line and line_at(run.source, finding.line) == source:
        return file, finding.line
    told = {(name, line) for name, line in places.get(source, ()) if finding.line in (None, line)}
    return next(iter(told)) if len(told) == 1 else ("", finding.line)


def places_in(value: Any) -> Iterator[Place]:
    """Yield the places that a record tells, or several records."""
    if isinstance(value, Place):
        yield value
    elif isinstance(value, Mapping):
        yield from places_in(tuple(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from places_in(each)
    elif is_dataclass(value):
        kind: Any = type(value)
        for name in _holders(kind):
            yield from places_in(getattr(value, name))


@cache
def _holders(kind: Any) -> tuple[str, ...]:
    """Return the fields of a class that may hold a place; there may be thousands of records of a class without."""
    return tuple(name for name, hint in get_type_hints(kind).items() if _may_hold(hint))


def _may_hold(hint: Any) -> bool:
    kind: Any = hint
    if is_dataclass(hint):
        return hint is Place or bool(_holders(kind))
    return any(_may_hold(each) for each in get_args(hint))
