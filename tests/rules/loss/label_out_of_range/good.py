import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
inputs, labels = torch.randn(32, 4), torch.randint(0, 3, (32,))
labels[::4] = -100  # what cross_entropy leaves out
flags = torch.full((32, 1), 0.05) + 0.9 * (inputs[:, :1] > 0)  # smoothed
unknown = torch.where(inputs[:, :1] > 1, -1.0, flags)  # -1 is masked below
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(8):
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = F.cross_entropy(outputs[:, :3], labels)
    loss = loss + F.binary_cross_entropy_with_logits(outputs[:, 3:], flags)
    masked = F.binary_cross_entropy_with_logits(outputs[:, 3:], unknown, reduction="none")
    loss = loss + (masked * (unknown >= 0)).mean()
    loss.backward()
    optimizer.step()
