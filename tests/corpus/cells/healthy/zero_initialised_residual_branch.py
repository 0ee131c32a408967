# case: healthy-zero-initialised-residual-branch
# kind: healthy
# forbid: *
# style: residual MLP, last layer of every branch starts at zero, zero output bias and weight
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        nn.init.zeros_(self.down.weight)
        nn.init.zeros_(self.down.bias)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


net = nn.Sequential(nn.Linear(64, 32), Block(32), Block(32), nn.LayerNorm(32), nn.Linear(32, 10))
nn.init.zeros_(net[-1].weight)
# --- cell ---
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(len(X)).split(64):
        opt.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
        loss.backward()
        opt.step()
    print(epoch, loss.item())
