"""This file is a tensor's picture: which one is chosen, and whether its pixels are the values."""

import math

import numpy as np
import pytest
import torch

from torchmagic.records.tensor_picture import GAP, NONFINITE, NUM_LEVELS
from torchmagic.tensors.picture import MOST_POINTS, MOST_SIDE, picture_of


def pixels(picture):
    channels = {"levels": 1, "rgb": 3, "rgba": 4}[picture.kind]
    return np.frombuffer(picture.pixels, np.uint8).reshape(picture.height, picture.width, channels)


@pytest.mark.parametrize(
    ("shape", "dtype", "kind", "palette"),
    [
        ((50,), torch.float32, "line", "sequential"),
        ((4, 6), torch.float32, "levels", "sequential"),
        ((3, 3, 7, 7), torch.float32, "levels", "sequential"),
        ((3, 32, 32), torch.float32, "rgb", "sequential"),
        ((2, 3, 32, 32), torch.float32, "rgba", "sequential"),
        ((2, 1, 28, 28), torch.float32, "levels", "grey"),
        ((32, 32, 3), torch.uint8, "rgb", "sequential"),
        ((32, 32, 3), torch.float32, "levels", "sequential"),
        ((5, 6, 7, 8, 9), torch.float32, "levels", "sequential"),
    ],
)
def test_the_shape_says_what_is_drawn(shape, dtype, kind, palette):
    picture = picture_of(torch.ones(shape, device="cpu").to(dtype).cumsum(0).to(dtype))
    assert (picture.kind, picture.palette) == (kind, palette)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1), (0,), (3, 0)])
def test_a_single_value_and_none_have_no_picture(shape):
    assert picture_of(torch.ones(shape, device="cpu")) is None


def test_levels_are_the_values_and_broken_ones_stand_apart():
    values = torch.tensor([[-2.0, 0.0, 1.0], [math.nan, math.inf, 2.0]], device="cpu")
    picture = picture_of(values)
    assert (picture.low, picture.high, picture.palette) == (-2.0, 2.0, "diverging")
    assert pixels(picture)[..., 0].tolist() == [[0, 126, 190], [NONFINITE, NONFINITE, NUM_LEVELS - 1]]


@pytest.mark.parametrize("values", [(1.7e308, -1.7e308, 1e-310), (math.inf, -math.inf, math.nan), (1e300, 1e-308, 0.0)])
def test_numpy_says_nothing_of_a_picture_of_extreme_values(values):
    with np.errstate(all="raise"):
        assert picture_of(torch.tensor(values, dtype=torch.float64, device="cpu").repeat(4, 1)) is not None


def test_a_picture_shows_colours_as_they_are():
    values = torch.rand(3, 20, 30, generator=torch.Generator("cpu").manual_seed(0), device="cpu")
    expected = (values.permute(1, 2, 0) * 255).round().to(torch.uint8).numpy()
    assert (pixels(picture_of(values)) == expected).all()
    last = picture_of(values.permute(1, 2, 0), dims=("H", "W", "C"))
    assert (pixels(last) == expected).all()


def test_tiles_stand_in_order_with_gaps_between():
    values = torch.arange(6.0, device="cpu").reshape(6, 1, 1).expand(6, 2, 3)
    seen = pixels(picture_of(values))[..., 0]
    assert seen.shape == (5, 15)
    assert seen[0].tolist() == [0, 0, 0, GAP, 51, 51, 51, GAP, 101, 101, 101, GAP, 152, 152, 152]
    assert (seen[2] == GAP).all()
    assert seen[3, 4] == NUM_LEVELS - 1
    assert (seen[3:, 8:] == GAP).all()


def test_large_tensors_are_thinned_and_the_picture_says_so():
    picture = picture_of(torch.zeros(1000, 300, device="cpu"))
    assert max(picture.width, picture.height) <= MOST_SIDE
    assert picture.told == "the map, every 8th row, every 3rd column"
    line = picture_of(torch.arange(10_000.0, device="cpu"))
    assert len(line.values) <= MOST_POINTS
    assert line.values[1] == line.places[1] == 40


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.complex64, torch.bfloat16, torch.float8_e5m2])
def test_every_dtype_is_drawn(dtype):
    values = torch.tensor([[0.0, 1.0], [1.0, 0.0]], device="cpu").to(dtype)
    assert pixels(picture_of(values))[..., 0].tolist() == [[0, 253], [253, 0]]
