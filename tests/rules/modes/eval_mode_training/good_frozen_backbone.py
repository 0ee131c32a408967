"""A frozen backbone stays in evaluation mode on purpose, so that its batch statistics stay too."""

import torch
from torch import nn


class Tuned(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1))
        self.head = nn.Linear(4 * 6 * 6, 3)
        self.backbone.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


torch.manual_seed(0)
net = Tuned().train()
optimizer = torch.optim.Adam(net.head.parameters(), lr=1e-3)
x, y = torch.randn(32, 1, 8, 8), torch.randint(0, 3, (32,))

for step in range(8):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
