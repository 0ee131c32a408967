"""The model is built again in a cell below its optimizer, whose gradients an earlier step has left as zeros."""

# expect-line: model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3))
# expect-module: model
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))
model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
F.cross_entropy(model(x), y).backward()
opt.step()
opt.zero_grad(set_to_none=False)
model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3))
# --- cell ---
for i in range(12):
    opt.zero_grad(set_to_none=False)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
