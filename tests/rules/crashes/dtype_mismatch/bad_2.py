import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: loss = criterion(model(inputs), labels)
inputs, labels = torch.randn(16, 4), torch.randint(0, 3, (16,)).float()
model, criterion = nn.Linear(4, 3), nn.CrossEntropyLoss()
loss = criterion(model(inputs), labels)
