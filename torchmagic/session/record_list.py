"""This file is the list of a run's records, in which those of one class are found without a walk over all."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

R = TypeVar("R")


def _changing(change: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that changes a list otherwise than at its end, and has it forget what is known of classes."""

    def changed(self: "RecordList", *arguments: Any, **options: Any) -> Any:
        self._known = 0, {}
        try:
            return change(self, *arguments, **options)
        finally:
            self._known = 0, {}

    changed.__name__, changed.__doc__ = change.__name__, change.__doc__
    return changed


class RecordList(list[Any]):
    """Records in order of arrival.

    One thread may append while any others ask: what is known of classes is replaced at one stroke, never changed.
    """

    _known: tuple[int, Mapping[type, Sequence[Any]]] = 0, {}

    __setitem__ = _changing(list.__setitem__)
    __delitem__ = _changing(list.__delitem__)
    __imul__ = _changing(list.__imul__)
    insert = _changing(list.insert)
    pop = _changing(list.pop)
    remove = _changing(list.remove)
    clear = _changing(list.clear)
    reverse = _changing(list.reverse)
    sort = _changing(list.sort)

    def of(self, kind: type[R]) -> list[R]:
        """Return the records of one class, in order of arrival."""
        by_class = self._by_class()
        kinds = [each for each in by_class if issubclass(each, kind)]
        if len(kinds) > 1:
            return [record for record in tuple(self) if isinstance(record, kind)]
        return list(by_class[kinds[0]]) if kinds else []

    def _by_class(self) -> Mapping[type, Sequence[Any]]:
        num_known, known = self._known
        new: dict[type, list[Any]] = {}
        num = len(self)
        for record in self[num_known:num]:
            new.setdefault(type(record), []).append(record)
        if new:
            known = {**known, **{each: (*known.get(each, ()), *records) for each, records in new.items()}}
            self._known = num, known
        return known
