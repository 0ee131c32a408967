# case: shape-mismatch-wine-has-thirteen-columns-repaired
# kind: healthy
# forbid: *
# style: off by one in the number of features
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)


class WineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(13, 32)
        self.out = nn.Linear(32, 3)

    def forward(self, x):
        return self.out(torch.relu(self.inp(x)))
# --- cell ---
net = WineNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(20):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(X), y)
    loss.backward()
    opt.step()
