"""A pretrained classifier is frozen and fine-tuned by low-rank additions that begin at zero."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
x = torch.tensor(digits.data, dtype=torch.float32) / 16
y = torch.tensor(digits.target)
base = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 10))
pre = torch.optim.Adam(base.parameters(), lr=1e-3)
for images, labels in DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True):
    loss = F.cross_entropy(base(images), labels)
    pre.zero_grad()
    loss.backward()
    pre.step()


class LoRALinear(nn.Module):
    def __init__(self, linear, rank=4, alpha=8):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, linear.in_features) * 0.02)
        self.lora_B = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.linear(x) + self.scale * F.linear(F.linear(x, self.lora_A), self.lora_B)


model = nn.Sequential(*(LoRALinear(layer) if isinstance(layer, nn.Linear) else layer for layer in base))
shifted = x.flip(1)
optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=5e-3)
model.train()
for epoch in range(6):
    for images, labels in DataLoader(TensorDataset(shifted, y), batch_size=64, shuffle=True):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
result = list(model.state_dict().values())
