"""This file tests which targets are seen to be made of what is trained on them."""

import pytest
import torch
from torch import nn

from torchmagic.probes.bootstraps import is_bootstrapped
from torchmagic.records.loss import LossInputRecord

torch.manual_seed(0)
net, other = nn.Linear(4, 2), nn.Linear(4, 2)
x, nxt, r, ends = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8), torch.arange(8) % 2


def best(model=net):
    return model(nxt).max(1).values


@pytest.mark.parametrize(
    "target",
    [
        lambda: r + 0.9 * best(),
        lambda: 0.9 * best() + r,
        lambda: r + 0.9 * (1 - ends) * best(),
        lambda: r - best() / 2,
        lambda: 1.0 + 0.9 * best(),
        lambda: (r + 0.9 * best()).view(-1, 1).squeeze(),
        lambda: torch.where(ends > 0, r, r + 0.9 * best()),
    ],
)
def test_data_and_a_share_of_an_output_are_a_target_that_learns(target):
    assert is_bootstrapped(net(x)[:, 0], target())


@pytest.mark.parametrize(
    "target",
    [
        lambda: r,
        lambda: torch.sub(r, -0.9 * best()).detach(),
        lambda: r + 0.9 * best().detach(),
        lambda: r + 0.9 * best(other),  # other weights
        best,  # what is to be alike
        lambda: r + best(),  # no share of it
        lambda: 0.9 * best() + 0.5 * best(),  # no data
        lambda: best() * 0.9 * (1 - ends),
        lambda: torch.where(ends > 0, r, best()),
        lambda: r + 0.9 * net(nxt.clone().requires_grad_(True))[:, 0],  # whose derivative may be asked for
    ],
)
def test_others_are_none(target):
    assert not is_bootstrapped(net(x)[:, 0], target())


def test_a_prediction_without_a_graph_and_a_target_that_is_none_are_none():
    assert not is_bootstrapped(r, r + 0.9 * best())
    assert not is_bootstrapped(net(x)[:, 0], None)


@pytest.mark.parametrize(("loss", "told"), [("mse_loss", True), ("binary_cross_entropy_with_logits", False)])
def test_losses_of_a_regression_tell(run_cell, loss, told):
    run, _ = run_cell(
        "net, x, r = nn.Linear(4, 1), torch.randn(8, 4), torch.rand(8, 1)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.01)\n"
        f"for _ in range(3):\n    loss = nn.functional.{loss}(net(x), r + 0.9 * net(x + 1))\n"
        "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
    )
    assert [each.bootstrapped for each in run.of(LossInputRecord)] == [told] * 3
