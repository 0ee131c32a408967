"""Two heads, a sigmoid as a method, squeezed and clamped; the loss as a function."""

# expect-line: loss = loss + F.binary_cross_entropy_with_logits(prob, y)
# expect-module: model
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.yes, self.score = nn.Linear(8, 16), nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x).tanh()
        return {"yes": self.yes(h).sigmoid(), "score": self.score(h)}


model = TwoHeads()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(6):
    x, y, z = torch.randn(32, 8), torch.randint(0, 2, (32,)).float(), torch.randn(32)
    out = model(x)
    prob = out["yes"].squeeze(1).clamp(1e-6, 1 - 1e-6)
    loss = F.mse_loss(out["score"].squeeze(1), z)
    loss = loss + F.binary_cross_entropy_with_logits(prob, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
