"""This file is the proof that changes of tensors, and what precision swallowed of them, are found."""

import math
from typing import NamedTuple

import numpy as np
import pytest
import torch

from torchmagic.tensors import changes
from torchmagic.tensors.changes import Copy, sample


class Told(NamedTuple):
    length: float
    moved: float
    swallowed: float
    ratio: float


def moved(tensors, gradients, lr):
    copy = Copy(tensors)
    for tensor, gradient in zip(tensors, gradients, strict=True):
        tensor.sub_(gradient, alpha=lr)
    return told(copy.compare(tensors, gradients))


def told(changes):
    columns = changes.lengths.tolist(), changes.moves.tolist(), changes.swallowed.tolist(), changes.ratios()
    return [Told(*each) for each in zip(*columns, strict=True)]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_lengths_and_shares_are_those_of_single_elements(dtype):
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(7, 9, generator=generator, device="cpu").to(dtype), torch.ones(5, device="cpu").to(dtype)]
    gradients = [torch.randn(7, 9, generator=generator, device="cpu").to(dtype), torch.zeros(5, device="cpu").to(dtype)]
    gradients[0][0, :4] = 0
    before = [tensor.clone() for tensor in tensors]
    first, second = moved(tensors, gradients, 1e-3)
    asked = gradients[0] != 0
    stuck = (asked & (tensors[0] == before[0])).sum() / asked.sum()
    delta = (tensors[0] - before[0]).double().norm()
    assert first.swallowed == pytest.approx(stuck.item())
    assert first.ratio == pytest.approx((delta / before[0].double().norm()).item(), rel=1e-5)
    assert (second.ratio, math.isnan(second.swallowed)) == (0.0, True)


def test_weights_of_zero_that_stay_have_a_ratio_of_zero():
    assert moved([torch.zeros(3, device="cpu")], [torch.zeros(3, device="cpu")], 0.1)[0].ratio == 0.0


def test_weights_of_zero_that_move_have_an_infinite_ratio():
    assert moved([torch.zeros(3, device="cpu")], [torch.ones(3, device="cpu")], 0.1)[0].ratio == math.inf


@pytest.mark.parametrize("num", [1, 3, 40])
@pytest.mark.parametrize("pushed", [True, False])
@pytest.mark.parametrize("values", [(math.nan, 1.0), (math.inf, -math.inf), (1e200, -1e200), (1e-200, 0.0)])
def test_numpy_says_nothing_of_values_that_are_not_finite_or_whose_squares_are_out_of_range(num, pushed, values):
    tensors = [torch.tensor(values, dtype=torch.float64, device="cpu") for _ in range(num)]
    after = [-each for each in tensors]
    with np.errstate(all="raise"):
        found = Copy(tensors).compare(after, after if pushed else None)
        found = told(found)
    for each in found:
        assert (math.isnan(each.length), math.isnan(each.moved)) == (math.isnan(values[0]),) * 2
        assert math.isnan(values[0]) or each.length <= each.moved


def test_small_and_large_sets_agree(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    given = [torch.randn(30, 20, generator=generator, device="cpu") * 100 for _ in range(3)]
    pushes = [torch.randn(30, 20, generator=generator, device="cpu") for _ in range(3)]
    packed = moved([each.clone() for each in given], pushes, 1e-5)
    monkeypatch.setattr(changes, "SMALL", 0)
    apart = moved([each.clone() for each in given], pushes, 1e-5)
    for one, other in zip(packed, apart, strict=True):
        assert tuple(one) == pytest.approx(tuple(other), rel=1e-5)
    assert 0 < packed[0].swallowed < 1


@pytest.mark.parametrize("shape", [(5000,), (64, 80), (3, 7, 11, 13), (1, 4000)])
@pytest.mark.parametrize("limit", [10, 100, 1000])
def test_a_sample_is_the_same_elements_whatever_the_strides(shape, limit):
    values = torch.arange(math.prod(shape), dtype=torch.float32, device="cpu").reshape(shape)
    turned = values.transpose(0, -1).contiguous().transpose(0, -1)
    assert torch.equal(sample(values, limit), sample(turned, limit))
    assert sample(values, limit).numel() <= limit + math.prod(shape) // max(shape)


def test_a_parameter_that_is_too_large_is_sampled(monkeypatch):
    monkeypatch.setattr(changes, "SAMPLE_SIZE", 100)
    weight, gradient = torch.ones(1000, 30, device="cpu"), torch.full((1000, 30), 1e-3, device="cpu")
    copy = Copy([weight])
    weight.sub_(gradient)
    (found,) = told(copy.compare([weight], [gradient]))
    assert sum(each.numel() for each in copy._values) <= 130
    assert (found.ratio, found.swallowed) == (pytest.approx(1e-3, rel=1e-4), 0.0)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_without_a_dense_gradient_nothing_is_said_of_what_was_swallowed():
    weights = [torch.ones(3, 3, device="cpu"), torch.ones(2, device="cpu")]
    found = Copy(weights).compare(weights, [torch.eye(3, device="cpu").to_sparse(), None])
    assert np.isnan(found.swallowed).tolist() == [True, True]


@pytest.mark.parametrize("small", [0, 1 << 18])
def test_tensors_that_are_of_another_shape_or_gone_are_not_compared(monkeypatch, small):
    monkeypatch.setattr(changes, "SMALL", small)
    weights = [torch.ones(3, 3, device="cpu"), torch.ones(2, device="cpu")]
    copy = Copy(weights)
    assert copy.compare([weights[0], torch.ones(4, device="cpu")]) is None
    weights[1].untyped_storage().resize_(0)
    assert copy.compare(weights) is None
