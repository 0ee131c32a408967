"""Cross-entropy that is written out, over the only column."""

# expect-line: logs = torch.log_softmax(net(xb), dim=1)
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(128, 8), torch.randint(0, 2, (128, 1)).float()
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    logs = torch.log_softmax(net(xb), dim=1)
    loss = -(yb * logs).sum(1).mean()
    loss.backward()
    optimizer.step()
