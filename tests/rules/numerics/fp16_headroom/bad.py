"""A layer in half precision whose outputs come close to the largest number that there is."""

# expect-module: net.first
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.head = nn.Linear(8, 64), nn.Linear(64, 3)
        self.first.weight.data = 5_000 * self.first.weight.data.sign()

    def forward(self, x):
        return self.head(torch.tanh(self.first(x) / 20_000))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
x = torch.randn(512, 8).sign()
y = (x.sum(1) > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(net(xb), yb)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
