"""What is true of all finders: the examples of their page run, and a run that is being watched sees nothing of them."""

import re
from pathlib import Path
from typing import ClassVar

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import torchmagic
from torchmagic import FoundSettings, find_batch_size, find_loader_settings, find_num_threads

PAGE = Path(torchmagic.__file__).parents[1] / "docs" / "finders.md"


def test_the_examples_of_the_page_run(capsys):
    snippet = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)[1]
    names = {}
    exec(re.sub(r"time_limit=\d+", "time_limit=0.4", snippet), names)  # noqa: S102 - our own page
    assert isinstance(names["found"], FoundSettings)
    said = capsys.readouterr().out
    assert [said.count(f"{title}\n──") for title in ("Batch size", "Loader settings", "Threads")] == [1, 1, 1]


class OwnLoss(nn.Module):
    """Takes arguments by name and returns its loss, and remembers whether autocast was on."""

    seen: ClassVar = []

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, *, x, labels):
        logits = self.layer(x)
        OwnLoss.seen.append(logits.dtype)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def test_a_model_that_returns_its_loss_is_fed_by_names_under_the_autocast_around(capsys):
    model = OwnLoss()
    adam = torch.optim.Adam(model.parameters())
    batch = {"x": torch.randn(6, 4), "labels": torch.randint(0, 2, (6,))}
    loader = DataLoader([{"x": torch.randn(4), "labels": 1}] * 20, batch_size=4)
    with torch.autocast("cpu", torch.bfloat16):
        found = find_batch_size(model, adam, None, batch, sizes=[2, 16], time_limit=8)
    assert all(row.times for row in found.rows)
    assert set(OwnLoss.seen) == {torch.bfloat16}
    OwnLoss.seen.clear()
    assert find_num_threads(model, batch, optimizer=adam, numbers=[1], time_limit=3).rows[0].times
    assert find_loader_settings(loader, model, adam, num_workers=[0], time_limit=3).rows[0].times
    assert set(OwnLoss.seen) == {torch.float32}


def test_a_run_that_is_being_watched_sees_nothing_of_it():
    model = nn.Linear(4, 2)
    adam, batch = torch.optim.Adam(model.parameters()), (torch.randn(6, 4), torch.randint(0, 2, (6,)))
    loader = DataLoader(TensorDataset(*batch), batch_size=2)
    with torchmagic.watch(level="basic") as run:
        find_batch_size(model, adam, nn.CrossEntropyLoss(), loader, sizes=[2], time_limit=0.3)
        find_loader_settings(loader, num_workers=[0], time_limit=0.2)
        find_num_threads(model, batch, optimizer=adam, criterion=nn.CrossEntropyLoss(), numbers=[1], time_limit=0.2)
    assert run.steps == 0
    assert run.findings == ()
