"""This file is a page of the panel over updates, as the panel's script draws it, in a page of its own."""

import pytest
from bare_page import shown

from torchmagic.records.finding import Finding, Severity
from torchmagic.views.page import Findings, Line, Page, Plot, Table, Text
from torchmagic.views.skins.wire import as_wire

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


def test_no_number_and_no_short_word_is_cut(bare):
    rows = [[f"net.{index}", "LayerNorm", "[64, 16]", 0.5735, -1.242e-4] for index in range(200)]
    panel = shown(bare, Page(title="", blocks=[Table(columns=["module", "class", "output", "std", "mean"], rows=rows)]))
    expect(panel.get_by_text("net.0", exact=True)).to_be_visible()
    bare.set_viewport_size({"width": 300, "height": 900})  # no column has room to spare
    cut = "cells => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"
    assert panel.locator("td, th").evaluate_all(cut) == []
    bare.set_viewport_size({"width": 900, "height": 900})


def test_like_findings_are_one_card_and_all_are_counted(bare):
    said = {"severity": Severity.WARNING, "confidence": 0.9, "line": 9, "why": "Always negative.", "fix": "lower it"}
    dead = [Finding(rule="dead", title=f"{name} is dead", module=name, **said) for name in ("a.1", "b.1", "c.1")]
    panel = shown(bare, Page(title="", blocks=[Findings(findings=dead)]))
    expect(panel.locator(".tm-findings > .tm-card")).to_have_count(1)
    expect(panel.get_by_text("c.1 is dead")).to_be_hidden()
    panel.get_by_text("2 more like this: b.1, c.1").click()
    expect(panel.get_by_text("c.1 is dead")).to_be_visible()
    page = "(findings) => numFindings({blocks: [{kind: 'findings', findings}]})"
    assert bare.evaluate(page, as_wire(Page(title="", blocks=[Findings(findings=dead)]))["blocks"][0]["findings"]) == 3


def left(bare, seconds):
    return bare.evaluate(
        """(seconds_left) => {
          const view = progressView();
          view.update({ batch: 15, batches: 16, epoch: 2, seconds_left, shares: {} });
          return view.root.querySelector(".tm-passline").lastChild.textContent;
        }""",
        seconds,
    )


def test_no_time_is_left_where_it_is_over_before_it_is_read(bare):
    assert (left(bare, 42.4), left(bare, 1.5), left(bare, 0.4), left(bare, 0)) == (
        "about 42 s left",
        "about 1.5 s left",
        "",
        "",
    )


def test_an_open_row_is_as_wide_as_what_is_in_sight_of_its_table(bare):
    bare.set_viewport_size({"width": 600, "height": 900})
    rows = [[f"net.{index}.weight", *map(float, range(12))] for index in range(20)]
    columns = ["parameter", *(f"a long heading {index}" for index in range(12))]
    panel = shown(bare, Page(title="", blocks=[Table(columns=columns, rows=rows)]))
    line = Line(name="gradient norm", steps=[0, 1], values=[1.0, 2.0])
    details = as_wire(Page(title="", blocks=[Plot(title="gradient norm", lines=[line])]))
    panel.evaluate("(panel, page) => panel.addEventListener('tm-row', ({ detail }) => detail.show(page))", details)
    panel.get_by_role("button", name="net.0.weight").click()
    inside, seen = panel.locator(".tm-details figure").bounding_box(), panel.locator(".tm-scroll").bounding_box()
    assert inside["x"] + inside["width"] <= seen["x"] + seen["width"]
    panel.locator(".tm-scroll").evaluate("(scroll) => (scroll.scrollLeft = 500)")
    assert panel.locator(".tm-details figure").bounding_box() == inside
