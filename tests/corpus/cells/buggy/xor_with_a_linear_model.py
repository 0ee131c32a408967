# case: plateau-xor-with-a-linear-model
# kind: buggy
# expect: plateau, loss-not-decreasing
# allow: loss-not-decreasing, uniform-prediction
# style: linear classifier on XOR data stays at log 2
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
points = torch.rand(1000, 2) * 2 - 1
side = ((points[:, 0] > 0) ^ (points[:, 1] > 0)).float()
linear = nn.Linear(2, 1)
# --- cell ---
opt = torch.optim.SGD(linear.parameters(), lr=0.3)
loss_fn = nn.BCEWithLogitsLoss()
for step in range(200):
    rows = torch.randint(0, 1000, (200,))
    opt.zero_grad()
    loss = loss_fn(linear(points[rows]).squeeze(1), side[rows])
    loss.backward()
    opt.step()
print(loss.item())
