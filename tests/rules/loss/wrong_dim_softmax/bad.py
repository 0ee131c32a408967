"""The samples of a batch compete."""

# expect-line: return F.log_softmax(self.fc2(self.fc1(x).relu()), dim=0)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(8, 16), nn.Linear(16, 5)

    def forward(self, x):
        return F.log_softmax(self.fc2(self.fc1(x).relu()), dim=0)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(6):
    x, y = torch.randn(32, 8), torch.randint(0, 5, (32,))
    optimizer.zero_grad()
    F.nll_loss(net(x), y).backward()
    optimizer.step()
