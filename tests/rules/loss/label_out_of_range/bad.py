import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: loss = criterion(logits, labels)
inputs, labels = torch.randn(32, 4), torch.randint(1, 4, (32,))
model, criterion = nn.Linear(4, 3), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(8):
    optimizer.zero_grad()
    logits = model(inputs)
    loss = criterion(logits, labels)
    loss.backward()
    optimizer.step()
