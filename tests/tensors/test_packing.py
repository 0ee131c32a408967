"""This file is the proof that tensors packed into one array are measured one by one, in the order given."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchmagic.tensors.packing import Packing, packable_sizes


@settings(max_examples=40, deadline=None)
@given(sizes=st.lists(st.integers(1, 7), min_size=1, max_size=12), seed=st.integers(0, 99))
def test_norms_and_numbers_are_those_of_each_tensor(sizes, seed):
    generator = torch.Generator().manual_seed(seed)
    tensors = [torch.randn(size, generator=generator) for size in sizes]
    packed = Packing(tuple(sizes))
    values = packed.pack(tensors)
    assert packed.norms(values).tolist() == pytest.approx([each.double().norm().item() for each in tensors])
    assert packed.numbers(values > 0).tolist() == [int((each > 0).sum()) for each in tensors]


@pytest.mark.parametrize("sizes", [(2,), (2, 2), (2, 3, 2)])
def test_a_pack_is_a_copy(sizes):
    tensors = [torch.ones(size) for size in sizes]
    values = Packing(sizes).pack(tensors)
    tensors[0].fill_(5)
    assert values.tolist() == [1.0] * sum(sizes)


def test_values_that_are_not_finite_or_whose_squares_are_come_through_in_silence():
    tensors = [torch.tensor([3e38, 4e38 / 2]), torch.tensor([math.nan]), torch.tensor([math.inf, 1.0, 1.0])]
    packed = Packing((2, 1, 3))
    with np.errstate(all="raise"):
        large, broken, infinite = packed.norms(packed.pack(tensors))
    assert large == pytest.approx(math.hypot(3e38, 2e38))
    assert math.isnan(broken)
    assert infinite == math.inf


def test_squares_that_vanish_in_single_precision_are_counted():
    packed = Packing((2, 1, 1))
    small, none, one = packed.norms(packed.pack([torch.tensor([3e-30, 4e-30]), torch.zeros(1), torch.ones(1)]))
    assert (small, none, one) == (pytest.approx(5e-30, rel=1e-6, abs=0), 0.0, 1.0)


def test_a_transposed_tensor_is_packed_as_it_reads():
    block = torch.arange(6.0).view(2, 3).t()
    assert Packing((6,)).pack([block]).tolist() == block.reshape(-1).tolist()


def test_squares_beyond_single_precision_do_not_overflow():
    packed = Packing((2, 1))
    large, one = packed.norms(packed.pack([torch.tensor([3e30, 4e30]), torch.ones(1)]))
    assert (large, one) == (pytest.approx(5e30), 1.0)


def test_what_cannot_lie_in_one_array_is_not_packable():
    one, freed = torch.ones(2, 3), torch.ones(4)
    freed.untyped_storage().resize_(0)
    assert packable_sizes([one, torch.nn.Parameter(torch.ones(4))]) == (6, 4)
    kinds = [
        one.double(),
        one.to_sparse(),
        torch.ones(0),
        one.to("meta"),
        freed,
        one.as_subclass(type("Own", (torch.Tensor,), {})),
    ]
    assert [packable_sizes([one, each]) for each in kinds] == [()] * len(kinds)
    assert packable_sizes([one.half()]) == packable_sizes([]) == ()


def test_tensors_that_shrank_or_were_freed_are_no_longer_taken():
    tensors = [torch.ones(2, 3), torch.ones(4)]
    packed = Packing((6, 4))
    assert packed.takes(tensors)
    assert not packed.takes([tensors[0], torch.ones(3)])
    tensors[1].untyped_storage().resize_(0)
    assert not packed.takes(tensors)
