import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = 3 * x[:, :4]
base, low = nn.Linear(8, 4).requires_grad_(False), nn.Linear(8, 2, bias=False)
high = nn.Linear(2, 4, bias=False)
nn.init.zeros_(high.weight)  # as LoRA begins
model = nn.ModuleDict({"base": base, "low": low, "high": high})
opt = torch.optim.Adam([{"params": low.parameters()}, {"params": high.parameters()}], lr=2e-2)
for step in range(60):
    opt.zero_grad()
    nn.functional.mse_loss(base(x) + high(low(x)), y).backward()
    opt.step()
