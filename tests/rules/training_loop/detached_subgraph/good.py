"""The discriminator's loss detaches the generator, whose own loss does not."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(96, 8)

g, d = (
    nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8)),
    nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)),
)
og, od = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())
bce = nn.BCEWithLogitsLoss()
for i in range(20):
    z = torch.randn(96, 4)
    od.zero_grad()
    (bce(d(x), torch.ones(96, 1)) + bce(d(g(z).detach()), torch.zeros(96, 1))).backward()
    od.step()
    og.zero_grad()
    bce(d(g(z)), torch.ones(96, 1)).backward()
    og.step()
