"""Messages of half precision are added up in a buffer of full precision, under autocast."""

# expect-line: return torch.zeros(size, values.shape[1]).index_add(0, index, values)
import torch
from torch import nn

torch.manual_seed(0)
index = torch.randint(0, 6, (40,))
net = nn.Linear(4, 8)
optimizer = torch.optim.Adam(net.parameters())


def added(values, index, size):
    return torch.zeros(size, values.shape[1]).index_add(0, index, values)


for step in range(3):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = added(net(torch.randn(40, 4)), index, 6)
    out.float().pow(2).mean().backward()
    optimizer.step()
