# case: output-range-mismatch-relu-head-for-centred-target
# kind: buggy
# expect: output-range-mismatch
# allow: dead-relu, plateau, loss-not-decreasing, uniform-prediction
# line: loss = nn.functional.l1_loss(model(x), t)
# style: regression on standardised targets, ReLU applied to the output in forward
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float()


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(10, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        h = torch.relu(self.hidden(x))
        return torch.relu(self.out(h)).squeeze(-1)
# --- cell ---
model = Regressor()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for x, t in DataLoader(TensorDataset(X, y), batch_size=64, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.l1_loss(model(x), t)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
