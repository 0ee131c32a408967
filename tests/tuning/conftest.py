"""This file is the trainings that the tests of tuning run: four architectures, and what disturbs their equality."""

import copy
import gc

import pytest
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from torchmagic.tuning.batches import batch_of
from torchmagic.tuning.comparison import Plan
from torchmagic.tuning.copies import Training


class Cnn(nn.Module):
    def __init__(self, *, normalised=True):
        super().__init__()
        norm = (lambda: nn.BatchNorm2d(8)) if normalised else nn.Identity
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(3 if not i else 8, 8, 3, padding=1), norm(), nn.ReLU()) for i in range(3)
        )
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


class Transformer(nn.Module):
    """Blocks of attention over embedded tokens; with ``tied``, the head is the embedding."""

    def __init__(self, *, dropout=0.0, tied=False):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 20, bias=False)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens))).mean(1)


class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 12, batch_first=True)
        self.head = nn.Linear(12, 4)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def mlp(dropout=0.0):
    layers = [nn.Linear(6, 32), nn.ReLU(), nn.Dropout(dropout), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)]
    return nn.Sequential(*layers)


def rows(*shape):
    return lambda: torch.randn(8, *shape)


def tokens():
    return torch.randint(0, 20, (8, 7))


MODELS = {
    "mlp": (mlp, rows(6), 4),
    "cnn": (Cnn, rows(3, 10, 10), 4),
    "cnn without norm": (lambda: Cnn(normalised=False), rows(3, 10, 10), 4),
    "transformer": (Transformer, tokens, 20),
    "rnn": (Rnn, rows(9, 5), 4),
    "dropout": (lambda: mlp(0.4), rows(6), 4),
    "transformer with dropout": (lambda: Transformer(dropout=0.3), tokens, 20),
    "tied": (lambda: Transformer(tied=True), tokens, 20),
}


class Case:
    """A training, and its batches as a loader gives them."""

    def __init__(self, name, optimizer=torch.optim.Adam, criterion=None):
        make, inputs, classes = MODELS[name]
        torch.manual_seed(3)
        model = make()
        self.batches = [(inputs(), torch.randint(0, classes, (8,))) for _ in range(3)]
        criterion = nn.CrossEntropyLoss() if criterion is None else criterion
        self.training = Training(model=model, optimizer=optimizer(model.parameters(), lr=1e-2), criterion=criterion)

    def plan(self, *, seconds=0.0, **fields):
        """Return the plan of a short comparison: with no time left, one pair of steps is timed."""
        device = torch.device("cpu")
        groups = [[batch_of(each, device, has_criterion=True)] for each in self.batches]
        return Plan(**{"groups": groups, "num_steps": len(groups), "seconds": seconds, **fields})


@pytest.fixture
def case():
    return Case


@pytest.fixture
def state_of():
    """Return a function that copies everything a training may have changed, the process's own state included."""

    def of(training):
        return {
            "weights": copy.deepcopy(training.model.state_dict()),
            "gradients": [None if each.grad is None else each.grad.clone() for each in training.model.parameters()],
            "optimizer": copy.deepcopy(training.optimizer.state_dict()),
            "modes": [each.training for each in training.model.modules()],
            "attributes": [sorted(vars(each)) for each in training.model.modules()],
            "hooks": [len(each._forward_hooks) + len(each._backward_hooks) for each in training.model.modules()],
            "stream": torch.get_rng_state(),
            "threads": torch.get_num_threads(),
            "dtype": torch.get_default_dtype(),
            "autocast": torch.is_autocast_enabled("cpu"),
            "grad": torch.is_grad_enabled(),
        }

    return of


@pytest.fixture
def are_equal():
    """Return a function that compares nested states bit by bit."""

    def compare(one, other):
        leaves, others = tree_leaves(one), tree_leaves(other)
        pairs = list(zip(leaves, others, strict=True))
        return all(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in pairs)

    return compare


@pytest.fixture
def compiler():
    """Leave no compiled code behind: what is left alive would be in the way of other tests."""
    import torch._dynamo  # noqa: PLC0415 - loading the compiler takes a second

    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
    gc.collect()
