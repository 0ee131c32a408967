"""Right answers counted sample by sample."""

# profile
# expect-line: correct += (guess[i] == y[i]).item()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(16, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
correct = 0
for step in range(30):
    x, y = torch.randn(256, 16), torch.randint(0, 4, (256,))
    logits = net(x)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    guess = logits.argmax(1)
    for i in range(256):
        correct += (guess[i] == y[i]).item()
