"""This file tests which texts of other cells and files a run keeps."""

import importlib.util
import linecache
import sys

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.taken_part import MOST_CHARACTERS
from torchmagic.session.loading import from_json
from torchmagic.session.session import Session

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        return self.layer(x)
"""
LOOP = """
def fit(net, optimizer, batches):
    for x in batches:
        optimizer.zero_grad
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
"""
ROWS = """
import torch

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        return torch.tensor([index / 32, 1.0, index / 64])
"""
UNUSED = """
def nobody_calls_this():
    return 1
"""
CELL = "net = Net()\nfit(net, torch.optim.SGD(net.parameters(), lr=0.01), DataLoader(Rows(), 4))\n"


@pytest.fixture
def cells():
    """Run code as a notebook does: each cell is a file that only ``linecache`` has."""
    names = {"torch": torch, "nn": nn, "DataLoader": DataLoader, "__name__": "__main__"}
    made = []

    def execute(text, file):
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        made.append(file)
        exec(compile(text, file, "exec"), names)  # noqa: S102 - a cell

    execute.names = names
    yield execute
    for file in made:
        linecache.cache.pop(file, None)


def watched(cells, cell=CELL, **settings):
    with Watch(Settings(save=False, **settings), namespace=cells.names, source=cell, session=Session()) as run:
        cells(cell, "<ipython-input-9-own>")
    return run


@pytest.fixture
def notebook(cells):
    for number, text in enumerate([MODEL, LOOP, ROWS, UNUSED]):
        cells(text, f"<ipython-input-{number}-x>")
    return cells


def test_cells_whose_functions_and_classes_took_part_are_kept(notebook):
    run = watched(notebook)
    assert run.texts == {
        "<ipython-input-1-x>": LOOP,
        "<ipython-input-0-x>": MODEL,
        "<ipython-input-2-x>": ROWS,
    }


def test_a_finding_is_placed_by_what_another_cell_says(notebook):
    run = watched(notebook)
    (finding,) = [each for each in run.findings if each.rule == "missing-zero-grad"]
    assert (finding.file, finding.line, finding.source) == ("cell 1", 4, "optimizer.zero_grad")
    assert finding.fix == "optimizer.zero_grad()"


def test_they_are_stored_with_the_run_and_are_not_without_its_source(notebook):
    run = watched(notebook)
    assert from_json(run.to_json()).texts == run.texts
    assert from_json(run.to_json()).file_names == run.file_names
    assert from_json(run.to_json()).findings == run.findings
    run.settings["keep_source"] = False
    assert from_json(run.to_json()).texts == {}


def test_a_run_that_was_stored_before_there_were_any_has_none(notebook):
    plain = watched(notebook).to_json().replace('"texts"', '"of_another_version"')
    assert from_json(plain).texts == {}


def test_a_text_that_is_too_long_is_not_kept(cells):
    cells(MODEL + "\n" + "# more\n" * MOST_CHARACTERS, "<ipython-input-0-x>")
    cells(LOOP, "<ipython-input-1-x>")
    cells(ROWS, "<ipython-input-2-x>")
    assert set(watched(cells).texts) == {"<ipython-input-1-x>", "<ipython-input-2-x>"}


@pytest.mark.parametrize(("here", "name"), [(".", "project/my_loop.py"), ("elsewhere", "my_loop.py")])
def test_a_module_of_the_users_is_kept_and_a_librarys_is_not(cells, tmp_path, monkeypatch, here, name):
    for folder in ("project", "elsewhere"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / here)
    path = tmp_path / "project" / "my_loop.py"
    path.write_text(LOOP)
    spec = importlib.util.spec_from_file_location("my_loop", path)
    module = sys.modules["my_loop"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cells.names["fit"] = module.fit
    cells("net = nn.Sequential(nn.Linear(3, 1))\nrows = [torch.rand(4, 3)] * 6\n", "<ipython-input-0-x>")
    run = watched(cells, "fit(net, torch.optim.SGD(net.parameters(), lr=0.01), rows)\n")
    del sys.modules["my_loop"]
    assert run.texts == {str(path): LOOP}
    assert run.file_names == {str(path): name}


def test_the_dataset_of_a_loader_that_the_cell_only_names_took_part(cells):
    cells(ROWS, "<ipython-input-0-x>")
    cells(LOOP + "net = nn.Linear(3, 1)\nloader = DataLoader(Rows(), 4)\n", "<ipython-input-1-x>")
    run = watched(cells, "fit(net, torch.optim.SGD(net.parameters(), lr=0.01), loader)\n")
    assert "<ipython-input-0-x>" in run.texts


def test_without_a_working_directory_a_file_is_told_by_its_name(cells, tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    cells(LOOP, str(folder / "my_loop.py"))
    folder.rmdir()
    cells("net = nn.Sequential(nn.Linear(3, 1))\nrows = [torch.rand(4, 3)] * 6\n", "<ipython-input-0-x>")
    run = watched(cells, "fit(net, torch.optim.SGD(net.parameters(), lr=0.01), rows)\n")
    assert run.file_names == {str(folder / "my_loop.py"): "my_loop.py"}
