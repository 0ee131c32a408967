"""This file is how the boxes of a flame are laid out, and what each skin says of them."""

import math
import re

import pytest

from torchmagic.views.page import Box, Flame, Page
from torchmagic.views.skins.flame_rows import MOST_LEVELS, flame_rows, placed
from torchmagic.views.skins.html import as_html
from torchmagic.views.skins.matplotlib import as_figure, as_png
from torchmagic.views.skins.wire import as_wire

LEAVES = [Box(name="a", amount=1.0), Box(name="tiny", amount=0.001), Box(name="b", amount=2.0)]
FLAME = Flame(title="Time", boxes=[Box(name="net", amount=4.0, parts=LEAVES, told="Net")])


def deep(levels):
    box = Box(name="leaf", amount=1.0)
    for level in range(levels):
        box = Box(name=f"level {level}", amount=1.0, parts=[box])
    return Flame(title="Time", boxes=[box])


def test_boxes_stand_where_their_neighbours_leave_off():
    (net,) = placed(FLAME)
    a, b = net.parts
    assert (net.share, net.width, net.left) == (1.0, 1.0, 0.0)
    assert net.own == pytest.approx(0.24975)
    assert (a.left, a.width) == (0.0, 0.25)
    assert (b.left, b.width) == pytest.approx((0.25025, 0.5))
    assert b.gap == pytest.approx(0.00025)


def test_parts_that_amount_to_more_than_the_whole_stay_inside_it():
    (net,) = placed(Flame(title="", boxes=[Box(name="net", amount=1.0, parts=[Box(name="a", amount=1.25)] * 2)]))
    assert sum(part.width for part in net.parts) == pytest.approx(1.0)
    assert net.own == 0.0


@pytest.mark.parametrize("amount", [0.0, -1.0, math.nan, math.inf])
def test_what_has_no_size_is_left_out(amount):
    assert placed(Flame(title="", boxes=[Box(name="a", amount=amount)])) == ()
    assert [item.box.name for item in placed(Flame(title="", boxes=[Box(name="a", amount=amount), LEAVES[0]]))] == ["a"]


def test_very_deep_boxes_end_where_nobody_could_read_them():
    item = placed(deep(400))[0]
    levels = 1
    while item.parts:
        item, levels = item.parts[0], levels + 1
    assert levels == MOST_LEVELS


def test_rows_show_the_widest_boxes_below_what_they_are_parts_of():
    assert flame_rows(FLAME, width=60, num_rows=8) == [
        "net  4 s   100%  ████████████████████████████████",
        " a   1 s    25%  ████████",
        " b   2 s    50%          ████████████████",
    ]
    assert flame_rows(FLAME, width=60, num_rows=1)[1:] == ["… 2 smaller ones"]


def test_no_row_is_wider_than_asked():
    wide = Flame(title="", boxes=[Box(name="x" * 200, amount=1.0)])
    assert max(map(len, flame_rows(wide, width=40, num_rows=8))) <= 48


def test_html_is_a_list_that_reads_without_style_and_is_as_wide_as_its_amounts():
    html = re.sub(r"<style>.*?</style>", "", as_html(Page(title="", blocks=[FLAME])), flags=re.DOTALL)
    assert re.findall(r'<li style="([^"]*)"', html) == [
        "width:100.00%",
        "width:25.00%",
        "width:50.00%;margin-left:0.03%",
    ]
    assert 'title="net: 4 s, 100%, Net"' in html
    assert html.count("<ul>") == html.count("</ul>") == 2


def test_the_wire_holds_all_boxes():
    (block,) = as_wire(Page(title="", blocks=[FLAME]))["blocks"]
    assert (block["kind"], block["unit"], block["boxes"][0]["told"]) == ("flame", "s", "Net")
    assert [part["name"] for part in block["boxes"][0]["parts"]] == ["a", "tiny", "b"]


def test_matplotlib_draws_a_bar_for_each_box():
    axes = as_figure(Page(title="", blocks=[FLAME])).axes[0]
    assert [bar.get_x() for bar in axes.patches] == pytest.approx([0, 0, 0.25025])
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([1, 0.25, 0.5])
    assert [text.get_text() for text in axes.texts] == ["net  4 s", "a  1 s", "b  2 s"]
    assert as_png(deep(3)).startswith(b"\x89PNG")
    assert as_png(Flame(title="", boxes=[])).startswith(b"\x89PNG")
