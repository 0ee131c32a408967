"""This file is ranks as a person sees them: launched from a cell of a real JupyterLab, one slow, all given alike."""

import re
import socket

import pytest

pytest.importorskip("accelerate", reason="pip install torchmagic[wild]")
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

SETUP = """%load_ext torchmagic
import os, time, torch
from accelerate import Accelerator, notebook_launcher
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
os.environ["GLOO_SOCKET_IFNAME"] = "lo"

class Squares(Dataset):
    def __len__(self):
        return 960

    def __getitem__(self, index):
        if os.environ.get("RANK") == "1":
            time.sleep(0.0005)
        image = torch.zeros(1, 16, 16)
        image[:, : 1 + index % 3] = 1
        return image, index % 3"""
LAUNCH = """%%torchdebug --name two-ranks
def train():
    Accelerator(cpu=True)
    torch.manual_seed(0)
    body = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
    model = DistributedDataParallel(nn.Sequential(body, nn.Linear(256, 3)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(Squares(), batch_size=16)
    for images, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()

notebook_launcher(train, num_processes=2, use_port="{port}")"""
LOADER = "line 8"
CELL, AGAIN = 1, 2
PATIENCE = 180_000


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


@pytest.fixture(scope="module")
def launched(notebook):
    opened = notebook([SETUP, LAUNCH.format(port=free_port()), "%torchsession show last"], name="ranks.ipynb")
    opened.run_all()
    opened.wait(AGAIN, timeout=PATIENCE)
    return opened


def open_tab(panel, name):
    panel.get_by_role("tab", name=re.compile(f"^{name}")).click()
    return panel.get_by_role("tabpanel")


@pytest.mark.parametrize("place", [CELL, AGAIN], ids=["the cell", "shown again"])
def test_the_tab_tells_each_ranks_pace_and_who_waits_for_whom(launched, page, place):
    expect(page.locator(".jp-RenderedText[data-mime-type*=error]")).to_have_count(0)
    panel = launched.output(place).locator(".torchmagic-panel")
    expect(panel.locator(".tm-head")).to_contain_text("60 steps")
    tab = open_tab(panel, "Ranks")
    expect(tab).to_contain_text("2 ranks on 1 host over gloo")
    expect(tab).to_contain_text(re.compile(r"Waiting for other ranks takes about \d+% of the time\."))
    expect(tab).to_contain_text(re.compile(r"Rank 1 waits least: the others wait [\d.]+ ms a step longer\."))
    heads = tab.locator("thead th").all_inner_texts()
    assert heads == ["rank", "step, ms", "waits: ranks, ms", "waits: data, ms", "works, ms", "loss", "grad norm"]
    first, second = (
        [cell.removeprefix("! ") for cell in row.locator("th, td").all_inner_texts()]
        for row in tab.locator("tbody tr").all()
    )
    assert (first[0], second[0]) == ("0", "1")
    assert float(first[2]) > float(second[2])  # rank 0 waits for rank 1
    assert float(second[3]) > 8 > float(first[3])  # which waits for its data
    assert first[5:] == second[5:]  # the same samples, and the same model
    for title in ("time per step by rank, ms", "estimated waiting for other ranks, ms"):
        figure = tab.locator("figure").filter(has_text=title)
        expect(figure.locator("path.tm-line")).to_have_count(2)
        expect(figure.locator(".tm-legend")).to_contain_text("rank 1")


def test_the_findings_have_their_line(launched):
    tab = open_tab(launched.output(CELL).locator(".torchmagic-panel"), "Findings")
    same, late = (tab.locator(".tm-card").filter(has_text=said) for said in ("the same batches", "wait for rank 1"))
    expect(same).to_contain_text("DataLoader gives ranks 0 and 1 the same batches")
    expect(late).to_contain_text("its data loading takes")
    for card in (same, late):
        expect(card).to_contain_text(LOADER)
        expect(card).to_contain_text("loader = DataLoader(Squares(), batch_size=16)")


def test_pictures_in_light_and_dark(launched, page, pictures):
    from theme import pictured, use_theme  # noqa: PLC0415 - needs playwright, without which these tests are skipped

    panel = launched.output(CELL).locator(".torchmagic-panel")
    open_tab(panel, "Ranks")
    for theme in ("Dark", "Light"):
        use_theme(page, theme)
        pictured(page, panel, pictures / f"ranks-ranks-{theme.lower()}.png")


def test_the_copy_for_a_saved_notebook_and_its_text_have_all_of_it(launched):
    shown = [
        output["data"]
        for output in launched.save()["cells"][CELL]["outputs"]
        if output["output_type"] == "display_data"
    ]
    html, text = ("".join("".join(data.get(mime, "")) for data in shown) for mime in ("text/html", "text/plain"))
    for said in ("two-ranks", "60 steps", "the same batches", "2 ranks on 1 host over gloo"):
        assert said in html, said
        assert said in text, said
    assert "data-torchmagic-static" in html
    assert "waits: data, ms" in html
