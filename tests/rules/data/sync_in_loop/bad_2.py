"""Right answers are counted one by one, by a condition."""

# expect-line: if guess == label:
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(320, 4), torch.randint(0, 3, (320,))
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
right = 0
for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    output = net(xb)
    nn.functional.cross_entropy(output, yb).backward()
    optimizer.step()
    for guess, label in zip(output.argmax(1), yb):
        if guess == label:
            right += 1
