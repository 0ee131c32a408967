"""Forecasts of shape (N, 6) are taken from targets of shape (N, 1, 6): each meets those of all samples."""

# expect-line: loss = (forecast - future).abs().mean()
import torch
from torch import nn

torch.manual_seed(0)
wave = torch.sin(torch.linspace(0, 60, 800)) + 0.1 * torch.randn(800)
history = torch.stack([wave[i : i + 24] for i in range(700)])
coming = torch.stack([wave[i + 24 : i + 30] for i in range(700)]).unsqueeze(1)
net = nn.Sequential(nn.Linear(24, 16), nn.Tanh(), nn.Linear(16, 6))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for step in range(12):
    rows = torch.randint(0, 700, (32,))
    future = coming[rows]
    optimizer.zero_grad()
    forecast = net(history[rows])
    loss = (forecast - future).abs().mean()
    loss.backward()
    optimizer.step()
