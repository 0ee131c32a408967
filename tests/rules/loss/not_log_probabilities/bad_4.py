# expect-line: loss = nn.functional.nll_loss(torch.log(model(x[idx]) + 1e-7), y[idx])
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for idx in torch.randperm(256).split(32):
        opt.zero_grad()
        loss = nn.functional.nll_loss(torch.log(model(x[idx]) + 1e-7), y[idx])
        loss.backward()
        opt.step()
