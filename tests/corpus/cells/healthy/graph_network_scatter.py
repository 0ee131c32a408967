# case: healthy-graph-network-scatter
# kind: healthy
# forbid: *
# style: graph convolution by index_add, node classification with a train mask, full batch
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
n = 120
group = torch.arange(n) % 3
src = torch.randint(0, n, (1500,))
dst = torch.randint(0, n, (1500,))
keep = (group[src] == group[dst]) | (torch.rand(1500) < 0.15)
src, dst = src[keep], dst[keep]
features = torch.randn(n, 8) + nn.functional.one_hot(group, 8) * 0.7
train_mask = torch.rand(n) < 0.4


class GraphConv(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.own, self.near = nn.Linear(a, b), nn.Linear(a, b, bias=False)

    def forward(self, x):
        total = torch.zeros_like(x).index_add_(0, dst, x[src])
        degree = torch.zeros(len(x)).index_add_(0, dst, torch.ones(len(dst))).clamp(min=1)
        return self.own(x) + self.near(total / degree.unsqueeze(1))


class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = GraphConv(8, 16), GraphConv(16, 3)

    def forward(self, x):
        return self.c2(torch.relu(self.c1(x)))


gnn = GNN()
# --- cell ---
opt = torch.optim.Adam(gnn.parameters(), lr=1e-2, weight_decay=5e-4)
for epoch in range(60):
    gnn.train()
    opt.zero_grad()
    loss = nn.functional.cross_entropy(gnn(features)[train_mask], group[train_mask])
    loss.backward()
    opt.step()
gnn.eval()
with torch.no_grad():
    acc = (gnn(features).argmax(1) == group)[~train_mask].float().mean().item()
print(loss.item(), acc)
