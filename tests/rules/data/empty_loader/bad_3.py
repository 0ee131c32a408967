"""A split that leaves nothing for training, and torch refuses to shuffle that."""

# expect-line: loader = DataLoader(TensorDataset(x[400:]), batch_size=16, shuffle=True)
import torch
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(40, 3)
loader = DataLoader(TensorDataset(x[400:]), batch_size=16, shuffle=True)
