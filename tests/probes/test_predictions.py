"""This file tests what is told of predictions beside their targets."""

import math

import pytest

LOOP = """
net = nn.Linear(2, {out})
opt = torch.optim.SGD(net.parameters(), lr=0.0)
given = {given}
target = {target}
for step in range(2):
    opt.zero_grad()
    F.{loss}(0 * net(torch.ones(4, 2)) + given, target).backward()
    opt.step()
"""


def last(run, metric):
    return run.series(metric)[1][-1]


def test_classes_are_told_by_their_shares(run_cell):
    given, target = "torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 0.5]])", "torch.tensor([0, 1, 1, 1])"
    run, _ = run_cell(LOOP.format(out=2, given=given, target=target, loss="cross_entropy"))
    assert run.subjects("prediction_share") == ("net/cross_entropy",)
    assert (last(run, "prediction_share"), last(run, "target_share")) == (0.75, 0.75)


def test_two_classes_of_one_value_are_told_by_its_sign(run_cell):
    given, target = "torch.tensor([[1.0], [-2.0], [3.0], [1.0]])", "torch.tensor([[1.0], [0.0], [0.0], [0.0]])"
    run, _ = run_cell(LOOP.format(out=1, given=given, target=target, loss="binary_cross_entropy_with_logits"))
    assert (last(run, "prediction_share"), last(run, "target_share")) == (0.75, 0.75)


def test_numbers_are_told_by_their_spread_as_a_share_of_the_predictions(run_cell):
    given, target = "torch.tensor([[3.0], [5.0], [3.0], [5.0]])", "torch.tensor([[0.0], [34.0], [0.0], [34.0]])"
    run, _ = run_cell(LOOP.format(out=1, given=given, target=target, loss="mse_loss"))
    assert last(run, "prediction_spread") == pytest.approx(1 / math.sqrt(17))
    assert last(run, "target_spread") == pytest.approx(17 / math.sqrt(17))
    assert math.isnan(last(run, "prediction_share"))


def test_an_evaluation_is_not_looked_at(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.0)\n"
        "with torch.no_grad():\n    F.mse_loss(net(torch.ones(4, 2)), torch.ones(4, 1))\nopt.step()\n"
    )
    assert run.subjects("prediction_spread") == ()
