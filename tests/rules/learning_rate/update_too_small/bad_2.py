# expect-line: opt = torch.optim.Adam(model.parameters(), lr=1e-9)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(128, 8).double()
y = x.sum(1, keepdim=True)
model = nn.Linear(8, 1).double()
torch.set_default_dtype(torch.float64)


def train(model):
    opt = torch.optim.Adam(model.parameters(), lr=1e-9)
    for _ in range(40):
        opt.zero_grad()
        torch.nn.MSELoss()(model(x), y).backward()
        opt.step()


train(model)
