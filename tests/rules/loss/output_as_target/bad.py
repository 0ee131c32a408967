# expect-line: loss = criterion(out, out)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :1] - x[:, 1:2]
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(256).split(32):
        opt.zero_grad()
        out = model(x[rows])
        loss = criterion(out, out)
        loss.backward()
        opt.step()
