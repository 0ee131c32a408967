"""A factory is called at every step."""

# expect-line: opt = make_optimizer(net)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))


def make_optimizer(model):
    decayed = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() <= 1]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": rest}], lr=1e-3)


for step in range(12):
    opt = make_optimizer(net)
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    net.zero_grad()
