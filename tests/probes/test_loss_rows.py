"""This file tests over how many samples a loss is said to be taken."""

import pytest
import torch
from torch import nn

from torchmagic.probes.loss_rows import BETWEEN_LOOKS, FIRST_LOSSES, rows_of

NET = nn.Linear(3, 2)
X, Y = torch.randn(6, 3), torch.arange(6) % 2


@pytest.mark.parametrize(
    "loss",
    [
        lambda out: nn.functional.cross_entropy(out, Y),
        lambda out: nn.functional.mse_loss(out, torch.zeros(6, 2)) / 4,
        lambda out: (out**2).mean() + 0.1 * NET.weight.square().sum(),
        lambda out: nn.functional.cross_entropy(out, Y, reduction="sum") / 6,
        lambda out: NET.bias.sum() + nn.functional.cross_entropy(out, Y),
        lambda out: torch.exp(-NET.bias[0]) * nn.functional.cross_entropy(out, Y) + NET.bias.sum(),
    ],
)
def test_samples_are_found_behind_what_is_done_to_a_criterion(loss):
    assert rows_of(loss(NET(X))) == 6


def test_what_has_no_graph_or_no_batch_has_none():
    assert rows_of(torch.tensor(1.0)) == 0
    assert rows_of(torch.tensor(1.0, requires_grad=True) * 2) == 0


def test_rows_are_recorded_where_they_change(run_cell):
    run, _ = run_cell("""
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for epoch in range(2):
        for x in torch.randn(10, 3).split(4):
            opt.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            opt.step()
    """)
    assert run.series("loss_rows", name="loss") == ([0, 2, 3, 5], [4.0, 2.0, 4.0, 2.0])


@pytest.mark.parametrize("less", [0, 100])
def test_rows_are_looked_for_less_often_later_but_wherever_a_loss_rises(run_cell, monkeypatch, less):
    looked = []
    monkeypatch.setattr("torchmagic.probes.loss_rows.rows_of", lambda loss: looked.append(loss.item()) or rows_of(loss))
    run, _ = run_cell(f"""
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.0)
    for step in range(300):
        x = torch.ones(2 if step == 250 else 4, 3)
        loss = (net(x) - 3).square().mean() * (3 if step == 250 else 1) - {less} * (step != 250)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """)
    assert run.series("loss_rows", name="loss") == ([0, 250, 251], [4.0, 2.0, 4.0])
    calm, risen = looked[0], run.series("loss", name="loss")[1][250]
    assert looked.count(risen) == 1
    behind_it = 2  # rows change back there, and are looked for once more
    assert looked.count(calm) == FIRST_LOSSES + 300 // BETWEEN_LOOKS - FIRST_LOSSES // BETWEEN_LOOKS + behind_it


def test_rows_of_a_loss_that_gradients_are_asked_for_are_recorded_too(run_cell):
    run, _ = run_cell("""
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for x in torch.randn(10, 3).split(4):
        loss = net(x).square().mean()
        for parameter, gradient in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters()))):
            parameter.grad = gradient
        opt.step()
    """)
    assert run.series("loss_rows", name="loss") == ([0, 2], [4.0, 2.0])
