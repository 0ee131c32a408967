"""This file is the Stop button of a real training, and a cell that fails, in a real JupyterLab."""

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

LOAD = "%load_ext torchmagic\nimport torch"
MODEL = """
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
"""
ENDLESS = f"""%%torchdebug --name endless
{MODEL}
while True:
    opt.zero_grad()
    loss = net(torch.randn(64, 4)).square().mean()
    loss.backward()
    opt.step()
"""
FAILING = f"""%%torchdebug
{MODEL}
net(torch.randn(2, 3))
"""


@pytest.fixture(scope="module")
def opened(notebook):
    return notebook([LOAD, ENDLESS, "print('goes on')", FAILING])


def test_stop_ends_the_cell_as_an_interrupt_does(opened):
    opened.run(0)
    opened.wait(0)
    opened.run(1)
    panel = opened.output(1).locator(".torchmagic-panel")
    expect(panel.locator(".tm-head")).to_contain_text("Running")
    panel.get_by_role("button", name="Stop").click()
    opened.wait(1, timeout=20_000)
    expect(panel.locator(".tm-head")).to_contain_text("Stopped")
    expect(opened.output(1)).to_contain_text("KeyboardInterrupt")
    opened.run(2)
    opened.wait(2)
    expect(opened.output(2)).to_contain_text("goes on")


def test_a_failing_cell_shows_its_panel_and_no_frame_of_ours(opened):
    opened.clear()
    opened.run(0)
    opened.wait(0)
    opened.run(3)
    opened.wait(3)
    expect(opened.output(3)).to_contain_text("mat1 and mat2 shapes cannot be multiplied")
    expect(opened.output(3)).not_to_contain_text("torchmagic/probes")
    panel = opened.output(3).locator(".torchmagic-panel")
    expect(panel.locator(".tm-head")).to_contain_text("Failed")
    expect(panel).to_contain_text("The cell ended with RuntimeError at line 6")
