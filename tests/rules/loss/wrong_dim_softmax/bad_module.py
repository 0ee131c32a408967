"""The module that normalises was given the dimension of the samples where it was made."""

# expect-line: self.softmax = nn.Softmax(dim=0)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.softmax = nn.Softmax(dim=0)

    def forward(self, x):
        scores = torch.bmm(self.query(x), self.key(x).transpose(1, 2)) / 8**0.5
        return torch.bmm(self.softmax(scores), self.value(x))


x, y = torch.randn(256, 5, 8), torch.randint(0, 3, (256,))
attention, head = Attention(), nn.Linear(8, 3)
opt = torch.optim.Adam([*attention.parameters(), *head.parameters()], lr=0.01)
for step in range(30):
    rows = torch.randint(0, 256, (32,))
    opt.zero_grad()
    F.cross_entropy(head(attention(x[rows]).mean(dim=1)), y[rows]).backward()
    opt.step()
