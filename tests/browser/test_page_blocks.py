"""This file is a page of the panel over updates, as the panel's script draws it, in a page of its own."""

import pytest
from bare_page import shown

from torchmagic.views.page import Page, Table, Text

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


def parameters(*, swallowed=False):
    """Return a page as in the midst of a run, when a column and the words on it come."""
    more = ["swallowed"] if swallowed else []
    rows = [[f"net.{index}.weight", *(0 for _ in more), float(index)] for index in range(200)]
    blocks = [Text(text="200 parameters."), Table(columns=["parameter", *more, "grad norm"], rows=rows)]
    return Page(title="Parameters", blocks=blocks + ([Text(text="Swallowed: lost updates.")] if swallowed else []))


def first_row(panel):
    return panel.locator(".tm-opener").first


def test_a_block_that_comes_takes_nothing_from_the_reader(bare):
    panel = shown(bare, parameters())
    words = panel.get_by_role("searchbox")
    words.fill("net.1")
    words.press("9")
    shown(bare, parameters(swallowed=True))
    expect(panel.get_by_text("Swallowed: lost updates.")).to_be_visible()
    expect(words).to_have_value("net.19")
    expect(words).to_be_focused()
    expect(panel.get_by_role("status").first).to_have_text("11 of 200 rows")
    words.fill("")


def test_a_column_that_comes_leaves_the_order_of_the_rows(bare):
    panel = shown(bare, parameters())
    panel.get_by_role("button", name="grad norm").click()
    expect(first_row(panel)).to_have_text("net.199.weight")
    shown(bare, parameters(swallowed=True))
    expect(panel.locator("[data-column='grad norm']")).to_have_attribute("aria-sort", "descending")
    expect(first_row(panel)).to_have_text("net.199.weight")


def test_blocks_stand_in_the_order_of_the_page_whichever_were_there(bare):
    one, two, table = Text(text="one"), Text(text="two"), Table(columns=["a"], rows=[["x"]], title="late")
    panel = shown(bare, Page(title="", blocks=[one, two]))
    shown(bare, Page(title="", blocks=[table, two]))
    assert panel.locator(".tm-block").evaluate_all("all => all.map(one => one.tagName)") == ["DIV", "P"]
    expect(panel.locator("p")).to_have_text("two")
