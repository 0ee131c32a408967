# case: sigmoid-before-bce-with-logits-sigmoid-layer-and-logits-loss
# kind: buggy
# expect: sigmoid-before-bce-with-logits
# allow: plateau, loss-not-decreasing
# module: 3
# style: Sequential ending in nn.Sigmoid, BCEWithLogitsLoss from a tutorial
# --- setup ---
import torch
from sklearn.datasets import make_moons
from torch import nn

torch.manual_seed(0)
pts, side = make_moons(800, noise=0.1, random_state=0)
pts, side = torch.tensor(pts).float(), torch.tensor(side).float().unsqueeze(1)
# --- cell ---
net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
loss_fn = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(8):
    for idx in torch.randperm(800).split(50):
        opt.zero_grad()
        loss = loss_fn(net(pts[idx]), side[idx])
        loss.backward()
        opt.step()
    print(epoch, loss.item())
