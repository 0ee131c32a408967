"""An adapter whose second factor is a plain tensor of zeros, and therefore stays one."""

# expect-line: loss.backward()
import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, base.in_features) * 0.01)
        self.up = torch.zeros(base.out_features, rank)

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


torch.manual_seed(0)
net = nn.Sequential(Adapter(nn.Linear(20, 32)), nn.ReLU(), Adapter(nn.Linear(32, 5)))
optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=0.01)
rule = torch.randn(20, 5)
for step in range(30):
    x = torch.randn(64, 20)
    loss = nn.functional.cross_entropy(net(x), (x @ rule).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
