"""A recurrent state is carried on with its graph."""

# expect-line: trace.append({"step": step, "state": state})
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
cell, head = nn.GRUCell(4, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=1e-3)
state = torch.zeros(16, 8)
trace = []

for step in range(16):
    inputs = torch.randn(16, 4)
    state = cell(inputs, state.detach())
    optimizer.zero_grad()
    error = F.mse_loss(head(state), inputs[:, :1])
    error.backward()
    optimizer.step()
    trace.append({"step": step, "state": state})
