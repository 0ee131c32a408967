"""This file is a training that goes on, in a real JupyterLab: what grows, what can be switched, how it stops."""

import re

import pytest
from contrasts import CONTRASTS

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

LOAD = """%load_ext torchmagic
import time, torch
from torch.utils.data import DataLoader, TensorDataset
"""
TRAIN = """%%torchdebug --name "digit classifier" --no-save
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
inputs = torch.randn(12_000, 64)
labels = (inputs @ torch.randn(64, 10)).argmax(1)
loader = DataLoader(TensorDataset(inputs, labels), batch_size=32, shuffle=True)
criterion = torch.nn.CrossEntropyLoss()
for epoch in range(10):
    for x, y in loader:
        optimizer.zero_grad()
        scores = model(x)
        loss = criterion(torch.softmax(scores, dim=1), y)
        loss.backward()
        optimizer.step()
        time.sleep(0.02)
"""
NOTES = """
from torchmagic.records.note import NoteRecord
from torchmagic.session.session import session
print([record.text for record in session.last.of(NoteRecord)])
"""
ENDLESS = """%%torchdebug --name endless
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
while True:
    opt.zero_grad()
    loss = net(torch.randn(64, 4)).square().mean()
    loss.backward()
    opt.step()
"""
FAILING = """%%torchdebug
net(torch.randn(2, 3))
"""
AFTER = "print('goes on')"


@pytest.fixture(scope="module")
def opened(notebook):
    opened = notebook([LOAD, TRAIN, NOTES, ENDLESS, AFTER, FAILING])
    opened.run(0)
    opened.wait(0)
    return opened


@pytest.fixture
def panel(opened, page):
    """The panel of a training that goes on, and is stopped after the test."""
    page.set_viewport_size({"width": 1200, "height": 1000})
    opened.run(1)
    panel = opened.output(1).locator(".torchmagic-panel").last
    expect(stop(panel)).to_be_enabled()
    yield panel
    if stop(panel).is_visible():
        stop(panel).click()
    opened.wait(1)
    opened.clear()


def stop(panel):
    return panel.get_by_role("button", name="Stop after this step")


def steps(panel):
    text = panel.locator(".tm-head").inner_text()
    return int(re.search(r"([\d,]+) steps?\b", text).group(1).replace(",", ""))


def test_steps_progress_and_curves_grow_while_the_cell_runs(panel, page, pictures):
    curve = panel.locator("figure").filter(has_text="loss").locator("path[data-line=loss]")
    expect(curve).to_have_attribute("d", re.compile("L"))
    bar = panel.get_by_role("progressbar")
    expect(bar).to_have_attribute("aria-valuemax", "375")
    before, drawn, batch = steps(panel), curve.get_attribute("d"), int(bar.get_attribute("aria-valuenow"))
    expect(curve).not_to_have_attribute("d", drawn)
    expect(bar).not_to_have_attribute("aria-valuenow", str(batch))
    assert steps(panel) > before
    expect(panel.locator(".tm-passline")).to_have_text(re.compile(r"Pass 1, batch \d+ of 375about [\d.]+ m?s left"))
    expect(panel.locator(".tm-splitwords")).to_contain_text(re.compile(r"forward \d+%"))
    expect(panel.locator(".tm-head")).to_contain_text(re.compile(r"[\d.]+ steps/s .* cost [\d.]+%"))


def test_findings_are_told_before_the_cell_has_ended(panel, page, pictures):
    from theme import use_theme  # noqa: PLC0415 - needs playwright, without which these tests are skipped

    first = panel.get_by_title("show all findings")
    expect(first).to_contain_text("cross_entropy gets probabilities")
    for theme in ("Dark", "Light"):
        use_theme(page, theme)
        page.mouse.move(0, 0)
        assert not page.evaluate(CONTRASTS)
        panel.screenshot(path=pictures / f"live-{theme.lower()}.png")
    first.click()
    expect(panel.get_by_role("tab", name="Findings")).to_have_attribute("aria-selected", "true")
    expect(panel.locator(".tm-head")).to_contain_text("Running")
    expect(panel.locator(".tm-card").first).to_contain_text("cross_entropy gets probabilities")


def test_a_page_and_a_row_are_drawn_when_they_are_opened(panel):
    panel.get_by_role("tab", name="Parameters").click()
    expect(panel.locator(".tm-table tbody tr")).to_have_count(4)
    row = panel.get_by_role("button", name="model.0.weight")
    row.click()
    expect(row).to_have_attribute("aria-expanded", "true")
    details = panel.locator(".tm-details")
    expect(details.locator("figure").filter(has_text="gradient norm").locator("path.tm-line")).to_have_count(1)
    expect(panel.locator(".tm-head")).to_contain_text("Running")
    row.click()
    expect(details).to_have_count(0)


def test_what_is_watched_changes_while_the_cell_runs(opened, panel):
    panel.get_by_text("What is watched").click()
    level = panel.get_by_label("Level")
    activations = panel.get_by_role("checkbox", name="activations")
    expect(level).to_have_value("advanced")
    activations.uncheck()
    expect(panel.locator(".tm-controls [role=status]")).to_have_text("")  # the kernel has answered
    expect(activations).not_to_be_checked()
    level.select_option("basic")
    expect(panel.get_by_role("checkbox", name="memory")).not_to_be_checked()
    expect(panel.get_by_role("checkbox", name="gradients")).to_be_checked()
    expect(panel.locator(".tm-head")).to_contain_text("Running")
    stop(panel).click()
    opened.wait(1)
    opened.run(2)
    opened.wait(2)
    expect(opened.output(2)).to_contain_text("without activations")
    expect(opened.output(2)).to_contain_text("level basic")


def test_stop_ends_the_cell_and_the_panel_becomes_the_result(opened, panel, page):
    expect(panel.locator(".tm-head")).to_contain_text(re.compile(r"([3-9]\d|\d{3,}) steps ·"))
    before = steps(panel)
    stop(panel).click()
    opened.wait(1)
    expect(panel.locator(".tm-head")).to_contain_text("Stopped")
    assert steps(panel) >= before
    expect(stop(panel)).to_be_hidden()
    expect(panel.locator(".tm-progress")).to_be_hidden()
    expect(panel.locator(".tm-controls")).to_be_hidden()
    names = [re.sub(r"\d+$", "", name.strip()) for name in panel.get_by_role("tab").all_inner_texts()]
    assert names == ["Findings", "Curves", "Parameters", "Activations", "Memory", "Time", "Data", "Run"]
    expect(panel.get_by_role("tab", name="Findings")).to_have_attribute("aria-selected", "true")
    panel.get_by_role("button", name="line 13").click()
    line = opened.cell(1).locator(".jp-InputArea .cm-line").nth(12)
    expect(line).to_contain_text("torch.softmax(scores, dim=1)")
    expect(line).to_be_in_viewport()
    assert line.evaluate("line => line.getAnimations().length") == 1


def test_stop_ends_a_cell_that_never_rests_as_an_interrupt_does(opened):
    opened.run(3)
    panel = opened.output(3).locator(".torchmagic-panel")
    stop(panel).click()
    opened.wait(3, timeout=120_000)
    expect(panel.locator(".tm-head")).to_contain_text("Stopped")
    expect(opened.output(3)).to_contain_text("KeyboardInterrupt")
    opened.run(4)
    opened.wait(4)
    expect(opened.output(4)).to_contain_text("goes on")


def test_a_failing_cell_shows_its_panel_and_no_frame_of_ours(opened):
    opened.run(5)
    opened.wait(5)
    output = opened.output(5)
    expect(output).to_contain_text("mat1 and mat2 shapes cannot be multiplied")
    expect(output).not_to_contain_text("torchmagic/probes")
    panel = output.locator(".torchmagic-panel")
    expect(panel.locator(".tm-head")).to_contain_text("Failed")
    expect(panel).to_contain_text("The cell ended with RuntimeError at line 2")
