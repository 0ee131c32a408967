"""A pattern of names freezes the new head along with the first layer."""

# expect-module: net.head
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16)), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


net = Net()
for n, p in net.named_parameters():
    p.requires_grad = n.startswith("body.2")
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
