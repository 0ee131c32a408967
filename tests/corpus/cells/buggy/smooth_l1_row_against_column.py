# case: loss-broadcast-smooth-l1-row-against-column
# kind: buggy
# expect: loss-broadcast
# allow: plateau, uniform-prediction, loss-not-decreasing
# line: loss = F.smooth_l1_loss(net(features), goal)
# style: functional smooth_l1 with targets of shape (N,)
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
a, b = load_diabetes(return_X_y=True)
table = TensorDataset(torch.tensor(a * 21).float(), torch.tensor((b - b.mean()) / b.std()).float())
net = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 1))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(6):
    for features, goal in DataLoader(table, batch_size=34, shuffle=True):
        opt.zero_grad()
        loss = F.smooth_l1_loss(net(features), goal)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
