import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: features = encoder(inputs)
inputs, targets = torch.randn(32, 4), torch.randn(32, 1)
encoder, head = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
features = encoder(inputs)
for epoch in range(5):
    optimizer.zero_grad()
    loss = F.mse_loss(head(features), targets)
    loss.backward()
    optimizer.step()
