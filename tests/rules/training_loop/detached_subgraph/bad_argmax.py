"""Codes are looked up by argmax, through which no gradient passes."""

# expect-line: codes = self.enc(x).argmax(-1)
# expect-module: net.enc
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)


class VQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.book, self.dec = nn.Linear(8, 5), nn.Embedding(5, 4), nn.Linear(4, 8)

    def forward(self, x):
        codes = self.enc(x).argmax(-1)
        return self.dec(self.book(codes))


net = VQ()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.mse_loss(net(x), x).backward()
    opt.step()
