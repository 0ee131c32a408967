"""This file tests that a finding says in which other cell its line is, by the number that the notebook shows."""

import pytest

LOOP = """import torch
def fit(net, optimizer, rows):
    for x in rows:
        optimizer.zero_grad
        net(x).square().mean().backward()
        optimizer.step()
"""
CELL = """net = torch.nn.Linear(3, 1)
fit(net, torch.optim.SGD(net.parameters(), lr=0.01), torch.rand(20, 4, 3))
"""
ASK = "import torchmagic; print(*[(each.file, each.line, each.source) for each in torchmagic.session.last.findings])"


@pytest.mark.parametrize("header", ["%%torchdebug --panel none --no-save\n", ""])
def test_the_number_is_that_of_the_notebook(kernel, header):
    kernel.run("%torchdebug off" if header else "%torchdebug on")
    number = kernel.run(LOOP).count
    reply = kernel.run(header + CELL)
    kernel.run("%torchdebug off")
    assert reply.status == "ok"
    assert kernel.run(ASK).stream().strip() == f"('cell {number}', 4, 'optimizer.zero_grad')"


def test_a_line_of_the_watched_cell_has_no_other_name(kernel):
    assert kernel.run("%%torchdebug --panel none --no-save\n" + LOOP + CELL).status == "ok"
    assert kernel.run(ASK).stream().strip() == "(None, 5, 'optimizer.zero_grad')"


def test_a_terminal_says_it_too(shell, capsys):
    shell.run_line_magic("load_ext", "torchmagic")
    shell.run_cell(LOOP, store_history=True)
    shell.run_cell("%%torchdebug --no-save\n" + CELL, store_history=True)
    assert "cell 1, line 4: optimizer.zero_grad" in capsys.readouterr().out


@pytest.mark.parametrize("line", ["", "%precision 3", "here = %pwd", "!true", "print?"])
def test_the_watched_cell_is_none_of_the_others_whatever_stands_in_it(kernel, line):
    code = (
        f"{LOOP}\n{line}\nclass Net(torch.nn.Linear):\n    def forward(self, x):\n        return super().forward(x)\n"
    )
    assert (
        kernel.run("%%torchdebug --panel none --no-save\n" + code + CELL.replace("torch.nn.Linear", "Net")).status
        == "ok"
    )
    assert kernel.run("print(torchmagic.session.last.texts)").stream().strip() == "{}"
    assert kernel.run(ASK).stream().strip() == "(None, 5, 'optimizer.zero_grad')"


def test_without_a_history_no_other_cell_is_called_this_one(shell, capsys):
    shell.run_line_magic("load_ext", "torchmagic")
    shell.run_cell(LOOP)
    shell.run_cell("%%torchdebug --no-save\n" + CELL)
    said = capsys.readouterr().out
    assert "this cell" not in said
    assert "line 4: optimizer.zero_grad" in said
