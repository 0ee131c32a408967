# case: dead-relu-raw-inputs-kill-relu6
# kind: buggy
# expect: dead-relu
# allow: loss-not-decreasing, plateau, uniform-prediction, lr-too-high, exploding-gradient, input-not-normalised, update-too-large, vanishing-gradient, params-unchanged
# module: hidden.1
# style: first step with a large rate on unscaled pixels leaves all units at zero
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data).float(), torch.tensor(d.target)), batch_size=64, shuffle=True)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(64, 64), nn.ReLU6(), nn.Linear(64, 10))

    def forward(self, x):
        return self.hidden(x)
# --- cell ---
mlp = MLP()
optimizer = torch.optim.SGD(mlp.parameters(), lr=2.0)
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(mlp(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
