# expect-module: model.0.weight
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :1] - 2 * x[:, 1:2] + 0.1 * torch.randn(256, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
saved = {name: value.clone() for name, value in model.state_dict().items()}
for step in range(40):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(saved[name])
