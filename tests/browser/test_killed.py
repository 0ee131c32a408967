"""This file is a kernel killed in the middle of a training, in a real JupyterLab: what the next one tells of it."""

import os
import re
import signal

import pytest
from contrasts import CONTRASTS

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

LOAD = """%load_ext torchmagic
import os, torch
open("kernel.pid", "w").write(str(os.getpid()))
"""
TRAIN = """%%torchdebug --name "overnight"
import time
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = torch.nn.CrossEntropyLoss()
inputs = torch.randn(4_096, 64)
labels = (inputs @ torch.randn(64, 10)).argmax(1)
kept = []
while True:
    for x, y in zip(inputs.split(64), labels.split(64)):
        optimizer.zero_grad()
        scores = model(x)
        loss = criterion(torch.softmax(scores, dim=1), y)
        loss.backward()
        optimizer.step()
        kept.append(torch.ones(256, 1024))
        time.sleep(0.01)
"""


@pytest.fixture(scope="module")
def opened(notebook):
    return notebook([LOAD, TRAIN, "%torchsession last"], name="killed/overnight.ipynb")


def test_the_next_kernel_tells_of_the_run_and_shows_it(opened, page, pictures):
    from theme import pictured, use_theme  # noqa: PLC0415 - needs playwright, without which these tests are skipped

    opened.run(0)
    opened.wait(0)
    opened.run(1)
    head = opened.output(1).locator(".torchmagic-panel .tm-head")
    expect(head).to_contain_text(re.compile(r"[1-9]\d\d steps ·"))
    seen = int(re.search(r"([\d,]+) steps", head.inner_text()).group(1).replace(",", ""))
    os.kill(int((opened.path.parent / "kernel.pid").read_text()), signal.SIGKILL)
    page.get_by_role("button", name=re.compile("^(Ok|OK)$")).click()  # "the kernel appears to have died"
    opened.wait_until_idle()
    opened.clear()
    opened.run(0)
    opened.wait(0)
    told = opened.output(0)
    expect(told).to_contain_text(re.compile(r"run 1 \(overnight\) was cut off at step [\d,]+ when its kernel died"))
    step = int(re.search(r"at step ([\d,]+)", told.inner_text()).group(1).replace(",", ""))
    assert step >= seen - 120  # at most the last second is lost
    opened.run(2)
    opened.wait(2)
    panel = opened.output(2).locator(".torchmagic-panel")
    expect(panel.locator(".tm-head")).to_contain_text("Lost")
    expect(panel.get_by_role("tab", name="Lost run")).to_have_attribute("aria-selected", "true")
    expect(panel.get_by_role("tabpanel")).to_contain_text(f"after {step} steps")
    expect(panel.get_by_role("tabpanel")).to_contain_text("cross_entropy gets probabilities")
    memory = panel.locator("figure").filter(has_text="memory of the process")
    expect(memory.locator("path.tm-line").first).to_be_attached()
    for theme in ("Dark", "Light"):
        use_theme(page, theme)
        assert not page.evaluate(CONTRASTS)
        pictured(page, panel, pictures / f"session-last-{theme.lower()}.png")
    opened.run(0)
    opened.wait(0)
