"""This file is names that would be markup, and a run in two notebooks at once, in a real JupyterLab."""

import pytest
from markup import TAGS

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

HOSTILE = """%%torchdebug --name "<img src=x onerror=window.taken=1>" --no-save
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("<svg onload=alert(2)>", torch.nn.Linear(4, 4))
        self.register_parameter("<b>bold</b>", torch.nn.Parameter(torch.ones(4)))
        self.register_parameter("<script>alert(3)</script>", torch.nn.Parameter(torch.ones(4)))
    def forward(self, x):
        return self._modules["<svg onload=alert(2)>"](x) * self._parameters["<b>bold</b>"]
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(12):
    opt.zero_grad()
    net(torch.ones(2, 4)).sum().backward()  # <img src=x onerror=window.taken=4>
    opt.step()
raise ValueError("<iframe src='javascript:window.parent.taken=5'></iframe>")
"""
HISTORY = "%torchsession history"


def test_no_name_and_no_message_becomes_markup(notebook, page):
    opened = notebook(["%load_ext torchmagic", HOSTILE])
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    for index in (0, 1):
        opened.run(index)
        opened.wait(index)
    panel = opened.output(1).locator(".torchmagic-panel")
    expect(panel.locator(".tm-head")).to_contain_text("<img src=x onerror=window.taken=1>")
    for name in panel.get_by_role("tab").all_inner_texts():
        panel.get_by_role("tab", name=name.strip("0123456789 \n")).click()
        expect(panel.get_by_role("tabpanel")).not_to_be_empty()
        assert panel.locator(TAGS).count() == 0, name
    panel.get_by_role("tab", name="Parameters").click()
    for opener in panel.locator(".tm-opener").all():
        opener.click()
        expect(panel.locator(".tm-details figure, .tm-details [role=status]").first).to_be_attached()
    expect(panel.locator(".tm-table").first).to_contain_text("<b>bold</b>")
    assert panel.locator(TAGS).count() == 0
    assert page.evaluate("window.taken") is None
    assert dialogs == []


def test_two_notebooks_side_by_side_hear_their_own_stop_and_write_one_history(chromium, lab):
    from lab_notebook import LabNotebook  # noqa: PLC0415 - needs playwright, without which these tests are skipped

    endless = """%%torchdebug --name {name}
import time, torch
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.001)
while True:
    opt.zero_grad()
    net(torch.randn(8, 4)).square().mean().backward()
    opt.step()
    time.sleep(0.01)
"""
    context = chromium.new_context(viewport={"width": 1200, "height": 1000})
    context.set_default_timeout(30_000)
    names = ("left", "right")
    both = [
        LabNotebook(context.new_page(), lab, ["%load_ext torchmagic", endless.format(name=name), HISTORY], name=path)
        for name, path in ((name, f"pair/{name}.ipynb") for name in names)
    ]
    panels = [each.output(1).locator(".torchmagic-panel") for each in both]
    for each, panel, name in zip(both, panels, names, strict=True):
        each.run(0)
        each.wait(0)
        each.run(1)
        expect(panel.locator(".tm-head")).to_contain_text(name)
    stops = [panel.get_by_role("button", name="Stop after this step") for panel in panels]
    stops[0].click()
    both[0].wait(1)
    expect(panels[0].locator(".tm-head")).to_contain_text("Stopped")
    before = panels[1].locator(".tm-head").inner_text()
    expect(panels[1].locator(".tm-head")).not_to_have_text(before, use_inner_text=True)
    expect(panels[1].locator(".tm-head")).to_contain_text("Running")
    stops[1].click()
    both[1].wait(1)
    for each in both:
        each.run(2)
        each.wait(2)
        rows = each.output(2).locator(".torchmagic-panel tbody tr")
        expect(rows).to_have_count(2)
        for name in names:
            expect(rows.filter(has_text=name)).to_contain_text("stopped")
    context.close()
    lab.end_kernels()
