"""A function that trains one epoch builds the optimizer, with a lower rate each time."""

# expect-line: opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)


def train_epoch(model, lr):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for xb, yb in loader:
        opt.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        opt.step()


for epoch in range(5):
    train_epoch(net, 0.05 * 0.9**epoch)
