"""The same by hand: a bound with one zero too many in its exponent."""

# expect-line: opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = x[:, :1] - 2 * x[:, 1:2] + 0.1 * torch.randn(512, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(10):
    for idx in torch.randperm(512).split(64):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        total = torch.sqrt(sum(p.grad.pow(2).sum() for p in model.parameters()))
        for p in model.parameters():
            p.grad.mul_(min(1.0, 1e-7 / (float(total) + 1e-6)))
        opt.step()
