"""This file is the panel in Notebook 7, whose page is not JupyterLab's: live, stopped, and closed to its copy."""

import re

import pytest

pytest.importorskip("notebook", reason="Notebook 7 is not installed")
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

TRAIN = """%%torchdebug --no-save --name classic
import time, torch
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.001)
for _ in range(5_000):
    loss = net(torch.randn(8, 4)).square().mean()
    loss.backward()
    opt.step()
    time.sleep(0.01)
"""
AGAIN = """%%torchdebug --no-save --name "run {number}"
opt.zero_grad()
net(torch.randn(8, 4)).square().mean().backward()
opt.step()
"""


@pytest.fixture(scope="module")
def opened(notebook):
    cells = ["%load_ext torchmagic", TRAIN, *(AGAIN.format(number=number) for number in range(3))]
    return notebook(cells, name="classic.ipynb", place="notebooks")


def test_a_training_grows_is_stopped_and_its_finding_leads_to_its_line(opened):
    for index in (0, 1):
        opened.run(index)
        if not index:
            opened.wait(index)
    panel = opened.output(1).locator(".torchmagic-panel")
    stop = panel.get_by_role("button", name="Stop after this step")
    expect(panel.locator("path[data-line=loss]")).to_have_attribute("d", re.compile("L"))
    stop.click()
    opened.wait(1)
    expect(panel.locator(".tm-head")).to_contain_text("Stopped")
    expect(panel.locator(".tm-card").first).to_contain_text("zero_grad")
    link = panel.locator(".tm-place .tm-link").first
    number = int(re.search(r"\d+", link.inner_text()).group())
    link.click()
    line = opened.cell(1).locator(".jp-InputArea .cm-line").nth(number - 1)
    assert line.evaluate("line => line.getAnimations().length") == 1


def test_of_many_panels_three_stay_alive_and_the_others_show_their_copies(opened):
    for index in (2, 3, 4):
        opened.run(index)
        opened.wait(index)
    first = opened.output(1)
    expect(first.locator("[data-torchmagic-static]")).to_be_visible()
    expect(first.locator(".torchmagic-panel")).to_have_count(0)
    for index in (2, 3, 4):
        expect(opened.output(index).locator(".torchmagic-panel")).to_be_visible()
        expect(opened.output(index).locator("[data-torchmagic-static]")).to_be_hidden()
