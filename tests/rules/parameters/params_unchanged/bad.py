# expect-module: model.0.weight
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 16).bfloat16()
y = torch.randint(0, 4, (256,))
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).bfloat16()
opt = torch.optim.SGD(model.parameters(), lr=1e-6)
for step in range(40):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
