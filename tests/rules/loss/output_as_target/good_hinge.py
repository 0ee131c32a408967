"""All margins are kept from the first step on: a loss of 0 that is no mistake."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 2)
model = nn.Linear(2, 1, bias=False)
with torch.no_grad():
    model.weight.copy_(torch.tensor([[9.0, 0.0]]))
x[:, 0] = x[:, 0].sign() * (1 + x[:, 0].abs())
y = x[:, 0].sign()
opt = torch.optim.SGD(model.parameters(), lr=1e-2)
for rows in torch.randperm(256).split(16):
    opt.zero_grad()
    loss = nn.functional.margin_ranking_loss(model(x[rows])[:, 0], torch.zeros(len(rows)), y[rows], margin=1.0)
    loss.backward()
    opt.step()
