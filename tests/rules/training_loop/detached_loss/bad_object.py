"""A loss that is a module makes its values hard in a method of its own, and a new tensor of them."""

# expect-line: return torch.tensor((x > 0.5).float(), requires_grad=True)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(96, 8)
y = (x[:, :1] > 0).float()
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))


class Overlap(nn.Module):
    def hard(self, x):
        return torch.tensor((x > 0.5).float(), requires_grad=True)

    def forward(self, given, wanted):
        given = self.hard(torch.sigmoid(given))
        return 1 - (2 * (given * wanted).sum() + 1) / (given.sum() + wanted.sum() + 1)


measure = Overlap()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    opt.zero_grad()
    loss = measure(net(x), y)
    loss.backward()
    opt.step()
