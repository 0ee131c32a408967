"""This file is a person's first look: the demo notebook, run and read in a real JupyterLab, saved and reopened."""

import re
from pathlib import Path

import nbformat
import pytest

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

DEMO = Path(__file__).parent.parent.parent / "notebooks" / "first_look.ipynb"
TABS = ("Findings", "Curves", "Parameters", "Memory", "Time")


def cells_with(text):
    cells = nbformat.read(DEMO, as_version=4).cells
    return [i for i, cell in enumerate(cells) if cell.cell_type == "code" and cell.source.startswith(text)]


@pytest.fixture(scope="module")
def demo(notebook):
    opened = notebook(DEMO, name="first_look.ipynb")
    opened.run_all()
    for index in cells_with(""):
        opened.wait(index, timeout=120_000)
    return opened


@pytest.fixture(scope="module")
def watched():
    """The three trainings of the demo: a sound one, one with a bug, and its repair."""
    return cells_with("%%torchdebug")


def panel_of(demo, cell):
    return demo.output(cell).locator(".torchmagic-panel")


def test_every_cell_of_the_demo_ends_well(demo, page):
    expect(page.locator(".jp-RenderedText[data-mime-type*=error]")).to_have_count(0)


def test_the_sound_training_has_no_finding_and_says_its_cost(demo, watched):
    head = panel_of(demo, watched[0]).locator(".tm-head")
    expect(head).to_contain_text("Done")
    expect(head).to_contain_text("430 steps")
    expect(head).to_contain_text(re.compile(r"cost [\d.]+%"))
    expect(panel_of(demo, watched[0]).get_by_role("tabpanel")).to_contain_text("Nothing found wrong in 430 steps")


def test_the_panel_names_the_bug_its_line_and_its_cure(demo, watched):
    card = panel_of(demo, watched[1]).locator(".tm-findings > .tm-card")
    expect(card).to_have_count(1)
    expect(card.locator(".tm-badge").first).to_contain_text("error")
    expect(card).to_contain_text("cross_entropy gets probabilities")
    expect(card.locator(".tm-place code").first).to_have_text("return torch.softmax(scores, dim=1)")
    expect(card).to_contain_text("remove the softmax before the loss")


def test_every_tab_of_the_real_run_can_be_read(demo, watched, page, pictures):
    panel = panel_of(demo, watched[1])
    for theme in ("Dark", "Light"):
        page.click('.lm-MenuBar-itemLabel:text-is("Settings")')
        page.hover('.lm-Menu-itemLabel:text-is("Theme")')
        page.click(f'.lm-Menu-itemLabel:text-is("JupyterLab {theme}")')
        page.set_viewport_size({"width": 1200, "height": 2600})
        for tab in reversed(TABS):
            panel.get_by_role("tab", name=tab).click()
            expect(panel.get_by_role("tabpanel")).not_to_be_empty()
            page.mouse.move(0, 0)
            panel.screenshot(path=pictures / f"demo-{tab.split()[0].lower()}-{theme.lower()}.png")
        demo.cell(watched[1]).screenshot(path=pictures / f"demo-cell-{theme.lower()}.png")
    panel.get_by_role("tab", name="Parameters").click()
    expect(panel.locator(".tm-table tbody tr")).to_have_count(6)
    expect(panel.locator(".tm-table tbody")).to_contain_text("model.head.weight")
    panel.get_by_role("tab", name="Curves").click()
    expect(panel.get_by_role("tabpanel").locator("figure")).to_have_count(2)


def test_after_a_restart_the_saved_notebook_still_tells_the_finding(demo, watched, lab, page, pictures):
    copy = demo.output(watched[1]).locator("[data-torchmagic-static]")
    expect(copy).to_be_hidden()
    saved = demo.save()
    kinds = [sorted(output.get("data", {})) for output in saved["cells"][watched[1]]["outputs"]]
    assert ["text/html", "text/plain"] in kinds
    lab.end_kernels()
    demo.reopen()
    expect(copy).to_be_visible()
    expect(copy).to_contain_text("cross_entropy gets probabilities")
    expect(copy).to_contain_text("return torch.softmax(scores, dim=1)")
    expect(copy.locator("img").first).to_be_visible()
    expect(demo.output(watched[1]).get_by_text("Error displaying widget")).to_be_hidden()
    page.set_viewport_size({"width": 1200, "height": 2600})
    copy.screenshot(path=pictures / "demo-saved.png")
