"""A plateau of the accuracy is looked for in the mode for losses."""

# expect-line: sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0, factor=0.5)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0, factor=0.5)
for epoch in range(8):
    for idx in torch.randperm(384).split(32):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
    with torch.no_grad():
        accuracy = (model(x[384:]).argmax(1) == y[384:]).float().mean()
    sched.step(accuracy)
