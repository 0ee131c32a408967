"""This file tests what is brought near of a tensor: its corners look as those of the whole."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.tensors import near
from torchmagic.tensors.near import brought_near, corners

MOST_COLUMNS = 200


@given(st.lists(st.integers(1, 12), max_size=4), st.integers(1, 3), st.booleans())
def test_corners_are_printed_as_the_whole_is(shape, edge, turned):
    values = torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape) / 7
    values = values.mT if turned and values.dim() > 1 else values
    with torch._tensor_str.printoptions(threshold=0, edgeitems=edge, linewidth=MOST_COLUMNS):
        assert str(corners(values, edge)) == str(values)


def test_of_long_dimensions_few_values_are_left():
    assert corners(torch.zeros(1000, 5, 700), 2).shape == (5, 5, 5)


@pytest.mark.parametrize("values", [torch.ones(3), torch.ones(3, device="meta"), torch.ones(())])
def test_what_is_near_or_nowhere_stays_as_it_is(values, monkeypatch):
    assert brought_near(values) is values
    monkeypatch.setattr(near, "SMALL_BYTES", 0)
    assert brought_near(values) is values
