# case: target-not-normalised-diabetes-targets-in-raw-units
# kind: buggy
# expect: target-not-normalised
# allow: loss-not-decreasing, exploding-gradient
# line: loss = F.mse_loss(net(x).squeeze(1), y)
# style: raw disease progression (25 to 346) as target, Adam with a small rate
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, target = load_diabetes(return_X_y=True)
dl = DataLoader(TensorDataset(torch.tensor(X * 21).float(), torch.tensor(target).float()), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(8):
    for x, y in dl:
        opt.zero_grad()
        loss = F.mse_loss(net(x).squeeze(1), y)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
