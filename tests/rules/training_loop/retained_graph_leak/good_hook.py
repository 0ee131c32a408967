"""A hook keeps a number of each hidden layer."""

import torch
from torch import nn
from torch.nn import functional as F


class Recorder:
    def __init__(self, model):
        self.history = {}
        for name, module in model.named_children():
            self.history[name] = []
            module.register_forward_hook(self.hook(name))

    def hook(self, name):
        def shown(module, args, output):
            self.history[name].append(output.std().item())

        return shown


torch.manual_seed(0)
x, y = torch.randn(64, 10), torch.randint(0, 3, (64,))
net = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 3))
recorder = Recorder(net[:2])
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(40):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
print({name: len(values) for name, values in recorder.history.items()})
