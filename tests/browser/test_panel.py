"""This file is the panel in a real JupyterLab, with pages made by hand."""

import re

import pytest
from contrasts import CONTRASTS

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

SHOW = """
from IPython.display import display
from sample_pages import findings, pages
from torchmagic.jupyter.display import show, static_bundle
from torchmagic.jupyter.panel.widget import Panel

panel = Panel(title="lr sweep", uid="c0ffee")
counts = {"error": 2, "warning": 2, "info": 1}
panel.update({"state": "ok", "step": 120, "elapsed": 12.84, "overhead": 0.0103, "findings": counts}, pages())
display(panel)
show(static_bundle(list(pages().values()), title="lr sweep: done, 120 steps", uid="c0ffee"))
"""
LIVE = """
import time
from IPython.display import display
from sample_pages import pages
from torchmagic.jupyter.panel.widget import Panel

panel = Panel(title="live")
display(panel)
for step in range(100_000):
    state = {"state": "running", "step": step, "elapsed": step * 0.05, "overhead": None, "findings": {}}
    panel.update(state, pages(100 + step % 50))
    time.sleep(0.05)
    if panel.stop_requested:
        break
panel.update({**state, "state": "interrupted"}, pages())
print("stopped by the panel:", panel.stop_requested)
"""


@pytest.fixture(scope="module")
def opened(notebook):
    return notebook([SHOW, LIVE])


@pytest.fixture
def panel(opened, page):
    """A new panel in a notebook that is already open: running a cell again takes a second, opening one takes eight."""
    page.set_viewport_size({"width": 1200, "height": 1000})
    opened.clear()
    opened.run(0)
    opened.wait(0)
    return opened.output(0).locator(".torchmagic-panel")


def first_column(panel):
    return panel.locator(".tm-table tbody th").all_inner_texts()


def test_the_panel_shows_its_head_and_one_tab_a_page(panel):
    expect(panel.locator(".tm-head")).to_contain_text("Done")
    expect(panel.locator(".tm-head")).to_contain_text("120 steps · 12.84 s")
    expect(panel.locator(".tm-head")).to_contain_text("cost 1.0%")
    expect(panel.locator(".tm-counts")).to_contain_text("2 errors")
    expect(panel.get_by_role("button", name="Stop")).to_be_hidden()
    names = panel.get_by_role("tab").all_inner_texts()
    assert [name.strip() for name in names] == ["Findings5", "Curves", "Parameters", "Activations", "Memory & time"]


def test_findings_say_place_evidence_cause_and_fix(panel):
    cards = panel.locator(".tm-findings > .tm-card")
    expect(cards).to_have_count(4)
    first = cards.first
    expect(first.locator(".tm-badge").first).to_contain_text("error")
    expect(first.locator(".tm-place").first).to_contain_text("line 14")
    expect(first.locator(".tm-place code").first).to_have_text("loss.backward()")
    expect(first.locator(".tm-evidence").first).to_contain_text("412,308")
    expect(first.locator("pre").first).to_contain_text("clip_grad_norm_")
    hidden = first.get_by_text("The loss is NaN from step 97 on")
    expect(hidden).to_be_hidden()
    first.get_by_text("1 more follows from this").click()
    expect(hidden).to_be_visible()
    expect(cards.last).to_contain_text("uncertain")
    expect(cards.last.get_by_text("Try")).to_be_hidden()


def test_the_fix_can_be_copied(panel, page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.get_by_role("button", name="Copy the code of the fix").first.click()
    expect(panel.get_by_role("button", name="Copy the code of the fix").first).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)"


def test_tabs_move_with_the_arrow_keys(panel, page):
    panel.get_by_role("tab", name="Findings").focus()
    page.keyboard.press("ArrowRight")
    expect(panel.get_by_role("tab", name="Curves")).to_be_focused()
    expect(panel.get_by_role("tab", name="Curves")).to_have_attribute("aria-selected", "true")
    expect(panel.get_by_role("tabpanel")).to_have_count(1)
    page.keyboard.press("End")
    expect(panel.get_by_role("tab", name="Memory & time")).to_be_focused()
    expect(panel.get_by_role("tabpanel")).to_contain_text("39.29 MiB")


def test_the_table_sorts_and_filters(panel, page):
    panel.get_by_role("tab", name="Parameters").click()
    rows = panel.locator(".tm-table tbody tr")
    expect(rows).to_have_count(14)
    head = panel.get_by_role("columnheader", name="gradient norm")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    assert first_column(panel)[:3] == ["! blocks.1.conv.weight", "! blocks.1.conv.bias", "stem.conv.bias"]
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert first_column(panel)[0] == "head.weight"
    panel.get_by_label("Filter rows by words").fill("norm bias")
    expect(rows).to_have_count(3)
    expect(panel.get_by_text("3 of 14 rows")).to_be_visible()
    panel.get_by_label("Filter rows by words").fill("")
    panel.get_by_role("button", name="2 need attention").click()
    expect(rows).to_have_count(2)


def test_a_finding_leads_to_the_row_of_its_parameter(panel):
    panel.get_by_role("button", name="blocks.1.conv.weight").click()
    expect(panel.get_by_role("tab", name="Parameters")).to_have_attribute("aria-selected", "true")
    row = panel.get_by_role("rowheader", name="blocks.1.conv.weight").get_by_role("button")
    expect(row).to_be_focused()
    expect(row).to_have_attribute("aria-expanded", "true")
    row.press("Enter")
    expect(row).to_have_attribute("aria-expanded", "false")
    expect(panel.locator(".tm-details")).to_have_count(0)


def test_a_line_that_is_in_no_cell_is_told_so(panel):
    panel.get_by_role("button", name="line 14").click()
    expect(panel.get_by_role("button", name="line 14 (not in this notebook)")).to_be_visible()


def test_a_difference_shows_signs_beside_its_colours(panel):
    panel.get_by_role("tab", name="Activations").click()
    panel.get_by_text("What changed in the source").click()
    lines = panel.locator(".tm-diffline")
    expect(lines).to_have_text(["x = 1", "-lr = 0.5", "+lr = 0.05  # <b>less</b>"])


def test_small_curves_are_drawn_and_told_and_details_wait_in_a_fold(panel):
    panel.get_by_role("tab", name="Activations").click()
    curve = panel.locator(".tm-spark").first
    expect(curve).to_have_text(re.compile("^[▁-█]{12}$"))
    expect(curve).to_have_attribute("aria-label", re.compile(r"^1 → .*max"))
    expect(panel.locator(".tm-area")).to_have_count(0)
    panel.get_by_text("What each module gives").click()
    expect(panel.get_by_text("32×64×8×8 float32").first).to_be_visible()
    areas = panel.locator(".tm-area")
    expect(areas).to_have_count(2)
    # without the edge around it, which a bounding box would count
    lower, upper = areas.evaluate_all(
        "areas => areas.map((area) => area.getBBox()).map(({ y, height }) => ({ y, height }))"
    )
    assert upper["y"] + upper["height"] == pytest.approx(lower["y"], abs=1)
    panel.get_by_role("button", name="weights").click()
    expect(areas).to_have_count(1)


def test_keys_typed_in_the_panel_do_not_reach_the_notebook(opened, panel, page):
    panel.get_by_role("tab", name="Parameters").click()
    page.keyboard.type("dda")
    expect(panel).to_be_visible()
    assert [opened.cell(index).count() for index in (0, 1, 2)] == [1, 1, 0]


def test_curves_read_out_toggle_their_scale_and_name_what_is_not_finite(panel, page):
    panel.get_by_role("tab", name="Curves").click()
    loss = panel.locator("figure").filter(has_text="Loss")
    expect(loss.get_by_text("train not finite from step 97")).to_be_visible()
    line = loss.locator("path[data-line=train]")
    straight = line.get_attribute("d")
    log = loss.get_by_role("button", name="log")
    expect(log).to_have_attribute("aria-pressed", "false")
    log.click()
    expect(log).to_have_attribute("aria-pressed", "true")
    assert line.get_attribute("d") != straight
    loss.locator(".tm-frame").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(loss.get_by_role("status")).to_have_text(re.compile(r"^step 1: train [\d.]+, validation 2\.479$"))
    loss.get_by_role("button", name="train").click()
    expect(loss.locator("path[data-line=train]")).to_have_count(0)
    norm = panel.locator("figure").filter(has_text="Gradient norm")
    expect(norm.get_by_role("button", name="log")).to_have_attribute("aria-pressed", "true")


def test_light_and_dark_are_readable(panel, page, tmp_path):
    from theme import pictured, use_theme  # noqa: PLC0415 - needs playwright, without which these tests are skipped

    for theme in ("Dark", "Light"):
        use_theme(page, theme)
        for name in ("Findings", "Curves", "Parameters", "Activations", "Memory & time"):
            panel.get_by_role("tab", name=name).click()
            weak = page.evaluate(CONTRASTS)
            assert not weak, f"{theme}, {name}: below 4.5 to 1: {weak}"
            pictured(page, panel, tmp_path / f"panel-{name.split()[0].lower()}-{theme.lower()}.png")


def test_a_running_cell_updates_the_panel_keeps_its_state_and_hears_stop(opened, page):
    page.set_viewport_size({"width": 1200, "height": 1000})
    opened.run(1)
    panel = opened.output(1).locator(".torchmagic-panel")
    expect(panel.locator(".tm-head")).to_contain_text("Running")
    panel.get_by_role("tab", name="Parameters").click()
    panel.get_by_label("Filter rows by words").fill("head")
    panel.get_by_role("columnheader", name="norm", exact=True).get_by_role("button").click()
    before = panel.locator(".tm-head").inner_text()
    expect(panel.locator(".tm-head")).not_to_have_text(before, use_inner_text=True)
    expect(panel.get_by_label("Filter rows by words")).to_have_value("head")
    expect(panel.locator(".tm-table tbody tr")).to_have_count(2)
    panel.get_by_role("button", name="Stop").click()
    opened.wait(1, timeout=120_000)
    expect(panel.locator(".tm-head")).to_contain_text("Stopped")
    expect(opened.output(1)).to_contain_text("stopped by the panel: True")


def test_a_saved_notebook_reads_without_the_kernel_that_made_it(opened, panel, lab, page, tmp_path):
    from theme import pictured  # noqa: PLC0415 - as above

    copy = opened.output(0).locator('[data-torchmagic-static="c0ffee"]')
    expect(panel).to_be_visible()
    expect(copy).to_be_hidden()
    saved = opened.save()
    kinds = [sorted(output["data"]) for output in saved["cells"][0]["outputs"]]
    assert kinds == [
        ["application/vnd.jupyter.widget-view+json", "text/html", "text/plain"],
        ["text/html", "text/plain"],
    ]
    lab.end_kernels()
    lab.stop()
    lab.start()
    opened.reopen()
    expect(copy).to_be_visible()
    expect(copy.get_by_text("Gradients of blocks.1.conv grow")).to_be_visible()
    expect(opened.output(0).get_by_text("Error displaying widget")).to_be_hidden()
    pictured(page, copy, tmp_path / "saved.png")
