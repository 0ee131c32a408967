"""The output layer is made in the forward."""

# expect-line: return nn.Linear(4, 3)(h)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        h = torch.relu(self.fc(x))
        return nn.Linear(4, 3)(h)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
