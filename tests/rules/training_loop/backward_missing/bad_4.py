"""The gradients are computed only in a branch that is never taken."""

# expect-line: opt.step()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
best = 0.0


def train_one(model, batch, opt):
    logits = model(batch[0])
    loss = F.cross_entropy(logits, batch[1])
    if loss.item() < best:
        loss.backward()
    opt.step()
    opt.zero_grad()
    return loss


for start in range(0, 192, 32):
    train_one(net, (x[start : start + 32], y[start : start + 32]), optimizer)
