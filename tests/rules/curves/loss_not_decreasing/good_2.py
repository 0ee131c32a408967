import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = x[:, :1] + torch.randn(512, 1)  # half of the spread is noise, and the model knows the other half
model = nn.Linear(8, 1)
with torch.no_grad():
    model.weight.zero_()
    model.weight[0, 0] = 1.0
    model.bias.zero_()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(10):
    for idx in torch.randperm(512).split(64):
        opt.zero_grad()
        nn.functional.mse_loss(model(x[idx]), y[idx]).backward()
        opt.step()
