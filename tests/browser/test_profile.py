"""This file is a profile as a person sees it: a cell run in a real JupyterLab, every tab opened, in light and dark."""

import re

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

SETUP = """%load_ext torchmagic
import time, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
class Squares(Dataset):
    def __len__(self):
        return 640
    def __getitem__(self, index):
        time.sleep(0.0004)
        image = torch.zeros(1, 16, 16)
        image[:, : 1 + index % 3] = 1
        return image, index % 3
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(16, 3)
    def forward(self, x):
        return self.head(self.body(x).mean(dim=(2, 3)))
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
loader = DataLoader(Squares(), batch_size=16, shuffle=True)"""
TRAIN = """%%torchprofile {options}
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    time.sleep({pause})"""
SLOW = 3
TABS = ("Findings", "Profile", "Modules", "Lines", "Operators", "Memory", "Steps", "Loaders", "Run")
LONG = """%%torchprofile --name live --steps 5
x, y = torch.ones(4, 1, 16, 16), torch.zeros(4, dtype=torch.long)
for _ in range(4000):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()"""
CELLS = (
    SETUP,
    TRAIN.format(options="--name before --steps 10 --memory", pause=0.001),
    TRAIN.format(options="--name after --steps 10 --memory --flops --baseline before", pause=0.05),
    LONG,
)


@pytest.fixture(scope="module")
def profiled(notebook):
    opened = notebook(list(CELLS), name="profiled.ipynb")
    for index in range(SLOW):
        opened.run(index)
        opened.wait(index, timeout=120_000)
    return opened


@pytest.fixture
def panel(profiled):
    return profiled.output(2).locator(".torchmagic-panel")


def test_the_cells_end_well_and_the_heads_say_so(profiled, panel, page):
    expect(page.locator(".jp-RenderedText[data-mime-type*=error]")).to_have_count(0)
    expect(panel.locator(".tm-head")).to_contain_text("Done")
    expect(panel.locator(".tm-head")).to_contain_text("40 steps")


def test_every_tab_can_be_read_and_is_not_empty(panel):
    names = [name.rstrip("0123456789") for name in panel.get_by_role("tab").all_inner_texts()]
    assert names[:1] == ["Findings"]
    assert set(TABS) <= set(names)
    assert any(name.startswith("Against") for name in names)
    for name in names:
        panel.get_by_role("tab", name=re.compile(f"^{re.escape(name)}")).click()
        expect(panel.get_by_role("tabpanel")).not_to_be_empty()


def test_the_dearest_line_is_the_one_that_sleeps(panel):
    panel.get_by_role("tab", name="Lines").click()
    expect(panel.get_by_role("tabpanel")).to_contain_text(
        re.compile(r"Line 7 of this cell takes \d+% of a step: time\.sleep\(0\.05\)")
    )


def test_the_baseline_says_what_became_slower(panel):
    panel.get_by_role("tab", name=re.compile("Against")).click()
    said = panel.get_by_role("tabpanel")
    expect(said).to_contain_text("slower than")
    expect(said).to_contain_text("time.sleep")


def test_the_copy_for_a_saved_notebook_has_the_lines_with_their_times(profiled):
    saved = profiled.save()
    html = "".join(
        "".join(output["data"].get("text/html", ""))
        for output in saved["cells"][2]["outputs"]
        if output["output_type"] == "display_data"
    )
    assert "data-torchmagic-static" in html
    assert "time.sleep(0.05)" in html


def test_pictures_in_light_and_dark(profiled, panel, page, pictures):
    for theme in ("Dark", "Light"):
        page.click('.lm-MenuBar-itemLabel:text-is("Settings")')
        page.hover('.lm-Menu-itemLabel:text-is("Theme")')
        page.click(f'.lm-Menu-itemLabel:text-is("JupyterLab {theme}")')
        page.set_viewport_size({"width": 1200, "height": 2600})
        for tab in (*TABS, "Against"):
            panel.get_by_role("tab", name=re.compile(f"^{tab}")).click()
            expect(panel.get_by_role("tabpanel")).not_to_be_empty()
            page.mouse.move(0, 0)
            panel.screenshot(path=pictures / f"profile-{tab.lower()}-{theme.lower()}.png")


def test_while_it_goes_on_the_head_says_that_the_profile_is_over(profiled):
    profiled.run(SLOW)
    head = profiled.output(SLOW).locator(".torchmagic-panel .tm-head")
    expect(head).to_contain_text("profiled, running on")
    profiled.wait(SLOW, timeout=120_000)
    expect(head).to_contain_text("Done")
    expect(head).not_to_contain_text("running on")
