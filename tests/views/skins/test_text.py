"""This file is the text skin."""

import pytest

from torchmagic.views.page import Page, Table
from torchmagic.views.skins.text import as_text


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
    assert "encod…weight" in text
    assert "more columns (" in text


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
