"""This file tests the checksum: equal bits give equal digits, and anything else gives others."""

import pytest
import torch

from torchmagic.tensors.checksum import WIDTH, _bytes_of, _sums, checksums, digits, is_shard, together

LARGE = torch.arange(3 * WIDTH + 5, dtype=torch.float32)


def one(tensor):
    return checksums([tensor])[0]


def on_a_device(tensor):
    """Return the digits by the way that a device's tensors take; it is the same on the CPU."""
    return digits(_bytes_of(_sums(tensor)))


def changed(place):
    other = LARGE.clone()
    other.view(torch.int32)[place] ^= 1  # the least bit there is
    return other


@pytest.mark.parametrize("way", [one, on_a_device])
def test_one_bit_anywhere_and_two_values_in_each_others_place_make_other_digits(way):
    assert way(LARGE) == way(LARGE.clone())
    swapped = LARGE.clone()
    swapped[[0, WIDTH]] = swapped[[WIDTH, 0]]  # in one column of the table that a device sums up
    along = LARGE.clone()
    along[[0, 1]] = along[[1, 0]]  # in one row
    others = [changed(place) for place in (0, WIDTH - 1, WIDTH, len(LARGE) - 1)]
    assert len({way(each) for each in (LARGE, swapped, along, *others)}) == 7


@pytest.mark.parametrize("way", [one, on_a_device])
def test_zero_and_minus_zero_differ_and_nan_equals_itself(way):
    assert way(torch.zeros(8)) != way(-torch.zeros(8))
    assert way(torch.full((8,), float("nan"))) == way(torch.full((8,), float("nan")))


def test_how_a_tensor_lies_does_not_matter():
    image = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    assert one(image) == one(image.to(memory_format=torch.channels_last))
    assert one(image) != one(image.transpose(2, 3))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64, torch.int64, torch.bool, torch.complex64])
def test_every_kind_of_number_is_read(dtype):
    values = torch.ones(7).to(dtype)
    assert one(values) == one(values.clone())
    assert one(values) != one(torch.zeros(7).to(dtype))
    assert on_a_device(values) != on_a_device(torch.zeros(7).to(dtype))


def test_what_cannot_be_read_is_empty_and_keeps_its_place():
    assert checksums([torch.ones(2, device="meta"), torch.ones(2)]) == ["", one(torch.ones(2))]
    assert one(torch.empty(0)) == digits(b"")
    assert one(torch.tensor(1.0)) == one(torch.ones(1))


def test_several_checksums_are_told_together_in_their_order():
    assert together(["a", "b"]) != together(["b", "a"])
    assert not is_shard(torch.ones(2))
