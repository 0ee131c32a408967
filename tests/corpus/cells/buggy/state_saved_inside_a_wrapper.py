# case: api-misuse-state-saved-inside-a-wrapper
# kind: buggy
# expect: api-misuse
# raises: RuntimeError
# line: net.load_state_dict(state)
# style: fine-tuning from a checkpoint of a wrapped model
# --- setup ---
import io

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
digits = TensorDataset(torch.tensor(X / 16).float(), torch.tensor(y))


def make():
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)


checkpoint = io.BytesIO()
torch.save({"model": Wrapper(make()).state_dict(), "epoch": 3}, checkpoint)
checkpoint.seek(0)
# --- cell ---
net = make()
state = torch.load(checkpoint)["model"]
net.load_state_dict(state)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for xb, yb in DataLoader(digits, 64, shuffle=True):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(xb), yb)
    loss.backward()
    opt.step()
