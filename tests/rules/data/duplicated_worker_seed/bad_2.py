"""Every worker is given the same seed."""

# expect-line: np.random.seed(123)
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def init_worker(worker_id):
    np.random.seed(123)


class Noisy(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, i):
        return torch.from_numpy(np.random.randn(3)).float(), torch.zeros(1)


loader = DataLoader(Noisy(), batch_size=8, num_workers=2, worker_init_fn=init_worker)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
