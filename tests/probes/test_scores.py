"""This file tests which losses are nothing but what one model gives."""

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from torchmagic.probes.scores import scorers

SCORES = {
    "negated mean": lambda out: -out.mean(),
    "a tenth of one": lambda out: 0.1 * out[0, 0],
    "behind a tanh": lambda out: out.tanh().sum() / -4,
}
OTHERS = {
    "distance": lambda out: (out - 1).pow(2).mean(),
    "picked by an index": lambda out: -out[torch.arange(4), torch.zeros(4, dtype=torch.long)].mean(),
    "weighted": lambda out: (out * torch.randn(4, 2)).mean(),
    "one against another": lambda out: (-out[0] + out[1]).mean(),
}


@pytest.fixture
def critic():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


@pytest.mark.parametrize("made", SCORES.values(), ids=SCORES)
def test_a_score_is_that_of_the_last_layer(critic, made):
    assert scorers(made(critic(torch.randn(4, 3)))) == {id(each) for each in critic[2].parameters()}


def test_a_layer_of_sequences_gives_a_score_too(critic):
    assert scorers(-critic(torch.randn(2, 4, 3)).mean()) >= {id(critic[2].weight)}


@pytest.mark.parametrize("made", OTHERS.values(), ids=OTHERS)
def test_what_is_compared_or_chosen_is_no_score(critic, made):
    assert scorers(made(critic(torch.randn(4, 3)))) == set()


def test_of_a_factor_whose_number_is_not_there_no_sign_is_known(critic):
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert scorers(critic(torch.randn(4, 3)).mean() * torch.randn(())) == set()
