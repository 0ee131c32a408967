"""PyTorch Geometric: mini-batches of small graphs are classified; each batch is one large graph of several."""

import torch
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_mean_pool

torch.manual_seed(0)


def graph(kind):
    nodes = int(torch.randint(8, 14, ()))
    ring = torch.stack([torch.arange(nodes), (torch.arange(nodes) + 1) % nodes])
    star = torch.stack([torch.zeros(nodes - 1, dtype=torch.long), torch.arange(1, nodes)])
    edges = ring if kind else star
    return Data(x=torch.randn(nodes, 4), edge_index=torch.cat([edges, edges.flip(0)], 1), y=torch.tensor([kind]))


graphs = [graph(i % 2) for i in range(256)]


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GINConv(torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32)))
        self.second = GINConv(torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32)))
        self.head = torch.nn.Linear(32, 2)

    def forward(self, x, edge_index, batch):
        x = self.conv(x, edge_index).relu()
        x = self.second(x, edge_index).relu()
        return self.head(global_mean_pool(x, batch))


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
train_loader = DataLoader(graphs[:208], batch_size=16, shuffle=True)
val_loader = DataLoader(graphs[208:], batch_size=16)
losses, validation = [], []
for epoch in range(6):
    model.train()
    for batch in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    total = 0.0
    with torch.no_grad():
        for batch in val_loader:
            total += F.cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y).item()
    validation.append(total / len(val_loader))
result = [value.clone() for value in model.state_dict().values()]
