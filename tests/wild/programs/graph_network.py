"""A graph network whose messages are gathered and scattered, trained on the whole graph with a mask of nodes."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
NODES, CLASSES = 300, 3
labels = torch.arange(NODES) % CLASSES
features = torch.randn(NODES, 16) + 0.7 * F.one_hot(labels, 16).float()
source, target = torch.randint(NODES, (2, 3000))
alike = (labels[source] == labels[target]) | (torch.rand(3000) < 0.15)
edges = torch.stack([source[alike], target[alike]])
edges = torch.cat([edges, torch.arange(NODES).repeat(2, 1)], 1)
train = torch.rand(NODES) < 0.5


class Convolution(nn.Module):
    def __init__(self, fan_in, fan_out):
        super().__init__()
        self.linear = nn.Linear(fan_in, fan_out)

    def forward(self, x, edges):
        degree = torch.zeros(len(x)).scatter_add_(0, edges[1], torch.ones(edges.shape[1]))
        messages = self.linear(x)[edges[0]] * degree[edges[0]].rsqrt()[:, None] * degree[edges[1]].rsqrt()[:, None]
        return torch.zeros_like(messages[: len(x)]).index_add(0, edges[1], messages)


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Convolution(16, 32), Convolution(32, CLASSES)

    def forward(self, x, edges):
        x = F.dropout(self.first(x, edges).relu(), 0.3, self.training)
        return self.second(x, edges)


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(150):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(features, edges)[train], labels[train])
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            accuracy = (model(features, edges)[~train].argmax(1) == labels[~train]).float().mean().item()
result = list(model.state_dict().values())
