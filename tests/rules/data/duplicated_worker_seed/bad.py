"""The dataset keeps a generator, which every worker copies."""

# expect-line: self.rng = np.random.default_rng(0)
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 48

    def __getitem__(self, i):
        return torch.from_numpy(self.rng.normal(size=3)).float(), torch.zeros(1)


loader = DataLoader(Noisy(), batch_size=8, num_workers=2)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
