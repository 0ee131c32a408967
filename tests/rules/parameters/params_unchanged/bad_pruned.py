"""A pruned network is trained further, and all its weights are put back after each step, not only the pruned ones."""

# expect-line: p.copy_(was)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(256, 10), torch.randint(0, 3, (256,))
net = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))


def train(optimizer, steps, after):
    for step in range(steps):
        rows = torch.randint(0, len(x), (32,))
        optimizer.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        optimizer.step()
        after()


train(torch.optim.Adam(net.parameters(), lr=1e-2), 70, lambda: None)
for amount in (0.3, 0.6):
    weights = [p for p in net.parameters() if p.dim() > 1]
    masks = [(p.abs() > p.abs().flatten().quantile(amount)).float() for p in weights]
    with torch.no_grad():
        for p, mask in zip(weights, masks):
            p.mul_(mask)
    kept = [p.detach().clone() for p in weights]

    @torch.no_grad()
    def keep_pruned():
        for p, mask, was in zip(weights, masks, kept):
            p.copy_(was)

    train(torch.optim.SGD(net.parameters(), lr=5e-2, momentum=0.9), 70, keep_pruned)
