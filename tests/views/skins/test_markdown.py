"""This file is the markdown skin."""

from torchmagic.views.skins.markdown import as_markdown


def test_a_page_with_every_kind_of_block_reads_well(page, is_golden):
    is_golden(as_markdown(page, title="lr sweep"), "page.md")


def test_an_empty_page_is_no_error(empty_page):
    assert "No findings." in as_markdown(empty_page)


def test_no_text_is_taken_for_markup(hostile_page):
    text = as_markdown(hostile_page)
    outside = [line for line in text.splitlines() if not line.startswith("<script>alert")]  # lines of fenced code
    assert not [line for line in outside if "<script" in line.replace("`<script>", "")]
    assert "\x1b" not in text


def test_a_bar_in_a_cell_does_not_open_a_column(hostile_page):
    rows = [line for line in as_markdown(hostile_page).splitlines() if line.startswith("| ")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {3, 4}
