"""This file tests what a watched cell asks at each of its steps."""

import torchmagic.jupyter.cell_run

CELL = """%%torchdebug --no-save --panel none
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(200):
    opt.zero_grad()
    net(torch.randn(8, 3)).square().mean().backward()
    opt.step()
"""


def test_records_are_searched_for_ranks_only_when_there_are_new_ones(shell, monkeypatch):
    shell.run_line_magic("load_ext", "torchmagic")
    asked, is_shown = [], torchmagic.jupyter.cell_run.is_shown
    monkeypatch.setattr(torchmagic.jupyter.cell_run, "is_shown", lambda run: asked.append(run) or is_shown(run))
    assert shell.run_cell(CELL).success
    assert torchmagic.session.last.steps == 200
    assert 0 < len(asked) < 100
