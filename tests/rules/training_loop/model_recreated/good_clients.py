"""Every client of federated averaging begins each round at the average."""

import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(120, 6), torch.randint(0, 3, (120,))
loaders = [DataLoader(TensorDataset(x[i::3], y[i::3]), batch_size=10, shuffle=True) for i in range(3)]
server, worker = nn.Linear(6, 3), nn.Linear(6, 3)
start = copy.deepcopy(server.state_dict())
for turn in range(5):
    states = []
    for loader in loaders:
        worker.load_state_dict(server.state_dict())
        optimizer = torch.optim.SGD(worker.parameters(), lr=0.1)
        for xb, yb in loader:
            optimizer.zero_grad()
            F.cross_entropy(worker(xb), yb).backward()
            optimizer.step()
        states.append(copy.deepcopy(worker.state_dict()))
    server.load_state_dict({name: sum(state[name] for state in states) / len(states) for name in start})
