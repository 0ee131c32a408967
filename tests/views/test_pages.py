"""This file tests the list of pages: which there are, which vanish, and that no name in any becomes markup."""

import pytest

from torchmagic.jupyter.panel.tabs import tab_pages
from torchmagic.session.run import Run
from torchmagic.views.page import Block, Fold, Plot
from torchmagic.views.pages import run_pages
from torchmagic.views.report import report
from torchmagic.views.skins.html import as_html, as_html_document
from torchmagic.views.skins.markdown import as_markdown
from torchmagic.views.skins.text import as_text
from torchmagic.views.skins.wire import as_wire

PAGES = ["Findings", "Curves", "Parameters", "Activations", "Data", "Memory & time", "Precision", "Snapshots"]
TABS = [*PAGES[:4], "Memory", "Time", "Data", "Run", "Precision", "Snapshots"]
TRAP = "<script>alert('x')</script>"


def all_blocks(blocks: list[Block]):
    for block in blocks:
        yield block
        if isinstance(block, Fold):
            yield from all_blocks(block.blocks)


def test_a_run_in_which_everything_was_seen_has_every_tab(full):
    assert list(tab_pages(full)) == TABS


def test_a_run_in_which_nothing_was_seen_has_no_empty_tab():
    assert list(tab_pages(Run())) == ["Findings", "Run"]


def test_no_block_of_any_page_is_empty(full):
    for page in run_pages(full):
        for block in all_blocks(page.blocks):
            assert getattr(block, block.__slots__[0]) not in ("", [], ()), block
            if isinstance(block, Plot):
                assert all(line.steps for line in block.lines)


def test_no_name_becomes_markup(make_full):
    pages = run_pages(make_full(TRAP))
    for html in (as_html(pages), as_html_document(pages, title="")):
        assert "<script" not in html
        assert "&lt;script&gt;" in html
    assert "<script" not in as_markdown(pages)


def test_every_page_has_text_and_can_be_carried_to_the_panel(full):
    for page in run_pages(full):
        assert page.title in as_text(page)
        assert as_wire(page)["blocks"]


def test_the_report_links_to_every_page(full):
    html = report(full)
    for title in PAGES:
        assert f">{title.replace('&', '&amp;')}</a>" in html
    assert "<script" not in html


def test_the_text_of_a_whole_run_stays_short(full):
    assert len(as_text(run_pages(full)).splitlines()) < 90


@pytest.mark.parametrize("title", ["Activations", "Data", "Precision", "Snapshots"])
def test_what_is_for_those_who_ask_is_one_folded_sentence_in_text(title, full):
    page = tab_pages(full)[title]
    assert page.folded
    assert as_text(page).startswith(f"▸ {title}  ")
    assert len(as_text(page).splitlines()) <= 3
