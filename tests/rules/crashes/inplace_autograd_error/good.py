import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
inputs, labels = torch.randn(32, 4), torch.randint(0, 3, (32,))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Linear(8, 3))
average = [parameter.detach().clone() for parameter in model.parameters()]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for _ in range(8):
    optimizer.zero_grad()
    logits = model(inputs)
    logits += 0.1  # nobody needs its old values
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
    total += loss.item()
    with torch.no_grad():
        for mean, parameter in zip(average, model.parameters()):
            mean.mul_(0.9).add_(parameter, alpha=0.1)
