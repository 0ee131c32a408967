"""This file is the matplotlib skin; it runs in a process of its own where the state of matplotlib matters."""

import math
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.image import imread

import torchmagic.jupyter.panel
from torchmagic.views.page import Bars, Line, Page, Plot
from torchmagic.views.skins import matplotlib as skin
from torchmagic.views.skins.matplotlib import as_figure, as_png


def drawn(block):
    return imread(BytesIO(as_png(block, dpi=72)))


@pytest.mark.parametrize("kind", ["page", "hostile_page", "empty_page"])
def test_every_plot_becomes_a_png_without_a_warning(kind, request):
    blocks = [block for block in request.getfixturevalue(kind).blocks if isinstance(block, Plot | Bars)]
    for block in blocks:
        assert as_png(block, dpi=72).startswith(b"\x89PNG")


def test_the_ground_is_transparent(page):
    for block in page.blocks:
        if isinstance(block, Plot | Bars):
            image = drawn(block)
            assert image[0, 0, 3] == 0
            assert np.mean(image[..., 3] == 0) > (0.3 if isinstance(block, Plot) and block.stacked else 0.4)


def test_what_is_drawn_can_be_seen_on_white_and_on_a_dark_notebook():
    for colour in (*skin._COLOURS, skin._GREY, skin._NOT_FINITE):
        assert contrast(colour, "#ffffff") >= 3, colour
        assert contrast(colour, "#111111") >= 3, colour


def test_the_panel_uses_the_same_colours():
    style = (Path(torchmagic.jupyter.panel.__file__).parent / "panel.css").read_text()
    for index, colour in enumerate(skin._COLOURS):
        assert f".tm-c{index} {{ --tm-tone: {colour}; }}" in style


def test_a_log_axis_is_drawn_when_asked_for_and_possible():
    rising = Line(name="norm", steps=[0, 1, 2], values=[1.0, 10.0, 100.0])
    negative = Line(name="norm", steps=[0, 1, 2], values=[-1.0, -10.0, 0.0])
    page = Page(
        title="", blocks=[Plot(title="a", lines=[rising], log=True), Plot(title="b", lines=[negative], log=True)]
    )
    assert [axes.get_yscale() for axes in as_figure(page).axes] == ["log", "linear"]


def test_parts_of_a_whole_stand_on_each_other():
    lines = [Line(name=name, steps=[0, 1], values=[1.0, value]) for name, value in (("a", 2.0), ("_b", math.nan))]
    axes = as_figure(Page(title="", blocks=[Plot(title="m", lines=lines, stacked=True)])).axes[0]
    first, second = (area.get_paths()[0].vertices for area in axes.collections)
    assert (first[:, 1].max(), second[:, 1].max()) == (2.0, 2.0)
    assert axes.get_ylim()[0] == 0
    assert len(axes.get_legend().get_texts()) == 2


def test_a_picture_is_small_enough_to_be_kept_in_a_notebook():
    steps = list(range(400))
    noise = Line(name="loss", steps=steps, values=[math.sin(step * step) for step in steps])
    assert len(as_png(Plot(title="loss", lines=[noise]))) < 25_000


def test_a_single_point_is_visible():
    one = Plot(title="a", lines=[Line(name="x", steps=[3.0], values=[1.0])])
    none = Plot(title="a", lines=[Line(name="x", steps=[], values=[])])
    assert np.sum(drawn(one)[..., 3] > 0.5) > 20
    assert as_png(one) != as_png(none)


def test_the_users_settings_stay_and_do_not_break_a_picture(page):
    with mpl.rc_context({"text.usetex": True, "font.family": "No Such Font", "figure.facecolor": "red"}):
        before = dict(mpl.rcParams)
        image = drawn(page.blocks[2])
        assert dict(mpl.rcParams) == before
    assert image[0, 0, 3] == 0


def test_pyplot_and_the_backend_are_left_alone():
    program = """
import sys
import torchmagic.views.skins.matplotlib as skin
assert "matplotlib" not in sys.modules, "importing the skin must be cheap"
import matplotlib
from torchmagic.views.page import Line, Page, Plot
before = dict(dict.items(matplotlib.rcParams))  # reading "backend" in the usual way would load pyplot
block = Plot(title="Loss", lines=[Line(name="$_{", steps=[0, 1], values=[1.0, 2.0])])
skin.as_png(block)
skin.as_figure(Page(title="", blocks=[block]))
assert "matplotlib.pyplot" not in sys.modules, "pyplot is the user's"
assert dict(dict.items(matplotlib.rcParams)) == before
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
