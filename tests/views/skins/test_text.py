"""This file is the text skin."""

import pytest

from torchmagic.views.page import Bars, Page, Table
from torchmagic.views.skins.line_summary import bars_sentence, is_of_integers, sparkline
from torchmagic.views.skins.text import as_text
from torchmagic.views.skins.text_table import shortened


def test_a_page_with_every_kind_of_block_reads_well(page, is_golden):
    is_golden(as_text(page, title="lr sweep") + "\n", "page.txt")


def test_an_empty_page_says_what_is_missing(empty_page, is_golden):
    is_golden(as_text(empty_page) + "\n", "empty.txt")


@pytest.mark.parametrize("width", [40, 72, 100])
def test_no_line_has_trailing_spaces_or_leaves_the_width(page, width):
    lines = as_text(page, width=width).splitlines()
    code = ("torch.nn.utils", "tensor", "  train  ", "  validation  ", "  ▁", "  ▂")
    assert not [line for line in lines if line != line.rstrip()]
    assert not [line for line in lines if len(line) > width and not any(part in line for part in code)]


def test_a_long_table_keeps_its_marked_rows_and_says_how_many_are_left_out():
    table = Table(columns=["name", "n"], rows=[[f"layer{i}", i] for i in range(500)], marked=frozenset({499}))
    text = as_text(Page(title="", blocks=[table]), num_rows=3)
    assert "! layer499  499" in text
    assert text.endswith("… 497 more rows")


def test_a_wide_table_cuts_names_and_then_leaves_out_columns():
    table = Table(columns=["parameter", *"abcdefgh"], rows=[["encoder.layers.11.attention.weight", *[1.234e-5] * 8]])
    text = as_text(Page(title="", blocks=[table]), width=40)
    assert "encoder.l…ion.weight  1.234e-5  1.234e-5" in text
    assert "more columns (" in text


def test_a_name_is_cut_no_further_than_the_columns_that_stay_need():
    table = Table(columns=["name", "a", "b"], rows=[["encoder.layers.11.weight", 123456.0, 123456.0]])
    assert "encoder.layer…11.weight  123,456" not in as_text(Page(title="", blocks=[table]), width=28)
    assert as_text(Page(title="", blocks=[table]), width=28).splitlines()[2] == "encoder.l…11.weight  123,456"


def test_words_are_cut_at_their_end_and_names_in_their_middle():
    assert shortened("2 errors, 1 warning", 12) == "2 errors, 1…"
    assert shortened("net.encoder.weight", 12) == "net.e…weight"


def test_a_curve_of_the_greatest_numbers_is_drawn():
    assert sparkline([1e308, -1e308, 0.0]) == "█▁▅"
    assert sparkline([1.7e308] * 6 + [-1.7e308] * 6, width=4) == "██▁▁"


def test_values_are_counted_as_everywhere_else_on_a_page():
    bars = Bars(title="h", edges=[0.0, 1.0, 2.0], counts=[49, 1400])
    assert bars_sentence(bars) == "1,449 values from 0 to 2, most (1,400) between 1 and 2"


def test_a_histogram_of_whole_numbers_names_the_numbers():
    edges = [-0.5 + 9.0 * i / 9 for i in range(9)] + [8.5]
    bars = Bars(title="Digits", edges=edges, counts=(1, 0, 0, 2, 9, 0, 0, 1, 1))
    assert bars_sentence(bars) == "14 values from 0 to 8, most (9) at 4"


def test_a_few_rows_more_are_shown_rather_than_counted():
    table = Table(columns=["n"], rows=[[i] for i in range(12)])
    assert "more rows" not in as_text(Page(title="", blocks=[table]), num_rows=8)
    assert "5 more rows" in as_text(Page(title="", blocks=[Table(columns=["n"], rows=[[i] for i in range(13)])]))


def test_a_table_has_its_title_above_it():
    table = Table(title="Results", columns=["n"], rows=[[1]])
    assert as_text(Page(title="", blocks=[table])).splitlines() == ["Results", "n", "─", "1"]


def test_control_characters_do_not_reach_the_terminal(hostile_page):
    assert "\x1b" not in as_text(hostile_page)


def test_a_folded_page_shows_its_title_and_first_sentence_only(page):
    folded = Page(title="Details", blocks=page.blocks, folded=True)
    assert as_text([folded]) == "▸ Details  12 steps in 1.9 s."
    assert as_text([Page(title="Details", blocks=page.blocks[1:], folded=True)]) == "▸ Details"


def test_folded_blocks_and_areas_are_left_to_those_who_can_draw_them(page):
    text = as_text(page)
    assert "Told only" not in text
    assert "Memory, MiB" not in text


def test_a_histogram_without_values_is_none_of_whole_numbers():
    assert not is_of_integers(Bars(title="", edges=(), counts=()))
