# case: unregistered-parameter-bare-tensor-as-scale
# kind: buggy
# expect: unregistered-parameter
# allow: param-not-in-optimizer
# line: self.gain = torch.ones(features, requires_grad=True)
# param: gain
# style: home-made normalisation layer with a requires_grad tensor instead of nn.Parameter
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X = torch.tensor(X * 21).float()
y = torch.tensor((y - y.mean()) / y.std()).float()


class RMSNorm(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gain = torch.ones(features, requires_grad=True)

    def forward(self, x):
        return self.gain * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


model = nn.Sequential(nn.Linear(10, 32), RMSNorm(32), nn.SiLU(), nn.Linear(32, 1), nn.Flatten(0))
# --- cell ---
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=64, shuffle=True):
        loss = nn.functional.mse_loss(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
print(loss.item())
