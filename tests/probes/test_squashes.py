"""This file tests what is told of sigmoids and tanhs: how many outputs lie at a limit, and what they are used for."""

import pytest
import torch

from torchmagic.records.structure import SquashRecord

CLASS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.act = nn.Linear(4, 4), nn.Linear(4, 4), nn.Tanh()
    def forward(self, x):
        h = self.a(x)
        return {answer}
net = Net()
net.a.weight.data.mul_({factor})
opt = torch.optim.SGD(net.parameters(), lr=0.0)
for step in range(3):
    opt.zero_grad()
    net(torch.randn(8, 4)).sum().backward()
    opt.step()
"""


def told(run_cell, answer, factor=1.0):
    run, _ = run_cell(CLASS.format(answer=answer, factor=factor))
    return run, run.of(SquashRecord)


@pytest.mark.parametrize(
    ("answer", "use"),
    [
        ("self.b(torch.tanh(h))", (True, False)),
        ("self.b(h.tanh().mean(0, keepdim=True))", (True, False)),
        ("self.b(F.dropout(h.sigmoid(), 0.2))", (True, False)),
        ("self.b(x) * torch.sigmoid(h)", (False, True)),
        ("torch.sigmoid(self.b(h))", (False, False)),
        ("self.b(F.tanh(h)).relu()", (True, False)),
    ],
    ids=str,
)
def test_the_use_of_a_function_is_seen_in_the_graph(run_cell, answer, use):
    _, (found,) = told(run_cell, answer)
    assert (found.is_hidden, found.is_gate) == use
    assert found.place.source == f"return {answer}"


def test_a_module_has_its_path_and_no_line(run_cell):
    run, (found,) = told(run_cell, "self.b(self.act(h))", factor=1e4)
    assert (found.module, found.function, found.is_hidden, found.place) == ("net.act", "tanh", True, None)
    assert run.series("saturated_share", module="net.act")[1][0] > 0.9


def test_shares_are_of_the_last_hundredth(run_cell):
    run, _ = told(run_cell, "self.b(torch.sigmoid(0 * h + torch.tensor([4.0, 4.7, -4.0, -4.7])))")
    assert run.series("saturated_share")[1] == [0.5, 0.5, 0.5]


def test_the_output_of_a_model_is_hidden_for_nobody_though_another_model_works_on_it(run_cell):
    run, _ = run_cell(
        """
        made, judged = nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Sequential(nn.Linear(4, 1))
        opt = torch.optim.SGD(made.parameters(), lr=0.0)
        for step in range(3):
            opt.zero_grad()
            judged(made(torch.randn(8, 4)).view(8, 4)).sum().backward()
            opt.step()
        """
    )
    (found,) = run.of(SquashRecord)
    assert not found.is_hidden


def test_after_a_run_the_functions_are_torchs_own(run_cell):
    before = torch.tanh, torch.sigmoid, torch.Tensor.tanh
    told(run_cell, "self.b(torch.tanh(h))")
    assert (torch.tanh, torch.sigmoid, torch.Tensor.tanh) == before
