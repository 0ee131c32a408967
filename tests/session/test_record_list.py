"""This file tests that records of one class are found, whatever became of the list meanwhile."""

import copy
import pickle
from dataclasses import dataclass

import pytest

from torchmagic.session.record_list import RecordList
from torchmagic.session.run import Run


@dataclass(frozen=True)
class One:
    number: int


@dataclass(frozen=True)
class Other:
    number: int


@dataclass(frozen=True)
class Further(Other):
    pass


def numbers(records, kind):
    return [record.number for record in records.of(kind)]


def test_those_of_a_class_come_in_order_also_after_more_were_added():
    records = RecordList()
    assert records.of(One) == []
    for number in range(6):
        records.append((One, Other)[number % 2](number))
        assert numbers(records, One) == list(range(0, number + 1, 2))
    records.extend([Other(6), One(7)])
    records += [One(8)]
    assert numbers(records, One) == [0, 2, 4, 7, 8]
    assert numbers(records, Other) == [1, 3, 5, 6]


def test_a_class_that_others_derive_from_finds_those_too():
    records = RecordList([Other(0), Further(1), One(2), Other(3)])
    assert numbers(records, Other) == [0, 1, 3]
    assert numbers(records, Further) == [1]
    assert numbers(records, One | Further) == [1, 2]


CHANGES = {
    "an item": lambda records: records.__setitem__(0, Other(9)),
    "a slice": lambda records: records.__setitem__(slice(None), [One(5)]),
    "del": lambda records: records.__delitem__(0),
    "pop": lambda records: records.pop(),
    "remove": lambda records: records.remove(One(0)),
    "insert": lambda records: records.insert(0, One(7)),
    "clear": lambda records: records.clear(),
    "reverse": lambda records: records.reverse(),
    "sort": lambda records: records.sort(key=lambda each: -each.number),
    "times": lambda records: records.__imul__(2),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_otherwise_is_seen(change):
    records = RecordList([One(0), Other(1), One(2)])
    assert numbers(records, One) == [0, 2]
    CHANGES[change](records)
    assert numbers(records, One) == [each.number for each in records if isinstance(each, One)]


def test_what_is_returned_is_the_askers_own():
    records = RecordList([One(0)])
    records.of(One).clear()
    assert numbers(records, One) == [0]


@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])  # noqa: S301 - ours
def test_a_copy_goes_its_own_way(through):
    records = RecordList([One(0), One(1)])
    assert numbers(records, One) == [0, 1]
    other = through(records)
    other.append(One(2))
    assert (numbers(records, One), numbers(other, One)) == ([0, 1], [0, 1, 2])


def test_a_run_answers_whatever_list_it_is_given():
    run = Run()
    run.records.append(One(0))
    assert [record.number for record in run.of(One)] == [0]
    run.records = [One(1), Other(2)]
    assert [record.number for record in run.of(One)] == [1]
