"""This file is small pictures: PNG bytes that a reader of PNG reads back, and rows of characters."""

import io

import numpy as np
import pytest
from matplotlib.image import imread

from torchmagic.records.tensor_picture import GAP, NONFINITE, NUM_LEVELS, Picture
from torchmagic.views.page import Image
from torchmagic.views.skins.pictures import legend_png, picture_png, picture_rows, picture_sentence, shown_size


def read(png):
    return np.round(imread(io.BytesIO(png), format="png") * 255).astype(int)


def levels(*rows, **more):
    return Picture(kind="levels", width=len(rows[0]), height=len(rows), pixels=b"".join(map(bytes, rows)), **more)


@pytest.mark.parametrize(("kind", "channels"), [("rgb", 3), ("rgba", 4)])
def test_colours_come_back_as_they_were(kind, channels):
    pixels = np.random.default_rng(0).integers(0, 256, (3, 5, channels), dtype=np.uint8)
    picture = Picture(kind=kind, width=5, height=3, pixels=pixels.tobytes())
    assert (read(picture_png(picture)) == pixels).all()


def test_levels_are_coloured_gaps_clear_and_broken_ones_violet():
    seen = read(picture_png(levels([0, NUM_LEVELS - 1], [GAP, NONFINITE], palette="grey")))
    assert seen.tolist() == [[[0, 0, 0, 255], [255, 255, 255, 255]], [[0, 0, 0, 0], [160, 0, 255, 255]]]


def test_the_middle_of_a_diverging_scale_is_pale():
    scale = read(legend_png(levels([0], palette="diverging")))[0]
    assert scale[0].tolist() == [33, 102, 172, 255]
    assert scale[-1].tolist() == [178, 24, 43, 255]
    assert min(scale[len(scale) // 2][:3]) >= 238


def test_a_picture_is_enlarged_by_whole_factors():
    assert shown_size(levels([0] * 100)) == (500, 5)
    assert shown_size(levels([0, 0])) == (48, 24)
    assert shown_size(levels([0] * 500)) == (500, 1)


def test_rows_of_characters_go_from_blank_to_full():
    assert list(picture_rows(levels([0, 60, 120, 180, 253, NONFINITE]))) == ["  ░░▒▒▓▓██!!"]
    assert len(next(picture_rows(levels(list(range(200)))))) == 48


def test_the_words_say_what_the_ends_are():
    image = Image(title="x", picture=levels([0, NONFINITE], low=-1.0, high=3.5, told="the map"))
    assert picture_sentence(image) == "the map, dark to bright from -1 to 3.5; not finite is violet"
