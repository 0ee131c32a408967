"""This file tests whether numbers are there to be read."""

from unittest import mock

import pytest
import torch
from torch import nn

from torchmagic.tensors.describe import describe
from torchmagic.tensors.moments import moments_of
from torchmagic.tensors.presence import has_numbers, is_at_hand, is_freed, is_stored, is_transformed, plain
from torchmagic.tensors.reduce import norms
from torchmagic.tensors.sources import dense_values


class Doubling(torch.Tensor):
    """Gives an operator a meaning of its own."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        found = super().__torch_function__(function, types, args, kwargs or {})
        return 2 * found if function is torch.Tensor.item else found


class Wrapping(torch.Tensor):
    """Has no memory of its own."""

    @staticmethod
    def __new__(cls):
        return torch.Tensor._make_wrapper_subclass(cls, (2,))

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise NotImplementedError


@pytest.mark.parametrize("tensor", [torch.ones(2), nn.Parameter(torch.ones(2)), torch.ones(2).as_subclass(Doubling)])
def test_numbers_in_memory_are_read_as_those_of_a_plain_tensor(tensor):
    found = plain(tensor)
    assert type(found) is torch.Tensor
    assert not found.requires_grad
    assert found.data_ptr() == tensor.data_ptr()
    assert found[0].item() == 1.0


def test_what_wraps_another_tensor_may_have_numbers_that_are_not_in_its_memory():
    assert has_numbers(Wrapping())
    assert not is_stored(Wrapping())
    assert plain(Wrapping()) is None


def test_what_only_says_that_it_is_a_tensor_has_none():
    fake = mock.Mock(spec=torch.Tensor, is_meta=False, __torch_dispatch__=torch.Tensor.__torch_dispatch__)
    assert isinstance(fake, torch.Tensor)
    assert not has_numbers(fake)
    assert plain(fake) is None


def test_on_the_meta_device_there_are_none():
    assert not has_numbers(torch.empty(2, device="meta"))


@pytest.mark.parametrize("transform", [torch.vmap, torch.func.grad])
def test_within_a_transform_there_are_none_not_even_those_of_tensors_from_outside(transform):
    outside, seen = torch.ones(2), []

    def look(x):
        seen.append((is_transformed(), has_numbers(x), has_numbers(outside)))
        return x.sum()

    transform(look)(torch.ones(3))
    assert seen == [(True, False, False)]
    assert has_numbers(outside)


def test_in_a_fake_mode_there_are_none_and_what_it_made_never_has_some():
    outside = torch.ones(2)
    with torch._subclasses.FakeTensorMode():
        made = torch.ones(2)
        assert not has_numbers(made)
        assert not has_numbers(outside)
    assert not has_numbers(made)
    assert has_numbers(outside)


def freed(tensor):
    """Give back the memory of a tensor, as offloading does."""
    tensor.untyped_storage().resize_(0)
    return tensor


def test_a_tensor_whose_memory_was_freed_has_no_numbers():
    weight = freed(nn.Linear(4, 3).weight)
    assert is_freed(weight)
    assert not has_numbers(weight)
    assert plain(weight) is None
    assert not is_freed(torch.empty(0, 3))
    assert not is_freed(torch.empty(3, device="meta"))
    assert not is_freed(torch.ones(2, 2).to_sparse())


def test_of_freed_memory_nothing_is_read():
    weight = freed(nn.Linear(4, 3).weight)
    assert norms([weight, torch.ones(4)]) == [0.0, 2.0]
    assert [found.num_values for found in moments_of([weight, torch.ones(4)])] == [0, 4]
    record = describe(weight)
    assert record.statistics is None
    assert record.notes == ("a tensor whose memory was freed has no values",)
    with pytest.raises(ValueError, match="a tensor whose memory was freed has no values to compare"):
        dense_values(weight)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_only_what_is_whole_and_on_the_host_is_at_hand():
    freed, parts = torch.ones(4), [torch.ones(2), torch.ones(3)]
    freed.untyped_storage().resize_(0)
    assert is_at_hand(torch.ones(2, 3).t())
    kinds = [
        torch.nn.Parameter(torch.ones(2)),
        torch.ones(0),
        torch.ones(2, device="meta"),
        torch.eye(2).to_sparse(),
        freed,
    ]
    assert not any(map(is_at_hand, [*kinds, torch.nested.nested_tensor(parts)]))


def test_nothing_is_at_hand_within_a_transform():
    outside, seen = torch.ones(3), []

    def probe(each):
        seen.append((is_at_hand(each), is_at_hand(outside)))
        return each

    torch.func.vmap(probe)(torch.ones(2, 3))
    assert seen == [(False, False)]
    assert is_at_hand(outside)
