"""This file tests the codec: every record survives the way to JSON and back."""

import json
import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from typing import Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.records.codec import decode, encode
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.kinds import KINDS
from torchmagic.records.loss import BackwardRecord
from torchmagic.records.note import NoteRecord
from torchmagic.records.place import Place

# The words for non-finite numbers stand for numbers wherever a field takes numbers.
texts = st.text(max_size=20).filter(lambda text: text not in ("NaN", "Infinity", "-Infinity"))
SIMPLE = {
    str: texts,
    int: st.integers(-(2**62), 2**62),
    float: st.floats() | st.sampled_from([math.nan, math.inf, -math.inf]),
    bool: st.booleans(),
    type(None): st.none(),
}


def made_like(hint):
    """Return a strategy for values of a type hint that records use."""
    origin = get_origin(hint)
    if hint in SIMPLE:
        return SIMPLE[hint]
    if origin in (Union, types.UnionType):
        return st.one_of(*map(made_like, get_args(hint)))
    if origin is tuple:
        return st.lists(made_like(get_args(hint)[0]), max_size=3).map(tuple)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(texts, made_like(get_args(hint)[1]), max_size=3)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return st.sampled_from(hint)
    assert is_dataclass(hint), f"the codec has no test for {hint}"
    return records_of(hint)


def records_of(kind):
    hints = get_type_hints(kind)
    return st.builds(kind, **{field.name: made_like(hints[field.name]) for field in fields(kind)})


def same(left, right):
    """Compare with NaN equal to itself; the codec may turn an int into an equal float."""
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if is_dataclass(left):
        return type(left) is type(right) and all(
            same(getattr(left, field.name), getattr(right, field.name)) for field in fields(left)
        )
    if isinstance(left, tuple):
        return isinstance(right, tuple) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return type(left) is type(right) and left == right


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_record_survives_the_way_to_json_and_back(kind):
    @given(record=records_of(kind))
    def survives(record):
        text = json.dumps(encode(record), allow_nan=False)
        back = decode(json.loads(text))
        assert same(record, back), (record, back)

    survives()


def test_every_record_class_of_the_room_but_the_tensor_has_its_kind():
    names = [kind.__name__ for kind in KINDS]
    assert names == sorted(set(names))


def test_an_unknown_kind_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"unknown kind of record 'FutureRecord'.*newer torchmagic"):
        decode({"kind": "FutureRecord", "text": "hello"})


def test_a_value_without_a_kind_is_an_error():
    with pytest.raises(ValueError, match="unknown kind of record None"):
        decode({})


def test_fields_of_a_newer_version_are_left_out():
    assert decode({"kind": "NoteRecord", "text": "hello", "colour": "red"}) == NoteRecord(text="hello")


def test_fields_of_a_newer_version_inside_a_place_are_left_out():
    plain = encode(BackwardRecord(name="loss", place=Place(file="a.py", line=3)))
    plain["place"]["column"] = 7
    assert decode(plain) == BackwardRecord(name="loss", place=Place(file="a.py", line=3))


def test_fields_that_an_older_version_lacked_take_their_defaults():
    finding = Finding(rule="dead-relu", severity=Severity.ERROR, confidence=1.0, title="dead")
    plain = {name: value for name, value in encode(finding).items() if name not in ("causes", "evidence", "why")}
    assert decode(plain) == finding


def test_non_finite_numbers_are_words_that_every_json_reader_takes():
    finding = Finding(
        rule="x",
        severity=Severity.INFO,
        confidence=1.0,
        title="",
        evidence={"a": math.nan, "b": math.inf, "c": -math.inf},
    )
    assert encode(finding)["evidence"] == {"a": "NaN", "b": "Infinity", "c": "-Infinity"}
    assert decode(encode(finding)).evidence["c"] == -math.inf


def test_a_severity_comes_back_as_itself():
    finding = Finding(rule="x", severity=Severity.WARNING, confidence=1.0, title="")
    assert decode(json.loads(json.dumps(encode(finding)))).severity is Severity.WARNING


def test_causes_come_back_as_a_tuple():
    finding = Finding(rule="x", severity=Severity.INFO, confidence=1.0, title="", causes=("a", "b"))
    assert decode(json.loads(json.dumps(encode(finding)))) == finding
    assert replace(finding, causes=()).causes == ()
