"""A codebook is moved by hand towards its codes."""

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
        q = self.book(codes).detach()
        with torch.no_grad():
            for k in codes.unique():
                self.book.weight[k] = 0.9 * self.book.weight[k] + 0.1 * z[codes == k].mean(0)
        return self.dec(z + (q - z).detach())


net = VQ()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(20):
    opt.zero_grad()
    F.mse_loss(net(x), x).backward()
    opt.step()
