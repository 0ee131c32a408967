"""A deep and narrow model whose optimizer takes longer than it does."""

# profile: steps=8
# expect-line: optimizer.step()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(20)])
optimizer = torch.optim.AdamW(net.parameters(), lr=0.001, foreach=False)
for step in range(12):
    x = torch.randn(4, 8)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x).backward()
    optimizer.step()
