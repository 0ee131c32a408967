"""The health of a step is right for every kind and size of gradients, on the host and in one transfer."""

import math

import pytest
import torch
from torch import nn

from torchmagic.guard.step_health import gradients_of, health_of, in_one_transfer

GRADIENTS = {
    "usual": [torch.tensor([3.0, 0.0]), torch.tensor([[4.0]])],
    "none": [],
    "huge": [torch.full((2,), 3e30), torch.tensor([4e30 * math.sqrt(2)])],
    "tiny": [torch.tensor([3e-30, 4e-30])],
    "half": [torch.tensor([3.0, 4.0], dtype=torch.bfloat16)],
    "sparse": [torch.tensor([3.0, 0.0, 4.0]).to_sparse()],
    "mixed": [torch.tensor([3.0], dtype=torch.float64), torch.tensor([4.0])],
    "large": [torch.ones(700, 700)],
}


@pytest.mark.parametrize("measure", [health_of, in_one_transfer])
@pytest.mark.parametrize("kind", GRADIENTS)
def test_losses_and_norm(measure, kind):
    gradients = GRADIENTS[kind]
    health = measure([torch.tensor(1.5), torch.tensor(-2.0)], gradients)
    assert health.losses == (1.5, -2.0)
    wanted = math.hypot(*(value for each in gradients for value in each.to_dense().double().flatten().tolist()))
    assert health.norm == pytest.approx(wanted, rel=1e-3 if kind == "half" else 1e-6)


@pytest.mark.parametrize("measure", [health_of, in_one_transfer])
def test_what_is_not_finite_comes_through(measure):
    good = torch.ones(3)
    assert math.isnan(measure([torch.tensor(math.nan)], [good]).losses[0])
    assert measure([torch.tensor(math.nan)], [good]).norm == pytest.approx(math.sqrt(3))
    assert math.isnan(measure([torch.tensor(1.0)], [good, torch.tensor([math.nan])]).norm)
    assert measure([torch.tensor(1.0)], [good, torch.tensor([-math.inf])]).norm == math.inf


def test_only_the_gradients_of_the_optimizer_count():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    model(torch.ones(1, 2)).sum().backward()
    found = gradients_of(torch.optim.SGD(model[1].parameters()))
    assert [each.shape for each in found] == [(1, 2), (1,)]
