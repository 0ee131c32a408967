# case: constant-batch-images-never-filled
# kind: buggy
# expect: constant-batch
# allow: dead-relu, uniform-prediction, loss-not-decreasing, plateau, unused-parameter
# line: for x, t in DataLoader(TensorDataset(images, targets), batch_size=50, shuffle=True)
# style: preallocated image array that the loading loop forgot to fill
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
images = torch.ones(len(d.images), 1, 8, 8)
targets = torch.tensor(d.target)
for i, image in enumerate(d.images):
    picture = torch.tensor(image / 16).float()
# --- cell ---
net = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(216, 10))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(2):
    for x, t in DataLoader(TensorDataset(images, targets), batch_size=50, shuffle=True):
        loss = nn.functional.cross_entropy(net(x), t)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
