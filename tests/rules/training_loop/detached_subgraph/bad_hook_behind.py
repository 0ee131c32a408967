"""A hook of the layer after it keeps the features, and gives them back without their graph."""

# expect-line: self.last = output.clone().detach()
# expect-module: model.0
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Keeper:
    def __call__(self, module, args, output):
        self.last = output.clone().detach()
        return self.last


model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
model[1].register_forward_hook(Keeper())
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(model(x), y).backward()
    opt.step()
