"""This file tests which derivatives without a graph are recorded."""

import pytest

from torchmagic.records.reach import DerivativeRecord

LOOP = """
net, other = nn.Linear(3, 1), nn.Linear(3, 1)
opt = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.01)
for step in range(12):
    x = torch.randn(8, 3, requires_grad=True)
    {taken}
    loss = net(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def recorded(run_cell, taken):
    run, _ = run_cell(LOOP.format(taken=taken))
    return run.of(DerivativeRecord)


def test_a_line_that_takes_one_of_what_is_trained_is_recorded_with_the_looks(run_cell):
    (record,) = recorded(run_cell, "slope = torch.autograd.grad(net(x).sum(), x)[0]")
    assert record.loss == "loss"
    assert record.place.source == "slope = torch.autograd.grad(net(x).sum(), x)[0]"
    assert record.step == 1  # before the first step of an optimizer, what is asked for may be what is trained
    assert 3 <= record.count < 12  # it is looked at in the first steps and then seldom


@pytest.mark.parametrize(
    "taken",
    [
        "slope = torch.autograd.grad(net(x).sum(), x, create_graph=True)[0]",
        "slope = torch.autograd.grad(net(x).sum(), net.weight)[0]",
        "slope = torch.autograd.grad(other(x).sum(), x)[0]",
        "slope = torch.autograd.grad(x.square().sum(), x)[0]",
        "slope = torch.func.grad(lambda x: net(x).sum())(x)",
        "slope = None",
        "slope = torch.autograd.grad(net(x).sum(), x) if step == 1 else 0; net.requires_grad_(step != 1)",
    ],
    ids=["with a graph", "of weights", "of another model", "of no model", "by a transform", "none", "of a step before"],
)
def test_others_are_not(run_cell, taken):
    assert recorded(run_cell, taken) == []
