"""This file is the proof that tensors packed into one array are measured one by one, in the order given."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchmagic.tensors import packing
from torchmagic.tensors.packing import Packing


@pytest.mark.parametrize(("few", "least"), [(0, 1), (0, 12), (0, 1 << 30), (99, 1)])
@settings(max_examples=40, deadline=None)
@given(sizes=st.lists(st.integers(1, 7), min_size=1, max_size=12), seed=st.integers(0, 99))
def test_norms_and_counts_are_those_of_each_tensor(few, least, sizes, seed):
    generator = torch.Generator().manual_seed(seed)
    tensors = [torch.randn(size, generator=generator) for size in sizes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "FEW_SIZES", few)
        patch.setattr(packing, "LEAST_MATRIX", least)
        packed = Packing(tuple(sizes))
    values = packed.pack(tensors)
    assert packed.norms(values) == pytest.approx([each.double().norm().item() for each in tensors])
    assert packed.counts(values.numpy() > 0) == [int((each > 0).sum()) for each in tensors]


@pytest.mark.parametrize("sizes", [(2,), (2, 2), (2, 3, 2)])
def test_a_pack_is_a_copy(sizes):
    tensors = [torch.ones(size) for size in sizes]
    values = Packing(sizes).pack(tensors)
    tensors[0].fill_(5)
    assert values.tolist() == [1.0] * sum(sizes)


@pytest.mark.parametrize("few", [0, 9])
def test_values_that_are_not_finite_or_whose_squares_are_come_through_in_silence(monkeypatch, few):
    monkeypatch.setattr(packing, "FEW_SIZES", few)
    tensors = [torch.tensor([3e38, 4e38 / 2]), torch.tensor([math.nan]), torch.tensor([math.inf, 1.0, 1.0])]
    packed = Packing((2, 1, 3))
    with np.errstate(all="raise"):
        large, broken, infinite = packed.norms(packed.pack(tensors))
    assert large == pytest.approx(math.hypot(3e38, 2e38))
    assert math.isnan(broken)
    assert infinite == math.inf


def test_a_transposed_tensor_is_packed_as_it_reads():
    block = torch.arange(6.0).view(2, 3).t()
    assert Packing((6,)).pack([block]).tolist() == block.reshape(-1).tolist()
