"""The classifier gets the encoder's data, so that no gradient comes back to it."""

# expect-line: z = self.encoder(x).data
# expect-module: net.encoder
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.Tanh())
        self.classifier = nn.Linear(16, 3)

    def forward(self, x):
        z = self.encoder(x).data
        return self.classifier(z)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
