"""This file tests what a nest is made of, where it does not let itself be looked into as others do."""

from collections import UserDict
from collections.abc import Mapping
from enum import Enum
from unittest import mock

import torch

from torchmagic.tensors.glance import facts_of, tensors_in
from torchmagic.tensors.nests import MOST_ITEMS, parts_of

ONE = torch.ones(2)


class Sly(dict):
    """Gives nothing of what it holds."""

    def items(self):
        raise KeyError

    values = __iter__ = items


class Shy(list):
    """Cannot be gone through."""

    def __iter__(self):
        raise KeyError


class Closed(Mapping):
    """Holds nothing itself, and raises where it is asked."""

    def __getitem__(self, key):
        raise KeyError(key)

    def __iter__(self):
        raise KeyError

    def __len__(self):
        return 1


class Key:
    """Cannot be shown."""

    def __repr__(self):
        raise KeyError


class Place(Enum):
    """A key that says what it is."""

    LEFT = 1


class Slotted:
    """Has no dictionary, and raises where it is asked for one."""

    __slots__ = ("one",)

    def __getattr__(self, name):
        raise KeyError(name)


def test_what_pythons_own_kinds_hold_is_read_as_python_keeps_it():
    assert parts_of(Sly(a=ONE)) == [("a", ONE)]
    assert parts_of(Shy([ONE])) == [("0", ONE)]
    assert tensors_in((Sly(a=ONE), Shy([ONE]), UserDict(b=ONE))) == [ONE] * 3


def test_what_does_not_let_itself_be_read_holds_nothing():
    assert parts_of(Closed()) == parts_of(Slotted()) == parts_of(mock.Mock(spec=dict)) == []
    assert tensors_in([Closed(), mock.Mock(spec=torch.Tensor), ONE]) == [ONE]


def test_keys_are_written_as_they_are_shown_where_it_is_known_how():
    names = [name for name, _ in parts_of({"a": 1, 2: 1, ("b", "c"): 1, Place.LEFT: 1, Key(): 1})]
    assert names == ["a", "2", "('b', 'c')", "Place.LEFT", "Key"]


def test_of_a_long_nest_the_first_items_are_parts():
    assert len(parts_of([ONE] * 10 * MOST_ITEMS)) == MOST_ITEMS


def test_a_tensor_without_a_size_has_facts_without_one():
    (facts,) = facts_of([torch.nn.UninitializedParameter()])
    assert (facts.shape, facts.dtype) == ((), "float32")
