"""This file is the list of a run's records, in which those of one class are found without a walk over all."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

R = TypeVar("R")

# What changes a list otherwise than at its end.
_CHANGING = ("__setitem__", "__delitem__", "__imul__", "insert", "pop", "remove", "clear", "reverse", "sort")


class RecordList(list[Any]):
    """Records in order of arrival.

    One thread may append while any others ask: what is known of classes is replaced at one stroke, never changed.
    """

    _known: tuple[int, Mapping[type, Sequence[Any]]] = 0, {}

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


def _changing(name: str) -> Callable[..., Any]:
    change = getattr(list, name)

    def changed(self: RecordList, *arguments: Any, **options: Any) -> Any:
        self._known = 0, {}
        try:
            return change(self, *arguments, **options)
        finally:
            self._known = 0, {}

    changed.__name__, changed.__doc__ = name, change.__doc__
    return changed


for _name in _CHANGING:
    setattr(RecordList, _name, _changing(_name))
