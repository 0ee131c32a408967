import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: outputs = model(inputs)
inputs, targets = torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for _ in range(8):
    with torch.no_grad():
        outputs = model(inputs)
    loss = F.mse_loss(outputs, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
