"""What a guard costs a step in which nothing fails: medians of interleaved steps, with and without it.

python benchmarks/guard.py
"""

import statistics
import time

import torch
from torch import nn
from torch.nn import functional

from torchmagic import TrainingGuard

STEPS, ROUNDS = 40, 5


def mlp():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), torch.randn(64, 64)


def convolutional():
    blocks = [part for _ in range(4) for part in (nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())]
    model = nn.Sequential(nn.Conv2d(3, 32, 3), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    return model, torch.randn(8, 3, 24, 24)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 4), nn.Linear(256, 10)

    def forward(self, inputs):
        return self.head(self.encoder(inputs).mean(1))


def transformer():
    return Transformer(), torch.randn(4, 32, 256)


def plain(model, optimizer, batch):
    optimizer.zero_grad()
    functional.cross_entropy(model(batch[0]), batch[1]).backward()
    optimizer.step()


def guarded(guard, model, batch):
    for part in guard.step(batch):
        with part as (inputs, targets):
            part.backward(functional.cross_entropy(model(inputs), targets))


def measure(make, keep_every):
    model, inputs = make()
    batch = inputs, torch.randint(0, 10, (len(inputs),))
    optimizer = torch.optim.AdamW(model.parameters())
    guard = TrainingGuard(model, optimizer, keep_every=keep_every)
    times = {"plain": [], "guarded": []}
    for number in range(ROUNDS * STEPS):
        for name, deed in (
            ("plain", lambda: plain(model, optimizer, batch)),
            ("guarded", lambda: guarded(guard, model, batch)),
        ):
            start = time.perf_counter()
            deed()
            if number >= STEPS // 4:
                times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(each) for name, each in times.items()}
    means = {name: statistics.fmean(each) for name, each in times.items()}
    return medians, means, guard


print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; AdamW; medians of {ROUNDS * STEPS} steps")
print(
    f"{'model':15} {'keep_every':>10} {'plain ms':>9} {'guarded ms':>10} {'more, median':>13} {'more, mean':>11} {'copy MB':>8}"
)
for make in (mlp, convolutional, transformer):
    for keep_every in (None, 100, 1):
        medians, means, guard = measure(make, keep_every)
        more, mean = (each["guarded"] / each["plain"] - 1 for each in (medians, means))
        print(
            f"{make.__name__:15} {keep_every!s:>10} {1e3 * medians['plain']:9.3f} {1e3 * medians['guarded']:10.3f} "
            f"{more:13.1%} {mean:11.1%} {guard.kept_bytes / 2**20:8.2f}"
        )
