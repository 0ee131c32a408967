"""The backbone runs without gradients although it is given to the optimizer."""

# expect-line: with torch.no_grad():
# expect-module: net.backbone
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.head = nn.Linear(8, 4), nn.Linear(4, 3)

    def features(self, x):
        with torch.no_grad():
            return torch.relu(self.backbone(x))

    def forward(self, x):
        return self.head(self.features(x))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
