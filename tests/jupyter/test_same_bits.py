"""The numbers of a training are the same bits with the magic line and without, in a real kernel."""

import pytest

pytestmark = pytest.mark.kernel

SETUP = """
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

KINDS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3)), (12,)),
    "cnn": (lambda: nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
                                  nn.Flatten(), nn.Linear(24, 3)), (1, 8, 8)),
    "rnn": (lambda: Last(), (9, 5)),
}

class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(5, 16, batch_first=True), nn.Linear(16, 3)
    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])

def same(a, b):
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b))
"""
TRAIN = """
random.seed(1); np.random.seed(1); torch.manual_seed(1)
make, shape = KINDS[kind]
model = make()
data = TensorDataset(torch.randn(96, *shape), torch.randint(0, 3, (96,)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for epoch in range(3):
    for x, y in DataLoader(data, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
weights = [*model.state_dict().values()]
numpy_state = torch.tensor(np.random.get_state()[1].astype("int64"))
streams = [torch.get_rng_state(), numpy_state, torch.tensor(random.getstate()[1])]
"""
KEEP = "plain = ([w.clone() for w in weights], losses, streams)"
COMPARE = "[same(a, b) for a, b in zip(plain, (weights, losses, streams))]"


@pytest.mark.parametrize("kind", ["mlp", "cnn", "rnn"])
@pytest.mark.parametrize(
    "header",
    [
        "%%torchdebug",
        "%%torchdebug --every 1",
        "%%torchdebug --level expert",
        "%%torchdebug --panel none --no-save",
        "%%torchprofile",
        "%%torchprofile --quick --wait 2",
        "%%torchprofile --memory --flops --stacks",
        "%%torchprofile --quick\n%%torchdebug",
    ],
)
def test_weights_losses_and_random_streams_are_equal(kernel, kind, header):
    assert kernel.run(SETUP + f"\nkind = {kind!r}").status == "ok"
    assert kernel.run(TRAIN).status == "ok"
    assert kernel.run(KEEP).status == "ok"
    assert kernel.run(f"{header}{TRAIN}").status == "ok"
    assert kernel.run("import torchmagic; torchmagic.session.last.steps").value == "18"
    assert kernel.run(COMPARE).value == "[True, True, True]"
