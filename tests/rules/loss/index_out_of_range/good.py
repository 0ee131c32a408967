import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
tokens, labels = torch.randint(0, 11, (16, 3)), torch.randint(0, 2, (16,))
model = nn.Sequential(nn.Embedding(11, 8), nn.Flatten(), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(8):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(tokens), labels)
    loss.backward()
    optimizer.step()
    try:
        tokens[99]
    except IndexError:
        pass
