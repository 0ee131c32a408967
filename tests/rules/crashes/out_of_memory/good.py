import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
inputs, labels = torch.randn(64, 4), torch.randint(0, 3, (64,))
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def fits(size):
    try:
        torch.empty(size, 1000)
    except RuntimeError:
        return False
    return True


size = 10**12
while not fits(size):  # asks for too much on purpose, and for less then
    size //= 10**9
for _ in range(8):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
