import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: loss = criterion(model(inputs), labels)
inputs = torch.randn(64, 4)
labels = torch.sign(inputs[:, :1])
model, criterion = nn.Linear(4, 1), nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(8):
    optimizer.zero_grad()
    loss = criterion(model(inputs), labels)
    loss.backward()
    optimizer.step()
