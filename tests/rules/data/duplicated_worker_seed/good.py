"""Generators that are of no harm: used before the workers, made in the worker, seeded by it; and one process only."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Split(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.order = self.rng.permutation(32)

    def __len__(self):
        return 32

    def __getitem__(self, i):
        return torch.full((3,), float(self.order[i])) / 32 + torch.randn(3), torch.zeros(1)


class Seeded(Split):
    def __getitem__(self, i):
        info = get_worker_info()
        if info is not None and not hasattr(self, "own"):
            self.own, self.rng = True, np.random.default_rng(info.seed)
        return torch.from_numpy(self.rng.normal(size=3)).float(), torch.zeros(1)


class Alone(Split):
    def __getitem__(self, i):
        return torch.from_numpy(self.rng.normal(size=3)).float(), torch.zeros(1)


def init_worker(worker_id):
    np.random.seed(torch.initial_seed() % 2**32 + worker_id)


torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for data, workers, init in ((Split(), 2, init_worker), (Split(), 2, None), (Seeded(), 2, None), (Alone(), 0, None)):
    for xb, yb in DataLoader(data, batch_size=8, num_workers=workers, worker_init_fn=init):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(xb), yb).backward()
        optimizer.step()
