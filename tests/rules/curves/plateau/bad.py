# expect-line: loss.backward()
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (torch.rand(512) < 0.2).long()  # only the shares of the classes can be learned
model = nn.Linear(8, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.3)
for step in range(120):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(0.05 * x), y)
    loss.backward()
    opt.step()
