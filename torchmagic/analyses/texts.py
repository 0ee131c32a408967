"""This file is the text around a line: of the run's own source, or of another cell or file whose code took part."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from torchmagic.analyses.source_lines import line_at
from torchmagic.records.place import Place
from torchmagic.session.run import Run


def text_around(run: Run, place: Place | None) -> str:
    """Return the text that a place is a line of; empty where it was not kept, or says something else there."""
    if place is None:
        return ""
    texts = (run.texts.get(place.file, ""), run.source)  # the cell's own file is not among them: its line tells
    return next((text for text in texts if place.source and line_at(text, place.line) == place.source), "")


def texts_of(run: Run) -> tuple[str, ...]:
    """Return the run's own source and then the other texts."""
    return run.source, *run.texts.values()


def says(run: Run, what: Callable[[str], object]) -> bool:
    """Whether a function finds something in any of the run's texts."""
    return any(what(text) for text in texts_of(run))


def beside(run: Run, place: Place, line: int | None) -> Place:
    """Return another line of the text that a place is a line of; the place itself for None."""
    return place if line is None else replace(place, line=line, source=line_at(text_around(run, place), line))


def places_by(run: Run, find: Callable[[str], Iterable[int] | int | None]) -> list[Place]:
    """Return the lines that are found in the run's own source, or else in other cells and files that took part.

    Args:
        run: The run.
        find: Returns 1-based lines of a text, or one, or None.
    """
    for texts in ({"": run.source}, run.texts):
        found = [(file, text, line) for file, text in texts.items() for line in _lines(find(text))]
        if found:
            return [Place(file=file, line=line, source=line_at(text, line)) for file, text, line in found]
    return []


def _lines(found: Iterable[int] | int | None) -> Iterable[int]:
    return () if found is None else (found,) if isinstance(found, int) else found
