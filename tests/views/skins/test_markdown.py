"""This file is the markdown skin."""

import re

from torchmagic.views.skins.markdown import as_markdown


def test_a_page_with_every_kind_of_block_reads_well(page, is_golden):
    is_golden(as_markdown(page, title="lr sweep"), "page.md")


def test_an_empty_page_is_no_error(empty_page):
    assert "No findings." in as_markdown(empty_page)


def test_no_text_is_taken_for_markup(hostile_page):
    text = as_markdown(hostile_page)
    outside = re.sub(r"^(```+).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)  # without blocks of code
    outside = re.sub(r"(?<![\\`])(`+)(?!`).+?(?<!`)\1(?!`)", "", outside)  # and without code in a line
    assert "<script" not in outside
    assert "&lt;script&gt;" in outside
    assert "\x1b" not in text


def test_a_bar_in_a_cell_does_not_open_a_column(hostile_page):
    rows = [line for line in as_markdown(hostile_page).splitlines() if line.startswith("| ")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {2, 3, 4}


def test_what_is_folded_can_be_opened(page):
    text = as_markdown(page)
    assert "<details><summary>More</summary>\n\nTold only to those who ask." in text
    assert text.rstrip().endswith("</details>")
