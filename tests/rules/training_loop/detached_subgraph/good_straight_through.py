"""A quantiser detaches the difference and lets the gradient pass straight through."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)


class VQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.book, self.dec = nn.Linear(8, 4), nn.Embedding(16, 4), nn.Linear(4, 8)

    def forward(self, x):
        z = self.enc(x)
        codes = torch.cdist(z, self.book.weight).argmin(1)
        q = self.book(codes)
        commit = F.mse_loss(z, q.detach()) + F.mse_loss(q, z.detach())
        q = z + (q - z).detach()
        return self.dec(q), commit


net = VQ()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(20):
    out, commit = net(x)
    loss = F.mse_loss(out, x) + commit
    opt.zero_grad()
    loss.backward()
    opt.step()
