"""PyTorch Geometric: a GCN on one graph with masks of nodes for training and validation."""

import torch
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

torch.manual_seed(0)
NODES, CLASSES = 240, 3
labels = torch.arange(NODES) % CLASSES
ends = torch.randint(NODES, (2, 2400))
alike = (labels[ends[0]] == labels[ends[1]]) | (torch.rand(2400) < 0.2)
features = torch.randn(NODES, 12) + 0.6 * F.one_hot(labels, 12).float()
chance = torch.rand(NODES)
data = Data(x=features, edge_index=ends[:, alike], y=labels, train_mask=chance < 0.5, val_mask=chance > 0.7)


class GCN(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GCNConv(12, 24)
        self.conv2 = GCNConv(24, CLASSES)

    def forward(self, x, edge_index):
        x = F.dropout(self.conv1(x, edge_index).relu(), 0.3, self.training)
        return self.conv2(x, edge_index)


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
losses, validation = [], []
for epoch in range(60):
    model.train()
    optimizer.zero_grad()
    out = model(data.x, data.edge_index)
    loss = F.cross_entropy(out[data.train_mask], data.y[data.train_mask])
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        out = model(data.x, data.edge_index)
        validation.append(F.cross_entropy(out[data.val_mask], data.y[data.val_mask]).item())
result = [value.clone() for value in model.state_dict().values()]
