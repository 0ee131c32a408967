# expect-line: schedule.step()
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=24)


def train_step(xb, yb):
    opt.zero_grad()
    nn.CrossEntropyLoss()(model(xb), yb).backward()
    schedule.step()
    opt.step()


for epoch in range(6):
    for idx in torch.randperm(256).split(64):
        train_step(x[idx], y[idx])
