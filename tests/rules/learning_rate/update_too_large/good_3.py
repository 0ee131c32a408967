import torch
from torch import nn

torch.manual_seed(0)
picture = torch.zeros(1, 4, requires_grad=True)  # no layer: what is optimised is an input
target = torch.tensor([[1.0, -2.0, 0.5, 3.0]])
model = nn.Linear(4, 4).requires_grad_(False).eval()
opt = torch.optim.SGD([picture], lr=0.3)
for step in range(40):
    opt.zero_grad()
    nn.functional.mse_loss(model(picture), target).backward()
    opt.step()
