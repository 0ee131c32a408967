"""Two models in one optimizer, the first one detached in the loop."""

# expect-line: z = encoder(x).detach()
# expect-module: encoder
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

encoder = nn.Sequential(nn.Linear(8, 4), nn.Tanh())
head = nn.Linear(4, 3)
opt = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-2)
for i in range(8):
    opt.zero_grad()
    z = encoder(x).detach()
    loss = F.cross_entropy(head(z), y)
    loss.backward()
    opt.step()
