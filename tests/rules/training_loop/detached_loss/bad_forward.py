"""The forward itself returns data without a graph."""

# expect-line: return out.data
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 4), nn.Linear(4, 3)

    def forward(self, x):
        h = torch.relu(self.a(x))
        out = self.b(h)
        return out.data


net = Net()
opt = torch.optim.Adam(net.parameters())
for i in range(6):
    out = net(x)
    loss = F.cross_entropy(out, y)
    loss.requires_grad = True
    loss.backward()
    opt.step()
    opt.zero_grad()
