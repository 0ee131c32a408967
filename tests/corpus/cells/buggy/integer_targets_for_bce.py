# case: dtype-mismatch-integer-targets-for-bce
# kind: buggy
# expect: dtype-mismatch
# raises: RuntimeError
# line: loss = F.binary_cross_entropy(torch.sigmoid(net(x)).squeeze(1), t)
# style: Long targets given to binary_cross_entropy
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
data = TensorDataset(torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y))
net = nn.Sequential(nn.Linear(30, 8), nn.ReLU(), nn.Linear(8, 1))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for x, t in DataLoader(data, batch_size=64, shuffle=True):
    loss = F.binary_cross_entropy(torch.sigmoid(net(x)).squeeze(1), t)
    opt.zero_grad()
    loss.backward()
    opt.step()
