"""The loss has a penalty, gradients are clipped, and still nothing is divided."""

# expect-line: loss.backward()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)


def train_step(model, batches):
    model.zero_grad()
    for batch in batches:
        loss = F.cross_entropy(model(batch["inputs"]), batch["labels"]) + 1e-4 * model[0].weight.square().sum()
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


for step in range(8):
    rows = torch.randperm(192)[:48].chunk(3)
    train_step(net, [{"inputs": x[r], "labels": y[r]} for r in rows])
