# case: zero-init-lora-with-two-zero-factors-repaired
# kind: healthy
# forbid: *
# style: low-rank adapter whose two factors both start at zero
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
dl = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=128, shuffle=True)


class Adapter(nn.Module):
    def __init__(self, size, rank):
        super().__init__()
        self.down = nn.Parameter(torch.randn(size, rank) * 0.05)
        self.up = nn.Parameter(torch.zeros(rank, size))

    def forward(self, h):
        return h @ self.down @ self.up


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(64, 48)
        self.adapter = Adapter(48, 4)
        self.out = nn.Linear(48, 10)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.out(h + self.adapter(h))
# --- cell ---
model = Model()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(3):
    for x, y in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
print(loss.item())
