"""By einsum: attention as it should be, capsules that choose where to go, slots that compete, experts that are mixed."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 3)
        self.start = nn.Parameter(torch.randn(4, 8))
        self.votes = nn.Parameter(torch.randn(6, 5, 8, 8) / 3)

    def forward(self, x):
        heads = [layer(x).view(*x.shape[:2], 2, 4) for layer in (self.q, self.k, self.v)]
        scores = torch.einsum("bqhe,bkhe->bhqk", heads[0], heads[1]) / 2
        attended = torch.einsum("bhqk,bkhe->bqhe", scores.softmax(dim=-1), heads[2]).flatten(2)
        turned = torch.einsum("bkhe,bqhe->bhkq", heads[1], heads[0]).softmax(dim=2)
        attended = attended + torch.einsum("bhkq,bkhe->bqhe", turned, heads[2]).flatten(2)
        votes = torch.einsum("bid,ijde->bije", attended, self.votes)
        agreement = torch.zeros(votes.shape[:3])
        for _ in range(3):
            parts = torch.einsum("bij,bije->bje", agreement.softmax(dim=2), votes)
            agreement = agreement + torch.einsum("bije,bje->bij", votes, parts)
        slots = self.q(self.start).expand(len(x), -1, -1)
        shares = torch.einsum("bse,bne->bsn", slots, self.k(x)).softmax(dim=1)
        slots = torch.einsum("bsn,bne->bse", shares / shares.sum(2, keepdim=True), self.v(x))
        return self.out(attended.mean(1) + parts.mean(1) + slots.mean(1))


net = Mixed()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    x, y = torch.randn(16, 6, 8), torch.randint(0, 3, (16,))
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
