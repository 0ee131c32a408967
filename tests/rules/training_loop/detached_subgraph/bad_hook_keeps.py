"""A hook keeps the features without their graph, and the head works on what it has kept."""

# expect-line: kept["features"] = output.detach()
# expect-module: net.body
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))
kept = {}


def keep(module, args, output):
    kept["features"] = output.detach()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(8, 16), nn.Tanh()), nn.Linear(16, 3)
        self.body[1].register_forward_hook(keep)

    def forward(self, x):
        self.body(x)
        return self.head(kept["features"])


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
