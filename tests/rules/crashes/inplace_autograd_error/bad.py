import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: gate.mul_(0.5)
inputs, labels = torch.randn(32, 4), torch.randint(0, 3, (32,))


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.value, self.gate, self.out = nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x))
        hidden = self.value(x) * gate
        gate.mul_(0.5)
        return self.out(hidden + gate)


model = Gated()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
seen = 0
for _ in range(8):
    seen += len(inputs)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
