"""This file is the matplotlib skin; it runs in a process of its own where the state of matplotlib matters."""

import math
import subprocess
import sys
import warnings
from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.image import imread

from torchmagic.views.page import Bars, Line, Page, Plot
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


def test_lines_differ_by_their_dashes_and_areas_by_the_edge_between_them():
    lines = [Line(name=str(place), steps=[0, 1], values=[1.0, 2.0 + place]) for place in range(4)]
    plots = [Plot(title="m", lines=lines, stacked=stacked) for stacked in (False, True)]
    curves, areas = as_figure(Page(title="", blocks=plots)).axes
    assert len({(line.get_color(), str(line._dash_pattern)) for line in curves.lines}) == 4
    assert len({str(line._dash_pattern) for line in curves.lines}) == 4
    assert all(area.get_linewidth()[0] > 0 for area in areas.collections)
    assert {tuple(area.get_edgecolor()[0]) for area in areas.collections} == {(1.0, 1.0, 1.0, 1.0)}


def test_an_area_that_lasts_for_a_pixel_is_not_hidden_by_an_edge():
    steps = list(range(400))
    spikes = [float(step % 40 == 7) for step in steps]
    lines = [Line(name=name, steps=steps, values=spikes) for name in ("forward", "backward")]
    figure = as_figure(Page(title="", blocks=[Plot(title="memory", lines=lines, stacked=True)]))
    for area in figure.axes[0].collections:
        assert (area.get_edgecolor()[0] == area.get_facecolor()[0]).all()


def test_a_log_axis_is_drawn_when_asked_for_and_possible():
    rising = Line(name="norm", steps=[0, 1, 2], values=[1.0, 10.0, 100.0])
    negative = Line(name="norm", steps=[0, 1, 2], values=[-1.0, -10.0, 0.0])
    page = Page(
        title="", blocks=[Plot(title="a", lines=[rising], log=True), Plot(title="b", lines=[negative], log=True)]
    )
    assert [axes.get_yscale() for axes in as_figure(page).axes] == ["log", "linear"]


def test_a_log_axis_over_many_decades_has_a_mark_for_each_and_none_between():
    line = Line(name="x", steps=range(7), values=[10.0**-place for place in range(7)])
    axes = as_figure(Page(title="", blocks=[Plot(title="a", lines=[line], log=True)])).axes[0]
    assert len(axes.get_yticks()) >= 3
    assert len(axes.get_yticks(minor=True)) == 0


GREATEST = sys.float_info.max


@pytest.mark.parametrize("values", [[1e308, -1e308], [GREATEST] * 3, [GREATEST, 0.0, -GREATEST], [5e-324, GREATEST]])
@pytest.mark.parametrize("log", [False, True])
def test_the_greatest_numbers_are_drawn_and_written_as_they_are(values, log):
    plot = Plot(title="a", lines=[Line(name="x", steps=range(len(values)), values=values)], log=log)
    assert as_png(plot, dpi=72).startswith(b"\x89PNG")
    labels = [text.get_text() for text in as_figure(Page(title="", blocks=[plot])).axes[0].get_yticklabels()]
    assert any(label.endswith(("e307", "e308")) for label in labels) or log


@pytest.mark.parametrize(("edges", "by_ratio"), [([-GREATEST, 0.0, GREATEST], False), ([5e-324, 1.0, GREATEST], True)])
def test_a_histogram_reaches_from_one_end_of_all_numbers_to_the_other(edges, by_ratio):
    bars = Bars(title="a", edges=edges, counts=[1, 2], by_ratio=by_ratio)
    assert np.mean(drawn(bars)[..., 3] > 0.5) > 0.1


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


def test_a_picture_is_what_matplotlib_itself_saves(page):
    saved = BytesIO()
    as_figure(Page(title="", blocks=[page.blocks[2]])).savefig(saved, format="png", dpi=72)
    saved.seek(0)
    whole, few = imread(saved), drawn(page.blocks[2])
    assert whole.shape == few.shape
    assert np.abs(whole[..., 3] - few[..., 3]).max() < 0.1  # in fewer colours


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


def test_a_picture_does_not_make_python_forget_what_it_has_warned_of():
    block = Plot(title="loss", lines=[Line(name="train", steps=[0, 1], values=[1.0, 2.0])])
    registry = {}
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(2):
            warnings.warn_explicit("once", UserWarning, "library.py", 1, registry=registry)
            as_png(block)
    assert len(shown) == 1


def test_the_first_picture_of_a_process_does_not_either():
    program = """
import warnings
from torchmagic.views.page import Line, Plot
from torchmagic.views.skins.matplotlib import as_png
registry = {}
warnings.simplefilter("default")
for _ in range(2):
    warnings.warn_explicit("once", UserWarning, "library.py", 1, registry=registry)
    as_png(Plot(title="Loss", lines=[Line(name="train", steps=[0, 1], values=[1.0, 2.0])]))
"""
    shown = subprocess.run([sys.executable, "-c", program], check=True, stderr=subprocess.PIPE, text=True).stderr
    assert shown.count("once") == 1
