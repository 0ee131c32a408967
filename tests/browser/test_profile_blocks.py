"""This file is the icicle and the source with costs as the panel's script draws them, in a page of its own."""

import pytest
from bare_page import shown
from markup import TAGS
from profile_runs import gpt_run

from torchmagic.views.page import Box, Flame, Page, Source, SourceLine
from torchmagic.views.profile_lines import profile_lines_page
from torchmagic.views.profile_modules import profile_modules_page

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

TRAP = "<img src=x onerror=window.taken=1><b>x</b>"


def label(bare):
    return bare.evaluate("document.activeElement.getAttribute('aria-label')")


def test_boxes_can_be_entered_and_left_by_keys(bare):
    panel = shown(bare, profile_modules_page(gpt_run(dear=5)))
    boxes = panel.locator(".tm-box")
    assert boxes.count() > 40
    assert panel.locator(".tm-box[tabindex='0']").count() == 1
    boxes.first.focus()
    assert label(bare).startswith("model: 279 ms, 100%, GPT, forward 93 ms, backward 186 ms")
    bare.keyboard.press("ArrowDown")
    assert label(bare).startswith("wte: ")
    for _ in range(6):
        bare.keyboard.press("ArrowRight")
    assert label(bare).startswith("h.5: 54 ms, 19%")
    expect(panel.locator(".tm-told")).to_contain_text("h.5: 54 ms, 19%, Block")
    bare.keyboard.press("Enter")
    assert boxes.first.evaluate("(box) => box.style.width") == "100%"
    assert label(bare).startswith("h.5: 54 ms, 19%")
    bare.keyboard.press("ArrowDown")
    assert label(bare).startswith("ln_1: ")
    bare.keyboard.press("ArrowUp")
    bare.keyboard.press("Escape")
    assert label(bare).startswith("h.5: ")
    assert boxes.count() > 40
    expect(panel.get_by_role("button", name="show all")).to_be_hidden()


def test_a_box_is_as_wide_as_its_amount_and_begins_below_what_it_is_part_of(bare):
    flame = Flame(
        title="Time", boxes=[Box(name="net", amount=4.0, parts=[Box(name="a", amount=1.0), Box(name="b", amount=2.0)])]
    )
    panel = shown(bare, Page(title="", blocks=[flame]))
    whole, _, b = (panel.locator(".tm-box").nth(i).bounding_box() for i in range(3))
    assert b["width"] == pytest.approx(whole["width"] / 2, abs=1)
    assert b["x"] - whole["x"] == pytest.approx(whole["width"] / 4, abs=1)
    assert b["y"] >= whole["y"] + whole["height"]


def test_a_live_update_keeps_the_box_that_was_entered(bare):
    panel = shown(bare, profile_modules_page(gpt_run(dear=5)))
    panel.get_by_role("button", name="h.5:").click()
    shown(bare, profile_modules_page(gpt_run(dear=5, block=7.0)))
    expect(panel.locator(".tm-box").first).to_have_text("h.563 ms")
    panel.get_by_role("button", name="show all").click()
    expect(panel.locator(".tm-box").first).to_contain_text("model")


def test_lines_show_their_costs_and_can_be_sorted_by_them(bare):
    panel = shown(bare, profile_lines_page(gpt_run()))
    cell = panel.locator(".tm-source").nth(1)
    rows = cell.locator("tbody tr")
    expect(rows).to_have_count(12)
    expect(rows.nth(7)).to_contain_text("162")
    expect(rows.nth(7).locator("code")).to_have_text("    loss.backward()")
    cell.get_by_role("button", name="dearest first").click()
    expect(rows.first.locator("code")).to_have_text("    logits, loss = model(x, y)")
    expect(rows).to_have_count(8)
    assert cell.locator("thead th").all_inner_texts()[:3] == ["line", "own", "share %"]


def test_no_name_and_no_source_becomes_markup(bare):
    flame = Flame(title=TRAP, boxes=[Box(name=TRAP, amount=1.0, told=TRAP)], unit=TRAP)
    line = SourceLine(number=1, text=TRAP, heat=1.0, cells=[TRAP])
    source = Source(title=TRAP, columns=[TRAP], lines=[line, SourceLine(number=None, text=TRAP)])
    panel = shown(bare, Page(title=TRAP, blocks=[flame, source]))
    expect(panel.locator(".tm-box")).to_contain_text("<img")
    expect(panel.locator(".tm-lines code")).to_have_text(TRAP)
    panel.locator(".tm-box").focus()
    assert panel.locator(TAGS).count() == 0
    assert bare.evaluate("window.taken") is None


def test_blocks_with_nothing_in_them_draw_nothing(bare):
    panel = shown(bare, Page(title="", blocks=[Flame(title="", boxes=[]), Source(title="", columns=[], lines=[])]))
    expect(panel.locator(".tm-box")).to_have_count(0)
    expect(panel.locator(".tm-lines tbody tr")).to_have_count(0)
