"""The forward uses layers of a list at top level: those of one net are registered, the others have their optimizer."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))
layers = [nn.Linear(8, 8) for _ in range(2)]
experts = [nn.Linear(8, 8) for _ in range(2)]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        for layer in (*layers, *experts):
            x = torch.tanh(layer(x))
        return self.head(x)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
opt_experts = torch.optim.Adam([each for expert in experts for each in expert.parameters()], lr=1e-2)
for i in range(8):
    opt.zero_grad()
    opt_experts.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
    opt_experts.step()
