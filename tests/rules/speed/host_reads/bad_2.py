"""A tensor printed in each step."""

# profile
# expect-line: print(logits[:2])
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(16, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(30):
    x, y = torch.randn(64, 16), torch.randint(0, 4, (64,))
    logits = net(x)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(logits[:2])
