"""Without a batch: attention as it should be, soft k-means, clusters that are learned, a memory, neighbours of a graph."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Sets(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8, bias=False)
        self.encode, self.memory, self.out = nn.Linear(8, 8), nn.Linear(8, 5, bias=False), nn.Linear(8, 1)
        self.slots = nn.Parameter(torch.randn(3, 8))

    def forward(self, members):
        attended = torch.softmax(self.query(members) @ self.key(members).T, dim=-1) @ self.value(members)
        turned = torch.softmax(self.key(members) @ self.query(members).T, dim=0).T @ self.value(members)
        encoded = self.encode(members)
        centres = encoded[:3]
        for _ in range(2):
            shares = torch.softmax(encoded @ centres.T, dim=1)
            centres = (shares.T @ encoded) / shares.sum(0)[:, None]
        won = torch.softmax(centres @ encoded.T, dim=0)
        centres = (won @ encoded) / won.sum(1, keepdim=True)
        learned = torch.softmax(self.slots @ encoded.T, dim=0) @ encoded
        gathered = torch.softmax(encoded @ self.value(members[:4]).T, dim=1).T @ encoded
        recalled = torch.softmax(self.memory(encoded), dim=0) @ self.memory.weight
        rows = (attended + turned + recalled).mean(0) + (centres + learned).mean(0) + gathered.mean(0)
        return self.out(rows).squeeze()


net = Sets()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    members = torch.randn(12, 8)
    optimizer.zero_grad()
    loss = F.mse_loss(net(members), members[:, 0].max())
    loss.backward()
    optimizer.step()
