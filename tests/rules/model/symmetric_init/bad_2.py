"""Weights of tensors by hand, filled with one number."""

# expect-line: first = torch.full((8, 32), 0.1, requires_grad=True)
import torch
from torch import nn

torch.manual_seed(0)
first = torch.full((8, 32), 0.1, requires_grad=True)
second = torch.full((32, 3), 0.1, requires_grad=True)
optimizer = torch.optim.Adam([first, second], lr=0.01)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long()

for step in range(30):
    optimizer.zero_grad()
    nn.functional.cross_entropy(torch.tanh(x @ first) @ second, y).backward()
    optimizer.step()
