"""Whatever a user logs becomes JSON: bounded, without failing, and without holding what was logged."""

import enum
import gc
import json
import math
import weakref
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from torchmagic.api.training_logs.plain_values import LONGEST_TEXT, MOST_VALUES, Walk, plain


class Colour(enum.Enum):
    RED = "red"


class Rank(enum.IntEnum):
    FIRST = 1


@dataclass
class Shot:
    name: str
    loss: torch.Tensor


class Point(NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (0.5, 0.5),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (2**70, hex(2**70)),
        ("word", "word"),
        (np.float32(0.5), 0.5),
        (np.float64("nan"), "NaN"),
        (np.longdouble(0.5), 0.5),
        (np.int8(3), 3),
        (np.bool_(True), True),
        (np.array([[2.0]]), 2.0),
        (torch.tensor(0.5), 0.5),
        (torch.tensor([[0.5]], requires_grad=True), 0.5),
        (torch.tensor(math.nan), "NaN"),
        (torch.tensor(3), 3),
        (nn.Parameter(torch.ones(1)), 1.0),
        (Colour.RED, "red"),
        (Rank.FIRST, 1),
        (1 + 2j, "(1+2j)"),
        (Path("a/b"), "a/b"),
        (Decimal("0.1"), "0.1"),
        (timedelta(minutes=1), 60.0),
        (datetime(2024, 1, 2, tzinfo=UTC), "2024-01-02 00:00:00+00:00"),
        (b"123", "<3 bytes>"),
        (torch.float32, "torch.float32"),
        (torch.device("cpu"), "cpu"),
        (torch.Size([2, 3]), [2, 3]),
        (Point(1, 2), [1, 2]),
        (deque([1], maxlen=3), [1]),
        ({"a"}, ["a"]),
        (OrderedDict(a=1).values(), [1]),
        ({1: "a", None: "b", (1, 2): "c", Colour.RED: "d"}, {"1": "a", "None": "b", "(1, 2)": "c", "red": "d"}),
        (Shot("x", torch.tensor(1.5)), {"name": "x", "loss": 1.5}),
        (ValueError("bad"), {"type": "ValueError", "message": "bad"}),
        (nn.Linear(1, 1), "<Linear>"),
        (print, "<builtin_function_or_method>"),
    ],
    ids=repr,
)
def test_a_value_is_told_as(value, wanted):
    assert plain(value) == wanted
    assert type(plain(value)) is type(wanted)


def test_a_small_tensor_is_told_by_its_values_and_a_large_one_by_its_facts():
    small = plain(torch.tensor([[1.0, math.nan], [math.inf, 2.0]]))
    assert small == {"shape": [2, 2], "dtype": "float32", "device": "cpu", "values": [[1.0, "NaN"], ["Infinity", 2.0]]}
    assert plain(torch.zeros(100, 2)) == {"shape": [100, 2], "dtype": "float32", "device": "cpu"}
    assert plain(np.zeros((100, 2))) == {"shape": [100, 2], "dtype": "float64"}


@pytest.mark.parametrize(
    "tensor",
    [
        torch.empty(2, device="meta"),
        torch.eye(3).to_sparse(),
        torch.zeros(0),
        torch.tensor([1 + 2j]),
    ],
    ids=["meta", "sparse", "empty", "complex"],
)
def test_a_tensor_of_another_kind_is_told_by_its_facts(tensor):
    assert set(plain(tensor)) == {"shape", "dtype", "device"}


def test_what_raises_when_it_is_looked_at_is_told_by_its_type():
    class Sly(dict):
        def items(self):
            raise RuntimeError("no")

    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError("no")

    assert plain({"a": Sly(b=1), "c": 2}) == {"a": f"<{Sly.__qualname__}: RuntimeError>", "c": 2}
    assert "RuntimeError" in plain(MuteError())


def test_what_holds_itself_comes_to_an_end():
    circle = {"name": "circle"}
    circle["self"] = circle
    assert json.dumps(plain(circle)).count("circle") == 8


def test_a_large_value_is_cut_and_says_so():
    many = plain({"numbers": list(range(10 * MOST_VALUES))})["numbers"]
    assert len(many) == MOST_VALUES
    assert many[-1] == "…"
    wide = plain({str(number): number for number in range(10 * MOST_VALUES)})
    assert len(wide) == MOST_VALUES + 1
    text = plain("x" * 10 * LONGEST_TEXT)
    assert len(text) == LONGEST_TEXT + 1


def test_the_weight_grows_with_what_waits_to_be_written():
    def weight(value):
        walk = Walk()
        walk.of(value)
        return walk.weight

    assert weight(1) < weight([1] * 100) < weight(["x" * 1000] * 100)


def test_nothing_that_was_logged_is_held():
    tensor, array = torch.randn(4, requires_grad=True), np.zeros(3)
    gone = weakref.ref(tensor), weakref.ref(array)
    told = plain({"tensor": tensor, "array": array, "nested": [tensor]})
    del tensor, array
    gc.collect()
    assert [each() for each in gone] == [None, None]
    assert told["array"]["values"] == [0.0, 0.0, 0.0]


def test_a_tensor_that_is_told_stays_as_it_is():
    weight = nn.Parameter(torch.ones(3))
    version, stream = weight._version, torch.get_rng_state()
    plain({"weight": weight})
    assert weight._version == version
    assert weight.grad_fn is None
    assert torch.equal(torch.get_rng_state(), stream)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.characters(categories=["Cs"])
    | st.binary(max_size=5)
    | st.complex_numbers()
    | st.builds(torch.tensor, st.lists(st.floats(width=32), max_size=40))
    | st.builds(np.array, st.lists(st.floats(), max_size=40))
    | st.builds(ValueError, st.text()),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner, max_size=5)
        | st.sets(st.integers(), max_size=5)
    ),
    max_leaves=20,
)


@given(values)
def test_any_value_becomes_strict_json_on_one_ascii_line(value):
    line = json.dumps(plain(value), allow_nan=False)
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert json.loads(line) == plain(value)
