# expect-line: loss.backward()
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = torch.randint(0, 4, (512,))  # labels that have nothing to do with the inputs
model = nn.Linear(8, 4)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(20):
    for idx in torch.randperm(512).split(128):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
