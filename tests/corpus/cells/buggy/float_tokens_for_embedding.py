# case: dtype-mismatch-float-tokens-for-embedding
# kind: buggy
# expect: dtype-mismatch
# raises: RuntimeError
# module: table
# style: token ids read from a float array
# --- setup ---
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
ids = torch.tensor(np.random.default_rng(0).integers(0, 30, (200, 6)).astype("float32"))
label = (ids[:, 0] > 15).long()


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(30, 8)
        self.fc = nn.Linear(8, 2)

    def forward(self, t):
        return self.fc(self.table(t)[:, 0])
# --- cell ---
bag = Bag()
opt = torch.optim.Adam(bag.parameters(), lr=2e-2)
for epoch in range(25):
    loss = nn.functional.cross_entropy(bag(ids), label)
    opt.zero_grad()
    loss.backward()
    opt.step()
