"""This file is warnings that are not for the user, and leaves what has been shown once as it is: shown.

``warnings.catch_warnings`` and ``simplefilter`` count a change of the filters, whereupon Python forgets of every line
that it has warned, and warns again. A filter that is put into the list, and taken out, counts as none.
"""

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any


class _Meanwhile:
    """Stands in a filter for the pattern of a message; a copy of the filter that somebody keeps ends with it."""

    def __init__(self, thread: int | None) -> None:
        self.lasts = True
        self._thread = thread

    def match(self, _: str) -> bool:
        """Whether a warning, whatever it says, is given while this lasts, and in its thread."""
        return self.lasts and self._thread in {None, threading.get_ident()}


@contextlib.contextmanager
def ignored_warnings(category: type[Warning] = Warning) -> Iterator[None]:
    """Ignore what our own work in this thread warns of; other threads warn as ever.

    Args:
        category: Which warnings.
    """
    with _ignored(category, threading.get_ident()):
        yield


@contextlib.contextmanager
def untouched_warnings() -> Iterator[None]:
    """Ignore what the user's code warns of when we run it, in any thread, and put back filters that it changes."""
    filters = _filters()
    before = list(filters)
    try:
        with _ignored(Warning, None):
            yield
    finally:
        if filters is _filters() and filters != before:
            filters[:] = before


@contextlib.contextmanager
def uncounted_changes() -> Iterator[None]:
    """Let others change filters for a while in this thread, as libraries do while they are loaded: none is counted.

    Of a Python that counts them in another way than 3.11 to 3.13, nothing is changed.
    """
    count, thread, lasts = getattr(warnings, "_filters_mutated", None), threading.get_ident(), True

    def count_others() -> None:
        if count is not None and not (lasts and threading.get_ident() == thread):
            count()

    names = vars(warnings)
    try:
        if count is not None:
            names["_filters_mutated"] = count_others
        yield
    finally:
        lasts = False
        if names.get("_filters_mutated") is count_others:
            names["_filters_mutated"] = count


@contextlib.contextmanager
def _ignored(category: type[Warning], thread: int | None) -> Iterator[None]:
    meanwhile, filters = _Meanwhile(thread), _filters()
    entry = "ignore", meanwhile, category, None, 0
    try:
        filters.insert(0, entry)
        yield
    finally:
        meanwhile.lasts = False
        for each in (filters, _filters()):  # in a ``catch_warnings`` that has begun or ended meanwhile it is another
            with contextlib.suppress(ValueError):
                each.remove(entry)


def _filters() -> list[Any]:
    filters: list[Any] = warnings.filters  # type: ignore[assignment] # the stubs say that nobody changes it
    return filters
