# expect-line: opt = torch.optim.Adam(model.parameters(), lr=0.5)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.5)
with torch.no_grad():
    start = [p.clone() for p in model.parameters()]
for step in range(40):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y) + sum(4 * p.square().sum() for p in model.parameters())
    loss.backward()
    opt.step()
