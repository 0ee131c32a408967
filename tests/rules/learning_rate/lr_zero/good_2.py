import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.SGD(
    [
        {"params": model[0].parameters(), "lr": 0.0},
        {"params": model[2].parameters(), "lr": 0.1},
    ]
)
for epoch in range(8):
    if epoch == 4:  # the first layer thaws after half of the run
        opt.param_groups[0]["lr"] = 0.05
    for idx in torch.randperm(256).split(32):
        opt.zero_grad()
        nn.functional.cross_entropy(model(x[idx]), y[idx]).backward()
        opt.step()
