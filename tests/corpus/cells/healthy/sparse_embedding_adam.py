# case: healthy-sparse-embedding-adam
# kind: healthy
# forbid: *
# style: matrix factorisation with sparse embeddings and SparseAdam
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
users, items = torch.randint(0, 60, (3000,)), torch.randint(0, 40, (3000,))
rating = (torch.randn(60, 3)[users] * torch.randn(40, 3)[items]).sum(1)


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.u, self.i = nn.Embedding(60, 6, sparse=True), nn.Embedding(40, 6, sparse=True)

    def forward(self, u, i):
        return (self.u(u) * self.i(i)).sum(1)


mf = Factors()
# --- cell ---
opt = torch.optim.SparseAdam(list(mf.parameters()), lr=2e-2)
for epoch in range(6):
    for rows in torch.randperm(3000).split(100):
        loss = nn.functional.mse_loss(mf(users[rows], items[rows]), rating[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
