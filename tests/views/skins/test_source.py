"""This file is how lines of source with costs are drawn."""

import re

from torchmagic.views.page import Page, Source, SourceLine
from torchmagic.views.skins.html import as_html
from torchmagic.views.skins.source_rows import bar, kept_lines, source_rows
from torchmagic.views.skins.wire import as_wire


def cost(number, heat, *cells):
    return SourceLine(number=number, text=f"line_{number}()", heat=heat, cells=cells or (f"{heat:.2f}",))


def test_a_bar_is_drawn_in_eighths_and_what_is_warm_at_all_shows():
    assert [bar(heat, size=2) for heat in (0.0, 0.001, 0.5, 0.5625, 1.0, 7.0)] == ["  ", "▏ ", "█ ", "█▏", "██", "██"]
    assert bar(float("nan"), size=2) == "  "


def test_columns_at_the_right_go_before_the_source_is_cut_short():
    source = Source(
        title="", columns=["own ms", "calls"], lines=[SourceLine(number=7, text="x" * 60, heat=1, cells=["1", "2"])]
    )
    assert source_rows(source, width=80, num_lines=9)[1] == f"   7  ████████       1      2  {'x' * 48}…"
    narrow = source_rows(source, width=60, num_lines=9)
    assert narrow[0] == "line            own ms  source"
    assert narrow[-1] == "… not shown: calls"
    assert all(len(row) <= 60 for row in narrow)


def test_of_many_lines_the_hottest_stay_with_those_beside_them():
    lines = [SourceLine(number=n, text="") for n in range(1, 101)]
    lines[49], lines[79] = cost(50, 1.0), cost(80, 0.1)
    assert [line.number for line in kept_lines(lines, 3)] == [None, 49, 50, 51, None]
    assert [line.number for line in kept_lines(lines, 6)] == [None, 49, 50, 51, None, 79, 80, 81, None]
    assert kept_lines(lines, 96) == lines


def test_tabs_are_spaces_and_control_characters_are_gone():
    rows = source_rows(
        Source(title="", columns=[], lines=[SourceLine(number=1, text="\ta\x1b[2Jb\n")]), width=40, num_lines=9
    )
    assert rows[1] == "   1                a [2Jb"


def test_html_has_a_row_a_line_with_heads_for_numbers():
    source = Source(title="cell", columns=["own"], lines=[cost(3, 0.5), SourceLine(number=None, text="9 lines")])
    html = re.sub(r"<style>.*?</style>", "", as_html(Page(title="", blocks=[source])), flags=re.DOTALL)
    assert 'aria-label="cell, source with costs"' in html
    assert '<th scope="row" class="tm-number" align="right">3</th>' in html
    assert 'style="width:50.0%"' in html
    assert "9 lines" in html


def test_the_wire_holds_number_text_heat_and_cells():
    source = Source(
        title="cell", columns=["own"], lines=[cost(3, 0.5), SourceLine(number=None, text="…", heat=float("nan"))]
    )
    (block,) = as_wire(Page(title="", blocks=[source]))["blocks"]
    assert block["lines"] == [
        {"number": 3, "text": "line_3()", "heat": 0.5, "cells": ["0.50"]},
        {"number": None, "text": "…", "heat": "nan", "cells": []},
    ]
