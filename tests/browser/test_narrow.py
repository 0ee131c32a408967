"""This file is the panel in a narrow notebook, as beside a second window, without a server."""

import json

import pytest

from torchmagic.jupyter.panel.widget import Panel
from torchmagic.records.finding import Finding, Severity
from torchmagic.views.page import Findings, Page
from torchmagic.views.skins.wire import as_wire

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

TABS = ["Findings", "Curves", "Parameters", "Activations", "Memory", "Time", "Data", "Run"]
DOCUMENT = """<!doctype html><style>{css}</style><div class="torchmagic-panel"></div><script>{script}
const shown = tabsView();
document.querySelector(".torchmagic-panel").append(shown.root);
const update = (names, page) =>
  shown.update({{ Findings: page }}, {{ names, numbers: {{ Findings: 12 }}, first: names[0] }});
</script>"""
FINDING = Finding(
    rule="missing-zero-grad",
    severity=Severity.ERROR,
    confidence=0.9,
    title="optimizer steps on gradients that are never reset",
    optimizer="optimizer",
    line=9,
    source="loss.backward()",
    fix="optimizer.zero_grad()  # once a step, before backward()",
)


@pytest.fixture(scope="module")
def panel(chromium):
    context = chromium.new_context(viewport={"width": 480, "height": 900})
    page = context.new_page()
    script = Panel._esm.replace("export default", "const widget =")
    page.set_content(DOCUMENT.format(css=Panel._css, script=script))
    wire = as_wire(Page(title="Findings", blocks=[Findings(findings=(FINDING,))]))
    page.evaluate("([names, page]) => update(names, page)", [TABS, json.loads(json.dumps(wire))])
    yield page.locator(".torchmagic-panel")
    context.close()


def test_all_tabs_are_in_sight_without_a_scroll_bar(panel):
    strip = panel.get_by_role("tablist")
    assert strip.evaluate("(list) => list.scrollWidth <= list.clientWidth")
    right = strip.evaluate("(list) => list.getBoundingClientRect().right")
    boxes = [tab.bounding_box() for tab in panel.get_by_role("tab").all()]
    assert len(boxes) == len(TABS)
    assert all(box["x"] + box["width"] <= right for box in boxes)


def test_an_optimizer_called_so_is_named_once(panel):
    expect(panel.locator(".tm-place").get_by_text("optimizer", exact=True)).to_be_visible()


def test_a_fix_that_is_code_looks_like_it_and_can_be_copied(panel):
    expect(panel.locator(".tm-fixline code")).to_have_text(FINDING.fix)
    expect(panel.get_by_role("button", name="Copy the code of the fix")).to_be_visible()
